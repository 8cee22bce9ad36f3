//! The runs of a crawl: when, how they ended, what each brought, and which settings changed.

use std::collections::BTreeMap;

use larm_core::Millis;
use larm_crawl::Summary;
use larm_crawl::store::runs::{PastRun, RunChange, RunTotals, past_runs};
use larm_crawl::store::summary::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::Looked;
use crate::problem::Problem;

/// Runs that are shown: the last ones.
const RUNS_SHOWN: usize = 1_000;

/// Something that was changed while a run was under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ChangeUnderWay {
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// What was changed.
    pub key: String,
    /// What it was changed to.
    pub value: String,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Run {
    /// When it began, in milliseconds since 1970.
    pub started: u64,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<u64>,
    /// `running`, `finished`, `stopped`, `limit` or `killed`.
    pub state: String,
    /// The limit that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// Pages that it brought.
    pub pages: u64,
    /// Bytes of their bodies.
    pub bytes: u64,
    /// URLs that it gave up.
    pub failed: u64,
    /// Settings that differ from the run before. Null: it is not set any more.
    pub settings: BTreeMap<String, Option<String>>,
    /// What was changed while it ran, in order; the last ones.
    pub changes: Vec<ChangeUnderWay>,
}

/// The runs of the crawl, the first one first.
pub fn runs(looked: &Looked<'_>) -> Result<Vec<Run>, Problem> {
    let past = past_runs(&looked.dir)
        .map_err(|error| Problem::internal(format!("The list of runs cannot be read: {error}.")))?;
    let is_running = larm_crawl::directory::in_use(&looked.dir);
    let now = Summary::read(&looked.dir.join("summary.json")).ok();
    Ok(told(&past, is_running, now.as_ref()))
}

fn told(past: &[PastRun], is_running: bool, now: Option<&Summary>) -> Vec<Run> {
    let first = past.first().map(|run| &run.settings);
    let before = first.into_iter().chain(past.iter().map(|run| &run.settings));
    let mut runs: Vec<Run> = past
        .iter()
        .zip(before)
        .enumerate()
        .map(|(index, (run, before))| {
            let is_last = index + 1 == past.len();
            let after = run.after.or(now.filter(|_| is_last).map(totals)).unwrap_or(run.before);
            let brought = after.since(run.before);
            Run {
                started: run.started.0,
                ended: run.ended.map(|ended| ended.0),
                state: state(run, is_last && is_running).to_owned(),
                limit: run.limit.clone(),
                pages: brought.pages,
                bytes: brought.bytes,
                failed: brought.failed,
                settings: changed(before, &run.settings),
                changes: run.changes.iter().map(under_way).collect(),
            }
        })
        .collect();
    let old = runs.len().saturating_sub(RUNS_SHOWN);
    runs.drain(..old);
    runs
}

fn under_way((at, change): &(Millis, RunChange)) -> ChangeUnderWay {
    let RunChange { key, value } = change.clone();
    ChangeUnderWay { at: at.0, key, value }
}

fn totals(summary: &Summary) -> RunTotals {
    let failed = summary.failed.values().sum();
    RunTotals { pages: summary.fetched + summary.redirects, bytes: summary.bytes, failed }
}

fn state(run: &PastRun, is_running: bool) -> &'static str {
    match run.state {
        Some(State::Finished) => "finished",
        Some(State::Stopped) => "stopped",
        Some(State::Limit) => "limit",
        Some(State::Running) | None if is_running => "running",
        Some(State::Running) | None => "killed",
    }
}

/// Settings that are not what they were.
pub fn changed(
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> BTreeMap<String, Option<String>> {
    let new = now.iter().filter(|(key, value)| before.get(*key) != Some(value));
    let new = new.map(|(key, value)| (key.clone(), Some(value.clone())));
    let gone = before.keys().filter(|key| !now.contains_key(*key)).map(|key| (key.clone(), None));
    new.chain(gone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(state: Option<State>, pages: (u64, Option<u64>), delay: &str) -> PastRun {
        let totals = |pages| RunTotals { pages, bytes: 0, failed: 0 };
        PastRun {
            started: Millis(1),
            ended: state.map(|_| Millis(2)),
            state,
            limit: None,
            before: totals(pages.0),
            after: pages.1.map(totals),
            settings: BTreeMap::from([("delay".to_owned(), delay.to_owned())]),
            changes: Vec::new(),
        }
    }

    #[test]
    fn each_run_is_told_with_its_end_and_its_changes() {
        let past = [
            run(None, (0, Some(5)), "1s"),
            run(Some(State::Stopped), (5, Some(9)), "2s"),
            run(None, (9, None), "2s"),
        ];
        let now = Summary { fetched: 12, ..Summary::default() };
        let runs = told(&past, true, Some(&now));
        let states: Vec<_> = runs.iter().map(|run| (run.state.as_str(), run.pages)).collect();
        assert_eq!(states, [("killed", 5), ("stopped", 4), ("running", 3)]);
        assert_eq!(runs[1].settings, BTreeMap::from([("delay".to_owned(), Some("2s".to_owned()))]));
        assert_eq!(runs[2].settings, BTreeMap::new());
        assert_eq!(told(&past, false, None)[2].state, "killed");
    }
}
