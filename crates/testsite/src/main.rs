//! Serves a test web from the command line, until standard input closes.
//!
//! Prints one JSON line with port, seeds and resolve rules as soon as it listens.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use larm_testsite::{Features, TestSite, WebPlan};

const USAGE: &str =
    "usage: larm-testsite [--demo] [--seed N] [--hosts N] [--pages N] [--named] [--gzip]
    [--hosts-per-address N] [--page-bytes N] [--links N] [--latency MS]
    [--features all|none|demo|NAME,NAME] [--log FILE] [--truth FILE] [--port N]
Serves a deterministic web on loopback until standard input closes.
Features: ";

#[derive(Default)]
struct Options {
    plan: WebPlan,
    port: u16,
    log: Option<PathBuf>,
    truth: Option<PathBuf>,
}

fn main() -> ExitCode {
    let options = match parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            let features = Features::NAMES.join(", ");
            let _ = writeln!(io::stderr(), "{problem}\n{USAGE}{features}");
            return ExitCode::from(2);
        }
    };
    match run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "larm-testsite: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options::default();
    while let Some(flag) = args.next() {
        match flag.as_str() {
            "--demo" => options.plan = WebPlan::demo(),
            "--named" => options.plan.named_hosts = true,
            "--gzip" => options.plan.gzip = true,
            _ => {
                let value = args.next().ok_or_else(|| format!("`{flag}` needs a value"))?;
                set(&mut options, &flag, &value)?;
            }
        }
    }
    Ok(options)
}

fn set(options: &mut Options, flag: &str, value: &str) -> Result<(), String> {
    let number = || value.parse::<usize>().map_err(|_| format!("`{flag} {value}` is no number"));
    let plan = &mut options.plan;
    match flag {
        "--seed" => plan.seed = number()? as u64,
        "--hosts" => plan.hosts = number()?,
        "--pages" => plan.pages_per_host = number()?,
        "--hosts-per-address" => plan.hosts_per_address = number()?,
        "--page-bytes" => plan.page_bytes = number()?,
        "--links" => plan.links_per_page = number()?,
        "--latency" | "--delay" => plan.latency_ms = number()? as u64,
        "--features" => plan.features = Features::parse(value)?,
        "--log" => options.log = Some(value.into()),
        "--truth" => options.truth = Some(value.into()),
        "--port" => {
            options.port = value.parse().map_err(|_| format!("`{value}` is no port"))?;
        }
        _ => return Err(format!("there is no option `{flag}`")),
    }
    Ok(())
}

fn run(options: Options) -> io::Result<()> {
    let site = TestSite::start_at(options.plan, options.port)?;
    if let Some(path) = &options.log {
        site.log_to(path)?;
    }
    if let Some(path) = &options.truth {
        std::fs::write(path, serde_json::to_vec(&site.truth())?)?;
    }
    let resolve: Vec<_> = site.resolve_rules().iter().map(as_flag).collect();
    let line = serde_json::json!({
        "port": site.port(),
        "seeds": site.seeds(),
        "host_seeds": site.host_seeds(),
        "resolve": resolve,
    });
    let mut out = io::stdout();
    writeln!(out, "{line}")?;
    out.flush()?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

fn as_flag((name, port, address): &(String, u16, std::net::IpAddr)) -> String {
    format!("{name}:{port}:{address}")
}
