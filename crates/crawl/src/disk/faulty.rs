//! A disk in memory that fails where a test says, and forgets what a real one may forget.
//!
//! Operations that change something are counted. At a chosen one the disk refuses (a write first
//! puts down a part of its bytes), once or for good. [`FaultyDisk::restart`] is the power coming
//! back: what was synced is there; of the rest, chance decides, within what file systems really do.
//! Bytes that were not synced may be gone, there up to any byte, or there with holes of zeros,
//! because pages reach the disk in any order. Of the changes of names that were not synced, any may
//! be there.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::{Disk, DiskFile};
use crate::{Error, Result};

/// The unit in which a disk keeps or loses bytes.
const SECTOR_BYTES: usize = 512;

/// What happens at the chosen operation.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// That one fails so; later ones work again.
    Once(io::ErrorKind),
    /// That one fails, and everything after it until [`FaultyDisk::restart`].
    PowerOff,
}

/// A handle; clones share the disk.
#[derive(Debug, Clone, Default)]
pub(crate) struct FaultyDisk(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    inodes: Vec<Inode>,
    names: BTreeMap<PathBuf, usize>,
    names_synced: BTreeMap<PathBuf, usize>,
    names_pending: Vec<NameChange>,
    operations: u64,
    fault: Option<(u64, Fault)>,
    is_off: bool,
}

#[derive(Debug, Default)]
struct Inode {
    content: Vec<u8>,
    synced: Vec<u8>,
    /// Whether synced bytes were cut off since the last sync.
    is_cut: bool,
}

#[derive(Debug, Clone)]
enum NameChange {
    Link(PathBuf, usize),
    Unlink(PathBuf),
    Rename(PathBuf, PathBuf),
}

impl FaultyDisk {
    /// Lets the `nth` changing operation from now on fail (0 is the next).
    pub(crate) fn fail_at(&self, nth: u64, fault: Fault) {
        let mut state = self.state();
        state.fault = Some((state.operations + nth, fault));
    }

    /// Changing operations so far.
    pub(crate) fn operations(&self) -> u64 {
        self.state().operations
    }

    /// The power fails (if it has not yet) and comes back.
    pub(crate) fn restart(&self, dice: &mut Dice) {
        let mut state = self.state();
        state.is_off = false;
        state.fault = None;
        let mut survivors = std::mem::take(&mut state.names_pending);
        survivors.retain(|_| dice.below(2) == 0);
        survivors.iter().for_each(|change| change.apply(&mut state.names_synced));
        state.names = state.names_synced.clone();
        state.inodes.iter_mut().for_each(|inode| inode.lose_power(dice));
    }

    /// The whole content of a file, to look at or to damage.
    pub(crate) fn content(&self, path: &Path) -> Vec<u8> {
        let state = self.state();
        state.inodes[state.names[path]].content.clone()
    }

    /// Puts a durable file with this content at `path`.
    pub(crate) fn put(&self, path: &Path, content: &[u8]) {
        let mut state = self.state();
        state.inodes.push(Inode {
            content: content.to_vec(),
            synced: content.to_vec(),
            is_cut: false,
        });
        let inode = state.inodes.len() - 1;
        state.names.insert(path.to_path_buf(), inode);
        state.names_synced.insert(path.to_path_buf(), inode);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no test panics while it holds the disk")
    }

    fn inode(&self, path: &Path) -> Result<usize> {
        let missing = || Error::io(path)(io::ErrorKind::NotFound.into());
        self.state().names.get(path).copied().ok_or_else(missing)
    }

    fn handle(&self, path: &Path, inode: usize) -> Box<dyn DiskFile> {
        let size = self.state().inodes[inode].content.len() as u64;
        Box::new(FaultyFile { disk: self.clone(), path: path.to_path_buf(), inode, size })
    }

    fn change_name(&self, path: &Path, change: NameChange) -> Result<()> {
        let mut state = self.state();
        state.operate(path)?;
        change.apply(&mut state.names);
        state.names_pending.push(change);
        Ok(())
    }
}

impl State {
    /// Counts one changing operation; the error if this is the one to fail.
    fn operate(&mut self, path: &Path) -> Result<()> {
        let now = self.operations;
        self.operations += 1;
        if self.is_off {
            return Err(Error::io(path)(io::Error::other("the power is off")));
        }
        match self.fault {
            Some((at, Fault::Once(kind))) if at == now => Err(Error::io(path)(kind.into())),
            Some((at, Fault::PowerOff)) if at == now => {
                self.is_off = true;
                Err(Error::io(path)(io::Error::other("the power failed")))
            }
            _ => Ok(()),
        }
    }
}

impl Inode {
    fn sync(&mut self) {
        if std::mem::take(&mut self.is_cut) {
            self.synced.clear();
        }
        let synced = self.synced.len();
        self.synced.extend_from_slice(&self.content[synced..]);
    }

    fn truncate(&mut self, size: usize) {
        self.content.truncate(size);
        self.is_cut |= size < self.synced.len();
    }

    fn lose_power(&mut self, dice: &mut Dice) {
        match (self.is_cut, dice.below(2)) {
            (false, 0) => self.punch_holes(dice),
            (false, _) => {
                self.content.truncate(dice.between(self.synced.len(), self.content.len()))
            }
            (true, 0) => self.content = self.synced.clone(), // the cut is undone
            (true, _) => {}
        }
        self.is_cut = true;
        self.sync();
    }

    fn punch_holes(&mut self, dice: &mut Dice) {
        let mut at = self.synced.len();
        while at < self.content.len() {
            let next = ((at / SECTOR_BYTES + 1) * SECTOR_BYTES).min(self.content.len());
            if dice.below(2) == 0 {
                self.content[at..next].fill(0);
            }
            at = next;
        }
    }
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<PathBuf, usize>) {
        match self {
            Self::Link(path, inode) => _ = names.insert(path.clone(), *inode),
            Self::Unlink(path) => _ = names.remove(path),
            Self::Rename(from, to) => {
                if let Some(inode) = names.remove(from) {
                    names.insert(to.clone(), inode);
                }
            }
        }
    }

    fn dir(&self) -> Option<&Path> {
        match self {
            Self::Link(path, _) | Self::Unlink(path) | Self::Rename(path, _) => path.parent(),
        }
    }
}

impl Disk for FaultyDisk {
    /// Directories are always there.
    fn create_dir(&self, _: &Path) -> Result<()> {
        Ok(())
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>> {
        let state = self.state();
        let inside = state.names.keys().filter(|path| path.parent() == Some(dir));
        Ok(inside.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect())
    }

    fn create(&self, path: &Path) -> Result<Box<dyn DiskFile>> {
        let inode = {
            let mut state = self.state();
            state.inodes.push(Inode::default());
            state.inodes.len() - 1
        };
        self.change_name(path, NameChange::Link(path.to_path_buf(), inode))?;
        Ok(self.handle(path, inode))
    }

    fn open(&self, path: &Path) -> Result<Box<dyn DiskFile>> {
        Ok(self.handle(path, self.inode(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.inode(from)?;
        self.change_name(from, NameChange::Rename(from.to_path_buf(), to.to_path_buf()))
    }

    fn remove(&self, path: &Path) -> Result<()> {
        self.inode(path)?;
        self.change_name(path, NameChange::Unlink(path.to_path_buf()))
    }

    fn sync_dir(&self, dir: &Path) -> Result<()> {
        let mut state = self.state();
        state.operate(dir)?;
        let pending = std::mem::take(&mut state.names_pending);
        let (here, elsewhere) = pending.into_iter().partition(|change| change.dir() == Some(dir));
        state.names_pending = elsewhere;
        let here: Vec<NameChange> = here;
        here.iter().for_each(|change| change.apply(&mut state.names_synced));
        Ok(())
    }
}

#[derive(Debug)]
struct FaultyFile {
    disk: FaultyDisk,
    path: PathBuf,
    inode: usize,
    size: u64,
}

impl DiskFile for FaultyFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let state = self.disk.state();
        let content = &state.inodes[self.inode].content;
        let start = (offset as usize).min(content.len());
        let found = content[start..].get(..buffer.len());
        let short = || Error::io(&self.path)(io::ErrorKind::UnexpectedEof.into());
        buffer.copy_from_slice(found.ok_or_else(short)?);
        Ok(())
    }

    /// A write that fails puts down half of its bytes first.
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let mut state = self.disk.state();
        let was_off = state.is_off;
        let operated = state.operate(&self.path);
        let written = match operated {
            Ok(()) => bytes,
            Err(_) if was_off => &[],
            Err(_) => &bytes[..bytes.len() / 2],
        };
        state.inodes[self.inode].content.extend_from_slice(written);
        self.size += written.len() as u64;
        operated
    }

    fn truncate(&mut self, size: u64) -> Result<()> {
        assert!(size <= self.size, "cutting a file never makes it longer");
        let mut state = self.disk.state();
        state.operate(&self.path)?;
        state.inodes[self.inode].truncate(size as usize);
        self.size = size;
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        let mut state = self.disk.state();
        state.operate(&self.path)?;
        state.inodes[self.inode].sync();
        Ok(())
    }
}

/// Seeded chance (SplitMix64): the same seed, the same test.
#[derive(Debug, Clone)]
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// Any number.
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.roll() % bound
    }

    /// A number from `low` to `high`, both possible.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below((high - low) as u64 + 1) as usize
    }
}
