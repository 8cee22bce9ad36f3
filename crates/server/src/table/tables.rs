//! The tables of all crawls that were looked at lately.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use super::load::{Bounds, Table};
use crate::problem::Problem;

/// The tables, the one that was used last at the end. They take `bytes_max` together, but for the one in use.
#[derive(Debug, Default)]
pub struct Tables {
    kept: Mutex<Vec<(PathBuf, Arc<RwLock<Table>>)>>,
}

impl Tables {
    /// Calls `look` with the table of the crawl in `dir`, as its log stands now.
    pub fn with<T>(
        &self,
        dir: &Path,
        bounds: &Bounds,
        look: impl FnOnce(&Table) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let table = self.of(dir);
        let seen = refreshed(&table, bounds)?;
        let result = look(&seen);
        drop(seen);
        self.forget_beyond(bounds.bytes_max);
        result
    }

    /// Forgets the table of a crawl, for one whose directory goes away.
    pub fn forget(&self, dir: &Path) {
        self.lock().retain(|(known, _)| known != dir);
    }

    fn of(&self, dir: &Path) -> Arc<RwLock<Table>> {
        let mut kept = self.lock();
        let known = kept.iter().position(|(known, _)| known == dir);
        let entry = match known {
            Some(at) => kept.remove(at),
            None => (dir.to_owned(), Arc::new(RwLock::new(Table::new(dir)))),
        };
        let table = entry.1.clone();
        kept.push(entry);
        table
    }

    /// The table that was used last stays, whatever it takes: its own maximum holds.
    fn forget_beyond(&self, bytes_max: usize) {
        let mut kept = self.lock();
        // One that is being read into is in use, and not weighed.
        let memory = |table: &RwLock<Table>| table.try_read().map_or(0, |table| table.memory());
        let mut sum: usize = kept.iter().map(|(_, table)| memory(table)).sum();
        while sum > bytes_max && kept.len() > 1 {
            let (_, table) = kept.remove(0);
            sum = sum.saturating_sub(memory(&table));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(PathBuf, Arc<RwLock<Table>>)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The table as its log stands now. Whoever comes first reads the log; others wait for that.
fn refreshed<'a>(
    table: &'a RwLock<Table>,
    bounds: &Bounds,
) -> Result<RwLockReadGuard<'a, Table>, Problem> {
    let broken = |_| Problem::internal("reading the crawl log failed before; restart the server");
    if table.read().map_err(broken)?.is_behind() {
        let mut table =
            table.write().map_err(|_| Problem::internal("reading the crawl log failed before"))?;
        table.refresh(bounds).map_err(|error| {
            Problem::internal(format!("The crawl log cannot be read: {error}."))
        })?;
    }
    table.read().map_err(|_| Problem::internal("reading the crawl log failed before"))
}
