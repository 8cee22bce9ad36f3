//! The `larm` command: what was typed becomes what it means, and the library does it.
//!
//! Only this program knows flags, TOML and terminals, and only it prints. Standard output carries what
//! was asked for; everything else goes to standard error.

mod args;
mod cli;
mod commands;
mod config;
mod console;
mod exit;
mod human;
mod near;
mod pdf;
mod progress;
mod server;
mod summary;
mod worth;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::args::Meant;
use crate::exit::Exit;

/// Pages come and go by the thousand on one thread and are freed on another: the system's allocator
/// takes an eighth of all time for that, musl's far more. Of mimalloc it is version 2, which gives back what is
/// free after ten milliseconds instead of a second: a long crawl takes a fifth less memory so, and does not grow.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match args::meant(std::env::args_os().collect()) {
        Meant::Nothing => hello(),
        Meant::Mistake(message) => complain(&message, Exit::Usage),
        Meant::Arguments(arguments) => run(cli::Cli::parse_from(arguments)),
    }
}

fn run(cli: cli::Cli) -> ExitCode {
    match commands::run(cli.command) {
        Ok(exit) => exit.into(),
        Err(error) if exit::is_closed_pipe(&error) => Exit::Done.into(),
        Err(error) => complain(&exit::in_words(&error), exit::of(&error)),
    }
}

fn hello() -> ExitCode {
    let text = format!(
        "larm {}: crawls a part of the web politely and keeps exactly what it saw.\n\n{}\n\nMore: larm --help",
        env!("CARGO_PKG_VERSION"),
        cli::EXAMPLES
    );
    // Whoever closed standard output does not want to read it.
    let _ = writeln!(io::stdout(), "{text}");
    Exit::Done.into()
}

fn complain(message: &str, exit: Exit) -> ExitCode {
    // Nobody is left to tell when standard error is closed, too.
    let _ = writeln!(io::stderr(), "larm: {message}");
    exit.into()
}
