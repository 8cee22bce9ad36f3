//! Successors, node by node → the files of a WebGraph graph.
//!
//! What is held are the lists of the last few nodes, nothing else: a graph of any size is streamed.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use super::bits::{BitWriter, Code};
use super::properties::Codes;
use super::{Properties, fold, with_ending};
use crate::{Error, Result};

/// Writes a graph.
pub struct BvWriter {
    name: PathBuf,
    properties: Properties,
    graph: BitWriter<BufWriter<File>>,
    offsets: BitWriter<BufWriter<File>>,
    /// The last lists, the newest first, each with the length of the chain that it refers to.
    window: VecDeque<(Vec<u32>, u32)>,
    last_offset: u64,
}

impl BvWriter {
    /// Begins the files of the graph `name`.
    pub fn create(name: &Path) -> Result<Self> {
        let open = |ending: &str| {
            let path = with_ending(name, ending);
            let file = File::create(&path).map_err(Error::io(&path))?;
            Ok(BitWriter::new(BufWriter::new(file)))
        };
        let mut writer = Self {
            name: name.to_path_buf(),
            properties: Properties::default(),
            graph: open(".graph")?,
            offsets: open(".offsets")?,
            window: VecDeque::new(),
            last_offset: 0,
        };
        writer.put_offset().map_err(Error::io(name))?;
        Ok(writer)
    }

    /// Adds the successors of the next node, which rise strictly. Nodes that come later may be among
    /// them; nodes that never come are for the caller to avoid.
    pub fn push(&mut self, successors: &[u32]) -> Result<()> {
        debug_assert!(successors.is_sorted_by(|a, b| a < b), "successors rise strictly");
        self.put_list(successors).map_err(Error::io(&self.name))?;
        self.properties.nodes += 1;
        self.properties.arcs += successors.len() as u64;
        Ok(())
    }

    /// Writes the last bits and the properties, and brings all to the disk.
    pub fn finish(self) -> Result<Properties> {
        let bits = self.graph.written();
        for (stream, ending) in [(self.graph, ".graph"), (self.offsets, ".offsets")] {
            let path = with_ending(&self.name, ending);
            let file = stream.finish().map_err(Error::io(&path))?;
            file.get_ref().sync_all().map_err(Error::io(&path))?;
        }
        let path = with_ending(&self.name, ".properties");
        fs::write(&path, self.properties.to_text(bits)).map_err(Error::io(&path))?;
        Ok(self.properties)
    }

    fn put_offset(&mut self) -> io::Result<()> {
        let offset = self.graph.written();
        self.offsets.put(self.properties.codes.offsets, offset - self.last_offset)?;
        self.last_offset = offset;
        Ok(())
    }

    fn put_list(&mut self, list: &[u32]) -> io::Result<()> {
        self.graph.put(self.properties.codes.degrees, list.len() as u64)?;
        let chain = if list.is_empty() { 0 } else { self.put_successors(list)? };
        self.put_offset()?;
        let mut room = match self.window.len() == self.properties.window as usize {
            true => self.window.pop_back().unwrap_or_default().0,
            false => Vec::new(),
        };
        room.clear();
        room.extend_from_slice(list);
        self.window.push_front((room, chain));
        Ok(())
    }

    /// Writes the list by the reference that makes it shortest; says how long the chain is that this gives.
    fn put_successors(&mut self, list: &[u32]) -> io::Result<u32> {
        let Properties { nodes: node, run_min, codes, references_max, .. } = self.properties;
        let plain = Parts::of(list, &[], node, run_min);
        let mut best = (plain.bits(&codes, 0), 0, 0, plain);
        for (back, (other, chain)) in self.window.iter().enumerate() {
            if other.is_empty() || *chain >= references_max {
                continue;
            }
            let parts = Parts::of(list, other, node, run_min);
            let bits = parts.bits(&codes, back as u64 + 1);
            if bits < best.0 {
                best = (bits, back + 1, chain + 1, parts);
            }
        }
        let (_, reference, chain, parts) = best;
        parts.each(&codes, reference as u64, |code, number| self.graph.put(code, number))?;
        Ok(chain)
    }
}

/// A list taken apart: what is copied from another one, runs of neighbours, and single nodes.
struct Parts {
    node: u32,
    run_min: u32,
    /// Lengths of stretches of the other list, copied and left out in turn.
    blocks: Vec<u32>,
    /// First node and length of each run.
    runs: Vec<(u32, u32)>,
    singles: Vec<u32>,
}

impl Parts {
    fn of(list: &[u32], other: &[u32], node: u32, run_min: u32) -> Self {
        let (blocks, extras) = copied(list, other);
        let (runs, singles) = runs_of(&extras, run_min);
        Self { node, run_min, blocks, runs, singles }
    }

    fn bits(&self, codes: &Codes, reference: u64) -> u64 {
        let mut bits = 0;
        let Ok(()) = self.each(codes, reference, |code, number| {
            bits += code.bits(number);
            Ok::<(), Infallible>(())
        });
        bits
    }

    /// Every number of the list behind its degree, in the order of the file.
    fn each<E>(
        &self,
        codes: &Codes,
        reference: u64,
        mut put: impl FnMut(Code, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        put(codes.references, reference)?;
        if reference > 0 {
            put(codes.block_counts, self.blocks.len() as u64)?;
            for (index, &block) in self.blocks.iter().enumerate() {
                put(codes.blocks, u64::from(block) - u64::from(index > 0))?;
            }
        }
        if self.runs.is_empty() && self.singles.is_empty() {
            return Ok(());
        }
        let from_node = |first: u32| fold(i64::from(first) - i64::from(self.node));
        if self.run_min > 0 {
            put(Code::Gamma, self.runs.len() as u64)?;
            let mut end = None;
            for &(first, length) in &self.runs {
                let gap = end.map_or_else(|| from_node(first), |end| u64::from(first - end) - 1);
                put(Code::Gamma, gap)?;
                put(Code::Gamma, u64::from(length - self.run_min))?;
                end = Some(first + length);
            }
        }
        let mut last = None;
        for &single in &self.singles {
            let gap = last.map_or_else(|| from_node(single), |last| u64::from(single - last) - 1);
            put(codes.gaps, gap)?;
            last = Some(single);
        }
        Ok(())
    }
}

/// The stretches of `other` that `list` has and has not, in turn, and what `list` has besides. The last
/// stretch goes without saying.
fn copied(list: &[u32], other: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let (mut blocks, mut extras) = (Vec::new(), Vec::new());
    let (mut mine, mut theirs) = (0, 0);
    let (mut copying, mut length) = (true, 0);
    while mine < list.len() && theirs < other.len() {
        if list[mine] < other[theirs] {
            extras.push(list[mine]);
            mine += 1;
            continue;
        }
        let same = list[mine] == other[theirs];
        if same != copying {
            blocks.push(length);
            (copying, length) = (same, 0);
        }
        length += 1;
        theirs += 1;
        mine += usize::from(same);
    }
    if copying && theirs < other.len() {
        blocks.push(length);
    }
    extras.extend_from_slice(&list[mine..]);
    (blocks, extras)
}

/// Parts runs of at least `run_min` neighbours from the rest.
fn runs_of(extras: &[u32], run_min: u32) -> (Vec<(u32, u32)>, Vec<u32>) {
    let (mut runs, mut singles) = (Vec::new(), Vec::new());
    for run in extras.chunk_by(|a, b| a + 1 == *b) {
        match run.len() as u32 {
            length if run_min > 0 && length >= run_min => runs.push((run[0], length)),
            _ => singles.extend_from_slice(run),
        }
    }
    (runs, singles)
}
