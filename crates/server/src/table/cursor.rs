//! A place in a sorted list, as a text that a caller gives back unread.
//!
//! It names the last row that was shown: its place in the order and its number. Whatever else a caller sends is
//! refused; nothing in it is trusted beyond being compared.

use super::order::Sort;
use crate::problem::Problem;

/// Bytes of a text that can be a place.
const TEXT_BYTES_MAX: usize = 64;

/// A place in a sorted list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The order of the list.
    pub sort: Sort,
    /// What the last row is sorted by, where that is a number.
    pub key: u64,
    /// Its number.
    pub row: u64,
}

impl Cursor {
    /// As a text.
    pub fn text(&self) -> String {
        format!("{}.{:x}.{:x}", self.sort.name(), self.key, self.row)
    }

    /// Reads the text that a caller gave; nothing is the beginning.
    pub fn parse(text: &str) -> Result<Option<Self>, Problem> {
        if text.is_empty() {
            return Ok(None);
        }
        read(text).map(Some).ok_or_else(|| {
            Problem::invalid("after", "`after` is not a place that this server has given.")
                .hint("Take it from `next` of the page before, or leave it out.")
        })
    }
}

fn read(text: &str) -> Option<Cursor> {
    if text.len() > TEXT_BYTES_MAX {
        return None;
    }
    let mut parts = text.split('.');
    let sort = Sort::parse(parts.next().filter(|name| !name.is_empty())?).ok()?;
    let mut number = || {
        let digits = parts.next()?;
        let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        u64::from_str_radix(digits, 16).ok().filter(|_| plain)
    };
    let (key, row) = (number()?, number()?);
    parts.next().is_none().then_some(Cursor { sort, key, row })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::order::{Direction, SortBy};
    use super::*;

    proptest! {
        #[test]
        fn a_place_reads_back(key: u64, row: u64, falls: bool) {
            let direction = if falls { Direction::Falling } else { Direction::Rising };
            let cursor = Cursor { sort: Sort { by: SortBy::Ms, direction }, key, row };
            prop_assert_eq!(Cursor::parse(&cursor.text()), Ok(Some(cursor)));
        }

        #[test]
        fn any_text_is_a_place_or_refused(text in "\\PC*") {
            let _ = Cursor::parse(&text);
        }
    }

    #[test]
    fn what_no_server_gave_is_refused() {
        let long = format!("at.1.{}", "0".repeat(100));
        for text in ["x", "at", "at.1", "at.1.2.3", "at.+1.2", ".1.2", "color.1.2", "at.g.1", &long]
        {
            assert!(Cursor::parse(text).is_err(), "{text}");
        }
        assert_eq!(Cursor::parse(""), Ok(None));
    }
}
