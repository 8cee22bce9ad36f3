//! `web`: serves the synthetic web until it is told to stop, then prints what was asked for.
//!
//! Prints `{"ready":…}` once it listens. Stops at SIGTERM, SIGINT, or when the pipe that is its standard
//! input closes, and prints one line of JSON. `--seeds` prints the URLs of all hosts instead and ends.

use std::os::unix::fs::FileTypeExt;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use larm_bench::Result;
use larm_bench::block::ratio;
use larm_bench::latency::Plan;
use larm_bench::ledger::Ledger;
use larm_bench::serve::{Shared, listen, serve};
use larm_bench::web::{Resource, Scratch, Spec, Web, address};
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

/// A synthetic web on loopback
#[derive(Parser)]
struct Options {
    #[command(flatten)]
    spec: Spec,
    /// Threads that serve
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Hold every answer back so long
    #[arg(long, default_value_t = 0)]
    latency_ms: u64,
    /// Latencies one after the other, again and again, such as 50ms:10s,0ms:10s
    #[arg(long, conflicts_with = "latency_ms")]
    latency_plan: Option<Plan>,
    /// Print the URL of every host, and end
    #[arg(long)]
    seeds: bool,
}

fn main() -> Result<()> {
    let options = Options::parse();
    if options.seeds {
        let port = options.spec.port;
        (0..options.spec.hosts).for_each(|host| println!("http://{}:{port}/", address(host)));
        return Ok(());
    }
    let latency = Plan::constant(Duration::from_millis(options.latency_ms));
    let web = Web::new(options.spec)?;
    let ledger = Ledger::new(web.spec().hosts * web.spec().pages);
    let shared = Shared { web, ledger, latency: options.latency_plan.unwrap_or(latency) };
    let shared = Arc::new(shared);
    for _ in 0..options.threads.max(1) {
        let (listener, shared) = (listen(shared.web.spec().port)?, shared.clone());
        let runtime = Builder::new_current_thread().enable_all().build()?;
        std::thread::spawn(move || runtime.block_on(serve(listener, shared)));
    }
    println!("{}", example(&shared.web));
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(stop())?;
    println!("{}", shared.ledger.report());
    // The thread that reads standard input cannot be woken: leave without it.
    std::process::exit(0)
}

/// What one page is like, as the line that says that we are ready.
fn example(web: &Web) -> serde_json::Value {
    let mut scratch = Scratch::default();
    let page = web.answer((0, Resource::Page(1)), false, &mut scratch).concat();
    let (links, _) = larm_bench::scan::digest(&page);
    let gzip = if web.spec().gzip {
        web.answer((0, Resource::Page(1)), true, &mut scratch).concat().len()
    } else {
        0
    };
    json!({
        "ready": true,
        "port": web.spec().port,
        "pages": web.spec().pages,
        "bytes": page.len(),
        "gzip_bytes": gzip,
        "links": links,
        "ratio_1": ratio(&page, 1),
    })
}

/// Waits for the end.
async fn stop() -> Result<()> {
    let mut terminated = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;
    let pipe = std::fs::metadata("/dev/stdin").is_ok_and(|file| file.file_type().is_fifo());
    let closed = async {
        let mut rest = Vec::new();
        let _ = tokio::io::stdin().read_to_end(&mut rest).await;
    };
    tokio::select! {
        _ = terminated.recv() => {}
        _ = interrupted.recv() => {}
        () = closed, if pipe => {}
    }
    Ok(())
}
