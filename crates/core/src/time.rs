//! Points in time, as numbers that are passed in: the core has no clock.

use std::fmt;

use serde::{Deserialize, Serialize};

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
        self.timestamp().strftime("%Y%m%d%H%M%S").to_string()
    }

    /// The year, by UTC.
    pub fn year(self) -> u32 {
        let year = self.timestamp().to_zoned(jiff::tz::TimeZone::UTC).year();
        u32::try_from(year).unwrap_or_default()
    }

    fn timestamp(self) -> jiff::Timestamp {
        i64::try_from(self.0)
            .ok()
            .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok())
            .unwrap_or(jiff::Timestamp::MAX)
    }
}

/// `2026-11-15T20:05:01.042Z`, as WARC 1.1 and the logs want it.
impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.timestamp())
    }
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

    #[test]
    fn absurd_times_do_not_panic() {
        assert!(!Millis(u64::MAX).to_string().is_empty());
        assert_eq!(Millis(5).since(Millis(9)), 0);
    }
}
