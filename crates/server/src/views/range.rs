//! The `Range` field of a request (RFC 9110 section 14.2), as far as one range goes.

use std::ops::Range;

/// What a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// All of it: there is no range, or one that a server may pass over.
    Whole,
    /// These bytes.
    Part(Range<u64>),
    /// Bytes that are not there.
    Nowhere,
}

/// What a `Range` field asks for of something so long. Several ranges, and what is no range, are passed over.
pub fn asked(range: Option<&str>, bytes: u64) -> Asked {
    let Some(spec) = range.and_then(|range| range.trim().strip_prefix("bytes=")) else {
        return Asked::Whole;
    };
    let Some((first, last)) = spec.trim().split_once('-').filter(|_| !spec.contains(',')) else {
        return Asked::Whole;
    };
    let number = |text: &str| {
        let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // A number that is too large is as good as any behind the end.
        plain.then(|| text.parse::<u64>().unwrap_or(u64::MAX))
    };
    let part = match (first.is_empty(), last.is_empty()) {
        (true, true) => None,
        (true, false) => number(last).map(|count| (bytes.saturating_sub(count), bytes)),
        (false, true) => number(first).map(|first| (first, bytes)),
        (false, false) => number(first)
            .zip(number(last))
            .filter(|(first, last)| first <= last)
            .map(|(first, last)| (first, last.saturating_add(1).min(bytes))),
    };
    match part {
        None => Asked::Whole,
        Some((begin, end)) if begin < end => Asked::Part(begin..end),
        Some(_) => Asked::Nowhere,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_understood_and_the_rest_passed_over() {
        let huge = format!("bytes=0-{}", "9".repeat(40));
        let rows = [
            ("bytes=0-0", Asked::Part(0..1)),
            ("bytes=2-5", Asked::Part(2..6)),
            ("bytes=8-", Asked::Part(8..10)),
            ("bytes=-3", Asked::Part(7..10)),
            ("bytes=-99", Asked::Part(0..10)),
            ("bytes=5-99", Asked::Part(5..10)),
            (&huge, Asked::Part(0..10)),
            ("bytes=10-", Asked::Nowhere),
            ("bytes=99999999999999999999999-", Asked::Nowhere),
            ("bytes=-0", Asked::Nowhere),
            ("bytes=5-2", Asked::Whole),
            ("bytes=0-1,3-4", Asked::Whole),
            ("bytes=", Asked::Whole),
            ("bytes=-", Asked::Whole),
            ("bytes=a-b", Asked::Whole),
            ("bytes=+1-2", Asked::Whole),
            ("lines=1-2", Asked::Whole),
        ];
        for (range, expected) in rows {
            assert_eq!(asked(Some(range), 10), expected, "{range}");
        }
        assert_eq!(asked(None, 10), Asked::Whole);
        assert_eq!(asked(Some("bytes=0-"), 0), Asked::Nowhere);
    }
}
