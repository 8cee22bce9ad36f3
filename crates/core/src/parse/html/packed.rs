//! Short names as numbers, and tables that find what a name stands for.
//!
//! Every tag and every attribute of a page is looked up by its name, so this is a hash table made at
//! compile time over names that are compared as integers: no loop over bytes, no copy in lower case.
//! Names are the same without ASCII case; nothing else is folded.

use crate::parse::bytes::EACH;

/// How many bytes of a name fit into a number, beside their count.
const SHORT_BYTES_MAX: usize = 7;

/// A name of at most `SHORT_BYTES_MAX` bytes in lower case and, in the highest byte, its length:
/// equal for equal names and for no others. `None` for the empty name and for longer ones.
const fn packed(name: &[u8]) -> Option<u64> {
    let bytes = name.len();
    let packed = match bytes {
        1 => name[0] as u64,
        2..4 => ends(pair(name.first_chunk()), pair(name.last_chunk()), bytes - 2),
        4..=SHORT_BYTES_MAX => ends(four(name.first_chunk()), four(name.last_chunk()), bytes - 4),
        _ => return None,
    };
    Some(lower(packed) | (bytes as u64) << 56)
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

/// Eight bytes with their ASCII capitals made small.
const fn lower(bytes: u64) -> u64 {
    const TOP: u64 = 0x80 * EACH;
    // Adding carries into the top bit of a byte from a certain value on, and never beyond it.
    let low = bytes & !TOP;
    let from_a = low + (0x80 - b'A' as u64) * EACH;
    let past_z = low + (0x7f - b'Z' as u64) * EACH;
    let capitals = from_a & !past_z & !bytes & TOP;
    bytes | capitals >> 2
}

/// What names stand for. `N`, a power of two, is the number of places for short ones.
#[derive(Debug)]
pub(super) struct Table<T: 'static, const N: usize> {
    names: &'static [(&'static str, T)],
    short: [(u64, T); N],
    /// Which of the names are long, and how many.
    long: ([usize; N], usize),
    /// How long they are, a bit for each length.
    lengths: u64,
    other: T,
}

impl<T: Copy, const N: usize> Table<T, N> {
    /// A table of these names; all that is none of them is `other`.
    pub const fn new(names: &'static [(&'static str, T)], other: T) -> Self {
        assert!(N.is_power_of_two() && names.len() < N, "a search ends at an empty place");
        let mut short = [(0, other); N];
        let (mut long, mut long_count, mut lengths) = ([0; N], 0, 0);
        let mut i = 0;
        while i < names.len() {
            if let Some(name) = packed(names[i].0.as_bytes()) {
                let mut at = place(name) % N;
                while short[at].0 != 0 {
                    at = (at + 1) % N;
                }
                short[at] = (name, names[i].1);
            } else {
                long[long_count] = i;
                long_count += 1;
                lengths |= 1 << names[i].0.len();
            }
            i += 1;
        }
        Self { names, short, long: (long, long_count), lengths, other }
    }

    #[inline]
    pub fn get(&self, name: &[u8]) -> T {
        let Some(packed) = packed(name) else {
            let is_length = name.len() < 64 && self.lengths & 1 << name.len() != 0;
            return if is_length { self.long(name) } else { self.other };
        };
        let mut at = place(packed) % N;
        loop {
            let (known, value) = self.short[at];
            if known == packed || known == 0 {
                return value;
            }
            at = (at + 1) % N;
        }
    }

    /// Long names are few, and those of a page mostly none of these.
    #[cold]
    fn long(&self, name: &[u8]) -> T {
        let (long, count) = &self.long;
        let mut names = long[..*count].iter().map(|&at| self.names[at]);
        let same = |known: &[u8]| known.len() == name.len() && known.eq_ignore_ascii_case(name);
        let found = names.find(|(known, _)| same(known.as_bytes()));
        found.map_or(self.other, |(_, value)| value)
    }
}

const fn place(packed: u64) -> usize {
    (packed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn packed_names_are_equal_where_the_names_are(
            a in "[aA@Z\\[{\\x00é]{0,9}",
            b in "[aA@Z\\[{\\x00é]{0,9}",
        ) {
            let pack = |name: &str| packed(name.as_bytes());
            if let (Some(packed_a), Some(packed_b)) = (pack(&a), pack(&b)) {
                proptest::prop_assert_eq!(packed_a == packed_b, a.eq_ignore_ascii_case(&b));
            }
            proptest::prop_assert_eq!(pack(&a).is_some(), (1..8).contains(&a.len()));
            proptest::prop_assert_eq!(pack(&a), pack(&a.to_ascii_uppercase()));
        }
    }

    #[test]
    fn a_table_finds_its_names_and_no_others() {
        static TABLE: Table<u8, 8> =
            Table::new(&[("a", 1), ("b", 2), ("blockquote", 3), ("figure", 4)], 0);
        let rows =
            [("A", 1), ("b", 2), ("BlockQuote", 3), ("Figure", 4), ("d", 0), ("", 0), ("aa", 0)];
        for (name, expected) in rows {
            assert_eq!(TABLE.get(name.as_bytes()), expected, "{name}");
        }
    }
}
