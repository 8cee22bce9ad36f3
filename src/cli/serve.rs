//! `larm serve`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use crate::config::value::Size;
use crate::server::TOKEN_VARIABLE;

/// `larm serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ServeArgs {
    /// Crawl directories to show
    #[arg(value_name = "DIR")]
    pub dirs: Vec<PathBuf>,
    /// Where new crawls are made; all crawls in it are shown
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Where to listen
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    pub listen: Listen,
    /// What opens the server [default: a random one, printed with the link]
    #[arg(long, value_name = "TOKEN", env = TOKEN_VARIABLE, hide_env_values = true)]
    pub token: Option<String>,
    /// A name by which it is asked, such as that of a proxy in front of it (repeatable)
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// Crawls started here ask these hosts and no others: a name, *.NAME for all below it, too, an address
    /// or a network (repeatable)
    #[arg(long, value_name = "HOST")]
    pub allow_target: Vec<String>,
    /// Whoever has the token may do all that you may: crawl private hosts and files, name files of this machine
    #[arg(long)]
    pub trusted: bool,
    /// Serve only search over the crawls, to everybody
    #[arg(long, conflicts_with_all = ["root", "trusted"])]
    pub public_search: bool,
    /// Fetches at a time, over all crawls that run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub concurrency_max: Option<u64>,
    /// Bytes per second, over all crawls that run, such as 5MB
    #[arg(long, value_name = "SIZE")]
    pub bandwidth_max: Option<Size>,
    /// Let crawls go on when the server ends
    #[arg(long)]
    pub leave_running: bool,
    /// Set one of the limits of docs/config.md (repeatable)
    #[arg(long = "limit", value_name = "NAME=VALUE")]
    pub limit: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  larm serve                           the page for crawls in this directory
  larm serve example.com.larm          the same for one crawl
  larm serve --root /var/lib/larm      new crawls are made there
  curl -H \"Authorization: Bearer $LARM_TOKEN\" http://127.0.0.1:7878/api/v1/crawls";

/// Where to listen: an address with its port, or a port alone, which is one of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listen(pub SocketAddr);

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let here = |port: &str| Some((Ipv4Addr::LOCALHOST, port.parse().ok()?).into());
        let named = text.strip_prefix("localhost:").unwrap_or(text);
        let at = text.parse().ok().or_else(|| here(named));
        at.map(Self).ok_or_else(|| {
            format!("`{text}` is no address; write it like 127.0.0.1:7878, or the port alone")
        })
    }
}

/// Where the page of a crawl is shown, or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dashboard(pub Option<SocketAddr>);

impl Dashboard {
    /// Where it is shown if nothing is said.
    pub const USUAL: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7878);
}

impl FromStr for Dashboard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "off" => Ok(Self(None)),
            "on" => Ok(Self(Some(Self::USUAL))),
            text => {
                let at = text.parse::<Listen>().map_err(|error| format!("{error}, or off"))?;
                Ok(Self(Some(at.0)))
            }
        }
    }
}
