//! What the ranker makes of news.

use std::sync::Mutex;

use larm_core::Limits;
use larm_core::order::{Backlinks, Facts, Leads, PageRank, Tuning};
use larm_core::via::Via;
use larm_core::workbench::HostKey;

use super::*;
use crate::frontier::{Board, OriginKey, Place};

fn at() -> OriginKey {
    OriginKey::of(HostKey(1), "http://h")
}

fn waits(n: u64) -> Waits {
    let place = Place { priority: 3, seq: n };
    Waits { url: Fingerprint(n), origin: at(), place, depth: 1, text: None }
}

fn told(page: u64, links: &[u64]) -> Told {
    let links: Vec<Fingerprint> = links.iter().map(|n| Fingerprint(*n)).collect();
    let degree = links.len() as u32;
    Told { links, degree, ..Told::of(Fingerprint(page), std::iter::empty()) }
}

fn news(waits: Vec<Waits>, told: Vec<Told>) -> News {
    News { waits, told, unread: Vec::new() }
}

fn ranker(score: impl Score + 'static) -> Ranker {
    Ranker::new(Box::new(score), Arc::new(Board::new(&Limits::default(), String::new(), false)))
}

fn best(ranker: &Ranker) -> Option<u64> {
    ranker.board().look().best(at()).map(|best| best.place.seq)
}

#[test]
fn a_page_that_more_pages_link_to_comes_first() {
    let mut ranker = ranker(Backlinks::default());
    ranker.hear(&news(vec![waits(1), waits(2), waits(3)], vec![]));
    assert_eq!(best(&ranker), Some(1), "first come, first served");
    ranker.hear(&news(vec![], vec![told(1, &[2, 3])]));
    ranker.hear(&news(vec![waits(4)], vec![told(2, &[4, 3])]));
    assert_eq!(best(&ranker), Some(3));
    ranker.hear(&news(vec![], vec![told(3, &[])]));
    assert_eq!(best(&ranker), Some(4), "what was fetched waits no longer");
}

#[test]
fn news_that_come_too_late_do_not_make_a_page_wait_again_for_long() {
    let mut ranker = ranker(Backlinks::default());
    // It was taken, fetched and settled before anybody heard that it waits.
    ranker.hear(&news(vec![waits(1)], vec![told(1, &[])]));
    assert_eq!(best(&ranker), None);
}

#[test]
fn what_is_computed_over_all_pages_reaches_all_of_them() {
    let mut ranker = ranker(PageRank::new(&Tuning::new(&Limits::default())));
    let waiting = (0..200).map(waits).collect();
    ranker.hear(&news(waiting, vec![]));
    for page in 0..50 {
        ranker.hear(&news(vec![], vec![told(page, &[150, 60 + page])]));
        ranker.catch_up();
    }
    assert_eq!(best(&ranker), Some(150));
}

#[test]
fn news_are_handed_over_page_by_page_with_what_waits_first() {
    let told = vec![told(1, &[]), told(2, &[]), told(3, &[])];
    let pages = news(vec![waits(4)], told).by_page();
    let pages: Vec<(usize, u64)> =
        pages.iter().map(|news| (news.waits.len(), news.told[0].page.0)).collect();
    assert_eq!(pages, [(1, 1), (0, 2), (0, 3)]);
    let waits_alone = news(vec![waits(4)], vec![]).by_page();
    assert_eq!((waits_alone.len(), waits_alone[0].told.len()), (1, 0));
}

/// Notes how many pages are unread while it learns, and while it computes.
struct Watchful {
    unread: Unread,
    seen: Arc<Mutex<Vec<usize>>>,
}

impl Watchful {
    fn look(&self) {
        self.seen.lock().unwrap().push(self.unread.pages());
    }
}

impl Score for Watchful {
    fn found(&mut self, _: u32, _: &Facts<'_>) {}

    fn fetched(&mut self, _: &Leads<'_>, _: &mut Vec<u32>) {
        self.look();
    }

    fn worth(&self, _: u32) -> f32 {
        1.0
    }

    fn is_due(&self) -> bool {
        true
    }

    fn refresh(&mut self) {
        self.look();
    }
}

#[test]
fn pages_are_unread_until_all_that_was_settled_with_them_is_heard() {
    let (wake, nobody) = (Arc::new(Notify::new()), Unread::default());
    let unread = Unread::new(wake.clone());
    assert_eq!((nobody.mark().is_none(), nobody.pages()), (true, 0));
    let marks: Vec<_> = (0..3).filter_map(|_| unread.mark()).collect();
    let told = vec![told(1, &[]), told(2, &[])];
    let mut pages = News { unread: marks, ..news(vec![], told) }.by_page();
    drop(pages.remove(0));
    assert_eq!(unread.pages(), 3, "of three that were settled, two have something to tell");
    let (desk, inbox) = mpsc::channel(2);
    desk.try_send(pages.remove(0)).unwrap();
    drop(desk);
    let seen = Arc::new(Mutex::new(Vec::new()));
    ranker(Watchful { unread: unread.clone(), seen: seen.clone() }).run(inbox);
    assert_eq!(unread.pages(), 0);
    assert_eq!(*seen.lock().unwrap(), [3, 3], "they are read only when all is worked out");
    let woken = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        tokio::select! {
            biased;
            () = wake.notified() => true,
            () = std::future::ready(()) => false,
        }
    });
    assert!(woken, "whoever leases is woken");
}

#[test]
fn links_count_once_as_the_graph_counts_them() {
    let link = |to, via| LinkFact::new(to, via);
    let facts = [
        link("http://h/1", Via::Anchor),
        link("http://h/1", Via::Anchor),
        link("http://h/2", Via::Embed),
        LinkFact { verdict: "scope: another host", ..link("http://x/", Via::Anchor) },
        LinkFact { rel: "nofollow", ..link("http://h/3", Via::Anchor) },
    ];
    let told = Told::of(Fingerprint(7), facts.into_iter());
    assert_eq!((told.links, told.degree), (vec![Fingerprint::of("http://h/1")], 2));
}

#[test]
fn breadth_first_needs_no_score_and_text_needs_a_topic() {
    let limits = Limits::default();
    let (nothing, tea) = (Topic::default(), Topic::query("green tea", &limits));
    let tuning = Tuning::new(&limits);
    let score = |name, topic| score(&Order::by(name), topic, &tuning, &limits);
    assert!(score(Name::Breadth, &nothing).unwrap().is_none());
    assert!(score(Name::Breadth, &tea).unwrap().is_some_and(|made| made.reader.is_some()));
    assert!(score(Name::Opic, &nothing).unwrap().is_some_and(|made| made.reader.is_none()));
    assert!(score(Name::Query, &tea).unwrap().is_some_and(|made| made.reader.is_some()));
    assert!(score(Name::Like, &nothing).is_err() && score(Name::Fresh, &nothing).is_ok());
    assert!(needs_urls(&"pagerank=2,location=1".parse().unwrap()));
}
