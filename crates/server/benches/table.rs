//! What a page of the grid costs: `cargo bench -p larm-server --bench table -- ROWS`.
//!
//! Writes a crawl log of so many lines as a crawl of many hosts would, reads it into a table, and asks for pages of it.
//! Printed are milliseconds of this thread on a processor, the median of several runs, so that a busy machine does
//! not matter; where the system does not tell, of wall time.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement")]

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use larm_core::{Limits, Millis};
use larm_server::table::{Bounds, Filter, FilterText, PageAsk, Sort, Table};

const RUNS: usize = 9;
const WORDS: [&str; 12] = [
    "news", "about", "products", "archive", "2026", "category", "wing", "item", "search", "press",
    "en", "docs",
];

/// Wall time, and time on a processor where that is known.
type Begin = (Instant, Option<u64>);

fn main() {
    let rows = std::env::args().filter_map(|argument| argument.parse().ok()).next();
    let rows: u64 = rows.unwrap_or(1_000_000);
    let dir = tempfile::tempdir().unwrap();
    let bytes = write_log(dir.path(), rows);
    let bounds = Bounds::of(&Limits::default());
    let mut table = Table::new(dir.path());
    let begin = now();
    table.refresh(&bounds).unwrap();
    println!(
        "{rows} rows, {} MB of log: read in {:.0} ms, {} MB in memory",
        bytes >> 20,
        ms_since(begin),
        table.memory() >> 20
    );
    let begin = now();
    table.refresh(&bounds).unwrap();
    println!("{:>8.2} ms  read on, nothing new", ms_since(begin));
    let none = FilterText::default();
    let asks = [
        ("first page, by time", none.clone(), "at"),
        ("last by time", none.clone(), "-at"),
        ("by URL", none.clone(), "url"),
        ("by URL, falling", none.clone(), "-url"),
        ("by size, falling", none.clone(), "-bytes"),
        ("by type", none.clone(), "type"),
        ("404s by URL", FilterText { status: "404".into(), ..none.clone() }, "url"),
        ("a word, by size", FilterText { q: "products/item".into(), ..none.clone() }, "-bytes"),
        (
            "a rare text, by time",
            FilterText { q: "host17.example/en/wing".into(), ..none.clone() },
            "at",
        ),
        ("a text that is nowhere", FilterText { q: "nowhere-at-all".into(), ..none.clone() }, "at"),
        ("a single letter, by URL", FilterText { q: "e".into(), ..none.clone() }, "url"),
        (
            "host, type and depth",
            FilterText {
                host: "host17.example".into(),
                media: "text/html".into(),
                depth: "3".into(),
                ..none
            },
            "-ms",
        ),
    ];
    for (name, filter, sort) in asks {
        measure(&table, name, &filter, sort);
    }
}

fn measure(table: &Table, name: &str, filter: &FilterText, sort: &str) {
    let ask = PageAsk {
        filter: Filter::parse(filter).unwrap(),
        sort: Sort::parse(sort).unwrap(),
        limit: 50,
        after: None,
    };
    let mut total = 0;
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let begin = now();
            let page = table.page(&ask).unwrap();
            assert_eq!(table.rows(&page.rows).unwrap().len(), page.rows.len());
            total = page.total;
            ms_since(begin)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{:>8.2} ms  {name} ({total} rows)", times[RUNS / 2]);
}

#[expect(clippy::disallowed_methods, reason = "a measurement")]
fn now() -> Begin {
    (Instant::now(), on_processor())
}

/// Nanoseconds of this thread on a processor so far.
fn on_processor() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}

fn ms_since((wall, processor): Begin) -> f64 {
    let spent = on_processor().zip(processor).map(|(now, then)| (now - then) as f64 / 1e6);
    spent.unwrap_or_else(|| wall.elapsed().as_secs_f64() * 1_000.0)
}

/// Lines as a crawl writes them, in the order of a crawl: hosts take turns.
fn write_log(dir: &Path, rows: u64) -> u64 {
    fs::create_dir(dir.join("logs")).unwrap();
    let path = dir.join("logs/crawl.jsonl");
    let mut out = BufWriter::new(File::create(&path).unwrap());
    let mut state = 1_u64;
    let mut dice = |sides: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % sides
    };
    for row in 0..rows {
        let host = dice(500);
        let words: Vec<&str> = (0..2 + dice(3)).map(|_| WORDS[dice(12) as usize]).collect();
        let url = format!(
            "https://www.host{host}.example/{}/{}-{row}.html",
            words.join("/"),
            WORDS[dice(12) as usize]
        );
        let (status, outcome) = match dice(100) {
            0..5 => (404, "fetched"),
            5..12 => (301, "redirected"),
            _ => (200, "fetched"),
        };
        let kind = ["text/html; charset=utf-8", "text/html", "image/png", "application/pdf"]
            [dice(4) as usize];
        writeln!(
            out,
            "{{\"at\":\"{}\",\"url\":\"{url}\",\"outcome\":\"{outcome}\",\"status\":{status},\"depth\":{},\"via\":\"anchor\",\
             \"from\":\"https://www.host{host}.example/{}/\",\"tries\":1,\"bytes\":{},\"type\":\"{kind}\",\"ms\":{},\
             \"first_byte_ms\":{},\"digest\":\"sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5{row:06}\",\"links\":{},\
             \"warc\":\"larm-20261115200001-00000-1a2b3c4d.warc.gz\",\"offset\":{}}}",
            Millis(1_794_772_801_042 + row * 37 + dice(5_000)),
            dice(9),
            words[0],
            300 + dice(200_000),
            20 + dice(900),
            10 + dice(300),
            dice(150),
            row * 12_345,
        )
        .unwrap();
    }
    out.flush().unwrap();
    fs::metadata(path).unwrap().len()
}
