//! What the seen set costs: offers per second, bytes per url on disk, memory, the longest
//! checkpoint.
//!
//! `cargo bench -p larm-crawl --bench sieve [-- OFFERED DISTINCT]`, by default ten million links of
//! which 1.5 million are distinct. Pages of 70 links are offered one by one: a share that makes up
//! the distinct number is new, half of the rest is from the last pages (menus, neighbours), half is
//! from anywhere in the crawl so far. A checkpoint is written, and synced, every 50,000 new urls.
#![expect(clippy::print_stdout, reason = "a bench prints its result")]
#![expect(clippy::disallowed_methods, reason = "a bench measures time")]

use std::time::{Duration, Instant};

use larm_core::Limits;
use larm_crawl::frontier::sieve::{RunName, Sieve};

const PAGE_LINKS: u64 = 70;
/// Urls among which links repeat from page to page.
const NEAR_URLS: u64 = 2_000;

fn main() -> larm_crawl::Result<()> {
    let mut numbers = std::env::args().filter_map(|arg| arg.replace('_', "").parse().ok());
    let offered = numbers.next().unwrap_or(10_000_000);
    let distinct = numbers.next().unwrap_or(1_500_000);
    let temp = tempfile::tempdir().map_err(larm_crawl::Error::io("a temporary directory"))?;
    let limits = Limits::default();

    let mut crawl = Crawl::begin(Sieve::open(temp.path(), &[], &limits)?, offered, distinct);
    crawl.run(limits.checkpoint_changes_max)?;
    crawl.report(disk_bytes(temp.path()));

    let start = Instant::now();
    let sieve = Sieve::open(temp.path(), &crawl.names, &limits)?;
    println!("opened again           {:>12.3} s", start.elapsed().as_secs_f64());
    assert_eq!(sieve.len(), distinct);
    Ok(())
}

/// A crawl that only offers links, and how long the sieve took over them.
struct Crawl {
    sieve: Sieve,
    offered: u64,
    distinct: u64,
    known: u64,
    chance: u64,
    names: Vec<RunName>,
    inserting: Duration,
    checkpoints: Vec<Duration>,
}

impl Crawl {
    fn begin(sieve: Sieve, offered: u64, distinct: u64) -> Self {
        let (names, checkpoints) = (Vec::new(), Vec::new());
        let inserting = Duration::ZERO;
        Self { sieve, offered, distinct, known: 0, chance: 1, names, inserting, checkpoints }
    }

    fn run(&mut self, changes_max: u64) -> larm_crawl::Result<()> {
        let mut done = 0;
        let mut unsaved = 0;
        while done < self.offered {
            let links = PAGE_LINKS.min(self.offered - done);
            let new_before = self.known;
            let page = self.page(done, links);
            let start = Instant::now();
            let absent = self.sieve.insert(&page)?.into_iter().filter(|&absent| absent).count();
            self.inserting += start.elapsed();
            assert_eq!(absent as u64, self.known - new_before);
            done += links;
            unsaved += absent as u64;
            if unsaved >= changes_max || done == self.offered {
                self.checkpoint()?;
                unsaved = 0;
            }
        }
        Ok(())
    }

    fn checkpoint(&mut self) -> larm_crawl::Result<()> {
        let start = Instant::now();
        self.names = self.sieve.checkpoint()?;
        self.sieve.forget_superseded()?;
        self.checkpoints.push(start.elapsed());
        Ok(())
    }

    /// Spreads the new urls evenly over the crawl.
    fn page(&mut self, done: u64, links: u64) -> Vec<u64> {
        let known_after = (done + links) * self.distinct / self.offered;
        let page = (0..links).map(|_| self.link(known_after)).collect();
        assert_eq!(self.known, known_after);
        page
    }

    fn link(&mut self, known_after: u64) -> u64 {
        let roll = self.roll();
        let number = if self.known < known_after {
            self.known += 1;
            self.known - 1
        } else if roll.is_multiple_of(2) {
            self.known - 1 - (roll >> 1) % self.known.min(NEAR_URLS)
        } else {
            (roll >> 1) % self.known
        };
        mix(number)
    }

    fn roll(&mut self) -> u64 {
        self.chance += 1;
        mix(!self.chance)
    }

    fn report(&self, disk_bytes: u64) {
        let saving: Duration = self.checkpoints.iter().sum();
        let longest = self.checkpoints.iter().max().copied().unwrap_or_default();
        let (inserting, saving) = (self.inserting.as_secs_f64(), saving.as_secs_f64());
        let per_second = self.offered as f64 / (inserting + saving);
        let per_url = disk_bytes as f64 / self.sieve.len() as f64;
        println!("offered, distinct      {:>12}, {}", self.offered, self.sieve.len());
        println!("offers per second      {per_second:>12.0}");
        println!("inserting, saving      {inserting:>12.3} s, {saving:.3} s");
        println!("checkpoints, longest   {:>12}, {longest:.1?}", self.checkpoints.len());
        println!("runs at the end        {:>12}", self.names.len());
        println!("bytes on disk per url  {per_url:>12.2}");
        println!("memory, now and peak   {:>12}", memory());
    }
}

/// A bijection that spreads numbers like fingerprints (SplitMix64's last step).
fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn disk_bytes(dir: &std::path::Path) -> u64 {
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
