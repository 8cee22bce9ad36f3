//! What a queue holds in memory, in the order of its places: a lane for each front queue, by number.
//!
//! What comes has the highest number of all, and what is taken stands first, so that both happen at the
//! ends of a lane. Whoever takes from its middle, or comes back to it, moves a part of that one lane.

use std::cmp::Ordering;
use std::collections::VecDeque;

use super::Place;

/// A lane may have room for so many more than stand in it before the room is given back.
const SPARE_PLACES: usize = 16;

/// An item that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    seq: u64,
    pub(super) packed: Box<[u8]>,
    /// The number of its block, once it has one.
    pub(super) block: Option<u32>,
}

impl Waiting {
    pub(super) fn new(seq: u64, packed: &[u8], block: Option<u32>) -> Self {
        Self { seq, packed: packed.into(), block }
    }
}

/// One front queue, its numbers rising; never empty.
#[derive(Debug)]
struct Lane {
    priority: u8,
    waiting: VecDeque<Waiting>,
}

impl Lane {
    fn place(&self, one: &Waiting) -> Place {
        Place { priority: self.priority, seq: one.seq }
    }

    fn find(&self, seq: u64) -> Result<usize, usize> {
        self.waiting.binary_search_by_key(&seq, |one| one.seq)
    }
}

/// All lanes, by their priority.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    lanes: Vec<Lane>,
    len: usize,
}

impl Lanes {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The smallest place.
    pub(super) fn first(&self) -> Option<Place> {
        let lane = self.lanes.first()?;
        lane.waiting.front().map(|one| lane.place(one))
    }

    /// Whether anything stands before a place. Looks at no item unless it must.
    pub(super) fn begin_before(&self, end: Place) -> bool {
        self.lanes.first().is_some_and(|lane| match lane.priority.cmp(&end.priority) {
            Ordering::Equal => lane.waiting.front().is_some_and(|one| one.seq < end.seq),
            order => order.is_lt(),
        })
    }

    pub(super) fn contains(&self, place: Place) -> bool {
        self.lane(place.priority).is_some_and(|at| self.lanes[at].find(place.seq).is_ok())
    }

    /// Puts an item at its place; whether that was free.
    pub(super) fn insert(&mut self, priority: u8, one: Waiting) -> bool {
        let lane = self.lane_for(priority);
        let at = match lane.waiting.back() {
            Some(last) if last.seq >= one.seq => lane.find(one.seq),
            _ => Err(lane.waiting.len()),
        };
        match at {
            Ok(at) => lane.waiting[at] = one,
            Err(at) => lane.waiting.insert(at, one),
        }
        self.len += usize::from(at.is_err());
        at.is_err()
    }

    /// Puts many items of a front queue at their places, which are free.
    pub(super) fn extend(&mut self, priority: u8, many: Vec<Waiting>) {
        if many.is_empty() {
            return;
        }
        self.len += many.len();
        let lane = self.lane_for(priority);
        lane.waiting.extend(many);
        // Of a few sorted stretches, which is no work for a stable sort.
        lane.waiting.make_contiguous().sort_by_key(|one| one.seq);
    }

    pub(super) fn remove(&mut self, place: Place) -> Option<Waiting> {
        let at = self.lane(place.priority)?;
        let lane = &mut self.lanes[at];
        let removed = match lane.waiting.front() {
            Some(first) if first.seq == place.seq => lane.waiting.pop_front(),
            _ => lane.find(place.seq).ok().and_then(|i| lane.waiting.remove(i)),
        }?;
        if lane.waiting.is_empty() {
            self.lanes.remove(at);
        }
        self.len -= 1;
        Some(removed)
    }

    /// Keeps those of which `stays` says so.
    pub(super) fn retain(&mut self, mut stays: impl FnMut(&Waiting) -> bool) {
        self.lanes.iter_mut().for_each(|lane| lane.waiting.retain(&mut stays));
        self.lanes.retain(|lane| !lane.waiting.is_empty());
        self.len = self.lanes.iter().map(|lane| lane.waiting.len()).sum();
    }

    /// Gives back room that nobody stands in.
    pub(super) fn shrink(&mut self) {
        for Lane { waiting, .. } in &mut self.lanes {
            if waiting.capacity() > 2 * waiting.len() + SPARE_PLACES {
                waiting.shrink_to_fit();
            }
        }
    }

    /// All of them, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Place, &Waiting)> {
        self.lanes.iter().flat_map(|lane| lane.waiting.iter().map(|one| (lane.place(one), one)))
    }

    /// The same, to be changed.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (Place, &mut Waiting)> {
        self.lanes.iter_mut().flat_map(|lane| {
            let priority = lane.priority;
            lane.waiting.iter_mut().map(move |one| (Place { priority, seq: one.seq }, one))
        })
    }

    /// Those from a place on, in order.
    pub(super) fn iter_from(&self, start: Place) -> impl Iterator<Item = (Place, &Waiting)> {
        let at = self.lanes.partition_point(|lane| lane.priority < start.priority);
        self.lanes[at..].iter().flat_map(move |lane| {
            let is_before = |one: &Waiting| lane.place(one) < start;
            let from = lane.waiting.partition_point(is_before);
            lane.waiting.range(from..).map(|one| (lane.place(one), one))
        })
    }

    fn lane(&self, priority: u8) -> Option<usize> {
        self.lanes.iter().position(|lane| lane.priority == priority)
    }

    fn lane_for(&mut self, priority: u8) -> &mut Lane {
        let at = self.lanes.partition_point(|lane| lane.priority < priority);
        if self.lanes.get(at).is_none_or(|lane| lane.priority != priority) {
            self.lanes.insert(at, Lane { priority, waiting: VecDeque::new() });
        }
        &mut self.lanes[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::faulty::Dice;
    use std::collections::BTreeMap;

    fn one(seq: u64) -> Waiting {
        Waiting::new(seq, &seq.to_le_bytes(), None)
    }

    #[test]
    fn lanes_are_as_a_sorted_map_would_be() {
        for seed in 0..20 {
            let (mut dice, mut lanes) = (Dice(seed), Lanes::default());
            let mut expected: BTreeMap<Place, Box<[u8]>> = BTreeMap::new();
            for _ in 0..500 {
                let place = Place { priority: dice.below(4) as u8, seq: dice.below(100) };
                match dice.below(8) {
                    0..4 => {
                        let before = expected.insert(place, one(place.seq).packed);
                        let is_new = lanes.insert(place.priority, one(place.seq));
                        assert_eq!(is_new, before.is_none());
                    }
                    4..6 => {
                        let removed = lanes.remove(place).map(|one| one.packed);
                        assert_eq!(removed, expected.remove(&place));
                    }
                    6 => {
                        let free = (place.seq..place.seq + 10)
                            .map(|seq| Place { seq, ..place })
                            .filter(|place| !expected.contains_key(place));
                        let free: Vec<Place> = free.collect();
                        lanes.extend(place.priority, free.iter().map(|at| one(at.seq)).collect());
                        expected.extend(free.iter().map(|at| (*at, one(at.seq).packed)));
                    }
                    _ => {
                        lanes.retain(|one| one.seq % 7 != place.seq % 7);
                        expected.retain(|at, _| at.seq % 7 != place.seq % 7);
                        lanes.shrink();
                    }
                }
                assert_eq!(lanes.first(), expected.keys().next().copied());
                assert_eq!(lanes.contains(place), expected.contains_key(&place));
                let is_before = expected.keys().next().is_some_and(|first| *first < place);
                assert_eq!(lanes.begin_before(place), is_before);
                assert_eq!((lanes.len(), lanes.is_empty()), (expected.len(), expected.is_empty()));
                let all: Vec<Place> = lanes.iter().map(|(place, _)| place).collect();
                assert_eq!(all, expected.keys().copied().collect::<Vec<_>>());
                let rest: Vec<Place> = lanes.iter_from(place).map(|(place, _)| place).collect();
                assert_eq!(rest, expected.range(place..).map(|(at, _)| *at).collect::<Vec<_>>());
            }
        }
    }
}
