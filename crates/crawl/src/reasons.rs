//! Where it is kept between runs what went wrong last with each origin, in words.
//!
//! A file of the state, replaced as a whole. Nothing is decided by it: one that is missing, or that cannot
//! be read, costs words and nothing else.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Result;
use crate::frontier::{HostList, HostStatus, Standing};
use crate::line::Troubles;
use crate::store::durable;

const FILE_NAME: &str = "troubles.tsv";

/// Troubles with their file.
#[derive(Clone)]
pub struct Reasons {
    troubles: Arc<Troubles>,
    file: PathBuf,
}

impl Reasons {
    /// Those of earlier runs, never of more origins than this.
    pub fn open(state: &Path, origins_max: u64) -> Self {
        let file = state.join(FILE_NAME);
        let troubles = Troubles::new(origins_max);
        if let Ok(bytes) = std::fs::read(&file) {
            troubles.load(&String::from_utf8_lossy(&bytes));
        }
        Self { troubles: Arc::new(troubles), file }
    }

    /// The troubles themselves.
    pub fn troubles(&self) -> Arc<Troubles> {
        self.troubles.clone()
    }

    /// Adds the words to what is said of a host that failed, and was not heard of since.
    pub fn tell(&self, host: HostStatus) -> HostStatus {
        let fails = host.failures > 0 || matches!(host.standing, Standing::GivenUp { .. });
        let trouble = fails.then(|| self.troubles.of_host(&host.host)).flatten();
        HostStatus { trouble, ..host }
    }

    /// The same for many.
    pub fn tell_all(&self, list: HostList) -> HostList {
        let hosts = list.hosts.into_iter().map(|host| self.tell(host)).collect();
        HostList { hosts, ..list }
    }

    /// Writes what has changed.
    pub fn save(&self) -> Result<()> {
        let Some(text) = self.troubles.unsaved() else { return Ok(()) };
        durable::replace_private(&self.file, text.as_bytes())
    }
}
