//! Texts that many rows share, each once, by number.

use std::collections::HashMap;
use std::sync::Arc;

/// Bytes of a text that are kept.
const TEXT_BYTES_MAX: usize = 256;

/// Different texts, in the order in which they came. Number 0 is the empty one, and stands for all that came when
/// there was no number left.
#[derive(Debug)]
pub struct Names {
    numbers: HashMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
    numbers_max: u32,
    bytes: usize,
}

impl Names {
    /// None yet; at most so many.
    pub fn new(numbers_max: u32) -> Self {
        let nothing: Arc<str> = "".into();
        let numbers = HashMap::from([(nothing.clone(), 0)]);
        Self { numbers, texts: vec![nothing], numbers_max, bytes: 0 }
    }

    /// The number of a text, a new one if it is new.
    pub fn number(&mut self, text: &str) -> u32 {
        let text = larm_core::parse::cut(text, TEXT_BYTES_MAX as u64);
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.texts.len() as u32;
        if number >= self.numbers_max {
            return 0;
        }
        let text: Arc<str> = text.into();
        self.bytes += text.len() + 64;
        self.texts.push(text.clone());
        self.numbers.insert(text, number);
        number
    }

    /// The text of a number.
    pub fn text(&self, number: u32) -> &str {
        &self.texts[number as usize]
    }

    /// For each number whether its text is wanted.
    pub fn chosen(&self, wanted: impl Fn(&str) -> bool) -> Vec<bool> {
        self.texts.iter().map(|text| wanted(text)).collect()
    }

    /// For each number the place of its text among all texts in order.
    pub fn places(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = (0..self.texts.len() as u32).collect();
        numbers.sort_by(|&a, &b| self.texts[a as usize].cmp(&self.texts[b as usize]));
        let mut places = vec![0; numbers.len()];
        (0..).zip(numbers).for_each(|(place, number)| places[number as usize] = place);
        places
    }

    /// About how much memory they take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_number_and_texts_have_an_order() {
        let mut names = Names::new(4);
        assert_eq!([names.number("b"), names.number("a"), names.number("b")], [1, 2, 1]);
        assert_eq!(names.places(), [0, 2, 1]);
        assert_eq!(names.chosen(|text| text == "a"), [false, false, true]);
    }

    #[test]
    fn beyond_the_maximum_texts_share_the_number_of_nothing() {
        let mut names = Names::new(2);
        assert_eq!([names.number("a"), names.number("b"), names.number("")], [1, 0, 0]);
    }
}
