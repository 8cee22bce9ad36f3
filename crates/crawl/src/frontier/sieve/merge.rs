//! Making one run out of several, a bounded step at a time.
//!
//! The inputs stay in use until the output is whole. A merge that a crash interrupts is a file
//! without a footer that nobody named: it is deleted, and the merge begins again.

use std::sync::Arc;

use super::run::{self, Leaves, Run, RunName, RunWriter};
use crate::Result;

/// Leaves that are read at a time.
const LEAVES_READ: usize = 16;

/// Runs being merged into a new one.
#[derive(Debug)]
pub(super) struct Merge {
    inputs: Vec<RunName>,
    sources: Vec<Source>,
    output: RunWriter,
}

impl Merge {
    /// Begins to merge `runs` into `output`, which was announced with the sum of their keys.
    pub(super) fn begin<'a>(
        runs: impl Iterator<Item = &'a Run>,
        output: RunWriter,
    ) -> Result<Self> {
        let (mut inputs, mut sources) = (Vec::new(), Vec::new());
        for run in runs {
            inputs.push(run.name());
            sources.push(Source::open(run.leaves())?);
        }
        Ok(Self { inputs, sources, output })
    }

    /// The run being written.
    pub(super) fn name(&self) -> RunName {
        self.output.name()
    }

    /// Keys that the output will have.
    pub(super) fn count(&self) -> u64 {
        self.output.count()
    }

    /// Whether a run is an input of this merge.
    pub(super) fn reads(&self, run: RunName) -> bool {
        self.inputs.contains(&run)
    }

    /// Merges at most `keys_max` keys, makes them durable, and returns how many they were.
    pub(super) fn advance(&mut self, keys_max: u64) -> Result<u64> {
        let mut keys = 0;
        while keys < keys_max && !self.is_done() {
            self.move_smallest()?;
            keys += 1;
        }
        if keys > 0 {
            self.output.sync()?;
        }
        Ok(keys)
    }

    /// Whether all keys of all inputs are in the output.
    pub(super) fn is_done(&self) -> bool {
        self.sources.is_empty()
    }

    /// The new run, durable, once the merge is done, and those that it replaces.
    pub(super) fn finish(self) -> Result<(Run, Vec<RunName>)> {
        Ok((self.output.finish()?, self.inputs))
    }

    fn move_smallest(&mut self) -> Result<()> {
        let heads = self.sources.iter().map(Source::head).enumerate();
        let (smallest, key) = heads.min_by_key(|&(_, key)| key).expect("a source is left");
        self.output.push(key)?;
        if !self.sources[smallest].advance()? {
            self.sources.swap_remove(smallest);
        }
        Ok(())
    }
}

/// One input, a few leaves at a time; it always has a next key.
#[derive(Debug)]
struct Source {
    leaves: Arc<Leaves>,
    /// The first that was not read yet.
    next: usize,
    bytes: Vec<u8>,
    keys: Vec<u64>,
    at: usize,
}

impl Source {
    fn open(leaves: Arc<Leaves>) -> Result<Self> {
        let mut source = Self { leaves, next: 0, bytes: Vec::new(), keys: Vec::new(), at: 0 };
        source.load()?;
        Ok(source)
    }

    fn head(&self) -> u64 {
        self.keys[self.at]
    }

    /// Goes to the next key; `false` if there is none.
    fn advance(&mut self) -> Result<bool> {
        self.at += 1;
        if self.at < self.keys.len() {
            return Ok(true);
        }
        if self.next == self.leaves.count() {
            return Ok(false);
        }
        self.load()?;
        Ok(true)
    }

    fn load(&mut self) -> Result<()> {
        let end = (self.next + LEAVES_READ).min(self.leaves.count());
        self.leaves.read(self.next..end, &mut self.bytes)?;
        self.next = end;
        self.keys.clear();
        self.keys.extend(run::keys(&self.bytes));
        self.at = 0;
        Ok(())
    }
}
