//! Making one run out of several, some buckets at a time.
//!
//! The inputs stay in use until the output is whole. A merge that a crash interrupts is a file without a
//! directory that nobody named: it is deleted, and the merge begins again.

use std::sync::Arc;

use super::run::{Run, RunName, RunWriter};
use super::{BLOCKS, TABLES};
use crate::Result;

/// Runs being merged into a new one.
#[derive(Debug)]
pub(super) struct Merge {
    inputs: Vec<Arc<Run>>,
    output: RunWriter,
    table: usize,
    block: usize,
}

impl Merge {
    /// Begins to merge runs.
    pub(super) fn begin(inputs: Vec<Arc<Run>>, output: RunWriter) -> Self {
        Self { inputs, output, table: 0, block: 0 }
    }

    /// The run being written.
    pub(super) fn name(&self) -> RunName {
        self.output.name()
    }

    /// Merges about `bytes_max` bytes of buckets and makes them durable; says whether all are merged.
    pub(super) fn advance(&mut self, bytes_max: u64) -> Result<bool> {
        let (mut done, mut bucket, mut bytes) = (0, Vec::new(), Vec::new());
        while self.table < TABLES && done < bytes_max {
            bucket.clear();
            for run in &self.inputs {
                run.read(self.table, self.block, &mut bytes)?;
                bucket.extend_from_slice(&bytes);
            }
            done += bucket.len() as u64 + 1;
            self.output.push(self.table, self.block, &mut bucket)?;
            self.step();
        }
        self.output.sync()?;
        Ok(self.table == TABLES)
    }

    fn step(&mut self) {
        self.block += 1;
        if self.block == BLOCKS {
            (self.table, self.block) = (self.table + 1, 0);
        }
    }

    /// The new run, durable, once all is merged, and those that it replaces.
    pub(super) fn finish(self) -> Result<(Run, Vec<RunName>)> {
        let inputs = self.inputs.iter().map(|run| run.name()).collect();
        Ok((self.output.finish()?, inputs))
    }
}
