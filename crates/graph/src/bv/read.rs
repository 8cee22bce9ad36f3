//! The files of a WebGraph graph → successors, node by node or of one node.
//!
//! The compressed bits are held in memory, which is a few bits per link. Every number is checked: a
//! graph that lies about itself is an error that says where.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use super::bits::{BitReader, Code};
use super::{Properties, unfold, with_ending};
use crate::graph::Graph;
use crate::{Error, Result};

/// A compressed graph in memory.
#[derive(Debug)]
pub struct BvGraph {
    path: PathBuf,
    properties: Properties,
    bits: Vec<u8>,
}

impl BvGraph {
    /// Reads the graph `name`; `NAME.graph` and `NAME.properties` must be there.
    pub fn open(name: &Path) -> Result<Self> {
        let properties = Properties::read(name)?;
        let path = with_ending(name, ".graph");
        let bits = fs::read(&path).map_err(Error::io(&path))?;
        Ok(Self { path, properties, bits })
    }

    /// Size and parameters.
    pub fn properties(&self) -> &Properties {
        &self.properties
    }

    /// All nodes in order.
    pub fn rows(&self) -> Rows<'_> {
        let reader = BitReader::new(&self.bits, 0);
        Rows { graph: self, reader, node: 0, window: VecDeque::new(), arcs: 0 }
    }

    /// All of it, ready to be computed on.
    pub fn to_graph(&self) -> Result<Graph> {
        let mut builder = Graph::builder(self.properties.arcs);
        let mut rows = self.rows();
        while let Some(successors) = rows.next()? {
            builder.push(successors);
        }
        Ok(builder.finish())
    }

    /// The successors of a node, by the file of offsets.
    pub fn successors(&self, node: u32) -> Result<Vec<u32>> {
        let offsets = self.offsets_until(node)?;
        let list = self.list_at(node, &offsets, 0);
        list.ok_or_else(|| self.damaged(node, offsets.last().copied().unwrap_or_default()))
    }

    /// Where the lists of the nodes up to this one begin.
    fn offsets_until(&self, node: u32) -> Result<Vec<u64>> {
        let path = self.path.with_extension("offsets");
        let bytes = fs::read(&path).map_err(Error::io(&path))?;
        let mut reader = BitReader::new(&bytes, 0);
        let (mut offsets, mut at) = (Vec::new(), 0_u64);
        for before in 0..=node {
            let gap = reader.get(self.properties.codes.offsets);
            at = gap
                .and_then(|gap| at.checked_add(gap))
                .ok_or_else(|| Error::damaged(&path, u64::from(before), "an offset is missing"))?;
            offsets.push(at);
        }
        Ok(offsets)
    }

    /// Decodes the list of a node and those that it refers to.
    fn list_at(&self, node: u32, offsets: &[u64], chain: u32) -> Option<Vec<u32>> {
        // A chain gets shorter with every step back, and cannot be longer than there are nodes before.
        let mut reader = BitReader::new(&self.bits, *offsets.get(node as usize)?);
        let mut list = List::begin(&mut reader, node, &self.properties)?;
        let other = match list.reference {
            0 => Vec::new(),
            back if chain < self.properties.references_max.min(CHAIN_MAX) => {
                self.list_at(node.checked_sub(back)?, offsets, chain + 1)?
            }
            _ => return None,
        };
        let mut out = Vec::new();
        list.finish(&mut reader, &other, &mut out)?;
        Some(out)
    }

    fn damaged(&self, node: u32, bit: u64) -> Error {
        Error::damaged(&self.path, bit / 8, format!("the list of node {node} cannot be read"))
    }
}

/// Lists that refer to each other in a row, so that nobody's file uses up the stack.
const CHAIN_MAX: u32 = 1_000;

/// The nodes of a graph in order.
pub struct Rows<'a> {
    graph: &'a BvGraph,
    reader: BitReader<'a>,
    node: u32,
    /// The last lists, the newest first.
    window: VecDeque<Vec<u32>>,
    arcs: u64,
}

impl Rows<'_> {
    /// The successors of the next node; `None` behind the last. There it is also checked that there
    /// were as many arcs as the graph says.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend")]
    pub fn next(&mut self) -> Result<Option<&[u32]>> {
        let properties = &self.graph.properties;
        if self.node == properties.nodes {
            return match self.arcs == properties.arcs {
                true => Ok(None),
                false => Err(self.graph.damaged(self.node, self.reader.position())),
            };
        }
        let begin = self.reader.position();
        let room = match self.window.len() > properties.window as usize {
            true => self.window.pop_back().unwrap_or_default(),
            false => Vec::new(),
        };
        let list = self.decode(room).ok_or_else(|| self.graph.damaged(self.node, begin))?;
        self.node += 1;
        self.arcs += list.len() as u64;
        if self.arcs > properties.arcs {
            return Err(self.graph.damaged(self.node, begin));
        }
        self.window.push_front(list);
        Ok(self.window.front().map(Vec::as_slice))
    }

    fn decode(&mut self, mut out: Vec<u32>) -> Option<Vec<u32>> {
        out.clear();
        let mut list = List::begin(&mut self.reader, self.node, &self.graph.properties)?;
        let other: &[u32] = match list.reference {
            0 => &[],
            back => self.window.get(back as usize - 1)?,
        };
        list.finish(&mut self.reader, other, &mut out)?;
        Some(out)
    }
}

/// A list that is being decoded.
struct List<'a> {
    properties: &'a Properties,
    node: u32,
    degree: u64,
    /// How many nodes back the list is that this one copies from; 0: none.
    reference: u32,
}

impl<'a> List<'a> {
    fn begin(bits: &mut BitReader<'_>, node: u32, properties: &'a Properties) -> Option<Self> {
        let degree = bits.get(properties.codes.degrees)?;
        let reference = match degree > 0 && properties.window > 0 {
            true => u32::try_from(bits.get(properties.codes.references)?).ok()?,
            false => 0,
        };
        let possible = reference <= properties.window && reference <= node;
        let possible = possible && degree <= u64::from(properties.nodes);
        possible.then_some(Self { properties, node, degree, reference })
    }

    /// Reads the rest, and puts all successors into `out` in order.
    fn finish(
        &mut self,
        bits: &mut BitReader<'_>,
        other: &[u32],
        out: &mut Vec<u32>,
    ) -> Option<()> {
        if self.reference > 0 {
            self.copy(bits, other, out)?;
        }
        let copied = out.len();
        let mut missing = self.degree.checked_sub(copied as u64)?;
        if missing > 0 && self.properties.run_min > 0 {
            missing = self.runs(bits, missing, out)?;
        }
        self.singles(bits, missing, out)?;
        if out.len() > copied {
            out.sort_unstable();
        }
        let rising = out.is_sorted_by(|a, b| a < b);
        (rising && out.last().is_none_or(|&last| last < self.properties.nodes)).then_some(())
    }

    fn copy(&self, bits: &mut BitReader<'_>, other: &[u32], out: &mut Vec<u32>) -> Option<()> {
        let codes = &self.properties.codes;
        let count = bits.get(codes.block_counts)?;
        let mut rest = other;
        for index in 0..count {
            let length = bits.get(codes.blocks)?.checked_add(u64::from(index > 0))?;
            let (block, behind) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            if index % 2 == 0 {
                out.extend_from_slice(block);
            }
            rest = behind;
        }
        if count % 2 == 0 {
            out.extend_from_slice(rest);
        }
        Some(())
    }

    /// Reads the runs, and returns how many successors are still missing.
    fn runs(&self, bits: &mut BitReader<'_>, missing: u64, out: &mut Vec<u32>) -> Option<u64> {
        let (mut missing, mut end) = (missing, None);
        for _ in 0..bits.get(Code::Gamma)? {
            let gap = bits.get(Code::Gamma)?;
            let first = self.behind(gap, end)?;
            let length = bits.get(Code::Gamma)?.checked_add(u64::from(self.properties.run_min))?;
            missing = missing.checked_sub(length)?;
            let behind = first.checked_add(u32::try_from(length).ok()?)?;
            if behind > self.properties.nodes {
                return None;
            }
            out.extend(first..behind);
            end = Some(behind);
        }
        Some(missing)
    }

    fn singles(&self, bits: &mut BitReader<'_>, count: u64, out: &mut Vec<u32>) -> Option<()> {
        let mut last = None;
        for _ in 0..count {
            let gap = bits.get(self.properties.codes.gaps)?;
            let single = self.behind(gap, last)?;
            out.push(single);
            last = Some(single);
        }
        Some(())
    }

    /// The node that stands `gap` behind the last one, or around this node.
    fn behind(&self, gap: u64, last: Option<u32>) -> Option<u32> {
        match last {
            Some(last) => u32::try_from(u64::from(last).checked_add(gap)?.checked_add(1)?).ok(),
            None => u32::try_from(i64::from(self.node).checked_add(unfold(gap))?).ok(),
        }
    }
}
