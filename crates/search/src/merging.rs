//! Which segments of an index are put together.
//!
//! Few segments are searched faster than many, but what a merge takes grows with what it merges: memory for numbers of
//! documents and for terms, time, and room on the disk for both the old and the new. So segments grow by tens up
//! to a size, and then stay as they are. What was deleted does not count: a segment shrinks with it, and is
//! written anew without it when it is the larger part.

use std::io;
use std::path::{Path, PathBuf};

use tantivy::index::{SegmentComponent, SegmentId, SegmentMeta};
use tantivy::indexer::{MergeCandidate, MergePolicy};

/// Segments of a size that are put together; more of them make searching slower, fewer cost more.
const MERGE_SEGMENTS: usize = 10;
/// Smaller segments count as being of one size.
const SMALL_SEGMENT_BYTES: u64 = 256 * 1024;
/// What a segment consists of, but for the bits of what was deleted.
const COMPONENTS: [SegmentComponent; 6] = [
    SegmentComponent::Postings,
    SegmentComponent::Positions,
    SegmentComponent::Terms,
    SegmentComponent::Store,
    SegmentComponent::FastFields,
    SegmentComponent::FieldNorms,
];

/// Segments of a size are put together as long as they are small.
#[derive(Debug)]
pub(crate) struct BySize {
    /// Where the segments are.
    dir: PathBuf,
    /// What is merged at a time has at most so many bytes.
    bytes_max: u64,
}

impl MergePolicy for BySize {
    fn compute_merge_candidates(&self, segments: &[SegmentMeta]) -> Vec<MergeCandidate> {
        let sizes = segments.iter().filter_map(|segment| self.size(segment)).collect();
        merges(sizes, self.bytes_max).into_iter().map(MergeCandidate).collect()
    }
}

impl BySize {
    pub fn new(dir: &Path, bytes_max: u64) -> io::Result<Self> {
        Ok(Self { dir: dir.canonicalize()?, bytes_max })
    }

    /// Nothing if its files cannot be seen: who knows how large it is?
    fn size(&self, segment: &SegmentMeta) -> Option<Size<SegmentId>> {
        let len = |component| self.dir.join(segment.relative_path(component)).metadata().ok();
        let lens: Option<Vec<u64>> =
            COMPONENTS.into_iter().map(|component| Some(len(component)?.len())).collect();
        let bytes: u64 = lens?.iter().sum();
        let (alive, all) = (u64::from(segment.num_docs()), u64::from(segment.max_doc()).max(1));
        Some(Size { of: segment.id(), bytes, alive_bytes: bytes / all * alive })
    }
}

#[derive(Debug, Clone, Copy)]
struct Size<S> {
    of: S,
    bytes: u64,
    /// Without what was deleted.
    alive_bytes: u64,
}

impl<S: Copy> Size<S> {
    /// Tens of this size are one of the next.
    fn level(&self) -> u32 {
        (self.alive_bytes / SMALL_SEGMENT_BYTES).max(1).ilog10()
    }

    fn is_mostly_gone(&self) -> bool {
        self.alive_bytes < self.bytes / 2
    }
}

/// The segments of which one is to be made, group by group.
fn merges<S: Copy>(sizes: Vec<Size<S>>, bytes_max: u64) -> Vec<Vec<S>> {
    let (large, mut sizes): (Vec<_>, Vec<_>) =
        sizes.into_iter().partition(|size| size.bytes > bytes_max);
    sizes.sort_by_key(|size| size.alive_bytes);
    let levels = sizes.chunk_by(|left, right| left.level() == right.level());
    let found = levels.flat_map(|level| merges_of_a_level(level, bytes_max));
    found.chain(mostly_gone(&large)).collect()
}

/// Groups of ten, or of as many as are the most that may be merged; and each segment alone that is mostly gone.
fn merges_of_a_level<S: Copy>(level: &[Size<S>], bytes_max: u64) -> Vec<Vec<S>> {
    let mut found = Vec::new();
    let mut rest = level;
    while !rest.is_empty() {
        let count = fitting(rest, bytes_max);
        let (group, others) = rest.split_at(count);
        let bytes: u64 = group.iter().map(|size| size.alive_bytes).sum();
        let is_all_there_may_be = !others.is_empty() && bytes >= bytes_max / 2;
        if count == MERGE_SEGMENTS || (count > 1 && is_all_there_may_be) {
            found.push(group.iter().map(|size| size.of).collect());
        } else {
            found.extend(mostly_gone(group));
        }
        rest = others;
    }
    found
}

/// Each of the segments alone that is better written anew.
fn mostly_gone<S: Copy>(sizes: &[Size<S>]) -> impl Iterator<Item = Vec<S>> {
    sizes.iter().filter(|size| size.is_mostly_gone()).map(|size| vec![size.of])
}

/// How many of the first segments may be merged, at least one.
fn fitting<S>(sizes: &[Size<S>], bytes_max: u64) -> usize {
    let mut bytes = 0;
    let fits = |size: &&Size<S>| {
        bytes += size.bytes;
        bytes <= bytes_max
    };
    sizes.iter().take(MERGE_SEGMENTS).take_while(fits).count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1024 * 1024;
    const BYTES_MAX: u64 = 256 * MIB;

    /// Segments by their size in MiB, all alive; which of them are merged.
    fn merged(sizes: &[u64]) -> Vec<Vec<u64>> {
        let sizes = sizes.iter().map(|size| {
            let bytes = size * MIB;
            Size { of: *size, bytes, alive_bytes: bytes }
        });
        merges(sizes.collect(), BYTES_MAX)
    }

    #[test]
    fn ten_of_a_size_are_merged_and_no_more_than_may_be() {
        let nothing: [Vec<u64>; 0] = [];
        assert_eq!(merged(&[]), nothing);
        assert_eq!(merged(&[20; 9]), nothing);
        assert_eq!(merged(&[20; 10]), [[20; 10]]);
        assert_eq!(merged(&[20; 25]), [[20; 10], [20; 10]]);
        // Of different sizes, and not in order.
        assert_eq!(merged(&[200, 20, 1, 20, 1, 20, 200, 1]), nothing);
        // Three of a hundred would be too much, two of them are most of what may be.
        assert_eq!(merged(&[100; 2]), nothing);
        assert_eq!(merged(&[100; 3]), [[100; 2]]);
        assert_eq!(merged(&[200; 5]), nothing);
        // Larger than what may be merged, from another time.
        assert_eq!(merged(&[300; 20]), nothing);
    }

    #[test]
    fn no_merge_takes_more_than_it_may_and_none_is_left_for_ever() {
        // Segments come one by one, of any small size, and are merged at once.
        let mut sizes: Vec<u64> = Vec::new();
        let mut written = 0;
        for number in 0..5_000_u64 {
            let size = 5 + number * 7 % 17;
            sizes.push(size);
            written += size;
            loop {
                let groups = merged(&sizes);
                if groups.is_empty() {
                    break;
                }
                for group in groups {
                    let sum: u64 = group.iter().sum();
                    assert!(sum * MIB <= BYTES_MAX, "{group:?}");
                    for size in group {
                        let at = sizes.iter().position(|other| *other == size).unwrap();
                        sizes.swap_remove(at);
                    }
                    sizes.push(sum);
                    written += sum;
                }
            }
        }
        let all: u64 = sizes.iter().sum();
        let most = all * MIB / BYTES_MAX * 3 + 3 * MERGE_SEGMENTS as u64;
        assert!((sizes.len() as u64) < most, "{} segments of {all} MiB", sizes.len());
        assert!(written < 4 * all, "{written} MiB written for {all}");
    }

    #[test]
    fn what_is_mostly_deleted_is_written_anew() {
        let size = |of, alive_bytes| Size { of, bytes: 100 * MIB, alive_bytes };
        let rows = [size('a', 100 * MIB), size('b', 60 * MIB), size('c', 40 * MIB)];
        assert_eq!(merges(rows.to_vec(), BYTES_MAX), [['c']]);
        // However large it is.
        assert_eq!(merges(rows.to_vec(), 50 * MIB), [['c']]);
    }
}
