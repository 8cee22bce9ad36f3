//! Dates as pages, servers and people write them → milliseconds.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;
use larm_core::Millis;

/// The moment that a text names, by UTC where it names no zone; `None` for anything else, and for
/// anything before 1970.
pub fn millis_of(text: &str) -> Option<Millis> {
    let text = text.trim();
    let stamp = text.parse::<Timestamp>().ok();
    let stamp = stamp.or_else(|| at_utc(text.parse::<DateTime>().ok()?));
    let stamp = stamp.or_else(|| Some(rfc2822::parse(text).ok()?.timestamp()));
    let stamp = stamp.or_else(|| at_utc(day(text)?.at(0, 0, 0, 0)))?;
    u64::try_from(stamp.as_millisecond()).ok().map(Millis)
}

/// The last moment of the day, month or year that a text names, or the moment itself.
pub fn end_of(text: &str) -> Option<Millis> {
    let text = text.trim();
    let next = match text.len() {
        4 => day(text)?.saturating_add(jiff::Span::new().years(1)),
        7 => day(text)?.saturating_add(jiff::Span::new().months(1)),
        10 => day(text)?.saturating_add(jiff::Span::new().days(1)),
        _ => return millis_of(text),
    };
    let begin = at_utc(next.at(0, 0, 0, 0))?;
    u64::try_from(begin.as_millisecond() - 1).ok().map(Millis)
}

/// `2026`, `2026-11` or `2026-11-15`, whatever follows.
fn day(text: &str) -> Option<Date> {
    let whole = match text.len() {
        4 => format!("{text}-01-01"),
        7 => format!("{text}-01"),
        _ => text.get(..10)?.to_owned(),
    };
    whole.parse().ok()
}

fn at_utc(time: DateTime) -> Option<Timestamp> {
    TimeZone::UTC.to_timestamp(time).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_many_forms_are_read_and_nothing_else() {
        let noon = Some(Millis(1_447_588_800_000));
        for text in [
            "2015-11-15T12:00:00Z",
            "2015-11-15T14:00:00+02:00",
            "2015-11-15T12:00:00",
            "2015-11-15 12:00",
            "Sun, 15 Nov 2015 12:00:00 GMT",
        ] {
            assert_eq!(millis_of(text), noon, "{text}");
        }
        let midnight = Some(Millis(1_447_545_600_000));
        assert_eq!(millis_of("2015-11-15"), midnight);
        assert_eq!(millis_of("2015-11-15, by us"), midnight);
        for text in ["", "yesterday", "15.11.2015", "1815-11-15", "2015-13-45", "ü2015-11-1"] {
            assert_eq!(millis_of(text), None, "{text}");
        }
    }

    #[test]
    fn a_day_a_month_and_a_year_end_before_the_next() {
        for (text, next) in
            [("2015-11-15", "2015-11-16"), ("2015-11", "2015-12-01"), ("2015", "2016")]
        {
            let next = millis_of(next).unwrap();
            assert_eq!(end_of(text), Some(Millis(next.0 - 1)), "{text}");
        }
        assert_eq!(end_of("2015-11-15T12:00:00Z"), Some(Millis(1_447_588_800_000)));
    }
}
