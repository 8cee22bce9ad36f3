//! A directory as a page: links to its entries, in order of their names.
//!
//! A page has few enough links for the parser to take them all; what does not fit is behind a link to the
//! next part, which begins behind the last name of this one. So a directory of any size is walked in
//! pieces of a fixed size, and what is added or removed meanwhile moves nothing else. Every part reads
//! the whole directory once.
//!
//! Names are bytes: they are listed as they are, and shown as well as it goes.

use std::collections::BinaryHeap;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::fs::read_dir;
use std::io;

use larm_core::Limits;
use larm_core::url::CrawlUrl;
use larm_core::url::file::escaped_name;

use super::open::Opened;

/// A directory that may be listed.
pub(super) struct Directory {
    pub opened: Opened,
}

/// One entry: its name, and whether it is a directory itself.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    name: OsString,
    is_dir: bool,
}

/// A part of a directory.
#[derive(Debug)]
pub(super) struct Listing {
    entries: Vec<Entry>,
    /// How many the directory has in all.
    total: u64,
    has_more: bool,
}

/// Entries of one part: as many links as are kept of a page, but for the one to the next part.
pub(super) fn entries_max(limits: &Limits) -> usize {
    let entries = limits.listing_entries_max.min(limits.page_links_max.saturating_sub(1));
    usize::try_from(entries.max(1)).unwrap_or(usize::MAX)
}

impl Directory {
    /// The first entries behind the name `from`.
    pub fn list(&self, from: &[u8], entries_max: usize) -> io::Result<Listing> {
        // The largest of those that are kept is the first to go.
        let mut kept: BinaryHeap<Entry> = BinaryHeap::with_capacity(entries_max.min(1_024) + 1);
        let (mut total, mut has_more) = (0, false);
        for entry in read_dir(self.opened.path())? {
            let entry = entry?;
            total += 1;
            let name = entry.file_name();
            if bytes_of(&name) <= from {
                continue;
            }
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            kept.push(Entry { name, is_dir });
            if kept.len() > entries_max {
                kept.pop();
                has_more = true;
            }
        }
        Ok(Listing { entries: kept.into_sorted_vec(), total, has_more })
    }
}

impl Listing {
    /// How much of the directory it is.
    pub fn summary(&self) -> String {
        format!("{} of {} entries", self.entries.len(), self.total)
    }

    /// The page.
    pub fn to_html(&self, url: &CrawlUrl) -> String {
        let path = escaped(url.path());
        let mut page = String::with_capacity(200 + self.entries.len() * 64);
        // Writing to a text cannot fail.
        let _ = write!(
            page,
            "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>Files in {path}</title></head>\n\
             <body><h1>Files in {path}</h1>\n<ul>\n"
        );
        for entry in &self.entries {
            entry.write(&mut page);
        }
        page.push_str("</ul>\n");
        if let Some(last) = self.entries.last().filter(|_| self.has_more) {
            let from = escaped(&escaped_name(bytes_of(&last.name)));
            let _ = writeln!(page, "<p><a rel=\"next\" href=\"?from={from}\">more</a></p>");
        }
        page.push_str("</body></html>\n");
        page
    }
}

impl Entry {
    /// A name with a colon would pass for a scheme, hence the dot.
    fn write(&self, page: &mut String) {
        let slash = if self.is_dir { "/" } else { "" };
        let link = escaped(&escaped_name(bytes_of(&self.name)));
        let shown = escaped(&self.name.to_string_lossy());
        let _ = writeln!(page, "<li><a href=\"./{link}{slash}\">{shown}{slash}</a>");
    }
}

/// Text as HTML has it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

fn bytes_of(name: &OsStr) -> &[u8] {
    name.as_encoded_bytes()
}
