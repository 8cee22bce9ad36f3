//! Carries out changes of a crawl that runs, and those of earlier runs when it goes on.
//!
//! Changes that come together are looked at together: all of them are carried out and kept, or none is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;

use larm_core::workbench::Pace;

use crate::change::Change;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Command;
use crate::store::runs::RunChange;

/// What is wished for single hosts.
#[derive(Debug, Default)]
pub(crate) struct HostWishes {
    /// Gaps by the settings.
    set: BTreeMap<String, u64>,
    /// Gaps that were changed since.
    changed: BTreeMap<String, u64>,
    paused: BTreeSet<String>,
}

impl HostWishes {
    /// What the settings say.
    pub fn new(delays: &[(String, u64)]) -> Self {
        Self { set: delays.iter().cloned().collect(), ..Self::default() }
    }

    fn delay(&mut self, host: &str, ms: Option<u64>) {
        match ms {
            Some(ms) => self.changed.insert(host.to_owned(), ms),
            None => self.changed.remove(host),
        };
    }

    fn delays(&self) -> Vec<(String, u64)> {
        let mut all = self.set.clone();
        all.extend(self.changed.clone());
        all.into_iter().collect()
    }

    fn pause(&mut self, host: &str, is_paused: bool) {
        match is_paused {
            true => self.paused.insert(host.to_owned()),
            false => self.paused.remove(host),
        };
    }
}

impl Engine {
    /// Carries out what somebody asked for, and answers.
    pub(crate) fn obey(&mut self, (changes, reply): Command) {
        let done = self.change(&changes).and_then(|()| self.note(&changes));
        let answer = done.map_err(|error| error.to_string());
        if answer.is_ok() {
            for change in &changes {
                tracing::info!(key = change.key(), value = change.value(), "setting changed");
            }
        }
        // Whoever asked may have gone; the change stands.
        let _ = reply.send(answer);
    }

    /// Notes in the list of runs what this one was told.
    fn note(&self, changes: &[Change]) -> Result<()> {
        let Some(run) = self.shared.run.get() else { return Ok(()) };
        let told =
            |change: &Change| RunChange { key: change.key().to_owned(), value: change.value() };
        let changes = changes.iter().map(told).collect();
        run.change(self.shared.clock.now(), self.shared.run_totals(), changes)
    }

    /// Goes on with the changes of earlier runs: but for those that `told` is about, which is newer.
    pub(crate) fn go_on_with(&mut self, told: &[Change]) -> Result<()> {
        let shared = self.shared.clone();
        let mut changes = shared.changes.lock().unwrap_or_else(PoisonError::into_inner);
        changes.forget(told)?;
        for change in changes.all() {
            let done = self.check(&change).and_then(|()| self.apply(std::slice::from_ref(&change)));
            if let Err(error) = done {
                let (key, value) = (change.key(), change.value());
                tracing::warn!(key, value, %error, "an earlier change cannot be held any more");
                changes.forget(&[change])?;
            }
        }
        drop(changes);
        self.change(told)
    }

    /// Carries out changes, and keeps them for the runs to come.
    fn change(&mut self, changes: &[Change]) -> Result<()> {
        changes.iter().try_for_each(|change| self.check(change))?;
        let shared = self.shared.clone();
        let mut kept = shared.changes.lock().unwrap_or_else(PoisonError::into_inner);
        kept.check_room(changes)?;
        self.apply(changes)?;
        kept.note(changes)
    }

    /// Refuses what cannot be.
    fn check(&self, change: &Change) -> Result<()> {
        let refused = |why: String| Err(Error::Plan(why));
        match change {
            Change::Delay(0) | Change::HostDelay(_, Some(0)) if !self.is_own_server => refused(
                "a delay of 0 is for your own servers: stop the crawl, and start it so".to_owned(),
            ),
            Change::Concurrency(Some(n)) if *n > self.limits.fetches_max => refused(format!(
                "a concurrency of {n} is above the limit `fetches_max` of {}; that one can be raised when the crawl \
                 is started",
                self.limits.fetches_max
            )),
            Change::Unexclude(text) if !self.line.rules.holds(change) => {
                refused(format!("no pattern `{text}` excludes URLs here"))
            }
            Change::Unblock(host) if !self.line.rules.holds(change) => {
                refused(format!("{host} is not among the hosts that were named to be left alone"))
            }
            _ => Ok(()),
        }
    }

    /// Carries out changes that were checked. What can still fail comes first.
    pub(crate) fn apply(&mut self, changes: &[Change]) -> Result<()> {
        self.line.rules.revise(changes)?;
        changes.iter().try_for_each(|change| self.apply_one(change))?;
        let mut frontier = self.shared.frontier.hold()?;
        frontier.set_pace(self.pace);
        frontier.set_budgets(self.ends.budgets)
    }

    fn apply_one(&mut self, change: &Change) -> Result<()> {
        match change {
            Change::Delay(ms) => self.pace = paced(self.pace, *ms),
            Change::Rate(rate) => self.pace.rate = *rate,
            Change::Concurrency(n) => self.places.set(*n),
            Change::MaxPages(_)
            | Change::HostBudget(_)
            | Change::SiteBudget(_)
            | Change::PatternBudget(_) => change.set_budget(&mut self.ends.budgets),
            Change::HostDelay(host, ms) => {
                self.hosts.delay(host, *ms);
                let delays = self.hosts.delays();
                self.shared.frontier.hold()?.set_host_delays(&delays);
            }
            Change::HostPause(host, is_paused) => {
                self.hosts.pause(host, *is_paused);
                let paused: Vec<String> = self.hosts.paused.iter().cloned().collect();
                self.shared.frontier.hold()?.set_paused(&paused);
            }
            Change::Seed(url) => {
                if let Some(url) = larm_core::url::CrawlUrl::from_canonical(url) {
                    self.line.rules.adopt_seed(&url);
                }
            }
            Change::Exclude(_) | Change::Unexclude(_) | Change::Block(_) | Change::Unblock(_) => {}
        }
        Ok(())
    }
}

/// The gaps for another delay: 0 is for one's own servers and drops the address's gap too; any other
/// keeps it, or brings it back.
fn paced(pace: Pace, delay_ms: u64) -> Pace {
    let address_gap_ms = match (delay_ms, pace.address_gap_ms) {
        (0, _) => 0,
        (_, 0) => Pace::default().address_gap_ms,
        (_, gap) => gap,
    };
    Pace { delay_ms, address_gap_ms, ..pace }
}
