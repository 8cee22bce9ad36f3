//! A crawl, put together: directory, frontier, sinks, line, writer, engine.

mod begin;
mod ordering;
mod run;

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, OnceLock};

use larm_core::Limits;
use larm_core::scope::Filter;
use larm_core::url::UrlRules;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

use self::begin::{offer_seeds, refuse_orphaned_archive};
use self::ordering::Ordering;
use self::run::Run;
use crate::change::Change;
use crate::changes::Changes;
use crate::clock::Clock;
use crate::directory::Directory;
use crate::ends::Ends;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::fetch::{
    BoxFuture, DnsResolver, Fetch, FileFetch, FilePlan, Guard, HttpFetch, LaneResolver,
    ProxiedResolver, ProxyPlan, Resolve, Schemes,
};
use crate::files;
use crate::frontier::near::Index;
use crate::frontier::sieve::Recent;
use crate::frontier::{DiskFrontier, Frontier, Opened, Originals, SharedAliases, SharedFrontier};
use crate::handle::{Handle, Idle, Shared};
use crate::housekeeping::Housekeeper;
use crate::jar::Jar;
use crate::line::{Line, PageHandler};
use crate::login::Logins;
use crate::network::Network;
use crate::obey::HostWishes;
use crate::order;
use crate::pdf::PdfReaders;
use crate::places::{Meter, Places};
use crate::plan::{Duplicates, Plan};
use crate::readings::Readings;
use crate::reasons::Reasons;
use crate::robots::RobotsCache;
use crate::rules::SharedRules;
use crate::share::Share;
use crate::soft::SoftHosts;
use crate::store::{Chain, CrawlLogSink, LinksSink, PagesSink, Sink, Summary, Visit, WarcSink};
use crate::writer::{Work, Writer};

/// A crawl to be started: a plan, and what the library user adds to it.
pub struct Crawl {
    plan: Plan,
    filters: Vec<Arc<dyn Filter>>,
    sinks: Vec<Box<dyn Sink>>,
    handler: Option<PageHandler>,
    fetcher: Option<Arc<dyn Fetch>>,
    resolver: Option<Arc<dyn Resolve>>,
    directory: Option<Directory>,
}

impl Crawl {
    /// A crawl by this plan.
    pub fn new(plan: Plan) -> Self {
        Self {
            plan,
            filters: Vec::new(),
            sinks: Vec::new(),
            handler: None,
            fetcher: None,
            resolver: None,
            directory: None,
        }
    }

    /// Runs in the directory of the plan, which is held already: since the plan was read from it.
    pub fn within(mut self, directory: Directory) -> Self {
        self.directory = Some(directory);
        self
    }

    /// Adds a filter behind those of the plan.
    pub fn filter(mut self, filter: impl Filter + 'static) -> Self {
        self.filters.push(Arc::new(filter));
        self
    }

    /// Adds a sink behind those of the plan.
    pub fn sink(mut self, sink: impl Sink + 'static) -> Self {
        self.sinks.push(Box::new(sink));
        self
    }

    /// Adds sinks that are behind a pointer already.
    pub(crate) fn boxed_sinks(mut self, sinks: Vec<Box<dyn Sink>>) -> Self {
        self.sinks.extend(sinks);
        self
    }

    /// Calls `handler` for each URL that was answered, and waits for it before going on with that URL.
    pub fn on_page<F>(mut self, handler: F) -> Self
    where
        F: for<'a> Fn(&'a Visit) -> BoxFuture<'a, ()> + Send + Sync + 'static,
    {
        self.handler = Some(Arc::new(handler));
        self
    }

    /// Fetches by other means than the network.
    pub fn fetcher(mut self, fetcher: impl Fetch + 'static) -> Self {
        self.fetcher = Some(Arc::new(fetcher));
        self
    }

    /// Resolves names by other means than DNS.
    pub fn resolver(mut self, resolver: impl Resolve + 'static) -> Self {
        self.resolver = Some(Arc::new(resolver));
        self
    }

    /// Runs to the end.
    pub async fn run(self) -> Result<Summary> {
        self.start()?.wait().await
    }

    /// Puts all together but the engine, for sinks that begin anew: nothing will be asked for.
    pub(crate) fn assemble_anew(self) -> Result<Parts> {
        let (mut assembly, opened) = self.open()?;
        let opened = Opened { positions: Vec::new(), ..opened };
        Ok(assembly.assemble(opened)?.for_a_rebuild(assembly))
    }

    /// Starts in the background of the current runtime.
    pub fn start(self) -> Result<Running> {
        let (assembly, opened) = self.open()?;
        assembly.start(opened)
    }

    fn open(mut self) -> Result<(Assembly, Opened)> {
        self.plan.limits.validate().map_err(|error| Error::Plan(error.to_string()))?;
        let clock = Clock::start();
        let directory = match self.directory.take() {
            Some(directory) => directory,
            None => Directory::open(&self.plan.dir)?,
        };
        self.plan.limits = files::within(&self.plan.limits);
        let limits = Arc::new(self.plan.limits.clone());
        let opened = DiskFrontier::open(&directory.state(), &limits, self.plan.pace, clock.now())?;
        let jar = Jar::open(&self.plan, directory.state(), &limits)?;
        Ok((
            Assembly { crawl: self, directory, limits, clock, jar, order: None, readings: None },
            opened,
        ))
    }
}

/// A crawl under way.
pub struct Running {
    handle: Handle,
    task: JoinHandle<Result<Summary>>,
    resumed: bool,
}

impl Running {
    /// To ask and steer it.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Whether it goes on with an earlier run.
    pub fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// Waits for its end.
    pub async fn wait(self) -> Result<Summary> {
        let panicked =
            |error| Error::Stopped(format!("larm has a bug: the engine panicked ({error})"));
        self.task.await.map_err(panicked)?
    }
}

/// The parts on the way to a running crawl.
struct Assembly {
    crawl: Crawl,
    directory: Directory,
    limits: Arc<Limits>,
    clock: Clock,
    jar: Option<Jar>,
    /// What decides which page is next, if that is not the frontier itself.
    order: Option<Ordering>,
    /// What pages come to, if somebody wants to know.
    readings: Option<Arc<Readings>>,
}

/// What is put together before the engine.
struct Core {
    shared: Arc<Shared>,
    line: Arc<Line>,
    writer: Writer,
    places: Places,
}

/// What a rebuild works with.
pub(crate) struct Parts {
    pub shared: Arc<Shared>,
    pub line: Arc<Line>,
    pub writer: Writer,
    pub directory: Directory,
    pub url_rules: UrlRules,
}

impl Core {
    fn for_a_rebuild(self, assembly: Assembly) -> Parts {
        let Assembly { crawl, directory, .. } = assembly;
        Parts {
            shared: self.shared,
            line: self.line,
            writer: self.writer,
            directory,
            url_rules: crawl.plan.url_rules,
        }
    }
}

impl Assembly {
    fn assemble(&mut self, opened: Opened) -> Result<Core> {
        let chain = Chain::open(self.sinks()?, &opened.positions)?;
        let known = Known {
            recent: opened.frontier.recent(),
            near: opened.frontier.near(),
            originals: opened.frontier.originals(),
            aliases: opened.frontier.aliases(),
        };
        let mut frontier: Box<dyn Frontier> = Box::new(opened.frontier);
        frontier.set_budgets(self.crawl.plan.budgets)?;
        frontier.set_host_delays(&self.crawl.plan.host_delays);
        let rules = SharedRules::new(&self.crawl.plan, std::mem::take(&mut self.crawl.filters))?;
        let places =
            Places::new(self.crawl.plan.concurrency, self.limits.fetches_max, self.clock.now());
        let changes = Changes::open(&self.directory.state(), &self.crawl.plan)?;
        let shared = Arc::new(Shared {
            frontier: SharedFrontier::new(frontier),
            rules: rules.clone(),
            wake: Arc::new(Notify::new()),
            clock: self.clock,
            network: Arc::new(Network::new(&self.limits, self.clock)),
            readings: self.readings.clone(),
            reasons: Reasons::open(&self.directory.state(), self.limits.host_reasons_max),
            paused: AtomicBool::new(false),
            disk_low: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            in_flight: AtomicU64::new(0),
            idle_ms: AtomicU64::new(0),
            meter: Mutex::default(),
            seconds_left: Mutex::default(),
            places: Mutex::new(places.standing()),
            share: Share::default(),
            changes: Mutex::new(changes),
            run: OnceLock::new(),
        });
        let (jobs, inbox) = mpsc::channel(channel_places(&self.limits));
        let line = self.line(&shared, known, &chain, jobs)?;
        let news = self.order.as_mut().map(Ordering::take_desk).unwrap_or_default();
        let writer = Writer::new(chain, shared.clone(), inbox, self.limits.clone());
        let writer = writer.telling(news);
        Ok(Core { shared, line, writer, places })
    }

    fn start(mut self, mut opened: Opened) -> Result<Running> {
        if !opened.resumed {
            refuse_orphaned_archive(&self.crawl.plan.dir)?;
        }
        let resumed = opened.resumed;
        let settings = std::mem::take(&mut opened.settings);
        self.readings = self.open_readings()?;
        self.order =
            Ordering::new(&self.crawl.plan, &self.directory.state(), self.readings.clone())?;
        let Core { shared, line, writer, places } = self.assemble(opened)?;
        let (commands, received) = mpsc::channel(16);
        let mut engine = self.engine(&shared, line, received, places)?;
        let adopted = settings.iter().filter_map(|(name, value)| Change::from_log(name, value));
        engine.apply(&adopted.collect::<Vec<_>>())?;
        engine.go_on_with(if resumed { &self.crawl.plan.changes } else { &[] })?;
        offer_seeds(&shared, &self.crawl.plan)?;
        let order = self.order.take().map(|order| order.begin(&shared, &self.crawl.plan));
        let ranker = order.transpose()?;
        let handle = Handle { shared, commands };
        let jar = self.jar;
        let (plan, directory) = (self.crawl.plan, self.directory);
        let run = Run { plan, jar, engine, writer, ranker, directory };
        Ok(Running { handle, task: in_background(run.until_its_end()), resumed })
    }

    /// Who looks for something, or wants to end when little is found, has to know what pages come to.
    fn open_readings(&self) -> Result<Option<Arc<Readings>>> {
        let Plan { topic, floor, .. } = &self.crawl.plan;
        if floor.is_none() && topic.is_empty() {
            return Ok(None);
        }
        Readings::open(&self.directory.state(), topic, *floor).map(|kept| Some(Arc::new(kept)))
    }

    fn sinks(&mut self) -> Result<Vec<Box<dyn Sink>>> {
        let plan = &self.crawl.plan;
        let store = Arc::new(plan.store_plan(self.directory.crawl_id()));
        let mut sinks: Vec<Box<dyn Sink>> = Vec::new();
        if plan.keep.warc {
            sinks.push(Box::new(WarcSink::new(store.clone())?));
        }
        if plan.keep.pages {
            let text = plan.keep.page_text;
            sinks.push(Box::new(PagesSink::new(store.clone(), text)));
        }
        if plan.keep.links {
            sinks.push(Box::new(LinksSink::new(store.clone())?));
        }
        if plan.keep.log {
            sinks.push(Box::new(CrawlLogSink::new(store)));
        }
        sinks.append(&mut self.crawl.sinks);
        Ok(sinks)
    }

    fn line(
        &self,
        shared: &Arc<Shared>,
        known: Known,
        chain: &Chain,
        writer: mpsc::Sender<Work>,
    ) -> Result<Arc<Line>> {
        let plan = &self.crawl.plan;
        let seeds = plan.seeds.iter().chain(&plan.sitemaps).filter(|seed| !seed.is_file());
        let seeds = seeds.filter(|_| !plan.public_only).map(|seed| (seed.host(), seed.port()));
        let cookies = self.jar.as_ref().map(|jar| jar.cookies.clone());
        let fetcher: Arc<dyn Fetch> = match &self.crawl.fetcher {
            Some(fetcher) => fetcher.clone(),
            None => Arc::new(self.network_and_files()?),
        };
        let resolver: Arc<dyn Resolve> = match &self.crawl.resolver {
            Some(resolver) => resolver.clone(),
            None => Arc::new(DnsResolver::new(&plan.resolve, &plan.limits, self.clock)),
        };
        let resolver = match plan.fetch.proxies == ProxyPlan::default() {
            true => resolver,
            false => Arc::new(ProxiedResolver::new(resolver, plan.fetch.proxies.clone())),
        };
        Ok(Arc::new(Line {
            frontier: shared.frontier.clone(),
            rules: shared.rules.clone(),
            recent: known.recent,
            near: known.near,
            originals: known.originals,
            aliases: known.aliases,
            duplicates: plan.duplicates,
            logins: Logins::new(&plan.logins, cookies, &plan.limits)?,
            robots: self.robots(),
            guard: Guard::new(seeds, &plan.allow_private, &plan.resolve)
                .behind(plan.fetch.proxies.clone()),
            troubles: shared.reasons.troubles(),
            resolver: Arc::new(LaneResolver(resolver)),
            fetcher,
            network: shared.network.clone(),
            encoders: chain.encoders(),
            writer,
            tells_links: self.order.is_some(),
            tells_hints: order::needs_hints(&plan.order),
            tells_text: self.order.is_some() && !plan.topic.is_empty(),
            unread: order::unread(&plan.order, &shared.wake),
            wake: shared.wake.clone(),
            meter: Meter::default(),
            handler: self.crawl.handler.clone(),
            reads_text: chain.reads_text()
                || self.crawl.handler.is_some()
                || plan.duplicates != Duplicates::Off
                || plan.budgets.learn()
                || !plan.topic.is_empty(),
            learns: plan.budgets.learn(),
            agent: plan.agent.clone(),
            obey: plan.obey_robots,
            respect: plan.signals.respect,
            soft: SoftHosts::new(&self.limits),
            probe: plan.probe,
            usual_sitemap: plan.usual_sitemap,
            path_ascending: plan.path_ascending,
            pdf: PdfReaders::new(plan.pdf.clone(), self.limits.clone()),
            accept: plan.selection.accept.clone(),
            assets: plan.selection.assets,
            limits: self.limits.clone(),
            clock: self.clock,
        }))
    }

    fn robots(&self) -> RobotsCache {
        let Plan { agent, obey_robots, signals, .. } = &self.crawl.plan;
        RobotsCache::new(agent, *obey_robots, *signals, self.limits.clone())
    }

    fn network_and_files(&self) -> Result<Schemes> {
        let plan = &self.crawl.plan;
        let cookies = self.jar.as_ref().map(|jar| jar.cookies.clone());
        let web = HttpFetch::new(plan.fetch_plan(), cookies, plan.limits.clone(), self.clock)?;
        let files = FilePlan {
            seeds: plan.seeds.iter().chain(&plan.sitemaps).cloned().collect(),
            follow_symlinks: plan.selection.follow_symlinks,
            own_dir: plan.dir.clone(),
            accept: plan.fetch.accept.clone(),
        };
        let files = FileFetch::new(&files, plan.limits.clone(), self.clock, &web);
        Ok(Schemes { web, files })
    }

    fn engine(
        &self,
        shared: &Arc<Shared>,
        line: Arc<Line>,
        commands: mpsc::Receiver<crate::handle::Command>,
        places: Places,
    ) -> Result<Engine> {
        let plan = &self.crawl.plan;
        let seeds = (plan.seeds.len() + plan.sitemaps.len()) as u64;
        Ok(Engine {
            line,
            shared: shared.clone(),
            commands,
            housekeeper: Housekeeper::new(&plan.dir, seeds, &plan.limits)?,
            jar: self.jar.clone(),
            limits: self.limits.clone(),
            ends: Ends {
                time_ms_max: plan.time_ms_max,
                bytes_max: plan.bytes_max,
                budgets: plan.budgets,
            },
            pace: plan.pace,
            hosts: HostWishes::new(&plan.host_delays),
            is_own_server: plan.pace.delay_ms == 0,
            places,
            more_threads: plan.more_threads,
            offline: None,
            idle: Idle::default(),
            started: self.clock.now(),
        })
    }
}

/// What the frontier shares with those who do not hold it.
struct Known {
    recent: Arc<Recent>,
    near: Arc<Index>,
    originals: Arc<Originals>,
    aliases: SharedAliases,
}

fn channel_places(limits: &Limits) -> usize {
    usize::try_from(limits.channel_max).unwrap_or(usize::MAX)
}

#[expect(clippy::disallowed_methods, reason = "the engine's own task, one per crawl")]
fn in_background(
    run: impl Future<Output = Result<Summary>> + Send + 'static,
) -> JoinHandle<Result<Summary>> {
    tokio::spawn(run)
}

/// The writer beside the engine, on the crawl's own thread: what that thread fetches is settled without anybody being woken.
#[expect(clippy::disallowed_methods, reason = "the writer's own task, one per crawl")]
pub(crate) fn beside(writer: Writer, directory: Directory) -> JoinHandle<Result<()>> {
    tokio::spawn(writer.run(directory))
}
