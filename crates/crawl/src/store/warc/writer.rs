//! The archive as a sink: WARC files, rolled by size, each with its index (step 11).
//!
//! WARC-1: a file ends where `flush` said, or behind whole records: the bytes of a visit are appended in
//! one piece and never split over two files. WARC-2: index lines reach the disk before the records do
//! that they point at, so that a committed record is always in the index. WARC-3: a file is begun once;
//! after a start or a crash, the next visit begins the next file.
//!
//! The index of a file that is full is put in order on a thread of its own while the next file is written: that takes a
//! tenth of a second. A crash meanwhile leaves the lines as they were written, for `recover` to put in order.

use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use larm_core::{Lookup, Millis};

use super::name::FileName;
use super::record;
use crate::store::appender::Appender;
use crate::store::cdxj::{self, Index};
use crate::store::durable;
use crate::store::plan::StorePlan;
use crate::store::sink::{Encoded, Encoder, Flushed, Kept, Position, Sink, Unsynced, WarcRef};
use crate::store::visit::Visit;
use crate::{Error, Result};

/// Writes `warc/*.warc.gz` and `cdx/*.cdxj` of a crawl directory.
pub struct WarcSink {
    plan: Arc<StorePlan>,
    open: Option<OpenFile>,
    /// End of the last file that was closed.
    closed: Position,
    /// Number of the next file.
    next: u32,
    /// The index of the last file that was closed, while it is put in order.
    sorting: Option<JoinHandle<Result<()>>>,
}

struct OpenFile {
    name: FileName,
    /// The archive file's name, as index and log refer to it.
    warc_name: Arc<str>,
    warc: Appender,
    index: Appender,
    /// Where its first visit begins, behind the warcinfo record.
    first_visit: u64,
}

impl WarcSink {
    /// The archive of this crawl. The crawl's id must be fit for a file name.
    pub fn new(plan: Arc<StorePlan>) -> Result<Self> {
        let fit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if plan.crawl_id.is_empty() || !plan.crawl_id.bytes().all(fit) {
            let id = &plan.crawl_id;
            return Err(Error::Plan(format!(
                "`{id}` cannot be a crawl's id: letters, digits, - and _"
            )));
        }
        Ok(Self { plan, open: None, closed: Position::default(), next: 0, sorting: None })
    }

    /// The open file, with room for `bytes` more, or a new one.
    fn file_for(&mut self, bytes: u64, at: Millis) -> Result<&mut OpenFile> {
        let bytes_max = self.plan.limits.warc_bytes_max;
        if self.open.as_ref().is_some_and(|file| !file.has_room(bytes, bytes_max)) {
            self.close()?;
        }
        let file = match self.open.take() {
            Some(file) => file,
            None => self.begin(at)?,
        };
        Ok(self.open.insert(file))
    }

    fn begin(&mut self, at: Millis) -> Result<OpenFile> {
        let name = FileName::new(self.next, at, &self.plan.crawl_id);
        let next = self.next.checked_add(1);
        self.next = next.ok_or_else(|| Error::Plan("too many archive files".to_owned()))?;
        OpenFile::begin(name, &self.plan, at)
    }

    fn close(&mut self) -> Result<()> {
        if let Some(mut file) = self.open.take() {
            let flushed = file.flush()?;
            flushed.unsynced.iter().try_for_each(Unsynced::sync)?;
            self.closed = flushed.position;
            self.finish_sorting()?;
            let (index, bytes_max) =
                (index_of(&file.name, &self.plan.dir), self.plan.limits.sort_bytes_max);
            let path = index.part.clone();
            let sorting = thread::Builder::new().name("larm-cdxj".to_owned());
            let sorting = sorting.spawn(move || index.close(bytes_max));
            self.sorting = Some(sorting.map_err(Error::io(&path))?);
        }
        Ok(())
    }

    fn finish_sorting(&mut self) -> Result<()> {
        let panicked = || Error::Stopped("larm has a bug: sorting an index panicked".to_owned());
        let sorting = self.sorting.take().map(JoinHandle::join);
        sorting.map_or(Ok(()), |sorted| sorted.unwrap_or_else(|_| Err(panicked())))
    }

    fn remove(&self, name: &FileName) -> Result<()> {
        index_of(name, &self.plan.dir).remove()?;
        durable::remove(&name.warc_path(&self.plan.dir))
    }

    /// Brings a file that was there before this start into its final state: its first `end` bytes.
    fn settle(&self, name: &FileName, end: u64) -> Result<()> {
        if end != u64::MAX {
            let path = name.warc_path(&self.plan.dir);
            Appender::new(path, self.plan.limits.sink_buffer_bytes_max).recover(end)?;
        }
        index_of(name, &self.plan.dir).recover(end, self.plan.limits.sort_bytes_max)
    }
}

impl Sink for WarcSink {
    fn name(&self) -> &str {
        "warc"
    }

    fn encoder(&self) -> Encoder {
        Arc::new(record::encode)
    }

    fn reads_text(&self) -> bool {
        false
    }

    fn write(&mut self, visit: &Visit, encoded: Encoded, kept: &mut Kept) -> Result<()> {
        let Some(&record_bytes) = encoded.parts.first() else {
            return Ok(());
        };
        let file = self.file_for(encoded.bytes.len() as u64, visit.at)?;
        let place = WarcRef {
            file: file.name.number,
            name: file.warc_name.clone(),
            offset: file.warc.append(&encoded.bytes)?,
            bytes: record_bytes,
        };
        if let Some(line) = cdxj::line(visit, &place) {
            file.index.append(&line)?;
        }
        kept.warc = Some(place);
        Ok(())
    }

    fn write_lookup(&mut self, lookup: &Lookup) -> Result<()> {
        let record = record::lookup(lookup);
        let file = self.file_for(record.len() as u64, lookup.at)?;
        let place = WarcRef {
            file: file.name.number,
            name: file.warc_name.clone(),
            offset: file.warc.append(&record)?,
            bytes: record.len() as u64,
        };
        file.index.append(&cdxj::lookup_line(lookup, &place))?;
        Ok(())
    }

    fn flush(&mut self) -> Result<Flushed> {
        self.open.as_mut().map_or(Ok(self.closed.into()), OpenFile::flush)
    }

    fn recover(&mut self, position: Option<Position>) -> Result<()> {
        let end = position.unwrap_or_default();
        durable::create_dir(&self.plan.dir.join("warc"))?;
        durable::create_dir(&self.plan.dir.join("cdx"))?;
        let mut found_last = end.offset == 0;
        for name in FileName::list(&self.plan.dir, &self.plan.crawl_id)? {
            match name.number.cmp(&end.file) {
                std::cmp::Ordering::Less => self.settle(&name, u64::MAX)?,
                std::cmp::Ordering::Equal if end.offset > 0 => {
                    self.settle(&name, end.offset)?;
                    found_last = true;
                }
                _ => self.remove(&name)?,
            }
        }
        if !found_last {
            let what = format!("archive file number {} is missing", end.file);
            return Err(Error::Damaged { path: self.plan.dir.join("warc"), offset: 0, what });
        }
        self.closed = end;
        self.next = if end.offset == 0 { end.file } else { end.file + 1 };
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.close()?;
        self.finish_sorting()
    }
}

impl Drop for WarcSink {
    fn drop(&mut self) {
        // Nothing is written once the sink is gone. Whether it went well is asked by whoever finishes, and what is left in
        // disorder is put in order by the next run.
        let _ = self.finish_sorting();
    }
}

impl OpenFile {
    fn begin(name: FileName, plan: &StorePlan, at: Millis) -> Result<Self> {
        let buffer = plan.limits.sink_buffer_bytes_max;
        let mut warc = Appender::new(name.warc_path(&plan.dir), buffer);
        let index = Appender::new(name.index_part_path(&plan.dir), buffer);
        warc.append(&record::warcinfo(plan, &name.warc(), at))?;
        let first_visit = warc.end();
        Ok(Self { warc_name: name.warc().into(), name, warc, index, first_visit })
    }

    /// A visit larger than a whole file still gets one, alone.
    fn has_room(&self, bytes: u64, bytes_max: u64) -> bool {
        self.warc.end() == self.first_visit || self.warc.end().saturating_add(bytes) <= bytes_max
    }

    fn flush(&mut self) -> Result<Flushed> {
        // WARC-2: the index first.
        let mut flushed = self.index.flush()?;
        let Flushed { position, unsynced } = self.warc.flush()?;
        flushed.unsynced.extend(unsynced);
        Ok(Flushed { position: Position { file: self.name.number, ..position }, ..flushed })
    }
}

fn index_of(name: &FileName, dir: &Path) -> Index {
    Index { part: name.index_part_path(dir), sorted: name.index_path(dir) }
}
