//! What is told of a limit, and why one cannot be set as asked.

use std::fmt;

/// One row of the table: what a user needs to know about a limit.
#[derive(Debug, Clone, Copy)]
pub struct LimitInfo {
    /// Field and configuration key, unit last.
    pub name: &'static str,
    /// What it bounds.
    pub about: &'static str,
    /// The value in force when nobody says otherwise.
    pub default: u64,
    /// The highest value that may be set.
    pub ceiling: u64,
    /// What happens when it is reached.
    pub when_reached: &'static str,
    /// The name by which that is to be counted, once there are metrics.
    pub counter: &'static str,
}

/// A limit that cannot be set as asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LimitError {
    /// No limit has this name.
    Unknown(String),
    /// 0 does not mean unlimited, and nothing else does either.
    Zero(&'static str),
    /// Above the ceiling.
    AboveCeiling {
        /// Which limit.
        name: &'static str,
        /// The value asked for.
        value: u64,
        /// The highest one possible.
        ceiling: u64,
    },
    /// Two limits contradict each other.
    Conflict(&'static str),
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "there is no limit named `{name}`"),
            Self::Zero(name) => {
                write!(f, "limit `{name}` cannot be 0: nothing is unlimited, set a number")
            }
            Self::AboveCeiling { name, value, ceiling } => {
                write!(f, "limit `{name}` = {value} is above its ceiling of {ceiling}")
            }
            Self::Conflict(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for LimitError {}

/// Whether a limit may have this value.
pub(super) fn check(name: &'static str, value: u64, ceiling: u64) -> Result<(), LimitError> {
    if value == 0 {
        return Err(LimitError::Zero(name));
    }
    if value > ceiling {
        return Err(LimitError::AboveCeiling { name, value, ceiling });
    }
    Ok(())
}
