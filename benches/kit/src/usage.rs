//! The processor time of this process.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// Seconds of user and of system time so far.
pub fn cpu_seconds() -> (f64, f64) {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("a process may ask about itself");
    let seconds = |time: nix::sys::time::TimeVal| time.num_microseconds() as f64 / 1e6;
    (seconds(usage.user_time()), seconds(usage.system_time()))
}
