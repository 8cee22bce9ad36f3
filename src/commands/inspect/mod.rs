//! `larm inspect`: what larm makes of a URL, a robots.txt, a page. For people, and by the line for
//! programs that want to compare (`--jsonl`).

mod jsonl;
pub mod page;
mod robots;
mod url;

use std::io::Read;
use std::path::Path;

use anyhow::Result;

use crate::cli::Inspect;
use crate::config::file::is_dash;
use crate::exit::{Exit, usage};

/// Prints it.
pub fn inspect(what: Inspect) -> Result<Exit> {
    match what {
        Inspect::Url(args) if args.jsonl => jsonl::each_line(url::answer)?,
        Inspect::Url(args) => url::show(&args)?,
        Inspect::Robots(args) if args.jsonl => jsonl::each_line(robots::answer)?,
        Inspect::Robots(args) => robots::show(&args)?,
        Inspect::Page(args) if args.jsonl => jsonl::each_line(page::answer)?,
        Inspect::Page(args) => page::show(&args)?,
    }
    Ok(Exit::Done)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = if is_dash(path) {
        std::io::stdin().lock().read_to_end(&mut bytes).map(drop)
    } else {
        std::fs::read(path).map(|read| bytes = read)
    };
    read.map_err(|error| usage(format!("{}: {error}", path.display())))?;
    Ok(bytes)
}
