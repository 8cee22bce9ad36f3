//! `state/changes.json`: what was changed while a crawl ran, for its next runs.
//!
//! A small file, replaced as a whole before a change is answered. Whoever looks at a crawl that does not run reads it without
//! opening the state, and whoever writes its settings takes changes back there.
//!
//! - CHANGES-1: the newest word counts. A change remembers what the settings said when it was made. If they say something
//!   else by now, they were written later, and the change is forgotten.
//! - CHANGES-2: what the settings say anyway is not kept.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::change::Change;
use crate::error::{Error, Result};
use crate::frontier::Budgets;
use crate::plan::Plan;
use crate::store::durable;

pub(crate) const FILE_NAME: &str = "changes.json";

/// What the settings say of all that can be changed.
#[derive(Debug, Clone, Default)]
struct Said {
    delay_ms: u64,
    rate: Option<u32>,
    concurrency: Option<u64>,
    budgets: Budgets,
    host_delays: BTreeMap<String, u64>,
    exclude: BTreeSet<String>,
    blocked: BTreeSet<String>,
}

/// A change as the file has it.
#[derive(Debug, Serialize, Deserialize)]
struct Made {
    key: String,
    value: String,
    /// What the settings said.
    over: String,
}

/// The changes of a crawl.
#[derive(Debug)]
pub struct Changes {
    file: PathBuf,
    said: Said,
    /// By name, with what the settings say.
    made: BTreeMap<String, (Change, String)>,
    changes_max: u64,
}

impl Changes {
    /// Those that hold for the crawl in `state`, by its settings of today.
    pub fn open(state: &Path, plan: &Plan) -> Result<Self> {
        let (file, said) = (state.join(FILE_NAME), Said::of(plan));
        let mut made = BTreeMap::new();
        for Made { key, value, over } in read(&file)? {
            let change = Change::parse(&key, &value).map_err(|error| damaged(&file, &error))?;
            if said.in_place_of(&change) == over {
                made.insert(change.name(), (change, over));
            } else {
                tracing::info!(
                    key,
                    value,
                    "an earlier change is forgotten: the settings are newer"
                );
            }
        }
        Ok(Self { file, said, made, changes_max: plan.limits.changes_max })
    }

    /// All of them.
    pub fn all(&self) -> Vec<Change> {
        self.made.values().map(|(change, _)| change.clone()).collect()
    }

    /// Refuses more than can be kept.
    pub fn check_room(&self, changes: &[Change]) -> Result<()> {
        let new = changes.iter().filter(|change| !self.made.contains_key(&change.name())).count();
        match (self.made.len() + new) as u64 > self.changes_max {
            true => Err(Error::Plan(format!(
                "{} changes were made while this crawl ran, the limit `changes_max`; put them into its settings",
                self.made.len()
            ))),
            false => Ok(()),
        }
    }

    /// Keeps changes.
    pub fn note(&mut self, changes: &[Change]) -> Result<()> {
        let before = self.all();
        for change in changes {
            let over = self.said.in_place_of(change);
            // A host without a gap of its own has that of the settings, whatever it is.
            let is_said = stance(change) == over || matches!(change, Change::HostDelay(_, None));
            match is_said {
                true => self.made.remove(&change.name()),
                false => self.made.insert(change.name(), (change.clone(), over)),
            };
        }
        self.save_if_not(&before)
    }

    /// Forgets what was changed about the same.
    pub fn forget(&mut self, newer: &[Change]) -> Result<()> {
        let before = self.all();
        newer.iter().for_each(|change| drop(self.made.remove(&change.name())));
        self.save_if_not(&before)
    }

    /// Forgets what was changed about these settings.
    pub fn forget_settings(&mut self, keys: &[&str]) -> Result<()> {
        let before = self.all();
        self.made.retain(|name, _| !keys.contains(&name.split('=').next().unwrap_or(name)));
        self.save_if_not(&before)
    }

    fn save_if_not(&self, before: &[Change]) -> Result<()> {
        if self.all() == before {
            return Ok(());
        }
        let made = self.made.values().map(|(change, over)| Made {
            key: change.key().to_owned(),
            value: change.value(),
            over: over.clone(),
        });
        let json = serde_json::to_vec_pretty(&made.collect::<Vec<_>>()).expect("texts are JSON");
        durable::replace(&self.file, |out| out.write_all(&json).map_err(Error::io(&self.file)))
    }
}

fn read(file: &Path) -> Result<Vec<Made>> {
    match std::fs::read(file) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| damaged(file, &error)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Error::io(file)(error)),
    }
}

fn damaged(file: &Path, what: &dyn std::error::Error) -> Error {
    Error::Damaged { path: file.to_owned(), offset: 0, what: what.to_string() }
}

/// What a change says, for comparing.
fn stance(change: &Change) -> String {
    match change {
        Change::Exclude(_) | Change::Block(_) | Change::HostPause(_, true) => "yes".to_owned(),
        Change::Unexclude(_) | Change::Unblock(_) | Change::HostPause(_, false) => "no".to_owned(),
        change => change.value(),
    }
}

impl Said {
    fn of(plan: &Plan) -> Self {
        Self {
            delay_ms: plan.pace.delay_ms,
            rate: plan.pace.rate,
            concurrency: plan.concurrency,
            budgets: plan.budgets,
            host_delays: plan.host_delays.iter().cloned().collect(),
            exclude: plan.selection.exclude.iter().cloned().collect(),
            blocked: plan.selection.blocked.iter().cloned().collect(),
        }
    }

    /// What the settings say of what a change is about.
    fn in_place_of(&self, change: &Change) -> String {
        let is = |is_so: bool| if is_so { "yes" } else { "no" }.to_owned();
        let said = match change {
            Change::Delay(_) => Change::Delay(self.delay_ms),
            Change::Rate(_) => Change::Rate(self.rate),
            Change::Concurrency(_) => Change::Concurrency(self.concurrency),
            Change::MaxPages(_) => Change::MaxPages(self.budgets.pages_max),
            Change::HostBudget(_) => Change::HostBudget(self.budgets.host_base),
            Change::SiteBudget(_) => Change::SiteBudget(self.budgets.site_base),
            Change::PatternBudget(_) => Change::PatternBudget(self.budgets.cut_at.map(u64::from)),
            Change::HostDelay(host, _) => {
                Change::HostDelay(host.clone(), self.host_delays.get(host).copied())
            }
            Change::Exclude(text) | Change::Unexclude(text) => {
                return is(self.exclude.contains(text));
            }
            Change::Block(host) | Change::Unblock(host) => return is(self.blocked.contains(host)),
            Change::HostPause(..) | Change::Seed(_) => return is(false),
        };
        said.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(text: &str) -> Change {
        let (key, value) = text.split_once('=').unwrap();
        Change::parse(key, value).unwrap()
    }

    fn told(changes: &Changes) -> Vec<String> {
        let all = changes.all();
        all.iter().map(|change| format!("{}={}", change.key(), change.value())).collect()
    }

    fn plan(pages_max: u64, exclude: &[&str]) -> Plan {
        let mut plan = Plan::new("d", Vec::new());
        plan.budgets.pages_max = Some(pages_max);
        plan.selection.exclude = exclude.iter().map(|&text| text.to_owned()).collect();
        plan
    }

    #[test]
    fn a_change_holds_until_the_settings_say_something_newer() {
        let dir = tempfile::tempdir().unwrap();
        let open = |plan: &Plan| Changes::open(dir.path(), plan).unwrap();
        let made = ["max-pages=1", "exclude=/new/", "unexclude=/old/", "host-pause=a.test"];
        let mut changes = open(&plan(60, &["/old/"]));
        changes.note(&made.map(change)).unwrap();
        let kept = ["host-pause=a.test", "max-pages=1", "exclude=/new/", "unexclude=/old/"];
        let sorted = |mut all: Vec<String>| {
            all.sort();
            all
        };
        let expected = sorted(kept.map(str::to_owned).to_vec());
        assert_eq!(sorted(told(&open(&plan(60, &["/old/"])))), expected);
        assert!(!told(&open(&plan(70, &["/old/"]))).contains(&"max-pages=1".to_owned()));
        assert!(told(&open(&plan(60, &[]))).iter().all(|change| change != "unexclude=/old/"));
        assert!(told(&open(&plan(60, &[]))).contains(&"exclude=/new/".to_owned()));
    }

    #[test]
    fn what_the_settings_say_anyway_is_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let mut changes = Changes::open(dir.path(), &plan(60, &["/old/"])).unwrap();
        let rows = [
            ("max-pages=1", "max-pages=60"),
            ("max-pages=none", "max-pages=60"),
            ("exclude=/new/", "unexclude=/new/"),
            ("unexclude=/old/", "exclude=/old/"),
            ("block=a.test", "unblock=a.test"),
            ("host-delay=a.test:5s", "host-delay=a.test:default"),
            ("host-pause=a.test", "host-resume=a.test"),
        ];
        for (there, back) in rows {
            changes.note(&[change(there)]).unwrap();
            assert_eq!(told(&changes).len(), 1, "{there}");
            changes.note(&[change(back)]).unwrap();
            assert_eq!(told(&changes), [""; 0], "{back}");
        }
    }

    #[test]
    fn settings_that_are_written_take_their_changes_back() {
        let dir = tempfile::tempdir().unwrap();
        let plan = plan(60, &[]);
        let mut changes = Changes::open(dir.path(), &plan).unwrap();
        let made = ["max-pages=1", "exclude=/a/", "exclude=/b/", "block=a.test"];
        changes.note(&made.map(change)).unwrap();
        changes.forget_settings(&["exclude", "max-pages"]).unwrap();
        assert_eq!(told(&Changes::open(dir.path(), &plan).unwrap()), ["block=a.test"]);
    }

    #[test]
    fn there_is_room_for_so_many_and_a_damaged_file_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let mut plan = plan(60, &[]);
        plan.limits.changes_max = 2;
        let mut changes = Changes::open(dir.path(), &plan).unwrap();
        changes.note(&["block=a.test", "block=b.test"].map(change)).unwrap();
        assert!(changes.check_room(&[change("block=a.test")]).is_ok());
        assert!(changes.check_room(&[change("block=c.test")]).is_err());
        std::fs::write(dir.path().join(FILE_NAME), "[{").unwrap();
        assert!(Changes::open(dir.path(), &plan).is_err());
    }
}
