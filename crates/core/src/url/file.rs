//! File URLs: files and directories of this machine (step 1 of the line).
//!
//! One file has one text: escapes are undone and written anew by one rule, empty segments go, the host is
//! empty or `localhost`. Query and fragment mean nothing to a file and are dropped, except for
//! `?from=NAME` behind a directory: what is listed behind that name, where a listing has several parts.
//! A segment that would be no name of a file (`..`, one with a slash or a zero byte in it, however they
//! are escaped) is refused, so that no text leads elsewhere than it says.
//!
//! Files have no server that could be asked too often. So that more than one is read at a time, they are
//! spread over a few made-up hosts, [`LANES`], whose names no host can have.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use url::Url;

use super::{CrawlUrl, UrlError, UrlRules};

/// How a file URL begins, up to its path.
pub(super) const ORIGIN: &str = "file://";

/// The hosts that files are spread over.
pub const LANES: [&str; 16] = [
    "files#0", "files#1", "files#2", "files#3", "files#4", "files#5", "files#6", "files#7",
    "files#8", "files#9", "files#10", "files#11", "files#12", "files#13", "files#14", "files#15",
];

/// What a name is escaped of: all that is not a character of a path segment (RFC 3986 section 3.3).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

/// Whether a host is one of those: no host to anybody but the frontier.
pub fn is_lane(host: &str) -> bool {
    LANES.contains(&host)
}

/// The lane of a file URL, always the same one.
pub fn lane(canonical: &str) -> &'static str {
    let hash = xxhash_rust::xxh3::xxh3_64(canonical.as_bytes());
    LANES[(hash % LANES.len() as u64) as usize]
}

/// A file's name as a segment of a canonical URL, whatever bytes it is made of.
pub fn escaped_name(name: &[u8]) -> String {
    percent_encode(name, ESCAPED).to_string()
}

/// The name that a part of a directory's listing begins behind, if `url` is such a part.
pub fn listed_from(url: &CrawlUrl) -> Option<Cow<'_, [u8]>> {
    let name = url.query()?.strip_prefix("from=")?;
    Some(percent_decode_str(name).into())
}

/// The canonical form of a file URL.
pub(super) fn canonicalise(url: &Url, rules: &UrlRules) -> Result<CrawlUrl, UrlError> {
    if let Some(host) = url.host_str() {
        return Err(UrlError::OtherMachine(host.to_owned()));
    }
    let mut text = ORIGIN.to_owned();
    push_path(&mut text, url.path())?;
    let from = url.query().and_then(|query| query.strip_prefix("from="));
    if let Some(name) = from.filter(|name| text.ends_with('/') && !name.is_empty()) {
        text.push_str("?from=");
        text.push_str(&escaped_name(&Cow::from(percent_decode_str(name))));
    }
    if text.len() > rules.bytes_max {
        return Err(UrlError::TooLong(text.len()));
    }
    CrawlUrl::of_text(text.into()).ok_or(UrlError::NoHost)
}

fn push_path(text: &mut String, path: &str) -> Result<(), UrlError> {
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        let name = Cow::from(percent_decode_str(segment));
        if let Some(why) = fault(&name) {
            return Err(UrlError::Invalid(why.to_owned()));
        }
        text.push('/');
        text.push_str(&escaped_name(&name));
    }
    if path.ends_with('/') {
        text.push('/');
    }
    Ok(())
}

/// Why a segment names no file.
fn fault(name: &[u8]) -> Option<&'static str> {
    match name {
        b"." | b".." => Some("an escaped dot segment in a file's path"),
        _ if name.contains(&b'/') => Some("an escaped slash in a file's name"),
        _ if name.contains(&0) => Some("a zero byte in a file's name"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
