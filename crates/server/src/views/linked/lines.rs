//! Every link to what is broken or redirected, one line each: a pass over the link log that is made as the lines are
//! taken.

use std::collections::HashMap;

use larm_core::url::Fingerprint;
use larm_graph::log::{self, LogReader, Visit};

use super::pass::{Kind, target_kind};
use crate::problem::Problem;
use crate::table::quoted;
use crate::views::Looked;
use crate::views::detail::rows;

/// Visits that are read at a time, and bytes of lines from which on they are given out.
const VISITS_AT_A_TIME: usize = 2_000;
const LINES_BYTES: usize = 128 * 1024;

/// The first line of both tables.
const HEADER: &str = "url,outcome,status,reason,from,text,via\r\n";

/// Links that are not written yet.
pub struct LinkLines {
    kind: Kind,
    /// Number of each target's row, by fingerprint.
    targets: HashMap<u64, u64>,
    reader: Option<LogReader>,
    visit: Visit,
    chapter: Option<u64>,
    /// Of each link of the chapter, the beginning of its line if it leads to a target.
    begins: Vec<Option<String>>,
    has_header: bool,
}

impl LinkLines {
    /// The links of a crawl to targets of one kind.
    pub fn new(looked: &Looked<'_>, kind: Kind) -> Result<Self, Problem> {
        let targets = looked.table(|table| {
            let mut targets = HashMap::new();
            for (row, &print) in table.prints().iter().enumerate() {
                match target_kind(table, row) == Some(kind) {
                    true => drop(targets.insert(print, table.number(row))),
                    false => drop(targets.remove(&print)),
                }
            }
            Ok(targets)
        })?;
        let path = log::path_in(&looked.dir);
        let reader = path.exists().then(|| LogReader::open(&path)).transpose().map_err(failed)?;
        Ok(Self {
            kind,
            targets,
            reader,
            visit: Visit::default(),
            chapter: None,
            begins: Vec::new(),
            has_header: false,
        })
    }

    /// The next lines; `None` at the end.
    pub fn next(&mut self, looked: &Looked<'_>) -> Result<Option<String>, Problem> {
        let mut lines = String::new();
        if !std::mem::replace(&mut self.has_header, true) {
            lines.push_str(HEADER);
        }
        let Some(mut reader) = self.reader.take() else {
            return Ok(Some(lines).filter(|lines| !lines.is_empty()));
        };
        for _ in 0..VISITS_AT_A_TIME {
            if lines.len() >= LINES_BYTES {
                break;
            }
            if !reader.next(&mut self.visit).map_err(failed)? {
                return Ok(Some(lines));
            }
            self.look_at_new_links(&reader, looked)?;
            self.write(&reader, &mut lines);
        }
        self.reader = Some(reader);
        Ok(Some(lines))
    }

    fn look_at_new_links(
        &mut self,
        reader: &LogReader,
        looked: &Looked<'_>,
    ) -> Result<(), Problem> {
        if self.chapter != Some(self.visit.place.chapter) {
            self.chapter = Some(self.visit.place.chapter);
            self.begins.clear();
        }
        for number in self.begins.len()..reader.chapter().len() {
            let link = reader.chapter().link(number as u32);
            let target =
                self.targets.get(&Fingerprint::of(link.to).0).filter(|_| !link.is_rejected());
            let begin = target.map(|&row| begin_of(looked, row, self.kind)).transpose()?.flatten();
            self.begins.push(begin);
        }
        Ok(())
    }

    fn write(&self, reader: &LogReader, lines: &mut String) {
        for &number in &self.visit.links {
            let Some(begin) = &self.begins[number as usize] else { continue };
            let link = reader.chapter().link(number);
            let (from, text) = (quoted(&self.visit.url), quoted(link.text));
            lines.push_str(&format!("{begin},{from},{text},{}\r\n", quoted(link.via.word())));
        }
    }
}

fn failed(error: larm_graph::Error) -> Problem {
    Problem::internal(format!("The link log cannot be read: {error}."))
}

/// The cells about a target; nothing if its row is gone.
fn begin_of(looked: &Looked<'_>, row: u64, kind: Kind) -> Result<Option<String>, Problem> {
    looked.table(|table| {
        let Some(row) = table.index(row) else { return Ok(None) };
        let whole = rows(table, &[row])?.pop();
        Ok(whole.map(|whole| {
            let row = whole.row;
            let status = row.status.map(|status| status.to_string()).unwrap_or_default();
            let reason = if kind == Kind::Redirected { row.redirect } else { row.reason };
            let reason = quoted(reason.as_deref().unwrap_or_default());
            format!("{},{},{status},{reason}", quoted(&row.url), quoted(&row.outcome))
        }))
    })
}
