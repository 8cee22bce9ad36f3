//! Any bytes are a robots.txt, and any path has a verdict.
#![no_main]

use larm_core::Limits;
use larm_core::robots::Robots;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&[u8], &str)| {
    let (bytes, path) = input;
    let robots = Robots::parse(bytes, &Limits::default());
    let verdict = robots.judge("larm", path);
    assert!(verdict.allowed || verdict.rule.is_some());
    robots.crawl_delay_ms("larm");
    let lines = robots.signals("larm", path);
    assert!(lines.is_sorted_by_key(|line| line.line));
    robots.sitemaps().for_each(drop);
});
