//! What waits because it is not worth its turn, and who may have more: one thing at a time.

use larm_core::worth::Harvest;

use super::*;

impl Bench {
    fn allow(&mut self, budgets: Budgets) {
        self.frontier().set_budgets(budgets).unwrap();
    }

    /// Fetches as long as there is something to fetch, all of it for nothing; how many pages that is.
    fn fetch_all_for_nothing(&mut self) -> usize {
        let mut pages = 0;
        while !self.frontier().is_done() {
            let now = self.now;
            if let Some(lease) = self.lease() {
                let harvest = Some(Harvest::Nothing);
                let settlement = Settlement { harvest, ..done(&lease, now) };
                self.settle(lease, settlement);
                pages += 1;
            } else if self.frontier().wants_checkpoint(now) {
                self.checkpoint();
            }
            self.now = self.now.after(1_000);
        }
        pages
    }
}

fn deep(url: &str) -> Candidate {
    Candidate { depth: 1, ..page(url) }
}

fn cut_at(pages: u32) -> Budgets {
    Budgets { cut_at: Some(pages), ..Budgets::default() }
}

#[test]
fn what_brings_nothing_waits_over_a_crash_and_is_freed_when_more_is_allowed() {
    let mut bench = Bench::new(limits());
    // Pages that lead nowhere may be ten times as many.
    bench.allow(cut_at(2));
    let urls = (0..44).map(|n| deep(&format!("http://a.test/t/{n}"))).collect();
    bench.frontier().offer(urls).unwrap();
    assert_eq!(bench.fetch_all_for_nothing(), 20);
    assert_eq!((bench.frontier().waiting(), bench.frontier().totals().held), (24, 24));
    bench.commit();
    bench.open();
    bench.allow(cut_at(2));
    assert_eq!(bench.fetch_all_for_nothing(), 0, "it is known after a crash, too");
    let finding = bench.frontier().finding(&page("http://a.test/t/43").url).unwrap();
    assert_eq!((&*finding.pattern, finding.tally.pages), ("/t/{n}", 20));
    bench.checkpoint();
    bench.open();
    bench.allow(cut_at(3));
    assert_eq!(bench.fetch_all_for_nothing(), 10);
    bench.allow(Budgets::default());
    assert_eq!(bench.fetch_all_for_nothing(), 14);
    assert_eq!((bench.frontier().waiting(), bench.frontier().totals().held), (0, 0));
}

#[test]
fn what_a_person_named_is_fetched_whatever_its_like_do() {
    let mut bench = Bench::new(limits());
    bench.allow(cut_at(3));
    let urls: Vec<String> = (0..20).map(|n| format!("http://a.test/t/{n}")).collect();
    bench.offer(&urls.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(bench.fetch_all_for_nothing(), 20);
}

#[test]
fn better_pages_come_first_and_one_fruitful_page_opens_the_way() {
    let mut bench = Bench::new(limits());
    bench.allow(cut_at(9));
    let maze = (0..120).map(|n| deep(&format!("http://a.test/t/{n}")));
    let good = (0..3).map(|n| Candidate { depth: 9, ..page(&format!("http://a.test/g/{n}")) });
    bench.frontier().offer(maze.chain(good).collect()).unwrap();
    let (mut order, mut pages) = (Vec::new(), 0);
    while !bench.frontier().is_done() {
        bench.now = bench.now.after(1_000);
        let Some(lease) = bench.lease() else { continue };
        order.push(lease.url().path().to_owned());
        pages += 1;
        let is_good = lease.url().path().starts_with("/g/") || pages == 11;
        let harvest = Some(if is_good { Harvest::Body } else { Harvest::Nothing });
        let settlement = Settlement { harvest, ..done(&lease, bench.now) };
        bench.settle(lease, settlement);
    }
    let slow_from = order.iter().position(|path| path.starts_with("/g/")).unwrap();
    assert_eq!(slow_from, 3, "a third of what cuts a shape off makes it slow: {order:?}");
    assert!(order[3..6].iter().all(|path| path.starts_with("/g/")), "{order:?}");
    // Ten times nine in vain, since they lead nowhere, but for one in between that halved the count of seven.
    assert_eq!(order.len(), 98, "{order:?}");
}

#[test]
fn hosts_of_a_site_share_its_budget_wherever_they_lie() {
    for hosts_memory_max in [100, 1] {
        let mut bench = Bench::new(Limits { hosts_memory_max, ..limits() });
        bench.allow(Budgets { site_base: Some(4), ..Budgets::default() });
        let urls = (0..12).map(|n| deep(&format!("http://h{n}.farm.test/{n}")));
        bench.frontier().offer(urls.collect()).unwrap();
        assert_eq!(bench.fetch_all_for_nothing(), 4, "with {hosts_memory_max} in memory");
        bench.checkpoint();
        bench.open();
        bench.allow(Budgets { site_base: Some(4), ..Budgets::default() });
        assert_eq!(bench.fetch_all_for_nothing(), 0, "after opening");
        // Somebody else knows one of them.
        let linked = Candidate {
            parent: Some("http://other.test/".into()),
            ..deep("http://h3.farm.test/x")
        };
        bench.frontier().offer(vec![linked]).unwrap();
        assert_eq!(bench.fetch_all_for_nothing(), 9, "with {hosts_memory_max} in memory");
        assert_eq!(bench.frontier().waiting(), 0);
    }
}
