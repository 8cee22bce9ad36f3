//! Ways in which a server can misbehave, a host for each; one file per family.
//!
//! Where a host misbehaves follows from how: most answer badly at [`BAD`] (and below it) and well
//! everywhere else, some have a robots.txt that is the trouble, and some are of no use at all because
//! the connection itself breaks ([`Place`]). The truth says about what is bad: to be asked for at least
//! once, whatever becomes of it, and not to keep the crawler from the host's other pages.
//!
//! An answer that never ends does end, at [`ENDLESS_BYTES_MAX`] or when the client leaves.

mod body;
mod content;
mod encoding;
mod head;
mod redirect;
mod reset;
mod retry;
mod robots;

use std::io;

use serde::{Serialize, Serializer};
use tokio::net::TcpStream;

pub use body::Body;
pub use content::Content;
pub use encoding::{BOMB_BYTES, Encoding};
pub use head::Head;
pub use redirect::Redirect;
pub use reset::Reset;
pub use retry::Retry;
pub use robots::RobotsFile;

use crate::dice::Dice;
use crate::exchange::Exchange;
use crate::robots::Rules;

/// The most that an endless answer sends before it ends after all.
pub const ENDLESS_BYTES_MAX: u64 = 200_000_000;

/// The path at which a host misbehaves, if it does so at a path.
pub(crate) const BAD: &str = "/bad";
/// What lies below it, and the most of it that a crawler may be led to ask for.
pub(crate) const BELOW_BAD: (&str, usize) = ("/bad/", 5_000);

/// Head of a page, up to the fields that say how long it is.
const HTML_HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n";

/// Declares a family: its ways, with the word that names the host of each.
macro_rules! family {
    ($(#[doc = $about:literal])+ $name:ident { $($(#[doc = $each:literal])+ $way:ident = $word:literal,)+ }) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[doc = $each])+ $way,)+
        }

        impl $name {
            /// Every way of this family.
            pub const ALL: &'static [Self] = &[$(Self::$way),+];

            /// The word that names its host.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$way => $word,)+
                }
            }
        }
    };
}
pub(crate) use family;

/// Declares all families: what each is about, and what can be asked of any of them.
macro_rules! misbehaviours {
    ($($(#[doc = $about:literal])+ $family:ident($ways:ident),)+) => {
        /// Ways to misbehave.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Misbehaviour {
            $($(#[doc = $about])+ $family($ways),)+
        }

        impl Misbehaviour {
            /// All of them, family by family.
            pub fn all() -> Vec<Self> {
                let families = [$($ways::ALL.iter().copied().map(Self::$family).collect::<Vec<_>>()),+];
                families.concat()
            }

            /// The word that names its host.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$family(way) => way.word(),)+
                }
            }
        }
    };
}

misbehaviours! {
    /// Before the body: status line and header fields.
    Head(Head),
    /// How long a body is, and how fast it comes.
    Body(Body),
    /// Content codings.
    Encoding(Encoding),
    /// Where redirects lead.
    Redirect(Redirect),
    /// When to come back.
    Retry(Retry),
    /// The robots.txt.
    Robots(RobotsFile),
    /// Connections that break.
    Reset(Reset),
    /// Good HTTP, and a body that is hard to read.
    Content(Content),
}

/// Where a host misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// At [`BAD`] and below.
    Path,
    /// At its robots.txt.
    Robots,
    /// With every connection: it has no page that can be had.
    Connection,
}

impl Misbehaviour {
    /// The nine that a web with the feature `hostile` has: each is over at once.
    pub const BASIC: [Self; 9] = [
        Self::Reset(Reset::Refuses),
        Self::Body(Body::Short),
        Self::Body(Body::Long),
        Self::Body(Body::Endless),
        Self::Encoding(Encoding::GzipBomb),
        Self::Head(Head::Endless),
        Self::Head(Head::Garbage),
        Self::Reset(Reset::EmptyReply),
        Self::Body(Body::BrokenChunks),
    ];

    /// The one of this name.
    pub fn named(word: &str) -> Option<Self> {
        Self::all().into_iter().find(|bad| bad.word() == word)
    }

    /// `count` of them, drawn at random as `seed` has it.
    pub fn draw(seed: u64, count: usize) -> Vec<Self> {
        let (all, mut dice) = (Self::all(), Dice::of(&[seed, 17]));
        (0..count).map(|_| all[dice.below(all.len())]).collect()
    }

    /// Where it happens.
    pub(crate) fn place(self) -> Place {
        match self {
            Self::Robots(_) => Place::Robots,
            Self::Reset(reset) => reset.place(),
            _ => Place::Path,
        }
    }

    /// What the robots.txt of such a host closes.
    pub(crate) fn rules(self) -> Rules {
        match self {
            Self::Robots(file) => file.rules(),
            _ => Rules::Open,
        }
    }

    /// Status that the client gets to see; 0 where there is none to be had.
    pub(crate) fn status(self) -> u16 {
        match self {
            Self::Head(head) => head.status(),
            Self::Reset(reset) => reset.status(),
            Self::Redirect(_) => 302,
            _ => 200,
        }
    }
}

impl Serialize for Misbehaviour {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// What a bad answer may depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment<'a> {
    /// What was asked for.
    pub path: &'a str,
    /// How often it was asked for before.
    pub tries: u32,
}

/// Answers as badly as asked. The connection is of no use afterwards.
pub(crate) async fn misbehave(
    exchange: &mut Exchange<'_>,
    bad: Misbehaviour,
    moment: Moment<'_>,
) -> io::Result<()> {
    match bad {
        Misbehaviour::Head(head) => head::send(exchange, head).await,
        Misbehaviour::Body(body) => body::send(exchange, body).await,
        Misbehaviour::Encoding(encoding) => encoding::send(exchange, encoding).await,
        Misbehaviour::Redirect(redirect) => redirect::send(exchange, redirect, moment.path).await,
        Misbehaviour::Retry(retry) => retry::send(exchange, retry, moment.tries).await,
        Misbehaviour::Robots(file) => robots::send(exchange, file, moment.tries).await,
        Misbehaviour::Reset(reset) => reset::send(exchange, reset).await,
        Misbehaviour::Content(content) => content::send(exchange, content, moment.path).await,
    }
}

/// Receives a connection as badly as asked, before anything was read from it.
pub(crate) async fn receive(stream: TcpStream, bad: Misbehaviour) -> io::Result<()> {
    match bad {
        Misbehaviour::Reset(reset) => reset::receive(stream, reset).await,
        _ => Ok(()),
    }
}

/// A page of this body, whole and well.
async fn page(exchange: &mut Exchange<'_>, body: &[u8]) -> io::Result<()> {
    with_fields(exchange, "", body).await
}

/// The same with more header fields, each with its line end.
async fn with_fields(exchange: &mut Exchange<'_>, fields: &str, body: &[u8]) -> io::Result<()> {
    let head = format!("{HTML_HEAD}{fields}Content-Length: {}\r\n\r\n", body.len());
    exchange.last(&[head.as_bytes(), body].concat()).await
}

/// Sends a piece again and again.
async fn until_client_leaves(exchange: &mut Exchange<'_>, piece: &[u8]) -> io::Result<()> {
    while exchange.sent() < ENDLESS_BYTES_MAX {
        exchange.send(piece).await?;
    }
    exchange.last(b"").await
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_way_has_a_word_of_its_own() {
        let all = Misbehaviour::all();
        let words: BTreeSet<&str> = all.iter().map(|bad| bad.word()).collect();
        assert_eq!(words.len(), all.len());
        assert!(all.iter().all(|bad| Misbehaviour::named(bad.word()) == Some(*bad)));
        assert!(
            words.iter().all(|word| word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'))
        );
    }

    #[test]
    fn the_same_seed_draws_the_same_ways() {
        assert_eq!(Misbehaviour::draw(3, 50), Misbehaviour::draw(3, 50));
        assert_ne!(Misbehaviour::draw(3, 50), Misbehaviour::draw(4, 50));
    }
}
