//! Filter `traps`: URLs whose shape shows that they come from an endless supply.
//!
//! Judged by shape alone, and carefully: a documentation may well say `/2.0/api/2.0/`, a forum number
//! its threads `/1234/10`. Seeds pass, since a person typed them, and so do files: there is an end of them.

use super::{Filter, Subject, Verdict};
use crate::{Limits, Via};

pub(super) struct Traps {
    pub segments_max: u64,
    pub repeats_max: u64,
    pub pairs_max: u64,
    /// Years outside of these are for calendars without end.
    pub year_min: u32,
    pub year_max: u32,
}

/// How often a sequence of segments may follow itself: `/a/b/a/b` can happen, a third time cannot.
const CYCLES_MAX: usize = 2;

/// A cycle is two segments or more.
const CYCLE_SEGMENTS_MIN: usize = 2 * (CYCLES_MAX + 1);

/// A date beyond this is nobody's plan, whatever stands around it.
const FAR_FUTURE: u32 = 2100;

impl Traps {
    pub fn new(limits: &Limits, year_min: u32, year_max: u32) -> Self {
        Self {
            segments_max: limits.url_segments_max,
            repeats_max: limits.url_segment_repeats_max,
            pairs_max: limits.url_query_pairs_max,
            year_min,
            year_max,
        }
    }

    fn objection(&self, path: &str, query: &str) -> Option<String> {
        let (slashes, ands) = (count(path, b'/'), count(query, b'&'));
        if exceeds(slashes, self.segments_max) {
            return Some(format!("{slashes} path segments, {} allowed", self.segments_max));
        }
        let pairs = ands + 1;
        if exceeds(pairs, self.pairs_max) {
            return Some(format!("{pairs} query parameters, {} allowed", self.pairs_max));
        }
        let has_date = has_year(path) || has_year(query);
        let may_repeat = |parts| exceeds(parts, self.repeats_max) || parts >= CYCLE_SEGMENTS_MIN;
        // Most URLs end here: too few parts to repeat themselves, and nothing like a year.
        if !has_date && !may_repeat(slashes) && !may_repeat(pairs) {
            return None;
        }
        let segments: Vec<&str> = parts(path, b'/').filter(|part| !part.is_empty()).collect();
        self.repeated(&segments)
            .or_else(|| self.repeated_parameter(query))
            .or_else(|| cycle(&segments))
            .or_else(|| has_date.then(|| self.far_date(&segments, query))?)
    }

    fn repeated(&self, segments: &[&str]) -> Option<String> {
        let (segment, times) = self.too_often(segments)?;
        let allowed = self.repeats_max;
        Some(format!("segment {segment} stands {times} times in the path, {allowed} allowed"))
    }

    /// Filters upon filters: `?f=1&f=4&f=2&f=3`. A shop's facets have no end.
    fn repeated_parameter(&self, query: &str) -> Option<String> {
        if !exceeds(count(query, b'&') + 1, self.repeats_max) {
            return None;
        }
        let name = |pair| parts(pair, b'=').next();
        let names: Vec<&str> = parts(query, b'&').filter_map(name).collect();
        let (name, times) = self.too_often(&names)?;
        let allowed = self.repeats_max;
        Some(format!("parameter {name} stands {times} times in the query, {allowed} allowed"))
    }

    /// The first name that stands there too often. Only one with enough behind it can be that.
    fn too_often<'n>(&self, names: &[&'n str]) -> Option<(&'n str, usize)> {
        let allowed = usize::try_from(self.repeats_max).unwrap_or(usize::MAX);
        let firsts = 0..names.len().saturating_sub(allowed);
        let times =
            |name: &str, from: usize| names[from..].iter().filter(|other| **other == name).count();
        let mut counted = firsts.map(|at| (names[at], times(names[at], at)));
        counted.find(|(_, times)| *times > allowed)
    }

    /// A month of a calendar that no one has any business in. A bare `/1066/10` or `/1945-05-08` is
    /// more often a number or history than a calendar, so those need a word or a far future.
    fn far_date(&self, segments: &[&str], query: &str) -> Option<String> {
        let pairs: Vec<_> = parts(query, b'&').filter_map(|pair| pair.split_once('=')).collect();
        let values = pairs.iter().map(|(_, value)| *value);
        let in_calendar = segments.iter().any(|segment| is_calendar(segment));
        let mut dashed = segments.iter().copied().chain(values).filter_map(dashed_year);
        let is_far = |year: &u32| match in_calendar {
            true => !(self.year_min..=self.year_max).contains(year),
            false => *year > FAR_FUTURE.max(self.year_max),
        };
        let year = self
            .far_year_in_path(segments)
            .or_else(|| self.far_year_in_query(&pairs))
            .or_else(|| dashed.find(is_far))?;
        Some(format!("a calendar in the year {year}"))
    }

    fn far_year_in_path(&self, segments: &[&str]) -> Option<u32> {
        segments.windows(3).find_map(|window| match window {
            [word, year, month] if is_calendar(word) && is_month(month) => self.far_year(year),
            _ => None,
        })
    }

    fn far_year_in_query(&self, pairs: &[(&str, &str)]) -> Option<u32> {
        let value = |names: [&str; 2]| {
            pairs.iter().find(|(name, _)| names.contains(name)).map(|(_, value)| *value)
        };
        value(["month", "mon"]).filter(|month| is_month(month))?;
        self.far_year(value(["year", "yr"])?)
    }

    fn far_year(&self, text: &str) -> Option<u32> {
        year(text).filter(|year| !(self.year_min..=self.year_max).contains(year))
    }
}

fn exceeds(count: usize, max: u64) -> bool {
    u64::try_from(count).is_ok_and(|count| count > max)
}

/// The parts of a text between such bytes, as `split` gives them; for the few bytes of a URL this is
/// several times as fast.
fn parts(text: &str, mark: u8) -> impl Iterator<Item = &str> {
    let ends = memchr::memchr_iter(mark, text.as_bytes()).chain([text.len()]);
    let mut start = 0;
    ends.map(move |end| &text[std::mem::replace(&mut start, end + 1)..end])
}

fn count(text: &str, mark: u8) -> usize {
    text.bytes().filter(|&byte| byte == mark).count()
}

/// Whether four digits stand in a row. Then one of them is at a place that four divides, so that most
/// texts are told by a quarter of their bytes.
fn has_year(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut quarter = bytes.iter().skip(3).step_by(4);
    quarter.any(u8::is_ascii_digit)
        && bytes.windows(4).any(|window| window.iter().all(u8::is_ascii_digit))
}

/// A sequence of two or more segments that follows itself too often: `/a/b/a/b/a/b`.
fn cycle(segments: &[&str]) -> Option<String> {
    let times = CYCLES_MAX + 1;
    let lengths = 2..=segments.len() / times;
    let mut windows = lengths.flat_map(|length| {
        segments.windows(length * times).map(move |window| window.split_at(length))
    });
    let (cycle, _) =
        windows.find(|(cycle, rest)| rest.chunks(cycle.len()).all(|chunk| chunk == *cycle))?;
    Some(format!("the path repeats {} {times} times", cycle.join("/")))
}

fn is_calendar(segment: &str) -> bool {
    const WORDS: &[&str] =
        &["agenda", "calendar", "calendario", "calendrier", "events", "kalender", "month"];
    WORDS.iter().any(|word| segment.eq_ignore_ascii_case(word))
}

fn is_month(text: &str) -> bool {
    text.len() <= 2 && text.parse::<u32>().is_ok_and(|month| (1..=12).contains(&month))
}

fn year(text: &str) -> Option<u32> {
    let is_year = (4..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_year.then(|| text.parse().ok()).flatten()
}

/// The year of `2024-05` or `2024-05-17`.
fn dashed_year(text: &str) -> Option<u32> {
    let mut parts = text.split('-');
    let (first, month, day) = (year(parts.next()?)?, parts.next()?, parts.next());
    let is_day = day.is_none_or(|day| day.len() == 2 && day.parse::<u8>().is_ok());
    (month.len() == 2 && is_month(month) && is_day && parts.next().is_none()).then_some(first)
}

impl Filter for Traps {
    fn name(&self) -> &'static str {
        "traps"
    }

    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        if subject.via == Via::Seed || subject.url.is_file() {
            return Verdict::Pass;
        }
        let query = subject.url.query().unwrap_or_default();
        match self.objection(subject.url.path(), query) {
            Some(detail) => Verdict::reject("traps", detail),
            None => Verdict::Pass,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_passes, assert_rejects, link, seed};
    use super::*;

    fn traps() -> Traps {
        Traps::new(&Limits::default(), 1990, 2100)
    }

    #[test]
    fn shapes_of_endless_supplies_are_rejected() {
        let deep = format!("http://h{}", many("/s", 33));
        let wide = format!("http://h/?{}", many("&p", 33).trim_start_matches('&'));
        let rows = [
            (deep.as_str(), "traps: 33 path segments, 32 allowed"),
            (wide.as_str(), "traps: 33 query parameters, 32 allowed"),
            ("http://h/a/x/a/y/a/z/a", "traps: segment a stands 4 times in the path, 3 allowed"),
            ("http://h/a/b/a/b/a/b", "traps: the path repeats a/b 3 times"),
            ("http://h/x/a/b/c/a/b/c/a/b/c/y", "traps: the path repeats a/b/c 3 times"),
            ("http://h/calendar/2150/01/", "traps: a calendar in the year 2150"),
            ("http://h/Events/1902/12", "traps: a calendar in the year 1902"),
            ("http://h/cal.php?month=3&year=2987", "traps: a calendar in the year 2987"),
            ("http://h/cal?year=1801&month=03", "traps: a calendar in the year 1801"),
            ("http://h/day/2150-03-01/", "traps: a calendar in the year 2150"),
            ("http://h/day?date=10150-03", "traps: a calendar in the year 10150"),
        ];
        for (url, reason) in rows {
            assert_rejects(&traps(), link(url), reason);
            assert_passes(&traps(), seed(url));
        }
    }

    #[test]
    fn ordinary_urls_pass() {
        let urls = [
            "http://h/",
            "http://h/2.0/api/2.0/x",
            "http://h/docs/en/docs/en/page",
            "http://h/a/a/a",
            "http://h/2024/05/",
            "http://h/2024/05/17/title",
            "http://h/forum/1234/10/",
            "http://h/1066/10/",
            "http://h/newspaper/1901-05-08/page-1",
            "http://h/calendar/2024/05/",
            "http://h/calendar/1066/battle",
            "http://h/search?year=1850",
            "http://h/search?year=1850&month=all",
            "http://h/events/5000/details",
            "http://h/phone/2150-13-01",
            "http://h/part/9999-12-0001-7",
            "http://h/a//b//c//d//e",
        ];
        for url in urls {
            assert_passes(&traps(), link(url));
        }
    }

    fn many(piece: &str, times: usize) -> String {
        (0..times).map(|i| format!("{piece}{i}")).collect()
    }
}
