//! The key-value store: page table, hosts, blocks, digests, robots, and the log position they contain.
//!
//! Written by checkpoints only, in one sorted batch that is synced before the log is cut. Every key of
//! the first three begins with its partition, so that a partition can be read and moved as a range.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions, PersistMode};
use larm_core::alias::Aliases;
use larm_core::digest::BodyDigest;
use larm_core::url::Fingerprint;
use larm_core::workbench::HostKey;
use larm_core::worth::Purse;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::encode::encode_behind;
use super::host::HostRow;
use super::log::LogPosition;
use super::near;
use super::piles::PileName;
use super::queue::BlockId;
use super::row::{PageRow, RobotsRow, Totals};
use super::shelf::{ShelfId, ShelfRow};
use super::sieve::RunName;
use super::sites::SiteKey;
use crate::error::{Error, Result};
use crate::store::{Position, SameAs, durable};

/// Memory that the store may use for reading.
const CACHE_BYTES: u64 = 16 * 1024 * 1024;
/// Memory that the store may use for writing, per table, beside the checkpoint under way: beyond it,
/// what was written moves from memory to a file in the background.
const WRITE_BUFFER_BYTES: u64 = 4 * 1024 * 1024;
/// Size of its own journal.
const JOURNAL_BYTES: u64 = 64 * 1024 * 1024;
/// Files that stay open: connections need the others.
const FILES_OPEN_MAX: usize = 64;

/// Room for a row as it is encoded: most need no more.
const ROW_BYTES: usize = 512;

/// A value of the store, encoded: shared between who reads it in memory and who writes it.
pub type Row = fjall::UserValue;

/// What a checkpoint says of the crawl as a whole.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Meta {
    /// The log up to here is contained.
    pub position: LogPosition,
    /// Runs of the seen set.
    pub runs: Vec<RunName>,
    /// Piles of arrivals.
    pub piles: Vec<PileName>,
    /// Files of the index of near-duplicates.
    pub near: near::Names,
    /// Names that are aliases, or may be.
    pub aliases: Aliases,
    /// How far each sink had come.
    pub positions: Vec<(String, Position)>,
    /// Next number of an offer.
    pub next_seq: u64,
    /// URLs waiting.
    pub waiting: u64,
    /// What lies on each shelf; left out are those with nothing.
    pub shelves: Vec<(ShelfId, ShelfRow)>,
    /// Counts so far.
    pub totals: Totals,
    /// Settings changed while running, the last of each.
    pub settings: Vec<(String, String)>,
}

/// Where a block belongs.
#[derive(Debug, Clone, Copy)]
pub struct BlockKey {
    /// Partition of the host's site.
    pub partition: u16,
    /// The host.
    pub host: HostKey,
    /// Index of the origin.
    pub origin: u32,
    /// The block.
    pub block: BlockId,
}

impl BlockKey {
    fn bytes(self) -> Vec<u8> {
        let mut key = host_bytes(self.partition, self.host);
        key.extend_from_slice(&self.origin.to_be_bytes());
        key.push(self.block.first.priority);
        key.extend_from_slice(&self.block.first.seq.to_be_bytes());
        key.extend_from_slice(&self.block.number.to_be_bytes());
        key
    }
}

/// The open store.
pub struct Store {
    path: PathBuf,
    database: Database,
    meta: Keyspace,
    hosts: Keyspace,
    blocks: Keyspace,
    pages: Keyspace,
    digests: Keyspace,
    robots: Keyspace,
    sites: Keyspace,
}

impl Store {
    /// Opens the store in `path`, or makes a new one.
    ///
    /// What a crash leaves of a store that was being made cannot be opened. So while one is made, a file beside it says
    /// so, and what it stands beside is made anew. The log is begun when the store is whole: where there is a log, that file has come back
    /// from somewhere, and nothing is made anew.
    pub fn open(path: &Path) -> Result<Self> {
        let unfinished = path.with_extension("unfinished");
        let was_being_made = exists(&unfinished)? && !exists(&path.with_file_name("log"))?;
        if was_being_made && exists(path)? {
            fs::remove_dir_all(path).map_err(Error::io(path))?;
        }
        if exists(path)? {
            let store = Self::open_whole(path)?;
            durable::remove(&unfinished)?;
            return Ok(store);
        }
        marked_while(&unfinished, || {
            let store = Self::open_whole(path)?;
            durable::sync_parent(path)?;
            Ok(store)
        })
    }

    fn open_whole(path: &Path) -> Result<Self> {
        let failed = |error: fjall::Error| store_error(path, &error);
        let database = Database::builder(path)
            .cache_size(CACHE_BYTES)
            .max_journaling_size(JOURNAL_BYTES)
            .worker_threads(1)
            .max_cached_files(Some(FILES_OPEN_MAX))
            .open()
            .map_err(failed)?;
        let options = || KeyspaceCreateOptions::default().max_memtable_size(WRITE_BUFFER_BYTES);
        let separated = || options().with_kv_separation(Some(KvSeparationOptions::default()));
        let keyspace = |name| database.keyspace(name, options).map_err(failed);
        // Lists of URLs are large, written once and read once: moving them as the tree grows is waste.
        let lists = |name| database.keyspace(name, separated).map_err(failed);
        Ok(Self {
            path: path.to_owned(),
            meta: keyspace("meta")?,
            hosts: keyspace("hosts")?,
            blocks: lists("blocks")?,
            pages: keyspace("pages")?,
            digests: keyspace("digests")?,
            robots: keyspace("robots")?,
            sites: keyspace("sites")?,
            database,
        })
    }

    /// What the last checkpoint says of the crawl; `None` before the first.
    pub fn meta(&self) -> Result<Option<Meta>> {
        self.read(&self.meta, b"meta")
    }

    /// A host's row.
    pub fn host(&self, partition: u16, key: HostKey) -> Result<Option<HostRow<'static>>> {
        self.read(&self.hosts, &host_bytes(partition, key))
    }

    /// All hosts, one at a time, in the order of their keys.
    pub fn hosts(&self) -> impl Iterator<Item = Result<HostRow<'static>>> {
        self.hosts.iter().map(|guard| self.host_row(guard))
    }

    /// All settled URLs, one at a time, in the order of their keys.
    pub fn pages(&self) -> impl Iterator<Item = Result<PageRow>> {
        self.pages.iter().map(|guard| {
            let (key, value) = guard.into_inner().map_err(|error| self.failed(&error))?;
            self.decode_row(&key, &value)
        })
    }

    /// The hosts of a shelf, one at a time, in the order of their keys.
    pub fn hosts_of(&self, shelf: ShelfId) -> impl Iterator<Item = Result<HostRow<'static>>> {
        let (first, last) = shelf.hosts().into_inner();
        let at = |host| host_bytes(shelf.partition(), host);
        self.hosts.range(at(first)..=at(last)).map(|guard| self.host_row(guard))
    }

    fn host_row(&self, guard: fjall::Guard) -> Result<HostRow<'static>> {
        let (key, value) = guard.into_inner().map_err(|error| self.failed(&error))?;
        self.decode_row(&key, &value)
    }

    /// The list of a block's items.
    pub fn block(&self, key: BlockKey) -> Result<Row> {
        let found = self.blocks.get(key.bytes()).map_err(|error| self.failed(&error))?;
        found.ok_or_else(|| self.broken(&format!("a block of waiting URLs is missing ({key:?})")))
    }

    /// An error that says what is wrong with what was read.
    pub fn broken(&self, what: &str) -> Error {
        Error::Store { path: self.path.clone(), what: what.to_owned() }
    }

    /// A page's row.
    pub fn page(&self, partition: u16, fingerprint: Fingerprint) -> Result<Option<PageRow>> {
        self.read(&self.pages, &page_bytes(partition, fingerprint))
    }

    /// The first page that had this body.
    pub fn original(&self, digest: &BodyDigest) -> Result<Option<SameAs>> {
        self.read(&self.digests, digest.as_bytes())
    }

    /// Whether a page had this body.
    pub fn has_original(&self, digest: &BodyDigest) -> Result<bool> {
        self.digests.contains_key(digest.as_bytes()).map_err(|error| self.failed(&error))
    }

    /// The robots.txt of an origin.
    pub fn robots(&self, origin: &str) -> Result<Option<RobotsRow>> {
        self.read(&self.robots, origin.as_bytes())
    }

    /// What a site has used and earned.
    pub fn site(&self, partition: u16, site: SiteKey) -> Result<Option<Purse>> {
        self.read(&self.sites, &page_bytes(partition, Fingerprint(site.0)))
    }

    /// A batch of about so many rows, to be written as one.
    pub fn batch(self: &Arc<Self>, rows: usize) -> Batch {
        let batch = fjall::OwnedWriteBatch::with_capacity(self.database.clone(), rows);
        Batch { store: self.clone(), batch: batch.durability(Some(PersistMode::SyncAll)) }
    }

    /// What a row says that [`encode`] made.
    pub fn decode<T: DeserializeOwned>(&self, row: &Row) -> Result<T> {
        self.decode_row(b"in memory", row)
    }

    fn read<T: DeserializeOwned>(&self, keyspace: &Keyspace, key: &[u8]) -> Result<Option<T>> {
        let value = keyspace.get(key).map_err(|error| self.failed(&error))?;
        value.map(|value| self.decode_row(key, &value)).transpose()
    }

    fn decode_row<T: DeserializeOwned>(&self, key: &[u8], value: &[u8]) -> Result<T> {
        let broken =
            |error| self.broken(&format!("a row cannot be read ({error}; key {key:02x?})"));
        postcard::from_bytes(value).map_err(broken)
    }

    fn failed(&self, error: &fjall::Error) -> Error {
        store_error(&self.path, error)
    }
}

fn exists(path: &Path) -> Result<bool> {
    path.try_exists().map_err(Error::io(path))
}

/// Everything that one checkpoint writes.
pub struct Batch {
    store: Arc<Store>,
    batch: fjall::OwnedWriteBatch,
}

impl Batch {
    /// Writes a host's row.
    pub fn put_host(&mut self, partition: u16, key: HostKey, row: Row) {
        self.batch.insert(&self.store.hosts, host_bytes(partition, key), row);
    }

    /// Writes a block.
    pub fn put_block(&mut self, key: BlockKey, list: Row) {
        self.batch.insert(&self.store.blocks, key.bytes(), list);
    }

    /// Removes a block that was used up.
    pub fn remove_block(&mut self, key: BlockKey) {
        self.batch.remove(&self.store.blocks, key.bytes());
    }

    /// Writes a page's row.
    pub fn put_page(&mut self, partition: u16, fingerprint: Fingerprint, row: Row) {
        self.batch.insert(&self.store.pages, page_bytes(partition, fingerprint), row);
    }

    /// Writes which page had a body first.
    pub fn put_original(&mut self, digest: &BodyDigest, original: Row) {
        self.batch.insert(&self.store.digests, digest.as_bytes().to_vec(), original);
    }

    /// Writes a robots.txt.
    pub fn put_robots(&mut self, origin: &str, row: Row) {
        self.batch.insert(&self.store.robots, origin.as_bytes().to_vec(), row);
    }

    /// Writes what a site has used and earned.
    pub fn put_site(&mut self, partition: u16, site: SiteKey, purse: &Purse) {
        let key = page_bytes(partition, Fingerprint(site.0));
        self.batch.insert(&self.store.sites, key, encode(purse));
    }

    /// Writes everything, with what it says of the crawl, and syncs.
    pub fn commit(mut self, meta: &Meta) -> Result<()> {
        self.batch.insert(&self.store.meta, b"meta".to_vec(), encode(meta));
        self.batch.commit().map_err(|error| self.store.failed(&error))
    }
}

fn host_bytes(partition: u16, host: HostKey) -> Vec<u8> {
    let mut key = Vec::with_capacity(27);
    key.extend_from_slice(&partition.to_be_bytes());
    key.extend_from_slice(&host.0.to_be_bytes());
    key
}

fn page_bytes(partition: u16, fingerprint: Fingerprint) -> Vec<u8> {
    let mut key = Vec::with_capacity(10);
    key.extend_from_slice(&partition.to_be_bytes());
    key.extend_from_slice(&fingerprint.0.to_be_bytes());
    key
}

/// Makes something while a file says that it is not whole yet.
fn marked_while<T>(mark: &Path, make: impl FnOnce() -> Result<T>) -> Result<T> {
    match exists(mark)? {
        true => durable::sync_parent(mark)?,
        false => drop(durable::create(mark)?),
    }
    let made = make()?;
    durable::remove(mark)?;
    Ok(made)
}

/// A value as the store holds it.
pub fn encode<T: Serialize + ?Sized>(value: &T) -> Row {
    let mut bytes = Vec::with_capacity(ROW_BYTES);
    encode_behind(value, &mut bytes);
    bytes.into()
}

fn store_error(path: &Path, error: &fjall::Error) -> Error {
    match error {
        fjall::Error::Io(source) => {
            let source = std::io::Error::new(source.kind(), source.to_string());
            Error::Io { path: path.to_owned(), source }
        }
        other => Error::Store { path: path.to_owned(), what: other.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_being_made_is_marked_until_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("mark");
        for _ in 0..2 {
            let failed: Result<()> =
                marked_while(&mark, || Err(Error::Stopped("killed".to_owned())));
            assert!(failed.is_err() && mark.exists(), "whoever comes next has to know");
        }
        let was_marked = marked_while(&mark, || Ok(mark.exists())).unwrap();
        assert!(was_marked);
        assert!(!mark.exists());
    }

    #[test]
    fn a_store_is_made_anew_if_it_was_still_being_made() {
        let dir = tempfile::tempdir().unwrap();
        let (path, unfinished) = (dir.path().join("store"), dir.path().join("store.unfinished"));
        drop(Store::open(&path).unwrap());
        let witness = path.join("witness");
        fs::write(&witness, "").unwrap();
        drop(Store::open(&path).unwrap());
        assert!(witness.exists() && !unfinished.exists(), "a whole one stays");
        // As a crash leaves one whose files are not all there.
        fs::write(&unfinished, "").unwrap();
        for entry in fs::read_dir(&path).unwrap() {
            let file = entry.unwrap().path();
            if file.is_file() && file != witness {
                fs::remove_file(file).unwrap();
            }
        }
        drop(Store::open(&path).unwrap());
        assert!(!witness.exists() && !unfinished.exists());
        fs::write(&unfinished, "").unwrap();
        fs::remove_dir_all(&path).unwrap();
        drop(Store::open(&path).unwrap());
        assert!(path.exists() && !unfinished.exists(), "nothing but the word that it begins");
        fs::write(&witness, "").unwrap();
        fs::write(&unfinished, "").unwrap();
        fs::create_dir(dir.path().join("log")).unwrap();
        drop(Store::open(&path).unwrap());
        assert!(witness.exists() && !unfinished.exists(), "it was whole when the log began");
    }
}
