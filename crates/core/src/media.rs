//! Media types of files: by the ending of a name, else by the first bytes.
//!
//! A server says what it sends; a file has only its name and its bytes. The table holds endings that mean
//! one type wherever they are used. The byte patterns are a few of the WHATWG MIME Sniffing standard
//! (sections 6 and 7.1), enough to tell text, pages, pictures, sound and archives apart.

/// Endings of file names, in lower case and in order, with the types that they mean.
const ENDINGS: &[(&str, &str)] = &[
    ("7z", "application/x-7z-compressed"),
    ("aac", "audio/aac"),
    ("aif", "audio/aiff"),
    ("aiff", "audio/aiff"),
    ("apk", "application/vnd.android.package-archive"),
    ("asc", "text/plain"),
    ("atom", "application/atom+xml"),
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
    ("heic", "image/heic"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("ico", "image/vnd.microsoft.icon"),
    ("ics", "text/calendar"),
    ("iso", "application/x-iso9660-image"),
    ("jar", "application/java-archive"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("jxl", "image/jxl"),
    ("log", "text/plain"),
    ("m4a", "audio/mp4"),
    ("m4b", "audio/mp4"),
    ("m4v", "video/mp4"),
    ("md", "text/markdown"),
    ("mid", "audio/midi"),
    ("mjs", "text/javascript"),
    ("mka", "audio/matroska"),
    ("mkv", "video/matroska"),
    ("mov", "video/quicktime"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("mpeg", "video/mpeg"),
    ("mpg", "video/mpeg"),
    ("mpga", "audio/mpeg"),
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
    ("ps", "application/postscript"),
    ("rar", "application/vnd.rar"),
    ("rdf", "application/rdf+xml"),
    ("rpm", "application/x-rpm"),
    ("rss", "application/rss+xml"),
    ("rtf", "application/rtf"),
    ("shtml", "text/html"),
    ("sqlite", "application/vnd.sqlite3"),
    ("svg", "image/svg+xml"),
    ("tar", "application/x-tar"),
    ("tex", "application/x-tex"),
    ("text", "text/plain"),
    ("tgz", "application/gzip"),
    ("tif", "image/tiff"),
    ("tiff", "image/tiff"),
    ("toml", "application/toml"),
    ("ttf", "font/ttf"),
    ("txt", "text/plain"),
    ("vtt", "text/vtt"),
    ("warc", "application/warc"),
    ("wasm", "application/wasm"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    ("wma", "audio/x-ms-wma"),
    ("wmv", "video/x-ms-wmv"),
    ("woff", "font/woff"),
    ("woff2", "font/woff2"),
    ("xht", "application/xhtml+xml"),
    ("xhtml", "application/xhtml+xml"),
    ("xls", "application/vnd.ms-excel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("xml", "application/xml"),
    ("xsl", "application/xslt+xml"),
    ("xz", "application/x-xz"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("zip", "application/zip"),
    ("zst", "application/zstd"),
];

/// First bytes, and the types that they mean. Zero or more bytes are skipped first.
const STARTS: &[(usize, &[u8], &str)] = &[
    (0, b"%PDF-", "application/pdf"),
    (0, b"%!PS-Adobe-", "application/postscript"),
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"BM", "image/bmp"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"OggS\0", "audio/ogg"),
    (0, b"MThd\0\0\0\x06", "audio/midi"),
    (8, b"WAVE", "audio/wav"),
    (8, b"AIFF", "audio/aiff"),
    (8, b"AVI ", "video/x-msvideo"),
    (0, b"\x1a\x45\xdf\xa3", "video/webm"),
    (4, b"ftyp", "video/mp4"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\0", "application/x-xz"),
    (0, b"\x28\xb5\x2f\xfd", "application/zstd"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar"),
    (0, b"wOFF", "font/woff"),
    (0, b"wOF2", "font/woff2"),
];

/// How pages begin, behind white space, in lower case.
const PAGE_STARTS: &[(&[u8], &str)] = &[
    (b"<!doctype html", "text/html"),
    (b"<html", "text/html"),
    (b"<head", "text/html"),
    (b"<body", "text/html"),
    (b"<!--", "text/html"),
    (b"<?xml", "application/xml"),
];

/// How much of a file [`of_bytes`] looks at.
pub const SNIFFED_BYTES: usize = 1_445;

/// The type that an ending means, with the ending as the table has it.
pub fn of_ending(ending: &str) -> Option<(&'static str, &'static str)> {
    if ending.len() > 8 {
        return None;
    }
    let ending = ending.to_ascii_lowercase();
    let at = ENDINGS.binary_search_by_key(&ending.as_str(), |(known, _)| known).ok()?;
    ENDINGS.get(at).copied()
}

/// The type of a file by its name.
pub fn of_name(name: &str) -> Option<&'static str> {
    let (start, ending) = name.rsplit_once('.')?;
    (!start.is_empty()).then(|| of_ending(ending)).flatten().map(|(_, kind)| kind)
}

/// The type that the first bytes of a file show.
pub fn of_bytes(bytes: &[u8]) -> &'static str {
    let head = bytes.get(..SNIFFED_BYTES).unwrap_or(bytes);
    let begins = |(skip, start, _): &&(usize, &[u8], &str)| {
        head.get(*skip..).is_some_and(|rest| rest.starts_with(start))
    };
    if let Some((_, _, kind)) = STARTS.iter().find(begins) {
        return kind;
    }
    let page = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let begins = |(start, _): &&(&[u8], &str)| {
        page.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
    };
    match PAGE_STARTS.iter().find(begins) {
        Some((_, kind)) => kind,
        None if is_binary(head) => "application/octet-stream",
        None => "text/plain",
    }
}

/// The type of what has this path and these bytes: the name of a file that is no page means more than a few
/// bytes do.
pub fn of_file(path: &str, bytes: &[u8]) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or_default();
    of_name(name).filter(|kind| !may_lead_on(kind)).unwrap_or_else(|| of_bytes(bytes))
}

/// Whether a type is one that servers name when they know nothing of a file, or nothing of what is in its
/// container.
pub fn says_nothing(kind: &str) -> bool {
    const NOTHING: &[&str] = &[
        "",
        "*/*",
        "application/download",
        "application/force-download",
        "application/octet-stream",
        "application/octetstream",
        "application/ogg",
        "application/unknown",
        "application/x-download",
        "application/x-force-download",
        "binary/octet-stream",
        "unknown/unknown",
    ];
    NOTHING.contains(&kind)
}

/// Whether what has this type may carry links, or be something else than its name says: a page, a list,
/// the output of a script.
pub fn may_lead_on(kind: &str) -> bool {
    let is_image = kind.starts_with("image/");
    matches!(kind, "text/html" | "text/plain" | "text/markdown" | "application/json")
        || kind == "application/xml"
        || (kind.ends_with("+xml") && !is_image)
}

/// Bytes that no text has (MIME Sniffing section 3). A byte order mark of UTF-16 is text.
fn is_binary(head: &[u8]) -> bool {
    let is_utf16 = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    let binary = |byte: &u8| matches!(byte, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f);
    !is_utf16 && head.iter().any(binary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_is_listed_once_in_lower_case() {
        assert!(ENDINGS.is_sorted_by(|a, b| a.0 < b.0));
        assert!(ENDINGS.iter().all(|(ending, _)| !ending.contains(|c: char| c.is_uppercase())));
        assert!(ENDINGS.iter().all(|(ending, _)| ending.len() <= 8));
    }

    #[test]
    fn a_name_has_the_type_of_its_ending() {
        let rows = [
            ("index.html", Some("text/html")),
            ("Talk.MP3", Some("audio/mpeg")),
            ("a.tar.gz", Some("application/gzip")),
            ("README", None),
            (".html", None),
            ("release-1.2", None),
            ("a.", None),
            ("a.somethinglong", None),
        ];
        for (name, kind) in rows {
            assert_eq!(of_name(name), kind, "{name}");
        }
    }

    #[test]
    fn a_file_is_what_its_name_says_unless_that_may_be_a_page() {
        let rows: [(&str, &[u8], &str); 4] = [
            ("/a/talk.mp3", b"...", "audio/mpeg"),
            ("/a/talk", b"ID3...", "audio/mpeg"),
            ("/a/talk.html", b"ID3...", "audio/mpeg"),
            ("/a/", b"", "text/plain"),
        ];
        for (path, bytes, kind) in rows {
            assert_eq!(of_file(path, bytes), kind, "{path}");
        }
        assert!(says_nothing("application/octet-stream") && !says_nothing("audio/mpeg"));
    }

    #[test]
    fn first_bytes_show_a_type() {
        let rows: [(&[u8], &str); 12] = [
            (b"", "text/plain"),
            (b"hello", "text/plain"),
            (b"\xff\xfeh\0i\0", "text/plain"),
            (b"\n <!DOCTYPE HTML><p>", "text/html"),
            (b"\xef\xbb\xbf<html>", "text/html"),
            (b"<?xml version='1.0'?>", "application/xml"),
            (b"%PDF-1.7", "application/pdf"),
            (b"RIFF\0\0\0\0WAVEfmt ", "audio/wav"),
            (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
            (b"\0\0\0\x18ftypmp42", "video/mp4"),
            (b"OggS\0\x02", "audio/ogg"),
            (b"a\0b", "application/octet-stream"),
        ];
        for (bytes, kind) in rows {
            assert_eq!(of_bytes(bytes), kind, "{bytes:?}");
        }
    }
}
