//! The end of a crawl's log as it grows: what was settled since it was looked at last.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use larm_core::Limits;
use serde::Serialize;
use serde_json::Value;

use crate::table::Whole;

/// Bytes that are read at the beginning, so that there is something to show.
const FIRST_BYTES: u64 = 16 * 1_024;

/// Follows one log.
#[derive(Debug)]
pub struct Tail {
    path: PathBuf,
    offset: u64,
}

/// What was settled lately.
#[derive(Debug, Default, Serialize)]
pub struct Fetches {
    /// The newest of it, in the order of the log: rows as everywhere, but without their numbers, which are not
    /// known here.
    pub rows: Vec<Value>,
    /// How many more there were.
    pub left_out: u64,
}

impl Tail {
    /// Begins near the end of what is there now.
    pub fn new(dir: &Path) -> Self {
        let path = dir.join("logs").join("crawl.jsonl");
        let len = std::fs::metadata(&path).map_or(0, |meta| meta.len());
        Self { path, offset: len.saturating_sub(FIRST_BYTES) }
    }

    /// What came since the last time.
    pub fn read(&mut self, limits: &Limits) -> std::io::Result<Fetches> {
        let mut file = File::open(&self.path)?;
        let len = file.metadata()?.len();
        // A crawl that starts again cuts its log back.
        let is_cut = len < self.offset;
        let from = if is_cut {
            len
        } else {
            self.offset.max(len.saturating_sub(limits.server_tail_bytes_max))
        };
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(len - from).read_to_end(&mut bytes)?;
        // The last line may not be whole yet.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.offset = from + whole as u64;
        Ok(newest(&bytes[..whole], limits.server_tail_rows_max))
    }
}

fn newest(bytes: &[u8], rows_max: u64) -> Fetches {
    let lines: Vec<&[u8]> =
        bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let shown = lines.len().min(usize::try_from(rows_max).unwrap_or(usize::MAX));
    let (others, newest) = lines.split_at(lines.len() - shown);
    Fetches {
        rows: newest.iter().filter_map(|line| row(line)).collect(),
        left_out: others.len() as u64,
    }
}

fn row(line: &[u8]) -> Option<Value> {
    let mut row = serde_json::to_value(Whole::read(0, line)?.row).ok()?;
    row.as_object_mut()?.remove("row");
    Some(row)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn line(number: usize) -> String {
        format!(
            "{{\"at\":\"2026-11-15T20:00:01.042Z\",\"url\":\"http://h/{number}\",\"outcome\":\"fetched\",\"depth\":1,\"via\":\"anchor\",\"tries\":1}}\n"
        )
    }

    #[test]
    fn each_line_is_told_once_and_a_half_one_later() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join("logs")).unwrap();
        let mut file = File::create(temp.path().join("logs/crawl.jsonl")).unwrap();
        let mut tail = Tail::new(temp.path());
        let limits = Limits { server_tail_rows_max: 3, ..Limits::default() };
        let urls = |tail: &mut Tail| {
            let fetches = tail.read(&limits).unwrap();
            let urls: Vec<String> =
                fetches.rows.iter().map(|row| row["url"].as_str().unwrap().to_owned()).collect();
            (urls, fetches.left_out)
        };
        let half = line(3);
        write!(file, "{}{}{}", line(1), line(2), &half[..30]).unwrap();
        assert_eq!(urls(&mut tail).0, ["http://h/1", "http://h/2"]);
        write!(file, "{}", &half[30..]).unwrap();
        assert_eq!(urls(&mut tail).0, ["http://h/3"]);
        assert_eq!(urls(&mut tail), (Vec::new(), 0));
        (4..14).for_each(|number| file.write_all(line(number).as_bytes()).unwrap());
        let (newest, left_out) = urls(&mut tail);
        assert_eq!(
            (newest, left_out),
            (["http://h/11", "http://h/12", "http://h/13"].map(str::to_owned).to_vec(), 7)
        );
        file.set_len(10).unwrap();
        assert_eq!(urls(&mut tail), (Vec::new(), 0));
    }
}
