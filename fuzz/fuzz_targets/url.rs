//! Canonicalising twice gives the same as once, and never panics.
#![no_main]

use larm_core::url::{CrawlUrl, UrlRules, canonicalise, resolve};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let rules = UrlRules::default();
    let base = url::Url::parse("http://h/a/b?c").expect("a URL");
    let Ok(url) = resolve(text, Some(&base), None) else { return };
    let Ok(once) = canonicalise(url, &rules) else { return };
    let again = canonicalise(once.to_url(), &rules).expect("a canonical URL is one");
    assert_eq!(once, again);
    assert_eq!(CrawlUrl::from_canonical(once.as_str()).as_ref(), Some(&once));
    once.surt();
    once.site();
});
