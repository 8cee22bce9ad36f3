//! One run of a crawl, from its first commit to its summary.

use tokio::task::JoinHandle;

use super::beside;
use crate::directory::Directory;
use crate::engine::{Ending, Engine};
use crate::error::{Error, Result};
use crate::housekeeping::Housekeeper;
use crate::jar::Jar;
use crate::plan::Plan;
use crate::store::Summary;
use crate::store::runs::RunLog;
use crate::store::summary::State;
use crate::writer::Writer;

/// One run, ready to go.
pub(super) struct Run {
    pub plan: Plan,
    pub jar: Option<Jar>,
    pub engine: Engine,
    pub writer: Writer,
    pub ranker: Option<JoinHandle<()>>,
    pub directory: Directory,
}

impl Run {
    /// Runs it, and tells what it came to.
    pub async fn until_its_end(self) -> Result<Summary> {
        let shared = self.engine.shared.clone();
        let dir = self.directory.path().to_owned();
        let seeds = (self.plan.seeds.len() + self.plan.sitemaps.len()) as u64;
        let keeper = Housekeeper::new(&dir, seeds, &self.plan.limits)?;
        keeper.write_summary(&shared, State::Running, None)?;
        let run =
            RunLog::begin(&dir, shared.clock.now(), shared.run_totals(), &self.plan.settings)?;
        shared.run.get_or_init(|| run.clone());
        let mut writer = self.writer;
        writer.begin()?;
        let mut writer = beside(writer, self.directory);
        let (ended, written) = tokio::select! {
            ended = self.engine.run() => (Some(ended), writer.await),
            // Before the engine it ends by an error only. What is in flight cannot be kept any more.
            written = &mut writer => (None, written),
        };
        // The disk's own words explain more than those of whoever waited for it.
        written.unwrap_or_else(|_| Err(Error::Stopped("the writer panicked".into())))?;
        let ended = ended.unwrap_or_else(|| Err(Error::Stopped("the writer stopped".into())));
        if let Some(ranker) = self.ranker {
            ranker.await.map_err(|_| Error::Stopped("the ranker panicked".into()))?;
        }
        shared.reasons.save()?;
        let (state, limit) = match ended? {
            Ending::Finished => (State::Finished, None),
            Ending::Limit(name) => (State::Limit, Some(name)),
            Ending::Stopped => (State::Stopped, None),
        };
        self.jar.as_ref().map_or(Ok(()), Jar::save)?;
        keeper.write_summary(&shared, state, limit)?;
        run.end(shared.clock.now(), state, limit, shared.run_totals())?;
        Summary::read(&dir.join("summary.json"))
    }
}
