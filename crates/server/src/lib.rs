//! The server: an API and a page over crawls, running or finished.
//!
//! A crawl is a directory. What is shown of it is read from its files, and a crawl that runs is asked and
//! steered over its control socket, whoever started it. The server holds no lock and no state of a crawl, so
//! it can go away and come back while crawls run. It never fetches anything itself.

pub mod access;
pub mod answers;
pub mod api;
pub mod app;
pub mod crawl;
pub mod crawls;
mod describe;
pub mod headers;
pub mod hosts;
pub mod input;
pub mod keeper;
pub mod launch;
pub mod listen;
pub mod live;
pub mod make;
pub mod metrics;
pub mod page;
pub mod problem;
pub mod replay;
pub mod settings;
mod share;
mod steer;
pub mod table;
pub mod tail;
pub mod views;
pub mod wanted;

pub use app::{App, Shared};
pub use launch::{Launcher, Preview};
pub use problem::Problem;
pub use settings::Settings;
pub use views::Views;
