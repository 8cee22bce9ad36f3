//! Reading a log from a position on: recovery, and nothing else, goes this way.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use super::segment::{self, Segment, Step};
use super::{Log, LogPosition};
use crate::disk::Disk;
use crate::{Error, Result};

/// The durable records of a log, in order, each with the position after it.
///
/// It ends where the log was synced when the replay began. After an error it ends too.
#[derive(Debug)]
pub struct Replay {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    record_bytes_max: u64,
    reader: Segment,
    /// First positions of the segments after the reader's.
    further: VecDeque<u64>,
    until: LogPosition,
    is_over: bool,
}

impl Replay {
    pub(super) fn start(log: &Log, from: LogPosition) -> Result<Self> {
        let index = log.starts.partition_point(|&start| start <= from.0);
        if index == 0 || from > log.synced {
            return Err(not_in_log(log, from));
        }
        let start = log.starts[index - 1];
        let mut reader = Segment::open(&*log.disk, &log.dir, start, log.record_bytes_max)?;
        reader.seek(from.0);
        Ok(Self {
            disk: Arc::clone(&log.disk),
            dir: log.dir.clone(),
            record_bytes_max: log.record_bytes_max,
            reader,
            further: log.starts.range(index..).copied().collect(),
            until: log.synced,
            is_over: false,
        })
    }

    fn read_next(&mut self) -> Result<Option<(LogPosition, Vec<u8>)>> {
        while self.reader.position() < self.until.0 {
            match self.reader.step()? {
                Step::Record(payload) => {
                    return Ok(Some((LogPosition(self.reader.position()), payload)));
                }
                Step::Mark => {}
                Step::Bad(what) => return Err(self.reader.damaged(what)),
                Step::End => self.next_segment()?,
            }
        }
        Ok(None)
    }

    fn next_segment(&mut self) -> Result<()> {
        let next = self.further.pop_front().filter(|&next| next == self.reader.position());
        let gap = || self.reader.damaged("the next segment does not begin here");
        let start = next.ok_or_else(gap)?;
        self.reader = Segment::open(&*self.disk, &self.dir, start, self.record_bytes_max)?;
        Ok(())
    }
}

fn not_in_log(log: &Log, from: LogPosition) -> Error {
    let path = segment::path(&log.dir, log.starts[0]);
    let (first, last) = (log.starts[0], log.synced);
    let what = format!("asked for position {from}, but this log reaches from {first} to {last}");
    Error::Damaged { path, offset: 0, what }
}

impl Iterator for Replay {
    type Item = Result<(LogPosition, Vec<u8>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = self.read_next();
        self.is_over = !matches!(next, Ok(Some(_)));
        next.transpose()
    }
}
