//! The frontier as the engine, the line and the writer share it.
//!
//! - FRONT-6: nothing is changed or committed after a panic while the frontier was held: its state may be
//!   half changed, and what is on disk is whole without it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Frontier;
use crate::error::{Error, Result};

/// One frontier, many holders. Held for short calls only, never across a wait.
#[derive(Clone)]
pub struct SharedFrontier(Arc<Mutex<Box<dyn Frontier>>>);

impl SharedFrontier {
    /// Shares a frontier.
    pub fn new(frontier: Box<dyn Frontier>) -> Self {
        Self(Arc::new(Mutex::new(frontier)))
    }

    /// To change it.
    pub fn hold(&self) -> Result<MutexGuard<'_, Box<dyn Frontier>>> {
        let panicked = "larm has a bug: a part of it panicked while it held the frontier; what was \
                        committed is on disk, and the crawl can be resumed";
        self.0.lock().map_err(|_| Error::Stopped(panicked.to_owned()))
    }

    /// To look at it, which is possible to the last.
    pub fn look(&self) -> MutexGuard<'_, Box<dyn Frontier>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;

    use larm_core::Limits;
    use larm_core::workbench::Pace;

    use super::*;
    use crate::frontier::memory::MemoryFrontier;

    #[test]
    fn nothing_is_changed_after_a_panic_while_it_was_held() {
        let memory = MemoryFrontier::new(&Arc::new(Limits::default()), Pace::default());
        let shared = SharedFrontier::new(Box::new(memory));
        let other = shared.clone();
        let panicked = std::panic::catch_unwind(AssertUnwindSafe(move || {
            let _held = other.hold().expect("nothing has panicked yet");
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
        assert!(shared.hold().is_err());
        assert_eq!(shared.look().waiting(), 0);
    }
}
