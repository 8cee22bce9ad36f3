//! Pages as the archive has them: texts are kept there, and not once more in the index.
//!
//! What is shown of a hit is a line or two, of ten pages or so, and reading a page again takes less than a
//! millisecond. Packing the text of every page for that took a tenth of a crawl, and half of the room of an index.
//! So the index keeps where the record of a page begins, and the page is read from there: by whoever searches,
//! and after a crash by the indexer, for pages that it was not done with.

use std::path::{Path, PathBuf};

use larm_core::Limits;
use larm_core::parse::{Input, Page, parse};
use larm_core::url::CrawlUrl;
use larm_crawl::archived::{RecordPlace, read_answer};

use crate::entry::Place;

/// The archive of a crawl.
#[derive(Debug, Clone)]
pub(crate) struct Archive {
    /// The directory of the crawl.
    crawl: PathBuf,
    limits: Limits,
}

impl Archive {
    /// Of the crawl in `dir`, read within its limits.
    pub fn new(dir: &Path, limits: &Limits) -> Self {
        Self { crawl: dir.to_owned(), limits: limits.clone() }
    }

    /// The page that the record at a place holds; else why there is none.
    pub fn page(&self, url: &str, place: Place<'_>) -> Result<Page, String> {
        let url = CrawlUrl::from_canonical(url).ok_or("its URL is none")?;
        let place = RecordPlace { name: place.name.to_owned(), offset: place.offset };
        // What stands for another record is not left to the archive.
        let answer = read_answer(&self.crawl, &place, &self.limits, |_| Ok(None));
        let answer = answer.map_err(|error| error.to_string())?;
        let body = answer.body(&self.limits);
        let input = Input {
            url: &url.to_url(),
            content_type: answer.header("content-type"),
            body: &body,
            text: true,
        };
        Ok(parse(&input, &self.limits))
    }
}

/// A place as the index has it.
pub(crate) fn in_words(place: Place<'_>) -> String {
    format!("{} {}", place.offset, place.name)
}

/// What [`in_words`] made; `None` if it is none of it.
pub(crate) fn place_of(words: &str) -> Option<Place<'_>> {
    let (offset, name) = words.split_once(' ')?;
    Some(Place { name, offset: offset.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_comes_back_from_its_words() {
        let place = Place { name: "a b-00001.warc.gz", offset: 12 };
        assert_eq!(place_of(&in_words(place)), Some(place));
        assert_eq!(place_of(""), None);
        assert_eq!(place_of("x a.warc.gz"), None);
    }
}
