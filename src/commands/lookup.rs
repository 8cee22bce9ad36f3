//! Finds a URL in a crawl directory: by asking the crawl if it runs, else in the frontier's files.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use larm_core::Limits;
use larm_core::robots::Robots;
use larm_core::scope::FilterSpec;
use larm_core::url::{CrawlUrl, UrlRules, seed};
use larm_crawl::change::Change;
use larm_crawl::changes::Changes;
use larm_crawl::clock::Clock;
use larm_crawl::control::{Request, ask_patiently};
use larm_crawl::directory::{self, Directory};
use larm_crawl::explain::{Explanation, Stand, explain};
use larm_crawl::frontier::{DiskFrontier, Frontier, HostList, HostsAsked, RobotsRules};
use larm_crawl::handle::RulePreview;
use larm_crawl::reasons::Reasons;
use larm_crawl::rules::SharedRules;
use larm_crawl::{Plan, frontier::PageRow};
use tempfile::TempDir;

use crate::config::{plan, save, secret};
use crate::exit::usage;

/// A crawl that can be asked about URLs.
pub struct Lookup {
    dir: PathBuf,
    plan: Plan,
    still: Option<Still>,
}

/// A crawl that does not run: its files, held under its lock, or a copy of them.
struct Still {
    frontier: DiskFrontier,
    rules: SharedRules,
    reasons: Reasons,
    clock: Clock,
    _held: Held,
}

/// What lets the state be opened: opening it may write, since it may have to be recovered.
enum Held {
    /// Nobody else can. Others wait, so it is given back soon.
    Lock(Directory),
    /// It is ours alone. For directories that cannot be written, such as those of somebody else.
    Copy(TempDir),
}

impl Held {
    /// `None` if a crawl has just begun to use it.
    fn open(dir: &Path) -> Result<Option<Self>> {
        match Directory::borrow(dir) {
            Ok(lock) => Ok(Some(Self::Lock(lock))),
            Err(error) if error.is_read_only() => Self::copy(dir).map(Some),
            Err(_) if directory::in_use(dir) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn copy(dir: &Path) -> Result<Self> {
        let copy = tempfile::tempdir().context("no place for a copy of the crawl's state")?;
        let state = dir.join("state");
        copy_tree(&state, copy.path())
            .with_context(|| format!("{} cannot be copied, to look at it", state.display()))?;
        Ok(Self::Copy(copy))
    }

    fn state(&self) -> PathBuf {
        match self {
            Self::Lock(lock) => lock.state(),
            Self::Copy(copy) => copy.path().to_owned(),
        }
    }
}

/// What the crawl in `dir` is to do, for whoever only looks: without secrets.
pub fn plan_of(dir: &Path) -> Result<Plan> {
    let mut config = save::read_public(dir)?
        .with_context(|| format!("{}: there is no larm.toml in it", dir.display()))?;
    secret::forget(&mut config.settings);
    plan::build(&config, dir.to_owned())
}

/// Files that are nobody's but their owner's, and of no use here.
const NOT_COPIED: [&str; 3] = ["cookies.txt", "control.json", "troubles.tsv"];

fn copy_tree(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (name, target) = (entry.file_name(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            std::fs::create_dir(&target)?;
            copy_tree(&entry.path(), &target)?;
        } else if !NOT_COPIED.iter().any(|kept| name == *kept) {
            // Its bytes, not its permissions: the copy is to be written.
            std::io::copy(&mut File::open(entry.path())?, &mut File::create(&target)?)?;
        }
    }
    Ok(())
}

impl Lookup {
    /// Opens the crawl in `dir`.
    pub fn open(dir: &Path) -> Result<Self> {
        directory::identify(dir)?;
        let plan = plan_of(dir)?;
        let still = if directory::in_use(dir) { None } else { Still::open(dir, &plan)? };
        Ok(Self { dir: dir.to_owned(), plan, still })
    }

    /// The limits of the crawl.
    pub fn limits(&self) -> &Limits {
        &self.plan.limits
    }

    /// What became of a URL as a person types it. Without a scheme, http is tried after https.
    pub fn find(&self, text: &str) -> Result<Explanation> {
        let rules = &self.plan.url_rules;
        let url = parse(text, rules)?;
        let found = self.explain(&url)?;
        let guessed = !text.contains("://") && url.scheme() == "https";
        if guessed && matches!(found.stand, Stand::Unknown { .. }) {
            let plain = self.explain(&parse(&format!("http://{text}"), rules)?)?;
            if !matches!(plain.stand, Stand::Unknown { .. }) {
                return Ok(plain);
            }
        }
        Ok(found)
    }

    /// The settled row of a URL in canonical form.
    pub fn page(&self, url: &str) -> Result<Option<PageRow>> {
        let Some(url) = CrawlUrl::from_canonical(url) else { return Ok(None) };
        Ok(match self.explain(&url)?.stand {
            Stand::Settled { page } => Some(*page),
            _ => None,
        })
    }

    fn explain(&self, url: &CrawlUrl) -> Result<Explanation> {
        match &self.still {
            Some(still) => {
                let now = still.clock.now();
                let found = explain(&still.frontier, &still.rules.read(), url, now)?;
                Ok(found.with_words(&still.reasons))
            }
            None => self.ask(url),
        }
    }

    fn ask(&self, url: &CrawlUrl) -> Result<Explanation> {
        let request = Request::Why { url: url.to_string() };
        let answer = super::block_on(async { Ok(ask_patiently(&self.dir, request).await?) })?;
        let answer = answer.context("the crawl has just started or ended; try again")?;
        Ok(serde_json::from_value(answer)?)
    }

    /// All hosts of a crawl that does not run, and what they would do if it went on.
    pub fn hosts(&self, asked: &HostsAsked) -> Result<HostList> {
        let still = self.still.as_ref().context("the crawl has just started; try again")?;
        let hosts = still.frontier.all_hosts(still.clock.now(), asked)?;
        Ok(still.reasons.tell_all(hosts))
    }

    /// What a rule would remove of what waits in a crawl that does not run.
    pub fn preview(&self, rule: &FilterSpec, urls_max: u64) -> Result<RulePreview> {
        let still = self.still.as_ref().context("the crawl has just started; try again")?;
        Ok(RulePreview::of(&still.frontier, rule, urls_max)?)
    }

    /// What the robots.txt of the URL's origin says about it, where that is known.
    pub fn robots(&self, url: &str) -> Option<String> {
        let still = self.still.as_ref()?;
        let url = CrawlUrl::from_canonical(url)?;
        let row = still.frontier.robots(url.origin()).ok()??;
        Some(match &row.rules {
            RobotsRules::Absent { why } => format!("allows it: there is none ({why})"),
            RobotsRules::Text(bytes) => {
                let robots = Robots::parse(bytes, self.limits());
                let verdict = robots.judge(&self.plan.agent, url.path_and_query());
                let word = if verdict.allowed { "allows it" } else { "forbids it" };
                match (verdict.rule, verdict.line) {
                    (Some(rule), Some(line)) => format!("{word}: line {line}, `{rule}`"),
                    (Some(rule), None) => format!("{word}: {rule}"),
                    (None, _) => format!("{word}: no line is about it"),
                }
            }
        })
    }
}

impl Still {
    fn open(dir: &Path, plan: &Plan) -> Result<Option<Self>> {
        let Some(held) = Held::open(dir)? else { return Ok(None) };
        let clock = Clock::start();
        let limits = Arc::new(plan.limits.clone());
        let opened = DiskFrontier::open(&held.state(), &limits, plan.pace, clock.now())?;
        let rules = SharedRules::new(plan, Vec::new())?;
        adopt_seeds(&rules, &opened.settings);
        // What was changed while the crawl ran holds for questions, too.
        let changes = Changes::open(&held.state(), plan)?.all();
        rules.revise(&changes)?;
        let mut budgets = plan.budgets;
        changes.iter().for_each(|change| change.set_budget(&mut budgets));
        let mut frontier = opened.frontier;
        frontier.set_budgets(budgets)?;
        let reasons = Reasons::open(&dir.join("state"), limits.host_reasons_max);
        Ok(Some(Self { frontier, rules, reasons, clock, _held: held }))
    }
}

fn adopt_seeds(rules: &SharedRules, logged: &[(String, String)]) {
    for (name, value) in logged {
        let Some(Change::Seed(url)) = Change::from_log(name, value) else { continue };
        if let Some(url) = CrawlUrl::from_canonical(&url) {
            rules.adopt_seed(&url);
        }
    }
}

fn parse(text: &str, rules: &UrlRules) -> Result<CrawlUrl> {
    seed(text, rules).map_err(|error| {
        usage(format!("`{}` is no URL that larm could fetch: {error}", secret::told(text)))
    })
}
