//! What went wrong last with an origin, in words: for whoever asks what a host waits for, or why its URLs
//! were given up.
//!
//! An origin waits, or is given up, for a class of failure, which is what the frontier keeps. "The
//! certificate has expired" says more than "tls". The words are only for people: nothing is decided by them.
//! They are bounded by `host_reasons_max`, and kept between runs by [`reasons`](crate::reasons).

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Longer words are cut: some are a server's.
const WORDS_CHARS_MAX: usize = 200;

/// The last trouble of each origin, and of each name that could not be looked up.
#[derive(Debug)]
pub struct Troubles {
    origins_max: u64,
    told: Mutex<Told>,
}

#[derive(Debug, Default)]
struct Told {
    words: HashMap<Box<str>, Box<str>>,
    oldest_first: VecDeque<Box<str>>,
    /// For each host, which of the above was last.
    latest: HashMap<Box<str>, Box<str>>,
    /// Whether something was noted since the last save.
    changed: bool,
}

impl Troubles {
    /// None so far, and never of more origins than this.
    pub fn new(origins_max: u64) -> Self {
        Self { origins_max, told: Mutex::default() }
    }

    /// Takes note of what went wrong with an origin, or with the name of a host; the oldest is forgotten
    /// where there are too many.
    pub fn note(&self, origin: &str, words: &str) {
        let words: String = words.chars().take(WORDS_CHARS_MAX).collect();
        let mut told = self.told();
        told.changed = true;
        told.latest.insert(host_of(origin).into(), origin.into());
        if told.words.insert(origin.into(), words.into()).is_none() {
            told.oldest_first.push_back(origin.into());
        }
        if told.words.len() as u64 > self.origins_max {
            told.forget_oldest();
        }
    }

    /// What went wrong last with an origin, or with the name of its host.
    pub fn of(&self, origin: &str) -> Option<String> {
        let told = self.told();
        let words = told.words.get(origin).or_else(|| told.words.get(host_of(origin)));
        words.map(|words| words.to_string())
    }

    /// What went wrong last with any origin of a host.
    pub fn of_host(&self, host: &str) -> Option<String> {
        let told = self.told();
        told.latest.get(host).and_then(|origin| told.words.get(origin)).map(ToString::to_string)
    }

    /// Takes the lines of a file. What is none is skipped: these are only words.
    pub fn load(&self, text: &str) {
        for (origin, words) in text.lines().filter_map(|line| line.split_once('\t')) {
            self.note(origin, words);
        }
        self.told().changed = false;
    }

    /// The text of a file, the oldest first; nothing if nothing was noted since this was asked for last.
    pub fn unsaved(&self) -> Option<String> {
        let mut told = self.told();
        std::mem::take(&mut told.changed).then(|| told.text())
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Told {
    fn forget_oldest(&mut self) {
        let Some(oldest) = self.oldest_first.pop_front() else { return };
        self.words.remove(&oldest);
        let host = host_of(&oldest);
        if self.latest.get(host) == Some(&oldest) {
            self.latest.remove(host);
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for origin in &self.oldest_first {
            let words = self.words.get(origin).map_or("", |words| words);
            let words = words.replace(char::is_control, " ");
            // Writing to a text cannot fail.
            let _ = writeln!(text, "{origin}\t{words}");
        }
        text
    }
}

/// The host of an origin, or the host itself.
fn host_of(origin: &str) -> &str {
    let authority = origin.split_once("://").map_or(origin, |(_, authority)| authority);
    let port = authority.rfind(':').filter(|at| !authority[*at..].contains(']'));
    port.map_or(authority, |at| &authority[..at])
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
        assert_eq!(troubles.of_host("a"), None);
    }

    #[test]
    fn a_host_has_the_trouble_of_the_origin_that_failed_last() {
        let troubles = Troubles::new(9);
        troubles.note("https://h:8443", "one");
        troubles.note("http://h", "two");
        troubles.note("https://[::1]:8443", "three");
        troubles.note("nameless", "no such name");
        let rows = [("h", "two"), ("[::1]", "three"), ("nameless", "no such name")];
        for (host, words) in rows {
            assert_eq!(troubles.of_host(host).as_deref(), Some(words), "{host}");
        }
        assert_eq!(troubles.of("https://nameless").as_deref(), Some("no such name"));
    }

    #[test]
    fn a_file_tells_what_was_told_whatever_a_server_said() {
        let troubles = Troubles::new(9);
        troubles.note("http://a", "one\nhttp://evil\tforged");
        troubles.note("http://b", &"x".repeat(5_000));
        let back = Troubles::new(9);
        back.load(&troubles.unsaved().unwrap());
        assert_eq!((troubles.unsaved(), back.unsaved()), (None, None));
        assert_eq!(back.of("http://a").as_deref(), Some("one http://evil forged"));
        assert_eq!(back.of("http://b").map(|words| words.len()), Some(WORDS_CHARS_MAX));
        assert_eq!(back.of_host("evil"), None);
    }
}
