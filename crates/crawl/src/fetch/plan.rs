//! What a crawl says about all its requests (step 7 of the line).

use std::path::PathBuf;

use larm_core::media;
use larm_core::url::CrawlUrl;

use super::access::{Credentials, HostAccess};
use super::proxy::ProxyPlan;
use super::sign::SignPlan;

/// How to ask, and what for.
#[derive(Debug, Clone)]
pub struct FetchPlan {
    /// The name we go by, with a contact where there is one.
    pub user_agent: String,
    /// More header fields. Those that can carry no secret go to every host, the others to the hosts of
    /// `homes`. One of our own defaults' name replaces that default.
    pub headers: Vec<(String, String)>,
    /// Who asks, for the hosts of `homes`.
    pub credentials: Option<Credentials>,
    /// The seeds: what they name may be told secrets.
    pub homes: Vec<CrawlUrl>,
    /// Hosts that are told something of their own.
    pub hosts: Vec<HostAccess>,
    /// Whether cookies are kept and sent.
    pub cookies: bool,
    /// Speak HTTP/2 with servers that know it.
    pub http2: bool,
    /// The way to the web.
    pub proxies: ProxyPlan,
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
            credentials: None,
            homes: Vec::new(),
            hosts: Vec::new(),
            cookies: false,
            http2: false,
            proxies: ProxyPlan::default(),
            accept: Vec::new(),
            insecure: false,
            ca_file: None,
            sign: None,
        }
    }
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
        // What the name speaks of counts where the type says nothing, and where neither does, the bytes.
        let kind = match media::says_nothing(&kind) {
            true => named_type(url).unwrap_or_default().to_owned(),
            false => kind,
        };
        self.patterns.is_empty()
            || kind.is_empty()
            || carries_links(&kind)
            || is_robots_or_sitemap(url.path())
            || self.patterns.iter().any(|pattern| matches(pattern, &kind))
    }
}

/// The type that the end of a path speaks of, where that is no page.
fn named_type(url: &CrawlUrl) -> Option<&'static str> {
    let name = url.path().rsplit('/').next()?;
    media::of_name(name).filter(|kind| !media::may_lead_on(kind))
}

fn carries_links(kind: &str) -> bool {
    matches!(kind, "text/html" | "text/xml" | "application/xml")
        || matches!(kind, "application/json" | "application/feed+json")
        || (kind.ends_with("+xml") && !kind.starts_with("image/"))
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
            (&["audio/*"], "/a.mp3", Some("application/octet-stream"), true),
            (&["audio/*"], "/a.zip", Some("application/octet-stream"), false),
            (&["audio/*"], "/a", Some("application/octet-stream"), true),
            (&["audio/*"], "/a.ogg", Some("application/ogg"), true),
            (&["audio/*"], "/feed", Some("application/feed+json"), true),
            (&["audio/*"], "/a.svg", Some("image/svg+xml"), false),
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
}
