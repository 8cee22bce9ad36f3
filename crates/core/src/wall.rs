//! Pages that stand before a page to keep machines out: challenges, captchas, firewalls.
//!
//! Such an answer is nothing of the site's own, and asking on makes it worse. It is recognised by one
//! header that means nothing else, or by two marks of one vendor. A mark is a piece of markup that the
//! vendor's pages have; a captcha in a form, a script that watches visitors, or an article about walls
//! has one of them at most. With status 200 both marks must stand in a small body: there a mistake would
//! lose a page. With a refusing status a vendor's header counts as a mark, too.
//!
//! Headers are looked at for every answer; a body only where the status refuses, or where it is small,
//! and then once for all marks together.

use std::sync::LazyLock;

use memchr::memmem;
use regex::bytes::Regex;

use crate::Limits;

/// What is looked at.
#[derive(Clone, Copy)]
pub struct Sight<'a> {
    /// HTTP status.
    pub status: u16,
    /// The first header field of a name in lower case.
    pub header: &'a dyn Fn(&str) -> Option<&'a str>,
    /// The body, decoded.
    pub body: &'a [u8],
}

/// A wall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wall {
    /// Whose it is.
    pub vendor: &'static str,
    /// What gave it away: a header field, or a mark of its body.
    pub evidence: &'static str,
}

/// One vendor and the evidence against it.
struct Vendor {
    name: &'static str,
    /// A header field, and what its value has: each is proof.
    proofs: &'static [(&'static str, &'static str)],
    /// The same for fields that all its answers have: marks, where the status refuses.
    fields: &'static [(&'static str, &'static str)],
    /// Pieces of its pages.
    marks: &'static [&'static str],
}

const VENDORS: &[Vendor] = &[
    Vendor {
        name: "Cloudflare",
        proofs: &[("cf-mitigated", "challenge")],
        fields: &[("server", "cloudflare")],
        marks: &[
            "<title>Just a moment...</title>",
            "<title>Attention Required! | Cloudflare</title>",
            "window._cf_chl_opt",
            "/cdn-cgi/challenge-platform/h/",
            "id=\"challenge-error-text\"",
            "class=\"cf-browser-verification",
        ],
    },
    Vendor {
        name: "AWS WAF",
        proofs: &[("x-amzn-waf-action", "challenge"), ("x-amzn-waf-action", "captcha")],
        fields: &[],
        marks: &[".token.awswaf.com/", "window.gokuProps", "window.awsWafCookieDomainList"],
    },
    Vendor {
        name: "Akamai",
        proofs: &[],
        fields: &[("server", "AkamaiGHost")],
        marks: &[
            "id=\"sec-if-cpt-container\"",
            "/_sec/cp_challenge/",
            "<TITLE>Access Denied</TITLE>",
            "https://errors.edgesuite.net/",
            "bm-verify",
        ],
    },
    Vendor {
        name: "Imperva",
        proofs: &[],
        fields: &[("x-iinfo", ""), ("x-cdn", "Imperva"), ("x-cdn", "Incapsula")],
        marks: &["/_Incapsula_Resource?", "Incapsula incident ID", "id=\"main-iframe\""],
    },
    Vendor {
        name: "DataDome",
        proofs: &[],
        fields: &[("x-datadome", ""), ("server", "DataDome")],
        marks: &[".captcha-delivery.com/", "var dd={"],
    },
    Vendor {
        name: "HUMAN",
        proofs: &[],
        fields: &[("x-px-blocked", "")],
        marks: &[
            "id=\"px-captcha",
            "window._pxAppId",
            "captcha.px-cdn.net",
            "/px/captcha/?pxCaptchaSrc",
        ],
    },
    Vendor {
        name: "Sucuri",
        proofs: &[("x-sucuri-block", "")],
        fields: &[("server", "Sucuri"), ("x-sucuri-id", "")],
        marks: &[
            "sucuri_cloudproxy_js",
            "<title>You are being redirected...</title>",
            "Sucuri WebSite Firewall - Access Denied",
            "Sucuri Website Firewall - Access Denied",
        ],
    },
    Vendor {
        name: "DDoS-Guard",
        proofs: &[],
        fields: &[("server", "ddos-guard")],
        marks: &["<title>DDoS-Guard</title>", "/.well-known/ddos-guard/", "data-ddg-origin"],
    },
    Vendor {
        name: "Anubis",
        proofs: &[],
        fields: &[],
        marks: &[
            "id=\"anubis_challenge\"",
            "/.within.website/x/cmd/anubis/",
            "<title>Making sure you&#39;re not a bot!</title>",
            "<title>Making sure you're not a bot!</title>",
        ],
    },
    Vendor {
        name: "Vercel",
        proofs: &[("x-vercel-mitigated", "challenge")],
        fields: &[],
        marks: &["<title>Vercel Security Checkpoint</title>", "/.well-known/vercel/security/"],
    },
    Vendor {
        name: "Kasada",
        proofs: &[],
        fields: &[("x-kpsdk-ct", "")],
        marks: &["window.KPSDK", "/ips.js?"],
    },
];

/// What any wall may say or show; two of these, and a status that refuses.
const GENERIC: &[&str] = &[
    "erify you are human",
    "erify that you are human",
    "erify you are a human",
    "hecking your browser",
    "are not a robot",
    "you're not a robot",
    "nable JavaScript and cookies to continue",
    "unusual traffic",
    "g-recaptcha",
    "h-captcha",
    "cf-turnstile",
    "challenges.cloudflare.com/turnstile/",
];

/// How marks begin that begin like much else on any page.
const USUAL: &[&str] = &["id=\"", "class=\"", "<title>", "<TITLE>", "window.", "https://"];

/// Finds out fast that a body has no mark at all, as nearly all have none.
static ANY_MARK: LazyLock<Regex> =
    LazyLock::new(|| any_of(VENDORS.iter().flat_map(|vendor| vendor.marks).chain(GENERIC)));

/// The same where two marks of one vendor are asked for: one of them is not the vendor's first.
static ONE_OF_TWO_MARKS: LazyLock<Regex> =
    LazyLock::new(|| any_of(VENDORS.iter().flat_map(|vendor| &vendor.marks[1..])));

/// Marks are looked for without their usual beginnings, at which one would have to look twice on every line.
fn any_of<'a>(marks: impl Iterator<Item = &'a &'static str>) -> Regex {
    let marks: Vec<String> = marks.map(|mark| regex::escape(unusual(mark))).collect();
    Regex::new(&marks.join("|")).expect("WALL: plain texts make an expression")
}

fn unusual(mark: &str) -> &str {
    USUAL.iter().find_map(|start| mark.strip_prefix(start)).unwrap_or(mark)
}

/// Whether an answer is a wall, and whose.
pub fn recognise(sight: &Sight<'_>, limits: &Limits) -> Option<Wall> {
    let proven = VENDORS.iter().find_map(|vendor| proof(vendor, sight));
    proven.or_else(|| marked(sight, limits))
}

fn proof(vendor: &Vendor, sight: &Sight<'_>) -> Option<Wall> {
    let found = vendor.proofs.iter().find(|field| has_field(field, sight));
    found.map(|(name, _)| Wall { vendor: vendor.name, evidence: name })
}

fn marked(sight: &Sight<'_>, limits: &Limits) -> Option<Wall> {
    let refuses = matches!(sight.status, 403 | 405 | 429 | 503);
    let is_page = matches!(sight.status, 200 | 202);
    let bytes_max = usize::try_from(limits.wall_bytes_max).unwrap_or(usize::MAX);
    let may_be_wall = refuses || (is_page && sight.body.len() <= bytes_max);
    if !may_be_wall {
        return None;
    }
    let head = sight.body.get(..bytes_max).unwrap_or(sight.body);
    let marks = if refuses { &ANY_MARK } else { &ONE_OF_TWO_MARKS };
    if !marks.is_match(head) {
        return None;
    }
    let vendor = VENDORS.iter().find_map(|vendor| marks_of(vendor, sight, head, refuses));
    vendor.or_else(|| refuses.then(|| generic(head)).flatten())
}

fn marks_of(vendor: &Vendor, sight: &Sight<'_>, head: &[u8], refuses: bool) -> Option<Wall> {
    let field = refuses && vendor.fields.iter().any(|field| has_field(field, sight));
    let mut marks = vendor.marks.iter().filter(|mark| has(head, mark));
    let evidence = marks.next()?;
    (field || marks.next().is_some()).then_some(Wall { vendor: vendor.name, evidence })
}

fn generic(head: &[u8]) -> Option<Wall> {
    let mut marks = GENERIC.iter().filter(|mark| has(head, mark));
    let evidence = marks.next()?;
    marks.next().map(|_| Wall { vendor: "a bot wall", evidence })
}

fn has_field((name, part): &(&str, &str), sight: &Sight<'_>) -> bool {
    (sight.header)(name).is_some_and(|value| {
        let value = value.as_bytes();
        part.is_empty()
            || value.windows(part.len()).any(|w| w.eq_ignore_ascii_case(part.as_bytes()))
    })
}

fn has(head: &[u8], mark: &str) -> bool {
    memmem::find(head, mark.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testdata;

    type Fields = &'static [(&'static str, &'static str)];

    fn of(status: u16, headers: Fields, body: &str) -> Option<&'static str> {
        let header = |name: &str| headers.iter().find(|(n, _)| *n == name).map(|(_, value)| *value);
        let sight = Sight { status, header: &header, body: body.as_bytes() };
        recognise(&sight, &Limits::default()).map(|wall| wall.vendor)
    }

    #[test]
    fn every_vendor_is_known_by_its_page_or_its_header() {
        #[rustfmt::skip]
        let rows: &[(u16, Fields, &str, &str)] = &[
            (403, &[("cf-mitigated", "challenge")], "", "Cloudflare"),
            (200, &[("cf-mitigated", "challenge")], "", "Cloudflare"),
            (503, &[("server", "cloudflare")], "<title>Just a moment...</title><div class=\"main\">", "Cloudflare"),
            (200, &[], "<title>Just a moment...</title><script>window._cf_chl_opt={cvId:'3'}", "Cloudflare"),
            (202, &[("x-amzn-waf-action", "challenge")], "", "AWS WAF"),
            (405, &[("x-amzn-waf-action", "captcha")], "", "AWS WAF"),
            (403, &[], "<script>window.gokuProps = {}</script><script src=\"https://x.token.awswaf.com/x/challenge.js\">", "AWS WAF"),
            (403, &[("server", "AkamaiGHost")], "<HTML><HEAD>\n<TITLE>Access Denied</TITLE>", "Akamai"),
            (200, &[], "<div id=\"sec-if-cpt-container\"></div><script src=\"/_sec/cp_challenge/x.js\">", "Akamai"),
            (200, &[], "<iframe id=\"main-iframe\" src=\"/_Incapsula_Resource?SWUDNSAI=31\">Request unsuccessful. Incapsula incident ID: 1</iframe>", "Imperva"),
            (403, &[("x-datadome", "protected")], "<script>var dd={'rt':'c','host':'geo.captcha-delivery.com'}", "DataDome"),
            (403, &[], "<script>window._pxAppId='PX1'</script><div id=\"px-captcha\">", "HUMAN"),
            (403, &[("x-sucuri-block", "EVA021")], "", "Sucuri"),
            (200, &[], "<title>You are being redirected...</title><script>sucuri_cloudproxy_js='';", "Sucuri"),
            (403, &[("server", "ddos-guard")], "<title>DDoS-Guard</title>", "DDoS-Guard"),
            (200, &[], "<title>Making sure you&#39;re not a bot!</title><script id=\"anubis_challenge\" type=\"application/json\">", "Anubis"),
            (429, &[("x-vercel-mitigated", "challenge")], "", "Vercel"),
            (429, &[("x-kpsdk-ct", "0x")], "<script>window.KPSDK={}</script>", "Kasada"),
            (403, &[], "<p>Please verify you are human</p><div class=\"h-captcha\">", "a bot wall"),
            (429, &[], "Our systems have detected unusual traffic <div class=g-recaptcha>", "a bot wall"),
        ];
        for (status, headers, body, expected) in rows {
            assert_eq!(of(*status, headers, body), Some(*expected), "{status} {headers:?} {body}");
        }
    }

    #[test]
    fn what_only_looks_like_a_wall_is_a_page() {
        let large =
            format!("<title>Just a moment...</title>window._cf_chl_opt{}", " ".repeat(20_000));
        #[rustfmt::skip]
        let rows: &[(u16, Fields, &str)] = &[
            // Cloudflare's watching script is in ordinary pages, and so is its name in the header.
            (200, &[("server", "cloudflare")], "<script src=\"/cdn-cgi/challenge-platform/h/b/scripts/jsd/main.js\">"),
            (200, &[("server", "cloudflare")], "<title>Just a moment...</title><p>a poem</p>"),
            (200, &[], "<p>The page says <code>&lt;title&gt;Just a moment...&lt;/title&gt;</code> and sets window._cf_chl_opt."),
            (200, &[], "<form><div class=\"g-recaptcha\"></div><p>Please verify you are human</p></form>"),
            (200, &[("x-datadome", "protected")], "<script src=\"https://js.captcha-delivery.com/tags.js\">"),
            (200, &[("x-iinfo", "7-1")], "<script src=\"/_Incapsula_Resource?SWJIYLWA=1\"></script>"),
            (200, &[], "<script>window._pxAppId='PX1'</script><p>a shop</p>"),
            (403, &[], "<h1>Forbidden</h1>"),
            (403, &[("server", "cloudflare")], "<h1>Forbidden</h1>"),
            (403, &[], "<p>Only members see this. Please verify you are human.</p>"),
            (404, &[], "<title>Just a moment...</title>window._cf_chl_opt"),
            (503, &[], "<h1>Back soon</h1>"),
            (200, &[], &large),
            (200, &[], ""),
        ];
        for (status, headers, body) in rows {
            assert_eq!(of(*status, headers, body), None, "{status} {headers:?} {body:.200}");
        }
    }

    #[test]
    fn no_real_page_is_taken_for_a_wall() {
        let limits = Limits { wall_bytes_max: 1024 * 1024, ..Limits::default() };
        for name in ["html/readability-pages.tar.gz", "html/scrapy-pages.tar.gz"] {
            for (path, body) in testdata::archive(name).unwrap_or_default() {
                for status in [200, 403] {
                    let sight = Sight { status, header: &|_| None, body: &body };
                    assert_eq!(recognise(&sight, &limits), None, "{path} as {status}");
                }
            }
        }
    }
}
