//! Filter `types`: when the user asked for content types, files that are certainly of another.
//!
//! Judged by the ending of the file name, and only where that ending is plain. Pages and unknown
//! endings always pass, since they carry links; what really came is judged by its `Content-Type`
//! after the fetch ([`type_wanted`]).

use super::{Filter, Subject, Verdict};
use crate::Via;
use crate::url::CrawlUrl;

pub(super) struct Types {
    pub accept: Vec<String>,
    /// Embedded files were asked for, whatever their type.
    pub assets: bool,
}

/// Endings that mean one type and carry no links to follow. HTML, XML, JSON, text and scripts of the
/// server are missing on purpose.
const ENDINGS: &[(&str, &str)] = &[
    ("7z", "application/x-7z-compressed"),
    ("aac", "audio/aac"),
    ("apk", "application/vnd.android.package-archive"),
    ("avi", "video/x-msvideo"),
    ("avif", "image/avif"),
    ("bmp", "image/bmp"),
    ("bz2", "application/x-bzip2"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("deb", "application/vnd.debian.binary-package"),
    ("dmg", "application/x-apple-diskimage"),
    ("doc", "application/msword"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("eot", "application/vnd.ms-fontobject"),
    ("epub", "application/epub+zip"),
    ("exe", "application/vnd.microsoft.portable-executable"),
    ("flac", "audio/flac"),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("ico", "image/vnd.microsoft.icon"),
    ("iso", "application/x-iso9660-image"),
    ("jar", "application/java-archive"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("m4a", "audio/mp4"),
    ("m4v", "video/mp4"),
    ("mid", "audio/midi"),
    ("mjs", "text/javascript"),
    ("mkv", "video/matroska"),
    ("mov", "video/quicktime"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("mpeg", "video/mpeg"),
    ("mpg", "video/mpeg"),
    ("msi", "application/x-msi"),
    ("odp", "application/vnd.oasis.opendocument.presentation"),
    ("ods", "application/vnd.oasis.opendocument.spreadsheet"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("oga", "audio/ogg"),
    ("ogg", "audio/ogg"),
    ("ogv", "video/ogg"),
    ("opus", "audio/ogg"),
    ("otf", "font/otf"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("ppt", "application/vnd.ms-powerpoint"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("rar", "application/vnd.rar"),
    ("rpm", "application/x-rpm"),
    ("rtf", "application/rtf"),
    ("svg", "image/svg+xml"),
    ("tar", "application/x-tar"),
    ("tgz", "application/gzip"),
    ("tif", "image/tiff"),
    ("tiff", "image/tiff"),
    ("ttf", "font/ttf"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    ("wma", "audio/x-ms-wma"),
    ("wmv", "video/x-ms-wmv"),
    ("woff", "font/woff"),
    ("woff2", "font/woff2"),
    ("xls", "application/vnd.ms-excel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("xz", "application/x-xz"),
    ("zip", "application/zip"),
    ("zst", "application/zstd"),
];

/// The type that the file name speaks of, with the ending that says so.
pub(super) fn guessed_type(url: &CrawlUrl) -> Option<(&'static str, &'static str)> {
    let (name, ending) = url.path().rsplit('/').next()?.rsplit_once('.')?;
    // A wiki shows a page about the image at `/wiki/File:Tree.jpg`.
    if name.contains(':') {
        return None;
    }
    ENDINGS.iter().find(|(known, _)| known.eq_ignore_ascii_case(ending)).copied()
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

    #[test]
    fn every_ending_is_listed_once_in_lower_case() {
        assert!(ENDINGS.is_sorted_by(|a, b| a.0 < b.0));
        assert!(ENDINGS.iter().all(|(ending, _)| !ending.contains(|c: char| c.is_uppercase())));
    }
}
