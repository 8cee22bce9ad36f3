//! Sinks for those who keep nothing, or keep it themselves (step 11).

use std::sync::Arc;

use super::sink::{Encoded, Encoder, Flushed, Kept, Position, Sink};
use super::visit::Visit;
use crate::Result;

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NullSink;

impl Sink for NullSink {
    fn name(&self) -> &str {
        "null"
    }

    fn encoder(&self) -> Encoder {
        nothing_to_encode()
    }

    fn reads_text(&self) -> bool {
        false
    }

    fn write(&mut self, _: &Visit, _: Encoded, _: &mut Kept) -> Result<()> {
        Ok(())
    }

    fn flush(&mut self) -> Result<Flushed> {
        Ok(Flushed::default())
    }

    fn recover(&mut self, _: Option<Position>) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Hands every visit to a function of a library user, in the order of settling.
///
/// It is called on the writer: while it runs, nothing is written. After a crash, visits that were not
/// committed come again.
pub struct CallSink<F> {
    name: String,
    call: F,
}

impl<F: FnMut(&Visit, &Kept) -> Result<()> + Send> CallSink<F> {
    /// A sink of that name which calls that function.
    pub fn new(name: impl Into<String>, call: F) -> Self {
        Self { name: name.into(), call }
    }
}

impl<F: FnMut(&Visit, &Kept) -> Result<()> + Send> Sink for CallSink<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn encoder(&self) -> Encoder {
        nothing_to_encode()
    }

    fn write(&mut self, visit: &Visit, _: Encoded, kept: &mut Kept) -> Result<()> {
        (self.call)(visit, kept)
    }

    fn flush(&mut self) -> Result<Flushed> {
        Ok(Flushed::default())
    }

    fn recover(&mut self, _: Option<Position>) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

fn nothing_to_encode() -> Encoder {
    Arc::new(|_| Encoded::default())
}
