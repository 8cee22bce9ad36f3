//! Words about an answer that whoever fetches and whoever stores have in common.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::Millis;

/// The protocol that an answer came by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// HTTP/1.0 or 1.1: what is kept are the bytes as they came.
    #[default]
    Http1,
    /// HTTP/2: it has no such bytes; what is kept is the same answer written as HTTP/1.1.
    Http2,
    /// A file of this machine.
    File,
}

impl Protocol {
    /// The word that `WARC-Protocol` has for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Http1 => "http/1.1",
            Self::Http2 => "h2",
            Self::File => "file",
        }
    }
}

/// Why a body was cut. The words are those of `WARC-Truncated` (WARC 1.1 section 5.13) where it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncated {
    /// Longer than `body_bytes_max`.
    Length,
    /// Slower than `fetch_ms_max`.
    Time,
    /// The connection ended before the body did.
    Disconnect,
    /// Not a content type that was asked for: the body was not read.
    Unwanted,
}

impl Truncated {
    /// The reason as `WARC-Truncated` has it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Time => "time",
            Self::Disconnect => "disconnect",
            Self::Unwanted => "unspecified",
        }
    }

    /// The same for people.
    pub fn note(self) -> &'static str {
        match self {
            Self::Length => "the body is longer than the limit; the rest was left out",
            Self::Time => "the body came too slowly; the rest was left out",
            Self::Disconnect => "the body broke off before its end",
            Self::Unwanted => "the body was not read: not a type that was asked for",
        }
    }
}

/// What name servers said about a host's addresses: part of what was seen, and so of the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lookup {
    /// The name that was asked for.
    pub host: Box<str>,
    /// When the answer came.
    pub at: Millis,
    /// Who answered, where that is known.
    pub server: Option<IpAddr>,
    /// The records as zone files have them, one a line (RFC 1035 section 5.1).
    pub records: Vec<String>,
}

/// Something that is known of an answer beyond its bytes: how it was encrypted, what its owner reserves.
///
/// Facts go into the archive's metadata, the crawl log and the page table. Few answers have any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// What it is about: letters, digits and dashes.
    pub name: Box<str>,
    /// What is the case.
    pub value: Box<str>,
}

impl Fact {
    /// `name` is `value`.
    pub fn new(name: &str, value: impl Into<Box<str>>) -> Self {
        Self { name: name.into(), value: value.into() }
    }
}
