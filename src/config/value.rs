//! Values as people write them: `1s`, `500MB`, `5/s`, `auto`. The same text on the command line and in
//! `larm.toml`, where a bare number is taken as well. Each is written back so that it reads the same.

use std::fmt;
use std::str::FromStr;

use larm_crawl::change::parse_duration_ms;
use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// A time in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time(pub u64);

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

/// Requests per second of the whole crawl; `None` is `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate(pub Option<u32>);

/// Fetches at a time; `None` is `auto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Concurrency(pub Option<u64>);

/// Pages at most; `None` is `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimit(pub Option<u64>);

/// A part of something, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share(pub f64);

/// Pages; `None` is `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance(pub Option<u64>);

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a time; write it like 500ms, 2s, 10m, 3h or 1d");
        parse_duration_ms(text).map(Self).ok_or_else(wrong)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
        let whole = units.iter().find(|(unit, _)| self.0 > 0 && self.0.is_multiple_of(*unit));
        match whole {
            Some((unit, name)) => write!(f, "{}{name}", self.0 / unit),
            None if self.0 == 0 => f.write_str("0s"),
            None => write!(f, "{}ms", self.0),
        }
    }
}

const SIZE_UNITS: [(&str, u64); 13] = [
    ("tib", 1 << 40),
    ("gib", 1 << 30),
    ("mib", 1 << 20),
    ("kib", 1 << 10),
    ("tb", 1_000_000_000_000),
    ("gb", 1_000_000_000),
    ("mb", 1_000_000),
    ("kb", 1_000),
    ("t", 1_000_000_000_000),
    ("g", 1_000_000_000),
    ("m", 1_000_000),
    ("k", 1_000),
    ("b", 1),
];

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a size; write it like 500MB, 10GB or 64KiB");
        let lower = text.trim().to_ascii_lowercase();
        let unit =
            SIZE_UNITS.iter().find_map(|(name, unit)| Some((lower.strip_suffix(name)?, *unit)));
        let (number, unit) = unit.unwrap_or((&lower, 1));
        let number: f64 = number.trim().parse().map_err(|_| wrong())?;
        let bytes = number * unit as f64;
        let fits = number > 0.0 && (1.0..9e18).contains(&bytes);
        if fits { Ok(Self(bytes.round() as u64)) } else { Err(wrong()) }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "KB")];
        match units.iter().find(|(unit, _)| self.0.is_multiple_of(*unit)) {
            Some((unit, name)) => write!(f, "{}{name}", self.0 / unit),
            None => write!(f, "{}B", self.0),
        }
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim().eq_ignore_ascii_case("none") {
            return Ok(Self(None));
        }
        let number = text.trim().strip_suffix("/s").unwrap_or(text.trim());
        let rate = number.trim().parse().ok().filter(|rate| *rate > 0);
        rate.map(|rate| Self(Some(rate))).ok_or_else(|| {
            format!(
                "`{text}` is not a rate; write whole requests per second like 5/s (for less, use a \
                 longer --delay), or none"
            )
        })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(rate) => write!(f, "{rate}/s"),
            None => f.write_str("none"),
        }
    }
}

impl FromStr for Concurrency {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim().eq_ignore_ascii_case("auto") {
            return Ok(Self(None));
        }
        let number = text.trim().parse().ok().filter(|number| *number > 0);
        number.map(|number| Self(Some(number))).ok_or_else(|| {
            format!("`{text}` is not a number of fetches; write a number above 0, or auto")
        })
    }
}

impl fmt::Display for Concurrency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(number) => write!(f, "{number}"),
            None => f.write_str("auto"),
        }
    }
}

impl FromStr for PageLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim().eq_ignore_ascii_case("none") {
            return Ok(Self(None));
        }
        let number = text.trim().parse().ok().filter(|number| *number > 0);
        number.map(|number| Self(Some(number))).ok_or_else(|| {
            format!(
                "`{text}` is not a number of pages; write a number above 0, or none for no such limit"
            )
        })
    }
}

impl fmt::Display for PageLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(number) => write!(f, "{number}"),
            None => f.write_str("none"),
        }
    }
}

impl FromStr for Allowance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim().eq_ignore_ascii_case("off") {
            return Ok(Self(None));
        }
        let number = text.trim().parse().ok().filter(|number| *number > 0);
        number.map(|number| Self(Some(number))).ok_or_else(|| {
            format!("`{text}` is not a number of pages; write a number above 0, or off")
        })
    }
}

impl fmt::Display for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(number) => write!(f, "{number}"),
            None => f.write_str("off"),
        }
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a share; write it like 5% or 0.05");
        let (number, whole) = match text.trim().strip_suffix('%') {
            Some(number) => (number, 100.0),
            None => (text, 1.0),
        };
        let share = number.trim().parse::<f64>().map_err(|_| wrong())? / whole;
        if (0.0..=1.0).contains(&share) { Ok(Self(share)) } else { Err(wrong()) }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A millionth is as exact as anybody means it.
        write!(f, "{}%", (self.0 * 1e8).round() / 1e6)
    }
}

/// Reads any of these values from TOML: as text, or as a bare number.
struct TextOrNumber<T>(std::marker::PhantomData<T>);

impl<T: FromStr<Err = String>> Visitor<'_> for TextOrNumber<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a number")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
}

macro_rules! from_toml {
    ($($type:ty),+) => {$(
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(TextOrNumber(std::marker::PhantomData))
            }
        }
    )+};
}

macro_rules! to_toml {
    ($($type:ty),+) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )+};
}

from_toml!(Time, Size, Rate, Concurrency, Allowance, Share, PageLimit);
to_toml!(Time, Size, Rate, Concurrency, Allowance, Share);

/// A number stays one, for programs that read it.
impl Serialize for PageLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(number) => serializer.serialize_u64(number),
            None => serializer.collect_str(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let rows = [
            ("10GB", Some(10_000_000_000)),
            ("500mb", Some(500_000_000)),
            ("64KiB", Some(65_536)),
            ("1.5 MB", Some(1_500_000)),
            ("2G", Some(2_000_000_000)),
            ("123", Some(123)),
            ("123B", Some(123)),
            ("0", None),
            ("-1MB", None),
            ("NaN", None),
            ("many", None),
            ("1e30GB", None),
        ];
        for (text, expected) in rows {
            assert_eq!(text.parse::<Size>().ok().map(|size| size.0), expected, "{text}");
        }
    }

    #[test]
    fn values_read_the_same_after_being_written() {
        for ms in [0, 1, 500, 1_000, 1_500, 60_000, 90_000, 3_600_000, 172_800_000] {
            assert_eq!(Time(ms).to_string().parse(), Ok(Time(ms)));
        }
        for bytes in [1, 999, 1_000, 1_024, 20 << 20, 10_000_000_000] {
            assert_eq!(Size(bytes).to_string().parse(), Ok(Size(bytes)));
        }
        for concurrency in [None, Some(1), Some(64)] {
            let value = Concurrency(concurrency);
            assert_eq!(value.to_string().parse(), Ok(value));
        }
        for pages in [PageLimit(Some(50)), PageLimit(None)] {
            assert_eq!(pages.to_string().parse(), Ok(pages));
        }
        for rate in [Rate(Some(5)), Rate(None)] {
            assert_eq!(rate.to_string().parse(), Ok(rate));
        }
    }

    #[test]
    fn rates_pages_and_concurrency_refuse_nonsense_with_a_hint() {
        for text in ["0", "5/m", "fast", "-1", "0.5/s"] {
            assert!(text.parse::<Rate>().unwrap_err().contains("--delay"), "{text}");
        }
        for text in ["0", "", "many", "-1", "0.5"] {
            let error = text.parse::<PageLimit>().unwrap_err();
            assert!(error.contains("none for no such limit"), "{text}");
        }
        for text in ["0", "all", "-1"] {
            assert!(text.parse::<Concurrency>().unwrap_err().contains("auto"), "{text}");
        }
    }
}
