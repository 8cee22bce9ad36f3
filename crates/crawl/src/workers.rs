//! Where fetches run: shared out by host over threads, each with an event loop of its own.
//!
//! A runtime that lets idle threads take tasks from busy ones moves pages between processors, and with them whatever
//! belongs to their hosts: connections, buffers, what was allocated. Each of these is then waited for, in all code, and
//! a page took a seventh more time on two threads than on one. Here a host has a thread, and is fetched
//! elsewhere only when that thread has clearly more to do than another
//! (`docs/adr/0028-hosts-have-a-thread.md`).
//!
//! The crawl's own thread has engine and writer as well, for which all others wait, so it has half as many hosts as they have. It
//! takes what is fetched alone, too: the crawl of one site would go from thread to thread with every page.
//! What is for another thread goes into that thread's queue, and what came of it comes back by one queue for all: to start a
//! task on a runtime of another thread takes a system call each time, and these take one for whatever has gathered.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use larm_core::url::Fingerprint;
use tokio::runtime::{Builder, Handle};
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};

use crate::error::{Error, Result};
use crate::fetch::BoxFuture;

/// A thread is left for another when it has more than so many times as much to do.
const SLACK: usize = 2;
/// Of how many hosts another thread is the home, where the crawl's own is that of one.
const HOSTS_OF_OTHERS: usize = 2;

/// Something to be done for a host. It is made where it runs: it takes some thousand bytes, which would be moved about
/// until the task that they belong to is under way.
type Work = Box<dyn FnOnce() -> BoxFuture<'static, Result<()>> + Send>;

/// The threads that fetches run on, and what is under way there.
pub(crate) struct Workers {
    /// What runs on the crawl's own thread; or, without others, wherever its runtime puts it.
    own: JoinSet<Result<()>>,
    others: Vec<Worker>,
    /// What has ended on other threads.
    ended: mpsc::Receiver<Result<()>>,
    /// How much is under way there, and may be.
    elsewhere: usize,
    elsewhere_max: usize,
}

struct Worker {
    /// When this is gone, the thread ends.
    queue: mpsc::Sender<(Work, Report)>,
    /// Fetches under way.
    busy: Arc<AtomicUsize>,
    ended: mpsc::Sender<Result<()>>,
}

impl Workers {
    /// So many threads beside the one that this is called on, which has to be that of an event loop; at most
    /// `under_way_max` fetches are under way on them.
    pub fn start(more: usize, under_way_max: u64) -> io::Result<Self> {
        let elsewhere_max = usize::try_from(under_way_max).unwrap_or(usize::MAX).max(1);
        let (sender, ended) = mpsc::channel(elsewhere_max);
        let others = (0..more).map(|_| Worker::start(&sender, elsewhere_max));
        let others = others.collect::<io::Result<_>>()?;
        Ok(Self { own: JoinSet::new(), others, ended, elsewhere: 0, elsewhere_max })
    }

    /// How many fetches are under way.
    pub fn len(&self) -> usize {
        self.own.len() + self.elsewhere
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Runs what is to be done for a host.
    pub fn spawn<W>(&mut self, host: Fingerprint, make: impl FnOnce() -> W + Send + 'static)
    where
        W: Future<Output = Result<()>> + Send + 'static,
    {
        let worker = self.choose(host).filter(|_| self.elsewhere < self.elsewhere_max);
        let Some(worker) = worker else {
            self.own.spawn(async move { Box::pin(make()).await });
            return;
        };
        let work: Work = Box::new(move || Box::pin(make()));
        // There is room for all that may be under way. On a thread that is gone it would have ended, too, and its report
        // says so.
        let _ = worker.queue.try_send((work, Report::on(worker)));
        self.elsewhere += 1;
    }

    /// What has come of the next fetch that ends; `None` if none is under way.
    pub async fn join_next(&mut self) -> Option<Result<()>> {
        if self.is_empty() {
            return None;
        }
        tokio::select! {
            Some(done) = self.own.join_next() => Some(done.unwrap_or_else(panicked)),
            Some(done) = self.ended.recv() => {
                self.elsewhere -= 1;
                Some(done)
            }
        }
    }

    /// What has come of one that has ended already.
    pub fn try_join_next(&mut self) -> Option<Result<()>> {
        if let Some(done) = self.own.try_join_next() {
            return Some(done.unwrap_or_else(panicked));
        }
        let done = self.ended.try_recv().ok()?;
        self.elsewhere -= 1;
        Some(done)
    }

    /// Gives up whatever is under way, and returns when nothing is.
    pub async fn shutdown(&mut self) {
        self.others.clear();
        self.own.shutdown().await;
        while self.join_next().await.is_some() {}
    }

    /// The host's own worker, or the one with the least to do if that has clearly less; none for the crawl's own thread.
    fn choose(&self, host: Fingerprint) -> Option<&Worker> {
        if self.is_empty() {
            return None;
        }
        let own = (self.own.len(), None);
        let load = |worker| (Worker::load(worker), Some(worker));
        let (least, idlest) =
            self.others.iter().map(load).chain([own]).min_by_key(|(load, _)| *load)?;
        let places = self.others.len() * HOSTS_OF_OTHERS + 1;
        let place = (host.0 % places as u64) as usize;
        let home = place.checked_sub(1).map(|place| &self.others[place / HOSTS_OF_OTHERS]);
        let at_home = home.map_or(own, load).0;
        if at_home > least * SLACK { idlest } else { home }
    }
}

impl Worker {
    fn start(ended: &mpsc::Sender<Result<()>>, queue_max: usize) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (queue, mut waiting) = mpsc::channel(queue_max);
        thread::Builder::new().name("larm-fetch".to_owned()).spawn(move || {
            let handle = runtime.handle().clone();
            runtime.block_on(async move {
                while let Some((work, report)) = waiting.recv().await {
                    run(&handle, work, report);
                }
            });
            runtime.shutdown_background();
        })?;
        Ok(Self { queue, busy: Arc::default(), ended: ended.clone() })
    }

    fn load(&self) -> usize {
        self.busy.load(Ordering::Relaxed)
    }
}

fn run(handle: &Handle, work: Work, report: Report) {
    handle.spawn(async move { report.tell(work().await) });
}

fn panicked(error: JoinError) -> Result<()> {
    Err(Error::Stopped(format!("larm has a bug: a fetch panicked ({error})")))
}

/// Counts a fetch as under way, and tells what came of it, however it ends.
struct Report {
    busy: Arc<AtomicUsize>,
    ended: mpsc::Sender<Result<()>>,
    result: Option<Result<()>>,
}

impl Report {
    fn on(worker: &Worker) -> Self {
        worker.busy.fetch_add(1, Ordering::Relaxed);
        Self { busy: worker.busy.clone(), ended: worker.ended.clone(), result: None }
    }

    fn tell(mut self, result: Result<()>) {
        self.result = Some(result);
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        self.busy.fetch_sub(1, Ordering::Relaxed);
        let unknown = || Err(Error::Stopped("larm has a bug: a fetch panicked".to_owned()));
        // There is room for all that are under way. If nobody listens any more, the crawl is over.
        let _ = self.ended.try_send(self.result.take().unwrap_or_else(unknown));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Mutex;

    use super::*;

    fn event_loop() -> tokio::runtime::Runtime {
        Builder::new_current_thread().enable_all().build().unwrap()
    }

    fn under_way(workers: &Workers) -> usize {
        workers.own.len() + workers.others.iter().map(Worker::load).sum::<usize>()
    }

    #[test]
    fn a_host_stays_on_its_thread_until_another_has_clearly_less_to_do() {
        event_loop().block_on(async {
            let mut workers = Workers::start(2, 8).unwrap();
            let home = |workers: &Workers| {
                workers.choose(Fingerprint(7)).map(|worker| Arc::as_ptr(&worker.busy))
            };
            assert_eq!(home(&workers), None, "nothing else is under way");
            workers.own.spawn(std::future::pending());
            let own = home(&workers).expect("place 2 of 5 is that of the first one");
            // Fetches on the crawl's own thread, on the other, on its own, and whether it stays.
            let cases = [
                (1, 0, 0, true),
                (1, 0, 1, false),
                (1, 1, 2, true),
                (8, 9, 16, true),
                (9, 8, 17, false),
            ];
            for (crawls, other, its_own, stays) in cases {
                while workers.own.len() < crawls {
                    workers.own.spawn(std::future::pending());
                }
                workers.others[1].busy.store(other, Ordering::Relaxed);
                workers.others[0].busy.store(its_own, Ordering::Relaxed);
                assert_eq!(home(&workers) == Some(own), stays, "{crawls} {other} {its_own}");
            }
        });
    }

    #[test]
    fn the_own_thread_is_home_to_half_as_many_hosts() {
        event_loop().block_on(async {
            let mut workers = Workers::start(2, 8).unwrap();
            workers.own.spawn(std::future::pending());
            workers.others.iter().for_each(|worker| worker.busy.store(1, Ordering::Relaxed));
            let is_own = |n: &u64| workers.choose(Fingerprint(*n)).is_none();
            assert_eq!((0..1_000).filter(is_own).count(), 200);
        });
    }

    #[test]
    fn work_is_done_on_all_threads_and_counted_until_it_ends() {
        event_loop().block_on(async {
            let mut workers = Workers::start(1, 64).unwrap();
            let gate = Arc::new(tokio::sync::Semaphore::new(0));
            let seen = Arc::new(Mutex::new(HashSet::new()));
            for n in 0..9 {
                let (seen, gate) = (seen.clone(), gate.clone());
                workers.spawn(Fingerprint(n), move || async move {
                    let _passed = gate.acquire().await;
                    seen.lock().unwrap().insert(thread::current().id());
                    if n >= 7 { std::future::pending().await } else { Ok(()) }
                });
            }
            assert_eq!((workers.len(), under_way(&workers)), (9, 9));
            gate.add_permits(9);
            for _ in 0..7 {
                workers.join_next().await.unwrap().unwrap();
            }
            assert_eq!((workers.len(), under_way(&workers), seen.lock().unwrap().len()), (2, 2, 2));
            workers.shutdown().await;
            assert_eq!((workers.len(), under_way(&workers)), (0, 0));
            assert!(workers.join_next().await.is_none());
        });
    }

    #[test]
    fn whoever_panics_is_told_of_on_every_thread() {
        event_loop().block_on(async {
            let mut workers = Workers::start(1, 64).unwrap();
            for elsewhere in [0, 1] {
                workers.spawn(Fingerprint(1), || async { panic!("on purpose") });
                assert_eq!(workers.elsewhere, elsewhere);
                let error = workers.join_next().await.unwrap().unwrap_err();
                assert!(error.to_string().contains("panicked"), "{error}");
                // The next one is not alone.
                workers.own.spawn(std::future::pending());
            }
            assert_eq!(workers.elsewhere, 0);
        });
    }

    #[test]
    fn no_more_is_under_way_elsewhere_than_there_is_room_for() {
        event_loop().block_on(async {
            let mut workers = Workers::start(1, 2).unwrap();
            (0..4).for_each(|_| workers.spawn(Fingerprint(1), || async { Ok(()) }));
            assert_eq!((workers.elsewhere, workers.own.len()), (2, 2));
            while let Some(done) = workers.join_next().await {
                done.unwrap();
            }
        });
    }

    #[test]
    fn without_threads_of_its_own_work_goes_where_the_runtime_puts_it() {
        event_loop().block_on(async {
            let mut workers = Workers::start(0, 64).unwrap();
            workers.spawn(Fingerprint(7), || async { Ok(()) });
            assert!(workers.join_next().await.unwrap().is_ok());
        });
    }
}
