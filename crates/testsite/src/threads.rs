//! The threads that a web is served on. They end when it is dropped.

use std::io;
use std::time::Duration;

use tokio::runtime::{Handle, Runtime};

/// Time for tasks to end when the web stops.
const STOP_WAIT: Duration = Duration::from_secs(2);

/// Two threads of a runtime of their own.
#[derive(Debug)]
pub(crate) struct Threads(Option<Runtime>);

impl Threads {
    /// Starts them.
    pub fn start() -> io::Result<Self> {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(2).thread_name("testsite").enable_all().build()?;
        Ok(Self(Some(runtime)))
    }

    /// What tasks are started with.
    pub fn handle(&self) -> &Handle {
        self.0.as_ref().expect("there until dropped").handle()
    }
}

impl Drop for Threads {
    /// Ends all tasks, so that ports are free again. A runtime must not be dropped where an async one
    /// is running, hence the thread.
    fn drop(&mut self) {
        let Some(runtime) = self.0.take() else {
            return;
        };
        let stop = move || runtime.shutdown_timeout(STOP_WAIT);
        if let Ok(thread) = std::thread::Builder::new().name("testsite stop".to_owned()).spawn(stop)
        {
            let _ = thread.join();
        }
    }
}
