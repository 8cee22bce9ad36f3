//! A sink for what stays where it is: it writes nothing, and keeps its position.
//!
//! A crawl's log knows how far every sink had come, by name, and cuts back whoever is not named. What a
//! rebuild does not make anew must therefore be named by it all the same: the archive, the crawl log.

use std::sync::Arc;

use crate::error::Result;
use crate::store::{Encoded, Encoder, Flushed, Kept, Position, Sink, Visit};

/// What was written before, and is not touched.
pub struct InPlace {
    name: String,
    position: Position,
}

impl InPlace {
    /// The sink of this name, which ends here.
    pub fn new(name: impl Into<String>, position: Position) -> Self {
        Self { name: name.into(), position }
    }
}

impl Sink for InPlace {
    fn name(&self) -> &str {
        &self.name
    }

    fn encoder(&self) -> Encoder {
        Arc::new(|_| Encoded::default())
    }

    fn reads_text(&self) -> bool {
        false
    }

    fn write(&mut self, visit: &Visit, _: Encoded, kept: &mut Kept) -> Result<()> {
        kept.warc = kept.warc.take().or_else(|| visit.archived.clone());
        Ok(())
    }

    fn flush(&mut self) -> Result<Flushed> {
        Ok(self.position.into())
    }

    fn recover(&mut self, _: Option<Position>) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}
