//! A line of `logs/crawl.jsonl`, as far as the table needs it; `docs/formats.md` has all of it.

use std::borrow::Cow;

use larm_core::Millis;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// What the columns are made of. Texts are borrowed where they need no unescaping.
#[derive(Debug, Deserialize)]
pub struct Line<'a> {
    #[serde(borrow)]
    pub at: Cow<'a, str>,
    #[serde(borrow)]
    pub url: Cow<'a, str>,
    #[serde(borrow)]
    pub outcome: Cow<'a, str>,
    pub status: Option<u16>,
    #[serde(borrow)]
    pub reason: Option<Cow<'a, str>>,
    #[serde(default)]
    pub depth: u32,
    #[serde(borrow)]
    pub via: Option<Cow<'a, str>>,
    pub bytes: Option<u64>,
    #[serde(borrow, rename = "type")]
    pub media: Option<Cow<'a, str>>,
    pub ms: Option<u64>,
    #[serde(borrow)]
    pub digest: Option<Cow<'a, str>>,
    pub same_as: Option<IgnoredAny>,
    #[serde(default)]
    pub facts: Facts,
    pub warc: Option<IgnoredAny>,
}

/// Facts that rows are chosen by.
#[derive(Debug, Default, Deserialize)]
pub struct Facts {
    #[serde(rename = "near-duplicate")]
    pub near: Option<IgnoredAny>,
}

impl<'a> Line<'a> {
    /// Reads a line; `None` if it is damaged.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok().filter(|line: &Self| !line.url.contains('\n'))
    }

    /// Whether the crawl asked for it by itself: no page led there.
    pub fn is_own(&self) -> bool {
        matches!(self.via.as_deref(), Some("robots" | "probe" | "mirror"))
    }

    /// What kind of reason decided: the filter that said no, the class of the failure, `robots`.
    pub fn class(&self) -> &str {
        let reason = self.reason.as_deref().unwrap_or_default();
        match &*self.outcome {
            "denied" => "robots",
            "rejected" | "failed" | "host-unreachable" => {
                reason.split(':').next().unwrap_or_default()
            }
            _ => "",
        }
    }

    /// Time of the request.
    pub fn millis(&self) -> Millis {
        time_of(&self.at).or_else(|| Millis::parse(&self.at)).unwrap_or_default()
    }
}

/// `2026-11-15T20:05:01.042Z` and nothing else: what the log has, read without the rest of a calendar.
fn time_of(text: &str) -> Option<Millis> {
    let text: &[u8; 24] = text.as_bytes().try_into().ok()?;
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (23, b'Z')];
    if marks.iter().any(|&(at, mark)| text[at] != mark) {
        return None;
    }
    let number = |digits: &[u8]| {
        digits.iter().try_fold(0, |sum, digit| {
            digit.is_ascii_digit().then(|| 10 * sum + u64::from(digit - b'0'))
        })
    };
    let [year, month, day] = [number(&text[..4])?, number(&text[5..7])?, number(&text[8..10])?];
    let [hour, minute] = [number(&text[11..13])?, number(&text[14..16])?];
    let [second, ms] = [number(&text[17..19])?, number(&text[20..23])?];
    let is_time = hour < 24 && minute < 60 && second < 60;
    let days = days_since_1970(year, month, day).filter(|_| is_time)?;
    Some(Millis((((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000 + ms))
}

/// Days of the Gregorian calendar, counted from a March so that leap days come last.
fn days_since_1970(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..10_000).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    days.checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn times_are_read_as_the_calendar_has_them(ms in 0u64..250_000_000_000_000) {
            let time = Millis(ms);
            prop_assert_eq!(time_of(&time.to_string()), Some(time));
        }

        #[test]
        fn any_bytes_are_a_line_or_damaged(bytes: Vec<u8>, text in "\\PC{24}") {
            let _ = (Line::read(&bytes), time_of(&text));
        }
    }

    #[test]
    fn what_is_no_time_of_the_log_is_left_to_others() {
        for text in
            ["", "2026-11-15T20:05:01Z", "2026-13-15T20:05:01.042Z", "1969-12-31T00:00:00.000Z"]
        {
            assert_eq!(time_of(text), None, "{text}");
        }
    }
}
