//! An answer from the archive, as one thing: the record of a URL, and for a copy the record that it stands for.

use std::path::Path;

use larm_core::Limits;

use crate::fetch::archived_body;
use crate::store::header;
use crate::store::warc::{Record, WarcReader};
use crate::{Error, Result};

/// Revisit records that are followed to the original.
const HOPS_MAX: usize = 4;

/// Where a record lies: the name of its file in `warc/`, and its first byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordPlace {
    /// Name of the archive file, without a directory.
    pub name: String,
    /// First byte of the record.
    pub offset: u64,
}

/// An answer from the archive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// The request, where it stands behind the answer.
    pub request: Vec<u8>,
    /// The head of the response that was asked for; empty for a file.
    pub head: Vec<u8>,
    /// The head that the payload came with: another one for a copy.
    pub payload_head: Vec<u8>,
    /// What followed that head, as sent.
    pub payload: Vec<u8>,
    /// Type of what no protocol brought.
    pub content_type: Option<String>,
}

impl Answer {
    /// The body as a reader wants it: without the framing and the encodings of its way, within the limits.
    pub fn body(&self, limits: &Limits) -> Vec<u8> {
        archived_body(&self.payload_head, &self.payload, limits).bytes.into_owned()
    }

    /// A field of the head that the payload came with, the first of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.payload_head, name)
    }
}

/// Reads the answer at `place` in the archive of the crawl in `dir`. `original` finds the URL that a copy is one of.
pub fn read_answer(
    dir: &Path,
    place: &RecordPlace,
    limits: &Limits,
    mut original: impl FnMut(&str) -> Result<Option<RecordPlace>>,
) -> Result<Answer> {
    let mut answer = Answer::default();
    let mut place = place.clone();
    for hop in 0..HOPS_MAX {
        let mut reader = open(dir, &place.name, limits)?;
        let record = reader.record_at(place.offset)?;
        let (head, payload) =
            parts_of(&record).ok_or_else(|| lost("the record holds no answer"))?;
        if hop == 0 {
            answer.head = head.to_vec();
            answer.request = request_behind(reader, &record);
        }
        if record.kind() != "revisit" {
            answer.content_type = record.field("Content-Type").map(str::to_owned);
            (answer.payload_head, answer.payload) = (head.to_vec(), payload.to_vec());
            return Ok(answer);
        }
        let url = record.field("WARC-Refers-To-Target-URI");
        let url = url.ok_or_else(|| lost("the record does not say what it is a copy of"))?;
        place = original(url)?.ok_or_else(|| lost(&format!("the original {url} is missing")))?;
    }
    Err(lost("the record leads from copy to copy"))
}

/// A name that a log gives is that of a file in `warc/`, and of nothing else.
fn open(dir: &Path, name: &str, limits: &Limits) -> Result<WarcReader> {
    let is_name = Path::new(name).file_name().is_some_and(|file| file == name);
    match is_name {
        true => WarcReader::open(dir.join("warc").join(name), limits),
        false => Err(lost(&format!("`{name}` is no name of an archive file"))),
    }
}

fn lost(what: &str) -> Error {
    Error::Directory(format!("the archive cannot answer: {what}"))
}

/// Head and payload of a record. Of a file there is no head.
fn parts_of(record: &Record) -> Option<(&[u8], &[u8])> {
    let is_file = record.target().is_some_and(|url| url.starts_with("file:"));
    if is_file { Some((b"", &record.block)) } else { record.http() }
}

/// The request stands behind its answer; where it does not, there is none to show.
fn request_behind(mut reader: WarcReader, record: &Record) -> Vec<u8> {
    let behind = record.offset + record.bytes;
    let next = reader.seek(behind).ok().and_then(|()| reader.next()).and_then(Result::ok);
    let is_its_own = |next: &Record| {
        next.kind() == "request"
            && next.field("WARC-Concurrent-To") == record.field("WARC-Record-ID")
    };
    next.filter(is_its_own).map(|next| next.block).unwrap_or_default()
}
