//! A process that reads one PDF: an order and the document on standard input, pieces on standard output.
//!
//! Before it looks at a byte, the process takes from itself what a reader does not need: memory and time
//! beyond what the order allows, further files, core dumps. Whatever then goes wrong costs this process and
//! nothing else. Where the system has no such limits, the clock of whoever started it remains.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use larm_core::parse::pdf::{Order, Piece};

/// The order is one line, and no longer than this.
const ORDER_BYTES_MAX: u64 = 4_096;

/// Carries out one order. The caller ends the process afterwards.
pub fn serve() -> io::Result<()> {
    let mut input = BufReader::new(io::stdin().lock());
    let mut line = String::new();
    input.by_ref().take(ORDER_BYTES_MAX).read_line(&mut line)?;
    let order: Order = serde_json::from_str(&line)?;
    confine(&order)?;
    let mut body = Vec::new();
    input.take(order.body_bytes_max).read_to_end(&mut body)?;
    let mut output = BufWriter::new(io::stdout().lock());
    crate::read(&body, &order, |piece| write(&mut output, &piece))
}

/// A line for each piece, at once: what follows may be the end of this process.
fn write(output: &mut impl Write, piece: &Piece) -> io::Result<()> {
    let line = serde_json::to_string(piece).map_err(io::Error::other)?;
    writeln!(output, "{line}")?;
    output.flush()
}

#[cfg(unix)]
fn confine(order: &Order) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let at_most = |resource, maximum: u64| {
        let now = getrlimit(resource);
        let maximum = now.maximum.map_or(maximum, |allowed| allowed.min(maximum));
        setrlimit(resource, Rlimit { current: Some(maximum), maximum: Some(maximum) })
    };
    at_most(Resource::Cpu, order.seconds_max)?;
    at_most(Resource::Core, 0)?;
    // What is open stays open: nothing can be opened besides.
    at_most(Resource::Nofile, 0)?;
    // Some systems know no limit of memory; the others keep it.
    let _ = at_most(Resource::As, order.memory_bytes_max);
    Ok(())
}

#[cfg(not(unix))]
fn confine(_: &Order) -> io::Result<()> {
    Ok(())
}
