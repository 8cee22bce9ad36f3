//! Link text and base → canonical URL, with host, site, SURT and fingerprint (step 1 of the line).
//!
//! Parsing and resolving follow the WHATWG URL standard. The canonical form then removes what cannot
//! matter to a server (fragment, user info, default port, needless escapes, an empty query, a dot at
//! the end of the host) and what is known not to matter (tracking and session parameters, by list).
//! Paths keep their case. `canonicalise` of a canonical URL changes nothing.

use std::borrow::Cow;
use std::fmt;

use encoding_rs::Encoding;
use url::{Host, Url};

/// What canonicalisation takes away beyond the standard, and the longest URL it lets through.
#[derive(Debug, Clone)]
pub struct UrlRules {
    /// Query parameters to drop, compared without case; a `*` at the end stands for any ending.
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
];

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

/// Why a link is not a URL that larm can fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UrlError {
    /// Nothing there.
    Empty,
    /// Not a URL by the WHATWG rules.
    Invalid(String),
    /// A URL, but not one to fetch: `mailto:`, `javascript:`, …
    Scheme(String),
    /// No host.
    NoHost,
    /// Longer than the limit, in bytes.
    TooLong(usize),
}

impl UrlError {
    /// One stable word for logs and counters.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Invalid(_) => "invalid",
            Self::Scheme(_) => "scheme",
            Self::NoHost => "no-host",
            Self::TooLong(_) => "length",
        }
    }
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("empty"),
            Self::Invalid(why) => write!(f, "not a URL: {why}"),
            Self::Scheme(scheme) => write!(f, "cannot fetch {scheme}: URLs"),
            Self::NoHost => f.write_str("no host"),
            Self::TooLong(bytes) => write!(f, "{bytes} bytes long"),
        }
    }
}

impl std::error::Error for UrlError {}

/// 64 bits that stand for a canonical URL, the same on every machine and in every version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(pub u64);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A canonical URL.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CrawlUrl(Url);

impl CrawlUrl {
    /// Takes text that `as_str` gave earlier, as the state on disk holds it.
    pub fn from_canonical(text: &str) -> Option<Self> {
        Url::parse(text).ok().filter(Url::has_host).map(Self)
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The same as a parsed URL, for instance as a base.
    pub fn as_url(&self) -> &Url {
        &self.0
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &str {
        self.0.scheme()
    }

    /// Host name in lower case and ASCII, or address (IPv6 in brackets); no port. What is paced.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// The port, the scheme's own where none is written.
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or_default()
    }

    /// Scheme, host and port as written: what a robots.txt speaks for.
    pub fn origin(&self) -> &str {
        &self.as_str()[..self.as_str().len() - self.path_and_query().len()]
    }

    /// The path, never empty.
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// The query without its `?`.
    pub fn query(&self) -> Option<&str> {
        self.0.query()
    }

    /// Path and query: what is asked of the server, and what robots.txt rules are compared with.
    pub fn path_and_query(&self) -> &str {
        &self.0[url::Position::BeforePath..url::Position::AfterQuery]
    }

    /// The host as an address, where it is one.
    pub fn ip(&self) -> Option<std::net::IpAddr> {
        match self.0.host()? {
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
            Host::Domain(_) => None,
        }
    }

    /// Registrable domain by the public suffix list, private suffixes included; the host itself for
    /// addresses and for names without one. What is partitioned and budgeted.
    pub fn site(&self) -> &str {
        match self.0.host() {
            Some(Host::Domain(name)) => psl::domain_str(name).unwrap_or(name),
            _ => self.host(),
        }
    }

    /// Identity of this URL in the seen set.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint(xxhash_rust::xxh3::xxh3_64(self.as_str().as_bytes()))
    }
}

impl fmt::Display for CrawlUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Resolves link text against a base, as the WHATWG standard has it. `encoding` is the page's
/// charset, in which its queries are written.
pub fn resolve(
    text: &str,
    base: Option<&Url>,
    encoding: Option<&'static Encoding>,
) -> Result<Url, UrlError> {
    let options = Url::options().base_url(base);
    let parsed = match encoding.filter(|encoding| *encoding != encoding_rs::UTF_8) {
        Some(legacy) => {
            let encode = |query: &str| -> Cow<'static, [u8]> {
                legacy.output_encoding().encode(query).0.into_owned().into()
            };
            options.encoding_override(Some(&|query| encode(query))).parse(text)
        }
        None => options.parse(text),
    };
    parsed.map_err(|error| UrlError::Invalid(error.to_string()))
}

/// A seed as a person types it: the scheme may be left out.
pub fn seed(text: &str, rules: &UrlRules) -> Result<CrawlUrl, UrlError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(UrlError::Empty);
    }
    let has_scheme = text.contains("://");
    let with_scheme = if has_scheme { text.to_owned() } else { format!("https://{text}") };
    canonicalise(resolve(&with_scheme, None, None)?, rules)
}

/// Brings a URL into its canonical form, or says why it is not one to fetch.
pub fn canonicalise(mut url: Url, rules: &UrlRules) -> Result<CrawlUrl, UrlError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(UrlError::Scheme(url.scheme().to_owned()));
    }
    drop_invisible_parts(&mut url)?;
    let path = strip_path_sessions(&normal_escapes(url.path()), rules);
    if path != url.path() {
        url.set_path(&path);
    }
    let query = url.query().and_then(|query| canonical_query(query, rules));
    if query.as_deref() != url.query() {
        url.set_query(query.as_deref());
    }
    let bytes = url.as_str().len();
    if bytes > rules.bytes_max {
        return Err(UrlError::TooLong(bytes));
    }
    Ok(CrawlUrl(url))
}

/// Removes what is never sent to the server, or sent without meaning anything.
fn drop_invisible_parts(url: &mut Url) -> Result<(), UrlError> {
    url.set_fragment(None);
    // These fail only for URLs without a host, which http and https URLs always have.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    let host = url.host_str().ok_or(UrlError::NoHost)?;
    if let Some(name) = host.strip_suffix('.') {
        let name = name.to_owned();
        url.set_host(Some(&name)).map_err(|error| UrlError::Invalid(error.to_string()))?;
    }
    Ok(())
}

/// Removes `;jsessionid=…` and the like from the ends of path segments.
fn strip_path_sessions(path: &str, rules: &UrlRules) -> String {
    if !path.contains(';') {
        return path.to_owned();
    }
    let kept = path.split('/').map(|segment| {
        let mut parts = segment.split(';');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.filter(|part| !is_dropped(part, rules)).fold(first, |kept, part| kept + ";" + part)
    });
    kept.collect::<Vec<_>>().join("/")
}

fn canonical_query(query: &str, rules: &UrlRules) -> Option<String> {
    let query = normal_escapes(query);
    let mut pairs: Vec<&str> = query.split('&').filter(|pair| !is_dropped(pair, rules)).collect();
    if rules.sort_query {
        pairs.sort_by_key(|pair| pair.split('=').next());
    }
    let query = pairs.join("&");
    (!query.is_empty()).then_some(query)
}

fn is_dropped(pair: &str, rules: &UrlRules) -> bool {
    let name = pair.split('=').next().unwrap_or_default();
    rules.drop_params.iter().any(|dropped| match dropped.strip_suffix('*') {
        Some(start) => {
            name.len() >= start.len()
                && name.is_char_boundary(start.len())
                && name[..start.len()].eq_ignore_ascii_case(start)
        }
        None => name.eq_ignore_ascii_case(dropped),
    })
}

/// Decodes escapes of characters that need none (RFC 3986 section 6.2.2.2) and writes the others in
/// capitals.
///
/// A `%` that begins no escape stays as it is; an escape right behind it stays too, since decoding it
/// could make the two into one and a second pass would give something else.
fn normal_escapes(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut bare_percent_at = None;
    let mut i = 0;
    let mut plain_from = 0;
    while let Some(step) = memchr::memchr(b'%', &bytes[i..]) {
        i += step;
        out.push_str(&text[plain_from..i]);
        let escape = bytes.get(i + 1..i + 3).and_then(|hex| {
            let high = char::from(hex[0]).to_digit(16)?;
            let low = char::from(hex[1]).to_digit(16)?;
            u8::try_from(high * 16 + low).ok()
        });
        let Some(byte) = escape else {
            bare_percent_at = Some(out.len());
            out.push('%');
            i += 1;
            plain_from = i;
            continue;
        };
        let behind_bare_percent = bare_percent_at.is_some_and(|at: usize| out.len() - at <= 2);
        let unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if unreserved && !behind_bare_percent {
            out.push(char::from(byte));
        } else {
            out.push_str(&text[i..i + 3].to_ascii_uppercase());
        }
        i += 3;
        plain_from = i;
    }
    out.push_str(&text[plain_from..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        canonicalise(Url::parse(text).unwrap(), &UrlRules::default()).unwrap().to_string()
    }

    #[test]
    fn variants_of_one_page_become_one_url() {
        let rows = [
            ("empty path", "http://h?id=1", "http://h/?id=1"),
            ("case of scheme and host", "HTTP://ExAmple.COM/Path", "http://example.com/Path"),
            ("default port", "https://h:443/", "https://h/"),
            ("dot segments", "http://h/a/./b/../c", "http://h/a/c"),
            ("fragment", "http://h/a#top", "http://h/a"),
            ("user info", "http://user:secret@h/a", "http://h/a"),
            ("unreserved escapes", "http://h/%7Euser/%41", "http://h/~user/A"),
            ("escapes in capitals", "http://h/%c3%a9", "http://h/%C3%A9"),
            ("empty query", "http://h/?", "http://h/"),
            ("tracking", "http://h/?a=1&utm_source=x&b=2", "http://h/?a=1&b=2"),
            ("only tracking", "http://h/?fbclid=x", "http://h/"),
            ("session in the path", "http://h/a;jsessionid=1F?b", "http://h/a?b"),
            ("dot behind the host", "http://example.com./", "http://example.com/"),
            ("order of the query is kept", "http://h/?b=1&a=2", "http://h/?b=1&a=2"),
        ];
        for (name, text, expected) in rows {
            assert_eq!(canonical(text), expected, "{name}");
        }
    }

    #[test]
    fn an_escape_behind_a_bare_percent_stays() {
        for text in ["http://h/%%34%31", "http://h/%4%31", "http://h/?100%", "http://h/%"] {
            let once = canonical(text);
            assert_eq!(canonical(&once), once, "{text}");
        }
    }

    #[test]
    fn a_seed_needs_no_scheme() {
        let rules = UrlRules::default();
        assert_eq!(seed("example.com", &rules).unwrap().as_str(), "https://example.com/");
        assert_eq!(seed(" h:8080/x ", &rules).unwrap().as_str(), "https://h:8080/x");
        assert_eq!(seed("", &rules), Err(UrlError::Empty));
    }

    #[test]
    fn parts_of_a_url() {
        let url = seed("http://a.b.example.co.uk:8080/p/q?r=s", &UrlRules::default()).unwrap();
        assert_eq!(url.origin(), "http://a.b.example.co.uk:8080");
        assert_eq!(url.host(), "a.b.example.co.uk");
        assert_eq!(url.site(), "example.co.uk");
        assert_eq!(url.path_and_query(), "/p/q?r=s");
        assert_eq!(url.port(), 8080);
    }
}
