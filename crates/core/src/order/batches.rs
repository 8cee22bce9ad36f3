//! When what is computed over all pages is computed anew: whenever the crawl has grown by a factor.
//!
//! All computations together then cost a fixed multiple of the last: 11 times it, for a factor of 1.1.

/// Counts pages, and says when it is time.
#[derive(Debug, Clone, PartialEq)]
pub struct Batches {
    growth: f32,
    batch_min: u32,
    pages: u32,
    next: u32,
}

impl Batches {
    /// The first time after the first page; then after at least `batch_min` pages, and not before there
    /// are `growth` times as many.
    pub fn new(growth: f32, batch_min: u32) -> Self {
        Self { growth: growth.max(1.0), batch_min: batch_min.max(1), pages: 0, next: 1 }
    }

    /// One page more.
    pub fn count(&mut self) {
        self.pages = self.pages.saturating_add(1);
    }

    /// Whether it is time.
    pub fn is_due(&self) -> bool {
        self.pages >= self.next
    }

    /// It was computed.
    pub fn done(&mut self) {
        let grown = (f64::from(self.pages) * f64::from(self.growth)) as u32;
        self.next = grown.max(self.pages.saturating_add(self.batch_min));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(growth: f32, batch_min: u32) -> Vec<u32> {
        let mut batches = Batches::new(growth, batch_min);
        let mut times = Vec::new();
        for page in 1..=40 {
            batches.count();
            if batches.is_due() {
                times.push(page);
                batches.done();
            }
        }
        times
    }

    #[test]
    fn the_first_steps_are_small_and_the_others_grow() {
        assert_eq!(times(1.5, 3), [1, 4, 7, 10, 15, 22, 33]);
        assert_eq!(times(1.0, 1), (1..=40).collect::<Vec<_>>());
        assert_eq!(times(0.0, 0), times(1.0, 1), "nonsense is the least that makes sense");
    }
}
