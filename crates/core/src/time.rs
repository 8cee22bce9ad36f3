//! Points in time, as numbers that are passed in: the core has no clock.

use std::fmt;

use serde::{Deserialize, Serialize};

const DAY_MS: u64 = 24 * 3_600_000;
/// The last moment that calendars have; what is beyond is written as that.
const LAST_MS: u64 = 253_402_207_200_999;

/// Milliseconds since 1970-01-01 UTC.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Millis {
    /// The moment `ms` milliseconds later.
    pub fn after(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to here, 0 if it lies in the future.
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Reads a time as RFC 3339 writes it.
    pub fn parse(text: &str) -> Option<Self> {
        let time: jiff::Timestamp = text.trim().parse().ok()?;
        u64::try_from(time.as_millisecond()).ok().map(Self)
    }

    /// `20261115200501`, the time stamp of CDXJ.
    pub fn compact(self) -> String {
        let whole = self.rfc3339();
        let digits = whole.iter().filter(|byte| byte.is_ascii_digit()).take(14);
        let mut text = String::with_capacity(14);
        text.extend(digits.copied().map(char::from));
        text
    }

    /// The year, by UTC.
    pub fn year(self) -> u32 {
        let (year, _, _) = date(self.0.min(LAST_MS) / DAY_MS);
        u32::try_from(year).unwrap_or_default()
    }

    /// `2026-11-15T20:05:01.042Z`, as bytes: each page is kept with its time in half a dozen places, and
    /// a general formatter took longer for that than the archive's checksums do.
    pub fn rfc3339(self) -> [u8; 24] {
        let (days, ms) = (self.0.min(LAST_MS) / DAY_MS, self.0.min(LAST_MS) % DAY_MS);
        let (year, month, day) = date(days);
        let mut text = *b"0000-00-00T00:00:00.000Z";
        put(&mut text[..4], year);
        put(&mut text[5..7], month);
        put(&mut text[8..10], day);
        put(&mut text[11..13], ms / 3_600_000);
        put(&mut text[14..16], ms / 60_000 % 60);
        put(&mut text[17..19], ms / 1_000 % 60);
        put(&mut text[20..23], ms % 1_000);
        text
    }
}

/// `2026-11-15T20:05:01.042Z`, as WARC 1.1 and the logs want it.
impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.rfc3339()).expect("digits and signs are ASCII"))
    }
}

/// Writes a number in as many digits as there is room for.
fn put(room: &mut [u8], mut number: u64) {
    for digit in room.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// Year, month and day of a day since 1970, by the calendar of today (Hinnant, `civil_from_days`): years
/// that begin in March, so that the leap day is their last, in eras of 400.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_warc_and_cdxj_want_them() {
        let time = Millis(1_794_772_801_042);
        assert_eq!(time.to_string(), "2026-11-15T20:00:01.042Z");
        assert_eq!(time.compact(), "20261115200001");
        assert_eq!(Millis::parse(&time.to_string()), Some(time));
        assert_eq!(Millis::parse("2026-11-15T20:00:01Z"), Some(Millis(1_794_772_801_000)));
        assert_eq!(Millis::parse("1969-12-31T00:00:00Z"), None);
        assert_eq!(Millis::parse("yesterday"), None);
        assert_eq!(time.year(), 2026);
        assert_eq!(Millis(0).to_string(), "1970-01-01T00:00:00.000Z");
    }

    /// Every day of 40 years and of leap years' borders, at any time of it, against another's calendar.
    #[test]
    fn times_are_written_as_another_writes_them() {
        let days = (0..15_000).chain((47_000..48_000).chain(2_932_500..2_932_896));
        for day in days {
            let ms = day * DAY_MS + day * 7_919 * 997 % DAY_MS;
            let time = jiff::Timestamp::from_millisecond(ms.try_into().unwrap()).unwrap();
            assert_eq!(Millis(ms).to_string(), format!("{time:.3}"));
            assert_eq!(Millis(ms).compact(), time.strftime("%Y%m%d%H%M%S").to_string());
        }
        let last = jiff::Timestamp::MAX;
        assert_eq!(LAST_MS, u64::try_from(last.as_millisecond()).unwrap());
        assert_eq!(Millis(u64::MAX).to_string(), format!("{last:.3}"));
    }

    #[test]
    fn absurd_times_do_not_panic() {
        assert!(!Millis(u64::MAX).to_string().is_empty());
        assert_eq!(Millis(5).since(Millis(9)), 0);
    }
}
