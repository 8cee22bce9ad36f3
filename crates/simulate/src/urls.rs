//! Lists of URLs for the nodes of a graph: plain or gzipped lines of number and URL, or of URLs alone.
//!
//! A first line that is neither is a header. Comments begin with `#`.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use larm_core::Limits;
use larm_core::url::{UrlRules, seed};

use crate::{Error, Result};

/// The lines of a text file, plain or gzipped, trimmed, each within `url_bytes_max` and a little.
pub(crate) fn lines(path: &Path, limits: &Limits) -> Result<Vec<String>> {
    let wrong = |what: String| Error::List { path: path.to_path_buf(), what };
    let file = File::open(path).map_err(|error| wrong(error.to_string()))?;
    let mut plain = BufReader::new(file);
    let head = plain.fill_buf().map_err(|error| wrong(error.to_string()))?;
    let mut reader: Box<dyn BufRead> = match head.starts_with(&[0x1f, 0x8b]) {
        true => Box::new(BufReader::new(MultiGzDecoder::new(plain))),
        false => Box::new(plain),
    };
    let mut lines = Vec::new();
    loop {
        let mut line = Vec::new();
        let mut part = reader.by_ref().take(limits.seed_line_bytes_max);
        let read = part.read_until(b'\n', &mut line).map_err(|error| wrong(error.to_string()))?;
        if read == 0 {
            return Ok(lines);
        }
        if lines.len() as u64 > limits.graph_nodes_max {
            return Err(wrong("it has more lines than `graph_nodes_max`".into()));
        }
        let line = String::from_utf8_lossy(&line).trim().to_owned();
        if !line.is_empty() && !line.starts_with('#') {
            lines.push(line);
        }
    }
}

/// A URL for each of `nodes` nodes, whose numbers begin with `first`.
pub(crate) fn read(path: &Path, first: u32, nodes: u32, limits: &Limits) -> Result<Vec<Box<str>>> {
    let wrong = |what: String| Error::List { path: path.to_path_buf(), what };
    let rules = UrlRules::default();
    let mut urls: Vec<Box<str>> = vec!["".into(); nodes as usize];
    let mut next = u64::from(first);
    for (at, line) in lines(path, limits)?.iter().enumerate() {
        let (number, text) = split(line);
        if at == 0 && !text.contains("://") {
            continue;
        }
        let number = number.unwrap_or(next);
        next = number + 1;
        let place =
            number.checked_sub(u64::from(first)).and_then(|node| urls.get_mut(node as usize));
        let place = place.ok_or_else(|| wrong(format!("the graph has no node {number}")))?;
        // What larm would not crawl is a node all the same: it keeps the text that it has.
        *place = seed(text, &rules).map_or_else(|_| text.into(), |url| url.as_str().into());
    }
    match urls.iter().position(|url| url.is_empty()) {
        None => Ok(urls),
        Some(node) => Err(wrong(format!("node {} has no URL", node as u64 + u64::from(first)))),
    }
}

fn split(line: &str) -> (Option<u64>, &str) {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match word.parse() {
        Ok(number) if !rest.is_empty() => (Some(number), rest.trim()),
        _ => (None, line),
    }
}
