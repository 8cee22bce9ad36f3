//! The web as a client sees it, over real sockets.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod binary;
mod client;
mod html;
mod misbehaviour;
mod reference;
mod robots;
mod serving;
mod truth;
