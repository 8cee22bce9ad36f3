//! `larm pause`, `stop`, `set`, and `resume` of a crawl that runs: requests to another process.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use larm_crawl::change::Change;
use larm_crawl::control::{Request, ask};
use larm_crawl::directory;

use crate::cli::SetArgs;
use crate::exit::{Exit, shown, usage};

/// Stops leasing.
pub fn pause(dir: &Path) -> Result<Exit> {
    request(dir, Request::Pause)?;
    say(&format!("paused; go on with: larm resume {}", shown(dir)))
}

/// Goes on after a pause, with these changes.
pub fn wake(dir: &Path, changes: &[Change]) -> Result<Exit> {
    for change in changes {
        change_one(dir, &change.log_key(), &change.log_value())?;
    }
    request(dir, Request::Resume)?;
    say("this crawl runs already; if it was paused, it goes on now")
}

/// Ends the crawl.
pub fn stop(dir: &Path) -> Result<Exit> {
    request(dir, Request::Stop)?;
    say(&format!("stopping; go on later with: larm resume {}", shown(dir)))
}

/// Changes settings. All are checked before the first is sent.
pub fn set(args: &SetArgs) -> Result<Exit> {
    let pairs = args.changes.iter().map(|text| pair(text)).collect::<Result<Vec<_>>>()?;
    for (key, value) in pairs {
        change_one(&args.dir, key, value)?;
    }
    Ok(Exit::Done)
}

fn change_one(dir: &Path, key: &str, value: &str) -> Result<Exit> {
    request(dir, Request::Set { key: key.to_owned(), value: value.to_owned() })?;
    say(&format!("{key} is {value} from now on"))
}

fn pair(text: &str) -> Result<(&str, &str)> {
    let wrong = || usage(format!("`{text}` is not KEY=VALUE, such as delay=2s"));
    let (key, value) = text.split_once('=').ok_or_else(wrong)?;
    Change::parse(key, value).map_err(|error| usage(error.to_string()))?;
    Ok((key, value))
}

fn request(dir: &Path, request: Request) -> Result<()> {
    directory::identify(dir)?;
    let answer = super::block_on(async { Ok(ask(dir, request).await?) })?;
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
