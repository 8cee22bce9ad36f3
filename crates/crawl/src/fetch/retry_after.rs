//! The `Retry-After` header (RFC 9110 section 10.2.3). Pure; whether and how long to wait is decided
//! elsewhere.

use std::time::{Duration, UNIX_EPOCH};

use larm_core::Millis;

/// The wait that a `Retry-After` asks for, counted from `now`; 0 if its date has passed, `None` if it
/// says nothing that can be understood. Not capped: `retry_after_ms_max` is for the caller to apply.
pub fn retry_after_ms(value: &str, now: Millis) -> Option<u64> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than fit is still a number: a very long wait.
        return Some(value.parse().unwrap_or(u64::MAX).saturating_mul(1_000));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let now = UNIX_EPOCH + Duration::from_millis(now.0);
    let wait = date.duration_since(now).unwrap_or_default();
    Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_dates_and_nonsense() {
        // 1994-11-06 08:49:37 UTC, the date of RFC 9110's examples.
        let now = Millis(784_111_777_000);
        let rows = [
            ("120", Some(120_000)),
            (" 0 ", Some(0)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("Sun, 06 Nov 1994 08:50:07 GMT", Some(30_000)),
            ("Sunday, 06-Nov-94 08:50:07 GMT", Some(30_000)),
            ("Sun Nov  6 08:50:07 1994", Some(30_000)),
            ("Sun, 06 Nov 1994 08:49:07 GMT", Some(0)),
            ("-5", None),
            ("1.5", None),
            ("soon", None),
            ("", None),
        ];
        for (value, expected) in rows {
            assert_eq!(retry_after_ms(value, now), expected, "{value:?}");
        }
    }
}
