//! What the ranker makes of news.

use std::sync::Arc;

use larm_core::Limits;
use larm_core::order::{Backlinks, PageRank, Tuning};
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

fn ranker(score: impl Score + 'static) -> Ranker {
    Ranker::new(Box::new(score), Arc::new(Board::new(&Limits::default(), String::new(), false)))
}

fn best(ranker: &Ranker) -> Option<u64> {
    ranker.board().look().best(at()).map(|best| best.place.seq)
}

#[test]
fn a_page_that_more_pages_link_to_comes_first() {
    let mut ranker = ranker(Backlinks::default());
    ranker.hear(&News { waits: vec![waits(1), waits(2), waits(3)], told: vec![] });
    assert_eq!(best(&ranker), Some(1), "first come, first served");
    ranker.hear(&News { waits: vec![], told: vec![told(1, &[2, 3])] });
    ranker.hear(&News { waits: vec![waits(4)], told: vec![told(2, &[4, 3])] });
    assert_eq!(best(&ranker), Some(3));
    ranker.hear(&News { waits: vec![], told: vec![told(3, &[])] });
    assert_eq!(best(&ranker), Some(4), "what was fetched waits no longer");
}

#[test]
fn news_that_come_too_late_do_not_make_a_page_wait_again_for_long() {
    let mut ranker = ranker(Backlinks::default());
    // It was taken, fetched and settled before anybody heard that it waits.
    ranker.hear(&News { waits: vec![waits(1)], told: vec![told(1, &[])] });
    assert_eq!(best(&ranker), None);
}

#[test]
fn what_is_computed_over_all_pages_reaches_all_of_them() {
    let mut ranker = ranker(PageRank::new(&Tuning::new(&Limits::default())));
    let waiting = (0..200).map(waits).collect();
    ranker.hear(&News { waits: waiting, told: vec![] });
    for page in 0..50 {
        ranker.hear(&News { waits: vec![], told: vec![told(page, &[150, 60 + page])] });
        ranker.catch_up();
    }
    assert_eq!(best(&ranker), Some(150));
}

#[test]
fn news_are_handed_over_page_by_page_with_what_waits_first() {
    let told = vec![told(1, &[]), told(2, &[]), told(3, &[])];
    let news = News { waits: vec![waits(4)], told };
    let pages: Vec<(usize, u64)> =
        news.by_page().map(|news| (news.waits.len(), news.told[0].page.0)).collect();
    assert_eq!(pages, [(1, 1), (0, 2), (0, 3)]);
    let waits_alone: Vec<News> = News { waits: vec![waits(4)], told: vec![] }.by_page().collect();
    assert_eq!((waits_alone.len(), waits_alone[0].told.len()), (1, 0));
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
