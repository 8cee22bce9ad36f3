//! The robots.txt of each host, and what it closes.
//!
//! What a file closes is decided here by hand for the few shapes there are, not by matching its
//! lines: the web is there to judge such matching. The truth says: what [`Rules::close`] is linked
//! but never asked for, by any path that leads there, redirects included.

use std::fmt::Write;

use serde::Serialize;

use crate::feature::{ROBOTS_LINES, SITEMAP_INDEX};
use crate::hostile::Place;
use crate::resource::{Link, Resource, RetryAfter};
use crate::web::{HostKind, Web, home};

const REAL: &str = "/robots-real.txt";
const SHARED: &str = "/robots-shared.txt";

/// Whether a path is that of a robots.txt or of what one redirects to.
pub(crate) fn is_robots_path(path: &str) -> bool {
    ["/robots.txt", REAL, SHARED].contains(&path)
}

/// Ways in which a robots.txt can be unusual, each with a host of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Oddity {
    /// 404: everything is open (RFC 9309 section 2.3.1.3).
    NotFound,
    /// 403: the same.
    Denied,
    /// 500 at the first try, rules at the second.
    Recovers,
    /// 500 at every try: everything is closed (RFC 9309 section 2.3.1.4).
    Fails,
    /// Redirects within the host; the rules found there hold.
    RedirectSame,
    /// Redirects to another host; the rules found there hold for this one.
    RedirectOther,
    /// More than 500 KiB; a rule near byte 400,000 holds (RFC 9309 section 2.5).
    Huge,
    /// A page instead: it holds no rules.
    Html,
    /// Rules behind a byte order mark.
    Bom,
    /// Rules with `Crawl-delay: 1`.
    CrawlDelay,
}

impl Oddity {
    /// All of them, with the word that names their host.
    pub const ALL: [(Self, &'static str); 10] = [
        (Self::NotFound, "not-found"),
        (Self::Denied, "denied"),
        (Self::Recovers, "recovers"),
        (Self::Fails, "fails"),
        (Self::RedirectSame, "redirect-same"),
        (Self::RedirectOther, "redirect-other"),
        (Self::Huge, "huge"),
        (Self::Html, "html"),
        (Self::Bom, "bom"),
        (Self::CrawlDelay, "crawl-delay"),
    ];

    fn rules(self) -> Rules {
        match self {
            Self::NotFound | Self::Denied | Self::Html => Rules::Open,
            Self::Fails => Rules::Shut,
            _ => Rules::Simple,
        }
    }
}

/// What a robots.txt closes for every agent that it does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rules {
    /// Nothing.
    Open,
    /// `/private/`.
    Simple,
    /// `/private/` but not `/private/open/`, and patterns with `*` and `$`.
    Patterns,
    /// Everything.
    Shut,
}

impl Rules {
    /// Whether `path` (with its query) is closed. robots.txt itself never is.
    pub fn close(self, path: &str) -> bool {
        if is_robots_path(path) {
            return false;
        }
        match self {
            Self::Open => false,
            Self::Simple => path.starts_with("/private/"),
            Self::Patterns => patterns_close(path),
            Self::Shut => true,
        }
    }
}

fn patterns_close(path: &str) -> bool {
    let private = path.starts_with("/private/") && !path.starts_with("/private/open/");
    let drafts = path.starts_with("/tmp") && path.contains("/drafts");
    private || drafts || path.ends_with(".secret") || path.starts_with("/search?")
}

const SIMPLE: &str = "User-agent: *\nDisallow: /private/\n";

const PATTERNS: &str = "# Longest match wins, whatever the order.\n\
    User-agent: otherbot\nUser-agent: thirdbot\nDisallow: /\n\n\
    user-agent : *   # everybody else\n\
    Disallow: /private/\nAllow: /private/open/\n\
    Disallow: /*.secret$\nDisallow: /tmp*/drafts\nDisallow: /search?\n\n\
    User-agent: fourthbot\nDisallow: /p\n";

/// The robots.txt of a host, or one that it redirects to; `None` for any other path.
pub(crate) fn resource(web: &Web, host: usize, path: &str) -> Option<Resource> {
    match (path, web.hosts[host].kind) {
        ("/robots.txt", HostKind::Robots(oddity)) => Some(odd(host, oddity)),
        ("/robots.txt", HostKind::Hostile(bad)) if bad.place() == Place::Robots => {
            Some(Resource::bad(bad))
        }
        ("/robots.txt", _) => Some(text(plain(web, host))),
        (REAL, HostKind::Robots(Oddity::RedirectSame)) => Some(text(SIMPLE.to_owned())),
        (SHARED, _) if host == 0 => Some(text(SIMPLE.to_owned())),
        _ => None,
    }
}

/// What the robots.txt of a host closes.
pub(crate) fn rules(web: &Web, host: usize) -> Rules {
    match web.hosts[host].kind {
        HostKind::Robots(oddity) => oddity.rules(),
        HostKind::Hostile(bad) => bad.rules(),
        HostKind::Site if web.plan.features.private => Rules::Patterns,
        _ => Rules::Open,
    }
}

/// The delay that the robots.txt of a host asks for.
pub(crate) fn crawl_delay_ms(web: &Web, host: usize) -> Option<u64> {
    (web.hosts[host].kind == HostKind::Robots(Oddity::CrawlDelay)).then_some(1_000)
}

/// The sitemap that the robots.txt of a host names.
pub(crate) fn sitemap(web: &Web, host: usize) -> Option<Link> {
    let shown = web.plan.shows(web.plan.features.sitemaps, host, home::MAPPED);
    (shown && web.hosts[host].kind == HostKind::Site).then(|| Link::absolute(host, SITEMAP_INDEX))
}

fn plain(web: &Web, host: usize) -> String {
    let mut out = match rules(web, host) {
        Rules::Patterns => PATTERNS.to_owned(),
        _ => "User-agent: *\nDisallow:\n".to_owned(),
    };
    if let Some(link) = sitemap(web, host) {
        let _ = writeln!(out, "\nSitemap: {}", web.url(link.host, &link.path));
    }
    if web.plan.features.usage && web.hosts[host].kind == HostKind::Site {
        out.push_str(ROBOTS_LINES);
    }
    out
}

fn odd(host: usize, oddity: Oddity) -> Resource {
    match oddity {
        Oddity::NotFound => Resource::status(404),
        Oddity::Denied => Resource::status(403),
        Oddity::Fails => Resource::status(500),
        Oddity::Recovers => text(SIMPLE.to_owned()).flaky(500, RetryAfter::None),
        Oddity::RedirectSame => Resource::redirect(301, Link::local(host, REAL)),
        Oddity::RedirectOther => Resource::redirect(302, Link::absolute(0, SHARED)),
        Oddity::Huge => text(huge()),
        Oddity::Html => Resource::bytes(
            "text/html",
            "<!doctype html>\n<title>Welcome</title>\n<p>Disallow: / is what we do not say.</p>\n",
        ),
        Oddity::Bom => text(format!("\u{feff}{SIMPLE}")),
        Oddity::CrawlDelay => text(format!("{SIMPLE}Crawl-delay: 1\n")),
    }
}

fn text(body: String) -> Resource {
    Resource::bytes("text/plain; charset=utf-8", body)
}

/// 600 KB, of rules for paths that nobody links to but for one.
fn huge() -> String {
    let nobody = |out: &mut String, bytes: usize| {
        while out.len() < bytes {
            let _ = writeln!(out, "Disallow: /nobody/links/here/{}", out.len());
        }
    };
    let mut out = String::from("User-agent: *\n");
    nobody(&mut out, 400_000);
    out.push_str("Disallow: /private/\n");
    nobody(&mut out, 600_000);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_close_what_their_lines_say() {
        let rows = [
            ("/private/a", true),
            ("/private/open/b", false),
            ("/private", false),
            ("/x/file.secret", true),
            ("/x/file.secretary", false),
            ("/tmp7/drafts/1", true),
            ("/tmp7/final", false),
            ("/search?q=1", true),
            ("/search", false),
            ("/p/1.html", false),
            ("/robots.txt", false),
        ];
        for (path, closed) in rows {
            assert_eq!(Rules::Patterns.close(path), closed, "{path}");
        }
    }

    #[test]
    fn the_rule_of_a_huge_file_stands_within_what_must_be_read() {
        let file = huge();
        let at = file.find("/private/").expect("the rule is there");
        assert!((400_000..500 * 1024).contains(&at) && file.len() > 500 * 1024);
    }
}
