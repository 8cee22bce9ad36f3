//! Sort-friendly form of a URL: the key of a CDXJ line.
//!
//! The same as the Python package `surt` gives for the canonical text, since that is what pywb and
//! the indexers around it look for: labels of the host from right to left, `www` and its numbers
//! dropped, path and query unescaped as often as possible, escaped once, in lower case, pairs of the
//! query in order. Many URLs share one SURT; it is for finding, never for identity. A file's is its URL.
//!
//! Deliberate difference: none for a canonical URL. A SURT made from the text as found in a page can
//! differ where canonicalising took something away (tracking parameters, an empty pair); replay
//! tools ask for the URL as archived, which is the canonical one.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;

use super::CrawlUrl;

pub(super) fn surt(url: &CrawlUrl) -> String {
    if url.is_file() {
        return url.as_str().to_owned();
    }
    let mut out = String::with_capacity(url.as_str().len());
    push_host(&mut out, url.host());
    if let Some(port) = url.written_port().filter(|&port| port != 0) {
        let _ = write!(out, ":{port}");
    }
    out.push(')');
    out.push_str(&surt_path(url.path()));
    if let Some(query) = url.query().map(surt_query).filter(|query| !query.is_empty()) {
        out.push('?');
        out.push_str(&query);
    }
    out
}

/// `www2.example.com` → `com,example`; addresses are turned round too, IPv6 loses its brackets.
fn push_host(out: &mut String, host: &str) {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    for (i, label) in without_www(host).rsplit('.').enumerate() {
        if i > 0 {
            out.push(',');
        }
        out.push_str(label);
    }
}

fn without_www(host: &str) -> &str {
    host.strip_prefix("www")
        .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()))
        .and_then(|rest| rest.strip_prefix('.'))
        .unwrap_or(host)
}

fn surt_path(path: &str) -> String {
    let mut path = escape_once(&plain_segments(&unescape(path)));
    path.make_ascii_lowercase();
    let mut path = without_path_session(path);
    if path.len() > 1 && path.ends_with('/') {
        path.pop();
    }
    path
}

/// Resolves `.` and `..` and drops empty segments. A `..` with nothing before it stays, which only
/// one that was escaped twice can be.
fn plain_segments(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in path.split(|&byte| byte == b'/').skip(1) {
        match segment {
            b"." => {}
            b".." if kept.pop().is_some() => {}
            _ => kept.push(segment),
        }
    }
    let last = kept.pop().unwrap_or_default();
    let mut out = vec![b'/'];
    for segment in kept.into_iter().filter(|segment| !segment.is_empty()) {
        out.extend_from_slice(segment);
        out.push(b'/');
    }
    out.extend_from_slice(last);
    out
}

/// The session that ASP.NET writes into paths: `/(S(…))/page.aspx`, or only `/(…)/page.aspx`.
fn without_path_session(path: String) -> String {
    static SESSIONS: LazyLock<[Regex; 2]> = LazyLock::new(|| {
        [
            pattern(r"^(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)$"),
            pattern(r"^(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)$"),
        ]
    });
    if !path.contains("/(") {
        return path;
    }
    SESSIONS.iter().fold(path, |path, session| session.replace(&path, "$1$2").into_owned())
}

fn surt_query(query: &str) -> String {
    let mut query = without_query_session(escape_once(&unescape(query)));
    query.make_ascii_lowercase();
    let mut pairs: Vec<(&str, Option<&str>)> = query
        .split('&')
        .map(|pair| pair.split_once('=').map_or((pair, None), |(name, value)| (name, Some(value))))
        .collect();
    pairs.sort_unstable();
    let pairs = pairs.into_iter().map(|(name, value)| match value {
        Some(value) => format!("{name}={value}"),
        None => name.to_owned(),
    });
    pairs.collect::<Vec<_>>().join("&")
}

/// Session parameters of known shape. Like its model it leaves the `&` before one at the end, and it
/// looks at the last of each kind only.
fn without_query_session(query: String) -> String {
    static SESSIONS: LazyLock<[Regex; 5]> = LazyLock::new(|| {
        [
            pattern(r"^(.*)jsessionid=[0-9a-z]{32}(?:&(.*))?$"),
            pattern(r"^(.*)phpsessid=[0-9a-z]{32}(?:&(.*))?$"),
            pattern(r"^(.*)sid=[0-9a-z]{32}(?:&(.*))?$"),
            pattern(r"^(.*)aspsessionid[a-z]{8}=[a-z]{24}(?:&(.*))?$"),
            pattern(r"^(.*)cfid=[^&]+&cftoken=[^&]+(?:&(.*))?$"),
        ]
    });
    // Every one of the shapes has one of these in it, and few queries have.
    let lower = query.to_ascii_lowercase();
    if !["id=", "aspsessionid"].iter().any(|mark| lower.contains(mark)) {
        return query;
    }
    SESSIONS.iter().fold(query, |query, session| session.replace(&query, "$1$2").into_owned())
}

fn pattern(text: &str) -> Regex {
    regex::RegexBuilder::new(text)
        .case_insensitive(true)
        .build()
        .expect("the patterns of this file are valid")
}

/// Decodes escapes until there are none left.
fn unescape(text: &str) -> Cow<'_, [u8]> {
    let mut bytes = Cow::Borrowed(text.as_bytes());
    while let Cow::Owned(decoded) = percent_encoding::percent_decode(&bytes).into() {
        bytes = Cow::Owned(decoded);
    }
    bytes
}

/// Escapes `%`, `#`, space, controls and everything that is not ASCII.
fn escape_once(bytes: &[u8]) -> String {
    const ESCAPED: &percent_encoding::AsciiSet =
        &percent_encoding::CONTROLS.add(b' ').add(b'#').add(b'%');
    percent_encoding::percent_encode(bytes, ESCAPED).to_string()
}
