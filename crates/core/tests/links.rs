//! Every link of the real pages becomes the same URL by the short way and by the long one.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use larm_core::Limits;
use larm_core::parse::{Input, parse};
use larm_core::url::{Base, UrlRules, canonicalise, resolve};
use url::Url;

#[path = "../src/parse/testdata.rs"]
mod testdata;

/// Compares the links of an archive's pages; gives how many there were.
fn compare(archive: &str) -> usize {
    let (limits, rules) = (Limits::default(), UrlRules::default());
    let url = Url::parse("https://example.org/articles/page.html").unwrap();
    let pages = testdata::archive(archive).unwrap_or_default();
    let mut links = 0;
    for (_, body) in pages.iter().filter(|(name, _)| name.contains(".htm")) {
        let page =
            parse(&Input { url: &url, content_type: Some("text/html"), body, text: true }, &limits);
        let canonical = page.canonical.as_deref().and_then(|link| url.join(link).ok());
        let at = page.base.as_ref().or(canonical.as_ref()).unwrap_or(&url);
        let base = Base::new(at, page.encoding(), &rules);
        for link in page.links() {
            let long = resolve(link.target, Some(at), Some(page.encoding()));
            let long = long.and_then(|url| canonicalise(url, &rules));
            assert_eq!(base.link(link.target), long, "{} on {at}", link.target);
            links += 1;
        }
    }
    links
}

#[test]
fn links_of_real_pages_come_out_the_same_both_ways() {
    let archives = ["html/readability-pages.tar.gz", "neardup/kafka-docs-20-21-24.tar.gz"];
    for archive in archives {
        let links = compare(archive);
        assert!(links == 0 || links > 10_000, "{archive} has only {links} links");
    }
}
