//! Values that are costly to make, by crawl.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Values of the crawls that were looked at last.
#[derive(Debug)]
pub struct Kept<T> {
    most: usize,
    /// The one that was used last at the end.
    values: Mutex<Vec<(PathBuf, Arc<T>)>>,
}

impl<T> Kept<T> {
    /// None yet; at most so many.
    pub fn new(most: u64) -> Self {
        Self { most: usize::try_from(most).unwrap_or(usize::MAX).max(1), values: Mutex::default() }
    }

    /// The value of a crawl, if it is kept.
    pub fn get(&self, dir: &Path) -> Option<Arc<T>> {
        let mut values = self.lock();
        let at = values.iter().position(|(known, _)| known == dir)?;
        let entry = values.remove(at);
        let value = entry.1.clone();
        values.push(entry);
        Some(value)
    }

    /// Keeps a value in place of the one before, if there was one.
    pub fn put(&self, dir: &Path, value: T) -> Arc<T> {
        let value = Arc::new(value);
        let mut values = self.lock();
        values.retain(|(known, _)| known != dir);
        values.push((dir.to_owned(), value.clone()));
        let too_many = values.len().saturating_sub(self.most);
        values.drain(..too_many);
        value
    }

    /// Forgets the value of a crawl.
    pub fn forget(&self, dir: &Path) {
        self.lock().retain(|(known, _)| known != dir);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(PathBuf, Arc<T>)>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let kept = Kept::new(2);
        let [a, b, c] = ["a", "b", "c"].map(Path::new);
        kept.put(a, 1);
        kept.put(b, 2);
        assert_eq!(kept.get(a).as_deref(), Some(&1));
        kept.put(c, 3);
        assert_eq!(
            [a, b, c].map(|dir| kept.get(dir).map(|value| *value)),
            [Some(1), None, Some(3)]
        );
        kept.put(a, 4);
        kept.forget(c);
        assert_eq!([a, c].map(|dir| kept.get(dir).map(|value| *value)), [Some(4), None]);
    }
}
