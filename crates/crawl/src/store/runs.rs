//! `logs/runs.jsonl`: when a crawl ran, with which settings, and what each run brought.
//!
//! A line for each run when it begins, one whenever it is told to change something, and one when it ends. A run that was
//! killed, or ended by an error, has no last line. Lines are appended and synced; what a crash left of one is passed over
//! by readers.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use larm_core::Millis;
use serde::{Deserialize, Serialize};

use super::summary::State;
use crate::{Error, Result};

/// Bytes of the file that are read, from its end.
const BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Changes of one run that are told: the last ones.
const CHANGES_MAX: usize = 100;

/// What a crawl had come to, over all runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunTotals {
    /// URLs answered.
    pub pages: u64,
    /// Bytes of their bodies.
    pub bytes: u64,
    /// URLs given up.
    pub failed: u64,
}

impl RunTotals {
    /// What came since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            pages: self.pages.saturating_sub(earlier.pages),
            bytes: self.bytes.saturating_sub(earlier.bytes),
            failed: self.failed.saturating_sub(earlier.failed),
        }
    }
}

/// Something that a run was told to change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunChange {
    /// What was changed.
    pub key: String,
    /// What it is since then.
    pub value: String,
}

/// A line of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Line {
    run: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<Millis>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changes: Vec<RunChange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<State>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<String>,
    #[serde(flatten)]
    totals: RunTotals,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    settings: BTreeMap<String, String>,
}

/// One run of a crawl.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastRun {
    /// When it began.
    pub started: Millis,
    /// When it ended, if it did by itself.
    pub ended: Option<Millis>,
    /// How it ended; `None` if it runs, was killed or failed.
    pub state: Option<State>,
    /// The limit that ended it.
    pub limit: Option<String>,
    /// What the crawl had come to before.
    pub before: RunTotals,
    /// And after it, if that is known.
    pub after: Option<RunTotals>,
    /// Its settings, as far as the program tells them.
    pub settings: BTreeMap<String, String>,
    /// What was changed under way, and when; the last ones.
    pub changes: Vec<(Millis, RunChange)>,
}

/// A run that goes on.
#[derive(Debug, Clone)]
pub struct RunLog {
    path: PathBuf,
    run: String,
}

impl RunLog {
    /// Notes that a run begins.
    pub fn begin(
        dir: &Path,
        at: Millis,
        totals: RunTotals,
        settings: &BTreeMap<String, String>,
    ) -> Result<Self> {
        let run = uuid::Uuid::new_v4().simple().to_string()[..8].to_owned();
        let log = Self { path: path_in(dir), run };
        let settings = settings.clone();
        log.append(Line { started: Some(at), settings, ..log.line(totals) })?;
        Ok(log)
    }

    /// Notes what it was told to change.
    pub fn change(&self, at: Millis, totals: RunTotals, changes: Vec<RunChange>) -> Result<()> {
        self.append(Line { changed: Some(at), changes, ..self.line(totals) })
    }

    /// Notes that it has ended.
    pub fn end(
        &self,
        at: Millis,
        state: State,
        limit: Option<&str>,
        totals: RunTotals,
    ) -> Result<()> {
        let limit = limit.map(str::to_owned);
        self.append(Line { ended: Some(at), state: Some(state), limit, ..self.line(totals) })
    }

    fn line(&self, totals: RunTotals) -> Line {
        Line { run: self.run.clone(), totals, ..Line::default() }
    }

    fn append(&self, line: Line) -> Result<()> {
        let mut options = OpenOptions::new();
        let file = options.create(true).read(true).append(true).open(&self.path);
        let mut file = file.map_err(Error::io(&self.path))?;
        let mut bytes = serde_json::to_vec(&line).expect("plain fields are JSON");
        bytes.push(b'\n');
        // What a crash left of the last line ends here.
        if !ends_with_a_line(&mut file).map_err(Error::io(&self.path))? {
            bytes.insert(0, b'\n');
        }
        file.write_all(&bytes).and_then(|()| file.sync_data()).map_err(Error::io(&self.path))
    }
}

fn ends_with_a_line(file: &mut File) -> std::io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Where the runs of a crawl directory are noted.
pub fn path_in(dir: &Path) -> PathBuf {
    dir.join("logs").join("runs.jsonl")
}

/// The runs of the crawl in `dir`, in order; none where they were not noted. Of a very long history, the end.
pub fn past_runs(dir: &Path) -> Result<Vec<PastRun>> {
    let path = path_in(dir);
    let mut file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io(&path)(error)),
    };
    let length = file.metadata().map_err(Error::io(&path))?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(BYTES_MAX))).map_err(Error::io(&path))?;
    let lines =
        BufReader::new(file.take(BYTES_MAX)).split(b'\n').map_while(std::result::Result::ok);
    let lines = lines.filter_map(|line| serde_json::from_slice::<Line>(&line).ok());
    Ok(put_together(lines))
}

fn put_together(lines: impl Iterator<Item = Line>) -> Vec<PastRun> {
    let mut runs: Vec<(String, PastRun)> = Vec::new();
    for line in lines {
        if let Some(started) = line.started {
            // A run that did not say how it ended had come this far when the next one began.
            if let Some((_, last)) = runs.last_mut() {
                last.after.get_or_insert(line.totals);
            }
            let run = PastRun {
                started,
                ended: None,
                state: None,
                limit: None,
                before: line.totals,
                after: None,
                settings: line.settings,
                changes: Vec::new(),
            };
            runs.push((line.run, run));
        } else if let Some((_, run)) = runs.last_mut().filter(|(name, _)| *name == line.run) {
            if let Some(at) = line.changed {
                run.changes.extend(line.changes.into_iter().map(|change| (at, change)));
                let old = run.changes.len().saturating_sub(CHANGES_MAX);
                run.changes.drain(..old);
                continue;
            }
            (run.ended, run.state, run.limit) = (line.ended, line.state, line.limit);
            run.after = Some(line.totals);
        }
    }
    runs.into_iter().map(|(_, run)| run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(pages: u64) -> RunTotals {
        RunTotals { pages, bytes: 10 * pages, failed: 0 }
    }

    #[test]
    fn runs_are_told_with_what_each_brought() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("logs")).unwrap();
        assert_eq!(past_runs(dir.path()).unwrap(), []);
        let settings = BTreeMap::from([("delay".to_owned(), "1s".to_owned())]);
        let first = RunLog::begin(dir.path(), Millis(1), totals(0), &settings).unwrap();
        let change = |value: &str| RunChange { key: "delay".to_owned(), value: value.to_owned() };
        first.change(Millis(3), totals(2), vec![change("2s"), change("3s")]).unwrap();
        first.end(Millis(5), State::Limit, Some("max-pages"), totals(7)).unwrap();
        RunLog::begin(dir.path(), Millis(9), totals(7), &settings).unwrap();
        let runs = past_runs(dir.path()).unwrap();
        assert_eq!(runs.len(), 2);
        assert_eq!((runs[0].ended, runs[0].limit.as_deref()), (Some(Millis(5)), Some("max-pages")));
        assert_eq!(runs[0].after.map(|after| after.since(runs[0].before)), Some(totals(7)));
        assert_eq!(runs[0].changes, ["2s", "3s"].map(|value| (Millis(3), change(value))));
        assert_eq!((runs[1].state, runs[1].after), (None, None));
        assert_eq!((&runs[1].settings, runs[1].changes.len()), (&settings, 0));
    }

    #[test]
    fn a_run_that_was_killed_had_come_as_far_as_the_next_one_begins() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("logs")).unwrap();
        RunLog::begin(dir.path(), Millis(1), totals(0), &BTreeMap::new()).unwrap();
        // Killed while it wrote its last line.
        let mut file = OpenOptions::new().append(true).open(path_in(dir.path())).unwrap();
        file.write_all(b"{\"run\":\"x\",\"ended\":12").unwrap();
        RunLog::begin(dir.path(), Millis(9), totals(4), &BTreeMap::new()).unwrap();
        let runs = past_runs(dir.path()).unwrap();
        assert_eq!(runs.len(), 2);
        assert_eq!((runs[0].state, runs[0].after), (None, Some(totals(4))));
    }
}
