//! A robots.txt that is the trouble. All else on its host is well.
//!
//! [`RobotsFile::rules`] says what RFC 9309 makes of each: what cannot be had closes everything, what is
//! absent or says nothing closes nothing, and what can be read holds.

use std::io;

use super::{family, until_client_leaves};
use crate::dice::Dice;
use crate::exchange::Exchange;
use crate::robots::Rules;

family! {
    /// Ways to serve a bad robots.txt.
    RobotsFile {
        /// Rules first, and then lines until the client leaves.
        Endless = "endless-robots",
        /// Bytes that are no text.
        Binary = "binary-robots",
        /// A page.
        Html = "html-robots",
        /// Redirects in a circle.
        Loop = "looping-robots",
        /// A byte a second.
        Dripping = "dripping-robots",
        /// No answer.
        Silent = "silent-robots",
        /// No HTTP.
        Garbage = "garbage-robots",
        /// The connection is reset.
        Reset = "reset-robots",
        /// 500 at the first two tries, rules at the third.
        FailsTwice = "failing-robots",
        /// Other rules at every request, with one that stays.
        Changing = "changing-robots",
        /// Rules that break off before the promised length.
        Cut = "cut-robots",
        /// Zero bytes.
        Zeros = "zero-robots",
    }
}

const RULES: &str = "User-agent: *\nDisallow: /private/\n";
const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";

impl RobotsFile {
    /// What it closes.
    pub(super) fn rules(self) -> Rules {
        match self {
            Self::Endless | Self::FailsTwice | Self::Changing => Rules::Simple,
            Self::Binary | Self::Html | Self::Loop | Self::Zeros => Rules::Open,
            Self::Dripping | Self::Silent | Self::Garbage | Self::Reset | Self::Cut => Rules::Shut,
        }
    }
}

/// Sends the robots.txt.
pub(super) async fn send(
    exchange: &mut Exchange<'_>,
    file: RobotsFile,
    tries: u32,
) -> io::Result<()> {
    match file {
        RobotsFile::Endless => {
            exchange.send(format!("{HEAD}\r\n{RULES}").as_bytes()).await?;
            until_client_leaves(exchange, "Disallow: /nobody/links/here\n".repeat(500).as_bytes())
                .await
        }
        RobotsFile::Dripping => {
            exchange
                .send(format!("{HEAD}Content-Length: {}\r\n\r\n", RULES.len()).as_bytes())
                .await?;
            exchange.drip(RULES.as_bytes()).await
        }
        RobotsFile::Silent => exchange.stall().await,
        RobotsFile::Reset => exchange.reset(),
        RobotsFile::Garbage => exchange.last(&noise()).await,
        RobotsFile::Cut => {
            exchange.last(format!("{HEAD}Content-Length: 9999\r\n\r\n{RULES}").as_bytes()).await
        }
        RobotsFile::Loop => exchange.last(LOOP.as_bytes()).await,
        RobotsFile::FailsTwice if tries < 2 => {
            exchange.last(b"HTTP/1.1 500 Sorry\r\nContent-Length: 0\r\n\r\n").await
        }
        _ => whole(exchange, &text(file, tries)).await,
    }
}

const LOOP: &str = "HTTP/1.1 301 Moved\r\nLocation: /robots.txt\r\nContent-Length: 0\r\n\r\n";

fn text(file: RobotsFile, tries: u32) -> Vec<u8> {
    match file {
        RobotsFile::Binary => noise(),
        RobotsFile::Zeros => vec![0; 100_000],
        RobotsFile::Html => {
            b"<!doctype html><title>Hello</title><p>Disallow: / is not said.".to_vec()
        }
        RobotsFile::Changing => format!("{RULES}Disallow: /changed/{tries}\n").into_bytes(),
        _ => RULES.as_bytes().to_vec(),
    }
}

async fn whole(exchange: &mut Exchange<'_>, text: &[u8]) -> io::Result<()> {
    let head = format!("{HEAD}Content-Length: {}\r\n\r\n", text.len());
    exchange.last(&[head.as_bytes(), text].concat()).await
}

fn noise() -> Vec<u8> {
    let mut dice = Dice::of(&[9]);
    (0..50_000).map(|_| (dice.next() >> 9) as u8).collect()
}
