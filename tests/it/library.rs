//! larm as a library: own filters, own sinks, own handlers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use larm_core::scope::{Filter, Subject, Verdict};
use larm_crawl::store::{CallSink, Encoded, Encoder, Flushed, Kept as Places, Position};
use larm_crawl::{Crawl, Error, Keep, Result, Sink, Visit};
use larm_testsite::{Features, WebPlan};
use tokio::sync::Semaphore;

use crate::kept::{Kept, is_robots};
use crate::world::{World, assert_none, assert_perfect, crawl, run};

/// URLs and how often each of them came.
#[derive(Clone, Default)]
struct Tally(Arc<Mutex<BTreeMap<String, usize>>>);

impl Tally {
    /// Takes note of a URL, robots.txt aside.
    fn note(&self, visit: &Visit) {
        if is_robots(visit.url.as_str()) {
            return;
        }
        let mut urls = self.0.lock().expect("nobody panicked");
        *urls.entry(visit.url.to_string()).or_default() += 1;
    }

    fn urls(&self) -> Vec<String> {
        self.0.lock().expect("nobody panicked").keys().cloned().collect()
    }

    #[track_caller]
    fn assert_once_each(&self) {
        let urls = self.0.lock().expect("nobody panicked");
        assert_none("URLs that came twice", urls.iter().filter(|(_, count)| **count > 1));
    }
}

fn web() -> WebPlan {
    let features = Features {
        redirects: true,
        duplicates: true,
        flaky: true,
        private: true,
        dead_links: true,
        ..Features::none()
    };
    WebPlan { hosts: 3, pages_per_host: 8, features, ..WebPlan::default() }
}

#[test]
fn a_sink_sees_every_settled_url_once_and_a_handler_every_answered_one() {
    let world = World::new(web());
    let (settled, answered) = (Tally::default(), Tally::default());
    let (sink, handler) = (settled.clone(), answered.clone());
    let crawl = Crawl::new(world.plan())
        .sink(CallSink::new("tally", move |visit: &Visit, _: &Places| {
            sink.note(visit);
            Ok(())
        }))
        .on_page(move |visit| {
            handler.note(visit);
            Box::pin(std::future::ready(()))
        });
    let summary = run(crawl).expect("the crawl ends well");
    assert_perfect(&world.audit());
    settled.assert_once_each();
    answered.assert_once_each();
    assert_eq!(settled.urls().len() as u64, summary.urls);
    let kept = Kept::of(&world.dir());
    let mut archived = kept.answered();
    archived.sort();
    assert_eq!(answered.urls(), archived, "the handler saw what the archive has");
}

/// Refuses numbered items.
struct NoItems;

impl Filter for NoItems {
    fn name(&self) -> &str {
        "no-items"
    }

    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        match subject.url.path().contains("/item/") {
            true => Verdict::reject("no-items", "items are not wanted".to_owned()),
            false => Verdict::Pass,
        }
    }
}

#[test]
fn a_filter_of_ones_own_decides_and_gives_its_reason() {
    let world = World::new(WebPlan { pages_per_host: 30, ..WebPlan::default() });
    let summary = run(Crawl::new(world.plan()).filter(NoItems)).expect("the crawl ends well");
    let items = world.site.requests();
    let items = items.iter().filter(|request| request.path.contains("/item/"));
    assert_none("requests against the filter", items.map(|request| request.url()));
    assert!(summary.rejected["no-items"] > 0, "{summary:?}");
    let kept = Kept::of(&world.dir());
    let links = kept.links.iter().flat_map(|page| page["links"].as_array().expect("links"));
    let verdicts = links.filter(|link| link["to"].as_str().is_some_and(|to| to.contains("/item/")));
    for link in verdicts {
        assert_eq!(link["verdict"], "no-items: items are not wanted", "{link}");
    }
}

#[test]
fn a_handler_that_takes_its_time_holds_the_crawl_back_and_loses_nothing() {
    let world = World::new(WebPlan { hosts: 4, pages_per_host: 10, ..WebPlan::default() });
    let (gate, at_once) = (Arc::new(Semaphore::new(1)), Arc::new(AtomicU64::new(0)));
    let (most, seen) = (Arc::new(AtomicU64::new(0)), Tally::default());
    let (tally, highest) = (seen.clone(), most.clone());
    let mut plan = world.plan();
    plan.concurrency = Some(2);
    let crawl = Crawl::new(plan).on_page(move |visit| {
        let (gate, at_once) = (gate.clone(), at_once.clone());
        tally.note(visit);
        highest.fetch_max(at_once.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        Box::pin(async move {
            let _turn = gate.acquire().await;
            for _ in 0..500 {
                tokio::task::yield_now().await;
            }
            at_once.fetch_sub(1, Ordering::SeqCst);
        })
    });
    let summary = run(crawl).expect("the crawl ends well");
    assert_perfect(&world.audit());
    assert_eq!((summary.fetched, seen.urls().len()), (40, 40));
    seen.assert_once_each();
    assert!(most.load(Ordering::SeqCst) <= 2, "a page is fetched while its place is taken");
}

/// Takes `room` visits and no more.
struct Small {
    room: usize,
    taken: Tally,
    /// How it is closed.
    close: fn() -> Result<()>,
}

impl Small {
    fn of(room: usize, taken: &Tally) -> Self {
        Self { room, taken: taken.clone(), close: || Ok(()) }
    }
}

impl Sink for Small {
    fn name(&self) -> &str {
        "small"
    }

    fn encoder(&self) -> Encoder {
        Arc::new(|_| Encoded::default())
    }

    fn write(&mut self, visit: &Visit, _: Encoded, _: &mut Places) -> Result<()> {
        if self.room == 0 {
            return Err(Error::Stopped("the small sink is full".to_owned()));
        }
        self.room -= 1;
        self.taken.note(visit);
        Ok(())
    }

    fn flush(&mut self) -> Result<Flushed> {
        Ok(Flushed::default())
    }

    fn recover(&mut self, _: Option<Position>) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        (self.close)()
    }
}

#[test]
fn a_sink_that_cannot_be_closed_fails_the_crawl_and_the_others_are_closed_all_the_same() {
    let fails: fn() -> Result<()> = || Err(Error::Stopped("the last page is stuck".to_owned()));
    let panics: fn() -> Result<()> = || panic!("on purpose");
    for (close, words) in [(fails, "the last page is stuck"), (panics, "closing a sink panicked")] {
        let world = World::new(WebPlan { hosts: 3, pages_per_host: 15, ..WebPlan::default() });
        let sink = Small { close, ..Small::of(usize::MAX, &Tally::default()) };
        let error = run(Crawl::new(world.plan()).sink(sink)).expect_err("the sink fails");
        assert!(error.to_string().contains(words), "{error}");
        let kept = Kept::of(&world.dir());
        kept.assert_sound();
        assert_eq!(kept.answered().len(), 45, "nothing was left open");
        let asked = world.site.requests().len();
        let summary = crawl(world.plan());
        assert_eq!(
            (summary.fetched, world.site.requests().len()),
            (45, asked),
            "nothing is left to do"
        );
    }
}

#[test]
fn a_sink_that_fails_ends_the_crawl_with_its_error_and_nothing_is_lost() {
    let world = World::new(WebPlan { hosts: 3, pages_per_host: 15, ..WebPlan::default() });
    let taken = Tally::default();
    let small = Small::of(10, &taken);
    let error = run(Crawl::new(world.plan()).sink(small)).expect_err("the sink fails");
    assert!(error.to_string().contains("the small sink is full"), "{error}");
    // Only what was committed counts as settled; all else is done again, and kept once.
    let summary = crawl(world.plan());
    assert_eq!(summary.fetched, 45, "{summary:?}");
    assert_none("missing", world.audit().coverage.missing);
    let kept = Kept::of(&world.dir());
    kept.assert_sound();
    assert_eq!(kept.answered().len(), 45);
}

#[test]
fn what_a_failing_sink_did_not_take_is_not_settled() {
    let world = World::new(WebPlan { hosts: 3, pages_per_host: 15, ..WebPlan::default() });
    let first = Tally::default();
    let small = Small::of(10, &first);
    run(Crawl::new(world.plan()).sink(small)).expect_err("the sink fails");
    let second = Tally::default();
    let large = Small::of(usize::MAX, &second);
    run(Crawl::new(world.plan()).sink(large)).expect("the crawl ends well");
    let (first, second) = (first.urls(), second.urls());
    let truth = world.site.truth();
    let missed = truth.pages.keys().filter(|url| !first.contains(url) && !second.contains(url));
    assert_none("pages that no sink ever took", missed);
}

#[test]
fn with_nothing_to_keep_nothing_is_written_and_handlers_see_everything() {
    let world = World::new(WebPlan::default());
    let seen = Tally::default();
    let tally = seen.clone();
    let mut plan = world.plan();
    plan.keep = Keep { warc: false, pages: false, page_text: false, links: false, log: false };
    let crawl = Crawl::new(plan).on_page(move |visit| {
        tally.note(visit);
        Box::pin(std::future::ready(()))
    });
    run(crawl).expect("the crawl ends well");
    assert_eq!(seen.urls().len(), 30);
    for name in ["warc", "cdx", "pages", "links"] {
        assert!(!world.dir().join(name).exists(), "{name} was made");
    }
}
