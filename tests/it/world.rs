//! A test web with a crawl directory beside it, and the plan that joins them.

use std::path::{Path, PathBuf};

use larm_core::scope::ScopeMode;
use larm_core::url::{UrlRules, seed};
use larm_core::workbench::Pace;
use larm_crawl::{Crawl, Plan, Summary};
use larm_testsite::{Audit, TestSite, WebPlan};

pub struct World {
    pub site: TestSite,
    pub temp: tempfile::TempDir,
}

impl World {
    pub fn new(web: WebPlan) -> Self {
        let site = TestSite::start(web).expect("the test web starts");
        Self { site, temp: tempfile::tempdir().expect("a temporary directory") }
    }

    pub fn dir(&self) -> PathBuf {
        self.temp.path().join("web.larm")
    }

    /// All hosts of the web, no delay, short patience.
    pub fn plan(&self) -> Plan {
        let seeds = self.site.seeds();
        let seeds = seeds.iter().map(|text| seed(text, &UrlRules::default()).expect("a seed"));
        let mut plan = Plan::new(self.dir(), seeds.collect());
        plan.selection.scope = ScopeMode::Any;
        plan.allow_private = vec!["127.1.0.0/16".parse().expect("a network")];
        plan.pace = Pace { delay_ms: 0, address_gap_ms: 0, ..Pace::default() };
        plan.resolve = self.resolve();
        plan.limits.host_chances_ms_max = 4_000;
        plan.limits.host_back_off_ms_max = 1_000;
        plan.limits.first_byte_ms_max = 2_000;
        plan.limits.connect_ms_max = 2_000;
        plan.limits.fetch_ms_max = 3_000;
        plan
    }

    fn resolve(&self) -> Vec<larm_crawl::fetch::ResolveRule> {
        let rules = self.site.resolve_rules();
        rules.iter().map(|(n, p, a)| format!("{n}:{p}:{a}").parse().expect("a rule")).collect()
    }

    pub fn audit(&self) -> Audit {
        Audit::of(&self.site.truth(), &self.site.requests())
    }
}

pub fn crawl(plan: Plan) -> Summary {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let running = Crawl::new(plan).start().expect("the crawl starts");
        let handle = running.handle();
        if std::env::var_os("LARM_TEST_VERBOSE").is_some() {
            std::thread::spawn(move || {
                loop {
                    std::thread::sleep(std::time::Duration::from_secs(5));
                    println!("{}", serde_json::to_string(&handle.status(12)).unwrap_or_default());
                }
            });
        }
        running.wait().await.expect("the crawl ends well")
    })
}

#[allow(dead_code)]
pub fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).expect("a readable file").lines().map(str::to_owned).collect()
}
