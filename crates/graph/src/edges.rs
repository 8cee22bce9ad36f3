//! Edge lists: a line for each arc, two numbers from 0 on with white space between them; plain or gzipped.
//!
//! Lines that begin with `#` or `%` are comments. A first line is not an arc but a header if it begins with
//! a letter, or if its two numbers are those of nodes and arcs: exactly as many lines follow as its second
//! number says, and no node is above the first.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use larm_core::Limits;

use crate::graph::Graph;
use crate::{Error, Result};

/// Bytes of a line, at most: two numbers and a few words.
const LINE_BYTES_MAX: u64 = 4_096;

/// Reads an edge list.
pub fn read(path: &Path, limits: &Limits) -> Result<Graph> {
    let file = File::open(path).map_err(Error::io(path))?;
    let mut plain = BufReader::with_capacity(1 << 16, file);
    let is_gzip = plain.fill_buf().map_err(Error::io(path))?.starts_with(&[0x1f, 0x8b]);
    let arcs = match is_gzip {
        true => read_arcs(path, BufReader::new(MultiGzDecoder::new(plain)), limits)?,
        false => read_arcs(path, plain, limits)?,
    };
    let nodes = arcs.iter().map(|&(from, to)| from.max(to) + 1).max().unwrap_or(0);
    Ok(Graph::of_arcs(nodes, arcs))
}

fn read_arcs(path: &Path, mut lines: impl BufRead, limits: &Limits) -> Result<Vec<(u32, u32)>> {
    let (mut arcs, mut line, mut number) = (Vec::new(), String::new(), 0);
    let nodes_max = u32::try_from(limits.graph_nodes_max).unwrap_or(u32::MAX);
    loop {
        line.clear();
        number += 1;
        let read = lines.by_ref().take(LINE_BYTES_MAX).read_line(&mut line);
        if read.map_err(Error::io(path))? == 0 {
            break;
        }
        let text = line.trim();
        let is_title = number == 1 && text.starts_with(|c: char| c.is_alphabetic());
        if text.is_empty() || text.starts_with(['#', '%']) || is_title {
            continue;
        }
        let arc = arc_of(text).ok_or_else(|| {
            Error::damaged(path, number, format!("`{}` is no arc", text.escape_debug()))
        })?;
        if arc.0.max(arc.1) >= nodes_max {
            let what = format!("line {number} has a node above `graph_nodes_max`");
            return Err(Error::unfit(path, what));
        }
        arcs.push(arc);
    }
    if is_header(&arcs) {
        arcs.remove(0);
    }
    Ok(arcs)
}

fn arc_of(line: &str) -> Option<(u32, u32)> {
    let mut words = line.split_ascii_whitespace();
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

fn is_header(lines: &[(u32, u32)]) -> bool {
    let Some((&(nodes, arcs), rest)) = lines.split_first() else { return false };
    let counted = arcs as usize == rest.len() && !rest.is_empty();
    counted && rest.iter().all(|&(from, to)| from.max(to) <= nodes)
}

/// Writes an edge list of numbers.
pub fn write(graph: &Graph, out: &mut dyn Write) -> std::io::Result<()> {
    for (from, row) in graph.rows() {
        for to in row {
            writeln!(out, "{from}\t{to}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(bytes: &[u8]) -> Result<Graph> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("edges");
        std::fs::write(&path, bytes).unwrap();
        read(&path, &Limits { graph_nodes_max: 1_000, ..Limits::default() })
    }

    #[test]
    fn what_was_written_is_read_back_packed_or_not() {
        let graph = Graph::of_arcs(4, vec![(0, 3), (2, 2), (3, 0)]);
        let mut text = Vec::new();
        write(&graph, &mut text).unwrap();
        assert_eq!(read_text(&text).unwrap(), graph);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&text).unwrap();
        assert_eq!(read_text(&gzip.finish().unwrap()).unwrap(), graph);
    }

    #[test]
    fn comments_and_headers_are_no_arcs() {
        let graph = read_text(b"% a graph\n3 2\n1 2\n\n2\t1 0.5\n").unwrap();
        assert_eq!(graph, Graph::of_arcs(3, vec![(1, 2), (2, 1)]));
        assert_eq!(read_text(b"start end\n1 2\n2 1\n").unwrap(), graph);
        let graph = read_text(b"3 2\n1 2\n").unwrap();
        assert_eq!(graph.arcs(), 2, "it is an arc where the count is another");
    }

    #[test]
    fn a_line_that_is_no_arc_is_named() {
        let error = read_text(b"0 1\n1 one\n").unwrap_err().to_string();
        assert!(error.contains("at 2") && error.contains("1 one"), "{error}");
        assert!(read_text(b"0 1000\n").unwrap_err().to_string().contains("graph_nodes_max"));
        assert!(read_text(&[0x1f, 0x8b, 1]).is_err());
        assert_eq!(read_text(b"").unwrap().nodes(), 0);
    }
}
