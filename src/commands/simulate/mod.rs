//! `larm simulate`: virtual crawls over a stored graph, and which order finds the important pages first.
//!
//! Everything is a function of graph, flags and seed. A table goes to standard output, unless that is where
//! the JSON goes.

mod asked;
mod fleet;
mod orders;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use larm_simulate::Error;
use serde_json::Value;

use self::asked::Asked;
use crate::cli::SimulateArgs;
use crate::exit::{Exit, usage};

/// Carries out a simulation.
pub fn simulate(args: &SimulateArgs) -> Result<Exit> {
    let asked = Asked::new(args).map_err(as_usage)?;
    let report = match args.fleet.processes {
        Some(processes) => fleet::simulate(&asked, processes).map_err(as_usage)?,
        None => orders::simulate(&asked).map_err(as_usage)?,
    };
    if let Some(path) = &args.svg {
        fs::write(path, report.svg).with_context(|| path.display().to_string())?;
    }
    match &args.json {
        Some(path) if path == Path::new("-") => super::print(&pretty(&report.json)?)?,
        Some(path) => {
            let text = pretty(&report.json)? + "\n";
            fs::write(path, text).with_context(|| path.display().to_string())?;
            super::print(&report.table)?;
        }
        None => super::print(&report.table)?,
    }
    Ok(Exit::Done)
}

/// What came of a simulation, in all forms.
struct Report {
    json: Value,
    table: String,
    svg: String,
}

fn pretty(json: &Value) -> Result<String> {
    Ok(serde_json::to_string_pretty(json)?)
}

/// What was asked for in a way that makes no sense is an error of whoever asked.
fn as_usage(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<Error>() {
        Some(Error::Asked(_)) => usage(error.to_string()),
        _ => error,
    }
}

/// With four digits: enough to compare, and the same wherever it was computed.
fn digits(value: f64) -> Value {
    // 0.1 + 0.2 and the like are not what anybody wants to read.
    Value::from((value * 1e4).round() / 1e4)
}
