//! Several crawlers on one graph.

use anyhow::Result;
use larm_simulate::parallel::{Assignment, Measures, Mode, Outcome, Parallel, Shares};
use larm_simulate::plot::Plot;
use larm_simulate::{Model, Point};
use serde_json::{Map, Value, json};

use super::asked::Asked;
use super::{Report, digits};
use crate::exit::usage;
use crate::human::{count, counted};

/// Pages between two exchanges if nothing is said.
const EXCHANGE_EVERY: u32 = 100;
/// Runs if nothing is said.
const SHOWN: [usize; 5] = [10, 20, 30, 50, 100];

pub(super) fn simulate(asked: &Asked<'_>, processes: u32) -> Result<Report> {
    let fleet = &asked.args.fleet;
    if asked.model != Model::Threshold {
        return Err(usage(
            "several processes are judged by the hot pages they find: --model threshold",
        ));
    }
    if processes == 0 || fleet.exchange_every == Some(0) || fleet.start_pages == Some(0) {
        return Err(usage("--processes, --exchange-every and --start-pages are at least 1"));
    }
    let mode = fleet.mode.unwrap_or_default();
    let shares = shares(asked, mode, processes)?;
    let runs = runs(asked, processes)?;
    let parallel = Parallel {
        web: &asked.web,
        hot: &asked.hot,
        shares: &shares,
        mode,
        exchange_every: fleet.exchange_every.unwrap_or(EXCHANGE_EVERY),
        runs: &runs,
        tuning: asked.tuning.clone(),
        threads: asked.threads,
    };
    let outcomes = parallel.run(&asked.orders, &asked.limits)?;
    Ok(Report {
        json: json(asked, &parallel, &outcomes),
        table: table(asked, &parallel, &outcomes),
        svg: plot(asked, &parallel, &outcomes).svg(),
    })
}

fn shares(asked: &Asked<'_>, mode: Mode, processes: u32) -> Result<Shares> {
    let fleet = &asked.args.fleet;
    if mode == Mode::Independent {
        let unused = [
            (fleet.partition.is_some(), "--partition"),
            (fleet.assignment.is_some(), "--assignment"),
            (fleet.exchange_every.is_some(), "--exchange-every"),
        ];
        if let Some((_, flag)) = unused.iter().find(|(is_given, _)| *is_given) {
            return Err(usage(format!("{flag} means nothing to independent processes")));
        }
        return Ok(Shares::none(processes));
    }
    if mode == Mode::Firewall && fleet.exchange_every.is_some() {
        return Err(usage("--exchange-every means nothing behind a firewall"));
    }
    let (by, how) = (fleet.partition.unwrap_or_default(), fleet.assignment.unwrap_or_default());
    if mode == Mode::Firewall && how == Assignment::Dynamic {
        let why = "what is behind a firewall must be known beforehand";
        return Err(usage(format!("--assignment dynamic needs --mode exchange: {why}")));
    }
    Ok(Shares::of(&asked.web, by, how, processes)?)
}

/// The pages that each run begins with.
fn runs(asked: &Asked<'_>, processes: u32) -> Result<Vec<Vec<u32>>> {
    let named = asked.args.start.len();
    let usual = if named > 0 { named } else { processes as usize };
    let each = asked.args.fleet.start_pages.unwrap_or(usual);
    let runs = if named > 0 { 1 } else { asked.count()? };
    let starts = asked.starts(runs.saturating_mul(each))?;
    let nodes: Vec<u32> = starts.iter().map(|start| start.node).collect();
    Ok(nodes.chunks(each).map(<[u32]>::to_vec).collect())
}

fn json(asked: &Asked<'_>, parallel: &Parallel<'_>, outcomes: &[Outcome]) -> Value {
    let fleet = &asked.args.fleet;
    let mut json = asked.head();
    json["processes"] = json!(parallel.shares.processes());
    json["mode"] = parallel.mode.to_string().into();
    if parallel.mode != Mode::Independent {
        json["partition"] = fleet.partition.unwrap_or_default().to_string().into();
        json["assignment"] = fleet.assignment.unwrap_or_default().to_string().into();
        json["groups"] = json!(parallel.shares.groups());
        json["level"] = json!(parallel.shares.level);
        json["pages_of_processes"] = json!(parallel.shares.pages());
    }
    if parallel.mode == Mode::Exchange {
        json["exchange_every"] = json!(parallel.exchange_every);
    }
    let labels = |run: &Vec<u32>| run.iter().map(|&node| json!(asked.web.label(node))).collect();
    json["starts"] = parallel.runs.iter().map(labels).collect::<Vec<Value>>().into();
    json["after_dry"] = "where a run has ended, its values stay as they were".into();
    json["spread"] = "standard deviation over the runs".into();
    let orders =
        asked.names().zip(outcomes).map(|(name, outcome)| (name.to_owned(), curve(outcome)));
    json["orders"] = orders.collect::<Map<String, Value>>().into();
    let ends = asked
        .names()
        .zip(outcomes)
        .map(|(name, outcome)| (name.to_owned(), measured(&outcome.end)));
    json["end"] = ends.collect::<Map<String, Value>>().into();
    json
}

fn curve(outcome: &Outcome) -> Value {
    let point = |(at, (measures, spread)): (usize, &(Measures, f64))| {
        let mut point = measured(measures);
        point["crawled"] = json!((at + 1) as f64 / 100.0);
        point["spread"] = digits(*spread);
        point
    };
    outcome.points.iter().enumerate().map(point).collect()
}

fn measured(measures: &Measures) -> Value {
    json!({
        "crawled": digits(measures.crawled),
        "hot": digits(measures.quality),
        "coverage": digits(measures.coverage),
        "overlap": digits(measures.overlap),
        "communication": digits(measures.communication),
    })
}

fn table(asked: &Asked<'_>, parallel: &Parallel<'_>, outcomes: &[Outcome]) -> String {
    let mut lines = vec![asked.headline(), set_up(asked, parallel), String::new()];
    let width = asked.names().map(str::len).chain([8]).max().unwrap_or(8);
    let head = ["found", "coverage", "overlap", "URLs sent a page"];
    let head: String = head.iter().map(|word| format!("{word:>18}")).collect();
    lines.push(format!("{:<width$}{:>14}{head}", "order", "fetched"));
    for (name, outcome) in asked.names().zip(outcomes) {
        for &at in &SHOWN {
            lines.push(row(name, width, &format!("{at} %"), &outcome.points[at - 1].0));
        }
        lines.push(row(name, width, "at the end", &outcome.end));
    }
    lines.join("\n")
}

fn row(name: &str, width: usize, when: &str, measures: &Measures) -> String {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    format!(
        "{name:<width$}{when:>14}{:>18}{:>18}{:>18}{:>18.3}",
        percent(measures.quality),
        percent(measures.coverage),
        percent(measures.overlap),
        measures.communication
    )
}

/// Who shares what, in a line.
fn set_up(asked: &Asked<'_>, parallel: &Parallel<'_>) -> String {
    let fleet = &asked.args.fleet;
    let runs = counted(parallel.runs.len() as u64, "run", "runs");
    let starts = counted(parallel.runs.first().map_or(0, Vec::len) as u64, "start", "starts");
    let who = format!(
        "{} processes, {}; {runs} of {starts} each",
        parallel.shares.processes(),
        parallel.mode
    );
    if parallel.mode == Mode::Independent {
        return who;
    }
    let by = fleet.partition.unwrap_or_default();
    let how = fleet.assignment.unwrap_or_default();
    let groups = counted(parallel.shares.groups() as u64, "group", "groups");
    let level = parallel.shares.level.map_or(String::new(), |level| format!(" at level {level}"));
    let pages = parallel.shares.pages().map_or(String::new(), |pages| {
        let pages: Vec<String> = pages.iter().map(|&pages| count(u64::from(pages))).collect();
        format!("; pages of each: {}", pages.join(" · "))
    });
    format!("{who}; {how} by {by}: {groups}{level}{pages}")
}

fn plot(asked: &Asked<'_>, parallel: &Parallel<'_>, outcomes: &[Outcome]) -> Plot {
    let points = |outcome: &Outcome| {
        let point = |(at, (measures, spread)): (usize, &(Measures, f64))| Point {
            crawled: (at + 1) as f64 / 100.0,
            hot: measures.quality,
            spread: *spread,
        };
        outcome.points.iter().enumerate().map(point).collect()
    };
    let processes = parallel.shares.processes();
    Plot {
        title: format!(
            "{}: hot pages found by {processes} processes, {}",
            asked.graph_name(),
            parallel.mode
        ),
        about: format!(
            "{}; {}",
            asked.headline(),
            counted(parallel.runs.len() as u64, "run", "runs")
        ),
        axis: "hot pages found".to_owned(),
        lines: asked
            .names()
            .zip(outcomes)
            .map(|(name, outcome)| (name.to_owned(), points(outcome)))
            .collect(),
        ideal: asked.model.ideal(&asked.hot),
        random: asked.model.random(&asked.hot),
    }
}
