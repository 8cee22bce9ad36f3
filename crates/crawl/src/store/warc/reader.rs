//! Reads WARC files, ours and others': record by record, or one at an offset.
//!
//! Gzip files must have one member per record, as the standard recommends and random access needs; plain
//! files are read as well. A record is given out only when it is whole: header, block of the length it
//! declares, the empty lines behind it, and for gzip the checksum and the end of the member. Anything
//! else is [`Error::Damaged`] with the offset of the record, after which the reader gives nothing more
//! unless it is told to [`WarcReader::recover`]: members of a gzip file say where they begin. Digests
//! are compared when asked for, by [`Record::check_digests`].
//!
//! Memory: one record at a time. A block beyond `block_bytes_max` is passed over, and counted.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;

use data_encoding::{BASE32, BASE64, BASE64URL, HEXLOWER_PERMISSIVE};
use flate2::bufread::GzDecoder;
use larm_core::Limits;
use larm_core::digest::{Sha1Digest, Sha256Digest};

use crate::{Error, Result};

/// How a gzip member begins: its magic number and the one method there is.
const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 8];

/// Reads the records of one file.
#[derive(Debug)]
pub struct WarcReader {
    path: PathBuf,
    file: Counted<BufReader<File>>,
    header_bytes_max: u64,
    block_bytes_max: u64,
    passed_over: u64,
    recovery_tries_max: u64,
    /// Where a record begins that could not be read.
    damaged_at: Option<u64>,
    /// Set after damage: what follows cannot be told from noise.
    ended: bool,
}

/// One record, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Where it begins in the file.
    pub offset: u64,
    /// Its length there, as compressed.
    pub bytes: u64,
    /// `WARC/1.0` or `WARC/1.1`.
    pub version: String,
    /// The fields of its header, in order.
    pub fields: Vec<(String, String)>,
    /// What follows the header.
    pub block: Vec<u8>,
}

impl WarcReader {
    /// Opens a file, with bounds that hold for every file that larm writes under `limits`.
    pub fn open(path: impl Into<PathBuf>, limits: &Limits) -> Result<Self> {
        let path = path.into();
        let file = File::open(&path).map_err(Error::io(&path))?;
        // A body that comes in chunks of one byte takes six on the wire for each.
        let payload_bytes_max = limits.body_bytes_max.saturating_mul(8);
        Ok(Self {
            file: Counted { inner: BufReader::new(file), count: 0 },
            path,
            header_bytes_max: limits.warc_header_bytes_max,
            block_bytes_max: payload_bytes_max.saturating_add(limits.header_bytes_max),
            passed_over: 0,
            recovery_tries_max: limits.warc_recovery_tries_max,
            damaged_at: None,
            ended: false,
        })
    }

    /// Records so far that are longer than may be read.
    pub fn passed_over(&self) -> u64 {
        self.passed_over
    }

    /// Goes to the record that begins at `offset`, as an index names it.
    pub fn seek(&mut self, offset: u64) -> Result<()> {
        self.file.inner.seek(SeekFrom::Start(offset)).map_err(Error::io(&self.path))?;
        self.file.count = offset;
        self.ended = false;
        Ok(())
    }

    /// The record that begins at `offset`.
    pub fn record_at(&mut self, offset: u64) -> Result<Record> {
        self.seek(offset)?;
        self.ended = true;
        match self.read_record()? {
            Some(Found::Record(record)) => Ok(record),
            Some(Found::TooLong(bytes)) => {
                Err(self.damaged(offset, format!("the block is {bytes} bytes long")))
            }
            None => Err(self.damaged(offset, "the file ends here")),
        }
    }

    /// Goes on behind damage, at the next place where a whole record stands, and gives that place. In plain
    /// files there is none: a page could pretend to be a record.
    pub fn recover(&mut self) -> Result<Option<u64>> {
        let Some(mut begin) = self.damaged_at.take() else { return Ok(None) };
        for _ in 0..self.recovery_tries_max {
            let Some(found) = self.next_member(begin + 1)? else { return Ok(None) };
            self.seek(found)?;
            match self.read_record() {
                Ok(Some(_)) => return self.seek(found).map(|()| Some(found)),
                Err(Error::Io { path, source }) => return Err(Error::Io { path, source }),
                Ok(None) | Err(_) => begin = found,
            }
        }
        Ok(None)
    }

    /// The first place from `from` on that looks like the beginning of a gzip member.
    fn next_member(&mut self, from: u64) -> Result<Option<u64>> {
        self.seek(0)?;
        let is_gzip = self.file.fill_buf().map_err(Error::io(&self.path))?.starts_with(&[0x1f]);
        if !is_gzip {
            return Ok(None);
        }
        self.seek(from)?;
        let (mut seen, mut byte) = ([0; 3], [0; 1]);
        while self.file.read(&mut byte).map_err(Error::io(&self.path))? > 0 {
            seen = [seen[1], seen[2], byte[0]];
            if seen == GZIP_MAGIC {
                return Ok(Some(self.file.count - GZIP_MAGIC.len() as u64));
            }
        }
        Ok(None)
    }

    fn read_record(&mut self) -> Result<Option<Found>> {
        let offset = self.file.count;
        let first = self.file.fill_buf().map_err(Error::io(&self.path))?;
        let read = match first {
            [] => return Ok(None),
            [0x1f, ..] => {
                let mut member = BufReader::new(GzDecoder::new(&mut self.file));
                let bounds = (self.header_bytes_max, self.block_bytes_max);
                read_whole(&mut member, bounds)
                    .and_then(|parts| at_end(&mut member).map(|()| parts))
            }
            _ => read_whole(&mut self.file, (self.header_bytes_max, self.block_bytes_max)),
        };
        let (head, block) = read.map_err(|fault| self.error(offset, fault))?;
        let Some(block) = block else {
            let bytes = head.block_bytes().map_err(|fault| self.error(offset, fault))?;
            return Ok(Some(Found::TooLong(bytes)));
        };
        let bytes = self.file.count - offset;
        let Head { version, fields } = head;
        Ok(Some(Found::Record(Record { offset, bytes, version, fields, block })))
    }

    fn error(&self, offset: u64, fault: Fault) -> Error {
        match fault {
            Fault::Damaged(what) => self.damaged(offset, what),
            Fault::Io(error) if is_about_bytes(&error) => self.damaged(offset, error.to_string()),
            Fault::Io(error) => Error::io(&self.path)(error),
        }
    }

    fn damaged(&self, offset: u64, what: impl Into<String>) -> Error {
        Error::Damaged { path: self.path.clone(), offset, what: what.into() }
    }
}

impl Iterator for WarcReader {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            match self.read_record() {
                Ok(Some(Found::Record(record))) => return Some(Ok(record)),
                Ok(Some(Found::TooLong(_))) => self.passed_over += 1,
                Ok(None) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    if let Error::Damaged { offset, .. } = &error {
                        self.damaged_at = Some(*offset);
                    }
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

impl Record {
    /// The value of a field, the first of that name.
    pub fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// `WARC-Type`.
    pub fn kind(&self) -> &str {
        self.field("WARC-Type").unwrap_or_default()
    }

    /// `WARC-Target-URI`, without the angle brackets that some writers put around it.
    pub fn target(&self) -> Option<&str> {
        let target = self.field("WARC-Target-URI")?;
        Some(target.strip_prefix('<').and_then(|t| t.strip_suffix('>')).unwrap_or(target))
    }

    /// The block as head and payload, if it is HTTP.
    pub fn http(&self) -> Option<(&[u8], &[u8])> {
        let content_type = self.field("Content-Type").unwrap_or_default();
        if !content_type.trim_start().to_ascii_lowercase().starts_with("application/http") {
            return None;
        }
        Some(self.block.split_at(http_head_bytes(&self.block)))
    }

    /// What its payload digest is about: what follows the HTTP head, or the whole block.
    pub fn payload(&self) -> &[u8] {
        self.http().map_or(&self.block, |(_, payload)| payload)
    }

    /// Compares the digests that the record carries, and says what is wrong with it, if anything is. The
    /// payload digest of a revisit is that of another record and is not compared.
    pub fn check_digests(&self) -> Result<(), String> {
        check_digest("block", self.field("WARC-Block-Digest"), &self.block)?;
        let is_whole = self.kind() != "revisit" && self.field("WARC-Segment-Number").is_none();
        let declared = self.field("WARC-Payload-Digest").filter(|_| is_whole);
        check_digest("payload", declared, self.payload())
    }
}

/// What stands at a place.
enum Found {
    Record(Record),
    /// A record whose block is longer than may be read, with its length.
    TooLong(u64),
}

/// What is wrong with a record.
enum Fault {
    Damaged(String),
    Io(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<&str> for Fault {
    fn from(what: &str) -> Self {
        Self::Damaged(what.to_owned())
    }
}

/// Whether an error of a reader is about what it read, and not about reading.
fn is_about_bytes(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

struct Head {
    version: String,
    fields: Vec<(String, String)>,
}

impl Head {
    fn block_bytes(&self) -> Result<u64, Fault> {
        let length = |(name, _): &&(String, String)| name.eq_ignore_ascii_case("Content-Length");
        let (_, value) = self.fields.iter().find(length).ok_or("there is no Content-Length")?;
        value.parse().map_err(|_| Fault::Damaged(format!("Content-Length is `{value}`")))
    }
}

/// Reads to the end of a record; without its block, if that is longer than may be read.
fn read_whole(
    from: &mut impl BufRead,
    (header_bytes_max, block_bytes_max): (u64, u64),
) -> Result<(Head, Option<Vec<u8>>), Fault> {
    let head = read_head(&mut from.take(header_bytes_max))?;
    let bytes = head.block_bytes()?;
    let mut block = (bytes <= block_bytes_max).then(Vec::new);
    let mut from_block = from.take(bytes);
    let there = match &mut block {
        Some(block) => from_block.read_to_end(block)? as u64,
        None => io::copy(&mut from_block, &mut io::sink())?,
    };
    if there < bytes {
        return Err(Fault::Damaged(format!("the block ends after {there} of {bytes} bytes")));
    }
    skip_empty_lines(from)?;
    Ok((head, block))
}

/// Two empty lines end a record. Some writers leave one out behind an empty block; none is damage.
fn skip_empty_lines(from: &mut impl BufRead) -> Result<(), Fault> {
    let mut skipped = 0;
    while skipped < 4 && matches!(from.fill_buf()?, [b'\r' | b'\n', ..]) {
        from.consume(1);
        skipped += 1;
    }
    if skipped < 2 {
        return Err("no empty lines behind the block".into());
    }
    Ok(())
}

fn read_head(from: &mut impl BufRead) -> Result<Head, Fault> {
    let version = read_line(from)?;
    if !version.starts_with("WARC/") {
        let shown: String = version.chars().take(40).collect();
        return Err(Fault::Damaged(format!("not a WARC record: `{shown}`")));
    }
    let mut fields: Vec<(String, String)> = Vec::new();
    loop {
        let line = read_line(from)?;
        if line.is_empty() {
            return Ok(Head { version, fields });
        }
        add_field(&mut fields, &line)?;
    }
}

/// Adds a header line. One that begins with white space goes on with the field before it.
fn add_field(fields: &mut Vec<(String, String)>, line: &str) -> Result<(), Fault> {
    if line.starts_with([' ', '\t']) {
        let (_, value) = fields.last_mut().ok_or("the header begins with white space")?;
        value.push(' ');
        value.push_str(line.trim());
        return Ok(());
    }
    let (name, value) = line.split_once(':').ok_or("a header line without a colon")?;
    fields.push((name.trim().to_owned(), value.trim().to_owned()));
    Ok(())
}

/// A line without its end. Text that is not UTF-8 is no reason to give up a record.
fn read_line(from: &mut impl BufRead) -> Result<String, Fault> {
    let mut line = Vec::new();
    from.read_until(b'\n', &mut line)?;
    if line.pop() != Some(b'\n') {
        return Err("the header is too long or cut short".into());
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

/// Reads to the end of a gzip member, where the checksum is, and wants nothing before it.
fn at_end(member: &mut impl Read) -> Result<(), Fault> {
    match member.read(&mut [0; 1])? {
        0 => Ok(()),
        _ => {
            Err("the gzip member goes on behind the record; unpacked, the file can be read".into())
        }
    }
}

/// Length of an HTTP head, the empty line included; all of it, if there is no empty line.
fn http_head_bytes(block: &[u8]) -> usize {
    let mut line_begin = 0;
    for (index, _) in block.iter().enumerate().filter(|&(_, &byte)| byte == b'\n') {
        if matches!(&block[line_begin..index], [] | [b'\r']) && line_begin > 0 {
            return index + 1;
        }
        line_begin = index + 1;
    }
    block.len()
}

/// Compares a digest as declared, in any of the spellings in use, with that of `bytes`. An algorithm that
/// is not known here cannot be wrong.
fn check_digest(what: &str, declared: Option<&str>, bytes: &[u8]) -> Result<(), String> {
    let Some((algorithm, text)) = declared.and_then(|digest| digest.split_once(':')) else {
        return Ok(());
    };
    let actual = match algorithm.to_ascii_lowercase().as_str() {
        "sha1" => Sha1Digest::of(bytes).as_bytes().to_vec(),
        "sha256" => Sha256Digest::of(bytes).as_bytes().to_vec(),
        _ => return Ok(()),
    };
    let decoders = [&BASE32, &HEXLOWER_PERMISSIVE, &BASE64, &BASE64URL];
    let matches = |decoder: &&data_encoding::Encoding| {
        decoder.decode(text.as_bytes()).is_ok_and(|digest| digest == actual)
    };
    if decoders.iter().any(matches) {
        return Ok(());
    }
    Err(format!("the {what} digest does not match: {algorithm}:{text}"))
}

/// A reader that knows how far it got.
#[derive(Debug)]
struct Counted<R> {
    inner: R,
    count: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out)?;
        self.count += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.count += bytes as u64;
        self.inner.consume(bytes);
    }
}
