//! One file per command.

mod cat;
mod compact;
mod config_doc;
pub mod crawl;
mod dashboard;
mod demo;
mod doctor;
mod drive;
mod examples;
mod graph;
mod hosts;
mod inspect;
mod key;
mod lines;
mod links;
pub mod lookup;
mod manual;
mod rebuild;
mod search;
mod serve;
mod simulate;
mod status;
mod steer;
mod why;

use std::future::Future;
use std::io::{self, Write};

use anyhow::{Context, Result};

use crate::cli::Command;
use crate::exit::Exit;

/// Carries out a command.
pub fn run(command: Command) -> Result<Exit> {
    match command {
        Command::Crawl(args) => crawl::crawl(args),
        Command::Resume(args) => crawl::resume(args),
        Command::Pause(args) => steer::pause(&args.dir),
        Command::Stop(args) => steer::stop(&args.dir),
        Command::Status(args) => status::status(&args),
        Command::Set(args) => steer::set(&args),
        Command::Why(args) => why::why(&args),
        Command::Cat(args) => cat::cat(&args),
        Command::Links(args) => links::links(&args),
        Command::Graph(args) => graph::graph(&args),
        Command::Simulate(args) => simulate::simulate(&args),
        Command::Rebuild(args) => rebuild::rebuild(&args),
        Command::Compact(args) => compact::compact(&args),
        Command::Search(args) => search::search(&args),
        Command::Serve(args) => serve::serve(args),
        Command::Inspect(what) => inspect::inspect(what),
        Command::Key(what) => key::key(&what),
        Command::Demo(args) => demo::demo(&args),
        Command::Doctor => doctor::doctor(),
        Command::Completions(args) => manual::completions(args.shell),
        Command::Man => manual::man(),
        Command::ConfigDoc => config_doc::print(),
        Command::ReadPdf => crate::pdf::serve(),
    }
}

/// Writes to standard output, for whoever asked.
fn print(text: &str) -> Result<()> {
    Ok(writeln!(io::stdout().lock(), "{}", text.trim_end())?)
}

/// Runs something that waits.
pub fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    to_its_end(tokio::runtime::Builder::new_multi_thread(), future)
}

/// The same on this thread. Whatever else is to run at the same time brings threads of its own.
fn block_on_this_thread<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    // Who is woken by another thread comes before what this one has to do: other threads wait for engine and writer.
    builder.global_queue_interval(1);
    to_its_end(builder, future)
}

fn to_its_end<T>(
    mut builder: tokio::runtime::Builder,
    future: impl Future<Output = Result<T>>,
) -> Result<T> {
    let runtime = builder.enable_all().build().context("cannot start threads")?;
    let ended = runtime.block_on(future);
    // All that matters is written. A thread that a dead mount holds must not hold us.
    runtime.shutdown_background();
    ended
}
