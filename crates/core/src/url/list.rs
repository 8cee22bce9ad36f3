//! The canonical URLs of a page's links, in one piece of memory.
//!
//! Most links of a page lead to what was found before: a look at the URL's fingerprint is all there is to
//! it. Only those that go on are worth an allocation of their own.

use super::base::Base;
use super::{CrawlUrl, Fingerprint, UrlError};

/// About what a URL takes.
const URL_BYTES: usize = 64;

/// URLs, or why there is none, in the order of the links.
#[derive(Debug, Default)]
pub struct UrlList {
    texts: String,
    urls: Vec<Result<Place, UrlError>>,
}

/// Where a URL stands, and where its parts end.
#[derive(Debug, Clone, Copy)]
struct Place {
    start: usize,
    end: usize,
    ends: [u32; 3],
}

impl UrlList {
    /// The URLs of some links of a page.
    pub fn of<'l>(base: &Base<'_>, links: impl ExactSizeIterator<Item = &'l str>) -> Self {
        let count = links.len();
        let texts = String::with_capacity(count * URL_BYTES);
        let mut list = Self { texts, urls: Vec::with_capacity(count) };
        links.for_each(|link| list.push(base, link));
        list
    }

    fn push(&mut self, base: &Base<'_>, link: &str) {
        let start = self.texts.len();
        let ends = match base.plain_link(link) {
            Some(plain) => {
                plain.parts.iter().for_each(|part| self.texts.push_str(part));
                Ok(plain.ends)
            }
            None => base.other_link(link).map(|url| {
                self.texts.push_str(url.as_str());
                [url.host_end, url.path, url.query]
            }),
        };
        let end = self.texts.len();
        self.urls.push(ends.map(|ends| Place { start, end, ends }));
    }

    /// How many links there are.
    pub fn len(&self) -> usize {
        self.urls.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.urls.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Result<UrlRef<'_>, &UrlError>> {
        self.urls.iter().map(|url| {
            let Place { start, end, ends } = *url.as_ref()?;
            Ok(UrlRef { text: &self.texts[start..end], ends })
        })
    }
}

/// A canonical URL in a list.
#[derive(Debug, Clone, Copy)]
pub struct UrlRef<'a> {
    text: &'a str,
    ends: [u32; 3],
}

impl<'a> UrlRef<'a> {
    /// The canonical text.
    pub fn as_str(&self) -> &'a str {
        self.text
    }

    /// Identity of this URL in the seen set.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(self.text)
    }

    /// The URL by itself.
    pub fn to_url(&self) -> CrawlUrl {
        CrawlUrl::of_ends(self.text.into(), self.ends)
    }
}
