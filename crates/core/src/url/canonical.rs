//! The canonical form of a URL (step 1 of the line).
//!
//! Removed because no server can tell: fragment, user info, default port, needless escapes, empty
//! query and empty pairs in it, a dot at the end of the host. Removed because it is known not to
//! matter: tracking and session parameters, by list. Everything else stays as the page has it: case
//! of the path, doubled slashes, order of the query, `a` beside `a=`, and a `%` that begins no escape,
//! since some servers answer differently to each of them.
//!
//! URL-1: the canonical form of a canonical URL is that URL.

use std::borrow::Cow;

use url::{Host, Url};

use super::{CrawlUrl, UrlError, file};

/// What canonicalisation takes away beyond the standard, and the longest URL it lets through.
#[derive(Debug, Clone)]
pub struct UrlRules {
    /// Query parameters to drop, compared without case. A `*` at the end stands for any ending;
    /// `=hex32` at the end asks for a value of 32 hexadecimal digits, for names that can also mean
    /// something.
    pub drop_params: Vec<String>,
    /// Sort the query's pairs by name. Off unless asked for: order can matter to a server.
    pub sort_query: bool,
    /// Longest canonical URL in bytes.
    pub bytes_max: usize,
}

/// Parameters that follow visitors around or name their session.
const DROPPED_PARAMS: &[&str] = &[
    "utm_*",
    "gclid",
    "gclsrc",
    "dclid",
    "gbraid",
    "wbraid",
    "fbclid",
    "msclkid",
    "yclid",
    "twclid",
    "igshid",
    "mc_cid",
    "mc_eid",
    "_hsenc",
    "_hsmi",
    "jsessionid",
    "phpsessid",
    "aspsessionid*",
    "cfid",
    "cftoken",
    "oscsid",
    "zenid",
    "sid=hex32",
    "sessionid=hex32",
    "session_id=hex32",
];

/// Longest host name and longest label in it (RFC 1035 section 2.3.4, without the final dot).
const NAME_BYTES_MAX: usize = 253;
const LABEL_BYTES_MAX: usize = 63;

impl Default for UrlRules {
    fn default() -> Self {
        let limits = crate::Limits::default();
        Self {
            drop_params: DROPPED_PARAMS.iter().map(|&name| name.to_owned()).collect(),
            sort_query: false,
            bytes_max: usize::try_from(limits.url_bytes_max).unwrap_or(usize::MAX),
        }
    }
}

/// Brings a URL into its canonical form, or says why it is not one to fetch.
pub fn canonicalise(mut url: Url, rules: &UrlRules) -> Result<CrawlUrl, UrlError> {
    if url.scheme() == "file" {
        return file::canonicalise(&url, rules);
    }
    if !matches!(url.scheme(), "http" | "https") {
        return Err(UrlError::Scheme(url.scheme().to_owned()));
    }
    drop_invisible_parts(&mut url);
    settle_host(&mut url)?;
    if let Some(path) = changed(url.path(), canonical_path(url.path(), rules)) {
        url.set_path(&path);
    }
    if let Some(query) = url.query().and_then(|old| changed(old, canonical_query(old, rules))) {
        url.set_query(Some(&query));
    }
    if url.query() == Some("") {
        url.set_query(None);
    }
    let bytes = url.as_str().len();
    if bytes > rules.bytes_max {
        return Err(UrlError::TooLong(bytes));
    }
    CrawlUrl::of_text(String::from(url).into()).ok_or(UrlError::NoHost)
}

/// Removes what is never sent as part of the address.
fn drop_invisible_parts(url: &mut Url) {
    url.set_fragment(None);
    // These fail only for URLs without a host, which http and https URLs always have.
    if url.password().is_some() {
        let _ = url.set_password(None);
    }
    if !url.username().is_empty() {
        let _ = url.set_username("");
    }
}

/// Removes the dot that ends a fully qualified name, and refuses names that DNS cannot carry.
fn settle_host(url: &mut Url) -> Result<(), UrlError> {
    let Some(Host::Domain(name)) = url.host() else {
        return url.has_host().then_some(()).ok_or(UrlError::NoHost);
    };
    let kept = name.strip_suffix('.').unwrap_or(name);
    if let Some(why) = name_fault(kept) {
        return Err(UrlError::Invalid(why.to_owned()));
    }
    if kept.len() < name.len() {
        let kept = kept.to_owned();
        url.set_host(Some(&kept)).map_err(|error| UrlError::Invalid(error.to_string()))?;
    }
    Ok(())
}

fn name_fault(name: &str) -> Option<&'static str> {
    if name.len() > NAME_BYTES_MAX {
        return Some("host name longer than 253 bytes");
    }
    name.split('.').find_map(|label| match label.len() {
        0 => Some("empty label in the host name"),
        1..=LABEL_BYTES_MAX => None,
        _ => Some("label of more than 63 bytes in the host name"),
    })
}

/// The new text, where it differs from the old one: most URLs need no change, and setting a part of a
/// URL costs several copies.
fn changed(old: &str, new: Cow<'_, str>) -> Option<String> {
    match new {
        Cow::Owned(new) if new != old => Some(new),
        _ => None,
    }
}

fn canonical_path<'a>(path: &'a str, rules: &UrlRules) -> Cow<'a, str> {
    match normal_escapes(path) {
        Cow::Borrowed(path) => strip_path_sessions(path, rules),
        Cow::Owned(path) => strip_path_sessions(&path, rules).into_owned().into(),
    }
}

/// Removes `;jsessionid=…` and the like from the ends of path segments.
fn strip_path_sessions<'a>(path: &'a str, rules: &UrlRules) -> Cow<'a, str> {
    if !path.contains(';') {
        return path.into();
    }
    let kept = path.split('/').map(|segment| {
        let mut parts = segment.split(';');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.filter(|part| !is_dropped(part, rules)).fold(first, |kept, part| kept + ";" + part)
    });
    kept.collect::<Vec<_>>().join("/").into()
}

fn canonical_query<'a>(query: &'a str, rules: &UrlRules) -> Cow<'a, str> {
    let query = normal_escapes(query);
    let is_kept = |pair: &&str| !pair.is_empty() && !is_dropped(pair, rules);
    if !rules.sort_query && query.split('&').all(|pair| is_kept(&pair)) {
        return query;
    }
    let mut pairs: Vec<&str> = query.split('&').filter(is_kept).collect();
    if rules.sort_query {
        pairs.sort_by_key(|pair| pair.split('=').next());
    }
    pairs.join("&").into()
}

pub(super) fn is_dropped(pair: &str, rules: &UrlRules) -> bool {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    rules.drop_params.iter().any(|entry| {
        if let Some(start) = entry.strip_suffix('*') {
            name.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
        } else if let Some(entry) = entry.strip_suffix("=hex32") {
            name.eq_ignore_ascii_case(entry) && is_hex32(value)
        } else {
            name.eq_ignore_ascii_case(entry)
        }
    })
}

fn is_hex32(value: &str) -> bool {
    value.len() == 32 && value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Decodes escapes of characters that need none (RFC 3986 section 6.2.2.2) and writes the others in
/// capitals.
///
/// A `%` that begins no escape stays as it is; an escape right behind it stays too, since decoding it
/// could make the two into one and a second pass would give something else.
fn normal_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    // Length from which on decoded characters are too far from the last bare `%` to complete it.
    let mut safe_from = 0;
    let mut rest = text;
    while let Some((plain, escape)) = rest.find('%').map(|at| rest.split_at(at)) {
        out.push_str(plain);
        let length = match escaped_byte(escape) {
            Some(byte) if is_unreserved(byte) && out.len() >= safe_from => {
                out.push(char::from(byte));
                3
            }
            Some(_) => {
                out.extend(escape.chars().take(3).map(|c| c.to_ascii_uppercase()));
                3
            }
            None => {
                out.push('%');
                safe_from = out.len() + 2;
                1
            }
        };
        rest = escape.split_at(length).1;
    }
    out.push_str(rest);
    out.into()
}

/// The byte that the escape at the start of the text stands for, if there is one.
fn escaped_byte(text: &str) -> Option<u8> {
    let digit = |at| text.as_bytes().get(at).and_then(|&byte| char::from(byte).to_digit(16));
    u8::try_from(digit(1)? * 16 + digit(2)?).ok()
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}
