//! Filters `include` and `exclude`: regular expressions on the whole canonical URL.
//!
//! The engine takes linear time whatever the pattern, and its size is limited.

use regex::{RegexSet, RegexSetBuilder};

use super::{Filter, ScopeError, Subject, Verdict};
use crate::Via;

/// Patterns that are tried together.
#[derive(Debug)]
pub(super) struct Patterns(RegexSet);

impl Patterns {
    /// Compiles the patterns, or names the one that cannot be.
    pub fn new<S: AsRef<str>>(patterns: &[S], bytes_max: u64) -> Result<Self, ScopeError> {
        compile(patterns.iter().map(AsRef::as_ref), bytes_max).map(Self).map_err(|error| {
            let is_bad = |pattern: &&S| compile([pattern.as_ref()], bytes_max).is_err();
            // Each one alone can be fine and all of them together too large.
            let pattern = patterns.iter().find(is_bad).map_or("all together", AsRef::as_ref);
            ScopeError::Pattern { pattern: pattern.to_owned(), why: error.to_string() }
        })
    }

    /// Number of the first pattern that matches.
    pub fn first_match(&self, text: &str) -> Option<usize> {
        // Most texts match none, which is cheaper to tell than which one.
        if !self.0.is_empty() && self.0.is_match(text) {
            self.0.matches(text).iter().next()
        } else {
            None
        }
    }

    /// The text of one pattern.
    pub fn text(&self, number: usize) -> &str {
        self.0.patterns().get(number).map_or("", String::as_str)
    }
}

fn compile<'a>(
    patterns: impl IntoIterator<Item = &'a str>,
    bytes_max: u64,
) -> Result<RegexSet, regex::Error> {
    let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
    RegexSetBuilder::new(patterns).size_limit(bytes_max).build()
}

/// If there are patterns, a URL must match one. Seeds need not, for nothing would be found without
/// them, and neither do sitemaps, which only name pages.
pub(super) struct Include(pub Patterns);

impl Filter for Include {
    fn name(&self) -> &'static str {
        "include"
    }

    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let is_exempt = matches!(subject.via, Via::Seed | Via::Robots | Via::SitemapIndex);
        if is_exempt || self.0.0.is_empty() || self.0.0.is_match(subject.url.as_str()) {
            return Verdict::Pass;
        }
        let detail = match self.0.0.patterns() {
            [pattern] => format!("does not match `{pattern}`"),
            patterns => format!("matches none of {} patterns", patterns.len()),
        };
        Verdict::reject("include", detail)
    }
}

/// A URL must match none of the patterns, seeds included.
pub(super) struct Exclude(pub Patterns);

impl Filter for Exclude {
    fn name(&self) -> &'static str {
        "exclude"
    }

    fn is_about_url(&self) -> bool {
        true
    }

    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        match self.0.first_match(subject.url.as_str()) {
            None => Verdict::Pass,
            Some(number) => {
                Verdict::reject("exclude", format!("matches `{}`", self.0.text(number)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_passes, assert_rejects, link, seed};
    use super::*;

    fn patterns(patterns: &[&str]) -> Patterns {
        Patterns::new(patterns, 1 << 20).unwrap()
    }

    #[test]
    fn a_url_must_match_one_pattern_to_be_included() {
        let filter = Include(patterns(&["/blog/", r"^https://h/news\b"]));
        assert_passes(&filter, link("https://h/blog/1"));
        assert_passes(&filter, link("https://h/news?page=2"));
        assert_passes(&filter, seed("https://h/"));
        let robots = Subject { via: Via::Robots, ..link("https://h/sitemap.xml") };
        assert_passes(&filter, robots);
        assert_rejects(&filter, link("https://h/about"), "include: matches none of 2 patterns");
        let filter = Include(patterns(&["/blog/"]));
        assert_rejects(&filter, link("https://h/about"), "include: does not match `/blog/`");
        assert_passes(&Include(patterns(&[])), link("https://h/about"));
    }

    #[test]
    fn a_url_must_match_no_pattern_to_escape_exclusion() {
        let filter = Exclude(patterns(&["[.]pdf$", r"[?&]print="]));
        assert_passes(&filter, link("https://h/a.pdf.html"));
        assert_rejects(&filter, link("https://h/a.pdf"), "exclude: matches `[.]pdf$`");
        assert_rejects(&filter, seed("https://h/?print=1"), "exclude: matches `[?&]print=`");
        assert_passes(&Exclude(patterns(&[])), link("https://h/"));
    }

    #[test]
    fn a_pattern_that_cannot_be_used_is_named() {
        for bad in ["(unclosed", "a{1000}{1000}", r"(?=lookahead)"] {
            let error = Patterns::new(&["fine", bad], 1 << 20).unwrap_err();
            assert!(error.to_string().contains(&format!("`{bad}`")), "{error}");
        }
    }

    #[test]
    fn a_pattern_that_others_take_forever_for_is_quick() {
        let filter = Exclude(patterns(&["(a+)+$", "(a|a)*b"]));
        let text = format!("http://h/{}x", "a".repeat(2_000));
        assert_passes(&filter, link(&text));
    }
}
