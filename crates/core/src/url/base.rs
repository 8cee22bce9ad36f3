//! What the links of a page resolve against: link text → canonical URL (step 1 of the line).
//!
//! The truth is [`resolve`] followed by [`canonicalise`]. Nine links of ten need neither: they are
//! made of characters that both leave alone, and come out as the beginning of some URL with the link
//! behind it. Those are put together here, with one look at each byte; for all others
//! the truth is asked. The tests hold the two against each other.

use encoding_rs::Encoding;
use url::Url;

use super::canonical::is_dropped;
use super::{CrawlUrl, UrlError, UrlRules, canonicalise, host_start, resolve};

/// A page's URL, or what its `base` element says; with what its links have in common.
#[derive(Debug)]
pub struct Base<'a> {
    url: &'a Url,
    encoding: &'static Encoding,
    rules: &'a UrlRules,
    /// Where an empty link leads; none where that is nothing to fetch.
    canonical: Option<CrawlUrl>,
    /// Whether a path relative to the base can be put behind its folder as it is.
    is_plain_folder: bool,
    /// Initials of parameters that are dropped.
    dropped: Initials,
}

impl<'a> Base<'a> {
    /// `encoding` is the page's charset, in which its queries are written.
    pub fn new(url: &'a Url, encoding: &'static Encoding, rules: &'a UrlRules) -> Self {
        let itself = resolve("", Some(url), Some(encoding));
        // Names of files have a canonical form of their own.
        let canonical = itself.and_then(|url| canonicalise(url, rules)).ok();
        let canonical = canonical.filter(|url| !url.is_file());
        let is_plain_folder = is_plain_path(folder(url.path()));
        let dropped = Initials::of(&rules.drop_params);
        Self { url, encoding, rules, canonical, is_plain_folder, dropped }
    }

    /// The canonical URL that a link of the page leads to, or why there is none.
    pub fn link(&self, text: &str) -> Result<CrawlUrl, UrlError> {
        match self.plain_link(text) {
            Some(plain) => Ok(plain.to_url()),
            None => self.other_link(text),
        }
    }

    /// The same for a link that needs nothing but a beginning.
    pub(super) fn plain_link<'l>(&'l self, text: &'l str) -> Option<PlainUrl<'l>> {
        self.plain_parts(text).filter(|plain| plain.bytes() <= self.rules.bytes_max)
    }

    /// The same for any other.
    pub(super) fn other_link(&self, text: &str) -> Result<CrawlUrl, UrlError> {
        canonicalise(resolve(text, Some(self.url), Some(self.encoding))?, self.rules)
    }

    fn plain_parts<'l>(&'l self, text: &'l str) -> Option<PlainUrl<'l>> {
        let base = self.canonical.as_ref()?;
        // Whatever a fragment is made of, nothing of it is kept.
        let link = memchr::memchr(b'#', text.as_bytes()).map_or(text, |mark| &text[..mark]);
        match link.as_bytes() {
            [] => Some(PlainUrl::of(base)),
            [b'/', b'/', ..] | [b'?', ..] => None,
            [b'/', ..] => self.plain(base.origin(), base.host_end, link),
            [b'h', ..] if host_start(link.as_bytes()).is_some() => self.absolute(base, link),
            _ => self.relative(base, link),
        }
    }

    /// A path that is seen from the base's folder.
    fn relative<'l>(&'l self, base: &'l CrawlUrl, link: &'l str) -> Option<PlainUrl<'l>> {
        let (mut folder, mut rest) = (folder(self.url.path()), link);
        while let Some(above) = rest.strip_prefix("../") {
            (folder, rest) = (parent(folder), above);
        }
        let mut segment = rest.bytes().take_while(|byte| !matches!(byte, b'/' | b'?'));
        let is_plain =
            self.is_plain_folder && !rest.starts_with('.') && !segment.any(|byte| byte == b':');
        is_plain.then(|| self.put_together([base.origin(), folder, rest], base.host_end))?
    }

    /// A link with scheme and host of its own, or with those of the base.
    fn absolute<'l>(&self, base: &'l CrawlUrl, link: &'l str) -> Option<PlainUrl<'l>> {
        if let Some(rest) = link.strip_prefix(base.origin()).filter(|rest| rest.starts_with('/')) {
            return self.plain(base.origin(), base.host_end, rest);
        }
        let host = host_start(link.as_bytes())?;
        let end = memchr::memchr2(b'/', b'?', &link.as_bytes()[host..]);
        let end = end.map_or(link.len(), |end| host + end);
        let (origin, rest) = link.split_at(end);
        let named = &origin[host..];
        let (name, port) = match named.bytes().position(|byte| byte == b':') {
            Some(colon) => (&named[..colon], Some(&named[colon + 1..])),
            None => (named, None),
        };
        let is_plain = (is_plain_name(name) || is_plain_address(name))
            && port.is_none_or(|port| is_plain_port(port, &origin[..host]));
        let host_end = u32::try_from(host + name.len()).ok().filter(|_| is_plain)?;
        self.plain(origin, host_end, rest)
    }

    /// `rest` is empty or begins with a slash or a question mark.
    fn plain<'l>(&self, origin: &'l str, host_end: u32, rest: &'l str) -> Option<PlainUrl<'l>> {
        let slash = if rest.starts_with('/') { "" } else { "/" };
        self.put_together([origin, slash, rest], host_end)
    }

    /// The three parts as one URL, if the last one, a path and a query, is plain. The path begins in
    /// the second part.
    fn put_together<'l>(&self, parts: [&'l str; 3], host_end: u32) -> Option<PlainUrl<'l>> {
        let rest = parts[2];
        let path_end = plain_end(rest.as_bytes(), PATH);
        let is_plain = match rest.as_bytes().get(path_end) {
            None => true,
            Some(b'?') => self.keeps_query(&rest[path_end + 1..]),
            Some(_) => false,
        };
        let path = u32::try_from(parts[0].len()).ok()?;
        let query = u32::try_from(parts[0].len() + parts[1].len() + path_end).ok()?;
        is_plain.then_some(PlainUrl { parts, ends: [host_end, path, query] })
    }

    /// Whether a query stays as it is: plain characters, no empty pair, none that is dropped.
    fn keeps_query(&self, query: &str) -> bool {
        let is_kept = |pair: &str| {
            let initial = pair.as_bytes().first();
            initial
                .is_some_and(|&initial| !self.dropped.has(initial) || !is_dropped(pair, self.rules))
        };
        !self.rules.sort_query && is_plain_query(query) && query.split('&').all(is_kept)
    }
}

/// A canonical URL in parts, each of which stands somewhere already.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlainUrl<'l> {
    pub parts: [&'l str; 3],
    /// Where host, origin and path end.
    pub ends: [u32; 3],
}

impl<'l> PlainUrl<'l> {
    fn of(url: &'l CrawlUrl) -> Self {
        Self { parts: [url.as_str(), "", ""], ends: [url.host_end, url.path, url.query] }
    }

    fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum()
    }

    fn to_url(self) -> CrawlUrl {
        CrawlUrl::of_ends(self.parts.concat().into(), self.ends)
    }
}

/// A path up to its last slash.
fn folder(path: &str) -> &str {
    &path[..memchr::memrchr(b'/', path.as_bytes()).map_or(0, |slash| slash + 1)]
}

/// The folder that a folder is in; the highest one is in itself.
fn parent(path: &str) -> &str {
    let inside = folder(path.strip_suffix('/').unwrap_or(path));
    if inside.is_empty() { path } else { inside }
}

/// Where a byte stays as it is.
const PATH: u8 = 1;
const QUERY: u8 = 2;
const NAME: u8 = 4;
/// Escapes that stay as they are: capital digits, and no character that needs no escape.
const HEX: u8 = 8;

const PLACES: [u8; 256] = {
    let mut places = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        places[byte] = match byte as u8 {
            b'a'..=b'z' => PATH | QUERY | NAME,
            b'0'..=b'9' => PATH | QUERY | NAME | HEX,
            b'A'..=b'F' => PATH | QUERY | HEX,
            b'G'..=b'Z' => PATH | QUERY,
            b'-' => PATH | QUERY | NAME,
            b'.' => QUERY | NAME,
            b'_' | b'~' | b'/' | b'!' | b'$' | b'&' | b'(' | b')' | b'*' | b'+' => PATH | QUERY,
            b',' | b'=' | b':' | b'@' => PATH | QUERY,
            // Parameters of path segments are looked at, apostrophes of queries are escaped.
            b'\'' => PATH,
            b';' | b'?' => QUERY,
            _ => 0,
        };
        byte += 1;
    }
    places
};

fn stays(byte: u8, place: u8) -> bool {
    PLACES[usize::from(byte)] & place != 0
}

/// Whether resolving leaves a path alone, and canonicalising too.
pub(super) fn is_plain_path(path: &str) -> bool {
    are_plain(path.as_bytes(), PATH)
}

/// The same for the characters of a query; which of its pairs are kept is another question.
pub(super) fn is_plain_query(query: &str) -> bool {
    are_plain(query.as_bytes(), QUERY)
}

/// Whether all of a text stays as it is in such a place.
fn are_plain(text: &[u8], place: u8) -> bool {
    plain_end(text, place) == text.len()
}

/// Where the first byte is that may not stay as it is in such a place, or the end.
fn plain_end(text: &[u8], place: u8) -> usize {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if stays(byte, place) {
            at += 1;
            continue;
        }
        at += match text[at..] {
            [b'%', high, low, ..] if is_plain_escape(high, low) => 3,
            // A segment that begins with a dot could be one that leads elsewhere.
            [b'.', ..] if at == 0 || text[at - 1] != b'/' => 1,
            _ => return at,
        }
    }
    text.len()
}

/// Whether an escape is in its canonical form: of a character that is not unreserved, in capitals.
fn is_plain_escape(high: u8, low: u8) -> bool {
    let may_be_unreserved =
        matches!(high, b'2'..=b'7') && !matches!((high, low), (b'2', b'0'..=b'9' | b'A'..=b'C'));
    stays(high, HEX) && stays(low, HEX) && !may_be_unreserved
}

/// Whether a host is a name that stays as it is and that DNS can carry: labels of small letters,
/// digits and hyphens, none in the international form, the last one not a number.
fn is_plain_name(name: &str) -> bool {
    // Labels are short: looking at each byte is quicker than searching for the next dot.
    let is_label = |label: &[u8]| (1..=63).contains(&label.len()) && !label.starts_with(b"xn--");
    let bytes = name.as_bytes();
    let last = bytes.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    bytes.len() <= 253
        && bytes.iter().all(|&byte| stays(byte, NAME))
        && bytes.split(|&byte| byte == b'.').all(is_label)
        && last.first().is_some_and(u8::is_ascii_lowercase)
}

/// Whether a host is an IPv4 address that stays as it is.
fn is_plain_address(host: &str) -> bool {
    let mut parts = 0;
    let all = host.split('.').all(|part| {
        parts += 1;
        is_plain_number(part, 255)
    });
    all && parts == 4
}

/// Whether a port stays as it is: a number that is not the scheme's own.
fn is_plain_port(port: &str, scheme: &str) -> bool {
    let own = if scheme.starts_with("https") { "443" } else { "80" };
    port != own && is_plain_number(port, 65_535)
}

/// Whether a text is a number as it is commonly written, up to a greatest one.
fn is_plain_number(text: &str, max: u32) -> bool {
    let leads = text.len() == 1 || !text.starts_with('0');
    let is_number = text.len() <= 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    leads && is_number && text.parse().is_ok_and(|number: u32| number <= max)
}

/// A set of letters and whatever else names begin with.
#[derive(Debug, Clone, Copy)]
struct Initials(u32);

impl Initials {
    fn of(names: &[String]) -> Self {
        let bit = |name: &String| match name.as_bytes() {
            [b'*', ..] | [] => u32::MAX,
            [initial, ..] => Self::bit(*initial),
        };
        Self(names.iter().map(bit).fold(0, |all, bit| all | bit))
    }

    fn has(self, initial: u8) -> bool {
        self.0 & Self::bit(initial) != 0
    }

    /// One bit per letter without case, one for all other bytes.
    fn bit(initial: u8) -> u32 {
        match initial.to_ascii_lowercase() {
            letter @ b'a'..=b'z' => 1 << (letter - b'a'),
            _ => 1 << 26,
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
