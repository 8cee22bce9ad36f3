//! Every maximum of larm, in one place.
//!
//! Each limit has a unit in its name, a default, a ceiling, what happens when it is reached, and the
//! counter that tells how often that was. There is no "unlimited": a maximum of 0 is refused, and so
//! is one above its ceiling. The table below is also the source of `docs/config.md`.

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

macro_rules! limits {
    ($($(#[doc = $about:literal])+ $name:ident = $default:expr, ceiling $ceiling:expr, $when:literal, $counter:literal;)+) => {
        /// The maxima in force for one crawl.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Limits {
            $($(#[doc = $about])+ pub $name: u64,)+
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        impl Limits {
            /// Every limit with its default, ceiling and meaning, in the order of this file.
            pub const TABLE: &'static [LimitInfo] = &[
                $(LimitInfo {
                    name: stringify!($name),
                    about: concat!($($about),+),
                    default: $default,
                    ceiling: $ceiling,
                    when_reached: $when,
                    counter: $counter,
                },)+
            ];

            /// Sets one limit by its name, within its ceiling.
            pub fn set(&mut self, name: &str, value: u64) -> Result<(), LimitError> {
                match name {
                    $(stringify!($name) => {
                        check(stringify!($name), value, $ceiling)?;
                        self.$name = value;
                        Ok(())
                    })+
                    _ => Err(LimitError::Unknown(name.to_owned())),
                }
            }

            /// The value of one limit by its name.
            pub fn get(&self, name: &str) -> Option<u64> {
                match name {
                    $(stringify!($name) => Some(self.$name),)+
                    _ => None,
                }
            }

            /// All values within their ceilings, none 0, and none in conflict with another.
            pub fn validate(&self) -> Result<(), LimitError> {
                $(check(stringify!($name), self.$name, $ceiling)?;)+
                self.relations()
            }
        }
    };
}

fn check(name: &'static str, value: u64, ceiling: u64) -> Result<(), LimitError> {
    if value == 0 {
        return Err(LimitError::Zero(name));
    }
    if value > ceiling {
        return Err(LimitError::AboveCeiling { name, value, ceiling });
    }
    Ok(())
}

mod table;

pub use self::table::Limits;

impl Limits {
    fn relations(&self) -> Result<(), LimitError> {
        if self.bodies_bytes_max < self.body_bytes_max {
            return Err(LimitError::Conflict(
                "`bodies_bytes_max` must hold at least one body of `body_bytes_max`",
            ));
        }
        if self.body_decoded_bytes_max < self.body_bytes_max {
            return Err(LimitError::Conflict(
                "`body_decoded_bytes_max` must not be below `body_bytes_max`",
            ));
        }
        if self.first_byte_ms_max > self.fetch_ms_max || self.connect_ms_max > self.fetch_ms_max {
            return Err(LimitError::Conflict(
                "`connect_ms_max` and `first_byte_ms_max` must fit into `fetch_ms_max`",
            ));
        }
        if self.dns_ttl_ms_min > self.dns_ttl_ms_max
            || self.dns_negative_ms_min > self.dns_negative_ms_max
            || self.outage_probe_ms_min > self.outage_probe_ms_max
        {
            return Err(LimitError::Conflict(
                "of `dns_ttl_ms`, `dns_negative_ms` and `outage_probe_ms`, `_min` must not be above `_max`",
            ));
        }
        if self.queue_block_urls_max > self.host_urls_memory_max {
            return Err(LimitError::Conflict(
                "`host_urls_memory_max` must hold at least one block of `queue_block_urls_max`",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid() {
        assert_eq!(Limits::default().validate(), Ok(()));
    }

    #[test]
    fn zero_is_not_unlimited() {
        let mut limits = Limits::default();
        for info in Limits::TABLE {
            assert_eq!(limits.set(info.name, 0), Err(LimitError::Zero(info.name)));
        }
    }

    #[test]
    fn every_limit_can_be_set_to_its_ceiling_and_no_further() {
        let mut limits = Limits::default();
        for info in Limits::TABLE {
            assert_eq!(limits.set(info.name, info.ceiling), Ok(()), "{}", info.name);
            assert_eq!(limits.get(info.name), Some(info.ceiling));
            assert!(limits.set(info.name, info.ceiling + 1).is_err(), "{}", info.name);
        }
    }

    #[test]
    fn a_byte_budget_below_one_body_is_a_conflict() {
        let limits = Limits { bodies_bytes_max: 1, ..Limits::default() };
        assert!(matches!(limits.validate(), Err(LimitError::Conflict(_))));
    }
}
