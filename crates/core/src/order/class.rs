//! Worth → one of a few classes, for queues that have a small number for a priority.
//!
//! A positive float is its exponent, then its mantissa. Read as a whole number, its bits rise with it, and
//! rise by the same amount with each doubling: a logarithm that costs nothing and is the same on every
//! machine. It is off by at most 0.09 between two powers of two.
//!
//! A class is a quarter of a doubling. There are 64 of them, from a sixteenth of an average page to
//! 4,096 average pages. In a power law, which worth on the web is, each doubling has about half as many
//! pages as the one below it: the low classes are large, and the few pages at the top have classes almost
//! to themselves, where it matters most who comes first.

/// How many classes there are.
pub const CLASSES: u8 = 64;
/// The worth at which the last class ends.
const LOWEST: f32 = 1.0 / 16.0;
/// Bits of a mantissa.
const MANTISSA: u32 = 23;
/// Four classes in each doubling.
const QUARTER: u32 = MANTISSA - 2;

/// The class of a worth: 0 for the highest. Never rises when the worth does; what is beyond either end is
/// in the class at that end, and so is what is no number.
pub fn class(worth: f32) -> u8 {
    let above = worth.max(LOWEST).to_bits() - LOWEST.to_bits();
    let step = (above >> QUARTER).min(u32::from(CLASSES) - 1);
    CLASSES - 1 - step as u8
}

/// The logarithm to base two, with straight lines between the powers of two.
pub fn log2(worth: f32) -> f32 {
    let bits = worth.clamp(f32::MIN_POSITIVE, f32::MAX).to_bits();
    // Whole steps and the rest apart: together they have more digits than a float.
    let whole = (bits >> MANTISSA) as f32 - 127.0;
    whole + (bits & ((1 << MANTISSA) - 1)) as f32 / (1_u32 << MANTISSA) as f32
}

/// What [`log2`] was given; never 0 and never infinite.
pub fn power(exponent: f32) -> f32 {
    let exponent = exponent.clamp(-126.0, 127.0);
    let whole = exponent.floor();
    let mantissa = ((exponent - whole) * (1_u32 << MANTISSA) as f32) as u32;
    f32::from_bits((((whole + 127.0) as u32) << MANTISSA) + mantissa)
}

/// Which class each page is in, to learn who has moved.
#[derive(Debug, Clone, Default)]
pub struct Classes(Vec<u8>);

impl Classes {
    /// Puts a page into the class of its worth; the class that it was in before, if that is another.
    /// A page that was in none was in the last.
    pub fn put(&mut self, page: u32, worth: f32) -> Option<u8> {
        let place = super::at(&mut self.0, page, CLASSES - 1);
        let before = std::mem::replace(place, class(worth));
        (before != *place).then_some(before)
    }

    /// The class of a page.
    pub fn of(&self, page: u32) -> u8 {
        self.0.get(page as usize).copied().unwrap_or(CLASSES - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubling_is_four_classes_wherever_it_begins() {
        for worth in [0.1_f32, 0.3, 1.0, 7.0, 100.0, 1_000.0] {
            assert_eq!(class(worth) - class(2.0 * worth), 4, "{worth}");
        }
        assert_eq!((class(4_096.0), class(1.0 / 16.0)), (0, CLASSES - 1));
    }

    #[test]
    fn what_is_beyond_the_ends_or_no_number_is_in_the_class_at_the_end() {
        assert_eq!([f32::INFINITY, 1e30].map(class), [0, 0]);
        assert_eq!([0.0, -1.0, f32::NAN, f32::NEG_INFINITY].map(class), [CLASSES - 1; 4]);
    }

    #[test]
    fn more_worth_is_never_a_later_class() {
        let mut worth = 1e-3;
        while worth < 1e6 {
            assert!(class(worth) >= class(worth * 1.01), "{worth}");
            worth *= 1.01;
        }
    }

    #[test]
    fn a_power_law_leaves_the_top_classes_nearly_empty_and_the_rest_in_use() {
        // A million pages of which 1 / x are worth x average ones or more.
        let mut sizes = [0_u32; CLASSES as usize];
        for page in 1..=1_000_000 {
            sizes[usize::from(class(300_000.0 / page as f32))] += 1;
        }
        assert!(sizes[0] < 100 && sizes[1] < 100, "{sizes:?}");
        assert!(sizes.iter().all(|&size| size < 250_000), "{sizes:?}");
        assert!(sizes.iter().filter(|&&size| size > 0).count() > 50, "{sizes:?}");
    }

    #[test]
    fn logarithm_and_power_undo_each_other() {
        for worth in [1e-30_f32, 0.01, 0.7, 1.0, 1.5, 12_345.0, 1e30] {
            let again = power(log2(worth));
            assert!((again / worth - 1.0).abs() < 1e-4, "{worth} became {again}");
            assert!((log2(worth) - worth.log2()).abs() < 0.09, "{worth}");
        }
        assert!(power(f32::MAX).is_finite() && power(f32::MIN) > 0.0);
    }

    #[test]
    fn only_who_changes_class_has_moved() {
        let mut classes = Classes::default();
        assert_eq!(classes.put(3, 1.0), Some(CLASSES - 1));
        assert_eq!((classes.put(3, 1.1), classes.of(3)), (None, class(1.0)));
        assert_eq!(classes.put(3, 2.0), Some(class(1.0)));
        assert_eq!(classes.of(0), CLASSES - 1);
    }
}
