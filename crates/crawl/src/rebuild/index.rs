//! The index of an archive file, made from its records: one line per answer, sorted.

use std::path::{Path, PathBuf};

use larm_core::Limits;
use larm_core::digest::Sha1Digest;
use larm_core::url::{CrawlUrl, UrlRules};

use super::capture::Capture;
use super::url_of;
use crate::error::Result;
use crate::store::appender::Appender;
use crate::store::cdxj::{self, Entry, Index};

/// The index of one file under construction.
pub struct IndexBuilder {
    index: Index,
    lines: Appender,
    sort_bytes_max: u64,
}

impl IndexBuilder {
    /// The index of an archive file, below `cdx`.
    pub fn new(cdx: &Path, archive: &Path, limits: &Limits) -> Self {
        let name = archive.file_name().unwrap_or_default().to_string_lossy();
        let stem = name.trim_end_matches(".gz").trim_end_matches(".warc");
        let file = |ending: &str| -> PathBuf { cdx.join(format!("{stem}.{ending}")) };
        let index = Index { part: file("cdxj.part"), sorted: file("cdxj") };
        let lines = Appender::new(&index.part, limits.sink_buffer_bytes_max);
        Self { index, lines, sort_bytes_max: limits.sort_bytes_max }
    }

    /// Adds the line of a capture, and gives its URL; nothing for one that is not of the web.
    pub fn add(&mut self, capture: &Capture, rules: &UrlRules) -> Result<Option<CrawlUrl>> {
        if let Some(name) = capture.lookup() {
            let entry = Entry { status: "-".to_owned(), ..entry(capture, name) };
            return self.lines.append(&entry.line(name, capture.at())).map(|_| None);
        }
        let Some(url) = url_of(capture, rules) else { return Ok(None) };
        let entry = entry(capture, url.as_str());
        self.lines.append(&entry.line(&url.surt(), capture.at()))?;
        Ok(Some(url))
    }

    /// Puts the lines in order.
    pub fn finish(mut self) -> Result<()> {
        self.lines.sync()?;
        self.index.close(self.sort_bytes_max)
    }
}

fn entry(capture: &Capture, url: &str) -> Entry {
    let record = &capture.answer;
    let http = record.http();
    let head = http.map_or(&b""[..], |(head, _)| head);
    let mime = match record.kind() {
        "revisit" => "warc/revisit".to_owned(),
        _ if http.is_some() => cdxj::essence(field(head, "content-type").as_deref()),
        _ => cdxj::essence(record.field("Content-Type")),
    };
    Entry {
        url: url.to_owned(),
        mime,
        status: status(head).unwrap_or_else(|| "200".to_owned()),
        digest: digest(capture),
        length: capture.place.bytes.to_string(),
        offset: capture.place.offset.to_string(),
        filename: capture.place.name.to_string(),
    }
}

/// The payload digest that the record has, where it is of the kind that indexes have.
fn digest(capture: &Capture) -> String {
    let said = capture.answer.field("WARC-Payload-Digest");
    let sha1 = said.and_then(|digest| digest.strip_prefix("sha1:"));
    match sha1 {
        Some(digest) => digest.to_owned(),
        None => Sha1Digest::of(capture.answer.payload()).base32(),
    }
}

fn status(head: &[u8]) -> Option<String> {
    let line = head.split(|&byte| byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    line.split_ascii_whitespace().nth(1).map(str::to_owned)
}

fn field(head: &[u8], name: &str) -> Option<String> {
    let text = String::from_utf8_lossy(head);
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    fields
        .find(|(found, _)| found.trim().eq_ignore_ascii_case(name))
        .map(|(_, v)| v.trim().to_owned())
}
