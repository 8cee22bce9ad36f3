//! Sinks in a row, composed by configuration (step 11).
//!
//! The chain comes in two parts, like its sinks: [`Encoders`] is cloned for every worker, [`Chain`]
//! belongs to the one writer. Each visit goes through all sinks in order, so that a later one can tell
//! where an earlier one put it. Positions carry the sinks' names, so that a chain may be composed anew
//! between two runs: a sink without a committed position starts from nothing.

use std::sync::Arc;
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

use larm_core::Lookup;

use super::sink::{Encoded, Encoder, Kept, Lag, Position, Sink, Unsynced};
use super::visit::Visit;
use crate::{Error, Result};

/// Where each sink of a chain was when it was last synced, by name.
pub type Positions = Vec<(String, Position)>;

/// The sinks of a crawl, owned by the writer.
pub struct Chain {
    sinks: Vec<Box<dyn Sink>>,
    encoders: Encoders,
}

/// The part of a chain that workers share.
#[derive(Clone)]
pub struct Encoders(Arc<[Encoder]>);

impl Encoders {
    /// What every sink is to write of this visit. Pure; takes its time.
    pub fn encode_all(&self, visit: &Visit) -> Vec<Encoded> {
        self.0.iter().map(|encode| encode(visit)).collect()
    }
}

impl Chain {
    /// Composes the sinks and cuts each back to where it was committed: `committed` is what
    /// [`Chain::flush_all`] returned last and was synced, empty for a new crawl. There is no other way to make one, so
    /// nothing is written behind a torn tail.
    pub fn open(mut sinks: Vec<Box<dyn Sink>>, committed: &[(String, Position)]) -> Result<Self> {
        refuse_twins(&sinks)?;
        for sink in &mut sinks {
            let position = committed.iter().find(|(name, _)| name == sink.name());
            sink.recover(position.map(|(_, position)| *position))?;
        }
        let encoders = Encoders(sinks.iter().map(|sink| sink.encoder()).collect());
        Ok(Self { sinks, encoders })
    }

    /// The part for the workers.
    pub fn encoders(&self) -> Encoders {
        self.encoders.clone()
    }

    /// Whether a sink reads the text of pages.
    pub fn reads_text(&self) -> bool {
        self.sinks.iter().any(|sink| sink.reads_text())
    }

    /// Writes one visit to every sink, in order, and says where it was kept. `encoded` is what
    /// [`Encoders::encode_all`] made of the same visit.
    pub fn write_all(&mut self, visit: &Visit, encoded: Vec<Encoded>) -> Result<Kept> {
        assert_eq!(encoded.len(), self.sinks.len(), "encoded by the encoders of this chain");
        let mut kept = Kept::default();
        for (sink, encoded) in self.sinks.iter_mut().zip(encoded) {
            sink.write(visit, encoded, &mut kept)?;
        }
        Ok(kept)
    }

    /// Gives what name servers said about a host to every sink, in order.
    pub fn write_lookup(&mut self, lookup: &Lookup) -> Result<()> {
        self.sinks.iter_mut().try_for_each(|sink| sink.write_lookup(lookup))
    }

    /// Hands everything written so far to the operating system.
    pub fn flush_all(&mut self) -> Result<FlushedChain> {
        let mut all = FlushedChain::default();
        for sink in &mut self.sinks {
            let flushed = sink.flush()?;
            all.positions.push((sink.name().to_owned(), flushed.position));
            all.unsynced.extend(flushed.unsynced);
        }
        Ok(all)
    }

    /// How to wait for the sinks that are too far behind.
    pub fn lags(&self) -> Vec<Lag> {
        self.sinks.iter().filter_map(|sink| sink.lag()).collect()
    }

    /// Closes every sink, and returns the last positions. All are closed even if one of them fails, and none waits for
    /// another.
    pub fn finish(mut self) -> Result<Positions> {
        let flushed = self.flush_all()?;
        flushed.sync()?;
        let ends: Vec<Option<Result<()>>> = thread::scope(|scope| {
            let closing: Vec<_> =
                self.sinks.iter_mut().map(|sink| on_a_thread(scope, sink).ok()).collect();
            closing.into_iter().map(|thread| thread.map(end_of)).collect()
        });
        // Those for which there was no thread left are closed one after the other.
        let ends = self.sinks.iter_mut().zip(ends);
        let ends = ends.map(|(sink, end)| end.unwrap_or_else(|| sink.finish()));
        ends.collect::<Vec<_>>().into_iter().collect::<Result<()>>()?;
        Ok(flushed.positions)
    }
}

/// Everything that the sinks of a chain were given, on its way to the disk.
#[derive(Debug, Default)]
pub struct FlushedChain {
    /// Where each sink ends, once all is synced.
    pub positions: Positions,
    unsynced: Vec<Unsynced>,
}

impl FlushedChain {
    /// Brings it to the disk. Takes its time, and needs nothing of the sinks.
    pub fn sync(&self) -> Result<()> {
        self.unsynced.iter().try_for_each(Unsynced::sync)
    }
}

type Closing<'scope> = ScopedJoinHandle<'scope, Result<()>>;

fn on_a_thread<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    sink: &'scope mut Box<dyn Sink>,
) -> std::io::Result<Closing<'scope>> {
    Builder::new().name("larm-close".to_owned()).spawn_scoped(scope, || sink.finish())
}

fn end_of(closing: Closing<'_>) -> Result<()> {
    let panicked = |_| Err(Error::Stopped("larm has a bug: closing a sink panicked".to_owned()));
    closing.join().unwrap_or_else(panicked)
}

fn refuse_twins(sinks: &[Box<dyn Sink>]) -> Result<()> {
    let twin = sinks.iter().enumerate().find_map(|(index, sink)| {
        sinks[..index].iter().any(|other| other.name() == sink.name()).then(|| sink.name())
    });
    twin.map_or(Ok(()), |name| Err(Error::Plan(format!("two sinks are named `{name}`"))))
}
