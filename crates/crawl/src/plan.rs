//! What a crawl is to do, as plain values. Flags and files belong to the binary.

use std::collections::BTreeMap;
use std::path::PathBuf;

use larm_core::Limits;
use larm_core::gain::Floor;
use larm_core::order::focus::Topic;
use larm_core::order::{Name, Order, Place, Tuning};
use larm_core::scope::{FilterSpec, ScopeMode, default_specs};
use larm_core::signals::{Use, UseSet};
use larm_core::url::{CrawlUrl, UrlRules};
use larm_core::workbench::Pace;

use crate::change::Change;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::fetch::{Cidr, FetchPlan, HttpFetch, ResolveRule};
use crate::frontier::Budgets;
use crate::login::{LoginPlan, Logins};
use crate::order;
use crate::pdf::PdfProgram;
use crate::rules::SharedRules;
use crate::store::StorePlan;

/// Pages with nothing new that cut a shape of URLs off, where nobody says otherwise.
pub const CUT_AT: u32 = 30;
/// Pages of a host, and of a site, before it has shown that it is worth more, in a crawl that goes anywhere.
pub const HOST_BASE: u64 = 1_000;
/// See [`HOST_BASE`].
pub const SITE_BASE: u64 = 5_000;

/// One crawl: where, what, how fast, how much.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The crawl directory.
    pub dir: PathBuf,
    /// Where to begin.
    pub seeds: Vec<CrawlUrl>,
    /// Sitemaps to begin with.
    pub sitemaps: Vec<CrawlUrl>,
    /// What belongs to the crawl.
    pub selection: Selection,
    /// What is dropped from URLs.
    pub url_rules: UrlRules,
    /// How fast.
    pub pace: Pace,
    /// Hosts with a delay of their own, in milliseconds.
    pub host_delays: Vec<(String, u64)>,
    /// How much, in pages.
    pub budgets: Budgets,
    /// Which waiting page is fetched next.
    pub order: Order,
    /// What is looked for, for orders by text.
    pub topic: Topic,
    /// Patterns that make a URL worth more or less, for orders by location.
    pub places: Vec<Place>,
    /// How long this run may take.
    pub time_ms_max: Option<u64>,
    /// How many bytes of bodies, over all runs.
    pub bytes_max: Option<u64>,
    /// How rare good pages may become among the last ones.
    pub floor: Option<Floor>,
    /// Fetches at a time; where nothing is said, the number is found by measuring.
    pub concurrency: Option<u64>,
    /// Threads with an event loop of their own, which fetches are shared out to beside the one that the crawl is started
    /// on; with 0, fetches run wherever that runtime puts them.
    pub more_threads: usize,
    /// How to ask.
    pub fetch: FetchPlan,
    /// Hosts to log in to.
    pub logins: Vec<LoginPlan>,
    /// A file with cookies, read at the start and written as they change.
    pub cookie_jar: Option<PathBuf>,
    /// Addresses set by hand.
    pub resolve: Vec<ResolveRule>,
    /// Whether only public addresses are asked, though a seed may lead to others.
    pub public_only: bool,
    /// Private networks that may be reached.
    pub allow_private: Vec<Cidr>,
    /// Whether robots.txt and nofollow are obeyed.
    pub obey_robots: bool,
    /// What is done about what owners say of the use of their pages.
    pub signals: SignalPlan,
    /// What is done about pages that are there already.
    pub duplicates: Duplicates,
    /// Whether a host whose pages look alike is asked for a path that cannot be there.
    pub probe: bool,
    /// Whether an origin whose robots.txt names no sitemap is asked for `/sitemap.xml`.
    pub usual_sitemap: bool,
    /// Whether the folders of every URL are asked for besides, though nobody links to them.
    pub path_ascending: bool,
    /// What reads PDFs; without it they are kept, and not read.
    pub pdf: Option<PdfProgram>,
    /// Product token, as robots.txt files name it.
    pub agent: String,
    /// Who runs the crawl, for the archive.
    pub operator: Option<String>,
    /// Where to reach them.
    pub contact: Option<String>,
    /// Changes against what was set while an earlier run went on: the latest word counts.
    pub changes: Vec<Change>,
    /// The settings as the program was told them, secrets left out: for the list of runs.
    pub settings: BTreeMap<String, String>,
    /// What is written.
    pub keep: Keep,
    /// The maxima.
    pub limits: Limits,
}

/// What belongs to the crawl.
#[derive(Debug, Clone)]
pub struct Selection {
    /// How far around the seeds.
    pub scope: ScopeMode,
    /// Patterns of which one must match, if there are any.
    pub include: Vec<String>,
    /// Patterns of which none may match.
    pub exclude: Vec<String>,
    /// Hops from a seed.
    pub depth_max: u32,
    /// Content types wanted; empty for all.
    pub accept: Vec<String>,
    /// Whether to fetch what pages embed.
    pub assets: bool,
    /// Whether symbolic links are followed out of a tree of files.
    pub follow_symlinks: bool,
    /// Hosts to leave alone, one a line.
    pub blocked: Vec<String>,
    /// A file with more of them, read again whenever it changes.
    pub block_file: Option<PathBuf>,
    /// The only hosts that may be asked; none named means all.
    pub targets: Vec<String>,
    /// The filters, in order.
    pub filters: Vec<FilterSpec>,
}

/// What is done about what owners say of the use of their pages.
///
/// It is no filter of URLs: those answer the same for the same URL, always, and what an owner says is
/// known once robots.txt, or the answer itself, is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SignalPlan {
    /// Uses for which the crawl is made: what an owner reserves one of them for is not kept.
    pub respect: UseSet,
    /// Whether each origin is asked for its tdmrep.json.
    pub tdmrep: bool,
}

impl SignalPlan {
    /// Whether each origin is asked for its tdmrep.json: to record it, or to respect it.
    pub fn asks_for_tdmrep(self) -> bool {
        self.tdmrep || self.respect.contains(Use::TextMining)
    }
}

/// What is done about pages that are there already: under another name of their host, under another name
/// in their directory, or with nearly the same words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Nobody looks.
    Off,
    /// They are marked and explained, and fetched and followed like all others.
    Mark,
    /// Links of near-duplicates are not followed, and aliases are not asked.
    #[default]
    Stop,
}

/// The sinks that the plan composes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// WARC and CDXJ.
    pub warc: bool,
    /// pages.jsonl.
    pub pages: bool,
    /// The text of each page in it.
    pub page_text: bool,
    /// The link log.
    pub links: bool,
    /// The crawl log.
    pub log: bool,
}

impl Default for Keep {
    fn default() -> Self {
        Self { warc: true, pages: true, page_text: false, links: true, log: true }
    }
}

impl Default for Selection {
    fn default() -> Self {
        Self {
            scope: ScopeMode::Host,
            include: Vec::new(),
            exclude: Vec::new(),
            depth_max: u32::try_from(Limits::default().depth_hops_max).unwrap_or(u32::MAX),
            accept: Vec::new(),
            assets: false,
            follow_symlinks: false,
            blocked: Vec::new(),
            block_file: None,
            targets: Vec::new(),
            filters: default_specs(),
        }
    }
}

impl Plan {
    /// A polite crawl of the seeds' hosts into `dir`, with all defaults.
    pub fn new(dir: impl Into<PathBuf>, seeds: Vec<CrawlUrl>) -> Self {
        Self {
            dir: dir.into(),
            seeds,
            sitemaps: Vec::new(),
            selection: Selection::default(),
            url_rules: UrlRules::default(),
            pace: Pace::default(),
            host_delays: Vec::new(),
            budgets: Budgets { cut_at: Some(CUT_AT), ..Budgets::default() },
            order: Order::by(Name::Breadth),
            topic: Topic::default(),
            places: Vec::new(),
            time_ms_max: None,
            bytes_max: None,
            floor: None,
            concurrency: None,
            more_threads: 0,
            fetch: FetchPlan::default(),
            logins: Vec::new(),
            cookie_jar: None,
            resolve: Vec::new(),
            public_only: false,
            allow_private: Vec::new(),
            obey_robots: true,
            signals: SignalPlan::default(),
            duplicates: Duplicates::default(),
            probe: true,
            usual_sitemap: true,
            path_ascending: false,
            pdf: None,
            agent: "larm".to_owned(),
            operator: None,
            contact: None,
            changes: Vec::new(),
            settings: BTreeMap::new(),
            keep: Keep::default(),
            limits: Limits::default(),
        }
    }

    /// Whether cookies are kept: because the plan says so, or because a login is of no use without.
    pub fn keeps_cookies(&self) -> bool {
        self.fetch.cookies || self.cookie_jar.is_some() || !self.logins.is_empty()
    }

    /// How what pages are worth is computed.
    pub(crate) fn tuning(&self) -> Tuning {
        let (places, now) = (self.places.clone(), Clock::start().now());
        Tuning { places, now, ..Tuning::new(&self.limits) }
    }

    /// What the sinks of the crawl of this id need to know.
    pub(crate) fn store_plan(&self, crawl_id: &str) -> StorePlan {
        StorePlan {
            dir: self.dir.clone(),
            crawl_id: crawl_id.to_owned(),
            title: self.seeds.first().map(title_of).unwrap_or_default(),
            user_agent: self.fetch.user_agent.clone(),
            robots: if self.obey_robots { "obey" } else { "ignore" }.to_owned(),
            operator: self.operator.clone(),
            contact: self.contact.clone(),
            accept: self.selection.accept.clone(),
            limits: self.limits.clone(),
        }
    }

    /// How to ask, with the seeds as the ones that may be told secrets.
    pub(crate) fn fetch_plan(&self) -> FetchPlan {
        let homes = self.seeds.iter().chain(&self.sitemaps).cloned().collect();
        FetchPlan { homes, ..self.fetch.clone() }
    }

    /// Whether a crawl can be started by this plan: patterns, headers, certificates and limits are
    /// looked at, and nothing is written. A file that the plan names and that cannot be read is a mistake
    /// of the plan.
    pub fn check(&self) -> Result<()> {
        let named = |error| match error {
            Error::Io { .. } => Error::Plan(error.to_string()),
            other => other,
        };
        self.limits.validate().map_err(|error| Error::Plan(error.to_string()))?;
        SharedRules::new(self, Vec::new()).map_err(named)?;
        Logins::new(&self.logins, None, &self.limits)?;
        order::score(&self.order, &self.topic, &self.tuning(), &self.limits)?;
        let (fetch, limits) = (self.fetch.clone(), self.limits.clone());
        HttpFetch::new(fetch, None, limits, Clock::start()).map(|_| ()).map_err(named)
    }
}

/// What the first seed is called.
fn title_of(seed: &CrawlUrl) -> String {
    if seed.is_file() { seed.path().to_owned() } else { seed.host().to_owned() }
}
