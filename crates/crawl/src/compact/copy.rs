//! The records of some pages, copied from one archive into another: byte for byte, as they were compressed.
//!
//! What belongs to a page is its answer, and the request and the notes that go with it. The files of the copy have
//! numbers behind those of the original, so that no name ever stands for two contents.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use larm_core::Millis;
use larm_core::url::Fingerprint;

use super::Places;
use super::choose::Choice;
use crate::error::{Error, Result};
use crate::store::appender::Appender;
use crate::store::warc::{FileName, Record, WarcReader, warcinfo};
use crate::store::{Position, StorePlan, WarcRef, durable};

/// What was copied.
pub struct Copied {
    /// The files of the copy.
    pub files: Vec<PathBuf>,
    /// Where the answers of pages lie in them.
    pub places: Places,
    /// Where the copy ends.
    pub end: Position,
}

/// Copies what was chosen.
pub struct Copier {
    plan: StorePlan,
    chosen: HashSet<Fingerprint>,
    next: u32,
    open: Option<OpenFile>,
    copied: Copied,
}

struct OpenFile {
    number: u32,
    name: Arc<str>,
    out: Appender,
    /// Behind the record that says whose file it is.
    first: u64,
}

impl Copier {
    /// Into `warc/` of a stage.
    pub fn new(stage: &Path, plan: StorePlan, choice: &Choice) -> Self {
        let chosen = choice.pages.iter().map(|page| page.url()).collect();
        let end = Position::default();
        let copied = Copied { files: Vec::new(), places: Places::default(), end };
        let plan = StorePlan { dir: stage.to_owned(), ..plan };
        Self { plan, chosen, next: 0, open: None, copied }
    }

    /// Copies from these files, which are read in their order.
    pub fn copy(mut self, files: &[PathBuf]) -> Result<Copied> {
        durable::create_dir(&self.plan.dir.join("warc"))?;
        let numbers = files.iter().filter_map(|path| self.number_of(path));
        self.next = numbers.max().map_or(0, |last| last + 1);
        self.copied.end = Position { file: self.next, offset: 0 };
        files.iter().try_for_each(|path| self.copy_file(path))?;
        self.close()?;
        Ok(self.copied)
    }

    fn number_of(&self, path: &Path) -> Option<u32> {
        let name = path.file_name()?.to_str()?;
        FileName::parse(name, &self.plan.crawl_id).map(|name| name.number)
    }

    fn copy_file(&mut self, path: &Path) -> Result<()> {
        let mut bytes = File::open(path).map_err(Error::io(path))?;
        for record in WarcReader::open(path, &self.plan.limits)? {
            let record = record?;
            let target = record.target().map(Fingerprint::of);
            if let Some(page) = target.filter(|page| self.chosen.contains(page)) {
                let raw = read_at(&mut bytes, &record).map_err(Error::io(path))?;
                self.refuse_plain(path, &raw)?;
                self.take(page, &record, &raw)?;
            }
        }
        Ok(())
    }

    /// In a file that is not compressed by records, a record is not what a compressed file is made of.
    fn refuse_plain(&self, path: &Path, raw: &[u8]) -> Result<()> {
        if raw.first() == Some(&0x1f) {
            return Ok(());
        }
        let path = path.display();
        Err(Error::Directory(format!("{path} is not compressed record by record: it stays whole")))
    }

    fn take(&mut self, page: Fingerprint, record: &Record, raw: &[u8]) -> Result<()> {
        // Records that belong together begin with the answer, and stay in one file.
        let is_answer = matches!(record.kind(), "response" | "resource" | "revisit");
        let full = self.open.as_ref().is_some_and(|file| !file.has_room(raw, &self.plan));
        if is_answer && full {
            self.close()?;
        }
        let file = match self.open.take() {
            Some(file) => file,
            None => self.begin(record)?,
        };
        let file = self.open.insert(file);
        let (number, name) = (file.number, file.name.clone());
        let offset = file.out.append(raw)?;
        if is_answer {
            let place = WarcRef { file: number, name, offset, bytes: raw.len() as u64 };
            self.copied.places.insert(page, place);
        }
        Ok(())
    }

    fn begin(&mut self, record: &Record) -> Result<OpenFile> {
        let at = record.field("WARC-Date").and_then(Millis::parse).unwrap_or_default();
        let name = FileName::new(self.next, at, &self.plan.crawl_id);
        let path = name.warc_path(&self.plan.dir);
        let mut out = Appender::new(&path, self.plan.limits.sink_buffer_bytes_max);
        out.append(&warcinfo(&self.plan, &name.warc(), at))?;
        self.copied.files.push(path);
        self.next += 1;
        Ok(OpenFile { number: name.number, name: name.warc().into(), first: out.end(), out })
    }

    fn close(&mut self) -> Result<()> {
        if let Some(mut file) = self.open.take() {
            self.copied.end = Position { file: file.number, offset: file.out.sync()? };
        }
        Ok(())
    }
}

impl OpenFile {
    fn has_room(&self, raw: &[u8], plan: &StorePlan) -> bool {
        let end = self.out.end();
        end == self.first || end + raw.len() as u64 <= plan.limits.warc_bytes_max
    }
}

fn read_at(file: &mut File, record: &Record) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(record.offset))?;
    let mut raw = Vec::new();
    file.take(record.bytes).read_to_end(&mut raw)?;
    Ok(raw)
}
