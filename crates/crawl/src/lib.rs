//! The larm crawler as a library: everything that waits.

pub mod clock;
pub mod disk;
pub mod error;
pub mod fetch;
pub mod frontier;
pub mod robots;
pub mod store;

pub use error::{Error, Result};
