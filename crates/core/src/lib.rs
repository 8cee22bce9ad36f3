//! The pure part of larm: everything that can be computed without waiting.
//!
//! Nothing here opens a file or a socket, starts a thread, reads a clock or writes a log. Time and
//! seeds are arguments. Bytes from outside give a result, never an error that stops a crawl and never
//! a panic.
//!
//! # One word per idea
//!
//! *link* text as found · *url* canonical · *host* what is paced · *site* registrable domain, what is
//! partitioned and budgeted · *origin* scheme, host and port, what a robots.txt speaks for ·
//! *fingerprint* 64 bits of a url · *candidate* a url in scope · *bench* hosts that may be leased ·
//! *frontier* all that waits · *lease* one host's turn · *permit* robots said yes · *fetched* bytes and
//! headers · *page* what parsing made of them · *signals* what an owner says of the use of a page ·
//! *wall* what stands before a page to keep machines out ·
//! *simhash* 64 bits of a page's words · *alias* one of two names for the same pages · *visit* one fetch of a url, as it is
//! written · *sink* where it is written · *verdict* and *reason* a filter's answer · *outcome* what
//! became of a url · *shape* what a url has in common with others of its host · *harvest* what a fetch
//! brought that is new · *purse* how many pages a host or a site may have · *score* what gives pages their worth · *worth* of a page
//! in an order: what it is to be fetched earlier than others · *reading* what a fetched page came to, from 0 to 1 ·
//! *gain* of a crawl: how many of its last pages were good · *partition* share of the
//! sites · *checkpoint* state that can be resumed.

pub mod alias;
pub mod answer;
pub mod deflate;
pub mod digest;
pub mod gain;
pub mod level;
pub mod limits;
pub mod media;
pub mod near;
pub mod order;
pub mod outage;
pub mod outcome;
pub mod parse;
pub mod partition;
pub mod random;
pub mod robots;
pub mod runs;
pub mod scope;
pub mod signals;
pub mod soft;
pub mod time;
pub mod url;
pub mod via;
pub mod wall;
pub mod workbench;
pub mod worth;

pub use answer::{Fact, Lookup, Protocol, Truncated};
pub use limits::Limits;
pub use outcome::{Blame, Failure, FailureClass, Outcome};
pub use time::Millis;
pub use via::Via;
