//! Where fetches run: shared out by host over threads, each with an event loop of its own.
//!
//! A runtime that lets idle threads take tasks from busy ones moves pages between processors, and with them whatever
//! belongs to their hosts: connections, buffers, what was allocated. Each of these is then waited for, in all code, and
//! a page took a seventh more time on two threads than on one. Here a host has a thread, and is fetched
//! elsewhere only when that thread has clearly more to do than another
//! (`docs/adr/0028-hosts-have-a-thread.md`).
//!
//! The first worker is the event loop that the crawl itself runs on, with engine and writer; the others have a thread each,
//! which ends with the crawl.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use larm_core::url::Fingerprint;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::error::Result;

/// A thread is left for another when it has more than so many times as much to do.
const SLACK: usize = 2;

/// The threads that fetches run on. Without any, they run wherever the crawl's own runtime puts them.
#[derive(Default)]
pub(crate) struct Workers(Vec<Worker>);

struct Worker {
    handle: Handle,
    /// Fetches under way.
    busy: Arc<AtomicUsize>,
    /// Ends the thread when it is dropped; the crawl's own has none.
    _end: Option<oneshot::Sender<()>>,
}

impl Workers {
    /// So many threads beside the one that this is called on, which has to be that of an event loop.
    pub fn start(more: usize) -> io::Result<Self> {
        if more == 0 {
            return Ok(Self::default());
        }
        let own = Worker { handle: Handle::current(), busy: Arc::default(), _end: None };
        let others = (0..more).map(|_| Worker::start());
        let workers = std::iter::once(Ok(own)).chain(others).collect::<io::Result<_>>()?;
        Ok(Self(workers))
    }

    /// Runs what is to be done for a host.
    ///
    /// It is made where it runs, and boxed there: it takes some thousand bytes, which would be moved about three times
    /// until the task that they belong to is under way.
    pub fn spawn<W>(
        &self,
        host: Fingerprint,
        tasks: &mut JoinSet<Result<()>>,
        make: impl FnOnce() -> W + Send + 'static,
    ) where
        W: Future<Output = Result<()>> + Send + 'static,
    {
        match self.choose(host) {
            None => tasks.spawn(async move { Box::pin(make()).await }),
            Some(worker) => {
                let place = Place::of(&worker.busy);
                let work = async move {
                    let _place = place;
                    Box::pin(make()).await
                };
                tasks.spawn_on(work, &worker.handle)
            }
        };
    }

    /// The host's own worker, or the one with the least to do if that has clearly less.
    fn choose(&self, host: Fingerprint) -> Option<&Worker> {
        let workers = &self.0;
        let idlest = workers.iter().min_by_key(|worker| worker.load())?;
        let home = &workers[(host.0 % workers.len() as u64) as usize];
        let least = idlest.load();
        Some(if home.load() > least * SLACK { idlest } else { home })
    }
}

impl Worker {
    fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (handle, (end, ended)) = (runtime.handle().clone(), oneshot::channel::<()>());
        thread::Builder::new().name("larm-fetch".to_owned()).spawn(move || {
            // It is never sent: its sender goes away with the crawl.
            let _gone = runtime.block_on(ended);
            runtime.shutdown_background();
        })?;
        Ok(Self { handle, busy: Arc::default(), _end: Some(end) })
    }

    fn load(&self) -> usize {
        self.busy.load(Ordering::Relaxed)
    }
}

/// Counts a fetch as under way, however it ends.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn of(busy: &Arc<AtomicUsize>) -> Self {
        busy.fetch_add(1, Ordering::Relaxed);
        Self(busy.clone())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event_loop() -> tokio::runtime::Runtime {
        Builder::new_current_thread().enable_all().build().unwrap()
    }

    #[test]
    fn a_host_stays_on_its_thread_until_another_has_clearly_less_to_do() {
        event_loop().block_on(async {
            let workers = Workers::start(2).unwrap();
            let home = || workers.choose(Fingerprint(7)).map(|worker| Arc::as_ptr(&worker.busy));
            let own = home().unwrap();
            let at_home = workers.0.iter().find(|worker| Arc::as_ptr(&worker.busy) == own).unwrap();
            let all = |load: usize| {
                workers.0.iter().for_each(|worker| worker.busy.store(load, Ordering::Relaxed));
            };
            // Loads of all others, of its own, and whether it stays.
            for (others, its_own, stays) in
                [(0, 0, true), (0, 1, false), (1, 2, true), (8, 16, true), (8, 17, false)]
            {
                all(others);
                at_home.busy.store(its_own, Ordering::Relaxed);
                assert_eq!(home() == Some(own), stays, "{others} {its_own}");
            }
        });
    }

    #[test]
    fn work_is_done_on_all_threads_and_counted_until_it_ends() {
        event_loop().block_on(async {
            let workers = Workers::start(1).unwrap();
            let (mut tasks, gate) = (JoinSet::new(), Arc::new(tokio::sync::Semaphore::new(0)));
            let seen = Arc::new(std::sync::Mutex::new(std::collections::HashSet::new()));
            for n in 0..8 {
                let (seen, gate) = (seen.clone(), gate.clone());
                workers.spawn(Fingerprint(n), &mut tasks, move || async move {
                    let _passed = gate.acquire().await;
                    seen.lock().unwrap().insert(thread::current().id());
                    if n == 7 { std::future::pending().await } else { Ok(()) }
                });
            }
            let under_way = || workers.0.iter().map(Worker::load).sum::<usize>();
            assert_eq!(under_way(), 8);
            gate.add_permits(8);
            for _ in 0..7 {
                tasks.join_next().await.unwrap().unwrap().unwrap();
            }
            assert_eq!((under_way(), seen.lock().unwrap().len()), (1, 2));
            tasks.shutdown().await;
            assert_eq!(under_way(), 0, "what is given up is not under way");
        });
    }

    #[test]
    fn without_threads_of_its_own_work_goes_where_the_runtime_puts_it() {
        event_loop().block_on(async {
            let (workers, mut tasks) = (Workers::start(0).unwrap(), JoinSet::new());
            workers.spawn(Fingerprint(7), &mut tasks, || async { Ok(()) });
            assert!(tasks.join_next().await.unwrap().unwrap().is_ok());
        });
    }
}
