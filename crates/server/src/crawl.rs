//! One crawl as it is shown: where it stands, what it came to, how fast it is.
//!
//! A crawl that runs is asked over its control socket; the rest is read from `summary.json`, which it writes every
//! few seconds. Nothing is locked and nothing is opened for writing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use larm_crawl::control::{Request, ask};
use larm_crawl::directory::in_use;
use larm_crawl::store::Summary;
use larm_crawl::store::summary::State as Kept;
use larm_crawl::{Phase, Status};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::keeper::summary_of;
use crate::launch::Told;
use crate::wanted::Want;

/// Seeds that are shown.
const SEEDS_SHOWN: usize = 10;

/// A crawl.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Crawl {
    /// Its name in paths of this API.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Its directory.
    pub dir: String,
    /// Where it stands.
    pub state: State,
    /// Why, where that can be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where it began, the first few.
    pub seeds: Vec<String>,
    /// How many of those there are.
    pub seeds_total: u64,
    /// First start, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<u64>,
    /// End, unless it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<u64>,
    /// Time spent crawling, over all runs.
    pub active_ms: u64,
    /// What it came to.
    pub counts: Counts,
    /// How fast it is, while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<Rates>,
    /// Time until nothing waits or a limit is reached, at this rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_left: Option<u64>,
    /// Whether it lives below the server's root.
    pub managed: bool,
    /// Whether it can be deleted now.
    pub deletable: bool,
}

/// Where a crawl stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Made, and never started.
    New,
    /// Fetching, or waiting for a host's turn.
    Running,
    /// Paused by somebody.
    Paused,
    /// Waiting for this machine's network.
    Offline,
    /// Waiting for room on the disk.
    DiskLow,
    /// Ending.
    Stopping,
    /// Nothing was left to do.
    Finished,
    /// Somebody asked it to stop.
    Stopped,
    /// A limit that was set ended it.
    Limit,
    /// It ended without a word.
    Killed,
    /// It cannot go on.
    Failed,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 11] = [
        Self::New,
        Self::Running,
        Self::Paused,
        Self::Offline,
        Self::DiskLow,
        Self::Stopping,
        Self::Finished,
        Self::Stopped,
        Self::Limit,
        Self::Killed,
        Self::Failed,
    ];

    /// Whether a process is there.
    pub fn is_live(self) -> bool {
        use State::{DiskLow, Offline, Paused, Running, Stopping};
        matches!(self, Running | Paused | Offline | DiskLow | Stopping)
    }

    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Offline => "offline",
            Self::DiskLow => "disk-low",
            Self::Stopping => "stopping",
            Self::Finished => "finished",
            Self::Stopped => "stopped",
            Self::Limit => "limit",
            Self::Killed => "killed",
            Self::Failed => "failed",
        }
    }
}

/// What a crawl came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Counts {
    /// URLs settled, whatever became of them.
    pub urls: u64,
    /// Answers of any status that is not a redirect.
    pub fetched: u64,
    /// Redirects.
    pub redirects: u64,
    /// Refused by robots.txt.
    pub denied: u64,
    /// Links that a rule was against.
    pub rejected: u64,
    /// Answers of status 400 and above.
    pub error_answers: u64,
    /// Failed for good.
    pub failed: u64,
    /// Answers whose body was known already.
    pub duplicates: u64,
    /// Pages that say nearly the same as another.
    pub near_duplicates: u64,
    /// URLs that wait.
    pub queued: u64,
    /// Those of them that wait since pages like them bring nothing new.
    pub held: u64,
    /// Hosts met.
    pub hosts: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Bytes of the archive.
    pub warc_bytes: u64,
    /// Files of the archive.
    pub warc_files: u64,
    /// Links found.
    pub links: u64,
}

/// How fast a crawl is.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Rates {
    /// Pages per second, over the last seconds.
    pub pages_per_second: f64,
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// Fetches under way.
    pub in_flight: u64,
    /// Fetches that there may be at a time.
    pub places: u64,
    /// Why so many.
    pub places_reason: String,
    /// Share of URLs that failed.
    pub errors_share: f64,
    /// Bytes of memory that its process has, where the system tells.
    pub memory: Option<u64>,
}

/// Looks at the crawl in `dir`.
pub async fn look(app: &App, id: &str, dir: &Path) -> Crawl {
    let live = live(dir).await;
    view(app, id, dir, live.as_ref())
}

/// How a crawl that runs says it stands.
pub async fn live(dir: &Path) -> Option<Status> {
    let answer = ask(dir, Request::Status { hosts: 0 }).await.ok().flatten()?;
    Status::read(&answer).ok()
}

/// A crawl of which is known what it says itself, if it runs.
pub fn view(app: &App, id: &str, dir: &Path, live: Option<&Status>) -> Crawl {
    let kept = summary_of(dir);
    let told = app.launcher.as_ref().and_then(|launcher| launcher.told(dir, SEEDS_SHOWN).ok());
    let Told { seeds, seeds_total, .. } = told.unwrap_or_default();
    let (state, reason) = standing(app, dir, live, kept.as_ref());
    let counts = counts(live, kept.as_ref());
    let rates = live.map(|live| rates(live, &counts));
    let managed = is_managed(app, dir);
    Crawl {
        id: id.to_owned(),
        name: name_of(dir),
        dir: dir.display().to_string(),
        state,
        reason,
        seeds,
        seeds_total,
        started: live
            .and_then(|live| live.frontier.totals.started)
            .or(kept.as_ref().map(|kept| kept.started))
            .map(|at| at.0),
        ended: kept.as_ref().filter(|_| !state.is_live()).map(|kept| kept.ended.0),
        active_ms: live
            .map(|live| live.frontier.totals.active_ms)
            .or(kept.as_ref().map(|kept| kept.active_ms))
            .unwrap_or_default(),
        seconds_left: live.filter(|_| state == State::Running).and_then(|live| live.seconds_left),
        counts,
        rates,
        managed,
        deletable: managed && !state.is_live() && !is_symlink(dir),
    }
}

/// The name of a crawl, for people.
pub fn name_of(dir: &Path) -> String {
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(".larm").unwrap_or(&name).to_owned()
}

/// Whether it lies directly below the root.
pub fn is_managed(app: &App, dir: &Path) -> bool {
    app.settings.root.as_deref().is_some_and(|root| dir.parent() == Some(root))
}

/// What is a link leads elsewhere, and that is not ours.
pub fn is_symlink(dir: &Path) -> bool {
    dir.symlink_metadata().is_ok_and(|meta| meta.is_symlink())
}

fn standing(
    app: &App,
    dir: &Path,
    live: Option<&Status>,
    kept: Option<&Summary>,
) -> (State, Option<String>) {
    if let Some(live) = live {
        return in_phase(live);
    }
    let entry = app.keeper.entry(dir);
    if in_use(dir) || app.keeper.is_starting(dir) {
        return (State::Running, Some("It is starting or ending.".to_owned()));
    }
    if let Some(why) = entry.failed {
        return (State::Failed, Some(why));
    }
    match kept.map(|kept| (kept.state, &kept.limit)) {
        Some((Kept::Finished, _)) => (State::Finished, kept.and_then(nothing_had)),
        Some((Kept::Stopped, _)) => (State::Stopped, stopped_because(entry.want, entry.left)),
        Some((Kept::Limit, limit)) => {
            let limit = limit.as_deref().unwrap_or("a limit");
            (State::Limit, Some(format!("It was ended by {limit}.")))
        }
        None if !was_started(dir) => (State::New, None),
        Some((Kept::Running, _)) | None => {
            (State::Killed, Some("It ended without a word; it can go on.".to_owned()))
        }
    }
}

/// What became of the URLs of a crawl that came to its end with nothing.
fn nothing_had(kept: &Summary) -> Option<String> {
    if kept.has_something() {
        return None;
    }
    let denied = (kept.denied > 0).then(|| format!("{} × closed by robots.txt", kept.denied));
    let listed = |(name, count): (&String, &u64)| format!("{count} × {name}");
    let others = kept.failed.iter().chain(&kept.statuses).map(listed);
    let all: Vec<String> = denied.into_iter().chain(others).collect();
    Some(match all.is_empty() {
        true => "Nothing could be fetched.".to_owned(),
        false => format!("Nothing could be fetched: {}.", all.join(", ")),
    })
}

fn in_phase(live: &Status) -> (State, Option<String>) {
    match live.phase {
        Phase::Running => (State::Running, None),
        Phase::Paused => (State::Paused, None),
        Phase::Stopping => (State::Stopping, None),
        Phase::DiskLow => {
            (State::DiskLow, Some("The disk is nearly full; it waits for room.".to_owned()))
        }
        Phase::Offline => {
            let why = live.offline_reason.clone();
            (State::Offline, Some(why.unwrap_or("This machine seems to be offline.".to_owned())))
        }
    }
}

fn stopped_because(want: Want, left: bool) -> Option<String> {
    match (want, left) {
        (Want::Running, true) => Some("It goes on when the server does.".to_owned()),
        (Want::Paused, _) => Some("It was paused when it was stopped.".to_owned()),
        _ => None,
    }
}

/// A crawl that ran for a moment has a log of its frontier, and perhaps no summary.
fn was_started(dir: &Path) -> bool {
    dir.join("logs").join("crawl.jsonl").exists()
}

fn counts(live: Option<&Status>, kept: Option<&Summary>) -> Counts {
    let kept = kept.map(of_summary).unwrap_or_default();
    let Some(live) = live else { return kept };
    let totals = &live.frontier.totals;
    let outcome = |word: &str| totals.outcomes.get(word).copied().unwrap_or_default();
    Counts {
        urls: totals.settled(),
        fetched: outcome("fetched"),
        redirects: outcome("redirected"),
        denied: outcome("denied"),
        error_answers: error_answers(&totals.statuses),
        rejected: totals.rejected.values().sum(),
        failed: totals.failed.values().sum(),
        duplicates: totals.duplicates,
        near_duplicates: totals.near_duplicates,
        queued: live.frontier.waiting,
        held: totals.held,
        hosts: totals.hosts,
        bytes: totals.bytes,
        links: totals.links,
        ..kept
    }
}

fn error_answers<S: ToString>(statuses: &BTreeMap<S, u64>) -> u64 {
    let is_error = |status: &S| status.to_string().parse::<u16>().is_ok_and(|code| code >= 400);
    statuses.iter().filter(|(status, _)| is_error(status)).map(|(_, answers)| answers).sum()
}

fn of_summary(kept: &Summary) -> Counts {
    Counts {
        urls: kept.urls,
        fetched: kept.fetched,
        redirects: kept.redirects,
        denied: kept.denied,
        error_answers: error_answers(&kept.statuses),
        rejected: kept.rejected.values().sum(),
        failed: kept.failed.values().sum(),
        duplicates: kept.duplicates,
        near_duplicates: kept.near_duplicates,
        queued: kept.queued,
        held: kept.held,
        hosts: kept.hosts,
        bytes: kept.bytes,
        warc_bytes: kept.warc_bytes,
        warc_files: kept.warc_files,
        links: kept.links,
    }
}

fn rates(live: &Status, counts: &Counts) -> Rates {
    Rates {
        pages_per_second: live.pages_per_second,
        bytes_per_second: live.bytes_per_second,
        in_flight: live.in_flight,
        places: live.places,
        places_reason: live.places_reason.clone(),
        errors_share: counts.failed as f64 / counts.urls.max(1) as f64,
        memory: live.memory,
    }
}

/// All crawls, each looked at.
pub async fn look_at_all(app: &App) -> Vec<Crawl> {
    let mut all = Vec::new();
    for (id, dir) in crate::crawls::list(&app.settings) {
        all.push(look(app, &id, &dir).await);
    }
    all
}

/// The same for one of them.
pub async fn find(app: &App, id: &str) -> Result<(PathBuf, Crawl), crate::Problem> {
    let dir = app.dir(id)?;
    let crawl = look(app, id, &dir).await;
    Ok((dir, crawl))
}
