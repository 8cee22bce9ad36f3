//! Open files: how many this process may have, and how many of them can be connections.
//!
//! A crawl that needs more than there are must get by with fewer connections. What the crawl's own files
//! need is set aside first; what is left is shared by fetches and by connections that wait.

use larm_core::Limits;

/// Files of our own: the store and look-ups may have 64 each, piles about as many, runs half of that; log,
/// sinks, control, what a program may have open beside the crawl; and 80 for a merge of the index. Half of what there is,
/// where that is less.
const OWN_FILES: u64 = 336;
/// Of the connections, the share that may wait to be used again.
const IDLE_SHARE: u64 = 4;

/// Lets this process open as many files as it ever may. For programs, at their start.
#[cfg(unix)]
pub fn raise_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        // Where it is refused, the limit stays, and fewer connections do.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    }
}

/// There is no such limit here.
#[cfg(not(unix))]
pub fn raise_limit() {}

/// How many files this process may open; none for no limit.
#[cfg(unix)]
fn files_max() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

#[cfg(not(unix))]
fn files_max() -> Option<u64> {
    None
}

/// The limits that can be kept with the files there are.
pub(crate) fn within(limits: &Limits) -> Limits {
    match files_max() {
        Some(files) => shared_out(limits, files),
        None => limits.clone(),
    }
}

fn shared_out(limits: &Limits, files: u64) -> Limits {
    let connections = files - OWN_FILES.min(files / 2);
    let idle = limits.connections_idle_max.min(connections / IDLE_SHARE).max(1);
    let fetches = limits.fetches_max.min(connections.saturating_sub(idle)).max(1);
    Limits { fetches_max: fetches, connections_idle_max: idle, ..limits.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_get_what_is_left_of_the_files() {
        let limits =
            Limits { fetches_max: 4_096, connections_idle_max: 1_024, ..Limits::default() };
        #[rustfmt::skip]
        let rows = [
            // files, fetches, idle
            (1_000_000, 4_096, 1_024),
            (4_096, 2_820, 940),
            (1_024, 516, 172),
            (256, 96, 32),
            (8, 3, 1),
            (1, 1, 1),
        ];
        for (files, fetches, idle) in rows {
            let shared = shared_out(&limits, files);
            let found = (shared.fetches_max, shared.connections_idle_max);
            assert_eq!(found, (fetches, idle), "{files} files");
        }
    }
}
