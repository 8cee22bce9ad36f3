//! Pages in an order of their own: who comes next, that nobody starves, and that an order is known again.

use larm_core::order::{Facts, Leads, Score};

use super::*;
use crate::frontier::Board;
use crate::order::{News, Ranker};

/// Thinks of each page whatever it likes, and changes its mind all the time.
#[derive(Default)]
pub(super) struct Moody {
    mood: u64,
}

impl Score for Moody {
    fn found(&mut self, _: u32, _: &Facts<'_>) {
        self.mood += 1;
    }

    fn fetched(&mut self, _: &Leads<'_>, _: &mut Vec<u32>) {}

    fn worth(&self, page: u32) -> f32 {
        let mut dice = crate::disk::faulty::Dice(u64::from(page) * 1_000 + self.mood / 7);
        1.0 + dice.below(1_000) as f32
    }

    fn is_due(&self) -> bool {
        self.mood.is_multiple_of(5)
    }

    fn refresh(&mut self) {
        self.mood += 1;
    }
}

/// Pages are worth the number that their URL ends with.
struct ByNumber(Vec<f32>);

impl Score for ByNumber {
    fn found(&mut self, page: u32, facts: &Facts<'_>) {
        let digits = facts.url.and_then(|url| url.rsplit('/').next()?.parse().ok());
        self.0.resize(self.0.len().max(page as usize + 1), 0.0);
        self.0[page as usize] = digits.unwrap_or(0.0);
    }

    fn fetched(&mut self, _: &Leads<'_>, _: &mut Vec<u32>) {}

    fn worth(&self, page: u32) -> f32 {
        self.0[page as usize]
    }
}

/// A frontier that follows an order, with news that arrive at once.
struct Ordered {
    bench: Bench,
    ranker: Ranker,
}

impl Ordered {
    fn new(limits: Limits) -> Self {
        Self::on(Bench::new(limits))
    }

    /// As a run begins: all that waits is told.
    fn on(mut bench: Bench) -> Self {
        let board = Arc::new(Board::new(&bench.limits, "a test".to_owned(), true));
        bench.frontier().follow(board.clone());
        let mut ranker = Ranker::new(Box::new(ByNumber(Vec::new())), board);
        bench.frontier().each_waiting(1_000_000, &mut |waits| ranker.hear_of(waits)).unwrap();
        Self { bench, ranker }
    }

    fn offer(&mut self, urls: &[&str]) {
        self.bench.offer(urls);
        self.hear();
    }

    fn hear(&mut self) {
        let waits = self.bench.frontier().take_waits();
        self.ranker.hear(&News { waits, ..News::default() });
    }

    /// Fetches the next page, and says which it was.
    fn fetch(&mut self) -> String {
        let lease = self.bench.lease_in_time();
        let url = lease.url().to_string();
        self.bench.done(lease);
        self.hear();
        url
    }
}

fn urls(host: &str, numbers: impl Iterator<Item = u32>) -> Vec<String> {
    numbers.map(|number| format!("http://{host}/{number}")).collect()
}

fn texts(urls: &[String]) -> Vec<&str> {
    urls.iter().map(String::as_str).collect()
}

#[test]
fn the_best_page_of_a_host_comes_first_whether_in_memory_or_on_disk() {
    let mut ordered = Ordered::new(limits());
    // More than fit into memory, in an order that is not theirs.
    let all = urls("a.test", (0..40).map(|n| n * 7 % 40));
    ordered.offer(&texts(&all));
    ordered.bench.checkpoint();
    let fetched: Vec<String> = (0..30).map(|_| ordered.fetch()).collect();
    assert_eq!(fetched, urls("a.test", (10..40).rev()));
}

#[test]
fn what_is_found_later_and_is_better_goes_before_what_waits() {
    let mut ordered = Ordered::new(limits());
    ordered.offer(&texts(&urls("a.test", 0..10)));
    assert_eq!(ordered.fetch(), "http://a.test/9");
    ordered.offer(&["http://a.test/100", "https://a.test/50"]);
    let next: Vec<String> = (0..3).map(|_| ordered.fetch()).collect();
    assert_eq!(next, ["http://a.test/100", "https://a.test/50", "http://a.test/8"]);
}

#[test]
fn of_the_hosts_that_may_be_asked_the_one_with_the_best_page_is() {
    let mut ordered = Ordered::new(limits());
    ordered.offer(&["http://a.test/1", "http://b.test/3", "http://c.test/2"]);
    let order: Vec<String> = (0..3).map(|_| ordered.fetch()).collect();
    assert_eq!(order, ["http://b.test/3", "http://c.test/2", "http://a.test/1"]);
}

#[test]
fn a_host_with_poor_pages_waits_at_most_eight_turns_for_each_host_that_is_due() {
    let mut ordered = Ordered::new(limits());
    ordered.bench.frontier().set_pace(Pace { delay_ms: 0, response_factor: 0, ..Pace::default() });
    let (rich, turns) = (4, 200);
    ordered.offer(&["http://poor.test/1", "http://poor.test/2", "http://poor.test/3"]);
    let mut waited = Vec::new();
    for turn in 0..turns {
        // Better pages come all the time.
        let better: Vec<String> = (0..rich)
            .flat_map(|host| urls(&format!("rich{host}.test"), 100 + turn..=100 + turn))
            .collect();
        ordered.offer(&texts(&better));
        if ordered.fetch().contains("poor") {
            waited.push(turn);
        }
    }
    assert_eq!(waited.len(), 3, "{waited:?}");
    let gaps = waited.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(waited[0] <= 8 * (rich + 1) && gaps.max() <= Some(8 * (rich + 1)), "{waited:?}");
}

#[test]
fn a_poor_page_is_fetched_while_better_ones_of_its_host_keep_coming() {
    let mut ordered = Ordered::new(limits());
    ordered.offer(&["http://a.test/1", "http://a.test/2"]);
    let mut turn = 0;
    while turn < 1_000 {
        turn += 1;
        ordered.offer(&texts(&urls("a.test", [1_000 + 2 * turn, 1_001 + 2 * turn].into_iter())));
        if ordered.fetch() == "http://a.test/1" {
            break;
        }
    }
    assert!(turn <= 32, "after {turn} turns");
}

#[test]
fn an_order_is_known_again_after_a_crash() {
    let mut ordered = Ordered::new(limits());
    ordered.offer(&texts(&urls("a.test", 0..20)));
    ordered.bench.checkpoint();
    ordered.offer(&texts(&urls("a.test", 20..30)));
    assert_eq!(
        (ordered.fetch(), ordered.fetch()),
        ("http://a.test/29".into(), "http://a.test/28".into())
    );
    ordered.bench.commit();
    let mut bench = ordered.bench;
    bench.open();
    let mut ordered = Ordered::on(bench);
    let rest: Vec<String> = (0..25).map(|_| ordered.fetch()).collect();
    assert_eq!(rest, urls("a.test", (3..28).rev()));
}

#[test]
fn hosts_on_disk_and_what_arrived_for_them_are_known_again_too() {
    let mut ordered = Ordered::new(Limits { hosts_memory_max: 1, ..limits() });
    ordered.offer(&["http://a.test/1", "http://b.test/2", "http://c.test/3"]);
    ordered.bench.checkpoint();
    ordered.offer(&["http://a.test/11", "http://b.test/12", "http://c.test/13"]);
    let mut told = Vec::new();
    let tell = &mut |waits: &crate::frontier::Waits| told.extend(waits.text.clone());
    ordered.bench.frontier().each_waiting(1_000, tell).unwrap();
    let mut told: Vec<String> = told.into_iter().map(String::from).collect();
    told.sort_unstable();
    let hosts = [("a", [1, 11]), ("b", [12, 2]), ("c", [13, 3])];
    let all = hosts.iter().flat_map(|(host, n)| n.map(|n| format!("http://{host}.test/{n}")));
    assert_eq!(told, all.collect::<Vec<_>>());
}
