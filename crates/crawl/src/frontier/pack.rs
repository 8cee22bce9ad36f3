//! A waiting URL as bytes: the same in a record of the log, among the arrivals and in a block.
//!
//! It is encoded once, when it is offered, and is not looked into again before its host takes it. Its
//! head has what must be known of a URL that nobody looks into: its host and its front queue. The
//! layout is in `docs/formats.md`.
//!
//! - PACK-1: bytes that come from disk are read to their end before anybody relies on them.

use larm_core::via::Via;
use larm_core::workbench::HostKey;
use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Candidate;
use super::item::{Errand, Item, Place};
use super::sites::{LastSite, SiteKey};

const PAGE: u8 = 0;
const SITEMAP: u8 = 1;
const ROBOTS: u8 = 2;
const RESERVATIONS: u8 = 3;
const PROBE: u8 = 4;
/// Bits of the byte in which the way of a link and the errand share.
const VIA_BITS: u32 = 4;
/// What comes before the URL and its parent, at most.
const HEAD_BYTES: usize = 40;
/// What a packed URL takes, as a rule.
pub const URL_BYTES: usize = 160;
/// Bytes of a length in a record of the log.
const LENGTH_BYTES: usize = 4;

/// A waiting URL, as a view of its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Packed<'a> {
    /// All of it.
    pub bytes: &'a [u8],
    /// Partition of its site.
    pub partition: u16,
    /// Its host.
    pub host: HostKey,
    /// Its front queue.
    pub priority: u8,
    /// Canonical text.
    pub url: &'a str,
    kind: u8,
    tries: u8,
    redirects: u8,
    depth: u32,
    host_bytes: usize,
    origin_bytes: usize,
    rest: &'a [u8],
}

impl<'a> Packed<'a> {
    /// The view of bytes that are one packed URL and nothing else.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let packed = Self::read_head(bytes)?;
        let origin = packed.url.get(..packed.origin_bytes)?;
        origin.get(packed.host_start()..)?.get(..packed.host_bytes)?;
        packed.read_rest()?;
        Some(packed)
    }

    /// The view of bytes that were read before.
    pub fn trusted(bytes: &'a [u8]) -> Self {
        Self::read_head(bytes).expect("PACK-1: what is in memory was read before")
    }

    fn read_head(bytes: &'a [u8]) -> Option<Self> {
        let mut at = bytes;
        Some(Self {
            bytes,
            partition: u16::from_le_bytes(take_array(&mut at)?),
            host: HostKey(u64::from_le_bytes(take_array(&mut at)?)),
            priority: take_u8(&mut at)?,
            kind: take_u8(&mut at)?,
            tries: take_u8(&mut at)?,
            redirects: take_u8(&mut at)?,
            depth: u32::try_from(take_number(&mut at)?).ok()?,
            host_bytes: take_length(&mut at)?,
            origin_bytes: take_length(&mut at)?,
            url: take_text(&mut at)?,
            rest: at,
        })
    }

    /// Host name, or address; a file's lane.
    pub fn host_name(&self) -> &'a str {
        if self.host_bytes == 0 {
            return larm_core::url::file::lane(self.url);
        }
        &self.url[self.host_start()..][..self.host_bytes]
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> &'a str {
        &self.url[..self.origin_bytes]
    }

    /// The site of the page that it was found on, unless that is of its own origin.
    pub fn found_on_site(&self, last: &mut LastSite) -> Option<SiteKey> {
        let (shared, rest) = self.read_rest()?.parent?;
        if shared.len() > self.origin_bytes {
            return None;
        }
        last.of_page(shared, rest)
    }

    /// Whether it counts for `--max-pages` and the budgets.
    pub fn counts(&self) -> bool {
        self.kind >> VIA_BITS == PAGE
    }

    /// Hops from a seed.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Whether the seen set knows it: robots.txt errands may be needed more than once.
    pub fn is_sieved(&self) -> bool {
        self.kind >> VIA_BITS != ROBOTS
    }

    /// The item, which was offered as number `seq`.
    pub fn unpack(&self, seq: u64) -> Item {
        let Rest { via, parent, robots } = self.read_rest().expect("PACK-1: it was read before");
        Item {
            url: self.url.into(),
            depth: self.depth,
            via,
            parent: parent.map(|(shared, rest)| [shared, rest].concat().into()),
            redirects: self.redirects,
            tries: self.tries,
            errand: match robots {
                Some((hops, origin)) => Errand::Robots { origin: origin.into(), hops },
                None => match self.kind >> VIA_BITS {
                    SITEMAP => Errand::Sitemap,
                    RESERVATIONS => Errand::Reservations,
                    PROBE => Errand::Probe,
                    _ => Errand::Page,
                },
            },
            place: Place { priority: self.priority, seq },
        }
    }

    fn host_start(&self) -> usize {
        if self.url.starts_with("https://") { 8 } else { 7 }
    }

    fn read_rest(&self) -> Option<Rest<'a>> {
        let mut at = self.rest;
        let via = *Via::ALL.get(usize::from(self.kind & ((1 << VIA_BITS) - 1)))?;
        let parent = match take_length(&mut at)? {
            0 => None,
            shared => Some((self.url.get(..shared - 1)?, take_text(&mut at)?)),
        };
        let robots = match self.kind >> VIA_BITS {
            PAGE | SITEMAP | RESERVATIONS | PROBE => None,
            ROBOTS => Some((take_u8(&mut at)?, take_text(&mut at)?)),
            _ => return None,
        };
        at.is_empty().then_some(Rest { via, parent, robots })
    }
}

/// What follows the URL.
struct Rest<'a> {
    via: Via,
    /// What it shares with the URL, and what it does not.
    parent: Option<(&'a str, &'a str)>,
    /// Redirects so far, and whose robots.txt it is.
    robots: Option<(u8, &'a str)>,
}

/// What is packed of a URL.
#[derive(Debug, Clone, Copy)]
pub struct Contents<'a> {
    /// Canonical text.
    pub url: &'a str,
    /// Its front queue.
    pub priority: u8,
    /// Hops from a seed.
    pub depth: u32,
    /// How it was found.
    pub via: Via,
    /// Where it was found.
    pub parent: Option<&'a str>,
    /// Redirects in a row that led here.
    pub redirects: u8,
    /// Tries that failed so far.
    pub tries: u8,
    /// What it is fetched for.
    pub errand: &'a Errand,
}

impl<'a> From<&'a Item> for Contents<'a> {
    fn from(item: &'a Item) -> Self {
        Self {
            url: &item.url,
            priority: item.place.priority,
            depth: item.depth,
            via: item.via,
            parent: item.parent.as_deref(),
            redirects: item.redirects,
            tries: item.tries,
            errand: &item.errand,
        }
    }
}

impl<'a> From<&'a Candidate> for Contents<'a> {
    fn from(candidate: &'a Candidate) -> Self {
        Self {
            url: candidate.url.as_str(),
            priority: Place::breadth_first(&candidate.errand, candidate.depth),
            depth: candidate.depth,
            via: candidate.via,
            parent: candidate.parent.as_deref(),
            redirects: candidate.redirects,
            tries: 0,
            errand: &candidate.errand,
        }
    }
}

/// Appends a URL of a host to `out`. Its number is not part of it.
pub fn pack(contents: Contents<'_>, partition: u16, host: HostKey, out: &mut Vec<u8>) {
    let Contents { url, priority, via, tries, redirects, .. } = contents;
    let (host_bytes, origin_bytes) = lengths(url);
    out.reserve(HEAD_BYTES + url.len() + contents.parent.map_or(0, str::len));
    let (errand, robots) = match contents.errand {
        Errand::Page => (PAGE, None),
        Errand::Sitemap => (SITEMAP, None),
        Errand::Robots { origin, hops } => (ROBOTS, Some((origin, *hops))),
        Errand::Reservations => (RESERVATIONS, None),
        Errand::Probe => (PROBE, None),
    };
    out.extend_from_slice(&partition.to_le_bytes());
    out.extend_from_slice(&host.0.to_le_bytes());
    out.extend_from_slice(&[priority, via as u8 | errand << VIA_BITS, tries, redirects]);
    put_number(out, u64::from(contents.depth));
    put_number(out, host_bytes as u64);
    put_number(out, origin_bytes as u64);
    put_text(out, url);
    put_parent(out, url, contents.parent);
    if let Some((origin, hops)) = robots {
        out.push(hops);
        put_text(out, origin);
    }
}

/// Most links lead to where they were found: what a parent has in common with the URL is left out.
fn put_parent(out: &mut Vec<u8>, url: &str, parent: Option<&str>) {
    let Some(parent) = parent else { return out.push(0) };
    let same = url.bytes().zip(parent.bytes()).take_while(|(a, b)| a == b).count();
    let same = (0..=same).rev().find(|at| url.is_char_boundary(*at)).unwrap_or_default();
    put_number(out, same as u64 + 1);
    put_text(out, &parent[same..]);
}

/// Bytes of the host and of the origin in a canonical URL.
fn lengths(url: &str) -> (usize, usize) {
    let start = if url.starts_with("https://") { 8 } else { 7 };
    let rest = url.as_bytes().get(start..).unwrap_or_default();
    let authority =
        rest.split(|byte| matches!(byte, b'/' | b'?' | b'#')).next().unwrap_or_default();
    let bracket = authority.iter().position(|byte| *byte == b']').unwrap_or_default();
    let colon = authority[bracket..].iter().position(|byte| *byte == b':');
    (colon.map_or(authority.len(), |colon| bracket + colon), start + authority.len())
}

/// Packed URLs one behind the other, as a record of the log holds them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packs(Vec<u8>);

impl Packs {
    /// Room for so many URLs of common length.
    pub fn with_capacity(urls: usize) -> Self {
        Self(Vec::with_capacity(urls * URL_BYTES))
    }

    /// Adds one.
    pub fn push(&mut self, contents: Contents<'_>, partition: u16, host: HostKey) {
        let start = self.0.len();
        self.0.extend_from_slice(&[0; LENGTH_BYTES]);
        pack(contents, partition, host, &mut self.0);
        let length = u32::try_from(self.0.len() - start - LENGTH_BYTES);
        let length = length.expect("a URL is far below 4 GiB");
        self.0[start..start + LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = Packed<'_>> {
        let mut at = &self.0[..];
        std::iter::from_fn(move || take_pack(&mut at)).map(Packed::trusted)
    }

    fn are_whole(&self) -> bool {
        let mut at = &self.0[..];
        while !at.is_empty() {
            if take_pack(&mut at).and_then(Packed::read).is_none() {
                return false;
            }
        }
        true
    }
}

impl Serialize for Packs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Packs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let packs = Self(deserializer.deserialize_bytes(BytesVisitor)?);
        if packs.are_whole() { Ok(packs) } else { Err(D::Error::custom("no packed URLs")) }
    }
}

struct BytesVisitor;

impl Visitor<'_> for BytesVisitor {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("packed URLs")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }
}

fn take_pack<'a>(at: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = u32::from_le_bytes(take_array(at)?) as usize;
    let (bytes, rest) = at.split_at_checked(length)?;
    *at = rest;
    Some(bytes)
}

/// Packed URLs with their numbers, as a host's row holds them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entries(Vec<u8>);

impl Entries {
    /// Room for so many URLs of common length.
    pub fn with_capacity(urls: usize) -> Self {
        Self(Vec::with_capacity(urls * URL_BYTES))
    }

    /// Adds one.
    pub fn push(&mut self, seq: u64, packed: &[u8]) {
        put_entry(&mut self.0, seq, packed);
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Packed<'_>)> {
        entries(&self.0).map(|entry| entry.expect("PACK-1: what is in memory was read before"))
    }
}

impl Serialize for Entries {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = deserializer.deserialize_bytes(BytesVisitor)?;
        let are_whole = entries(&bytes).all(|entry| entry.is_some());
        if are_whole { Ok(Self(bytes)) } else { Err(D::Error::custom("no packed URLs")) }
    }
}

/// Adds a packed URL with its number to a list of such, as arrivals and blocks are.
pub fn put_entry(out: &mut Vec<u8>, seq: u64, packed: &[u8]) {
    put_number(out, seq);
    put_number(out, packed.len() as u64);
    out.extend_from_slice(packed);
}

/// The entries of a list that is whole; `None` in place of the first that is not.
pub fn entries(mut list: &[u8]) -> impl Iterator<Item = Option<(u64, Packed<'_>)>> {
    std::iter::from_fn(move || {
        if list.is_empty() {
            return None;
        }
        let mut at = std::mem::take(&mut list);
        let seq = take_number(&mut at);
        let packed = take_bytes(&mut at).and_then(Packed::read);
        let entry = seq.zip(packed);
        if entry.is_some() {
            list = at;
        }
        Some(entry)
    })
}

/// The entries of a list that belong to one host. Others are passed over unread.
pub fn entries_of(list: &[u8], host: HostKey) -> impl Iterator<Item = Option<(u64, Packed<'_>)>> {
    let mut at = list;
    let mut next = move || {
        let seq = take_number(&mut at)?;
        Some((seq, take_bytes(&mut at)?))
    };
    std::iter::from_fn(move || {
        loop {
            let (seq, bytes) = next()?;
            if bytes.get(2..10) == Some(&host.0.to_le_bytes()[..]) {
                return Some(Packed::read(bytes).map(|packed| (seq, packed)));
            }
        }
    })
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_number(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Seven bits a byte, the lowest first.
fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take_number(at: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take_u8(at)?;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn take_length(at: &mut &[u8]) -> Option<usize> {
    usize::try_from(take_number(at)?).ok()
}

fn take_bytes<'a>(at: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = take_length(at)?;
    let (bytes, rest) = at.split_at_checked(length)?;
    *at = rest;
    Some(bytes)
}

fn take_text<'a>(at: &mut &'a [u8]) -> Option<&'a str> {
    std::str::from_utf8(take_bytes(at)?).ok()
}

fn take_u8(at: &mut &[u8]) -> Option<u8> {
    take_array(at).map(|[byte]| byte)
}

fn take_array<const N: usize>(at: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, rest) = at.split_first_chunk()?;
    *at = rest;
    Some(*bytes)
}

#[cfg(test)]
mod tests;
