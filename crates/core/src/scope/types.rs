//! Filter `types`: when the user asked for content types, files that are certainly of another.
//!
//! Judged by the ending of the file name, and only where that ending is plain. Pages and unknown
//! endings always pass, since they carry links; what really came is judged by its `Content-Type`
//! after the fetch ([`type_wanted`]).

use super::{Filter, Subject, Verdict};
use crate::url::CrawlUrl;
use crate::{Via, media};

pub(super) struct Types {
    pub accept: Vec<String>,
    /// Embedded files were asked for, whatever their type.
    pub assets: bool,
}

/// The type that the file name speaks of, with the ending that says so.
pub(super) fn guessed_type(url: &CrawlUrl) -> Option<(&'static str, &'static str)> {
    let (name, ending) = url.path().rsplit('/').next()?.rsplit_once('.')?;
    // A wiki shows a page about the image at `/wiki/File:Tree.jpg`.
    if name.contains(':') {
        return None;
    }
    media::of_ending(ending).filter(|(_, kind)| !media::may_lead_on(kind))
}

/// Whether a `Content-Type` is among those asked for: `text/html`, `audio/*`, `*/*`. No list asks for
/// everything, and a type that is not stated is not refused.
pub fn type_wanted(accept: &[String], content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    accept.is_empty() || essence.is_empty() || accept.iter().any(|wanted| covers(wanted, essence))
}

fn covers(wanted: &str, essence: &str) -> bool {
    let wanted = wanted.trim();
    match wanted.strip_suffix("/*").unwrap_or(wanted) {
        "*" => true,
        kind if kind.len() < wanted.len() => {
            essence.split('/').next().is_some_and(|essence| essence.eq_ignore_ascii_case(kind))
        }
        // The XML writing of HTML is HTML to whoever asks for it.
        "text/html" if essence.eq_ignore_ascii_case("application/xhtml+xml") => true,
        exact => essence.eq_ignore_ascii_case(exact),
    }
}

impl Filter for Types {
    fn name(&self) -> &'static str {
        "types"
    }

    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        if self.accept.is_empty() {
            return Verdict::Pass;
        }
        // Sitemaps may be compressed; a seed was named on purpose.
        let is_exempt = matches!(subject.via, Via::Seed | Via::Robots | Via::SitemapIndex)
            || (self.assets && subject.via.is_embed());
        match guessed_type(subject.url) {
            Some((ending, guess)) if !is_exempt && !type_wanted(&self.accept, guess) => {
                let accept = self.accept.join(", ");
                Verdict::reject("types", format!(".{ending} is {guess}, asked for was {accept}"))
            }
            _ => Verdict::Pass,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_passes, assert_rejects, embed, link, seed};
    use super::*;

    fn accept(types: &[&str]) -> Vec<String> {
        types.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn only_files_of_certainly_another_type_are_rejected() {
        let filter = Types { accept: accept(&["text/html", "audio/*"]), assets: false };
        let passing = [
            "http://h/",
            "http://h/page.html",
            "http://h/page.php?file=a.jpg",
            "http://h/talk.mp3",
            "http://h/feed.xml",
            "http://h/notes.txt",
            "http://h/release-1.2",
            "http://h/photo.jpg/",
            "http://h/wiki/File:Tree.jpg",
            "http://h/.png-guide",
            "http://h.zip/",
        ];
        for url in passing {
            assert_passes(&filter, link(url));
        }
        let reason = "types: .jpg is image/jpeg, asked for was text/html, audio/*";
        assert_rejects(&filter, link("http://h/a/Photo.JPG?w=200"), reason);
        for url in ["http://h/a.pdf", "http://h/a.tar.gz", "http://h/style.css", "http://h/v.mp4"] {
            assert_rejects(&filter, link(url), "types: .");
        }
    }

    #[test]
    fn what_was_asked_for_in_another_way_passes() {
        let filter = Types { accept: accept(&["text/html"]), assets: true };
        assert_passes(&filter, embed("http://h/a.png"));
        assert_passes(&filter, seed("http://h/a.png"));
        let sitemap = Subject { via: Via::Robots, ..link("http://h/sitemap.xml.gz") };
        assert_passes(&filter, sitemap);
        assert_rejects(&filter, link("http://h/a.png"), "types: .png");
        let everything = Types { accept: Vec::new(), assets: false };
        assert_passes(&everything, link("http://h/a.png"));
    }

    #[test]
    fn a_content_type_is_wanted_exactly_or_by_kind() {
        let rows = [
            (&["text/html"][..], "text/html", true),
            (&["text/html"], "Text/HTML; charset=utf-8", true),
            (&["text/html"], "application/xhtml+xml", true),
            (&["text/html"], "text/plain", false),
            (&["text/html"], "", true),
            (&["audio/*"], "audio/mpeg", true),
            (&["audio/*"], "audiox/mpeg", false),
            (&["Audio/*"], "AUDIO/mpeg", true),
            (&["text/html", "application/pdf"], "application/pdf", true),
            (&["*/*"], "image/png", true),
            (&["*"], "image/png", true),
            (&[], "image/png", true),
        ];
        for (list, content_type, wanted) in rows {
            assert_eq!(type_wanted(&accept(list), content_type), wanted, "{list:?} {content_type}");
        }
    }
}
