//! A test web with a crawl directory beside it, the plan that joins them, and ways to run it.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use larm_core::scope::ScopeMode;
use larm_core::url::{CrawlUrl, UrlRules, seed};
use larm_core::workbench::Pace;
use larm_crawl::fetch::ResolveRule;
use larm_crawl::{Crawl, Handle, Plan, Result, Summary};
use larm_testsite::{Audit, TestSite, WebPlan};
use tempfile::TempDir;
use tokio::sync::{Notify, watch};

/// A web that is served, and an empty place to crawl it into.
pub struct World {
    pub site: TestSite,
    temp: TempDir,
}

impl World {
    pub fn new(web: WebPlan) -> Self {
        let site = TestSite::start(web).expect("the test web starts");
        Self { site, temp: tempfile::tempdir().expect("a temporary directory") }
    }

    /// The crawl directory.
    pub fn dir(&self) -> PathBuf {
        self.temp.path().join("web.larm")
    }

    /// Another crawl directory, beside the first.
    pub fn dir_named(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    /// All hosts of the web, no delay, short patience.
    pub fn plan(&self) -> Plan {
        let mut plan = patient_plan(self.dir(), self.site.seeds().iter().map(|text| url(text)));
        plan.selection.scope = ScopeMode::Any;
        plan.allow_private = vec!["127.0.0.0/8".parse().expect("a network")];
        plan.pace = Pace { delay_ms: 0, address_gap_ms: 0, ..Pace::default() };
        plan.resolve = self.resolve();
        // The web has copies, and its log would have a request that no page explains.
        plan.probe = false;
        plan.usual_sitemap = false;
        plan
    }

    /// The names of the web's hosts, as `--resolve` has them.
    pub fn resolve_flags(&self) -> Vec<String> {
        let rules = self.site.resolve_rules();
        rules.iter().map(|(name, port, address)| format!("{name}:{port}:{address}")).collect()
    }

    fn resolve(&self) -> Vec<ResolveRule> {
        self.resolve_flags().iter().map(|rule| rule.parse().expect("a rule")).collect()
    }

    /// What the web's own log says about the crawl.
    pub fn audit(&self) -> Audit {
        self.site.audit()
    }

    /// Pages, robots.txt aside, that were asked for so far.
    pub fn pages_asked(&self) -> usize {
        let requests = self.site.requests();
        requests.iter().filter(|request| !request.path.starts_with("/robots")).count()
    }
}

/// A plan for hosts on loopback. One that fails is given up within seconds, so that no test waits for
/// an hour; but each answer may take its time, since the machine may be busy.
pub fn patient_plan(dir: PathBuf, seeds: impl Iterator<Item = CrawlUrl>) -> Plan {
    let mut plan = Plan::new(dir, seeds.collect());
    plan.limits.host_chances_ms_max = 4_000;
    plan.limits.host_back_off_ms_max = 1_000;
    plan.limits.first_byte_ms_max = 15_000;
    plan.limits.connect_ms_max = 15_000;
    plan.limits.fetch_ms_max = 15_000;
    plan
}

/// The canonical URL of a text.
pub fn url(text: &str) -> CrawlUrl {
    seed(text, &UrlRules::default()).expect("a URL")
}

/// Crawls to the end.
pub fn crawl(plan: Plan) -> Summary {
    run(Crawl::new(plan)).expect("the crawl ends well")
}

/// Runs a crawl of the library user's own making to its end, whatever that is.
pub fn run(crawl: Crawl) -> Result<Summary> {
    runtime().block_on(crawl.run())
}

/// Crawls to the end, and leaves a handle to ask questions with.
pub fn crawl_and_ask(plan: Plan) -> (Summary, Handle) {
    runtime().block_on(async {
        let running = Crawl::new(plan).start().expect("the crawl starts");
        let handle = running.handle();
        (running.wait().await.expect("the crawl ends well"), handle)
    })
}

/// Crawls until `pages` pages were answered in this run, then stops it through its handle.
pub fn crawl_until(plan: Plan, pages: u64) -> Summary {
    let gate = Gate::at(pages);
    let crawl = gate.before_pages_of(Crawl::new(plan));
    runtime().block_on(async {
        let running = crawl.start().expect("the crawl starts");
        gate.reached().await;
        running.handle().stop();
        gate.open();
        running.wait().await.expect("the crawl stops well")
    })
}

/// Two threads, whatever the machine has: tests run at the same time.
pub fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().expect("a runtime")
}

/// Holds a crawl when a number of pages was answered, so that a test can do something at that moment
/// however fast the crawl is.
#[derive(Clone)]
pub struct Gate(Arc<Hold>);

struct Hold {
    pages: u64,
    answered: AtomicU64,
    reached: Notify,
    open: watch::Sender<bool>,
}

impl Gate {
    /// A gate that lets `pages` - 1 pages pass.
    pub fn at(pages: u64) -> Self {
        let (open, reached) = (watch::Sender::new(false), Notify::new());
        Self(Arc::new(Hold { pages, answered: AtomicU64::new(0), reached, open }))
    }

    /// Puts the gate into a crawl, as its handler.
    pub fn before_pages_of(&self, crawl: Crawl) -> Crawl {
        let gate = self.0.clone();
        crawl.on_page(move |_| {
            let gate = gate.clone();
            Box::pin(async move {
                if gate.answered.fetch_add(1, Ordering::SeqCst) + 1 < gate.pages {
                    return;
                }
                gate.reached.notify_one();
                // The gate outlives the crawl.
                let _ = gate.open.subscribe().wait_for(|open| *open).await;
            })
        })
    }

    /// Waits until a page stands at the gate.
    pub async fn reached(&self) {
        self.0.reached.notified().await;
    }

    /// Lets everything pass from now on.
    pub fn open(&self) {
        self.0.open.send_replace(true);
    }
}

/// Fails with the number of `found` and the first few of them, unless there are none.
#[track_caller]
pub fn assert_none<T: Debug>(what: &str, found: impl IntoIterator<Item = T>) {
    let found: Vec<T> = found.into_iter().collect();
    let few: Vec<&T> = found.iter().take(5).collect();
    assert!(found.is_empty(), "{} {what}, among them {few:#?}", found.len());
}

/// Fails unless every page of the web was fetched, once, and nothing that should not be.
#[track_caller]
pub fn assert_perfect(audit: &Audit) {
    assert_none("missing", &audit.coverage.missing);
    assert_none("fetched twice", &audit.overlap);
    assert_harmless(audit);
}

/// Fails unless nothing was asked for that should not be.
#[track_caller]
pub fn assert_harmless(audit: &Audit) {
    assert_none("forbidden by robots.txt", &audit.forbidden);
    assert_none("that change something", &audit.forbidden_actions);
    assert_none("that no page links to", &audit.coverage.extra);
    assert_none("behind nofollow", &audit.coverage.nofollowed);
    assert_none("tried again too soon", &audit.impatient);
    assert_none("endless spaces entered too far", &audit.coverage.trapped);
}
