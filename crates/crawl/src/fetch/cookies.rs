//! Cookies (step 7 of the line): kept and sent when the plan says so, one jar per site.
//!
//! RFC 6265 is `cookie_store`'s work; here are the walls around it.
//!
//! - COOKIES-1: what a site sets is sent to that site (registrable domain) and to no other, whatever
//!   `Domain` a cookie asks for.
//! - COOKIES-2: a cookie's bytes, a site's cookies and the sites with cookies each have a maximum; what is
//!   beyond is not kept, the site that was used longest ago is forgotten first.
//!
//! Their file is the one of Netscape's browser, which curl, wget and browser extensions read and write.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cookie_store::{CookieDomain, CookieExpiration, CookieStore};
use http::HeaderMap;
use http::header::SET_COOKIE;
use larm_core::Limits;
use larm_core::url::{CrawlUrl, UrlRules, canonicalise, resolve};
use url::Url;

use super::connection::bytes;
use super::guard::bare;

/// The end of the year 9999, the last that a date can name.
const FOR_EVER_S: u64 = 253_402_300_799;

const HEADER: &str =
    "# Netscape HTTP Cookie File\n# Kept by larm. Whoever has this file is who you are.\n\n";

/// What the sites of a crawl have set.
#[derive(Debug)]
pub struct Cookies {
    jars: Mutex<Jars>,
    cookie_bytes_max: usize,
    site_cookies_max: usize,
    sites_max: usize,
}

#[derive(Debug, Default)]
struct Jars {
    by_site: HashMap<String, Jar>,
    by_use: BTreeMap<u64, String>,
    uses: u64,
    /// Whether something was set since the last save.
    changed: bool,
}

#[derive(Debug, Default)]
struct Jar {
    store: CookieStore,
    used: u64,
}

impl Cookies {
    /// No cookies yet.
    pub fn new(limits: &Limits) -> Self {
        Self {
            jars: Mutex::default(),
            cookie_bytes_max: bytes(limits.cookie_bytes_max),
            site_cookies_max: bytes(limits.site_cookies_max),
            sites_max: bytes(limits.cookie_sites_max),
        }
    }

    /// The value of `Cookie` for a request, if there is something to send.
    pub fn header(&self, url: &CrawlUrl) -> Option<String> {
        let mut jars = self.lock();
        if jars.by_site.is_empty() {
            return None;
        }
        let store = jars.existing(url.site())?;
        let mut text = String::new();
        for (name, value) in store.get_request_values(&url.to_url()) {
            let gap = if text.is_empty() { "" } else { "; " };
            let _ = write!(text, "{gap}{name}={value}");
        }
        (!text.is_empty()).then_some(text)
    }

    /// Takes what a response sets.
    pub fn hear(&self, url: &CrawlUrl, headers: &HeaderMap) {
        let set = headers.get_all(SET_COOKIE).iter().filter_map(|value| value.to_str().ok());
        let set: Vec<&str> = set.filter(|text| text.len() <= self.cookie_bytes_max).collect();
        if set.is_empty() {
            return;
        }
        let (site, from) = (url.site().to_owned(), url.to_url());
        for text in set.into_iter().take(self.site_cookies_max) {
            // What came encrypted does not leave otherwise, though its server forgot to say so.
            match url.scheme() {
                "https" => self.set(&site, &from, &format!("{text}; Secure")),
                _ => self.set(&site, &from, text),
            }
        }
    }

    /// Whether a site has set this one, for whichever of its hosts and paths.
    pub fn has(&self, site: &str, name: &str) -> bool {
        let jars = self.lock();
        let jar = jars.by_site.get(site);
        jar.is_some_and(|jar| jar.store.iter_unexpired().any(|cookie| cookie.name() == name))
    }

    fn set(&self, site: &str, url: &Url, text: &str) {
        let mut jars = self.lock();
        let store = jars.of(site, self.sites_max);
        // What is no cookie, or not for this host, is none.
        if store.parse(text, url).is_err() {
            return;
        }
        if store.iter_any().count() > self.site_cookies_max {
            let expired: Vec<_> =
                store.iter_any().filter(|cookie| cookie.is_expired()).map(key).collect();
            let oldest = expired.first().cloned().or_else(|| store.iter_any().next().map(key));
            if let Some((domain, path, name)) = oldest {
                store.remove(&domain, &path, &name);
            }
        }
        jars.changed = true;
    }

    /// Takes the cookies of a file's text. Lines that are none are skipped.
    pub fn load(&self, text: &str) {
        for (url, cookie) in text.lines().filter_map(read_line) {
            self.set(url.site(), &url.to_url(), &cookie);
        }
        self.lock().changed = false;
    }

    /// The text of a file with all cookies that have not expired, those of the session included; nothing
    /// if none was set since this was asked for last.
    pub fn unsaved(&self) -> Option<String> {
        let mut jars = self.lock();
        std::mem::take(&mut jars.changed).then(|| jars.text())
    }

    fn lock(&self) -> MutexGuard<'_, Jars> {
        self.jars.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Jars {
    fn existing(&mut self, site: &str) -> Option<&CookieStore> {
        self.by_site.contains_key(site).then(|| &*self.of(site, usize::MAX))
    }

    /// A site's jar, which is now the one used last.
    fn of(&mut self, site: &str, sites_max: usize) -> &mut CookieStore {
        self.uses += 1;
        let now = self.uses;
        let jar = self.by_site.entry(site.to_owned()).or_default();
        self.by_use.remove(&std::mem::replace(&mut jar.used, now));
        self.by_use.insert(now, site.to_owned());
        if self.by_site.len() > sites_max
            && let Some((_, oldest)) = self.by_use.pop_first()
        {
            self.by_site.remove(&oldest);
        }
        &mut self.by_site.entry(site.to_owned()).or_default().store
    }

    fn text(&self) -> String {
        let mut text = HEADER.to_owned();
        let sites: BTreeMap<&String, &Jar> = self.by_site.iter().collect();
        let cookies = sites.values().flat_map(|jar| jar.store.iter_unexpired());
        cookies.filter_map(line_of).for_each(|line| text.push_str(&line));
        text
    }
}

fn key(cookie: &cookie_store::Cookie<'static>) -> (String, String, String) {
    let (domain, _) = domain_of(cookie);
    (domain, String::from(cookie.path.clone()), cookie.name().to_owned())
}

/// The domain, and whether its subdomains count.
fn domain_of(cookie: &cookie_store::Cookie<'_>) -> (String, bool) {
    match &cookie.domain {
        CookieDomain::Suffix(domain) => (domain.clone(), true),
        CookieDomain::HostOnly(host) => (host.clone(), false),
        _ => (String::new(), false),
    }
}

/// domain, subdomains too?, path, secure?, expiry in seconds (0: end of session), name, value. A cookie with
/// a tab or a line feed in it has no line: it would be read as another one.
fn line_of(cookie: &cookie_store::Cookie<'_>) -> Option<String> {
    let word = |yes: bool| if yes { "TRUE" } else { "FALSE" };
    let (domain, below) = domain_of(cookie);
    let expires = match &cookie.expires {
        CookieExpiration::AtUtc(at) => at.unix_timestamp().max(1),
        CookieExpiration::SessionEnd => 0,
    };
    let mark = if cookie.http_only() == Some(true) { "#HttpOnly_" } else { "" };
    let dot = if below { "." } else { "" };
    let path = String::from(cookie.path.clone());
    let secure = word(cookie.secure() == Some(true));
    let (name, value) = (cookie.name(), cookie.value());
    let fits = ![&domain, &path, name, value].iter().any(|text| text.contains(char::is_control));
    let line = format!(
        "{mark}{dot}{domain}\t{}\t{path}\t{secure}\t{expires}\t{name}\t{value}\n",
        word(below)
    );
    fits.then_some(line)
}

/// A line as a URL that it could have come from, and the text of a `Set-Cookie`.
fn read_line(line: &str) -> Option<(CrawlUrl, String)> {
    let hidden = line.strip_prefix("#HttpOnly_");
    let line = hidden.unwrap_or(line);
    if line.starts_with('#') || line.trim().is_empty() {
        return None;
    }
    let mut fields = line.trim_end_matches(['\r', '\n']).split('\t');
    let mut next = || fields.next();
    let (domain, below, path, secure) = (next()?, next()?, next()?, next()?);
    let (expires, name, value) = (next()?.parse::<u64>().ok()?, next()?, next().unwrap_or(""));
    let host = bare(domain.trim_start_matches('.'));
    let scheme = if secure == "TRUE" { "https" } else { "http" };
    let url = resolve(&format!("{scheme}://{host}{path}"), None, None).ok()?;
    let url = canonicalise(url, &UrlRules::default()).ok()?;
    let mut cookie = format!("{name}={value}; Path={path}");
    if below == "TRUE" {
        let _ = write!(cookie, "; Domain={host}");
    }
    if secure == "TRUE" {
        cookie.push_str("; Secure");
    }
    if hidden.is_some() {
        cookie.push_str("; HttpOnly");
    }
    if expires > 0 {
        let at = std::time::Duration::from_secs(expires.min(FOR_EVER_S));
        let at = httpdate::fmt_http_date(std::time::UNIX_EPOCH + at);
        let _ = write!(cookie, "; Expires={at}");
    }
    Some((url, cookie))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> CrawlUrl {
        CrawlUrl::from_canonical(text).unwrap()
    }

    fn hear(cookies: &Cookies, from: &str, set: &[&str]) {
        let mut headers = HeaderMap::new();
        set.iter().for_each(|text| _ = headers.append(SET_COOKIE, text.parse().unwrap()));
        cookies.hear(&url(from), &headers);
    }

    #[test]
    fn cookies_go_back_to_where_they_came_from_and_nowhere_else() {
        let cookies = Cookies::new(&Limits::default());
        hear(
            &cookies,
            "https://www.a.co.uk/x/",
            &["host=1", "all=2; Domain=a.co.uk; Path=/", "s=3; Secure; Path=/"],
        );
        hear(
            &cookies,
            "https://www.a.co.uk/",
            &["evil=4; Domain=co.uk", "other=5; Domain=b.co.uk"],
        );
        hear(&cookies, "http://b.co.uk/", &["b=6"]);
        #[rustfmt::skip]
        let rows = [
            ("https://www.a.co.uk/x/y", Some("host=1; all=2; s=3")),
            ("http://www.a.co.uk/x/y", None),
            ("https://a.co.uk/", Some("all=2")),
            ("https://c.co.uk/", None),
            ("http://b.co.uk/", Some("b=6")),
        ];
        for (asked, expected) in rows {
            let mut sent = cookies
                .header(&url(asked))
                .unwrap_or_default()
                .split("; ")
                .map(str::to_owned)
                .collect::<Vec<_>>();
            let mut expected: Vec<_> =
                expected.unwrap_or_default().split("; ").map(str::to_owned).collect();
            // A cookie for all of `co.uk` stays in the jar of the site that set it.
            sent.retain(|cookie| cookie != "evil=4");
            sent.sort();
            expected.sort();
            assert_eq!(sent, expected, "{asked}");
        }
    }

    #[test]
    fn floods_of_cookies_and_of_sites_have_an_end() {
        let limits = Limits {
            site_cookies_max: 3,
            cookie_sites_max: 2,
            cookie_bytes_max: 20,
            ..Limits::default()
        };
        let cookies = Cookies::new(&limits);
        for n in 0..10 {
            hear(&cookies, "http://a.example/", &[&format!("c{n}=1")]);
        }
        hear(&cookies, "http://a.example/", &["long=0123456789012345678901234567890"]);
        let sent = cookies.header(&url("http://a.example/")).unwrap();
        assert_eq!(sent.split("; ").count(), 3, "{sent}");
        for site in ["b", "c"] {
            hear(&cookies, &format!("http://{site}.example/"), &["x=1"]);
        }
        assert_eq!(cookies.header(&url("http://a.example/")), None);
        assert!(cookies.header(&url("http://c.example/")).is_some());
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let cookies = Cookies::new(&Limits::default());
        let set = [
            "s=1",
            "p=2; Path=/; Domain=a.example; Max-Age=10000; Secure",
            "h=3; HttpOnly; Path=/",
        ];
        hear(&cookies, "https://www.a.example/x/", &set);
        let back = Cookies::new(&Limits::default());
        back.load(&cookies.unsaved().unwrap());
        assert_eq!((cookies.unsaved(), back.unsaved()), (None, None));
        let sent = |cookies: &Cookies, asked: &str| {
            let mut sent: Vec<_> =
                cookies.header(&url(asked))?.split("; ").map(str::to_owned).collect();
            sent.sort();
            Some(sent)
        };
        for asked in ["https://www.a.example/x/", "http://www.a.example/", "https://a.example/"] {
            assert_eq!(sent(&back, asked), sent(&cookies, asked), "{asked}");
        }
        assert!(back.has("a.example", "p") && !back.has("a.example", "q"));
    }

    #[test]
    fn a_tab_in_a_cookie_cannot_forge_another_one() {
        let cookies = Cookies::new(&Limits::default());
        let set = ["a=1; Path=/\tTRUE\t/", "b=2\tx; Path=/", "c=3; Path=/"];
        hear(&cookies, "http://a.example/", &set);
        let text = cookies.unsaved().unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| line.contains("a.example")).collect();
        assert_eq!(lines, ["a.example\tFALSE\t/\tFALSE\t0\tc\t3"]);
    }

    #[test]
    fn the_lines_of_other_programs_are_read() {
        let curl = "#HttpOnly_.example.org\tTRUE\t/\tFALSE\t0\tid\t7";
        let (url, cookie) = read_line(curl).unwrap();
        assert_eq!(url.as_str(), "http://example.org/");
        assert_eq!(cookie, "id=7; Path=/; Domain=example.org; HttpOnly");
        let (_, late) = read_line("h\tFALSE\t/\tFALSE\t300000000000\ta\tb").unwrap();
        assert!(late.contains("9999"), "{late}");
        // A host that is none was taken at its word once.
        let no_host = "/9}:tt:/000000:\t:#t]\ta\t:tt\t0000\t\t";
        for none in ["", "# a comment", "a\tb\tc", "h\tTRUE\t/\tFALSE\tsoon\ta\tb", no_host] {
            assert_eq!(read_line(none), None, "{none}");
        }
    }
}
