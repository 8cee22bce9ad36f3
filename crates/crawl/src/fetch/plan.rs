//! What a crawl says about all its requests, and the header block made of it (step 7 of the line).

use std::path::PathBuf;

use http::header::{ACCEPT, ACCEPT_ENCODING, HOST, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use larm_core::url::CrawlUrl;
use larm_core::{Failure, FailureClass};

use super::sign::{SignPlan, Signer};
use crate::{Error, Result};

/// How to ask, and what for.
#[derive(Debug, Clone)]
pub struct FetchPlan {
    /// The name we go by, with a contact where there is one.
    pub user_agent: String,
    /// More header fields for every request. One of our own defaults' name replaces that default.
    pub headers: Vec<(String, String)>,
    /// Content types wanted, such as `text/html` or `audio/*`; empty for all. HTML, XML, sitemaps and
    /// robots.txt are read in any case, since they carry links and rules.
    pub accept: Vec<String>,
    /// Take any TLS certificate. For one's own machines.
    pub insecure: bool,
    /// More authorities to trust, as PEM.
    pub ca_file: Option<PathBuf>,
    /// How to sign requests, if they are to be signed.
    pub sign: Option<SignPlan>,
}

impl Default for FetchPlan {
    fn default() -> Self {
        Self {
            user_agent: concat!("larm/", env!("CARGO_PKG_VERSION")).to_owned(),
            headers: Vec::new(),
            accept: Vec::new(),
            insecure: false,
            ca_file: None,
            sign: None,
        }
    }
}

/// Fields that belong to the connection and would break it.
const OURS_ALONE: &[&str] =
    &["host", "connection", "content-length", "transfer-encoding", "upgrade", "expect", "te"];

const ACCEPTED: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const ENCODINGS: &str = "gzip, deflate, br, zstd";

/// The part of a request that all requests share.
#[derive(Debug)]
pub(super) struct RequestHead {
    fields: HeaderMap,
    signer: Option<Signer>,
}

impl RequestHead {
    pub fn new(plan: &FetchPlan) -> Result<Self> {
        let mut fields = HeaderMap::new();
        // Fields are written in the order in which they were put in; the host's value comes later.
        fields.insert(HOST, HeaderValue::from_static(""));
        fields.insert(USER_AGENT, value("User-Agent", &plan.user_agent)?);
        fields.insert(ACCEPT, HeaderValue::from_static(ACCEPTED));
        fields.insert(ACCEPT_ENCODING, HeaderValue::from_static(ENCODINGS));
        let own = plan.headers.iter().map(|(name, text)| field(name, text));
        let own = own.collect::<Result<Vec<_>>>()?;
        for (name, _) in &own {
            fields.remove(name);
        }
        for (name, value) in own {
            fields.append(name, value);
        }
        let signer = plan.sign.as_ref().map(Signer::new).transpose()?;
        Ok(Self { fields, signer })
    }

    /// The request for `url`: path and query in the request line, the host first among the fields.
    pub fn request<B: Default>(&self, url: &CrawlUrl) -> Result<http::Request<B>, Failure> {
        let unfit = |_| Failure::new(FailureClass::Protocol, "the URL does not fit into a request");
        let mut request = http::Request::new(B::default());
        *request.uri_mut() =
            Uri::try_from(url.path_and_query()).map_err(|e| unfit(e.to_string()))?;
        let host = HeaderValue::try_from(authority(url)).map_err(|e| unfit(e.to_string()))?;
        *request.headers_mut() = self.fields.clone();
        request.headers_mut().insert(HOST, host);
        self.signer.iter().for_each(|signer| signer.sign(request.headers_mut(), authority(url)));
        Ok(request)
    }
}

/// Host, and the port where it is not the scheme's own.
fn authority(url: &CrawlUrl) -> &str {
    url.origin().split_once("://").map_or(url.host(), |(_, authority)| authority)
}

fn field(name: &str, text: &str) -> Result<(HeaderName, HeaderValue)> {
    let header = HeaderName::try_from(name)
        .map_err(|_| Error::Plan(format!("`{name}` is not a header name")))?;
    if OURS_ALONE.contains(&header.as_str()) {
        return Err(Error::Plan(format!(
            "the header `{name}` cannot be set: larm writes it itself"
        )));
    }
    Ok((header, value(name, text)?))
}

fn value(name: &str, text: &str) -> Result<HeaderValue> {
    HeaderValue::try_from(text)
        .map_err(|_| Error::Plan(format!("the header `{name}` cannot hold {text:?}")))
}

/// The content types that are worth reading.
#[derive(Debug)]
pub(super) struct Wanted {
    patterns: Vec<String>,
}

impl Wanted {
    pub fn new(accept: &[String]) -> Self {
        Self { patterns: accept.iter().map(|pattern| pattern.trim().to_lowercase()).collect() }
    }

    /// Whether the body of `url` with this `Content-Type` is to be read. One without a type is.
    pub fn wants(&self, url: &CrawlUrl, content_type: Option<&str>) -> bool {
        let Some(content_type) = content_type else {
            return true;
        };
        let kind = content_type.split(';').next().unwrap_or_default().trim().to_lowercase();
        self.patterns.is_empty()
            || kind.is_empty()
            || carries_links(&kind)
            || is_robots_or_sitemap(url.path())
            || self.patterns.iter().any(|pattern| matches(pattern, &kind))
    }
}

fn carries_links(kind: &str) -> bool {
    matches!(kind, "text/html" | "text/xml" | "application/xml") || kind.ends_with("+xml")
}

/// Sitemaps travel under many types: as text, as gzip, as bytes.
fn is_robots_or_sitemap(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    path == "/robots.txt"
        || name.contains("sitemap")
        || name.ends_with(".xml")
        || name.ends_with(".xml.gz")
}

fn matches(pattern: &str, kind: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => kind.starts_with(start) || pattern == "*/*",
        None => pattern == kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> CrawlUrl {
        let parsed = larm_core::url::resolve(text, None, None).unwrap();
        let rules = larm_core::url::UrlRules::default();
        larm_core::url::canonicalise(parsed, &rules).unwrap()
    }

    #[test]
    fn types_that_carry_links_are_always_wanted() {
        #[rustfmt::skip]
        let rows: &[(&[&str], &str, Option<&str>, bool)] = &[
            (&[], "/a.mp4", Some("video/mp4"), true),
            (&["text/html"], "/a.mp4", Some("video/mp4"), false),
            (&["audio/*"], "/a", Some("Audio/OGG; codecs=x"), true),
            (&["audio/*"], "/a", Some("audio"), false),
            (&["audio/*"], "/a", Some("text/html; charset=utf-8"), true),
            (&["audio/*"], "/a", Some("application/xhtml+xml"), true),
            (&["audio/*"], "/a", Some("application/rss+xml"), true),
            (&["audio/*"], "/a", Some("text/plain"), false),
            (&["audio/*"], "/robots.txt", Some("text/plain"), true),
            (&["audio/*"], "/a/robots.txt", Some("text/plain"), false),
            (&["audio/*"], "/sitemap-1.txt", Some("text/plain"), true),
            (&["audio/*"], "/news.xml.gz", Some("application/gzip"), true),
            (&["audio/*"], "/a", None, true),
            (&["audio/*"], "/a", Some(""), true),
            (&["*/*"], "/a", Some("video/mp4"), true),
            (&["image/png", "video/mp4"], "/a", Some("video/mp4"), true),
        ];
        for (accept, path, content_type, expected) in rows {
            let accept: Vec<String> = accept.iter().map(|&kind| kind.to_owned()).collect();
            let url = url(&format!("http://h{path}"));
            let wanted = Wanted::new(&accept).wants(&url, *content_type);
            assert_eq!(wanted, *expected, "{accept:?} {path} {content_type:?}");
        }
    }

    #[test]
    fn a_request_names_the_host_as_the_url_does() {
        let head = RequestHead::new(&FetchPlan::default()).unwrap();
        #[rustfmt::skip]
        let rows = [
            ("http://h/", "h", "/"),
            ("http://h:8080/a?b=c|d", "h:8080", "/a?b=c|d"),
            ("https://[::1]/a//b", "[::1]", "/a//b"),
            ("http://h//a", "h", "//a"),
            ("http://h/[a]^{b}'~?`{}|\\^[]'", "h", "/[a]%5E%7Bb%7D'~?`{}|\\^[]%27"),
        ];
        for (text, host, line) in rows {
            let request = head.request::<()>(&url(text)).unwrap();
            assert_eq!(request.headers()[HOST], host, "{text}");
            assert_eq!(request.uri().to_string(), line, "{text}");
        }
    }

    #[test]
    fn header_fields_of_the_plan_replace_defaults_and_keep_their_number() {
        let headers = [("accept", "audio/*"), ("X-Key", "1"), ("X-Key", "2")];
        let headers = headers.map(|(name, text)| (name.to_owned(), text.to_owned())).to_vec();
        let head = RequestHead::new(&FetchPlan { headers, ..FetchPlan::default() }).unwrap();
        assert_eq!(head.fields.get_all("accept").iter().collect::<Vec<_>>(), ["audio/*"]);
        assert_eq!(head.fields.get_all("x-key").iter().collect::<Vec<_>>(), ["1", "2"]);
    }

    #[test]
    fn header_fields_that_would_break_the_request_are_refused() {
        for (name, text) in
            [("Host", "x"), ("content-length", "5"), ("a b", "x"), ("a", "x\r\ny: z")]
        {
            let headers = vec![(name.to_owned(), text.to_owned())];
            let plan = FetchPlan { headers, ..FetchPlan::default() };
            assert!(matches!(RequestHead::new(&plan), Err(Error::Plan(_))), "{name}: {text:?}");
        }
    }
}
