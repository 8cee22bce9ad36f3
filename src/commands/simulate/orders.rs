//! Orders side by side.

use anyhow::Result;
use larm_simulate::plot::Plot;
use larm_simulate::starts::Start;
use larm_simulate::{Experiment, Model, Outcome, Point};
use serde_json::{Map, Value, json};

use super::asked::Asked;
use super::{Report, digits};
use crate::exit::usage;
use crate::human::counted;

/// Where the table looks, in hundredths of all pages.
const SHOWN: [usize; 8] = [5, 10, 20, 30, 40, 50, 70, 100];

pub(super) fn simulate(asked: &Asked<'_>) -> Result<Report> {
    let starts = asked.starts(asked.count()?)?;
    if (starts.len() * asked.orders.len()) as u64 > asked.limits.simulate_crawls_max {
        return Err(usage("that are more crawls than simulate_crawls_max allows"));
    }
    let experiment = Experiment {
        web: &asked.web,
        hot: &asked.hot,
        model: asked.model,
        starts: &starts,
        tuning: asked.tuning.clone(),
        threads: asked.threads,
    };
    let outcomes = experiment.run(&asked.orders, &asked.limits)?;
    Ok(Report {
        json: json(asked, &starts, &outcomes),
        table: table(asked, &starts, &outcomes),
        svg: plot(asked, &starts, &outcomes).svg(),
    })
}

fn json(asked: &Asked<'_>, starts: &[Start], outcomes: &[Outcome]) -> Value {
    let mut json = asked.head();
    json["starts"] = asked.starts_json(starts);
    json["after_dry"] = "where a start has run dry, its value stays as it was".into();
    json["spread"] = "standard deviation over the starts".into();
    let line = |values: Vec<f64>| -> Value {
        let point = |(at, hot)| json!({"crawled": crawled(at), "hot": digits(hot)});
        values.into_iter().enumerate().map(point).collect()
    };
    json["ideal"] = line(asked.model.ideal(&asked.hot));
    json["any_page"] = line(asked.model.random(&asked.hot));
    let point = |point: &Point| json!({"crawled": point.crawled, "hot": digits(point.hot), "spread": digits(point.spread)});
    let curve = |outcome: &Outcome| outcome.points.iter().map(point).collect();
    let orders: Map<String, Value> = asked
        .names()
        .zip(outcomes)
        .map(|(name, outcome)| (name.to_owned(), curve(outcome)))
        .collect();
    json["orders"] = orders.into();
    json
}

fn crawled(at: usize) -> f64 {
    (at + 1) as f64 / 100.0
}

fn table(asked: &Asked<'_>, starts: &[Start], outcomes: &[Outcome]) -> String {
    let width = asked.names().map(str::len).chain([8]).max().unwrap_or(8);
    let cells = |name: &str, values: &dyn Fn(usize) -> String| {
        let cells: String = SHOWN.iter().map(|&at| format!("{:>14}", values(at - 1))).collect();
        format!("{name:<width$}{cells}")
    };
    let mut lines = vec![asked.headline(), begun(asked, starts), String::new()];
    lines.push(cells(what(asked.model), &|at| format!("after {} %", at + 1)));
    let (ideal, random) = (asked.model.ideal(&asked.hot), asked.model.random(&asked.hot));
    lines.push(cells("ideal", &|at| percent(ideal[at])));
    for (name, outcome) in asked.names().zip(outcomes) {
        lines.push(cells(name, &|at| {
            let Point { hot, spread, .. } = outcome.points[at];
            if starts.len() > 1 {
                format!("{} ±{:3.1}", percent(hot), 100.0 * spread)
            } else {
                percent(hot)
            }
        }));
    }
    lines.push(cells("any page", &|at| percent(random[at])));
    lines.join("\n")
}

/// What is counted, as the head of a column.
fn what(model: Model) -> &'static str {
    match model {
        Model::Threshold => "found",
        Model::Stop => "as good",
        Model::Buffer(_) => "kept",
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Where crawls began, and whether they ran dry.
fn begun(asked: &Asked<'_>, starts: &[Start]) -> String {
    let dry = starts.iter().filter(|start| start.reaches < asked.web.nodes());
    let mean = dry.clone().map(|start| f64::from(start.reaches)).sum::<f64>();
    let said = counted(starts.len() as u64, "start", "starts");
    match dry.count() {
        0 => format!("{said}, each of which reaches every page"),
        dry => {
            let share = percent(mean / dry as f64 / f64::from(asked.web.nodes()));
            format!(
                "{said}; {dry} ran dry, after {share} of all pages on average: their values stay"
            )
        }
    }
}

fn plot(asked: &Asked<'_>, starts: &[Start], outcomes: &[Outcome]) -> Plot {
    let lines = asked.names().zip(outcomes);
    let spread = if starts.len() > 1 { "; band: standard deviation" } else { "" };
    let axis = match asked.model {
        Model::Threshold => "hot pages found",
        Model::Stop => "pages as good as so many can be",
        Model::Buffer(_) => "hot pages in the buffer",
    };
    let starts = counted(starts.len() as u64, "start", "starts");
    Plot {
        title: format!("{}: {axis}, by order of crawling", asked.graph_name()),
        about: format!("{}; {starts}{spread}", asked.headline()),
        axis: axis.to_owned(),
        lines: lines.map(|(name, outcome)| (name.to_owned(), outcome.points.clone())).collect(),
        ideal: asked.model.ideal(&asked.hot),
        random: asked.model.random(&asked.hot),
    }
}
