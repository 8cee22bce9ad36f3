//! `larm status`: how a crawl stands, running or not.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use larm_crawl::control::{Request, ask};
use larm_crawl::store::summary::State;
use larm_crawl::{Phase, Status, Summary, directory};
use serde_json::json;

use crate::cli::StatusArgs;
use crate::exit::{Exit, shown};
use crate::human;
use crate::progress::waiting_for;

/// Hosts that are asked for.
const HOSTS_MAX: usize = 20;
/// Hosts that are shown to people.
const HOSTS_SHOWN: usize = 5;

/// Prints it.
pub fn status(args: &StatusArgs) -> Result<Exit> {
    directory::identify(&args.dir)?;
    let request = Request::Status { hosts: HOSTS_MAX };
    let answer = super::block_on(async { Ok(ask(&args.dir, request).await?) })?;
    let live: Option<Status> = answer.map(serde_json::from_value).transpose()?;
    let busy = live.is_some() || directory::in_use(&args.dir);
    let path = args.dir.join("summary.json");
    let kept = if path.exists() { Some(Summary::read(&path)?) } else { None };
    let word = word(live.as_ref(), kept.as_ref(), busy);
    let text = if args.json {
        let whole = json!({
            "dir": args.dir, "running": busy, "state": word, "status": live, "summary": kept,
        });
        serde_json::to_string_pretty(&whole)?
    } else {
        in_words(&args.dir, word, live.as_ref(), kept.as_ref())
    };
    writeln!(std::io::stdout(), "{}", text.trim_end())?;
    Ok(Exit::Done)
}

/// One word for where it stands. A summary that says "running" with nobody there was left by a kill.
fn word(live: Option<&Status>, kept: Option<&Summary>, busy: bool) -> &'static str {
    match (live.map(|live| live.phase), kept.map(|kept| kept.state)) {
        (Some(Phase::Running), _) => "running",
        (Some(Phase::Paused), _) => "paused",
        (Some(Phase::DiskLow), _) => "disk-low",
        (Some(Phase::Stopping), _) => "stopping",
        (None, _) if busy => "running",
        (None, Some(State::Finished)) => "finished",
        (None, Some(State::Stopped)) => "stopped",
        (None, Some(State::Limit)) => "limit",
        (None, Some(State::Running | State::Interrupted) | None) => "interrupted",
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
        "disk-low" => "running, and waiting for room on the disk".to_owned(),
        other => other.to_owned(),
    };
    let mut out = format!("{}: {stand}\n", shown(dir));
    // Writing to a text cannot fail.
    let _ = match (live, kept) {
        (Some(live), _) => write_live(&mut out, live),
        (None, Some(kept)) => write_kept(&mut out, kept),
        (None, None) => Ok(()),
    };
    out
}

fn write_live(out: &mut String, status: &Status) -> std::fmt::Result {
    let frontier = &status.frontier;
    let totals = &frontier.totals;
    writeln!(
        out,
        "  {} done, {} waiting on {}, {} in flight",
        human::count(totals.settled()),
        human::count(frontier.waiting),
        human::counted(frontier.hosts_waiting, "host", "hosts"),
        status.in_flight
    )?;
    writeln!(
        out,
        "  {:.1} pages/s, {}/s, {} so far, {} failed",
        status.pages_per_second,
        human::bytes(status.bytes_per_second as u64),
        human::bytes(totals.bytes),
        human::count(totals.failed.values().sum())
    )?;
    for line in frontier.hosts.iter().filter_map(waiting_for).take(HOSTS_SHOWN) {
        writeln!(out, "  {line}")?;
    }
    Ok(())
}

fn write_kept(out: &mut String, kept: &Summary) -> std::fmt::Result {
    writeln!(
        out,
        "  {}, {}, {} denied by robots.txt, {} failed, {} waiting",
        human::counted(kept.fetched, "page", "pages"),
        human::counted(kept.redirects, "redirect", "redirects"),
        human::count(kept.denied),
        human::count(kept.failed.values().sum()),
        human::count(kept.queued)
    )?;
    writeln!(
        out,
        "  {} from {} in {}; archive: {} in {}",
        human::bytes(kept.bytes),
        human::counted(kept.hosts, "host", "hosts"),
        human::time(kept.active_ms),
        human::bytes(kept.warc_bytes),
        human::counted(kept.warc_files, "file", "files")
    )?;
    writeln!(out, "  started {}, last seen {}", kept.started, kept.ended)
}
