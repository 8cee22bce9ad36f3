//! What an order costs where much waits: URLs of one host, worked out anew again and again while they are
//! leased.
//!
//! `cargo bench -p larm-crawl --bench order [-- URLS [LEASES]]`, by default a million and 20,000. Every
//! computation changes the worth of all URLs. Told are the longest call of `lease`, which holds the frontier, and
//! what leases and computations cost; before it the same breadth first.
#![expect(clippy::print_stdout, reason = "a bench prints its result")]
#![expect(clippy::disallowed_methods, reason = "a bench measures time")]

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use larm_core::order::{Facts, Leads, Score};
use larm_core::url::CrawlUrl;
use larm_core::via::Via;
use larm_core::workbench::Pace;
use larm_core::{Limits, Millis};
use larm_crawl::frontier::{
    Board, Candidate, DiskFrontier, Errand, Fate, Frontier, Located, Settlement,
};
use larm_crawl::order::{News, Ranker};

/// As in the program: what is measured is what it would take there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// URLs that are offered at a time.
const BATCH: u64 = 10_000;
const NOW: Millis = Millis(1_000_000);

/// All pages have another worth after every computation.
#[derive(Default)]
struct Restless(u64);

impl Score for Restless {
    fn found(&mut self, _: u32, _: &Facts<'_>) {}

    fn fetched(&mut self, _: &Leads<'_>, _: &mut Vec<u32>) {}

    fn worth(&self, page: u32) -> f32 {
        let mixed = (u64::from(page) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ (self.0 << 20));
        1.0 + (mixed >> 40) as f32
    }

    fn is_due(&self) -> bool {
        true
    }

    fn refresh(&mut self) {
        self.0 += 1;
    }
}

fn main() -> larm_crawl::Result<()> {
    let mut numbers = std::env::args().filter_map(|arg| arg.replace('_', "").parse().ok());
    let urls: u64 = numbers.next().unwrap_or(1_000_000);
    let leases: u64 = numbers.next().unwrap_or(20_000);
    let temp = tempfile::tempdir().map_err(larm_crawl::Error::io("a temporary directory"))?;
    for ordered in [false, true] {
        let name = if ordered { "by worth" } else { "breadth first" };
        let mut bench = Bench::begin(&temp.path().join(name), ordered)?;
        bench.fill(urls)?;
        println!("{name}: {urls} URLs of one host wait");
        bench.lease_many(leases)?;
    }
    Ok(())
}

struct Bench {
    frontier: DiskFrontier,
    ranker: Option<Ranker>,
}

impl Bench {
    fn begin(dir: &Path, ordered: bool) -> larm_crawl::Result<Self> {
        let limits = Arc::new(Limits { host_urls_max: 100_000_000, ..Limits::default() });
        let pace = Pace { delay_ms: 0, address_gap_ms: 0, response_factor: 0, ..Pace::default() };
        let mut frontier = DiskFrontier::open(dir, &limits, pace, NOW)?.frontier;
        let board = ordered.then(|| Arc::new(Board::new(&limits, "restless".to_owned(), false)));
        board.iter().for_each(|board| frontier.follow(board.clone()));
        let ranker = board.map(|board| Ranker::new(Box::new(Restless::default()), board));
        Ok(Self { frontier, ranker })
    }

    fn fill(&mut self, urls: u64) -> larm_crawl::Result<()> {
        for begin in (0..urls).step_by(BATCH as usize) {
            let batch = (begin..urls.min(begin + BATCH)).map(candidate);
            self.frontier.offer(batch.collect())?;
            self.hear();
            self.commit()?;
            if self.frontier.wants_checkpoint(NOW) {
                self.frontier.checkpoint(NOW)?;
            }
        }
        self.frontier.checkpoint(NOW)?;
        while let Some(nameless) = self.frontier.nameless(NOW) {
            let address = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
            self.frontier.named(nameless.host, Ok(Located::at(address, 1 << 40)), NOW)?;
        }
        Ok(())
    }

    fn hear(&mut self) {
        let waits = self.frontier.take_waits();
        if let Some(ranker) = &mut self.ranker {
            ranker.hear(&News { waits, ..News::default() });
        }
    }

    fn commit(&mut self) -> larm_crawl::Result<()> {
        self.frontier.seal(Vec::new())?.map_or(Ok(()), |sealed| sealed.sync())
    }

    /// Leases and settles, while another thread works out the order again and again.
    fn lease_many(&mut self, leases: u64) -> larm_crawl::Result<()> {
        let (is_over, cpu) = (AtomicBool::new(false), cpu_seconds());
        let ranker = self.ranker.take();
        let (times, rounds) = std::thread::scope(|scope| {
            let ranking = ranker.map(|ranker| scope.spawn(|| rank(ranker, &is_over)));
            let times = self.lease_each(leases);
            is_over.store(true, Ordering::Relaxed);
            (times, ranking.map(|ranking| ranking.join().expect("it does not panic")))
        });
        let (mut times, cpu) = (times?, cpu_seconds() - cpu);
        times.sort_unstable();
        let at =
            |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
        let (median, last, longest) = (at(0.5), at(0.999), at(1.0));
        println!("  a lease: median {median:.3} ms, 99.9 % {last:.3} ms, longest {longest:.3} ms");
        for round in rounds.unwrap_or_default() {
            println!("  all worths anew in {:.0} ms", round.as_secs_f64() * 1e3);
        }
        println!("  {:.2} s of CPU in all, for {} leases", cpu, times.len());
        Ok(())
    }

    fn lease_each(&mut self, leases: u64) -> larm_crawl::Result<Vec<Duration>> {
        let mut times = Vec::new();
        for turn in 0..leases {
            let start = Instant::now();
            let lease = self.frontier.lease(NOW)?;
            times.push(start.elapsed());
            let Some(lease) = lease else { break };
            self.frontier.settle(lease, Settlement::unused(NOW, Fate::Errand))?;
            if turn % 500 == 0 {
                self.commit()?;
            }
        }
        Ok(times)
    }
}

fn rank(mut ranker: Ranker, is_over: &AtomicBool) -> Vec<Duration> {
    let mut rounds = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let start = Instant::now();
        ranker.catch_up();
        rounds.push(start.elapsed());
    }
    rounds
}

fn candidate(number: u64) -> Candidate {
    let text = format!("http://one.example/section/{}/page-{number}.html", number % 97);
    Candidate {
        url: CrawlUrl::from_canonical(&text).expect("a canonical URL"),
        depth: 1 + (number % 5) as u32,
        via: Via::Anchor,
        parent: Some("http://one.example/section/index.html".into()),
        redirects: 0,
        errand: Errand::Page,
    }
}

/// User and system time of this process.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    ticks / 100.0
}
