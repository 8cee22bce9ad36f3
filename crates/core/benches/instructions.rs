//! The pure functions of the line, each called on the same pages, for counting their instructions.
//!
//! Run by `benches/instructions` under callgrind, which counts inside the functions of `measured`
//! and nowhere else: a count is the same on a busy machine and on an idle one. On its own this
//! program only prints how many units each function works through, in the order of the table.
//!
//! Pages are real ones of the outside test data; where that is absent, pages made here. They have no
//! addresses, so each stands where its `link rel=canonical` says.
#![expect(clippy::print_stdout, reason = "a bench prints its result")]

use html5ever::tendril::TendrilSink;
use larm_core::digest::BodyDigest;
use larm_core::near::Simhash;
use larm_core::parse::{Input, Page, parse};
use larm_core::robots::Robots;
use larm_core::scope::{Filters, ScopeInput, Subject, Verdict, default_specs};
use larm_core::soft::{Face, Glance};
use larm_core::url::{Base, CrawlUrl, UrlRules, canonicalise, resolve};
use larm_core::{Limits, Via};
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use url::Url;

#[path = "../src/parse/testdata.rs"]
#[expect(clippy::unwrap_used, reason = "made for tests")]
mod testdata;

/// Pages larger than this tell no more than smaller ones and take the DOM's time.
const PAGE_BYTES_MAX: usize = 200_000;

/// A page, where it is and what it leads to.
struct Sample {
    body: Vec<u8>,
    url: CrawlUrl,
    base: Url,
    page: Page,
    links: Vec<CrawlUrl>,
}

fn main() {
    let limits = Limits::default();
    let (origin, bodies) = bodies();
    let samples: Vec<Sample> = bodies.into_iter().map(|body| sample(body, &limits)).collect();
    let seeds: Vec<CrawlUrl> = samples.iter().map(|sample| sample.url.clone()).collect();
    let rules = UrlRules::default();
    let input = ScopeInput { seeds: &seeds, limits: limits.clone(), ..ScopeInput::default() };
    let filters = Filters::build(&default_specs(), &input).expect("the default filters are valid");
    let robots = Robots::parse(ROBOTS.as_bytes(), &limits);
    // The tables that regular expressions fill as they go are made once per crawl.
    each_subject(&samples, |subject| drop(filters.judge(&subject)));

    let bytes: usize = samples.iter().map(|sample| sample.body.len()).sum();
    let raw_links: usize = samples.iter().map(|sample| sample.page.link_count()).sum();
    let links: usize = samples.iter().map(|sample| sample.links.len()).sum();
    println!("pages\t{origin}: {} pages, {bytes} bytes, {raw_links} links", samples.len());
    let report = |name: &str, units: usize, unit: &str, check: usize| {
        println!("{name}\t{units}\t{unit}\t{check}");
    };
    report("dom", bytes, "byte", measured::dom(&samples));
    report("dom_links_text", bytes, "byte", measured::dom_links_text(&samples));
    report("scan", bytes, "byte", measured::scan(&samples, &limits));
    report("scan_links", bytes, "byte", measured::scan_links(&samples, &limits));
    report("scan_undeclared", bytes, "byte", measured::scan_undeclared(&samples, &limits));
    report("link", raw_links, "link", measured::link(&samples, &rules));
    report("link_long_way", raw_links, "link", measured::link_long_way(&samples, &rules));
    report("judge", links, "link", measured::judge(&samples, &filters));
    report("fingerprint", links, "link", measured::fingerprint(&samples));
    report("robots", links, "link", measured::robots(&samples, &robots));
    report("digest", bytes, "byte", measured::digest(&samples));
    report("simhash", bytes, "byte", measured::simhash(&samples));
    report("face", bytes, "byte", measured::face(&samples));
}

/// What is counted. Nothing here calls another function of this module.
mod measured {
    use super::*;

    #[inline(never)]
    pub fn dom(samples: &[Sample]) -> usize {
        samples.iter().map(|sample| dom_of(&sample.body).errors.borrow().len()).sum()
    }

    #[inline(never)]
    pub fn dom_links_text(samples: &[Sample]) -> usize {
        let read = |sample: &Sample| {
            let (mut links, mut text) = (Vec::new(), String::new());
            walk(&dom_of(&sample.body).document, &mut links, &mut text);
            links.len() + text.len()
        };
        samples.iter().map(read).sum()
    }

    #[inline(never)]
    pub fn scan(samples: &[Sample], limits: &Limits) -> usize {
        let read = |sample: &Sample| {
            let page = parse(&sample.input("text/html; charset=utf-8"), limits);
            page.link_count() + page.text.len()
        };
        samples.iter().map(read).sum()
    }

    /// The same for a crawl that keeps no text.
    #[inline(never)]
    pub fn scan_links(samples: &[Sample], limits: &Limits) -> usize {
        let read = |sample: &Sample| {
            let input = Input { text: false, ..sample.input("text/html; charset=utf-8") };
            parse(&input, limits).link_count()
        };
        samples.iter().map(read).sum()
    }

    #[inline(never)]
    pub fn scan_undeclared(samples: &[Sample], limits: &Limits) -> usize {
        let read = |sample: &Sample| {
            let page = parse(&sample.input("text/html"), limits);
            page.link_count() + page.text.len()
        };
        samples.iter().map(read).sum()
    }

    #[inline(never)]
    pub fn link(samples: &[Sample], rules: &UrlRules) -> usize {
        let mut bytes = 0;
        for sample in samples {
            let base = Base::new(&sample.base, sample.page.encoding(), rules);
            for link in sample.page.links() {
                bytes += base.link(link.target).map_or(0, |url| url.as_str().len());
            }
        }
        bytes
    }

    #[inline(never)]
    pub fn link_long_way(samples: &[Sample], rules: &UrlRules) -> usize {
        let mut bytes = 0;
        for sample in samples {
            for link in sample.page.links() {
                let url = resolve(link.target, Some(&sample.base), Some(sample.page.encoding()));
                let url = url.and_then(|url| canonicalise(url, rules));
                bytes += url.map_or(0, |url| url.as_str().len());
            }
        }
        bytes
    }

    #[inline(never)]
    pub fn judge(samples: &[Sample], filters: &Filters) -> usize {
        let mut passed = 0;
        each_subject(samples, |subject| {
            passed += usize::from(filters.judge(&subject) == Verdict::Pass);
        });
        passed
    }

    #[inline(never)]
    pub fn fingerprint(samples: &[Sample]) -> usize {
        let links = samples.iter().flat_map(|sample| &sample.links);
        links.fold(0, |all, url| all ^ url.fingerprint().0 as usize)
    }

    #[inline(never)]
    pub fn robots(samples: &[Sample], robots: &Robots) -> usize {
        let links = samples.iter().flat_map(|sample| &sample.links);
        links.filter(|url| robots.judge("larm", url.path_and_query()).allowed).count()
    }

    #[inline(never)]
    pub fn simhash(samples: &[Sample]) -> usize {
        let simhash = |sample: &Sample| Simhash::of([sample.page.text.as_str()], 1);
        samples.iter().filter_map(simhash).filter(|simhash| simhash.0 & 1 == 1).count()
    }

    /// The words of a page, where its host may be one that answers every path alike.
    #[inline(never)]
    pub fn face(samples: &[Sample]) -> usize {
        let face = |sample: &Sample| {
            let (path, text) = (sample.url.path_and_query(), &sample.page.text);
            let glance = Glance::new("", sample.links.len(), sample.body.len(), path);
            Face::new(glance, text, path).to_bytes()
        };
        samples.iter().map(face).filter(|face| face[8] & 1 == 1).count()
    }

    #[inline(never)]
    pub fn digest(samples: &[Sample]) -> usize {
        let digests = samples.iter().map(|sample| BodyDigest::of(&sample.body));
        digests.map(|digest| usize::from(digest.as_bytes()[0])).sum()
    }
}

impl Sample {
    fn input<'a>(&'a self, content_type: &'a str) -> Input<'a> {
        Input { url: &self.base, content_type: Some(content_type), body: &self.body, text: true }
    }
}

fn dom_of(body: &[u8]) -> RcDom {
    html5ever::parse_document(RcDom::default(), Default::default()).from_utf8().one(body)
}

/// The least that takes links and text from a tree.
fn walk(node: &Handle, links: &mut Vec<String>, text: &mut String) {
    match &node.data {
        NodeData::Text { contents } => text.push_str(&contents.borrow()),
        NodeData::Element { attrs, .. } => {
            let attributes = attrs.borrow();
            let link = attributes.iter().find(|attr| matches!(&*attr.name.local, "href" | "src"));
            links.extend(link.map(|link| link.value.to_string()));
        }
        _ => {}
    }
    node.children.borrow().iter().for_each(|child| walk(child, links, text));
}

/// Calls `each` with every link as the filters see it.
fn each_subject(samples: &[Sample], mut each: impl FnMut(Subject<'_>)) {
    for sample in samples {
        for url in &sample.links {
            let from = Some(&sample.url);
            each(Subject { url, depth: 1, via: Via::Anchor, from, redirects: 0 });
        }
    }
}

fn sample(body: Vec<u8>, limits: &Limits) -> Sample {
    let rules = UrlRules::default();
    let at = |text: &str| canonicalise(resolve(text, None, None)?, &rules);
    let read = |url: &CrawlUrl| {
        let input =
            Input { url: &url.to_url(), content_type: Some("text/html"), body: &body, text: true };
        parse(&input, limits)
    };
    let nowhere = at("https://example.org/articles/page.html").expect("a URL");
    let canonical = read(&nowhere).canonical.and_then(|text| at(&text).ok());
    let url = canonical.unwrap_or(nowhere);
    let page = read(&url);
    let base = page.base.clone().unwrap_or(url.to_url());
    let links = page.links().map(|link| resolve(link.target, Some(&base), Some(page.encoding())));
    let links = links.filter_map(|link| canonicalise(link.ok()?, &rules).ok()).collect();
    Sample { url, base, links, page, body }
}

/// The bodies, and where they are from.
fn bodies() -> (&'static str, Vec<Vec<u8>>) {
    let articles = some_of("html/readability-pages.tar.gz", "/source.html", 4);
    let documentation = some_of("neardup/kafka-docs-20-21-24.tar.gz", ".html", 64);
    match [articles, documentation].concat() {
        none if none.is_empty() => ("made", (0..40).map(|n| made(n).into_bytes()).collect()),
        real => ("real", real),
    }
}

/// Every `step`th page of an archive that is in UTF-8 and not too large.
fn some_of(archive: &str, ending: &str, step: usize) -> Vec<Vec<u8>> {
    let files = testdata::archive(archive).unwrap_or_default().into_iter();
    let pages = files.filter(|(name, body)| {
        name.ends_with(ending) && body.len() <= PAGE_BYTES_MAX && std::str::from_utf8(body).is_ok()
    });
    pages.step_by(step).map(|(_, body)| body).collect()
}

/// A page with the parts that pages have: a head, a menu, articles with links, scripts, a footer.
fn made(number: usize) -> String {
    let article = |n: usize| {
        format!(
            "<article class=\"post entry-{n}\" id='p{n}'><h2><a href=\"/posts/{number}/{n}?from=list&amp;page={n}\" \
             rel=bookmark>Title number {n}</a></h2>\n<p>Some words &amp; <em>more</em> words, \
             <a title='elsewhere' href=\"https://site{n}.example/a/b-c.html#top\">a link</a> in the text,\n\
             \t\tand a long sentence that goes on for as long as sentences of articles do.<br>\
             <img src=../img/{n}.png alt=\"A picture\" width=640 height=480></p></article>\n"
        )
    };
    let menu =
        (0..20).map(|n| format!("<li class=menu-item><a href=/section/{n}/>Section {n}</a></li>"));
    format!(
        "<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>Page {number}</title>\
         <link rel=canonical href=https://example.org/blog/{number}.html>\
         <style>{}</style><script>{}</script></head><body><ul>{}</ul>{}<!-- end --></body></html>",
        ".entry{margin:0 auto;background:url(bg.png)}\n".repeat(30),
        "var a = 1 < 2; function f(x) { return x + '</p>'; }\n".repeat(40),
        menu.collect::<String>(),
        (0..30).map(article).collect::<String>(),
    )
}

/// Rules as they are: several groups, and in the one that counts a few dozen rules.
const ROBOTS: &str = "User-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /admin/\nDisallow: /cgi-bin/\n\
    Disallow: /search\nDisallow: /*?sort=\nDisallow: /*&sort=\nDisallow: /*.pdf$\nDisallow: /cart\n\
    Disallow: /checkout\nDisallow: /account/\nDisallow: /login\nDisallow: /tmp/\nDisallow: /private/\n\
    Allow: /search/about\nDisallow: /*/print/\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\n\
    Disallow: /feed/\nDisallow: /comments/\nDisallow: /*?replytocom=\nDisallow: /trackback/\n\
    Disallow: /tag/*/page/\nDisallow: /api/\nDisallow: /export$\nCrawl-delay: 1\n\
    Sitemap: https://example.org/sitemap.xml\n";
