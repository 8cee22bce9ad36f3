//! What the frontier costs: offers per second, CPU and memory, the longest call, the time to open again.
//!
//! `cargo bench -p larm-crawl --bench frontier -- COMMAND [--NAME N …]`
//!
//! - `offer --offered N --distinct N --hosts N`: links from nowhere, in pages of 70, as seeds come.
//! - `pages --pages N --links 70 --new 10 --hosts N`: leases and settlements in virtual time, each with
//!   links, commits and checkpoints as the writer makes them.
//! - `open DIR`: opens what a run with `--dir DIR` left.
//!
//! `--uniform 1` gives all hosts the same chance; without it they are as popular as hosts of the web are,
//! the k-th 1/k as much as the first. Of links that were seen before, most are from the last pages of the
//! same kind (menus, neighbours), one in six is from anywhere in the crawl. `--dir DIR` keeps the directory.
//! One line of JSON per tenth of the work: `us` is CPU per offer or page since the last line, all threads,
//! the making of URLs aside. `longest_ms`, `gather_ms` and `end_ms` are the longest that the frontier was held: by a
//! call, by the gathering of a checkpoint, which another thread writes, and by taking note of it.
#![expect(clippy::print_stdout, reason = "a bench prints its result")]
#![expect(clippy::disallowed_methods, reason = "a bench measures time")]

mod web;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

use larm_core::digest::{BodyDigest, Sha1Digest};
use larm_core::workbench::{End, Pace};
use larm_core::{Limits, Millis, Outcome};
use larm_crawl::frontier::{
    Candidate, DiskFrontier, Fate, Frontier, Lease, Located, PageRow, Settlement, Written,
};
use larm_crawl::store::WarcRef;

use self::web::Web;

/// As in the program: what is measured is what it would take there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Links of a page.
const PAGE_LINKS: u64 = 70;
/// Pages that are made before their offers are timed.
const BATCH_PAGES: u64 = 16;

fn main() -> larm_crawl::Result<()> {
    let args = Args::read();
    let temp = tempfile::tempdir().map_err(larm_crawl::Error::io("a temporary directory"))?;
    let dir = args.dir.clone().unwrap_or_else(|| temp.path().join("state"));
    match args.command.as_str() {
        "pages" => pages(&args, &dir),
        "open" => open(&dir).map(|_| ()),
        _ => offer(&args, &dir),
    }
}

/// The command line: a command and numbers by name.
struct Args {
    command: String,
    dir: Option<PathBuf>,
    numbers: HashMap<String, u64>,
}

impl Args {
    fn read() -> Self {
        let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
        let command = words.next().unwrap_or_else(|| "offer".to_owned());
        let mut args = Self { command, dir: None, numbers: HashMap::new() };
        while let Some(word) = words.next() {
            match word.strip_prefix("--") {
                Some("dir") => args.dir = words.next().map(PathBuf::from),
                Some(name) => {
                    let number = words.next().and_then(|n| n.replace('_', "").parse().ok());
                    args.numbers.insert(name.to_owned(), number.unwrap_or(1));
                }
                None => args.dir = Some(PathBuf::from(word)),
            }
        }
        args
    }

    fn get(&self, name: &str, default: u64) -> u64 {
        self.numbers.get(name).copied().unwrap_or(default)
    }

    fn limits(&self) -> Arc<Limits> {
        let mut limits = Limits::default();
        for (name, value) in &self.numbers {
            let _ = limits.set(name, *value);
        }
        Arc::new(limits)
    }
}

fn open(dir: &Path) -> larm_crawl::Result<DiskFrontier> {
    let start = (Instant::now(), cpu_seconds());
    let limits = Arc::new(Limits::default());
    let opened = DiskFrontier::open(dir, &limits, pace(), Millis(1_000_000_000_000))?;
    let (wall, cpu) = (start.0.elapsed().as_secs_f64(), cpu_seconds() - start.1);
    let frontier = opened.frontier;
    println!(
        r#"{{"phase":"open","wall_s":{wall:.3},"cpu_s":{cpu:.3},"replayed":{},"known":{},"waiting":{},"hosts":{},{}}}"#,
        opened.replayed,
        frontier.totals().known,
        frontier.waiting(),
        frontier.totals().hosts,
        memory()
    );
    Ok(frontier)
}

fn pace() -> Pace {
    Pace { address_gap_ms: 0, ..Pace::default() }
}

/// Offers links from outside.
fn offer(args: &Args, dir: &Path) -> larm_crawl::Result<()> {
    let offered = args.get("offered", 10_000_000);
    let distinct = args.get("distinct", offered * 15 / 100);
    let mut web = Web::new(args.get("hosts", 100_000), args.get("uniform", 0) == 1);
    let opened = DiskFrontier::open(dir, &args.limits(), pace(), Millis(1))?;
    let mut crawl = Crawl::new(opened.frontier, Millis(1));
    let mut meter = Meter::new("offer", offered);
    let (mut done, mut accepted) = (0, 0);
    while done < offered {
        let mut pages = Vec::new();
        meter.aside(|| {
            for _ in 0..BATCH_PAGES {
                let links = PAGE_LINKS.min(offered - done);
                done += links;
                let known_after = u128::from(done) * u128::from(distinct) / u128::from(offered);
                pages.push(web.page(links, known_after as u64));
            }
        });
        for page in pages {
            let offered = meter.call(|| crawl.frontier.offer(page))?;
            accepted += offered.new + offered.full;
        }
        meter.wait(|| crawl.commit(done / PAGE_LINKS))?;
        meter.report(done);
    }
    assert_eq!(accepted, web.known, "each URL is new once");
    meter.wait(|| crawl.close())?;
    meter.end(dir, &crawl);
    drop(crawl);
    drop(web);
    open(dir).map(|_| ())
}

/// Leases and settles, as a crawl does.
fn pages(args: &Args, dir: &Path) -> larm_crawl::Result<()> {
    let count = args.get("pages", 100_000);
    let (links, new) = (args.get("links", PAGE_LINKS), args.get("new", 10));
    let hosts = args.get("hosts", 10_000);
    let mut web = Web::new(hosts, args.get("uniform", 0) == 1);
    let opened = DiskFrontier::open(dir, &args.limits(), pace(), Millis(1))?;
    let mut crawl = Crawl::new(opened.frontier, Millis(10_000_000));
    let seeds = hosts.min(100_000);
    while web.known < seeds {
        let page = web.page(PAGE_LINKS, (web.known + PAGE_LINKS).min(seeds));
        crawl.frontier.offer(page)?;
    }
    crawl.close()?;
    let mut meter = Meter::new("pages", count);
    let mut done = 0;
    while done < count {
        let mut batch = Vec::new();
        let size = BATCH_PAGES.min(count - done);
        meter.aside(|| (0..size).for_each(|_| batch.push(web.page(links, web.known + new))));
        for offers in batch {
            let lease = meter.call(|| crawl.lease())?;
            let settlement = crawl.settlement(&lease, offers);
            meter.call(|| crawl.frontier.settle(lease, settlement))?;
            done += 1;
            meter.wait(|| crawl.commit(done))?;
        }
        meter.report(done);
    }
    meter.wait(|| crawl.close())?;
    meter.end(dir, &crawl);
    drop(crawl);
    drop(web);
    open(dir).map(|_| ())
}

/// A frontier, the time, and the checkpoint that is being written, as the writer has them.
struct Crawl {
    frontier: DiskFrontier,
    now: Millis,
    commit_at: u64,
    checkpoint: Option<JoinHandle<larm_crawl::Result<Written>>>,
    /// The longest that gathering a checkpoint took, and taking note of one: the frontier is held then,
    /// and not while it is written.
    held: (Duration, Duration),
}

impl Crawl {
    fn new(frontier: DiskFrontier, now: Millis) -> Self {
        Self { frontier, now, commit_at: 0, checkpoint: None, held: Default::default() }
    }

    /// The next lease, however late that is.
    fn lease(&mut self) -> larm_crawl::Result<Lease> {
        loop {
            while let Some(nameless) = self.frontier.nameless(self.now) {
                let address = IpAddr::V4(Ipv4Addr::from(nameless.host.0 as u32));
                self.frontier.named(
                    nameless.host,
                    Ok(Located::at(address, 3_600_000)),
                    self.now,
                )?;
            }
            if let Some(lease) = self.frontier.lease(self.now)? {
                self.frontier.sent(lease.host(), self.now);
                return Ok(lease);
            }
            if self.frontier.wants_checkpoint(self.now) {
                self.begin_checkpoint()?;
                self.end_checkpoint()?;
            }
            let due = self.frontier.next_due(self.now);
            self.now = due.unwrap_or(self.now.after(100)).max(self.now.after(1));
        }
    }

    fn settlement(&self, lease: &Lease, offers: Vec<Candidate>) -> Settlement {
        let url = lease.url().as_str();
        let row = PageRow {
            url: url.into(),
            outcome: Outcome::Fetched { status: 200 },
            at: self.now,
            depth: lease.item().depth,
            via: lease.item().via,
            parent: lease.item().parent.clone(),
            tries: 0,
            bytes: 30_000,
            content_type: Some("text/html; charset=utf-8".into()),
            digest: Some(BodyDigest::of(url.as_bytes())),
            payload_digest: Some(Sha1Digest::of(url.as_bytes())),
            same_as: None,
            likeness: None,
            warc: Some(WarcRef {
                file: 7,
                name: "larm-20261115200001-00007-abcdef.warc.gz".into(),
                offset: 123_456_789,
                bytes: 9_000,
            }),
            facts: Vec::new(),
            notes: Vec::new(),
        };
        let (links, rejected) = (offers.len() as u32, vec![("scope".to_owned(), 12)]);
        Settlement {
            end: End::Answered { response_ms: 20 },
            offers,
            links,
            rejected,
            ..Settlement::unused(self.now, Fate::Done(Box::new(row)))
        }
    }

    /// Every 250 pages, a tenth of a second at the speed that this is for, and checkpoints when due.
    fn commit(&mut self, done: u64) -> larm_crawl::Result<()> {
        if done < self.commit_at {
            return Ok(());
        }
        self.commit_at = done + 250;
        if let Some(sealed) = self.frontier.seal(Vec::new())? {
            sealed.sync()?;
        }
        self.look_after_disk()
    }

    /// Ends a checkpoint that is written, and begins one that is due.
    fn look_after_disk(&mut self) -> larm_crawl::Result<()> {
        let is_due = self.frontier.wants_checkpoint(self.now);
        if is_due || self.checkpoint.as_ref().is_some_and(JoinHandle::is_finished) {
            self.end_checkpoint()?;
        }
        if is_due { self.begin_checkpoint() } else { Ok(()) }
    }

    fn begin_checkpoint(&mut self) -> larm_crawl::Result<()> {
        self.end_checkpoint()?;
        if let Some(sealed) = self.frontier.seal(Vec::new())? {
            sealed.sync()?;
        }
        let start = Instant::now();
        let checkpoint = self.frontier.begin_checkpoint(self.now)?;
        self.held.0 = self.held.0.max(start.elapsed());
        self.checkpoint = checkpoint.map(|checkpoint| spawn(|| checkpoint.write()));
        Ok(())
    }

    fn end_checkpoint(&mut self) -> larm_crawl::Result<()> {
        let Some(checkpoint) = self.checkpoint.take() else { return Ok(()) };
        let written = checkpoint.join().expect("a checkpoint does not panic")?;
        let start = Instant::now();
        self.frontier.end_checkpoint(written, self.now)?;
        self.held.1 = self.held.1.max(start.elapsed());
        Ok(())
    }

    fn close(&mut self) -> larm_crawl::Result<()> {
        self.begin_checkpoint()?;
        self.end_checkpoint()
    }
}

/// Time spent in calls, and CPU of the process but for what was done aside.
struct Meter {
    phase: &'static str,
    total: u64,
    reported: u64,
    wall: Duration,
    longest: Duration,
    longest_ever: Duration,
    aside_s: f64,
    last: (f64, Duration),
    begin: f64,
}

impl Meter {
    fn new(phase: &'static str, total: u64) -> Self {
        let zero = Duration::ZERO;
        let begin = cpu_seconds();
        Self {
            phase,
            total,
            reported: 0,
            wall: zero,
            longest: zero,
            longest_ever: zero,
            aside_s: 0.0,
            last: (begin, zero),
            begin,
        }
    }

    fn call<T>(&mut self, call: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let answer = call();
        let took = start.elapsed();
        self.wall += took;
        self.longest = self.longest.max(took);
        self.longest_ever = self.longest_ever.max(took);
        answer
    }

    /// Work during which the frontier is not held, but for moments that are measured one by one.
    fn wait<T>(&mut self, call: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let answer = call();
        self.wall += start.elapsed();
        answer
    }

    /// Work of the bench itself.
    fn aside<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let before = thread_seconds();
        let made = work();
        self.aside_s += thread_seconds() - before;
        made
    }

    fn cpu(&self) -> f64 {
        cpu_seconds() - self.aside_s
    }

    fn report(&mut self, done: u64) {
        if done < self.reported + self.total / 10 && done < self.total {
            return;
        }
        let (cpu, wall) = (self.cpu(), self.wall);
        let count = (done - self.reported) as f64;
        println!(
            r#"{{"phase":"{}","done":{done},"us":{:.3},"wall_us":{:.3},"longest_ms":{:.1},{}}}"#,
            self.phase,
            (cpu - self.last.0) / count * 1e6,
            (wall - self.last.1).as_secs_f64() / count * 1e6,
            self.longest.as_secs_f64() * 1e3,
            memory()
        );
        self.reported = done;
        self.last = (cpu, wall);
        self.longest = Duration::ZERO;
    }

    fn end(&self, dir: &Path, crawl: &Crawl) {
        let Crawl { frontier, held: (gather, end), .. } = crawl;
        let (gather, end) = (gather.as_secs_f64() * 1e3, end.as_secs_f64() * 1e3);
        let cpu = self.cpu() - self.begin;
        let (wall, count) = (self.wall.as_secs_f64(), self.total as f64);
        println!(
            r#"{{"phase":"{}","total":{},"wall_s":{wall:.1},"cpu_s":{cpu:.1},"us":{:.3},"per_second":{:.0},"longest_ms":{:.1},"gather_ms":{gather:.1},"end_ms":{end:.1},"known":{},"waiting":{},"hosts":{},"disk_mb":{},{}}}"#,
            self.phase,
            self.total,
            cpu / count * 1e6,
            count / wall,
            self.longest_ever.as_secs_f64() * 1e3,
            frontier.totals().known,
            frontier.waiting(),
            frontier.totals().hosts,
            disk_bytes(dir) / 1_000_000,
            memory()
        );
    }
}

/// CPU time of this process so far, in seconds: all threads, user and system.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split(' ').collect();
    let ticks = |at: usize| fields.get(at).and_then(|n| n.parse::<f64>().ok()).unwrap_or_default();
    (ticks(12) + ticks(13)) / 100.0
}

/// CPU time of this thread so far, in seconds.
fn thread_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = stat.split(' ').next().and_then(|n| n.parse::<f64>().ok());
    ns.unwrap_or_default() / 1e9
}

fn disk_bytes(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(file) if file.is_dir() => disk_bytes(&entry.path()),
        Ok(file) => file.len(),
        Err(_) => 0,
    });
    bytes.sum()
}

/// As the system tells it, where it does.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kb: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
        Some(kb / 1024)
    };
    let (rss, peak) = (value("VmRSS:").unwrap_or_default(), value("VmHWM:").unwrap_or_default());
    format!(r#""rss_mb":{rss},"peak_mb":{peak}"#)
}
