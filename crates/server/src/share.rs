//! The server's budget, shared out over the crawls that run: fetches at a time, and bytes per second.
//!
//! All crawls that run and are shown have the same share, whoever started them. Each is told again and again, so
//! that one that has just begun hears of it, and one that ends makes room within seconds.

use std::time::Duration;

use larm_crawl::control::{Request, ask};
use larm_crawl::directory::in_use;
use tokio::time::{MissedTickBehavior, interval};

use crate::app::Shared;
use crate::crawls;

/// How often shares are told.
const TICK: Duration = Duration::from_secs(2);

/// Shares out the budget, for good. Without one, nothing is ever told.
pub async fn keep_sharing(app: &Shared) {
    let (places, bytes) = (app.settings.concurrency_max, app.settings.bandwidth_max);
    if places.is_none() && bytes.is_none() {
        return std::future::pending().await;
    }
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        let running: Vec<_> =
            crawls::list(&app.settings).into_values().filter(|dir| in_use(dir)).collect();
        let count = running.len() as u64;
        for dir in running {
            let request = Request::Share {
                places: places.map(|all| share(all, count)),
                bytes_per_second: bytes.map(|all| share(all, count)),
            };
            // One that does not answer is asked again soon.
            let _ = ask(&dir, request).await;
        }
    }
}

/// The share of one of so many; at least something.
fn share(all: u64, count: u64) -> u64 {
    (all / count.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_no_more_than_all_and_nobody_gets_nothing() {
        assert_eq!([share(10, 1), share(10, 3), share(2, 5), share(7, 0)], [10, 3, 1, 7]);
    }
}
