//! Numbers and texts as our files hold them: numbers of seven bits a byte, the lowest first; texts as
//! length and bytes.
//!
//! Reading takes any bytes and never panics: what is not there is `None`.

/// Adds a number.
pub fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Adds bytes with their length.
pub fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    put_number(out, text.len() as u64);
    out.extend_from_slice(text);
}

/// Adds a text as what it has in common with another one, and the rest.
pub fn put_after(out: &mut Vec<u8>, last: &[u8], text: &[u8]) {
    let shared = shared(last, text);
    put_number(out, shared as u64);
    put_text(out, &text[shared..]);
}

/// How many bytes two texts begin with in common.
pub fn shared(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// A whole number as one that is not negative; small ones stay small.
pub fn fold(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// What [`fold`] was given.
pub fn unfold(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Bytes that are read from front to back.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
    /// The next byte.
    pub fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// The next bytes, so many of them.
    pub fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    /// A number of at most 64 bits.
    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// A number that counts or measures something in memory.
    pub fn size(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    /// Bytes with their length.
    pub fn text(&mut self) -> Option<&'a [u8]> {
        let bytes = self.size()?;
        self.take(bytes)
    }

    /// What [`put_after`] wrote, put into `last` in place of what is there.
    pub fn text_after(&mut self, last: &mut Vec<u8>) -> Option<()> {
        let shared = self.size().filter(|&shared| shared <= last.len())?;
        last.truncate(shared);
        last.extend_from_slice(self.text()?);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_come_back() {
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        let mut out = Vec::new();
        numbers.iter().for_each(|&number| put_number(&mut out, number));
        put_after(&mut out, "http://h/año".as_bytes(), "http://h/añejo".as_bytes());
        let mut cursor = Cursor(&out);
        assert_eq!(numbers.map(|_| cursor.number().unwrap()), numbers);
        let mut text = "http://h/año".as_bytes().to_vec();
        cursor.text_after(&mut text).unwrap();
        assert_eq!((text.as_slice(), cursor.0), ("http://h/añejo".as_bytes(), &[][..]));
        for number in [0, -1, 1, i64::MIN, i64::MAX] {
            assert_eq!(unfold(fold(number)), number);
        }
    }

    #[test]
    fn what_is_cut_short_is_nothing() {
        assert_eq!(Cursor(&[0x80]).number(), None);
        assert_eq!(Cursor(&[0xff; 11]).number(), None);
        assert_eq!(Cursor(&[5, 1, 2]).text(), None);
        assert_eq!(Cursor(&[3, 0]).text_after(&mut vec![1, 2]), None);
    }
}
