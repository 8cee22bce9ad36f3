//! What was typed → what is to be simulated.

use std::io::Write;

use anyhow::Result;
use larm_core::Limits;
use larm_core::order::{Order, Tuning};
use larm_graph::rank::threads;
use larm_simulate::starts::{self, Start};
use larm_simulate::{Hot, HotSpec, Model, Web, hot};
use serde_json::{Value, json};

use super::digits;
use crate::cli::SimulateArgs;
use crate::exit::usage;
use crate::human::count;

/// How often to begin if nothing is said.
const STARTS: usize = 10;
/// Which pages are hot if nothing is said, and how many a buffer holds.
const HOT: f64 = 0.1;

/// A simulation that makes sense, as far as can be told without its orders.
pub(super) struct Asked<'a> {
    pub args: &'a SimulateArgs,
    pub limits: Limits,
    pub web: Web,
    pub hot: Hot,
    pub model: Model,
    pub orders: Vec<Order>,
    pub tuning: Tuning,
    pub threads: usize,
}

impl<'a> Asked<'a> {
    pub(super) fn new(args: &'a SimulateArgs) -> Result<Self> {
        let limits = limits(args)?;
        let orders = orders(args)?;
        let tuning = tuning(args, &limits)?;
        let model: Model = args.model.parse().map_err(usage)?;
        let mut web = Web::read(&args.graph, &limits)?;
        if let Some(path) = &args.urls {
            web.name(path, &limits)?;
        }
        let model = sized(model, args, &web)?;
        let spec = match (&args.hot, model) {
            (Some(spec), _) => spec.clone(),
            (None, Model::Buffer(room)) => HotSpec::Share(f64::from(room) / f64::from(web.nodes())),
            (None, _) => HotSpec::Share(HOT),
        };
        let hot = Hot::of(&web, &spec, args.by, &limits)?;
        Ok(Self { args, limits, web, hot, model, orders, tuning, threads: threads() })
    }

    /// Where to begin: pages that were named, or drawn.
    pub(super) fn starts(&self, count: usize) -> Result<Vec<Start>> {
        if count as u64 > self.limits.simulate_crawls_max {
            return Err(usage("that are more starts than simulate_crawls_max allows"));
        }
        if self.args.start.is_empty() {
            let starts = starts::draw(&self.web, count, self.args.seed)?;
            if starts.len() < count {
                let found = starts.len();
                // Nobody is left to tell when standard error is closed.
                let _ = writeln!(
                    std::io::stderr(),
                    "larm: only {found} pages reach half of the graph: {found} starts, not {count}"
                );
            }
            return Ok(starts);
        }
        let named = self.args.start.iter();
        named.map(|text| Ok(starts::named(&self.web, self.web.find(text.trim())?))).collect()
    }

    /// How often to begin.
    pub(super) fn count(&self) -> Result<usize> {
        match self.args.starts.unwrap_or(STARTS) {
            0 => Err(usage("--starts 0 finds out nothing")),
            count => Ok(count),
        }
    }

    /// The order's names as they were typed.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.args.orders.iter().map(|name| name.trim())
    }

    /// What the JSON says of graph and question.
    pub(super) fn head(&self) -> Value {
        let mut head = json!({
            "nodes": self.web.nodes(),
            "arcs": self.web.arcs(),
            "model": self.args.model,
            "hot": {
                "pages": self.hot.pages,
                "by": self.hot.by.map(|by| by.to_string()),
                "at_least": self.hot.least,
            },
            "seed": self.args.seed,
        });
        if let Model::Buffer(room) = self.model {
            head["buffer"] = json!(room);
        }
        head
    }

    /// What the JSON says of the starts.
    pub(super) fn starts_json(&self, starts: &[Start]) -> Value {
        let nodes = f64::from(self.web.nodes());
        let start = |start: &Start| {
            let reaches = f64::from(start.reaches) / nodes;
            json!({
                "node": self.web.label(start.node),
                "reaches": digits(reaches),
                "ran_dry_at": (start.reaches < self.web.nodes()).then(|| digits(reaches)),
            })
        };
        starts.iter().map(start).collect()
    }

    /// The graph and the question in a line.
    pub(super) fn headline(&self) -> String {
        let (nodes, arcs) = (count(u64::from(self.web.nodes())), count(self.web.arcs()));
        let hot = count(u64::from(self.hot.pages));
        let by = self.hot.by.map_or_else(|| "a list".to_owned(), |by| by.to_string());
        format!("{nodes} pages, {arcs} links; {hot} hot pages by {by}")
    }

    /// The name of the graph, for people.
    pub(super) fn graph_name(&self) -> String {
        let name = self.args.graph.file_name().unwrap_or_default().to_string_lossy();
        name.split('.').next().unwrap_or_default().to_owned()
    }
}

/// Orders as they were typed. A lone weight means that a mix was written with commas.
fn orders(args: &SimulateArgs) -> Result<Vec<Order>> {
    let mut orders: Vec<Order> = Vec::new();
    for text in &args.orders {
        let order: Order = text.parse().map_err(usage)?;
        if matches!(order.parts(), [_]) && text.contains('=') {
            let mix = "a mix is written with +, as in pagerank=2+location=1";
            return Err(usage(format!("`{text}`: one order alone needs no weight; {mix}")));
        }
        if orders.contains(&order) {
            return Err(usage(format!("`{text}` stands twice in --orders")));
        }
        orders.push(order);
    }
    Ok(orders)
}

fn tuning(args: &SimulateArgs, limits: &Limits) -> Result<Tuning> {
    if !(0.0..1.0).contains(&args.damping) {
        return Err(usage("--damping is a probability: from 0 to below 1, usually 0.85"));
    }
    if !(1.0..=1_000.0).contains(&args.growth) {
        return Err(usage("--growth is a factor: from 1 on, usually 1.1"));
    }
    // With a factor of 1, whoever asks wants it computed after every page.
    let batch_min = if args.growth == 1.0 { 1 } else { Tuning::new(limits).batch_min };
    Ok(Tuning {
        damping: args.damping,
        growth: args.growth,
        batch_min,
        seed: args.seed,
        places: args.place.clone(),
        ..Tuning::new(limits)
    })
}

fn limits(args: &SimulateArgs) -> Result<Limits> {
    let mut limits = Limits::default();
    for text in &args.limit {
        let (name, value) = text.split_once('=').ok_or_else(|| usage("--limit is NAME=N"))?;
        let value = value.trim().parse().map_err(|_| usage(format!("`{value}` is no number")))?;
        limits.set(name.trim(), value).map_err(|error| usage(error.to_string()))?;
    }
    limits.validate().map_err(|error| usage(error.to_string()))?;
    Ok(limits)
}

/// The model with the size of its buffer, and with the hot pages that were asked for.
fn sized(model: Model, args: &SimulateArgs, web: &Web) -> Result<Model> {
    if !matches!(model, Model::Buffer(_)) && args.buffer.is_some() {
        return Err(usage("--buffer belongs to --model buffer"));
    }
    match model {
        // Which pages are hot was said: then it is their share that counts, wherever a crawl is stopped.
        Model::Stop if args.hot.is_some() => Ok(Model::Threshold),
        Model::Buffer(_) => {
            let text = args.buffer.as_deref().unwrap_or("10%");
            let pages = match text.parse::<u32>() {
                Ok(pages) => Some(pages),
                Err(_) => hot::share_of(text).map(|share| (share * f64::from(web.nodes())) as u32),
            };
            let fitting = pages.filter(|pages| (1..=web.nodes()).contains(pages));
            fitting.map(Model::Buffer).ok_or_else(|| usage("--buffer is a number of pages, or 10%"))
        }
        model => Ok(model),
    }
}
