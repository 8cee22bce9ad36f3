//! Crawls a small web and collects the titles of its pages: the shortest useful program.
//!
//! Run it: `cargo run --example collect_titles`. The web is on loopback; no network is used.

#![allow(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use std::error::Error;
use std::sync::{Arc, Mutex};

use larm_core::url::{UrlRules, seed};
use larm_core::workbench::Pace;
use larm_crawl::{Crawl, Plan};
use larm_testsite::{TestSite, WebPlan};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let site = TestSite::start(WebPlan { hosts: 1, pages_per_host: 12, ..WebPlan::default() })?;
    let temp = tempfile::tempdir()?;

    let start = seed(&site.seeds()[0], &UrlRules::default())?;
    let mut plan = Plan::new(temp.path().join("titles.larm"), vec![start]);
    // The web is our own: no need to wait between two requests.
    plan.pace = Pace { delay_ms: 0, address_gap_ms: 0, ..Pace::default() };

    let titles = Arc::new(Mutex::new(Vec::new()));
    let collected = titles.clone();
    let summary = Crawl::new(plan)
        .on_page(move |visit| {
            if let Some(page) = &visit.page {
                let mut titles = collected.lock().expect("nobody panics while holding it");
                titles.push(format!("{}  {}", visit.url, page.title));
            }
            Box::pin(async {})
        })
        .run()
        .await?;

    let mut titles = titles.lock().expect("nobody panics while holding it");
    titles.sort();
    titles.iter().for_each(|line| println!("{line}"));
    println!("{} pages, {} bytes", summary.fetched, summary.bytes);
    Ok(())
}
