//! Counts, for each of 64 bits, in how many numbers it is set: the expensive part of a simhash.
//!
//! Counting bit by bit takes 64 steps for each number. Here the 64 counters lie across: a plane holds one
//! binary digit of all of them, and adding is a chain of full adders over whole planes. Eight numbers
//! are added at a time, so that most of the chain is walked once for eight.

/// Digits of a counter: more words than fit into any text.
const PLANES: usize = 32;
/// Numbers added at a time.
const AT_A_TIME: usize = 8;

/// 64 counters.
#[derive(Debug, Default)]
pub(crate) struct Votes {
    planes: [u64; PLANES],
    waiting: [u64; AT_A_TIME],
    count: u64,
}

impl Votes {
    /// Adds one to the counter of each bit that is set.
    #[inline]
    pub(crate) fn add(&mut self, number: u64) {
        self.add_if(true, number);
    }

    /// The same if it counts.
    #[inline]
    pub(crate) fn add_if(&mut self, counts: bool, number: u64) {
        let place = self.count as usize % AT_A_TIME;
        self.waiting[place] = number;
        self.count += u64::from(counts);
        if counts & (place == AT_A_TIME - 1) {
            self.add_eight();
        }
    }

    /// The bits that were set in more than half of the numbers.
    pub(crate) fn majority(mut self) -> u64 {
        let count = self.count;
        let left = count as usize % AT_A_TIME;
        for at in 0..left {
            self.carry(0, self.waiting[at]);
        }
        self.above(count / 2)
    }

    fn add_eight(&mut self) {
        let [a, b, c, d, e, f, g, h] = self.waiting;
        let [ones, twos, fours, ..] = &mut self.planes;
        let twos_a = add_both(ones, a, b);
        let twos_b = add_both(ones, c, d);
        let fours_a = add_both(twos, twos_a, twos_b);
        let twos_a = add_both(ones, e, f);
        let twos_b = add_both(ones, g, h);
        let fours_b = add_both(twos, twos_a, twos_b);
        let eights = add_both(fours, fours_a, fours_b);
        self.carry(3, eights);
    }

    /// Adds to a plane, and what that carries to those above it.
    fn carry(&mut self, from: usize, mut number: u64) {
        for plane in &mut self.planes[from..] {
            let both = *plane & number;
            *plane ^= number;
            number = both;
            if number == 0 {
                break;
            }
        }
    }

    /// The bits whose counter is above a number: compared digit by digit, the highest first.
    fn above(&self, number: u64) -> u64 {
        let (mut above, mut equal) = (0, u64::MAX);
        for (digit, plane) in self.planes.iter().enumerate().rev() {
            if number >> digit & 1 == 0 {
                above |= equal & plane;
                equal &= !plane;
            } else {
                equal &= plane;
            }
        }
        above
    }
}

/// Adds two numbers to a plane; what is returned belongs to the next one.
fn add_both(plane: &mut u64, one: u64, other: u64) -> u64 {
    let differ = *plane ^ one;
    let carried = (*plane & one) | (differ & other);
    *plane = differ ^ other;
    carried
}
