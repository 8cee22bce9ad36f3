//! Drives a crawl to its end: progress, signals, summary.

use std::path::Path;
use std::pin::pin;

use anyhow::Result;
use larm_crawl::control::Control;
use larm_crawl::directory::Directory;
use larm_crawl::store::summary::State;
use larm_crawl::{Crawl, Error, Handle, Plan, Running, Summary};
use tokio::time::{MissedTickBehavior, interval};

use super::dashboard::Page;
use super::{compact, lines};
use crate::cli::RunArgs;
use crate::config::Config;
use crate::console::Console;
use crate::exit::{CrawlFailed, Exit, shown};
use crate::human;
use crate::progress::{HOSTS_MAX, Progress};
use crate::summary::{Report, exit_of};

/// A crawl to be driven.
pub struct Job {
    /// What was asked for.
    pub config: Config,
    /// What it means.
    pub plan: Plan,
    /// Where it runs.
    pub directory: Directory,
    /// About this run.
    pub run: RunArgs,
    /// Where to say things.
    pub console: Console,
}

/// Runs it to the end and prints the summary.
pub async fn drive(job: Job) -> Result<Exit> {
    let Job { config, plan, directory, run, console } = job;
    let dir = plan.dir.clone();
    let places = usize::try_from(plan.limits.control_connections_max).unwrap_or(usize::MAX);
    let failed = |error: Error| CrawlFailed { dir: dir.clone(), error };
    let crawl = lines::add_sinks(
        Crawl::new(plan.clone()).within(directory),
        &plan,
        &config,
        &run,
        &console,
    )?;
    let running = crawl.start().map_err(failed)?;
    let handle = running.handle();
    tell_start(&running, &dir, &config, &console);
    let control = Control::open(&dir, handle.clone(), places).await.map_err(failed)?;
    let silent = run.quiet || run.no_progress;
    let page = Page::open(run.dashboard, &dir, &console).await?;
    let ended = tokio::select! {
        ended = watch(running, &handle, Progress::new(&console, silent), &console) => ended,
        () = page.serve() => unreachable!("a page is served for good"),
    };
    control.close().await;
    let summary = ended.map_err(failed)?;
    let report = Report {
        summary: &summary,
        config: &config,
        dir: &dir,
        handle: &handle,
        paint: console.paint,
    };
    console.say(report.text().trim_end());
    // Nobody asks the crawl any more: its state is to be replaced.
    drop(handle);
    let has_ended = matches!(summary.state, State::Finished | State::Limit);
    if let Some(pages_max) = config.settings.keep_best.filter(|_| has_ended) {
        let done = compact::keep_best(plan, &config, pages_max).await?;
        console.say(compact::in_words(&done, &dir));
    }
    Ok(exit_of(&summary))
}

fn tell_start(running: &Running, dir: &Path, config: &Config, console: &Console) {
    let status = running.handle().status(0);
    let settled = status.frontier.totals.settled();
    if running.is_resumed() {
        console.say(format!(
            "going on with {}: {} done, {} waiting",
            shown(dir),
            human::count(settled),
            human::count(status.frontier.waiting)
        ));
    } else {
        let seeds = config.seeds.all().count() as u64;
        let seeds = human::counted(seeds, "seed", "seeds");
        console.say(format!("crawling {seeds} into {} (Ctrl-C stops and keeps it)", shown(dir)));
    }
}

/// Shows progress until the end, and stops the crawl when asked to.
async fn watch(
    running: Running,
    handle: &Handle,
    mut progress: Progress,
    console: &Console,
) -> Result<Summary, Error> {
    let mut signals = Signals::new();
    let mut tick = interval(progress.tick());
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut end = pin!(running.wait());
    let mut asked = false;
    let summary = loop {
        tokio::select! {
            summary = &mut end => break summary,
            _ = tick.tick() => progress.show(&handle.status(HOSTS_MAX)),
            () = signals.next() => {
                if asked {
                    // What was settled is on disk; the rest is done again.
                    std::process::exit(i32::from(Exit::Interrupted.code()));
                }
                asked = true;
                handle.stop();
                console.say("stopping: finishing what is in flight; once more leaves at once");
            }
        }
    };
    progress.finish();
    summary
}

/// Requests to end: Ctrl-C, and what `kill` sends.
#[cfg(unix)]
pub struct Signals(Vec<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Signals {
    /// Listens for them from here on.
    pub fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        // Without a handler the signal ends the process, which the crawl survives, too.
        Self(kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect())
    }

    /// The next one.
    pub async fn next(&mut self) {
        std::future::poll_fn(|context| {
            let came = self.0.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if came { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }
}

#[cfg(not(unix))]
pub struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Listens for them from here on.
    pub fn new() -> Self {
        Self
    }

    /// The next one.
    pub async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
