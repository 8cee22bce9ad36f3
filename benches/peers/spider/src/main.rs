//! Crawls the hosts in a file with the `spider` crate at full speed, and keeps nothing.
//!
//! `larm-bench-spider SEEDS AT-A-TIME [THREADS]`: one crawl per seed, so many at a time, each confined
//! to its host, no delay, robots.txt respected. It prints the number of pages spider found.

use std::sync::Arc;

use spider::website::Website;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [seeds, at_a_time, rest @ ..] = &arguments[..] else {
        eprintln!("usage: larm-bench-spider SEEDS AT-A-TIME [THREADS]");
        std::process::exit(2);
    };
    let seeds = std::fs::read_to_string(seeds).expect("the file of seeds can be read");
    let at_a_time = at_a_time.parse().expect("AT-A-TIME is a number");
    let threads = rest.first().map_or(1, |text| text.parse().expect("THREADS is a number"));
    let runtime = Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    let pages = runtime.expect("threads can be started").block_on(crawl_all(&seeds, at_a_time));
    println!("{{\"pages\":{pages}}}");
}

async fn crawl_all(seeds: &str, at_a_time: usize) -> usize {
    let turns = Arc::new(Semaphore::new(at_a_time));
    let mut crawls = Vec::new();
    for seed in seeds.lines() {
        let turn = turns.clone().acquire_owned().await.expect("nobody closes it");
        let crawl = crawl(seed.to_owned());
        crawls.push(tokio::spawn(async move {
            let pages = crawl.await;
            drop(turn);
            pages
        }));
    }
    let mut pages = 0;
    for crawl in crawls {
        pages += crawl.await.expect("spider does not panic");
    }
    pages
}

async fn crawl(seed: String) -> usize {
    let mut website = Website::new(&seed);
    website.with_respect_robots_txt(true).with_delay(0).with_depth(1_000).with_limit(1_000_000);
    website.crawl_raw().await;
    website.get_links().len()
}
