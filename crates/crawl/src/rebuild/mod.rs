//! `larm rebuild`: index, graph, pages and CDXJ anew, from the archive alone, without a request.
//!
//! The archive is read twice. First every record is looked at: its line goes into the index, and its URL
//! is noted. Then every answer goes through the end of the line, as if it had just come, and into new
//! sinks. What is made grows on a stage beside the crawl, and takes its place at the end.
//!
//! The state of a crawl knows more than its archive: what failed, what was refused, what waits. Where it
//! can be read it is kept, and where not, it is made anew from the archive too. Then the pages and their
//! links are known again, and what never came to the archive is not.

mod capture;
mod flight;
mod in_place;
mod index;
pub mod stage;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use larm_core::url::{self, CrawlUrl, UrlRules};
use larm_core::via::Via;
use larm_core::{Fact, Limits, Protocol, Truncated};
use serde::Serialize;

use self::capture::{Capture, Captures};
use self::flight::Flight;
use self::in_place::InPlace;
use self::index::IndexBuilder;
use crate::changes::FILE_NAME;
use crate::clock::Clock;
use crate::crawl::{Crawl, Parts};
use crate::directory::Directory;
use crate::error::{Error, Result};
use crate::fetch::{ArchivedResponse, archived_response};
use crate::frontier::{Candidate, DiskFrontier, Errand, Positions};
use crate::housekeeping::Housekeeper;
use crate::line::{Archived, Line};
use crate::pipeline;
use crate::plan::{Keep, Plan};
use crate::store::durable;
use crate::store::summary::State;
use crate::store::warc::{FileName, WarcReader};
use crate::store::{Position, Sink};

pub use capture::{Damage, is_archive, list};

/// Fingerprints noted between two checkpoints.
const FORESEEN_BATCH: usize = 250_000;

/// A crawl directory to be made anew from its archive.
pub struct Rebuild {
    plan: Plan,
    sinks: Vec<Box<dyn Sink>>,
    from_archive_alone: bool,
}

/// What a rebuild came to.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Rebuilt {
    /// Archive files read.
    pub files: u64,
    /// Answers in them.
    pub captures: u64,
    /// Pages and other answers that went through the line.
    pub restored: u64,
    /// Answers that did not, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Records that are no answers, by type.
    pub others: BTreeMap<String, u64>,
    /// Where a file could not be read, and where it could again.
    pub damaged: Vec<String>,
    /// Whether the state was made anew as well.
    pub state_rebuilt: bool,
    /// Why, if it was.
    pub state_reason: Option<String>,
    /// URLs that wait.
    pub waiting: u64,
}

impl Rebuilt {
    fn skip(&mut self, why: &str) {
        *self.skipped.entry(why.to_owned()).or_default() += 1;
    }

    fn look_back(&mut self, captures: Captures) {
        let passed_over = captures.passed_over();
        if passed_over > 0 {
            *self.skipped.entry("longer than may be read".to_owned()).or_default() += passed_over;
        }
        for (kind, count) in captures.others {
            *self.others.entry(kind).or_default() += count;
        }
        self.damaged.extend(captures.damages.iter().map(ToString::to_string));
    }
}

impl Rebuild {
    /// A rebuild of the crawl in the plan's directory. Its sinks are those of the plan.
    pub fn new(plan: Plan) -> Self {
        Self { plan, sinks: Vec::new(), from_archive_alone: false }
    }

    /// Where the new parts grow: sinks of one's own write there.
    pub fn stage(&self) -> PathBuf {
        stage::growing(&self.plan.dir)
    }

    /// Adds a sink behind those of the plan.
    pub fn sink(mut self, sink: Box<dyn Sink>) -> Self {
        self.sinks.push(sink);
        self
    }

    /// Makes the state anew, too, even if it can be read.
    pub fn from_archive_alone(mut self, alone: bool) -> Self {
        self.from_archive_alone = alone;
        self
    }

    /// Does it.
    pub async fn run(self) -> Result<Rebuilt> {
        let directory = Directory::adopt(&self.plan.dir)?;
        let dir = self.plan.dir.clone();
        let files = list(&dir.join("warc"))?;
        if files.is_empty() {
            let warc = dir.join("warc");
            return Err(Error::Directory(format!("{}: there is no archive in it", warc.display())));
        }
        let stage = stage::begin(&dir)?;
        let (positions, reason) = self.take_state(&directory, &stage, &files)?;
        let mut report = Rebuilt { files: files.len() as u64, ..Rebuilt::default() };
        (report.state_rebuilt, report.state_reason) = (reason.is_some(), reason);
        let archive =
            Archive { files, crawl_id: directory.crawl_id().to_owned(), dir: dir.clone() };
        let parts = self.assemble(&stage, positions)?;
        let shared = parts.shared.clone();
        // Links are read again: what was changed while the crawl ran decides over them, too.
        let changes = shared.changes.lock().unwrap_or_else(PoisonError::into_inner).all();
        shared.rules.revise(&changes)?;
        let limits = parts.line.limits.clone();
        let report = archive.restore(parts, &stage, report).await?;
        stage::finish(&dir)?;
        if report.state_rebuilt {
            Housekeeper::new(&dir, 0, &limits)?.write_summary(&shared, State::Finished, None)?;
        }
        Ok(report)
    }

    /// Puts the state onto the stage, or what is needed to begin a new one; and how far each sink is that
    /// is not made anew. The reason is given if the state has to be made anew, too.
    fn take_state(
        &self,
        directory: &Directory,
        stage: &Path,
        files: &[PathBuf],
    ) -> Result<(Positions, Option<String>)> {
        let old = directory.state();
        let reason = match self.old_positions(&old) {
            Ok(Some(positions)) => {
                stage::copy_all(&old, &stage.join("state"))?;
                return Ok((positions, None));
            }
            Ok(None) if self.from_archive_alone => "as was asked".to_owned(),
            Ok(None) => "there was none".to_owned(),
            Err(error) => format!("it cannot be read: {error}"),
        };
        durable::create_dir(&stage.join("state"))?;
        for file in ["format.json", "cookies.txt", FILE_NAME] {
            let from = old.join(file);
            if from.is_file() {
                std::fs::copy(&from, stage.join("state").join(file)).map_err(Error::io(&from))?;
            }
        }
        Ok((positions_of(directory, files)?, Some(reason)))
    }

    /// The positions that the state knows, if there is one that can be read.
    fn old_positions(&self, state: &Path) -> Result<Option<Positions>> {
        if self.from_archive_alone || !state.join("store").is_dir() {
            return Ok(None);
        }
        let limits = Arc::new(self.plan.limits.clone());
        let now = Clock::start().now();
        let opened = DiskFrontier::open(state, &limits, self.plan.pace, now)?;
        Ok(opened.resumed.then_some(opened.positions))
    }

    fn assemble(self, stage: &Path, positions: Positions) -> Result<Parts> {
        assemble(self.plan, self.sinks, stage, positions, &["pages", "link-log"])
    }
}

/// Puts together what writes onto a stage: sinks of the plan that are made `anew`, and sinks of one's own. Archive
/// and log, and whatever else is not made anew, keep their positions.
pub(crate) fn assemble(
    mut plan: Plan,
    sinks: Vec<Box<dyn Sink>>,
    stage: &Path,
    positions: Positions,
    anew: &[&str],
) -> Result<Parts> {
    plan.dir = stage.to_owned();
    plan.keep = Keep { warc: false, log: false, ..plan.keep };
    // Hosts are not asked, so there is nothing to find out about them.
    (plan.probe, plan.cookie_jar) = (false, None);
    let anew = |name: &str| anew.contains(&name) || sinks.iter().any(|sink| sink.name() == name);
    let stay: Vec<InPlace> = positions
        .into_iter()
        .filter(|(name, _)| !anew(name))
        .map(|(name, position)| InPlace::new(name, position))
        .collect();
    let mut crawl = Crawl::new(plan);
    for sink in stay {
        crawl = crawl.sink(sink);
    }
    crawl.boxed_sinks(sinks).assemble_anew()
}

/// How far archive and log are, by their files: what the state would know.
fn positions_of(directory: &Directory, files: &[PathBuf]) -> Result<Positions> {
    let size = |path: &Path| std::fs::metadata(path).map(|data| data.len()).unwrap_or_default();
    let ours = files.iter().filter_map(|path| {
        let name = FileName::parse(path.file_name()?.to_str()?, directory.crawl_id())?;
        Some((name.number, path))
    });
    let warc = ours
        .max_by_key(|(number, _)| *number)
        .map(|(file, path)| Position { file, offset: size(path) });
    let log = directory.path().join("logs").join("crawl.jsonl");
    let log = Position { file: 0, offset: size(&log) };
    Ok(vec![("warc".to_owned(), warc.unwrap_or_default()), ("log".to_owned(), log)])
}

/// The archive that is read.
pub(crate) struct Archive {
    /// Its files.
    pub files: Vec<PathBuf>,
    /// The crawl whose own they may be.
    pub crawl_id: String,
    /// The directory with `warc/` in it.
    pub dir: PathBuf,
}

impl Archive {
    /// Sends all of it through the end of the line, onto a stage.
    pub async fn restore(&self, parts: Parts, stage: &Path, report: Rebuilt) -> Result<Rebuilt> {
        let mut work = Work { archive: self, line: parts.line, report };
        let limits = work.line.limits.clone();
        let cdx = stage.join("cdx");
        durable::create_dir(&cdx)?;
        let rules = parts.url_rules;
        work.index(&cdx, &rules, &limits)?;
        let mut writer = parts.writer;
        writer.begin()?;
        let writer = crate::crawl::beside(writer, parts.directory);
        let read = work.read_all(&rules, &limits).await;
        let Work { line, mut report, .. } = work;
        drop(line);
        let written = writer.await;
        written.unwrap_or_else(|_| Err(Error::Stopped("the writer panicked".into())))?;
        read?;
        report.waiting = parts.shared.frontier.look().waiting();
        Ok(report)
    }
}

/// A rebuild under way.
struct Work<'a> {
    archive: &'a Archive,
    line: Arc<Line>,
    report: Rebuilt,
}

impl Work<'_> {
    /// First reading: the index of each file, and which URLs there are.
    fn index(&mut self, cdx: &Path, rules: &UrlRules, limits: &Limits) -> Result<()> {
        let mut urls = Vec::new();
        for file in &self.archive.files {
            let mut index = IndexBuilder::new(cdx, file, limits);
            for capture in Captures::open(file, &self.archive.crawl_id, limits)? {
                let url = index.add(&capture?, rules)?;
                // A state that is kept knows them.
                let url = url.filter(|_| self.report.state_rebuilt);
                urls.extend(url.map(|url| url.fingerprint()));
                if urls.len() >= FORESEEN_BATCH {
                    self.foresee(&mut urls)?;
                }
            }
            index.finish()?;
        }
        if urls.is_empty() { Ok(()) } else { self.foresee(&mut urls) }
    }

    fn foresee(&self, urls: &mut Vec<url::Fingerprint>) -> Result<()> {
        let mut frontier = self.line.frontier.hold()?;
        frontier.foresee(urls)?;
        urls.clear();
        // What has to be sealed first is the beginning of this run.
        if let Some(sealed) = frontier.seal(Vec::new())? {
            sealed.sync()?;
        }
        frontier.checkpoint(self.line.clock.now())
    }

    /// Second reading: every answer through the end of the line.
    async fn read_all(&mut self, rules: &UrlRules, limits: &Limits) -> Result<()> {
        let mut flight = Flight::new(limits);
        for file in &self.archive.files.clone() {
            let mut captures = Captures::open(file, &self.archive.crawl_id, limits)?;
            for capture in captures.by_ref() {
                self.take(capture?, rules, limits, &mut flight).await?;
            }
            self.report.look_back(captures);
        }
        flight.land_all().await
    }

    async fn take(
        &mut self,
        capture: Capture,
        rules: &UrlRules,
        limits: &Limits,
        flight: &mut Flight,
    ) -> Result<()> {
        if capture.lookup().is_some() {
            *self.report.others.entry("dns".to_owned()).or_default() += 1;
            return Ok(());
        }
        self.report.captures += 1;
        let Some(url) = url_of(&capture, rules) else {
            self.report.skip("not a URL of the web");
            return Ok(());
        };
        let via = capture.note("found").and_then(Via::from_word).unwrap_or(Via::Seed);
        if via == Via::Probe || is_question(&url) {
            self.report.skip("a question of the crawl itself, such as robots.txt");
            return Ok(());
        }
        if !flight.takes(url.fingerprint()) {
            self.settle(flight).await?;
        }
        if self.is_older(&capture, &url)? {
            self.report.skip("an older version of what is there");
            return Ok(());
        }
        let fingerprint = url.fingerprint();
        let candidate = candidate(&capture, url, via);
        let place = capture.place.clone();
        let original = self.original(&capture, limits, flight).await?;
        let Some(fetched) = archived_response(response(capture, original)) else {
            self.report.skip("not an answer that HTTP knows");
            return Ok(());
        };
        let lease = self.line.frontier.hold()?.adopt(candidate);
        let (line, bytes) = (self.line.clone(), fetched.raw.len() as u64);
        self.report.restored += 1;
        let archived = Archived { fetched, place };
        flight
            .start(
                fingerprint,
                bytes,
                async move { pipeline::restore(&line, lease, archived).await },
            )
            .await
    }

    /// Whether a later answer of the same URL was read before. A state that is kept knows which one counts.
    fn is_older(&self, capture: &Capture, url: &CrawlUrl) -> Result<bool> {
        if !self.report.state_rebuilt {
            return Ok(false);
        }
        let row = self.line.frontier.look().page(url)?;
        Ok(row.is_some_and(|row| row.at > capture.at()))
    }

    /// Waits until all that is under way has gone through the line, and the writer has settled it.
    async fn settle(&self, flight: &mut Flight) -> Result<()> {
        flight.land_all().await?;
        flight.forget();
        let now = self.line.clock.now();
        while self.line.frontier.look().status(now, 0).leased > 0 {
            self.line.wake.notified().await;
        }
        Ok(())
    }

    /// The payload of what a revisit stands for.
    async fn original(
        &mut self,
        capture: &Capture,
        limits: &Limits,
        flight: &mut Flight,
    ) -> Result<Option<Vec<u8>>> {
        if capture.answer.kind() != "revisit" {
            return Ok(None);
        }
        let original = capture.answer.field("WARC-Refers-To-Target-URI");
        let original = original.and_then(CrawlUrl::from_canonical);
        let Some(original) = original else { return Ok(None) };
        let mut row = self.line.frontier.look().page(&original)?;
        if row.is_none() {
            self.settle(flight).await?;
            row = self.line.frontier.look().page(&original)?;
        }
        let Some(place) = row.and_then(|row| row.warc) else {
            self.report.skip("the payload of a copy, since its original is not there");
            return Ok(None);
        };
        let path = self.archive.dir.join("warc").join(&*place.name);
        let record = WarcReader::open(path, limits)?.record_at(place.offset)?;
        Ok(Some(record.payload().to_vec()))
    }
}

/// The URL of a capture, as this crawl would write it.
fn url_of(capture: &Capture, rules: &UrlRules) -> Option<CrawlUrl> {
    let target = capture.answer.target()?;
    if let Some(url) = CrawlUrl::from_canonical(target) {
        return Some(url);
    }
    let url = url::resolve(target, None, None).ok()?;
    url::canonicalise(url, rules).ok()
}

/// What a crawl asks for on its own behalf.
fn is_question(url: &CrawlUrl) -> bool {
    matches!(url.path_and_query(), "/robots.txt" | "/.well-known/tdmrep.json")
}

fn candidate(capture: &Capture, url: CrawlUrl, via: Via) -> Candidate {
    let depth = capture.number("depth").and_then(|depth| u32::try_from(depth).ok());
    let is_sitemap = matches!(via, Via::SitemapIndex | Via::Robots);
    Candidate {
        url,
        depth: depth.unwrap_or_default(),
        via,
        parent: capture.note("via").map(Into::into),
        redirects: 0,
        errand: if is_sitemap { Errand::Sitemap } else { Errand::Page },
    }
}

/// The capture's answer, with the payload of what it stands for, if it stands for another.
fn response(capture: Capture, original: Option<Vec<u8>>) -> ArchivedResponse {
    let times = ["connectTimeMs", "firstByteTimeMs", "fetchTimeMs"];
    let times_ms = times.map(|name| capture.number(name));
    let facts = capture.facts().map(|(name, value)| Fact::new(name, value)).collect();
    let at = capture.at();
    let record = &capture.answer;
    let is_revisit = record.kind() == "revisit";
    let truncated = record.field("WARC-Truncated").filter(|_| !is_revisit).map(|word| match word {
        "time" => Truncated::Time,
        "disconnect" => Truncated::Disconnect,
        "length" => Truncated::Length,
        _ => Truncated::Unwanted,
    });
    let protocol = match record.field("WARC-Protocol") {
        Some("h2") => Protocol::Http2,
        _ if record.target().is_some_and(|target| target.starts_with("file:")) => Protocol::File,
        _ => Protocol::Http1,
    };
    let (head, payload) = match record.http() {
        Some((head, payload)) => (head.to_vec(), payload.to_vec()),
        None => (Vec::new(), record.block.clone()),
    };
    ArchivedResponse {
        content_type: record.field("Content-Type").filter(|_| head.is_empty()).map(str::to_owned),
        head,
        payload: original.unwrap_or(payload),
        request: capture.request,
        protocol,
        at,
        times_ms,
        truncated,
        facts,
    }
}
