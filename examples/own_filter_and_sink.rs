//! A filter and a sink of one's own: leaves out `/view` and writes a CSV file.
//!
//! Run it: `cargo run --example own_filter_and_sink`. The web is on loopback; no network is used.

#![allow(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Arc;

use larm_core::scope::{Filter, Subject, Verdict};
use larm_core::url::{UrlRules, seed};
use larm_core::workbench::Pace;
use larm_crawl::store::{Encoded, Encoder, Flushed, Kept, Position};
use larm_crawl::{Crawl, Error, Plan, Result, Sink, Visit};
use larm_testsite::{TestSite, WebPlan};

struct NoViews;

impl Filter for NoViews {
    fn name(&self) -> &str {
        "no-views"
    }

    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let is_view = subject.url.path() == "/view";
        if is_view { Verdict::reject("no-views", "a view".to_owned()) } else { Verdict::Pass }
    }
}

/// One line per URL. After a crash, `recover` cuts the file back to what the crawl's log knows of.
struct CsvSink(PathBuf, File);

impl Sink for CsvSink {
    fn name(&self) -> &str {
        "csv"
    }

    fn encoder(&self) -> Encoder {
        Arc::new(|visit| format!("{},{}\n", visit.outcome.word(), visit.url).into_bytes().into())
    }

    fn write(&mut self, _: &Visit, line: Encoded, _: &mut Kept) -> Result<()> {
        self.1.write_all(&line.bytes).map_err(Error::io(&self.0))
    }

    fn flush(&mut self) -> Result<Flushed> {
        let synced = self.1.sync_data().and_then(|()| self.1.stream_position());
        let offset = synced.map_err(Error::io(&self.0))?;
        Ok(Position { file: 0, offset }.into())
    }

    fn recover(&mut self, position: Option<Position>) -> Result<()> {
        let end = position.unwrap_or_default().offset;
        let cut = self.1.set_len(end).and_then(|()| self.1.seek(SeekFrom::Start(end)));
        cut.map(drop).map_err(Error::io(&self.0))
    }

    fn finish(&mut self) -> Result<()> {
        self.flush().map(drop)
    }
}

#[tokio::main]
async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let site = TestSite::start(WebPlan { hosts: 1, pages_per_host: 20, ..WebPlan::default() })?;
    let temp = tempfile::tempdir()?;
    let path = temp.path().join("urls.csv");
    let start = seed(&site.seeds()[0], &UrlRules::default())?;
    let mut plan = Plan::new(temp.path().join("own.larm"), vec![start]);
    plan.pace = Pace { delay_ms: 0, address_gap_ms: 0, ..Pace::default() };
    let sink = CsvSink(path.clone(), File::create(&path)?);
    let summary = Crawl::new(plan).filter(NoViews).sink(sink).run().await?;
    print!("{}", std::fs::read_to_string(&path)?);
    println!("links rejected: {:?}", summary.rejected);
    Ok(())
}
