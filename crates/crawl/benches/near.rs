//! What the index of near-duplicates costs: look-ups, bytes per page on disk, memory, the longest
//! checkpoint, and whether all is found that is there.
//!
//! `cargo bench -p larm-crawl --bench near [-- PAGES]`, by default ten million pages. Nine in ten have words
//! of their own; one in ten is two to eight bits away from an earlier one, as pages of one form are. Every
//! page is looked for before it is inserted, as in a crawl. A checkpoint is written every 100,000 pages.
#![expect(clippy::print_stdout, reason = "a bench prints its result")]
#![expect(clippy::disallowed_methods, reason = "a bench measures time")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use larm_core::Limits;
use larm_core::near::Simhash;
use larm_core::url::Fingerprint;
use larm_crawl::disk::RealDisk;
use larm_crawl::frontier::near::{Entry, Names, Near, PageKey};

/// Pages between two checkpoints.
const CHECKPOINT_PAGES: u64 = 100_000;
/// Look-ups at the end, to be timed.
const LOOK_UPS: u64 = 20_000;

fn main() -> larm_crawl::Result<()> {
    let mut numbers = std::env::args().filter_map(|arg| arg.replace('_', "").parse().ok());
    let pages: u64 = numbers.next().unwrap_or(10_000_000);
    let temp = tempfile::tempdir().map_err(larm_crawl::Error::io("a temporary directory"))?;
    let mut crawl = Crawl::begin(open(temp.path(), &Names::default())?);
    crawl.run(pages)?;
    crawl.report(pages, temp.path());
    let start = Instant::now();
    let near = open(temp.path(), &crawl.names)?;
    println!("opened again              {:>10.3} s", start.elapsed().as_secs_f64());
    check(&near, pages)
}

fn open(dir: &Path, names: &Names) -> larm_crawl::Result<Near> {
    Near::open_on(Arc::new(RealDisk), dir, names, &Limits::default())
}

/// A crawl that only compares words, and how long that took.
struct Crawl {
    near: Near,
    names: Names,
    looking: Duration,
    checkpoints: Vec<Duration>,
    found: u64,
}

impl Crawl {
    fn begin(near: Near) -> Self {
        let (names, looking) = (Names::default(), Duration::ZERO);
        Self { near, names, looking, checkpoints: Vec::new(), found: 0 }
    }

    fn run(&mut self, pages: u64) -> larm_crawl::Result<()> {
        let index = self.near.index();
        for number in 0..pages {
            let simhash = simhash_of(number);
            let start = Instant::now();
            let found = index.find(Simhash(simhash))?;
            if found.is_empty() {
                index.insert(entry(number, simhash));
            }
            self.looking += start.elapsed();
            self.found += u64::from(!found.is_empty());
            if (number + 1).is_multiple_of(CHECKPOINT_PAGES) {
                self.checkpoint()?;
            }
        }
        self.checkpoint()
    }

    fn checkpoint(&mut self) -> larm_crawl::Result<()> {
        let start = Instant::now();
        let saved = self.near.begin_checkpoint()?.write()?;
        self.names = saved.names();
        self.near.end_checkpoint(saved)?;
        self.checkpoints.push(start.elapsed());
        Ok(())
    }

    fn report(&self, pages: u64, dir: &Path) {
        let kept = pages - self.found;
        let saving: Duration = self.checkpoints.iter().sum();
        let longest = self.checkpoints.iter().max().copied().unwrap_or_default();
        let per_page = self.looking.as_secs_f64() * 1e6 / pages as f64;
        let bytes = disk_bytes(dir);
        println!("pages, near-duplicates    {pages:>10}, {}", self.found);
        println!("look-up and insert        {per_page:>10.2} µs on average");
        println!("look-up at the end        {:>10.2} µs", self.last_look_ups(pages));
        println!("checkpoints, longest      {:>10.1} s, {longest:.1?}", saving.as_secs_f64());
        println!("files at the end          {:>10}", self.names.len());
        println!("bytes on disk per page    {:>10.1}", bytes as f64 / kept as f64);
        println!("memory, now and peak      {:>10}", memory());
    }

    /// Of pages that nobody has seen.
    fn last_look_ups(&self, pages: u64) -> f64 {
        let start = Instant::now();
        for number in 0..LOOK_UPS {
            let found = self.near.index().find(Simhash(mix(pages * 2 + number)));
            assert!(found.is_ok());
        }
        start.elapsed().as_secs_f64() * 1e6 / LOOK_UPS as f64
    }
}

/// Looks for pages three bits away from some that are there.
fn check(near: &Near, pages: u64) -> larm_crawl::Result<()> {
    let (mut asked, mut missed) = (0, 0);
    for number in (0..pages).step_by(997).filter(|number| is_own(*number)) {
        let bits = mix(number + 1);
        let near_by = [bits, bits >> 8, bits >> 16]
            .iter()
            .fold(mix(number), |simhash, bit| simhash ^ 1 << (bit % 64));
        asked += 1;
        missed += u64::from(near.index().find(Simhash(near_by))?.is_empty());
    }
    println!("looked for, not found     {asked:>10}, {missed}");
    Ok(())
}

/// Nine in ten are like nobody before them; the others are like an earlier one of those.
fn simhash_of(number: u64) -> u64 {
    if is_own(number) {
        return mix(number);
    }
    let of = mix(!number) % number;
    let bits = 2 + mix(number ^ 0xabcd) % 7;
    let of = if is_own(of) { of } else { of - 1 };
    (0..bits).fold(mix(of), |simhash, bit| simhash ^ 1 << (mix(number * 16 + bit) % 64))
}

fn is_own(number: u64) -> bool {
    !number.is_multiple_of(10) || number == 0
}

fn entry(number: u64, simhash: u64) -> Entry {
    let page =
        PageKey { partition: (number % 1_024) as u16, fingerprint: Fingerprint(mix(!number)) };
    Entry { simhash, page }
}

/// A bijection that spreads numbers (SplitMix64's last step).
fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn disk_bytes(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|file| file.len()).sum()
}

/// As the system tells it, where it does.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = |name| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let known = [value("VmRSS:"), value("VmHWM:")].into_iter().flatten();
    known.collect::<Vec<_>>().join(", ")
}
