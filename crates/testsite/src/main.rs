//! Serves a test web from the command line, until standard input closes.
//!
//! Prints one JSON line with port, seeds and resolve rules as soon as it listens.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use larm_testsite::{Features, Misbehaviour, TestSite, WebPlan};

const USAGE: &str =
    "usage: larm-testsite [--demo | --chaos] [--seed N] [--hosts N] [--pages N] [--named] [--gzip]
    [--hosts-per-address N] [--page-bytes N] [--links N] [--latency MS]
    [--features all|none|demo|NAME,NAME] [--hostile all|NAME,NAME]
    [--log FILE] [--truth FILE] [--port N]
Serves a deterministic web on loopback until standard input closes, and says on a line of JSON where.

  --chaos        500 hosts, or --hosts of them, of which a third misbehave: which and how, --seed draws.
                 Crawl them with: larm SEED --scope any --allow-private 127.0.0.0/8 --delay 0
  --hostile ...  a host for each of these ways to misbehave: at /bad, in its robots.txt, or as a whole
  --named        hosts have names; the line of JSON has what to give to --resolve
  --truth FILE   writes what a perfect crawler finds
  --log FILE     writes every request
";

/// Hosts of a web that is chaos, if nobody says otherwise.
const CHAOS_HOSTS: usize = 500;

#[derive(Default)]
struct Options {
    plan: WebPlan,
    port: u16,
    chaos: bool,
    log: Option<PathBuf>,
    truth: Option<PathBuf>,
}

fn main() -> ExitCode {
    if std::env::args().any(|arg| arg == "--help" || arg == "-h") {
        let _ = writeln!(io::stdout(), "{}", usage());
        return ExitCode::SUCCESS;
    }
    let options = match parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            let _ = writeln!(io::stderr(), "{problem}\n{}", usage());
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

fn usage() -> String {
    let ways: Vec<&str> = Misbehaviour::all().iter().map(|bad| bad.word()).collect();
    format!(
        "{USAGE}\nFeatures: {}\n\nWays to misbehave: {}",
        Features::NAMES.join(", "),
        ways.join(", ")
    )
}

fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options::default();
    while let Some(flag) = args.next() {
        match flag.as_str() {
            "--demo" => options.plan = WebPlan::demo(),
            "--chaos" => options.chaos = true,
            "--named" => options.plan.named_hosts = true,
            "--gzip" => options.plan.gzip = true,
            _ => {
                let value = args.next().ok_or_else(|| format!("`{flag}` needs a value"))?;
                set(&mut options, &flag, &value)?;
            }
        }
    }
    if options.chaos {
        let WebPlan { seed, hosts, named_hosts, .. } = options.plan;
        let hosts = if hosts == WebPlan::default().hosts { CHAOS_HOSTS } else { hosts };
        options.plan = WebPlan { named_hosts, ..WebPlan::chaos(seed, hosts) };
    }
    Ok(options)
}

/// Ways to misbehave, by name.
fn misbehaviours(names: &str) -> Result<Vec<Misbehaviour>, String> {
    if names == "all" {
        return Ok(Misbehaviour::all());
    }
    let unknown = |name: &str| format!("there is no way to misbehave named `{name}`");
    names.split(',').map(|name| Misbehaviour::named(name).ok_or_else(|| unknown(name))).collect()
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
        "--hostile" => plan.misbehaviours = misbehaviours(value)?,
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
