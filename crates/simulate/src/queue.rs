//! Waiting pages by worth: a heap in which a page can move.
//!
//! Of pages that are worth the same, the one found first comes first. Twelve bytes a page, whatever happens
//! to its worth. The heap has four children a node: it is flat, and a page that rises a little mostly
//! stays where it is.

/// Stands for a page that does not wait.
const NOWHERE: u32 = u32::MAX;
const CHILDREN: usize = 4;

#[derive(Debug, Clone, Default)]
pub(crate) struct Queue {
    heap: Vec<(f32, u32)>,
    /// Where each page is in the heap.
    places: Vec<u32>,
}

impl Queue {
    /// Adds a page, or moves it to where its worth now belongs.
    pub(crate) fn put(&mut self, page: u32, worth: f32) {
        if page as usize >= self.places.len() {
            self.places.resize(page as usize + 1, NOWHERE);
        }
        let mut at = self.places[page as usize] as usize;
        if at == NOWHERE as usize {
            at = self.heap.len();
            self.heap.push((worth, page));
        }
        self.heap[at] = (worth, page);
        self.settle(at);
    }

    /// Whether a page waits.
    pub(crate) fn holds(&self, page: u32) -> bool {
        self.places.get(page as usize).is_some_and(|place| *place != NOWHERE)
    }

    /// Takes the best page.
    pub(crate) fn pop(&mut self) -> Option<u32> {
        let &(_, page) = self.heap.first()?;
        let last = self.heap.pop().expect("there is a first");
        self.places[page as usize] = NOWHERE;
        if !self.heap.is_empty() {
            self.heap[0] = last;
            self.settle(0);
        }
        Some(page)
    }

    /// How many pages wait.
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Asks anew what each page is worth.
    pub(crate) fn reorder(&mut self, worth: impl Fn(u32) -> f32) {
        self.heap.iter_mut().for_each(|(value, page)| *value = worth(*page));
        // Sorted, best first, it is a heap.
        self.heap.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (at, (_, page)) in self.heap.iter().enumerate() {
            self.places[*page as usize] = at as u32;
        }
    }

    /// Moves what is at a place up or down to where it belongs.
    fn settle(&mut self, mut at: usize) {
        while at > 0 && self.is_before(at, (at - 1) / CHILDREN) {
            at = self.swap(at, (at - 1) / CHILDREN);
        }
        loop {
            self.places[self.heap[at].1 as usize] = at as u32;
            let begin = (CHILDREN * at + 1).min(self.heap.len());
            let end = (begin + CHILDREN).min(self.heap.len());
            let first = |a: usize, b: usize| if self.is_before(b, a) { b } else { a };
            let Some(child) = (begin..end).reduce(first) else { break };
            if !self.is_before(child, at) {
                break;
            }
            at = self.swap(at, child);
        }
    }

    fn swap(&mut self, from: usize, to: usize) -> usize {
        self.heap.swap(from, to);
        self.places[self.heap[from].1 as usize] = from as u32;
        to
    }

    fn is_before(&self, a: usize, b: usize) -> bool {
        let ((worth_a, page_a), (worth_b, page_b)) = (self.heap[a], self.heap[b]);
        worth_a > worth_b || (worth_a == worth_b && page_a < page_b)
    }
}

#[cfg(test)]
mod tests {
    use larm_core::random::Random;

    use super::*;

    #[test]
    fn pages_come_by_worth_and_then_by_age_however_they_moved() {
        let (mut queue, mut random) = (Queue::default(), Random(3));
        let mut worths = [0.0; 300];
        for step in 0..3_000 {
            let page = random.below(300) as usize;
            worths[page] = random.below(40) as f32;
            queue.put(page as u32, worths[page]);
            if step % 700 == 0 {
                worths.iter_mut().for_each(|worth| *worth = 40.0 - *worth);
                queue.reorder(|page| worths[page as usize]);
            }
        }
        let mut expected: Vec<u32> = (0..300).filter(|page| queue.holds(*page)).collect();
        expected.sort_by(|a, b| worths[*b as usize].total_cmp(&worths[*a as usize]).then(a.cmp(b)));
        let found: Vec<u32> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(found, expected);
        assert!(queue.len() == 0 && !queue.holds(expected[0]));
    }
}
