//! How a link was found: what the parsers note, the scope judges and the link log keeps.
//!
//! The words are written to disk and must not change.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a link was found. Forms are not here: larm does not follow them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// Named by the user.
    Seed,
    /// `a` or `area`.
    Anchor,
    /// `iframe` or `frame`: a document of its own within the page.
    Frame,
    /// `link rel=canonical`, or the HTTP header of the same meaning.
    Canonical,
    /// `link rel=alternate`: translations and feeds.
    Alternate,
    /// Any other `link` that leads somewhere: next, prev, help, …
    Link,
    /// A refresh by `meta` or HTTP header.
    Refresh,
    /// The `Location` of an HTTP redirect.
    Redirect,
    /// A page listed in a sitemap.
    Sitemap,
    /// A sitemap listed in a sitemap index.
    SitemapIndex,
    /// What a page needs to look right: image, script, style, font, media.
    Embed,
    /// A sitemap named in a robots.txt, or a robots.txt itself.
    Robots,
    /// Asked for by the crawl itself, to see what a host answers to a path that cannot be there.
    Probe,
    /// A file that a feed or a sitemap offers beside its pages: sound, film, image.
    Enclosure,
    /// Asked for by the crawl itself, to see whether one host is the mirror of another.
    Mirror,
    /// A folder of a URL that was found: nobody spoke of it.
    Ascent,
}

impl Via {
    /// Every way, in the order of the type.
    pub const ALL: [Self; 16] = [
        Self::Seed,
        Self::Anchor,
        Self::Frame,
        Self::Canonical,
        Self::Alternate,
        Self::Link,
        Self::Refresh,
        Self::Redirect,
        Self::Sitemap,
        Self::SitemapIndex,
        Self::Embed,
        Self::Robots,
        Self::Probe,
        Self::Enclosure,
        Self::Mirror,
        Self::Ascent,
    ];

    /// One stable word for logs, counters and files; the same as serde writes.
    pub fn word(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::Anchor => "anchor",
            Self::Frame => "frame",
            Self::Canonical => "canonical",
            Self::Alternate => "alternate",
            Self::Link => "link",
            Self::Refresh => "refresh",
            Self::Redirect => "redirect",
            Self::Sitemap => "sitemap",
            Self::SitemapIndex => "sitemap-index",
            Self::Embed => "embed",
            Self::Robots => "robots",
            Self::Probe => "probe",
            Self::Enclosure => "enclosure",
            Self::Mirror => "mirror",
            Self::Ascent => "ascent",
        }
    }

    /// The way of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|via| via.word() == word)
    }

    /// Whether the target belongs to a page, and is no page of its own.
    pub fn is_embed(self) -> bool {
        matches!(self, Self::Embed | Self::Enclosure)
    }
}

impl fmt::Display for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_has_one_word_and_serde_writes_the_same() {
        for via in Via::ALL {
            let written = serde_json::to_string(&via).unwrap();
            assert_eq!(written, format!("\"{}\"", via.word()));
            assert_eq!(serde_json::from_str::<Via>(&written).unwrap(), via);
            assert_eq!(Via::from_word(via.word()), Some(via));
        }
        assert_eq!(Via::from_word("form"), None);
    }
}
