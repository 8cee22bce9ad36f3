//! What went wrong last with an origin, in words: for whoever asks why its URLs were given up.
//!
//! An origin is given up for a class of failure, which is what the frontier keeps. "The certificate has
//! expired" says more than "tls". The words are only for people: nothing is decided by them, they are
//! bounded by `host_reasons_max`, and a crawl that is started anew has forgotten them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The last trouble of each origin.
#[derive(Debug)]
pub struct Troubles {
    origins_max: u64,
    told: Mutex<Told>,
}

#[derive(Debug, Default)]
struct Told {
    words: HashMap<Box<str>, Box<str>>,
    oldest_first: VecDeque<Box<str>>,
}

impl Troubles {
    /// None so far, and never of more origins than this.
    pub fn new(origins_max: u64) -> Self {
        Self { origins_max, told: Mutex::default() }
    }

    /// Takes note of what went wrong; the oldest is forgotten where there are too many.
    pub fn note(&self, origin: &str, words: &str) {
        let mut told = self.told();
        if told.words.insert(origin.into(), words.into()).is_none() {
            told.oldest_first.push_back(origin.into());
        }
        if told.words.len() as u64 > self.origins_max
            && let Some(oldest) = told.oldest_first.pop_front()
        {
            told.words.remove(&oldest);
        }
    }

    /// What went wrong last.
    pub fn of(&self, origin: &str) -> Option<String> {
        self.told().words.get(origin).map(|words| words.to_string())
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_counts_and_the_oldest_origin_is_forgotten() {
        let troubles = Troubles::new(2);
        for (origin, words) in [("a", "one"), ("b", "two"), ("a", "three"), ("c", "four")] {
            troubles.note(origin, words);
        }
        let told = ["a", "b", "c"].map(|origin| troubles.of(origin));
        assert_eq!(told, [None, Some("two".to_owned()), Some("four".to_owned())]);
    }
}
