//! Location metric: what a URL itself says, before anything is known of its page.
//!
//! Each segment of the path and each sub-domain costs, a query costs, a word such as `home` or
//! `index` pays; patterns of the user's own pay or cost what they say. All of it is points, one point being
//! a doubling. Four bytes a page; a page without a URL has no points.

use std::fmt;
use std::str::FromStr;

use regex::Regex;

use super::{Facts, Leads, Score, Tuning, at, power};
use crate::url::CrawlUrl;

const SEGMENT: f32 = -0.5;
const SUB_DOMAIN: f32 = -0.25;
const QUERY: f32 = -1.0;
const HOME: f32 = 1.0;
const HOME_WORDS: [&str; 5] = ["home", "index", "default", "main", "welcome"];

/// A pattern that makes a URL worth more or less: `RE=POINTS`.
#[derive(Debug, Clone)]
pub struct Place {
    pattern: Regex,
    points: f32,
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("`{text}` is no place: {why}; write PATTERN=POINTS");
        let (pattern, points) = text.rsplit_once('=').ok_or_else(|| wrong("no points"))?;
        let points: f32 = points.trim().parse().map_err(|_| wrong("points are a number"))?;
        if !(-100.0..=100.0).contains(&points) {
            return Err(wrong("points are from -100 to 100"));
        }
        let pattern = Regex::new(pattern).map_err(|error| wrong(&error.to_string()))?;
        Ok(Self { pattern, points })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.pattern, self.points)
    }
}

/// Pages by their URLs.
#[derive(Debug, Clone)]
pub struct Location {
    points: Vec<f32>,
    places: Vec<Place>,
}

impl Location {
    /// With the patterns of `tuning`.
    pub fn new(tuning: &Tuning) -> Self {
        Self { points: Vec::new(), places: tuning.places.clone() }
    }

    /// The points of a URL.
    pub fn points(&self, url: &str) -> f32 {
        let matching = self.places.iter().filter(|place| place.pattern.is_match(url));
        let own: f32 = matching.map(|place| place.points).sum();
        own + CrawlUrl::from_canonical(url).map_or(0.0, |url| shape_points(&url))
    }
}

fn shape_points(url: &CrawlUrl) -> f32 {
    let segments = url.path().split('/').filter(|segment| !segment.is_empty());
    let last = segments.clone().next_back().unwrap_or_default().to_ascii_lowercase();
    let stem = last.split('.').next().unwrap_or_default();
    let is_home = HOME_WORDS.contains(&stem);
    let path = (segments.count() - usize::from(is_home)) as f32 * SEGMENT;
    // `www` is no sub-domain to speak of.
    let inside = url.host().strip_suffix(url.site()).unwrap_or_default();
    let labels = inside.split('.').filter(|label| !label.is_empty() && *label != "www");
    let query = if url.query().is_some() { QUERY } else { 0.0 };
    let home = if is_home || path == 0.0 { HOME } else { 0.0 };
    path + labels.count() as f32 * SUB_DOMAIN + query + home
}

impl Score for Location {
    fn found(&mut self, page: u32, facts: &Facts<'_>) {
        let points = facts.url.map_or(0.0, |url| self.points(url));
        *at(&mut self.points, page, 0.0) = points;
    }

    fn fetched(&mut self, _: &Leads<'_>, _: &mut Vec<u32>) {}

    fn worth(&self, page: u32) -> f32 {
        power(self.points.get(page as usize).copied().unwrap_or(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    #[test]
    fn points_follow_place_and_words_of_a_url() {
        let mut tuning = Tuning::new(&Limits::default());
        tuning.places = vec!["^https?://[^/]*\\.edu/=2".parse().unwrap()];
        let location = Location::new(&tuning);
        let rows = [
            ("http://a.test/", 1.0),
            ("http://www.a.test/", 1.0),
            ("http://x.a.test/", 0.75),
            ("http://a.test/a/b", -1.0),
            ("http://a.test/a/b?c=1", -2.0),
            ("http://a.test/a/Home.html", 0.5),
            ("http://a.test/index.html", 1.0),
            ("http://a.edu/a", 1.5),
        ];
        for (url, points) in rows {
            assert_eq!(location.points(url), points, "{url}");
        }
    }

    #[test]
    fn a_place_that_cannot_be_read_says_why() {
        for text in ["", "x", "(=1", "x=much", "x=1e9"] {
            let error = text.parse::<Place>().unwrap_err();
            assert!(error.contains("PATTERN=POINTS"), "{error}");
        }
        assert_eq!("a=b=-1.5".parse::<Place>().unwrap().to_string(), "a=b=-1.5");
    }
}
