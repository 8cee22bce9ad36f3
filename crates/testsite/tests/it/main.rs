//! The web as a client sees it, over real sockets.

mod binary;
mod client;
mod html;
mod misbehaviour;
mod reference;
mod robots;
mod serving;
mod truth;
