//! The robots words of a page: `<meta name="robots">` and the `X-Robots-Tag` header.
//!
//! They say what may be done with a page that was fetched, after robots.txt allowed the fetch.
//! Where several speak, all of them count: the words can only forbid. Words that larm has no use
//! for (`max-snippet`, `unavailable_after`, …) and words that forbid nothing (`index`, `all`) are
//! skipped.

use serde::Serialize;

/// What the page asks us not to do.
#[derive(Default, Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Directives {
    /// Not to be found by a search.
    pub noindex: bool,
    /// Its links are not to be followed.
    pub nofollow: bool,
    /// No copy of it is to be shown.
    pub noarchive: bool,
    /// No extract of it is to be shown.
    pub nosnippet: bool,
    /// Its images are not to be found by a search.
    pub noimageindex: bool,
    /// Not to be used for AI.
    pub noai: bool,
    /// Its images are not to be used for AI.
    pub noimageai: bool,
}

impl Directives {
    /// The words of a `<meta>` element, if its name is `robots` or the product token `agent`.
    pub fn from_meta(name: &str, content: &str, agent: &str) -> Option<Self> {
        let name = name.trim();
        let for_us = name.eq_ignore_ascii_case("robots") || name.eq_ignore_ascii_case(agent);
        for_us.then(|| Self::default().with_words(content))
    }

    /// The words of one `X-Robots-Tag` header that are for everybody or for `agent`.
    ///
    /// Several headers are to be read one by one: the agent that one is for does not hold for the
    /// next.
    pub fn from_header(value: &str, agent: &str) -> Self {
        let mut found = Self::default();
        let mut for_us = true;
        for item in value.split(',') {
            let words = match item.split_once(':').map(|(name, words)| (name.trim(), words)) {
                Some((name, _)) if is_word_with_value(name) => continue,
                Some((name, words)) if is_product_token(name) => {
                    for_us = name == "*" || name.eq_ignore_ascii_case(agent);
                    words
                }
                _ => item,
            };
            found = if for_us { found.with_words(words) } else { found };
        }
        found
    }

    /// Both together.
    pub fn merge(self, other: Self) -> Self {
        Self {
            noindex: self.noindex | other.noindex,
            nofollow: self.nofollow | other.nofollow,
            noarchive: self.noarchive | other.noarchive,
            nosnippet: self.nosnippet | other.nosnippet,
            noimageindex: self.noimageindex | other.noimageindex,
            noai: self.noai | other.noai,
            noimageai: self.noimageai | other.noimageai,
        }
    }

    /// The words in force, in a fixed order, as a page would write them: `noindex, nofollow`.
    pub fn words(&self) -> String {
        let words = [
            (self.noindex, "noindex"),
            (self.nofollow, "nofollow"),
            (self.noarchive, "noarchive"),
            (self.nosnippet, "nosnippet"),
            (self.noimageindex, "noimageindex"),
            (self.noai, "noai"),
            (self.noimageai, "noimageai"),
        ];
        let in_force = words.into_iter().filter(|(is_set, _)| *is_set).map(|(_, word)| word);
        in_force.collect::<Vec<_>>().join(", ")
    }

    fn with_words(self, text: &str) -> Self {
        let is_gap = |c: char| c == ',' || c == ';' || c.is_whitespace();
        text.split(is_gap).fold(self, |found, word| found.merge(Self::of_word(word)))
    }

    fn of_word(word: &str) -> Self {
        let nothing = Self::default();
        match word.to_ascii_lowercase().as_str() {
            "noindex" => Self { noindex: true, ..nothing },
            "nofollow" => Self { nofollow: true, ..nothing },
            "none" => Self { noindex: true, nofollow: true, ..nothing },
            "noarchive" | "nocache" => Self { noarchive: true, ..nothing },
            "nosnippet" => Self { nosnippet: true, ..nothing },
            "noimageindex" => Self { noimageindex: true, ..nothing },
            "noai" => Self { noai: true, ..nothing },
            "noimageai" => Self { noimageai: true, ..nothing },
            _ => nothing,
        }
    }
}

/// Words that take a value with a colon, and so look like an agent.
fn is_word_with_value(name: &str) -> bool {
    let words = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];
    words.iter().any(|word| name.eq_ignore_ascii_case(word))
}

fn is_product_token(name: &str) -> bool {
    let in_token = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    name == "*" || (!name.is_empty() && name.bytes().all(in_token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meta_element_speaks_to_all_or_to_us() {
        #[rustfmt::skip]
        let rows = [
            ("robots", "noindex", Some("noindex")),
            ("ROBOTS", "NOINDEX,NoFollow", Some("noindex, nofollow")),
            (" Larm ", "none", Some("noindex, nofollow")),
            ("robots", "index, follow, all", Some("")),
            ("robots", "noarchive; nosnippet nocache", Some("noarchive, nosnippet")),
            ("robots", "noimageindex", Some("noimageindex")),
            ("robots", "NoAI, noimageai", Some("noai, noimageai")),
            ("robots", "noindexed, unavailable_after: 25-Aug-2030", Some("")),
            ("googlebot", "noindex", None),
            ("description", "noindex", None),
            ("", "noindex", None),
        ];
        for (name, content, expected) in rows {
            let found = Directives::from_meta(name, content, "larm").map(|found| found.words());
            assert_eq!(found.as_deref(), expected, "{name}: {content}");
        }
    }

    #[test]
    fn a_header_speaks_to_all_or_to_the_agent_it_names() {
        #[rustfmt::skip]
        let rows = [
            ("noindex, nofollow", "noindex, nofollow"),
            ("None", "noindex, nofollow"),
            ("googlebot: noindex", ""),
            ("googlebot: noindex, nofollow", ""),
            ("LARM: noindex", "noindex"),
            ("noarchive, other: noindex, larm: nofollow", "nofollow, noarchive"),
            ("other: noindex, larm: nofollow, nosnippet", "nofollow, nosnippet"),
            ("*: noindex", "noindex"),
            ("unavailable_after: 25 Jun 2030 15:00:00 PST, noindex", "noindex"),
            ("unavailable_after: Friday, 25-Jun-30 15:00:00 UTC, noindex", "noindex"),
            ("max-snippet:0, max-image-preview: none, nofollow", "nofollow"),
            ("", ""),
            (",:,::,", ""),
        ];
        for (value, expected) in rows {
            assert_eq!(Directives::from_header(value, "larm").words(), expected, "{value}");
        }
    }

    #[test]
    fn merging_forbids_what_either_forbids() {
        let meta = Directives { noindex: true, ..Directives::default() };
        let header = Directives { nofollow: true, ..Directives::default() };
        assert_eq!(meta.merge(header).words(), "noindex, nofollow");
        assert_eq!(meta.merge(Directives::default()), meta);
    }
}
