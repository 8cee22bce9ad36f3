//! `larm pause`, `stop`, `set`, and `resume` of a crawl that runs: requests to another process.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use larm_crawl::change::Change;
use larm_crawl::control::{Request, ask, ask_patiently};
use larm_crawl::directory;
use larm_crawl::handle::{Phase, Status};
use tokio::time::interval;

use crate::cli::SetArgs;
use crate::config::value::Time;
use crate::exit::{Exit, shown, usage};

/// How long to wait for a crawl that was told to stop, and how often to look.
const END_TICK: Duration = Duration::from_millis(50);
const END_TICKS_MAX: u32 = 1_200;

/// Stops leasing.
pub fn pause(dir: &Path) -> Result<Exit> {
    request(dir, Request::Pause)?;
    say(&format!("paused; go on with: larm resume {}", shown(dir)))
}

/// Goes on after a pause, with these changes.
pub fn wake(dir: &Path, changes: &[Change]) -> Result<Exit> {
    if !changes.is_empty() {
        change(dir, changes)?;
    }
    request(dir, Request::Resume)?;
    say("this crawl runs already; if it was paused, it goes on now")
}

/// Ends the crawl, and waits for that: whoever comes next finds the directory free.
pub fn stop(dir: &Path) -> Result<Exit> {
    request(dir, Request::Stop)?;
    let dir_shown = shown(dir);
    match wait_for_end(dir)? {
        true => say(&format!("stopped; go on later with: larm resume {dir_shown}")),
        false => say(&format!(
            "stopping: it is still finishing what is in flight; `larm status {dir_shown}` says when that is done"
        )),
    }
}

/// Whether a crawl that is in use is about to end, and then does.
pub fn is_over_soon(dir: &Path) -> Result<bool> {
    let answer = super::block_on(async { Ok(ask(dir, Request::Status { hosts: 0 }).await?) })?;
    let status = answer.as_ref().map(Status::read).transpose()?;
    Ok(status.is_some_and(|status| status.phase == Phase::Stopping) && wait_for_end(dir)?)
}

/// Waits until nobody uses the directory; whether that came true in time.
fn wait_for_end(dir: &Path) -> Result<bool> {
    super::block_on(async {
        let mut tick = interval(END_TICK);
        for _ in 0..END_TICKS_MAX {
            if !directory::in_use(dir) {
                return Ok(true);
            }
            tick.tick().await;
        }
        Ok(false)
    })
}

/// Changes settings: all of them, or none.
pub fn set(args: &SetArgs) -> Result<Exit> {
    let changes = args.changes.iter().map(|text| parse(text)).collect::<Result<Vec<_>>>()?;
    change(&args.dir, &changes)
}

fn change(dir: &Path, changes: &[Change]) -> Result<Exit> {
    request(dir, Request::set(changes))?;
    changes.iter().try_for_each(|change| say(&in_words(change)).map(drop))?;
    Ok(Exit::Done)
}

fn in_words(change: &Change) -> String {
    match change {
        Change::Exclude(pattern) => {
            format!(
                "URLs that match `{pattern}` are left out from now on; those that wait, when their turn comes"
            )
        }
        Change::Unexclude(pattern) => format!("`{pattern}` leaves out nothing from now on"),
        Change::Block(host) => format!("{host} is left alone from now on"),
        Change::Unblock(host) => format!("{host} is left alone no longer"),
        Change::HostPause(host, true) => {
            format!("nothing more is asked of {host}, until: host-resume={host}")
        }
        Change::HostPause(host, false) => format!("{host} is asked again"),
        Change::HostDelay(host, Some(ms)) => {
            format!("two requests to {host} are at least {} apart from now on", Time(*ms))
        }
        Change::HostDelay(host, None) => {
            format!("requests to {host} keep the delay of the settings from now on")
        }
        Change::MaxPages(None) => "no number of pages ends this crawl any more".to_owned(),
        Change::Rate(None) => "no rate bounds this crawl as a whole any more".to_owned(),
        change => format!("{} is {} from now on", change.key(), change.value()),
    }
}

fn parse(text: &str) -> Result<Change> {
    let wrong = || usage(format!("`{text}` is not KEY=VALUE, such as delay=2s"));
    let (key, value) = text.split_once('=').ok_or_else(wrong)?;
    Change::parse(key, value).map_err(|error| usage(error.to_string()))
}

fn request(dir: &Path, request: Request) -> Result<()> {
    directory::identify(dir)?;
    let answer = super::block_on(async { Ok(ask_patiently(dir, request).await?) })?;
    answer.map(drop).ok_or_else(|| {
        usage(format!(
            "{} is not running; start it with: larm resume {}",
            dir.display(),
            shown(dir)
        ))
    })
}

fn say(text: &str) -> Result<Exit> {
    writeln!(std::io::stdout(), "{text}")?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_in_sentences() {
        let rows = [
            ("host-pause=a.test", "nothing more is asked of a.test, until: host-resume=a.test"),
            ("host-resume=a.test", "a.test is asked again"),
            ("host-delay=a.test:5s", "two requests to a.test are at least 5s apart from now on"),
            (
                "host-delay=a.test:default",
                "requests to a.test keep the delay of the settings from now on",
            ),
            ("max-pages=none", "no number of pages ends this crawl any more"),
            ("max-pages=50", "max-pages is 50 from now on"),
            ("rate=none", "no rate bounds this crawl as a whole any more"),
            ("block=ADS.example", "ads.example is left alone from now on"),
        ];
        for (typed, words) in rows {
            assert_eq!(in_words(&parse(typed).unwrap()), words, "{typed}");
        }
    }
}
