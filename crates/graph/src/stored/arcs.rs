//! Arcs between fingerprints → arcs between numbers, by sorting and walking along two lists at a time.

use std::path::Path;

use super::nodes::{Fingerprints, FingerprintsWriter};
use super::{BACKWARD, FORWARD};
use crate::Result;
use crate::bv::BvWriter;
use crate::sort::{Sorted, Sorter};

/// Source, turn of the visit that has the link, and target.
pub type ArcSorter = Sorter<(u64, u32, u64)>;

/// Gives every arc of a last visit the number of its source, in exchange for the fingerprint, and writes
/// the table of fingerprints on the way. `numbers` are fingerprint, number and last turn of each node.
pub fn number_sources(
    mut arcs: Sorted<(u64, u32, u64)>,
    mut numbers: Sorted<(u64, u32, u64)>,
    mut table: FingerprintsWriter,
    mut out: Sorter<(u64, u32)>,
) -> Result<Sorted<(u64, u32)>> {
    let mut arc = arcs.next()?;
    while let Some((fingerprint, node, last_turn)) = numbers.next()? {
        table.push(fingerprint, node)?;
        while let Some((from, turn, to)) = arc.take_if(|(from, _, _)| *from <= fingerprint) {
            if from == fingerprint && u64::from(turn) == last_turn {
                out.push((to, node))?;
            }
            arc = arcs.next()?;
        }
    }
    table.finish()?;
    out.finish()
}

/// Gives every arc the number of its target, and writes the graph, both ways. Returns how many arcs it
/// has.
pub fn write(
    dir: &Path,
    mut by_target: Sorted<(u64, u32)>,
    nodes: u32,
    sort_bytes_max: u64,
) -> Result<u64> {
    let mut backward = Sorter::new(dir.join("backward"), sort_bytes_max);
    let mut table = Fingerprints::open(dir)?;
    let mut arc = by_target.next()?;
    while let Some((fingerprint, node)) = table.next()? {
        while let Some((to, from)) = arc.take_if(|(to, _)| *to <= fingerprint) {
            if to == fingerprint {
                backward.push((u64::from(node), from))?;
            }
            arc = by_target.next()?;
        }
    }
    drop(by_target);
    let mut forward = Sorter::new(dir.join("forward"), sort_bytes_max);
    let mut turn = |to: u32, from: &[u32]| {
        from.iter().try_for_each(|&from| forward.push((u64::from(from), to)))
    };
    write_rows(&dir.join(BACKWARD), backward.finish()?, nodes, &mut turn)?;
    write_rows(&dir.join(FORWARD), forward.finish()?, nodes, &mut |_, _| Ok(()))
}

/// Writes sorted arcs as a graph, doubles once, and shows each row to `each`.
fn write_rows(
    name: &Path,
    mut arcs: Sorted<(u64, u32)>,
    nodes: u32,
    each: &mut dyn FnMut(u32, &[u32]) -> Result<()>,
) -> Result<u64> {
    let mut writer = BvWriter::create(name)?;
    let mut arc = arcs.next()?;
    let mut row = Vec::new();
    for node in 0..nodes {
        row.clear();
        while let Some((_, other)) = arc.take_if(|(this, _)| *this == u64::from(node)) {
            if row.last() != Some(&other) {
                row.push(other);
            }
            arc = arcs.next()?;
        }
        writer.push(&row)?;
        each(node, &row)?;
    }
    Ok(writer.finish()?.arcs)
}
