//! Filter `assets`: what pages embed is fetched only on request.
//!
//! A type that the user asked for by name is not an asset: with `audio/*` accepted, the file of an
//! `<audio>` element is what the crawl is for.

use super::types::{guessed_type, type_wanted};
use super::{Filter, Subject, Verdict};
use crate::Via;

pub(super) struct Assets {
    pub follow: bool,
    pub accept: Vec<String>,
}

impl Assets {
    fn is_asked_for(&self, subject: &Subject<'_>) -> bool {
        // An enclosure is sound or film more often than not; a file of a page whose name says nothing is
        // mostly a script.
        let unknown = subject.via == Via::Enclosure;
        let wanted = |(_, guess): (&str, &str)| type_wanted(&self.accept, guess);
        !self.accept.is_empty() && guessed_type(subject.url).map_or(unknown, wanted)
    }
}

impl Filter for Assets {
    fn name(&self) -> &'static str {
        "assets"
    }

    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        if !subject.via.is_embed() || self.follow || self.is_asked_for(subject) {
            return Verdict::Pass;
        }
        let detail = "embedded in a page, and embedded files were not asked for";
        Verdict::reject("assets", detail.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_passes, assert_rejects, embed, link};
    use super::*;

    #[test]
    fn embedded_files_are_followed_on_request() {
        let without = Assets { follow: false, accept: Vec::new() };
        assert_rejects(&without, embed("http://h/a.png"), "assets: embedded in a page");
        assert_passes(&without, link("http://h/a.png"));
        let with = Assets { follow: true, accept: Vec::new() };
        assert_passes(&with, embed("http://h/a.png"));
    }

    #[test]
    fn an_embedded_file_of_a_wanted_type_is_no_asset() {
        let filter = Assets { follow: false, accept: vec!["audio/*".to_owned()] };
        assert_passes(&filter, embed("http://h/talk.mp3"));
        assert_rejects(&filter, embed("http://h/a.png"), "assets");
        assert_rejects(&filter, embed("http://h/unknown"), "assets");
    }
}
