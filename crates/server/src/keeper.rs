//! Looks after crawls: starts them, starts them again should they die, and stops them when the server ends.
//!
//! A crawl is a process of its own and needs no server. What is kept here is what should be running; whether it
//! does is asked of its directory, which is locked while a crawl uses it. So a server that was killed finds
//! everything as it was.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use larm_core::Millis;
use larm_crawl::clock::Clock;
use larm_crawl::control::{self, Request};
use larm_crawl::directory::in_use;
use larm_crawl::store::Summary;
use larm_crawl::store::summary::State;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::app::Shared;
use crate::problem::Problem;
use crate::settings::Settings;
use crate::wanted::{Entry, Want, Wanted};

/// How often is looked after them.
const TICK: Duration = Duration::from_secs(1);

/// A crawl that lived so long is well, whatever was before.
const WELL_MS: u64 = 60_000;

/// Somebody stopped it: believed only after so many looks, since the one who stops everything may be about to
/// stop us, too.
const STOPPED_LOOKS: u32 = 3;

/// How long a crawl may take to end that is to be started again: what is in flight is finished first.
const STOPPING_MS_MAX: u64 = 5 * 60_000;
/// And one that does not listen any more.
const SILENT_MS_MAX: u64 = 10_000;

/// The longest wait between two tries.
const BACK_OFF_MS_MAX: u64 = 5 * 60_000;

/// How long crawls may take to stop when the server ends.
const FAREWELL: Duration = Duration::from_secs(20);
/// How often they are told.
const FAREWELL_TICK: Duration = Duration::from_millis(100);

/// Exit codes of a crawl that ended as it should: done, nothing fetched, a limit.
const ENDED: [i32; 3] = [0, 3, 4];
/// It was asked to stop.
const INTERRUPTED: i32 = 130;
/// It was told something that it cannot do; trying again is no use.
const USAGE: i32 = 2;

/// The file below a crawl directory that takes what the crawl says.
pub const LOG: &str = "logs/server.log";

/// Looks after crawls.
pub struct Keeper {
    state: Mutex<Keeping>,
    clock: Clock,
}

struct Keeping {
    wanted: Wanted,
    known: HashMap<PathBuf, Known>,
}

/// What is known of a crawl that was started here, or found.
#[derive(Default)]
struct Known {
    child: Option<Child>,
    /// Since when it runs without a break, as far as was seen.
    well_since: Option<Millis>,
    tries: u64,
    not_before: Millis,
    stopped_looks: u32,
    /// It was told to start while it was about to end: once it has, it is, if that is before this time.
    again_until: Millis,
}

/// What is seen of a crawl that is about to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It says so.
    Stopping,
    /// It uses its directory and does not listen: it ends, or has only just begun.
    Silent,
}

/// How a process ended.
enum Gone {
    /// As it should.
    Ended,
    /// By somebody's wish.
    Stopped,
    /// It died.
    Died,
    /// It cannot be started at all.
    Refused,
}

impl Keeper {
    /// Reads what should be running.
    pub fn new(settings: &Settings) -> Self {
        let wanted = Wanted::open(settings.root.as_deref());
        let state = Keeping { wanted, known: HashMap::new() };
        Self { state: Mutex::new(state), clock: Clock::start() }
    }

    fn state(&self) -> MutexGuard<'_, Keeping> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is wanted of a crawl.
    pub fn entry(&self, dir: &Path) -> Entry {
        self.state().wanted.get(dir)
    }

    /// Whether it was started here and has not ended, though it may not have locked its directory yet.
    pub fn is_starting(&self, dir: &Path) -> bool {
        let mut state = self.state();
        let child = state.known.get_mut(dir).and_then(|known| known.child.as_mut());
        child.is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// Wants a crawl to run, and starts it.
    pub fn start(&self, app: &Shared, dir: &Path) -> Result<(), Problem> {
        self.want(dir, Want::Running)?;
        if in_use(dir) || self.is_starting(dir) {
            return Ok(());
        }
        self.state().known.remove(dir);
        self.launch(app, dir)
    }

    /// Wants a crawl to run that is about to end: it is started when it has.
    pub fn start_again(&self, dir: &Path, ending: Ending) -> Result<(), Problem> {
        self.want(dir, Want::Running)?;
        let until = self.clock.now().after(match ending {
            Ending::Stopping => STOPPING_MS_MAX,
            Ending::Silent => SILENT_MS_MAX,
        });
        self.note(dir, |known| known.again_until = until);
        Ok(())
    }

    /// Whether anything was ever wanted of it here.
    pub fn knows(&self, dir: &Path) -> bool {
        self.state().wanted.knows(dir)
    }

    /// Wants a crawl not to run that cannot be told so: it has died, or does not listen yet.
    pub fn stop(&self, dir: &Path) -> Result<(), Problem> {
        self.want(dir, Want::Stopped)?;
        if !self.is_starting(dir) {
            return Ok(());
        }
        // It has only just begun; whatever it has settled is kept.
        self.note(dir, |known| known.child.as_mut().map_or(Ok(()), Child::kill))
            .map_err(Problem::internal)
    }

    /// Wants something else of it.
    pub fn want(&self, dir: &Path, want: Want) -> Result<(), Problem> {
        self.state().wanted.set(dir, Entry { want, ..Entry::default() })
    }

    /// Forgets a crawl that is gone.
    pub fn forget(&self, dir: &Path) -> Result<(), Problem> {
        let mut state = self.state();
        state.known.remove(dir);
        state.wanted.forget(dir)
    }

    fn launch(&self, app: &Shared, dir: &Path) -> Result<(), Problem> {
        let child = app.launcher()?.start(dir)?;
        self.state().known.entry(dir.to_owned()).or_default().child = Some(child);
        Ok(())
    }

    /// Looks after all crawls, for good.
    pub async fn keep(&self, app: &Shared) {
        self.take_up(app);
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            let wanted = self.state().wanted.dirs(Want::Running);
            for dir in wanted {
                self.look_after(app, &dir);
            }
        }
    }

    /// Goes on with what an earlier server left.
    fn take_up(&self, app: &Shared) {
        let wanted = self.state().wanted.dirs(Want::Running);
        for dir in wanted.iter().filter(|dir| self.entry(dir).left) {
            tracing::info!(dir = %dir.display(), "goes on");
            if let Err(problem) = self.start(app, dir) {
                self.give_up(dir, problem.detail);
            }
        }
    }

    fn look_after(&self, app: &Shared, dir: &Path) {
        cut_log(dir, app.settings.limits.server_log_bytes_max);
        let now = self.clock.now();
        if in_use(dir) {
            return self.is_well(dir, now);
        }
        match self.gone(dir) {
            None => {}
            Some(Gone::Ended) => self.rest(dir),
            Some(Gone::Stopped) if self.note(dir, |known| known.again_until > now) => {
                if let Err(problem) = self.start(app, dir) {
                    self.give_up(dir, problem.detail);
                }
            }
            Some(Gone::Stopped) => {
                let looks = self.note(dir, |known| {
                    known.stopped_looks += 1;
                    known.stopped_looks
                });
                if looks >= STOPPED_LOOKS {
                    self.rest(dir);
                }
            }
            Some(Gone::Refused) => self.give_up(dir, last_words(dir)),
            Some(Gone::Died) => self.try_again(app, dir, now),
        }
    }

    fn is_well(&self, dir: &Path, now: Millis) {
        self.note(dir, |known| {
            let since = *known.well_since.get_or_insert(now);
            // Another process than the one that was started here may have come first.
            known.child.take_if(|child| !matches!(child.try_wait(), Ok(None)));
            known.stopped_looks = 0;
            if now.since(since) >= WELL_MS {
                known.tries = 0;
            }
        });
    }

    fn note<T>(&self, dir: &Path, note: impl FnOnce(&mut Known) -> T) -> T {
        note(self.state().known.entry(dir.to_owned()).or_default())
    }

    /// How the process ended; `None` while it has not. One that was not started by this server is judged by what
    /// it left behind.
    fn gone(&self, dir: &Path) -> Option<Gone> {
        let ended = self.note(dir, |known| known.child.as_mut().map(Child::try_wait));
        match ended {
            Some(Ok(None)) => None,
            Some(Ok(Some(status))) => Some(match status.code() {
                Some(code) if ENDED.contains(&code) => Gone::Ended,
                Some(INTERRUPTED) => Gone::Stopped,
                Some(USAGE) => Gone::Refused,
                _ => Gone::Died,
            }),
            Some(Err(_)) | None => Some(match summary_of(dir).map(|summary| summary.state) {
                Some(State::Finished | State::Limit) => Gone::Ended,
                Some(State::Stopped) => Gone::Stopped,
                Some(State::Running) | None => Gone::Died,
            }),
        }
    }

    /// It is over, and not to be started again.
    fn rest(&self, dir: &Path) {
        self.state().known.remove(dir);
        if let Err(problem) = self.want(dir, Want::Stopped) {
            tracing::warn!(dir = %dir.display(), "{}", problem.detail);
        }
    }

    fn give_up(&self, dir: &Path, why: String) {
        tracing::warn!(dir = %dir.display(), "not started again: {why}");
        let entry = Entry { failed: Some(why), ..Entry::default() };
        let mut state = self.state();
        state.known.remove(dir);
        if let Err(problem) = state.wanted.set(dir, entry) {
            tracing::warn!(dir = %dir.display(), "{}", problem.detail);
        }
    }

    fn try_again(&self, app: &Shared, dir: &Path, now: Millis) {
        if !dir.is_dir() {
            return self.give_up(dir, "Its directory is gone.".to_owned());
        }
        let tries = self.note(dir, |known| {
            if known.well_since.take().is_some() || known.child.take().is_some() {
                known.not_before = now.after(back_off_ms(known.tries));
            }
            if known.not_before > now {
                return None;
            }
            known.tries += 1;
            Some(known.tries)
        });
        match tries {
            None => {}
            Some(tries) if tries > app.settings.limits.server_restarts_max => {
                self.give_up(dir, format!("It died {tries} times. {}", last_words(dir)));
            }
            Some(_) => {
                tracing::warn!(dir = %dir.display(), "it died, and is started again");
                if let Err(problem) = self.launch(app, dir) {
                    self.give_up(dir, problem.detail);
                }
            }
        }
    }

    /// Tells the crawls that were started here to stop, and waits for them. They go on with the next server.
    /// Says how many there were.
    pub async fn farewell(&self) -> usize {
        let mut dirs = self.state().wanted.dirs(Want::Running);
        dirs.retain(|dir| in_use(dir) || self.is_starting(dir));
        for dir in &dirs {
            let entry = Entry { want: Want::Running, left: true, failed: None };
            if let Err(problem) = self.state().wanted.set(dir, entry) {
                tracing::warn!(dir = %dir.display(), "{}", problem.detail);
            }
        }
        let paused = self.state().wanted.dirs(Want::Paused);
        let all: Vec<&PathBuf> = dirs.iter().chain(&paused).collect();
        let _ = timeout(FAREWELL, self.stop_all(&all)).await;
        dirs.len()
    }

    /// A crawl that has just been started may not listen yet, so all are told until they are gone.
    async fn stop_all(&self, dirs: &[&PathBuf]) {
        let mut tick = interval(FAREWELL_TICK);
        loop {
            let is_there = |dir: &&&PathBuf| in_use(dir) || self.is_starting(dir);
            let running: Vec<&&PathBuf> = dirs.iter().filter(is_there).collect();
            if running.is_empty() {
                return;
            }
            for dir in running {
                // One that does not answer is about to end, or is left to itself in the end.
                let _ = control::ask(dir, Request::Stop).await;
            }
            tick.tick().await;
        }
    }
}

fn back_off_ms(tries: u64) -> u64 {
    let doublings = u32::try_from(tries).unwrap_or(u32::MAX).min(20);
    (1_000_u64 << doublings).min(BACK_OFF_MS_MAX)
}

/// The summary of a crawl, if it has one.
pub fn summary_of(dir: &Path) -> Option<Summary> {
    Summary::read(&dir.join("summary.json")).ok()
}

/// What the process said last, for people.
fn last_words(dir: &Path) -> String {
    let bytes = fs::read(dir.join(LOG)).unwrap_or_default();
    let tail = &bytes[bytes.len().saturating_sub(4_096)..];
    let text = String::from_utf8_lossy(tail);
    // An error begins with our name, and may go on for some lines.
    let error = text.rfind("larm: ").map_or(&*text, |at| &text[at..]);
    let lines: Vec<&str> = error.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let begins = error.starts_with("larm: ");
    let told =
        if begins { lines.join(" ") } else { lines.last().copied().unwrap_or("").to_owned() };
    match told.strip_prefix("larm: ").unwrap_or(&told) {
        "" => format!("It said nothing; see {LOG} in its directory."),
        told => told.to_owned(),
    }
}

/// The process appends to its log, so that it can be cut while it runs.
fn cut_log(dir: &Path, bytes_max: u64) {
    let path = dir.join(LOG);
    if fs::metadata(&path).is_ok_and(|meta| meta.len() > bytes_max) {
        // Best effort: the next look tries again.
        let _ = fs::OpenOptions::new().write(true).open(&path).map(|file| file.set_len(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_have_an_end() {
        assert_eq!([0, 1, 2, 5].map(back_off_ms), [1_000, 2_000, 4_000, 32_000]);
        assert_eq!(back_off_ms(u64::MAX), BACK_OFF_MS_MAX);
    }

    #[test]
    fn the_last_words_of_a_process_are_told() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("logs")).unwrap();
        assert!(last_words(temp.path()).contains("said nothing"));
        fs::write(temp.path().join(LOG), "going on\nlarm: the disk is full\n\n").unwrap();
        assert_eq!(last_words(temp.path()), "the disk is full");
        let error = "going on\nlarm: larm.toml, line 3: no such key\n  (the line is not shown)\n";
        fs::write(temp.path().join(LOG), error).unwrap();
        assert_eq!(
            last_words(temp.path()),
            "larm.toml, line 3: no such key (the line is not shown)"
        );
    }

    #[test]
    fn a_log_that_grows_begins_anew() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("logs")).unwrap();
        fs::write(temp.path().join(LOG), "x".repeat(100)).unwrap();
        cut_log(temp.path(), 100);
        assert_eq!(fs::metadata(temp.path().join(LOG)).unwrap().len(), 100);
        cut_log(temp.path(), 99);
        assert_eq!(fs::metadata(temp.path().join(LOG)).unwrap().len(), 0);
    }
}
