//! `larm status`: how a crawl stands, running or not.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use larm_core::Limits;
use larm_core::workbench::Pace;
use larm_crawl::clock::Clock;
use larm_crawl::control::{Request, ask};
use larm_crawl::directory::Directory;
use larm_crawl::frontier::DiskFrontier;
use larm_crawl::store::summary::State;
use larm_crawl::{Phase, Status, Summary, directory, summarise};
use serde_json::json;

use super::hosts;
use crate::cli::StatusArgs;
use crate::exit::{Exit, shown};
use crate::human;
use crate::progress::{offline, waiting_for};
use crate::{summary, worth};

/// Hosts that are asked for.
const HOSTS_MAX: usize = 20;
/// Hosts that are shown to people.
const HOSTS_SHOWN: usize = 5;

/// Prints it.
pub fn status(args: &StatusArgs) -> Result<Exit> {
    directory::identify(&args.dir)?;
    if let Some(hosts_max) = args.hosts {
        return hosts::show(&args.dir, hosts_max, args.json);
    }
    let request = Request::Status { hosts: HOSTS_MAX };
    let answer = super::block_on(async { Ok(ask(&args.dir, request).await?) })?;
    let live = answer.as_ref().map(Status::read).transpose()?;
    let busy = live.is_some() || directory::in_use(&args.dir);
    let path = args.dir.join("summary.json");
    let kept = if path.exists() { Some(Summary::read(&path)?) } else { None };
    let killed = !busy && kept.as_ref().is_some_and(|kept| kept.state == State::Running);
    let kept = if killed { recovered(&args.dir).ok().or(kept) } else { kept };
    let word = word(live.as_ref(), kept.as_ref(), busy);
    let text = if args.json {
        let whole = json!({
            "dir": args.dir, "running": busy, "state": word, "status": answer, "summary": kept,
        });
        serde_json::to_string_pretty(&whole)?
    } else {
        in_words(&args.dir, word, live.as_ref(), kept.as_ref())
    };
    writeln!(std::io::stdout(), "{}", text.trim_end())?;
    Ok(Exit::Done)
}

/// What a crawl that was killed had come to: its state on disk knows more than its last summary.
fn recovered(dir: &Path) -> Result<Summary> {
    let lock = Directory::borrow(dir)?;
    let now = Clock::start().now();
    let limits = Arc::new(Limits::default());
    let opened = DiskFrontier::open(&lock.state(), &limits, Pace::default(), now)?;
    Ok(summarise(&opened.frontier, 0, now).with_archive(dir)?)
}

/// One word for where it stands. A summary that says "running" with nobody there was left by a kill.
fn word(live: Option<&Status>, kept: Option<&Summary>, busy: bool) -> &'static str {
    match (live.map(|live| live.phase), kept.map(|kept| kept.state)) {
        (Some(Phase::Running), _) => "running",
        (Some(Phase::Paused), _) => "paused",
        (Some(Phase::DiskLow), _) => "disk-low",
        (Some(Phase::Offline), _) => "offline",
        (Some(Phase::Stopping), _) => "stopping",
        (None, _) if busy => "running",
        (None, Some(State::Finished)) => "finished",
        (None, Some(State::Stopped)) => "stopped",
        (None, Some(State::Limit)) => "limit",
        (None, Some(State::Running) | None) => "interrupted",
    }
}

fn in_words(dir: &Path, word: &str, live: Option<&Status>, kept: Option<&Summary>) -> String {
    let resume = format!("larm resume {}", shown(dir));
    let limit = kept.and_then(|kept| kept.limit.as_deref()).unwrap_or("a limit");
    let stand = match word {
        "finished" => "finished".to_owned(),
        "limit" => format!("ended by {limit}; go on with: {resume} --{limit} …"),
        "stopped" => format!("stopped; go on with: {resume}"),
        "interrupted" => format!("interrupted; resume with: {resume}"),
        "paused" => format!("paused; go on with: {resume}"),
        "offline" => live.map(offline).unwrap_or_default(),
        "disk-low" => "running, and waiting for room on the disk".to_owned(),
        other => other.to_owned(),
    };
    let mut out = format!("{}: {stand}\n", shown(dir));
    // Writing to a text cannot fail.
    let _ = match (live, kept) {
        (Some(live), _) => write_live(&mut out, live),
        (None, Some(kept)) => write_kept(&mut out, dir, kept),
        (None, None) => Ok(()),
    };
    out
}

fn write_live(out: &mut String, status: &Status) -> std::fmt::Result {
    let frontier = &status.frontier;
    let totals = &frontier.totals;
    writeln!(
        out,
        "  {} done, {} waiting{}, {} of {} places in use ({})",
        human::count(totals.settled()),
        human::count(frontier.waiting),
        on_hosts(frontier.hosts_waiting),
        status.in_flight,
        human::count(status.places),
        status.places_reason
    )?;
    if status.refused > 0 {
        let times = human::counted(status.refused, "connection", "connections");
        writeln!(out, "  {times} had to wait: this machine allows no more open files (ulimit -n)")?;
    }
    writeln!(
        out,
        "  {:.1} pages/s, {}/s, {} so far, {} failed{}",
        status.pages_per_second,
        human::bytes(status.bytes_per_second as u64),
        human::bytes(totals.bytes),
        human::count(totals.failed.values().sum()),
        status
            .memory
            .map(|memory| format!(", {} of memory", human::bytes(memory)))
            .unwrap_or_default()
    )?;
    if let Some(seconds) = status.seconds_left.filter(|_| status.phase == Phase::Running) {
        writeln!(out, "  about {} left at this pace", human::time(seconds * 1_000))?;
    }
    if let Some(gain) = status.gain {
        writeln!(out, "  {}", worth::gain(gain))?;
    }
    for line in frontier.hosts.iter().filter_map(waiting_for).take(HOSTS_SHOWN) {
        writeln!(out, "  {line}")?;
    }
    Ok(())
}

/// Files wait on no host.
fn on_hosts(hosts: u64) -> String {
    match hosts {
        0 => String::new(),
        hosts => format!(" on {}", human::counted(hosts, "host", "hosts")),
    }
}

fn from_hosts(kept: &Summary) -> String {
    match kept.hosts {
        0 => String::new(),
        _ => format!(" from {}", summary::hosts(kept)),
    }
}

fn write_kept(out: &mut String, dir: &Path, kept: &Summary) -> std::fmt::Result {
    writeln!(
        out,
        "  {}, {}, {} denied by robots.txt, {} failed, {} waiting",
        human::counted(kept.fetched, "page", "pages"),
        human::counted(kept.redirects, "redirect", "redirects"),
        human::count(kept.denied),
        human::count(kept.failed.values().sum()),
        human::count(kept.queued)
    )?;
    if kept.held > 0 {
        let held = human::counted(kept.held, "of those is", "of those are");
        writeln!(
            out,
            "  {held} like pages that brought nothing new (larm status {} --hosts)",
            shown(dir)
        )?;
    }
    if let (Some(pages), Some(dropped)) = (kept.kept, kept.dropped) {
        let pages = human::counted(pages, "page is", "pages are");
        let dropped = human::counted(dropped, "answer was", "answers were");
        writeln!(out, "  {pages} kept as the best, {dropped} dropped")?;
    }
    if let Some(gain) = kept.gain {
        writeln!(out, "  {}", worth::gain(gain))?;
    }
    writeln!(
        out,
        "  {}{} in {}; archive: {} in {}",
        human::bytes(kept.bytes),
        from_hosts(kept),
        human::time(kept.active_ms),
        human::bytes(kept.warc_bytes),
        human::counted(kept.warc_files, "file", "files")
    )?;
    writeln!(out, "  started {}, last seen {}", kept.started, kept.ended)
}

#[cfg(test)]
mod tests {
    use larm_core::Millis;
    use larm_crawl::frontier::{FrontierStatus, HostStatus, Standing, Totals};

    use super::*;

    #[test]
    fn the_status_of_a_running_crawl_can_be_read_back() {
        let totals = Totals { statuses: [(200, 7)].into(), ..Totals::default() };
        let standing = Standing::Fetching { url: "http://h/".to_owned() };
        let host = HostStatus {
            host: "h".to_owned(),
            waiting: 1,
            answered: 2,
            failures: 0,
            address: None,
            alias: None,
            trouble: None,
            gap_ms: 1_000,
            gap_rule: String::new(),
            delay_ms: None,
            standing,
            budget: None,
            patterns: Vec::new(),
        };
        let frontier =
            FrontierStatus { totals, waiting: 3, leased: 1, hosts_waiting: 1, hosts: vec![host] };
        let status = Status {
            at: Millis(1),
            phase: Phase::Running,
            offline_since: None,
            offline_reason: None,
            in_flight: 1,
            places: 8,
            places_reason: "set".to_owned(),
            refused: 0,
            pages_per_second: 0.5,
            bytes_per_second: 2.0,
            memory: Some(1 << 20),
            seconds_left: Some(6),
            gain: None,
            frontier,
        };
        let back = Status::read(&serde_json::to_value(&status).unwrap()).unwrap();
        assert_eq!(back.frontier.totals.statuses.get(&200), Some(&7));
        assert_eq!(back.phase, Phase::Running);
    }

    #[test]
    fn a_crawl_that_was_killed_is_interrupted() {
        let kept = |state| Summary { state, ..Summary::default() };
        assert_eq!(word(None, Some(&kept(State::Running)), false), "interrupted");
        assert_eq!(word(None, Some(&kept(State::Running)), true), "running");
        assert_eq!(word(None, Some(&kept(State::Finished)), false), "finished");
        assert_eq!(word(None, None, false), "interrupted");
    }
}
