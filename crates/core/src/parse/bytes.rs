//! Looking for bytes in the short pieces that pages are made of.
//!
//! Where the next `<` or quote is a few bytes away, a general search spends more on its beginning
//! than on looking. These look at eight or sixteen bytes together and hand over to `memchr` where it
//! gets far.

/// The same byte eight times.
pub(super) const EACH: u64 = 0x0101_0101_0101_0101;

/// The top bit of each byte.
const TOP: u64 = 0x80 * EACH;

/// How many bytes are looked at together. A loop over so many without a way out in between is one
/// that the compiler turns into a few vector instructions.
const STRIDE: usize = 16;

/// How far the near search goes.
const NEAR_BYTES: usize = 64;

/// Eight bytes from `at` on, the first one lowest; `None` near the end.
#[inline]
pub(super) fn eight(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|eight| u64::from_le_bytes(*eight))
}

/// Which bytes are this one, by their top bits: the lowest is exact.
#[inline(always)]
fn equal(eight: u64, wanted: u8) -> u64 {
    let differing = eight ^ (u64::from(wanted) * EACH);
    differing.wrapping_sub(EACH) & !differing & TOP
}

/// Which bytes are smaller than this one, which is no more than 128, by their top bits.
#[inline(always)]
fn below(eight: u64, limit: u8) -> u64 {
    // With the top bit set, no byte takes anything from the next.
    !((eight | TOP) - u64::from(limit) * EACH) & !eight & TOP
}

/// Which bytes are letters of ASCII, by their top bits.
#[inline(always)]
fn letters(eight: u64) -> u64 {
    let small = eight | (0x20 * EACH);
    below(small, b'z' + 1) & !below(small, b'a')
}

/// Which byte was found first.
#[inline(always)]
fn first(found: u64) -> usize {
    found.trailing_zeros() as usize / 8
}

/// Where the first `wanted` from `from` on is.
#[inline(always)]
pub(super) fn find(bytes: &[u8], from: usize, wanted: u8) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let mut passed = 0;
    for stride in rest.as_chunks::<STRIDE>().0.iter().take(NEAR_BYTES / STRIDE) {
        if among(stride, |byte| byte == wanted) {
            return Some(from + passed + place_in(stride, wanted));
        }
        passed += STRIDE;
    }
    let rest = &rest[passed..];
    let step = if rest.len() < STRIDE {
        rest.iter().position(|&byte| byte == wanted)
    } else {
        memchr::memchr(wanted, rest)
    };
    step.map(|step| from + passed + step)
}

/// Where a byte is that is known to be there.
#[inline(always)]
fn place_in(stride: &[u8; STRIDE], wanted: u8) -> usize {
    let (start, end) = (stride.first_chunk(), stride.last_chunk());
    let found = |eight: Option<&[u8; 8]>| {
        eight.map_or(0, |eight| equal(u64::from_le_bytes(*eight), wanted))
    };
    match found(start) {
        0 => 8 + first(found(end)),
        found => first(found),
    }
}

/// Where the letters of ASCII from `from` on end.
#[inline]
pub(super) fn letters_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(eight) = eight(bytes, at) {
        let others = letters(eight) ^ TOP;
        if others != 0 {
            return at + first(others);
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(u8::is_ascii_alphabetic) {
        at += 1;
    }
    at
}

/// Whether a byte of the text is such a one. The test should be free of branches (`|` and not `||`).
#[inline]
pub(super) fn any(text: &[u8], is_wanted: impl Fn(u8) -> bool) -> bool {
    if let Some(end) = text.last_chunk::<STRIDE>() {
        // The last bytes are looked at twice where they fill no stride.
        let mut strides = text.as_chunks::<STRIDE>().0.iter();
        strides.any(|stride| among(stride, &is_wanted)) || apart(end, &is_wanted)
    } else if let (Some(start), Some(end)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        apart(start, &is_wanted) || apart(end, &is_wanted)
    } else {
        text.iter().any(|&byte| is_wanted(byte))
    }
}

/// How often a byte is in a text. Out of line, where the compiler makes vectors of it.
#[inline(never)]
pub(super) fn count(text: &[u8], wanted: u8) -> usize {
    // So many that a single byte holds their count.
    let some = text.chunks(192);
    let counts = some.map(|some| some.iter().map(|&byte| u8::from(byte == wanted)).sum::<u8>());
    counts.map(usize::from).sum()
}

/// The same as `among`, out of line: of two such loops in a row the compiler makes no vectors.
#[inline(never)]
fn apart<const N: usize>(bytes: &[u8; N], is_wanted: impl Fn(u8) -> bool) -> bool {
    among(bytes, is_wanted)
}

#[inline(always)]
fn among<const N: usize>(bytes: &[u8; N], is_wanted: impl Fn(u8) -> bool) -> bool {
    let mut found = false;
    for &byte in bytes {
        found |= is_wanted(byte);
    }
    found
}

/// Where the white space from `from` on ends. Most of it is spaces: the indentation between tags.
#[inline]
pub(super) fn space_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
        // Often it is one line break.
        if bytes.get(at) != Some(&b' ') {
            continue;
        }
        while let Some(eight) = eight(bytes, at) {
            let spaces = first(eight ^ (u64::from(b' ') * EACH));
            at += spaces;
            if spaces < 8 {
                break;
            }
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn what_is_found_is_what_a_plain_search_finds(
            text in proptest::collection::vec(0_u8..4, 0..100),
            from in 0_usize..100,
            wanted in 0_u8..6,
        ) {
            let plain = |from: usize| (from..text.len()).find(|&at| text[at] == wanted);
            proptest::prop_assert_eq!(find(&text, from, wanted), plain(from));
            proptest::prop_assert_eq!(any(&text, |byte| byte == wanted), plain(0).is_some());
            let plain_count = text.iter().filter(|&&byte| byte == wanted).count();
            proptest::prop_assert_eq!(count(&text, wanted), plain_count);
        }

        #[test]
        fn white_space_ends_where_a_plain_search_says(text in "[ \\n\\t\\x0b]{0,9} {0,20}[ \\na]{0,9}") {
            let plain = text.bytes().position(|byte| !byte.is_ascii_whitespace());
            proptest::prop_assert_eq!(space_end(text.as_bytes(), 0), plain.unwrap_or(text.len()));
        }
    }

    proptest::proptest! {
        #[test]
        fn letters_end_where_a_plain_search_says(text in "[a-zA-Z]{0,20}[ @{\\[`é]?[a-z]{0,9}", from in 0_usize..30) {
            let rest = text.as_bytes().get(from..).unwrap_or_default();
            let plain = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            proptest::prop_assert_eq!(letters_end(text.as_bytes(), from), from + plain);
        }

        #[test]
        fn bytes_below_a_limit_are_found_each(text: [u8; 8], limit in 0_u8..=128) {
            let found = below(u64::from_le_bytes(text), limit).to_le_bytes();
            proptest::prop_assert_eq!(found, text.map(|byte| if byte < limit { 0x80 } else { 0 }));
            let found = letters(u64::from_le_bytes(text)).to_le_bytes();
            let top = |byte: u8| if byte.is_ascii_alphabetic() { 0x80 } else { 0 };
            proptest::prop_assert_eq!(found, text.map(top));
        }
    }

    #[test]
    fn no_count_overflows() {
        for bytes in [191, 192, 193, 255, 256, 10_007] {
            assert_eq!(count(&vec![b','; bytes], b','), bytes);
        }
    }

    #[test]
    fn top_bits_and_neighbours_do_not_mislead_the_search() {
        let text: Vec<u8> = (0..=255).collect();
        for wanted in 0..=255 {
            assert_eq!(find(&text, 0, wanted), Some(usize::from(wanted)));
            assert_eq!(find(&text[usize::from(wanted)..], 0, wanted), Some(0));
        }
    }
}
