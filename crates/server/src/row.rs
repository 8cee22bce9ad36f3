//! A URL that settled, as it is shown: one line of `logs/crawl.jsonl`.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A URL that settled.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Row {
    /// The line's number, from 0, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
    /// The URL.
    pub url: String,
    /// When it was asked for, in milliseconds since 1970.
    pub at: u64,
    /// `fetched`, `redirected`, `denied`, `rejected`, `failed` or `host-unreachable`.
    pub outcome: String,
    /// HTTP status, if there was an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Content type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Hops from a seed.
    pub depth: u32,
    /// Bytes received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// From request to end of answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// Target of a redirect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect: Option<String>,
    /// URL whose body was the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// An earlier page that says nearly the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<String>,
    /// The page on which it was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// How it was found.
    pub via: String,
    /// Tries it took.
    pub tries: u64,
    /// Whether the archive holds the answer.
    pub archived: bool,
}

/// A line as it is written.
#[derive(Deserialize)]
struct Line {
    at: String,
    url: String,
    outcome: String,
    status: Option<u16>,
    reason: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    depth: u32,
    bytes: Option<u64>,
    ms: Option<u64>,
    same_as: Option<String>,
    from: Option<String>,
    #[serde(default)]
    via: String,
    #[serde(default)]
    tries: u64,
    warc: Option<String>,
    #[serde(default)]
    facts: serde_json::Map<String, Value>,
}

impl Row {
    /// Reads one line; `None` if it is none, or not yet written to its end.
    pub fn read(line: &[u8]) -> Option<Self> {
        let line: Line = serde_json::from_slice(line).ok()?;
        let is_redirect = line.outcome == "redirected";
        let near = line.facts.get("near-duplicate").and_then(Value::as_str);
        Some(Self {
            row: None,
            at: millis(&line.at)?,
            redirect: line.reason.clone().filter(|_| is_redirect),
            near: near.and_then(|near| near.split_whitespace().next()).map(str::to_owned),
            url: line.url,
            outcome: line.outcome,
            status: line.status,
            reason: line.reason.filter(|_| !is_redirect),
            kind: line.kind,
            depth: line.depth,
            bytes: line.bytes,
            ms: line.ms,
            same_as: line.same_as,
            from: line.from,
            via: line.via,
            tries: line.tries,
            archived: line.warc.is_some(),
        })
    }
}

/// A time as it is written, `2026-11-16T15:45:49.042Z`, in milliseconds since 1970.
pub fn millis(text: &str) -> Option<u64> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<u64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let part = text.get(20..23).and_then(|part| part.parse::<u64>().ok()).unwrap_or(0);
    let is_time =
        (1970..10_000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    let seconds = || ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    is_time.then(|| seconds() * 1_000 + part)
}

/// Days from 1970 to a date, by the calendar's cycles of 400 years; years begin in March, so that the day that is
/// sometimes missing is the last.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (cycle, of_cycle) = (year / 400, year % 400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    let of_cycle = of_cycle * 365 + of_cycle / 4 - of_cycle / 100 + of_year;
    cycle * 146_097 + of_cycle - 719_468
}

#[cfg(test)]
mod tests {
    use larm_core::Millis;

    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        let rows = [0, 951_782_399_999, 951_782_400_000, 1_709_164_800_123, 1_794_772_801_042];
        for at in rows {
            assert_eq!(millis(&Millis(at).to_string()), Some(at), "{}", Millis(at));
        }
        for wrong in ["", "yesterday", "2026-13-01T00:00:00Z", "2026-11-1"] {
            assert_eq!(millis(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_line_becomes_a_row() {
        let line = br#"{"at":"2026-11-15T20:00:01.042Z","url":"http://h/","outcome":"redirected","status":301,"reason":"http://h/x","depth":2,"via":"anchor","tries":1,"warc":"a.warc.gz","offset":7}"#;
        let row = Row::read(line).unwrap();
        assert_eq!(
            (row.status, row.redirect.as_deref(), row.reason),
            (Some(301), Some("http://h/x"), None)
        );
        assert!(row.archived && row.at == 1_794_772_801_042);
        assert_eq!(Row::read(b"{\"at\":\"2026-11-15T"), None);
        assert_eq!(Row::read(b""), None);
    }
}
