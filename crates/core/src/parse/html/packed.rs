//! Names as numbers, and tables that find what a name stands for.
//!
//! Every tag and every attribute of a page is looked up by its name, so this is a hash table made at
//! compile time over the first bytes of names, compared as one integer: no loop over bytes, no copy in
//! lower case. Names are the same without ASCII case; nothing else is folded.

use crate::parse::bytes::{EACH, eight};

/// How many bytes of a name fit into a number of eight, of which the last is none of its own.
const SHORT_BYTES_MAX: usize = 7;

/// All letters have this bit.
const LETTER: u64 = 0x40 * EACH;

/// What makes small letters of letters.
const SMALL: u64 = 0x20 * EACH;

/// A name in small letters: all bytes of a short one, of a longer one its first eight. Equal for equal names, and for
/// short names without NUL for no others.
const fn packed(name: &[u8]) -> u64 {
    let bytes = name.len();
    let packed = match bytes {
        0 => 0,
        1 => name[0] as u64,
        2..4 => ends(pair(name.first_chunk()), pair(name.last_chunk()), bytes - 2),
        4..=SHORT_BYTES_MAX => ends(four(name.first_chunk()), four(name.last_chunk()), bytes - 4),
        _ => {
            let first: Option<&[u8; 8]> = name.first_chunk();
            u64::from_le_bytes(*first.expect("eight bytes at least"))
        }
    };
    lower(packed)
}

/// A text from its first and its last bytes, which overlap: what both have is the same.
const fn ends(first: u64, last: u64, distance: usize) -> u64 {
    first | last << (8 * distance)
}

const fn pair(bytes: Option<&[u8; 2]>) -> u64 {
    u16::from_le_bytes(*bytes.expect("two bytes at least")) as u64
}

const fn four(bytes: Option<&[u8; 4]>) -> u64 {
    u32::from_le_bytes(*bytes.expect("four bytes at least")) as u64
}

/// Eight bytes with their ASCII capitals made small. So are a few signs, which are in no name that is known.
const fn lower(bytes: u64) -> u64 {
    bytes | (bytes & LETTER) >> 1
}

/// What names stand for. `N`, a power of two, is the number of places.
#[derive(Debug)]
pub(super) struct Table<T: 'static, const N: usize> {
    names: &'static [(&'static str, T)],
    /// By their packed names; an empty place has none.
    places: [Place<T>; N],
}

/// A name that is known.
#[derive(Debug, Clone, Copy)]
struct Place<T> {
    packed: u64,
    value: T,
    /// Which of the names it is.
    name: u8,
}

impl<T: Copy, const N: usize> Table<T, N> {
    /// A table of these names, which are made of small letters, digits, `-` and `:`; all that is none of
    /// them is `other`. No two long names begin with the same eight bytes.
    pub const fn new(names: &'static [(&'static str, T)], other: T) -> Self {
        assert!(N.is_power_of_two() && names.len() < N, "a search ends at an empty place");
        assert!(names.len() <= u8::MAX as usize, "a byte tells them apart");
        let mut places = [Place { packed: 0, value: other, name: 0 }; N];
        let mut i = 0;
        while i < names.len() {
            let name = names[i].0.as_bytes();
            assert!(is_folded(name), "a name as it is looked for");
            let packed = packed(name);
            let mut at = place::<N>(packed);
            while places[at].packed != 0 {
                assert!(places[at].packed != packed, "no two names are taken for each other");
                at = (at + 1) % N;
            }
            places[at] = Place { packed, value: names[i].1, name: i as u8 };
            i += 1;
        }
        Self { names, places }
    }

    /// The names, and what they stand for.
    pub const fn names(&self) -> &'static [(&'static str, T)] {
        self.names
    }

    #[inline]
    pub fn get(&self, name: &[u8]) -> T {
        let found = self.find(packed(name));
        if self.is_name(found, name) { found.value } else { self.other() }
    }

    /// What the name stands for that begins at `from`, and where it ends: at the first byte that `is_end`
    /// marks, none of which has the bit of letters, but not at its first byte.
    #[inline(always)]
    pub fn read(
        &self,
        bytes: &[u8],
        from: usize,
        is_end: impl Fn(u8) -> bool,
        find_end: impl Fn(&[u8], usize) -> usize,
    ) -> (T, usize) {
        // Nearly all names are short and made of letters: then one look at eight bytes tells all.
        if let Some(eight) = eight(bytes, from) {
            let others = !eight & LETTER;
            // None for a long name as well.
            let bits = others.trailing_zeros() & 0x38;
            if bits != 0 && is_end((eight >> bits) as u8) {
                let name = (eight | SMALL) & ((1 << bits) - 1);
                return (self.find(name).value, from + bits as usize / 8);
            }
        }
        let end = find_end(bytes, from + 1);
        (self.get(&bytes[from..end]), end)
    }

    #[inline(always)]
    fn find(&self, packed: u64) -> &Place<T> {
        let mut at = place::<N>(packed);
        loop {
            let known = &self.places[at];
            if known.packed == packed || known.packed == 0 {
                return known;
            }
            at = (at + 1) % N;
        }
    }

    fn is_name(&self, found: &Place<T>, name: &[u8]) -> bool {
        let known = self.names[usize::from(found.name)].0.as_bytes();
        let is_short = name.len() <= SHORT_BYTES_MAX;
        // All bytes of a short one were compared, but for NULs at its end.
        found.packed != 0
            && known.len() == name.len()
            && (is_short || known.eq_ignore_ascii_case(name))
    }

    fn other(&self) -> T {
        self.find(0).value
    }
}

const fn is_folded(name: &[u8]) -> bool {
    let mut at = 0;
    while at < name.len() {
        if !matches!(name[at], b'a'..=b'z' | b'0'..=b'9' | b'-' | b':') {
            return false;
        }
        at += 1;
    }
    !name.is_empty()
}

const fn place<const N: usize>(packed: u64) -> usize {
    (packed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - N.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    static TABLE: Table<u8, 8> =
        Table::new(&[("a", 1), ("b-a", 2), ("blockquote", 3), ("figure", 4), ("h1", 5)], 0);

    fn plain(name: &str) -> u8 {
        let found = TABLE.names.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or(0, |(_, value)| *value)
    }

    proptest::proptest! {
        #[test]
        fn a_table_finds_its_names_and_no_others(name in "[aAbB1hH\\-\\x0d\\x11@é]{0,4}|[FfIiGgURe&]{5,7}") {
            proptest::prop_assert_eq!(TABLE.get(name.as_bytes()), plain(&name));
        }

        #[test]
        fn reading_a_name_finds_its_end(name in "[aAbBh1\\-é]{1,12}|blockQuote|FIGURE", behind in "[ >][a ]{0,9}") {
            let text = format!("<{name}{behind}");
            let is_end = |byte: u8| matches!(byte, b' ' | b'>');
            let find_end = |bytes: &[u8], from: usize| {
                (from..bytes.len()).find(|&at| is_end(bytes[at])).unwrap_or(bytes.len())
            };
            let read = TABLE.read(text.as_bytes(), 1, is_end, find_end);
            proptest::prop_assert_eq!(read, (plain(&name), 1 + name.len()));
        }
    }

    #[test]
    fn names_are_found_in_any_case() {
        let rows =
            [("A", 1), ("B-a", 2), ("BlockQuote", 3), ("Figure", 4), ("d", 0), ("", 0), ("aa", 0)];
        for (name, expected) in rows {
            assert_eq!(TABLE.get(name.as_bytes()), expected, "{name}");
        }
        assert_eq!(TABLE.get(b"blockquotes"), 0);
        assert_eq!(TABLE.get(b"blockquo"), 0);
    }
}
