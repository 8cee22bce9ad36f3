//! All that waits (steps 4, 5 and 12).

mod lease;
pub mod log;
pub mod sieve;

pub use lease::Lease;
