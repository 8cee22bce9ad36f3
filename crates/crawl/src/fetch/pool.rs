//! Connections that wait to be used again (step 7 of the line).
//!
//! At most one per origin, since a host is asked by one fetch at a time; at most
//! `connections_idle_max` in all, the oldest closed first; none older than `connection_idle_ms_max`.
//! Nobody watches them while they wait: whether one still lives is asked when it is taken.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use larm_core::{Limits, Millis};

/// Idle connections of type `C`, by origin.
#[derive(Debug)]
pub(super) struct Pool<C> {
    idle: Mutex<Idle<C>>,
    count_max: usize,
    age_ms_max: u64,
    evicted: AtomicU64,
    expired: AtomicU64,
}

#[derive(Debug)]
struct Idle<C> {
    by_origin: HashMap<String, Entry<C>>,
    /// Since when, with a number that makes the moment unique → whose.
    by_age: BTreeMap<(Millis, u64), String>,
    entries_ever: u64,
}

#[derive(Debug)]
struct Entry<C> {
    connection: C,
    peer: SocketAddr,
    since: (Millis, u64),
}

impl<C> Pool<C> {
    pub fn new(limits: &Limits) -> Self {
        Self {
            idle: Mutex::new(Idle {
                by_origin: HashMap::new(),
                by_age: BTreeMap::new(),
                entries_ever: 0,
            }),
            count_max: usize::try_from(limits.connections_idle_max).unwrap_or(usize::MAX),
            age_ms_max: limits.connection_idle_ms_max,
            evicted: AtomicU64::new(0),
            expired: AtomicU64::new(0),
        }
    }

    /// The connection that waits for `origin`, if it leads to `peer` and is not too old. One that
    /// leads elsewhere is closed: the lease's address is the only one that may be used.
    pub fn take(&self, origin: &str, peer: SocketAddr, now: Millis) -> Option<C> {
        let entry = self.lock().remove(origin)?;
        if now.since(entry.since.0) >= self.age_ms_max {
            self.expired.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        (entry.peer == peer).then_some(entry.connection)
    }

    /// Lets a connection wait. Closes what is too old or too many.
    pub fn put(&self, origin: String, peer: SocketAddr, connection: C, now: Millis) {
        let mut idle = self.lock();
        let replaced = idle.remove(&origin);
        idle.insert(origin, peer, connection, now);
        let mut closed = Vec::new();
        while let Some(oldest) = idle.oldest() {
            let many = idle.by_origin.len() > self.count_max;
            if !many && now.since(oldest) < self.age_ms_max {
                break;
            }
            let counter = if many { &self.evicted } else { &self.expired };
            counter.fetch_add(1, Ordering::Relaxed);
            closed.push(idle.remove_oldest());
        }
        // Closing a socket is left until others can use the pool again.
        drop(idle);
        drop((replaced, closed));
    }

    /// How many connections were closed because there were too many.
    pub fn evicted(&self) -> u64 {
        self.evicted.load(Ordering::Relaxed)
    }

    /// How many connections were closed because nobody had needed them for too long.
    pub fn expired(&self) -> u64 {
        self.expired.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Idle<C>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C> Idle<C> {
    fn insert(&mut self, origin: String, peer: SocketAddr, connection: C, now: Millis) {
        self.entries_ever += 1;
        let since = (now, self.entries_ever);
        self.by_age.insert(since, origin.clone());
        self.by_origin.insert(origin, Entry { connection, peer, since });
    }

    fn remove(&mut self, origin: &str) -> Option<Entry<C>> {
        let entry = self.by_origin.remove(origin)?;
        self.by_age.remove(&entry.since);
        Some(entry)
    }

    fn oldest(&self) -> Option<Millis> {
        self.by_age.first_key_value().map(|((since, _), _)| *since)
    }

    fn remove_oldest(&mut self) -> Option<Entry<C>> {
        let (_, origin) = self.by_age.pop_first()?;
        self.by_origin.remove(&origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: SocketAddr =
        SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 80);

    fn pool(connections_idle_max: u64, connection_idle_ms_max: u64) -> Pool<u32> {
        Pool::new(&Limits { connections_idle_max, connection_idle_ms_max, ..Limits::default() })
    }

    #[test]
    fn a_connection_is_taken_once_and_only_for_its_origin_and_address() {
        let pool = pool(10, 100);
        pool.put("http://a".into(), PEER, 1, Millis(0));
        assert_eq!(pool.take("http://b", PEER, Millis(1)), None);
        assert_eq!(pool.take("http://a", PEER, Millis(1)), Some(1));
        assert_eq!(pool.take("http://a", PEER, Millis(1)), None);
        pool.put("http://a".into(), PEER, 2, Millis(0));
        let elsewhere = SocketAddr::new("127.0.0.2".parse().unwrap(), 80);
        assert_eq!(pool.take("http://a", elsewhere, Millis(1)), None);
        assert_eq!(pool.take("http://a", PEER, Millis(1)), None, "closed, not kept");
    }

    #[test]
    fn a_connection_that_is_too_old_is_not_taken() {
        let pool = pool(10, 100);
        pool.put("http://a".into(), PEER, 1, Millis(0));
        assert_eq!(pool.take("http://a", PEER, Millis(100)), None);
        assert_eq!(pool.expired(), 1);
    }

    #[test]
    fn the_oldest_goes_when_there_are_too_many() {
        let pool = pool(2, 100);
        for (origin, connection) in [("a", 1), ("b", 2), ("a", 3), ("c", 4)] {
            pool.put(origin.into(), PEER, connection, Millis(0));
        }
        assert_eq!(pool.take("b", PEER, Millis(0)), None);
        assert_eq!(pool.take("a", PEER, Millis(0)), Some(3));
        assert_eq!(pool.take("c", PEER, Millis(0)), Some(4));
        assert_eq!(pool.evicted(), 1);
    }

    #[test]
    fn old_ones_are_closed_as_soon_as_another_comes() {
        let pool = pool(10, 100);
        pool.put("a".into(), PEER, 1, Millis(0));
        pool.put("b".into(), PEER, 2, Millis(100));
        assert_eq!(pool.lock().by_origin.len(), 1);
        assert_eq!(pool.lock().by_age.len(), 1);
        assert_eq!((pool.evicted(), pool.expired()), (0, 1));
    }
}
