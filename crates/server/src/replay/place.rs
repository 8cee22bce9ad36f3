//! Paths of archived pages, and URLs in pages → such paths.

use larm_core::url::resolve;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use url::Url;

/// Characters that end a string or a tag somewhere; a URL has them only where nobody minds them encoded.
const DELICATE: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'\'')
    .add(b'(')
    .add(b')')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'`')
    .add(b',');
/// Bytes of a `data:` URL that is kept.
const DATA_BYTES_MAX: usize = 1 << 20;

/// What is asked for below `/replay/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place<'a> {
    /// What opens the crawl.
    pub capability: &'a str,
    /// The crawl.
    pub id: &'a str,
    /// The wanted time in milliseconds since 1970; 0: the last one.
    pub at: u64,
    /// The URL as it stands in the path.
    pub url: &'a str,
}

impl<'a> Place<'a> {
    /// Reads a path with its query: `/replay/CAPABILITY/ID/AT/URL`.
    pub fn parse(path_and_query: &'a str) -> Option<Self> {
        let mut parts = path_and_query.strip_prefix("/replay/")?.splitn(4, '/');
        let (capability, id, at, url) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let plain = !at.is_empty() && at.len() < 17 && at.bytes().all(|byte| byte.is_ascii_digit());
        let at = at.parse().ok().filter(|_| plain)?;
        Some(Self { capability, id, at, url })
    }

    /// The path of a URL.
    pub fn path(capability: &str, id: &str, at: u64, url: &str) -> String {
        let url = utf8_percent_encode(url, DELICATE);
        format!("/replay/{capability}/{id}/{at}/{url}")
    }

    /// The URL as a text. Proxies may have put two slashes together.
    pub fn address(&self) -> String {
        let schemes = ["https:/", "http:/", "file:/"];
        let bare = schemes.iter().find_map(|scheme| Some((scheme, self.url.strip_prefix(scheme)?)));
        match bare {
            Some((scheme, rest)) if !rest.starts_with('/') => format!("{scheme}/{rest}"),
            _ => self.url.to_owned(),
        }
    }
}

/// What a URL is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Somebody may click on it.
    Link,
    /// It is part of the page: an image, a style sheet, a font, a film.
    Part,
}

/// Turns URLs of one page into paths of the archive.
#[derive(Debug, Clone)]
pub struct Mapper {
    prefix: String,
    base: Url,
}

impl Mapper {
    /// For the page at `base`. The path of everything it leads to begins with `prefix`.
    pub fn new(prefix: String, base: Url) -> Self {
        Self { prefix, base }
    }

    /// The same with what the page says of its base.
    pub fn rebase(&mut self, href: &str) {
        let base = resolve(href, Some(&self.base), None);
        if let Some(base) =
            base.ok().filter(|base| matches!(base.scheme(), "http" | "https" | "file"))
        {
            self.base = base;
        }
    }

    /// REPLAY-2: the path that stands for a URL, or what of it is harmless. `None`: it has to go.
    pub fn map(&self, text: &str, used: Use) -> Option<String> {
        let text: String =
            text.trim().chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
        if let Some(fragment) = text.strip_prefix('#') {
            return Some(format!("#{}", utf8_percent_encode(fragment, DELICATE)));
        }
        let url = resolve(&text, Some(&self.base), None).ok()?;
        match url.scheme() {
            "http" | "https" | "file" => Some(self.path(url)),
            "data" if used == Use::Part => picture(&text),
            _ => None,
        }
    }

    fn path(&self, mut url: Url) -> String {
        // Who logs in by URL does not mean us. A URL without a host has no user to forget.
        let _ = (url.set_username(""), url.set_password(None));
        let comma_free = utf8_percent_encode(url.as_str(), DELICATE);
        format!("{}{comma_free}", self.prefix)
    }
}

/// A picture or a font that a page brings along asks for nothing.
fn picture(text: &str) -> Option<String> {
    let kind = text.get(5..)?.trim_start().to_ascii_lowercase();
    let harmless =
        ["image/", "font/", "application/font", "application/x-font", "audio/", "video/"];
    let is_harmless = harmless.iter().any(|start| kind.starts_with(start));
    (is_harmless && text.len() <= DATA_BYTES_MAX).then(|| {
        // The comma parts the type from the content, and stays.
        let (head, body) = text.split_once(',').unwrap_or((text, ""));
        format!("{},{}", utf8_percent_encode(head, DELICATE), utf8_percent_encode(body, DELICATE))
    })
}
