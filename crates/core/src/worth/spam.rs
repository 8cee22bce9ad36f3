//! Pages made for search engines: stuffed with a few words, or nothing but links to everywhere.
//!
//! Both are told by plain figures, which go with the verdict, so that everybody can see why. The bars are
//! high: a page is called spam only where no page that somebody wrote comes near. Nothing is dropped for it;
//! a page that is spam earns its host nothing, and its links come after all others.
//!
//! Text that is hidden, or copied from elsewhere, is not looked for.

use std::collections::HashSet;
use std::fmt;

use crate::parse::Page;
use crate::{Fact, Via};

/// Name of the fact.
pub const SPAM: &str = "spam";

/// Words that are looked at.
const WORDS_MAX: usize = 600;
/// Fewer words show nothing.
const WORDS_MIN: usize = 150;
/// Shorter words hold every text together: the, of, und, la.
const KEYWORD_MIN: usize = 4;
/// Keywords that are counted together, and the percentage of all words that only a stuffed page reaches.
const KEYWORDS: usize = 3;
const STUFFED_PERCENT: usize = 45;
/// And a text has a word that holds it together for every few others: in percent of all words.
const BINDING_PERCENT: usize = 12;
/// Other sites that a page links to.
const FARM_SITES_MIN: usize = 50;
/// Words beside the links, for each link to another site, of a page that says something about them.
const FARM_WORDS_PER_LINK: usize = 2;
/// How often each word of the links' texts stands there: somebody's bookmarks name each thing by its name.
const FARM_REPEATS_MIN: usize = 4;
/// Counters of words: more than words.
const SLOTS: usize = 1_024;

/// Why a page is spam.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spam {
    /// A few words are most of its text.
    Stuffed {
        /// Percentage of the words that the most frequent keywords make up.
        percent: usize,
        /// Words looked at.
        words: usize,
    },
    /// Links to many other sites under a few words, and no word about them.
    Farm {
        /// Links to other sites.
        links: usize,
        /// How many sites.
        sites: usize,
        /// Words beside the links.
        words: usize,
    },
}

impl Spam {
    /// What is kept of it.
    pub fn fact(&self) -> Fact {
        Fact::new(SPAM, self.to_string())
    }
}

impl fmt::Display for Spam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stuffed { percent, words } => {
                write!(f, "stuffed: {KEYWORDS} words make up {percent} % of {words}")
            }
            Self::Farm { links, sites, words } => {
                write!(
                    f,
                    "link farm: {links} links to {sites} other sites, {words} words beside them"
                )
            }
        }
    }
}

/// Whether a page is spam. Its text must have been read.
pub fn recognise(page: &Page) -> Option<Spam> {
    stuffed(&page.text).or_else(|| farm(page))
}

fn stuffed(text: &str) -> Option<Spam> {
    // Most texts end here: they are held together by short words.
    if is_bound(words(text).take(WORDS_MIN)) || is_bound(words(text)) {
        return None;
    }
    let mut counts = [0_u16; SLOTS];
    let mut total = 0;
    for word in words(text) {
        total += 1;
        if word.len() >= KEYWORD_MIN {
            counts[hash(word) % SLOTS] += 1;
        }
    }
    if total < WORDS_MIN {
        return None;
    }
    counts.select_nth_unstable_by_key(KEYWORDS, |count| std::cmp::Reverse(*count));
    let top: usize = counts[..KEYWORDS].iter().map(|count| usize::from(*count)).sum();
    let percent = top * 100 / total;
    (percent >= STUFFED_PERCENT).then_some(Spam::Stuffed { percent, words: total })
}

/// The first words of a text. Numbers repeat in every table, and do not count.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_ascii_whitespace().take(WORDS_MAX);
    let words = words.map(bare);
    words.filter(|word| !word.is_empty() && !word.as_bytes()[0].is_ascii_digit())
}

/// A word without the signs of ASCII around it.
fn bare(word: &str) -> &str {
    let bytes = word.as_bytes();
    let start = bytes.iter().take_while(|byte| byte.is_ascii_punctuation()).count();
    let signs = bytes[start..].iter().rev().take_while(|byte| byte.is_ascii_punctuation()).count();
    &word[start..word.len() - signs]
}

/// Whether enough of these words are short.
fn is_bound<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    let (mut all, mut binding) = (0, 0);
    for word in words {
        all += 1;
        binding += usize::from(word.len() < KEYWORD_MIN);
    }
    binding * 100 >= all * BINDING_PERCENT
}

/// The same for a word in upper and lower case.
fn hash(word: &str) -> usize {
    let fold = |hash: u32, byte: u8| (hash ^ u32::from(byte | 0x20)).wrapping_mul(0x0100_0193);
    word.bytes().take(32).fold(0x811c_9dc5, fold) as usize >> 8
}

fn farm(page: &Page) -> Option<Spam> {
    let anchors = || page.links().filter(|link| link.via == Via::Anchor);
    let leads_away = || anchors().filter_map(|link| other_site(link.target));
    let links = leads_away().count();
    // Most of its links lead away: an index of one's own pages is none.
    if links < FARM_SITES_MIN || links * 2 <= page.link_count() {
        return None;
    }
    let sites = leads_away().collect::<HashSet<_>>().len();
    let link_words = || anchors().flat_map(|link| link.text.split_ascii_whitespace());
    let (all, distinct) = (link_words().count(), link_words().map(hash).collect::<HashSet<_>>());
    let words = page.text.split_ascii_whitespace().count().saturating_sub(all);
    let is_farm = sites >= FARM_SITES_MIN
        && words < links * FARM_WORDS_PER_LINK
        && distinct.len() * FARM_REPEATS_MIN <= all;
    is_farm.then_some(Spam::Farm { links, sites, words })
}

/// The last two labels of the host that a link names, which is near enough to a site here.
fn other_site(target: &str) -> Option<&str> {
    let schemes = ["http://", "https://", "//"];
    let rest = schemes.iter().find_map(|scheme| target.strip_prefix(scheme))?;
    let host = rest.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let before = host.rsplit_once('.')?.0;
    Some(before.rfind('.').map_or(host, |dot| &host[dot + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;
    use crate::parse::testdata::archive;
    use crate::parse::{Input, parse};

    /// Archives of real pages, and how the names of pages end there.
    const OUTSIDE: [(&str, &str); 3] = [
        ("html/readability-pages.tar.gz", "source.html"),
        ("neardup/kafka-docs-20-21-24.tar.gz", ".html"),
        ("topic/webkb-pages.tar.gz", ""),
    ];

    fn read(html: &[u8]) -> Page {
        let url = url::Url::parse("http://h.test/").unwrap();
        let input = Input { url: &url, content_type: Some("text/html"), body: html, text: true };
        parse(&input, &Limits::default())
    }

    fn judge(html: &str) -> Option<Spam> {
        recognise(&read(html.as_bytes()))
    }

    #[test]
    fn a_few_words_over_and_over_are_stuffing() {
        let text = "Cheap tickets online, best cheap tickets! Cheap flights tickets cheap hotels. ";
        let found = judge(&format!("<p>{}", text.repeat(40)));
        assert!(matches!(found, Some(Spam::Stuffed { percent: 45.., .. })), "{found:?}");
        let fact = found.unwrap().fact();
        assert!(&*fact.name == SPAM && fact.value.contains("3 words make up"), "{}", fact.value);
        assert_eq!(judge(&format!("<p>{}", text.repeat(3))), None, "too short to tell");
    }

    #[test]
    fn a_text_that_speaks_of_one_thing_is_none() {
        let text = "The larch is a tree, and the larch of the north is the one that we mean by it. \
            A larch can be as old as the hills in which it stands. ";
        assert_eq!(judge(&format!("<p>{}", text.repeat(30))), None);
    }

    #[test]
    fn links_to_everywhere_without_a_word_are_a_farm() {
        let links = |text: &str| -> String {
            (0..80).map(|n| format!("<li><a href=http://site{n}.test/>casino</a> {text}")).collect()
        };
        let found = judge(&links(""));
        assert_eq!(found, Some(Spam::Farm { links: 80, sites: 80, words: 0 }));
        assert_eq!(judge(&links("which is a place that I like")), None, "it says something");
        let named = |n| format!("<li><a href=http://site{n}.test/>the page of {n}x{}</a>", n * 7);
        assert_eq!(judge(&(0..80).map(named).collect::<String>()), None, "somebody's bookmarks");
        let own: String = (0..300).map(|n| format!("<a href=/page/{n}>{n}</a> ")).collect();
        assert_eq!(judge(&own), None, "an index");
    }

    #[test]
    fn links_to_hosts_of_one_site_lead_to_one_other_site() {
        assert_eq!(other_site("http://a.b.test/x"), Some("b.test"));
        assert_eq!(other_site("//b.test:80"), Some("b.test"));
        assert_eq!(other_site("/local//path"), None);
        assert_eq!(other_site("mailto:a@b.test"), None);
    }

    #[test]
    fn outside_pages_that_people_wrote_are_no_spam() {
        for (set, ending) in OUTSIDE {
            let Some(files) = archive(set) else { return };
            let pages = files.iter().filter(|(name, _)| name.ends_with(ending));
            let found: Vec<_> = pages
                .clone()
                .filter_map(|(name, html)| Some((name, recognise(&read(html))?)))
                .collect();
            let count = pages.count();
            println!("{set}: {} of {count} pages", found.len());
            found.iter().for_each(|(name, spam)| println!("  {name}: {spam}"));
            assert!(count > 20 && found.len() * 500 <= count, "{set}: {found:?}");
        }
    }
}
