//! What owners say of the use of their pages is recorded, explained, and kept to on demand.

use larm_core::Outcome;
use larm_core::signals::Use;
use larm_crawl::explain::Stand;
use larm_crawl::fetch::{SignKey, SignPlan};
use larm_crawl::frontier::PageRow;
use larm_crawl::{Handle, SignalPlan};
use larm_testsite::{Features, WebPlan};

use crate::kept::Kept;
use crate::world::{World, assert_perfect, crawl, crawl_and_ask, url};

fn world() -> World {
    let features = Features { usage: true, ..Features::none() };
    World::new(WebPlan { hosts: 1, pages_per_host: 3, features, ..WebPlan::default() })
}

fn row(world: &World, handle: &Handle, path: &str) -> PageRow {
    let home = world.site.seeds()[0].clone();
    let asked = url(&format!("{}{path}", home.trim_end_matches('/')));
    match handle.explain(&asked).expect("an explanation").stand {
        Stand::Settled { page } => *page,
        other => panic!("{path}: {other:?}"),
    }
}

fn facts(row: &PageRow) -> Vec<String> {
    row.facts.iter().map(|fact| format!("{}: {}", fact.name, fact.value)).collect()
}

#[test]
fn what_owners_say_is_recorded_wherever_it_stands() {
    let world = world();
    let (summary, handle) = crawl_and_ask(world.plan());
    #[rustfmt::skip]
    let rows: &[(&str, &[&str])] = &[
        ("/usage/robots", &["content-usage: train-ai=n (robots.txt line 5)", "usage: ai-train=reserved"]),
        ("/usage/signal", &["content-signal: search=yes, ai-input=no (robots.txt line 6)", "usage: search=allowed, ai-input=reserved"]),
        ("/usage/header", &["content-usage: train-ai=n, search=y (header)", "usage: search=allowed, ai-train=reserved"]),
        ("/usage/tdm", &["tdm-reservation: 1 (header)", "usage: tdm=reserved"]),
        ("/usage/noai", &["robots: noai (header)", "usage: ai-input=reserved, ai-train=reserved"]),
        ("/usage/meta", &["robots: noai (meta)", "tdm-reservation: 1 (meta)", "tdm-policy: https://policy.test/1 (meta)",
            "usage: ai-input=reserved, ai-train=reserved, tdm=reserved"]),
        ("/usage/file", &[]),
        ("/usage/silent", &[]),
    ];
    for (path, expected) in rows {
        assert_eq!(facts(&row(&world, &handle, path)), *expected, "{path}");
    }
    assert_eq!((summary.reserved, summary.denied), (0, 0), "nobody asked to respect it");
    assert_perfect(&world.audit());
    let archive = Kept::of(&world.dir()).archive_text();
    assert!(archive.contains("tdm-policy: https://policy.test/1 (meta)"), "it is in the archive");
}

fn reserved(detail: &str) -> Outcome {
    Outcome::Rejected { filter: "signals".to_owned(), detail: detail.to_owned() }
}

#[test]
fn what_is_reserved_is_not_fetched_or_not_kept() {
    let world = world();
    let mut plan = world.plan();
    let respect = [Use::AiTrain].into_iter().collect();
    plan.signals = SignalPlan { respect, tdmrep: false };
    let (summary, handle) = crawl_and_ask(plan);
    let said = |path: &str| row(&world, &handle, path);
    let row_of_robots = said("/usage/robots");
    let words = "ai-train is reserved by content-usage: train-ai=n (robots.txt line 5)";
    assert_eq!(row_of_robots.outcome, reserved(words));
    for path in ["/usage/header", "/usage/noai", "/usage/meta"] {
        let row = said(path);
        let Outcome::Rejected { filter, detail } = &row.outcome else { panic!("{path}: {row:?}") };
        assert_eq!(filter, "signals", "{path}");
        assert!(detail.starts_with("ai-train is reserved by "), "{path}: {detail}");
        assert!(row.warc.is_none() && !row.facts.is_empty(), "{path}: not kept, but known");
    }
    for path in ["/usage/signal", "/usage/tdm", "/usage/silent"] {
        assert_eq!(said(path).outcome, Outcome::Fetched { status: 200 }, "{path}");
    }
    assert_eq!((summary.denied, summary.reserved), (0, 4));
    let asked: Vec<_> = world.site.requests().iter().map(|request| request.path.clone()).collect();
    assert!(!asked.iter().any(|path| path == "/usage/robots"), "robots.txt said so beforehand");
    assert!(!asked.iter().any(|path| path.contains("tdmrep")), "nobody asked for that file");
}

#[test]
fn a_file_of_reservations_is_asked_for_on_demand_once_and_before_the_pages() {
    let world = world();
    let mut plan = world.plan();
    plan.signals.respect = [Use::TextMining].into_iter().collect();
    let (_, handle) = crawl_and_ask(plan);
    let words = "tdm is reserved by tdm-reservation: 1 for /usage/file (tdmrep.json)";
    assert_eq!(row(&world, &handle, "/usage/file").outcome, reserved(words), "not robots.txt");
    let requests = world.site.requests();
    let asked: Vec<&str> = requests.iter().map(|request| request.path.as_str()).collect();
    assert_eq!(asked[..2], ["/robots.txt", "/.well-known/tdmrep.json"]);
    assert_eq!(asked.iter().filter(|path| path.contains("tdmrep")).count(), 1);
    assert!(matches!(row(&world, &handle, "/usage/tdm").outcome, Outcome::Rejected { .. }));
}

#[test]
fn requests_are_signed_with_the_key_of_the_crawl() {
    let world = world();
    let key = world.dir_named("bot.pem");
    SignKey::generate().expect("a key").write(&key).expect("a file");
    let agent = Some("https://bot.test".to_owned());
    let mut plan = world.plan();
    plan.fetch.sign = Some(SignPlan { key, agent, good_for_ms: 60_000 });
    crawl(plan);
    let archive = Kept::of(&world.dir()).archive_text();
    assert!(archive.contains("Signature-Agent: sig1=\"https://bot.test\""), "{archive:.2000}");
    let nonces: Vec<&str> =
        archive.split("nonce=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let mut different = nonces.clone();
    different.sort_unstable();
    different.dedup();
    assert!(nonces.len() > 3 && different.len() == nonces.len(), "each has its own");
}
