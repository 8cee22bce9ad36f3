//! Which bodies are known: asked for every page, by whoever reads it, without holding the frontier.
//!
//! Most bodies are new, and then nothing else need be known of them. Who had one first is the frontier's to say. What is
//! new since the last checkpoint is here, all else in the store; a body leaves this only when the store has it, so
//! whoever looks here first and there second misses none.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use larm_core::digest::BodyDigest;

use super::changes::Changes;
use super::keyed::KeyMap;
use super::store::{Row, Store};
use crate::error::Result;

type Young = Changes<KeyMap<BodyDigest, Row>>;

/// Bodies, each with the page that had it first.
pub struct Originals {
    store: Arc<Store>,
    /// Those first seen since the last checkpoint.
    young: RwLock<Young>,
}

impl Originals {
    /// Those of this store, and no others yet.
    pub fn new(store: Arc<Store>) -> Self {
        Self { store, young: RwLock::default() }
    }

    /// Whether a page had this body.
    pub fn knows(&self, digest: &BodyDigest) -> Result<bool> {
        Ok(self.young(digest).is_some() || self.store.has_original(digest)?)
    }

    /// The page that had this body first, if that was since the last checkpoint.
    pub(super) fn young(&self, digest: &BodyDigest) -> Option<Row> {
        self.read().get(digest).cloned()
    }

    pub(super) fn insert(&self, digest: BodyDigest, first: Row) {
        self.write().insert(digest, first);
    }

    /// Those that a checkpoint has to write.
    pub(super) fn save(&self) -> Arc<KeyMap<BodyDigest, Row>> {
        self.write().save()
    }

    /// The checkpoint is written.
    pub(super) fn forget_saved(&self) {
        self.write().forget_saved();
    }

    fn read(&self) -> RwLockReadGuard<'_, Young> {
        self.young.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Young> {
        self.young.write().unwrap_or_else(PoisonError::into_inner)
    }
}
