//! What arrived for hosts that are not in memory, on disk: one pile of URLs per checkpoint, cut by shelf.
//!
//! A pile is written once, from front to back, and is named by the store as the runs of the seen set are.
//! Piles of like size are joined, shelf by shelf and unread, so that a shelf is in few places however much
//! arrived; each URL is copied about once for each sixteenfold growth.
//!
//! A shelf whose arrivals were taken says up to which number of an offer. What a pile that ends before
//! that number holds of it counts no more, and is left out when the pile is joined with others.
//!
//! - PILE-1: whoever takes from a shelf takes all of it. So of two piles that are there at one time, one
//!   cannot be taken from after they began to be joined without the other.
//! - PILE-2: a file is removed only when the last durable checkpoint does not name it any more.

mod merge;
mod pile;
mod save;
#[cfg(test)]
mod tests;

pub use pile::PileName;
pub use save::{Saved, Saving};

use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::merge::Merge;
use self::pile::Pile;
use super::shelf::ShelfId;
use crate::Result;
use crate::disk::Disk;

/// Entries one behind the other, as [`put_entry`](super::pack::put_entry) makes them.
pub type List = Arc<Vec<u8>>;

/// All piles.
#[derive(Debug)]
pub struct Piles {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    piles: Vec<Arc<Pile>>,
    merges: Vec<Merge>,
    next_name: PileName,
    /// Whether there are files that are not needed any more.
    has_unused: bool,
}

impl Piles {
    /// Opens exactly these piles, as the last durable checkpoint named them. Other files of their kind
    /// are left over, and are removed with the next checkpoint.
    pub fn open(disk: Arc<dyn Disk>, dir: &Path, names: &[PileName]) -> Result<Self> {
        disk.create_dir(dir)?;
        let on_disk = PileName::all_in(&*disk, dir)?;
        let last = on_disk.into_iter().chain(names.iter().copied()).max();
        let open = |name: &PileName| Pile::open(*name, disk.open(&name.path(dir))?).map(Arc::new);
        let piles = names.iter().map(open).collect::<Result<_>>()?;
        Ok(Self {
            piles,
            merges: Vec::new(),
            next_name: last.map_or(PileName(0), PileName::next),
            has_unused: true,
            dir: dir.to_path_buf(),
            disk,
        })
    }

    /// What lies on a shelf from which everything before the offer `taken_to` was taken.
    pub fn lists(&self, shelf: ShelfId, taken_to: u64) -> Result<Vec<List>> {
        let live = self.piles.iter().filter(|pile| pile.end() > taken_to);
        let lists = live.map(|pile| Ok(pile.read(shelf)?.map(Arc::new)));
        lists.filter_map(Result::transpose).collect()
    }

    /// How many bytes that is.
    pub fn bytes(&self, shelf: ShelfId, taken_to: u64) -> u64 {
        let live = self.piles.iter().filter(|pile| pile.end() > taken_to);
        live.map(|pile| pile.bytes(shelf)).sum()
    }

    /// Takes what a checkpoint has to write, to be brought back with [`Piles::end_checkpoint`]: `lists`, in
    /// the order of their shelves, offered before `end`. `taken_to` says for each shelf what was taken.
    pub fn begin_checkpoint(
        &mut self,
        lists: Vec<(ShelfId, List)>,
        end: u64,
        taken_to: Vec<u64>,
    ) -> Saving {
        Saving {
            disk: self.disk.clone(),
            dir: self.dir.clone(),
            piles: self.piles.clone(),
            lists,
            end,
            taken_to: taken_to.into(),
            merges: std::mem::take(&mut self.merges),
            next_name: self.next_name,
            has_unused: self.has_unused,
        }
    }

    /// Takes the piles that a checkpoint has written into use.
    pub fn end_checkpoint(&mut self, saved: Saved) {
        let Saved { piles, merges, next_name, has_unused } = saved;
        (self.piles, self.merges) = (piles, merges);
        (self.next_name, self.has_unused) = (next_name, has_unused);
    }
}
