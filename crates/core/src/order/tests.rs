//! Scores against what they should come to: brute force, chance, and the limits of memory.

use super::*;
use crate::random::Random as Dice;

fn tuning() -> Tuning {
    Tuning::new(&Limits::default())
}

/// A graph in which every page leads to its neighbour and to some others, low numbers more often.
fn web(pages: u32, seed: u64) -> Vec<Vec<u32>> {
    let mut dice = Dice(seed);
    let row = |page: u32| {
        let mut row = vec![(page + 1) % pages];
        for _ in 0..dice.below(6) {
            row.push(
                (dice.below(u64::from(pages)) * dice.below(u64::from(pages)) / u64::from(pages))
                    as u32,
            );
        }
        row.sort_unstable();
        row.dedup();
        row
    };
    (0..pages).map(row).collect()
}

/// PageRank by its definition, of the first `known` pages; only those in `fetched` lead anywhere.
fn brute_force(web: &[Vec<u32>], known: usize, fetched: &[u32]) -> Vec<f64> {
    let mut ranks = vec![1.0; known];
    for _ in 0..300 {
        let mut next = vec![0.0; known];
        for page in 0..known {
            let links = if fetched.contains(&(page as u32)) { &web[page][..] } else { &[] };
            match links.len() {
                0 => next.iter_mut().for_each(|next| *next += 0.85 * ranks[page] / known as f64),
                degree => {
                    links
                        .iter()
                        .for_each(|&to| next[to as usize] += 0.85 * ranks[page] / degree as f64);
                }
            }
        }
        next.iter_mut().for_each(|next| *next += 0.15);
        ranks = next;
    }
    ranks
}

/// Finds all pages and fetches them in turn, with a look after each.
fn fetch_all(score: &mut dyn Score, web: &[Vec<u32>], mut look: impl FnMut(&mut dyn Score, u32)) {
    (0..web.len() as u32).for_each(|page| score.found(page, &Facts::default()));
    for (page, links) in web.iter().enumerate() {
        score.fetched(&Leads::new(page as u32, links), &mut Vec::new());
        if score.is_due() {
            score.refresh();
        }
        look(score, page as u32);
    }
}

#[test]
fn pagerank_computed_after_every_page_is_pagerank_of_what_is_known() {
    let web = web(60, 5);
    let mut score = PageRank::new(&Tuning { growth: 1.0, batch_min: 1, ..tuning() });
    let mut fetched = Vec::new();
    fetch_all(&mut score, &web, |score, page| {
        fetched.push(page);
        let expected = brute_force(&web, web.len(), &fetched);
        for (page, expected) in expected.iter().enumerate() {
            let found = f64::from(score.worth(page as u32));
            // What the end of the rounds leaves open, over all pages.
            assert!((found - expected).abs() < 60.0 * 1e-3, "page {page}: {found}, not {expected}");
        }
    });
    let sum: f32 = (0..60).map(|page| score.worth(page)).sum();
    assert!((sum / 60.0 - 1.0).abs() < 1e-3, "an average page has 1: {sum}");
}

#[test]
fn between_two_computations_a_good_page_raises_what_it_links_to() {
    let mut score = PageRank::new(&Tuning { batch_min: 1_000, ..tuning() });
    (0..4).for_each(|page| score.found(page, &Facts::default()));
    score.fetched(&Leads::new(0, &[1]), &mut Vec::new());
    score.refresh();
    let before = score.worth(2);
    let mut changed = Vec::new();
    score.fetched(&Leads::new(1, &[2, 3]), &mut changed);
    assert_eq!(changed, [2, 3]);
    let gain = score.worth(2) - before;
    assert!(!score.is_due() && (gain - 0.85 * score.worth(1) / 2.0).abs() < 1e-6, "{gain}");
}

#[test]
fn without_room_for_links_ranks_stay_close_and_are_kept() {
    let web = web(300, 6);
    let arcs: usize = web.iter().map(Vec::len).sum();
    let mut whole = PageRank::new(&tuning());
    let mut half = PageRank::new(&Tuning { arcs_max: arcs as u64 / 2, ..tuning() });
    fetch_all(&mut whole, &web, |_, _| ());
    fetch_all(&mut half, &web, |_, _| ());
    half.refresh();
    let values = |score: &PageRank| (0..300).map(|page| f64::from(score.worth(page))).collect();
    let alike = correlation(values(&whole), values(&half));
    assert!(alike > 0.9, "rank correlation {alike}");
}

/// Spearman's rank correlation of values without ties to speak of.
fn correlation(a: Vec<f64>, b: Vec<f64>) -> f64 {
    let ranks = |values: &[f64]| {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|x, y| values[*x].total_cmp(&values[*y]));
        let mut ranks = vec![0.0; values.len()];
        order.iter().enumerate().for_each(|(rank, &at)| ranks[at] = rank as f64);
        ranks
    };
    let (a, b, n) = (ranks(&a), ranks(&b), a.len() as f64);
    let apart: f64 = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum();
    1.0 - 6.0 * apart / (n * (n * n - 1.0))
}

#[test]
fn the_history_of_opic_becomes_pagerank() {
    let web = web(200, 7);
    let mut score = Opic::new(&Tuning { growth: 1.0, batch_min: 200, ..tuning() });
    (0..200).for_each(|page| score.found(page, &Facts::default()));
    let all: Vec<u32> = (0..200).collect();
    let exact = brute_force(&web, 200, &all);
    let alike = |score: &Opic| {
        correlation(all.iter().map(|&page| f64::from(score.history(page))).collect(), exact.clone())
    };
    for fetches in 1..=20_000 {
        let richest = all.iter().copied().max_by(|a, b| score.cash(*a).total_cmp(&score.cash(*b)));
        let page = richest.unwrap();
        score.fetched(&Leads::new(page, &web[page as usize]), &mut Vec::new());
        if score.is_due() {
            score.refresh();
        }
        if fetches == 400 {
            assert!(alike(&score) > 0.9, "{}", alike(&score));
        }
    }
    assert!(alike(&score) > 0.995, "{}", alike(&score));
    let total: f64 = all.iter().map(|&page| f64::from(score.cash(page))).sum::<f64>();
    assert!(total < 200.001, "cash is not made: {total}");
}

#[test]
fn a_random_order_prefers_neither_old_nor_new() {
    // Two pages wait, one of them since the beginning; each pick finds a new one.
    let mut new_first = 0;
    for seed in 0..4_000 {
        let mut score = Random::new(&Tuning { seed, ..tuning() });
        (0..20).for_each(|page| score.found(page, &Facts::default()));
        let mut waiting: Vec<u32> = (0..20).collect();
        let pick = |score: &mut Random, waiting: &mut Vec<u32>| {
            waiting.sort_by(|a, b| score.worth(*a).total_cmp(&score.worth(*b)));
            let page = waiting.pop().unwrap();
            score.fetched(&Leads::new(page, &[]), &mut Vec::new());
            page
        };
        while waiting.len() > 1 {
            pick(&mut score, &mut waiting);
        }
        score.found(20, &Facts::default());
        waiting.push(20);
        new_first += u32::from(pick(&mut score, &mut waiting) == 20);
    }
    assert!((1_850..2_150).contains(&new_first), "{new_first} of 4,000");
}

#[test]
fn depth_first_follows_the_last_page() {
    let mut score = DepthFirst::default();
    (0..3).for_each(|page| score.found(page, &Facts::default()));
    score.fetched(&Leads::new(0, &[1, 2]), &mut Vec::new());
    score.found(3, &Facts::default());
    score.fetched(&Leads::new(1, &[3]), &mut Vec::new());
    assert!(score.worth(3) > score.worth(2));
}

#[test]
fn pages_are_expected_to_have_as_many_links_as_those_that_lead_to_them() {
    let mut score = Forward::default();
    (0..4).for_each(|page| score.found(page, &Facts::default()));
    score.fetched(&Leads { degree: 30, ..Leads::new(0, &[2]) }, &mut Vec::new());
    score.fetched(&Leads { degree: 10, ..Leads::new(1, &[2, 3]) }, &mut Vec::new());
    assert_eq!([0, 1, 2, 3].map(|page| score.worth(page)), [30.0, 10.0, 20.0, 10.0]);
}

#[test]
fn hubs_that_are_off_the_subject_raise_nothing() {
    // 0 and 1 both lead to many; of 0's pages two were fetched and are to the point.
    let mut score = Hubs::new(&tuning());
    (0..12).for_each(|page| score.found(page, &Facts::default()));
    let mut fetch = |page, links: &[u32], relevance| {
        score.fetched(&Leads { relevance, ..Leads::new(page, links) }, &mut Vec::new());
    };
    fetch(0, &[2, 3, 4, 5], 1.0);
    fetch(1, &[6, 7, 8, 9], 0.1);
    fetch(2, &[0], 1.0);
    fetch(6, &[1], 0.1);
    score.refresh();
    assert!(score.hub(0) > score.hub(1));
    assert!(score.worth(4) > 2.0 * score.worth(8), "{} {}", score.worth(4), score.worth(8));
    assert!(score.worth(8) > score.worth(10), "a bad hub is better than none");
}

#[test]
fn weights_are_exponents() {
    let order: Order = "backlinks=2,breadth=1".parse().unwrap();
    let mut score = order.score(&tuning(), &mut |_| None).unwrap();
    score.found(0, &Facts::default());
    score.found(1, &Facts { depth: 3, url: None });
    (2..6).for_each(|page| score.found(page, &Facts::default()));
    let mut changed = Vec::new();
    (2..6).for_each(|page| score.fetched(&Leads::new(page, &[1]), &mut changed));
    // Four links and three hops: 4² / 4.
    assert!((score.worth(1) - 4.0).abs() < 1e-3, "{}", score.worth(1));
    assert_eq!(changed, [1; 4]);
}

#[test]
fn orders_are_written_as_a_name_or_as_weights() {
    let order = |text: &str| text.parse::<Order>();
    assert_eq!(order("bfs").unwrap(), Order::by(Name::Breadth));
    assert_eq!(order("pagerank=2, location").unwrap().to_string(), "pagerank=2,location=1");
    let table: Order = serde_json::from_str(r#"{"pagerank": 2, "location": 1}"#).unwrap();
    assert_eq!(table, order("pagerank=2,location=1").unwrap());
    let written = serde_json::to_string(&table).unwrap();
    assert_eq!(serde_json::from_str::<Order>(&written).unwrap(), table);
    for wrong in ["", "rank", "pagerank=x", "opic=0", "opic,opic", "hubs=inf"] {
        assert!(order(wrong).is_err(), "{wrong}");
    }
    assert!(order("rank").unwrap_err().contains("depth-first"), "what there is, is said");
    assert_eq!(order("like").unwrap().score(&tuning(), &mut |_| None).err(), Some(Name::Like));
}

#[test]
fn a_full_roster_keeps_the_pages_that_are_worth_most() {
    let (mut roster, mut score, mut dice) = (Roster::new(1_000), Backlinks::default(), Dice(8));
    let mut meet = |fingerprint: u64, score: &mut Backlinks| {
        let met = roster.meet(fingerprint, |page| score.worth(page));
        if !matches!(met, Met::Known(_)) {
            score.found(met.number(), &Facts::default());
        }
        met.number()
    };
    // Page n of 20,000 is linked to about 20,000 / n times.
    let mut exact = vec![0_u32; 20_001];
    for _ in 0..200_000 {
        let page = 20_000_f64.powf(dice.unit()) as usize;
        exact[page] += 1;
        let number = meet(page as u64, &mut score);
        score.fetched(&Leads::new(u32::MAX - 1, &[number]), &mut Vec::new());
    }
    assert_eq!(roster.len(), 1_000);
    for page in (1..=20_000).filter(|page| exact[*page] > 1_000) {
        let number = roster.number(page as u64).expect("a page that many link to stays");
        assert!(score.worth(number) >= exact[page] as f32, "never too low");
        assert!(score.worth(number) < exact[page] as f32 + 400.0, "nor much too high");
        assert_eq!(roster.fingerprint(number), Some(page as u64));
    }
}
