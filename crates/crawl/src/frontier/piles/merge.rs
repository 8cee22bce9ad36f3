//! Making one pile out of several, a bounded step at a time.
//!
//! The inputs stay in use until the output is whole. A merge that a crash interrupts is a file without a
//! footer that nobody named: it is removed, and the merge begins again.

use std::ops::Range;
use std::sync::Arc;

use super::pile::{Pile, PileName, PileWriter};
use crate::Result;
use crate::frontier::shelf::{SHELVES, ShelfId};

/// Piles being joined into a new one.
#[derive(Debug)]
pub(super) struct Merge {
    inputs: Vec<Arc<Pile>>,
    /// What was taken from each shelf when it began: that is left out.
    taken_to: Arc<[u64]>,
    output: PileWriter,
    /// Shelves still to come.
    shelves: Range<u16>,
}

impl Merge {
    /// Begins to join `inputs` in `output`, which was announced with the latest of their ends.
    pub(super) fn begin(inputs: Vec<Arc<Pile>>, taken_to: Arc<[u64]>, output: PileWriter) -> Self {
        Self { inputs, taken_to, output, shelves: 0..SHELVES }
    }

    /// The pile being written.
    pub(super) fn name(&self) -> PileName {
        self.output.name()
    }

    /// Bytes of its inputs.
    pub(super) fn bytes(&self) -> u64 {
        self.inputs.iter().map(|pile| pile.total_bytes()).sum()
    }

    /// Whether a pile is an input of this merge.
    pub(super) fn reads(&self, pile: PileName) -> bool {
        self.inputs.iter().any(|input| input.name() == pile)
    }

    /// Copies at most `bytes_max` and the rest of a list, makes that durable, and returns how much it was.
    pub(super) fn advance(&mut self, bytes_max: u64) -> Result<u64> {
        let mut bytes = 0;
        while bytes < bytes_max
            && let Some(shelf) = self.shelves.next()
        {
            bytes += self.copy(ShelfId(shelf))?;
        }
        if bytes > 0 {
            self.output.sync()?;
        }
        Ok(bytes)
    }

    /// Whether all lists of all inputs are in the output.
    pub(super) fn is_done(&self) -> bool {
        self.shelves.is_empty()
    }

    /// The new pile, durable, once the merge is done.
    pub(super) fn finish(self) -> Result<Pile> {
        self.output.finish()
    }

    fn copy(&mut self, shelf: ShelfId) -> Result<u64> {
        let mut bytes = 0;
        for pile in &self.inputs {
            if self.taken_to[shelf.index()] < pile.end()
                && let Some(list) = pile.read(shelf)?
            {
                bytes += list.len() as u64;
                self.output.push(shelf, &list)?;
            }
        }
        Ok(bytes)
    }
}
