//! Looking for bytes in the short pieces that pages are made of.
//!
//! Where the next `<` or quote is a few bytes away, a general search spends more on its beginning
//! than on looking. These look at eight or sixteen bytes together and hand over to `memchr` where it
//! gets far.

/// The same byte eight times.
pub(super) const EACH: u64 = 0x0101_0101_0101_0101;

/// How many bytes are looked at together. A loop over so many without a way out in between is one
/// that the compiler turns into a few vector instructions.
const STRIDE: usize = 16;

/// How far the near search goes.
const NEAR_BYTES: usize = 6 * STRIDE;

/// Eight bytes from `at` on, the first one lowest; `None` near the end.
#[inline]
pub(super) fn eight(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|eight| u64::from_le_bytes(*eight))
}

/// Where the first `wanted` from `from` on is.
#[inline]
pub(super) fn find(bytes: &[u8], from: usize, wanted: u8) -> Option<usize> {
    let mut at = from;
    while let Some(stride) = bytes.get(at..)?.first_chunk() {
        if among(stride, |byte| byte == wanted) {
            return Some(at + position(stride, wanted));
        }
        at += STRIDE;
        if at - from == NEAR_BYTES {
            break;
        }
    }
    memchr::memchr(wanted, &bytes[at..]).map(|step| at + step)
}

/// Where the byte is that is certainly there.
#[inline]
fn position(stride: &[u8; STRIDE], wanted: u8) -> usize {
    let number = u128::from_le_bytes(*stride);
    let (low, high) = (number as u64, (number >> 64) as u64);
    let in_low = equal_bytes(low, wanted).trailing_zeros();
    let in_high = equal_bytes(high, wanted).trailing_zeros();
    (if in_low < 64 { in_low } else { 64 + in_high }) as usize / 8
}

/// Bits of which the lowest is the top bit of the first byte that is `wanted`.
#[inline]
fn equal_bytes(eight: u64, wanted: u8) -> u64 {
    let differing = eight ^ (u64::from(wanted) * EACH);
    differing.wrapping_sub(EACH) & !differing & (0x80 * EACH)
}

#[inline(always)]
fn among(stride: &[u8; STRIDE], is_wanted: impl Fn(u8) -> bool) -> bool {
    let mut found = false;
    for &byte in stride {
        found |= is_wanted(byte);
    }
    found
}

/// Whether a byte of the text is such a one. The test should be free of branches (`|` and not `||`).
#[inline]
pub(super) fn any(text: &[u8], is_wanted: impl Fn(u8) -> bool) -> bool {
    match text.last_chunk() {
        // The last bytes are looked at twice where they fill no stride.
        Some(end) => {
            let mut strides = text.as_chunks().0.iter();
            strides.any(|stride| among(stride, &is_wanted)) || among(end, &is_wanted)
        }
        None => text.iter().any(|&byte| is_wanted(byte)),
    }
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
