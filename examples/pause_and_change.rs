//! Steers a running crawl: pauses it, changes its delay, asks how it stands, stops it.
//!
//! Run it: `cargo run --example pause_and_change`. The web is on loopback; no network is used.

#![allow(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use std::error::Error;

use larm_core::url::{UrlRules, seed};
use larm_crawl::change::Change;
use larm_crawl::{Crawl, Plan};
use larm_testsite::{TestSite, WebPlan};
use tokio::sync::mpsc;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let site = TestSite::start(WebPlan { hosts: 1, pages_per_host: 50, ..WebPlan::default() })?;
    let temp = tempfile::tempdir()?;
    let start = seed(&site.seeds()[0], &UrlRules::default())?;
    let mut plan = Plan::new(temp.path().join("steered.larm"), vec![start]);
    plan.pace.delay_ms = 200;

    let (seen, mut pages) = mpsc::channel(1);
    let crawl = Crawl::new(plan).on_page(move |visit| {
        let (seen, url) = (seen.clone(), visit.url.to_string());
        // Once the crawl is being stopped, nobody listens any more.
        Box::pin(async move { drop(seen.send(url).await) })
    });
    let running = crawl.start()?;
    let handle = running.handle();

    println!("first: {}", pages.recv().await.unwrap_or_default());
    handle.pause();
    let status = handle.status(1);
    println!("{:?}: {} URLs wait", status.phase, status.frontier.waiting);
    for host in status.frontier.hosts {
        println!("{}: {:?}", host.host, host.standing);
    }

    // Changes are written to the crawl's log: they hold after a restart, too.
    handle.change(Change::Delay(0)).await?;
    handle.resume();
    for _ in 0..20 {
        pages.recv().await;
    }
    handle.stop();
    pages.close();
    let summary = running.wait().await?;
    println!("{:?}: {} fetched, {} still wait", summary.state, summary.fetched, summary.queued);
    Ok(())
}
