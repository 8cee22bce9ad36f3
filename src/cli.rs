//! The command line: every command and the flags that belong to a run rather than to a crawl.
//!
//! The settings of a crawl are in `config::raw`, since they are keys of `larm.toml` too.

mod graph;
mod serve;
mod simulate;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use self::graph::{GraphArgs, GraphForm, GraphOrder};
pub use self::serve::{Dashboard, ServeArgs};
pub use self::simulate::SimulateArgs;
use crate::config::Settings;

/// A polite web crawler that keeps exactly what it saw.
#[derive(Debug, Parser)]
#[command(name = "larm", version, max_term_width = 100, disable_help_subcommand = false)]
#[command(after_help = EXAMPLES)]
#[command(subcommand_required = true, arg_required_else_help = false)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What is shown below the help.
pub const EXAMPLES: &str = "\
Examples:
  larm example.com                     crawl a host into ./example.com.larm
  larm example.com --max-pages 100     the same, at most 100 pages
  larm why example.com.larm URL        was it fetched; if not, why not
  larm search example.com.larm WORDS   the pages that say so

`larm URL…` is short for `larm crawl URL…`. Try `larm demo`: it needs no network.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Crawl; on an existing directory: go on
    Crawl(CrawlArgs),
    /// Go on with a crawl, with the settings it has
    Resume(ResumeArgs),
    /// Let a running crawl rest; `larm resume` wakes it
    Pause(DirArgs),
    /// End a running crawl; it can go on later
    Stop(DirArgs),
    /// How a crawl stands
    Status(StatusArgs),
    /// Change a setting of a running crawl
    Set(SetArgs),
    /// Was this URL fetched; if not, which rule said no, and who links to it
    Why(WhyArgs),
    /// Print a page from the archive
    Cat(CatArgs),
    /// Who links to a page, and where it leads
    Links(LinksArgs),
    /// The graph of pages and links: what matters, what hangs together, for other tools
    Graph(GraphArgs),
    /// Crawl a stored graph virtually: which order finds the important pages first
    Simulate(SimulateArgs),
    /// Make index, graph, page list and CDXJ anew from the archive, without a request
    Rebuild(RebuildArgs),
    /// Keep the best pages of a crawl, and drop the others from archive, page list and index
    Compact(CompactArgs),
    /// Search the pages of a crawl, running or not
    Search(SearchArgs),
    /// Start, watch, steer and search crawls in the browser, and by an API
    Serve(ServeArgs),
    /// What larm makes of a URL, a robots.txt or a page
    #[command(subcommand)]
    Inspect(Inspect),
    /// A key to sign requests with, and what to publish of it
    #[command(subcommand)]
    Key(Key),
    /// A small web on this machine, crawled before your eyes
    Demo(DemoArgs),
    /// Check this machine: disk, names, certificates, limits
    Doctor,
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Man,
    /// Print docs/config.md
    #[command(hide = true)]
    ConfigDoc,
    /// Read one PDF from standard input, for a crawl
    #[command(hide = true)]
    ReadPdf,
}

/// `larm crawl`.
#[derive(Debug, Args)]
pub struct CrawlArgs {
    /// What to crawl and how.
    #[command(flatten)]
    pub settings: Settings,
    /// About this run.
    #[command(flatten)]
    pub run: RunArgs,
    /// Read settings from this file [default: ./larm.toml, if it is there]
    #[arg(long, value_name = "FILE", help_heading = "This run")]
    pub config: Option<PathBuf>,
    /// Set an existing directory aside (as DIR.old-N) and begin anew
    #[arg(long, help_heading = "This run")]
    pub fresh: bool,
    /// Print the resolved settings as TOML, and do nothing
    #[arg(long, help_heading = "This run")]
    pub dry_run: bool,
}

/// Flags of a run that say nothing about the crawl.
#[derive(Debug, Clone, Default, Args)]
pub struct RunArgs {
    /// Print errors only
    #[arg(short, long, help_heading = "This run", conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print a line for each URL; twice: more about the inside
    #[arg(short, long, action = clap::ArgAction::Count, help_heading = "This run")]
    pub verbose: u8,
    /// Show no progress
    #[arg(long, help_heading = "This run")]
    pub no_progress: bool,
    /// Show the crawl in the browser while it runs, at this address; `off` for not [default: off; with no
    /// address 127.0.0.1:7878]
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true,
        default_missing_value = "127.0.0.1:7878", help_heading = "This run")]
    pub dashboard: Option<Dashboard>,
    /// Form of log messages: text, json [default: text]
    #[arg(
        long,
        value_name = "FORM",
        value_enum,
        hide_possible_values = true,
        hide_default_value = true,
        default_value_t,
        help_heading = "This run"
    )]
    pub log_format: LogFormat,
}

/// Form of log messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// `larm resume`.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The crawl directory
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Settings to change, and further seeds.
    #[command(flatten)]
    pub settings: Settings,
    /// About this run.
    #[command(flatten)]
    pub run: RunArgs,
}

/// A command about a crawl as a whole.
#[derive(Debug, Args)]
pub struct DirArgs {
    /// The crawl directory
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}

/// `larm status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// The crawl directory
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// What each host is doing, and what it waits for; N of them
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20")]
    pub hosts: Option<usize>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `larm set`.
#[derive(Debug, Args)]
pub struct SetArgs {
    /// The crawl directory
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// delay=2s, rate=5 or none, concurrency=8 or auto, max-pages=500 or none, exclude=RE, unexclude=RE,
    /// block=HOST, unblock=HOST, host-delay=HOST:5s, host-pause=HOST, host-resume=HOST
    #[arg(value_name = "KEY=VALUE", required = true)]
    pub changes: Vec<String>,
}

/// `larm why`.
#[derive(Debug, Args)]
pub struct WhyArgs {
    /// The crawl directory
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The URL in question
    #[arg(value_name = "URL")]
    pub url: String,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `larm cat`.
#[derive(Debug, Args)]
pub struct CatArgs {
    /// The crawl directory
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The page
    #[arg(value_name = "URL")]
    pub url: String,
    /// What to print instead of the body.
    #[command(flatten)]
    pub form: CatForm,
    /// With --text or --markdown: all that a reader sees, not only the main part
    #[arg(long)]
    pub whole: bool,
}

/// What `larm cat` prints; the body if nothing is said.
#[derive(Debug, Clone, Copy, Args)]
#[group(multiple = false)]
pub struct CatForm {
    /// The response's status line and headers
    #[arg(long)]
    pub headers: bool,
    /// The response byte for byte as it came, headers included
    #[arg(long)]
    pub raw: bool,
    /// The text of its main part, without navigation and frame
    #[arg(long)]
    pub text: bool,
    /// The same as Markdown
    #[arg(long)]
    pub markdown: bool,
    /// Everything known about it, as JSON
    #[arg(long)]
    pub json: bool,
}

/// `larm compact`.
#[derive(Debug, Args)]
pub struct CompactArgs {
    /// The crawl directory
    pub dir: PathBuf,
    /// How many pages to keep [default: as the crawl was told]
    #[arg(long, value_name = "N")]
    pub keep_best: Option<u64>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `larm rebuild`.
#[derive(Debug, Args)]
pub struct RebuildArgs {
    /// The crawl directory; a new one for archives from elsewhere
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Archives from elsewhere to bring in: .warc.gz or .warc
    #[arg(value_name = "WARC")]
    pub archives: Vec<PathBuf>,
    /// Make the crawl's state anew, too, from the archive alone
    #[arg(long)]
    pub state: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `larm links`.
#[derive(Debug, Args)]
pub struct LinksArgs {
    /// The crawl directory
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The page; without one: every visit with its links, one JSON object a line
    #[arg(value_name = "URL")]
    pub url: Option<String>,
    /// Only who links to it
    #[arg(long = "in", requires = "url", conflicts_with = "outgoing")]
    pub incoming: bool,
    /// Only where it leads
    #[arg(long = "out", requires = "url")]
    pub outgoing: bool,
    /// Links of each kind at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: usize,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `larm search`.
#[derive(Debug, Args)]
#[command(after_help = QUERIES)]
pub struct SearchArgs {
    /// The crawl directory
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// What to look for
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    /// Only pages of this host
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// Only pages of this domain and all below it
    #[arg(long, value_name = "DOMAIN")]
    pub site: Option<String>,
    /// Only pages of this type: html, pdf, text/plain
    #[arg(long = "type", value_name = "TYPE")]
    pub media: Option<String>,
    /// Only pages in this language: en, de
    #[arg(long, value_name = "LANG")]
    pub lang: Option<String>,
    /// Only pages of this day or later: 2026-11-15, 2026-11, 2026
    #[arg(long, value_name = "DATE")]
    pub since: Option<String>,
    /// Only pages of this day or earlier
    #[arg(long, value_name = "DATE")]
    pub until: Option<String>,
    /// Hits to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub limit: usize,
    /// Hits to leave out: those that were shown before
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub offset: usize,
    /// Show pages that say nearly the same as others, too
    #[arg(long)]
    pub similar: bool,
    /// Say where each score comes from
    #[arg(long)]
    pub explain: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// What is shown below the help of `larm search`.
const QUERIES: &str = "\
Queries:
  wing lift            either word; pages with both come first
  '\"boundary layer\"'   these words next to each other
  +wing -tail          with the one and without the other
  aero*                words that begin like this
  title:wing           there: title, heading, text, url, anchor
  host:example.org     also site: type: lang: since: until:";

/// `larm inspect`.
#[derive(Debug, Subcommand)]
pub enum Inspect {
    /// The canonical form of URLs
    Url(InspectUrl),
    /// What a robots.txt says about URLs
    Robots(InspectRobots),
    /// What larm reads in a page
    Page(InspectPage),
}

/// `larm inspect url`.
#[derive(Debug, Args)]
pub struct InspectUrl {
    /// URLs, or link texts with --base
    #[arg(value_name = "URL", required_unless_present = "jsonl")]
    pub urls: Vec<String>,
    /// The URL that links are resolved against
    #[arg(long, value_name = "URL")]
    pub base: Option<String>,
    /// One JSON object a line from standard input: {"url", "base"?}
    #[arg(long, conflicts_with_all = ["urls", "base"])]
    pub jsonl: bool,
}

/// `larm inspect robots`.
#[derive(Debug, Args)]
pub struct InspectRobots {
    /// The robots.txt; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "jsonl")]
    pub file: Option<PathBuf>,
    /// URLs or paths to ask about
    #[arg(value_name = "URL")]
    pub urls: Vec<String>,
    /// Product token or whole user agent
    #[arg(long, value_name = "AGENT", default_value = "larm")]
    pub agent: String,
    /// One JSON object a line from standard input: {"robots", "agent", "url"}
    #[arg(long, conflicts_with_all = ["file", "urls"])]
    pub jsonl: bool,
}

/// `larm inspect page`.
#[derive(Debug, Args)]
pub struct InspectPage {
    /// The page; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "jsonl")]
    pub file: Option<PathBuf>,
    /// Where the page is from
    #[arg(long, value_name = "URL", required_unless_present = "jsonl")]
    pub url: Option<String>,
    /// Its Content-Type [default: found out from its first bytes]
    #[arg(long, value_name = "TYPE")]
    pub content_type: Option<String>,
    /// One JSON object a line from standard input: {"url", "content_type"?, "body_base64"}
    #[arg(long, conflicts_with_all = ["file", "url", "content_type"])]
    pub jsonl: bool,
}

/// `larm key`.
#[derive(Debug, Subcommand)]
pub enum Key {
    /// Make a key, and print the directory to publish
    New(KeyArgs),
    /// Print the directory to publish for a key
    Show(KeyArgs),
}

/// Which key.
#[derive(Debug, Args)]
pub struct KeyArgs {
    /// The file of the key: yours alone
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// `larm demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Keep the result in ./larm-demo-N.larm rather than among temporary files
    #[arg(long)]
    pub keep: bool,
}

/// `larm completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// bash, zsh, fish, elvish or powershell
    #[arg(value_name = "SHELL", value_enum, hide_possible_values = true)]
    pub shell: clap_complete::Shell,
}
