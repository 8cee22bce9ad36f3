//! What was typed: the flags of a crawl, which are the keys of `larm.toml` too. All optional.
//!
//! One definition feeds the parser, the help, the man page, completions, the TOML reader and
//! `docs/config.md`. What it all means is decided elsewhere: `merge` lays flags over file, `plan` turns
//! the result into a [`larm_crawl::Plan`].

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use larm_core::order::Order;
use larm_core::scope::{FilterSpec, ScopeMode};
use larm_core::signals::Use;
use serde::{Deserialize, Serialize};

use super::value::{Allowance, Concurrency, PageLimit, Rate, Share, Size, Time};

/// Settings of a crawl, as typed.
#[derive(Debug, Clone, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Settings {
    /// Where to begin: a URL, whose scheme may be left out, or a path such as ./docs
    #[arg(value_name = "URL", help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<String>,

    /// Directory of the crawl [default: ./NAME.larm, after the first URL]
    #[arg(short, long, value_name = "DIR", help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<PathBuf>,

    /// Read more URLs from a file, one a line; `-` is standard input
    #[arg(short, long, value_name = "FILE", help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<PathBuf>,

    /// Begin with the URLs of a sitemap (repeatable)
    #[arg(long, value_name = "URL", help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sitemap: Vec<String>,

    /// How far around each URL: host, domain, subdomains, prefix, any [default: host]
    #[arg(long, value_name = "SCOPE", value_parser = scope, help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<ScopeMode>,

    /// Follow only URLs that match one of these patterns (repeatable)
    #[arg(long, value_name = "RE", help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,

    /// Follow no URL that matches one of these patterns (repeatable)
    #[arg(long, value_name = "RE", help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,

    /// Follow only URLs that match this one pattern
    #[arg(long, value_name = "RE", conflicts_with = "include", help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restrict_to: Option<String>,

    /// Hops from a seed; 0 fetches the seeds alone [default: 1000]
    #[arg(long, value_name = "N", help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,

    /// Keep only these content types, such as text/html,audio/* [default: all]
    #[arg(long, value_name = "TYPES", value_delimiter = ',', help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<String>,

    /// Keep PDFs without reading them for text, title and links
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_name = "BOOL", hide_possible_values = true, help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_pdf: Option<bool>,

    /// Fetch what pages embed: images, styles, scripts, fonts [default: no]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_name = "BOOL", hide_possible_values = true, help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assets: Option<bool>,

    /// In a tree of files, follow symbolic links that lead out of it [default: no]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_name = "BOOL", hide_possible_values = true, help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follow_symlinks: Option<bool>,

    /// A file of hosts to leave alone, read again whenever it changes
    #[arg(long, value_name = "FILE", help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<PathBuf>,

    /// Query parameters to drop from URLs; `utm_*` stands for any ending [default: tracking, sessions]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop_params: Option<Vec<String>>,

    /// Sort the parameters of queries, so that their order makes no other URL [default: no]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_name = "BOOL", hide_possible_values = true, help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort_query: Option<bool>,

    /// Which waiting page comes next: breadth, pagerank, backlinks, opic, location, hubs, fresh and others, or
    /// several with weights, such as pagerank=2,location=1 [default: breadth]
    #[arg(long, value_name = "ORDER", help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,

    /// Look for pages about this, the likeliest links first
    #[arg(long, value_name = "WORDS", help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,

    /// Look for pages like this one: a file or a URL (repeatable)
    #[arg(long, value_name = "FILE|URL", help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub like: Vec<String>,

    /// And not like this one: a file or a URL (repeatable)
    #[arg(long, value_name = "FILE|URL", help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unlike: Vec<String>,

    /// For orders by location: URLs that match are worth so many doublings more, or less, as in
    /// '/team/=2' (repeatable)
    #[arg(long, value_name = "RE=POINTS", help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub place: Vec<String>,

    /// Stop after this many pages, over all runs, or none
    #[arg(long, value_name = "N|none", help_heading = "How much")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_pages: Option<PageLimit>,

    /// Stop after this time, such as 30m or 8h
    #[arg(long, value_name = "TIME", help_heading = "How much")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_time: Option<Time>,

    /// Stop after this much was received, such as 500MB or 10GB
    #[arg(long, value_name = "SIZE", help_heading = "How much")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_size: Option<Size>,

    /// Stop when fewer of the last pages were good than this, such as 5%: about what --query or --like look
    /// for, or else with new text
    #[arg(long, value_name = "SHARE", help_heading = "How much")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_below: Option<Share>,

    /// For --stop-below: of so many pages, the last ones [default: 500]
    #[arg(long, value_name = "N", help_heading = "How much")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_window: Option<u64>,

    /// For --stop-below: how relevant a good page is at least, from 0 to 1 [default: 0.5]
    #[arg(long, value_name = "R", help_heading = "How much")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub good_above: Option<f32>,

    /// Cut larger pages at this size [default: 20MB]
    #[arg(long, value_name = "SIZE", help_heading = "How much")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_page_size: Option<Size>,

    /// At most this many pages of each host
    #[arg(long, value_name = "N", help_heading = "How much")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_host: Option<u64>,

    /// Pages of a host before it has shown new text that earns it more, or off [default: off; 1000 with
    /// --scope any]
    #[arg(long, value_name = "N|off", help_heading = "How much")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_budget: Option<Allowance>,

    /// The same for all hosts of a site together [default: off; 5000 with --scope any]
    #[arg(long, value_name = "N|off", help_heading = "How much")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site_budget: Option<Allowance>,

    /// Pages with nothing new after which URLs of the same shape wait, or off [default: 30]
    #[arg(long, value_name = "N|off", help_heading = "How much")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern_budget: Option<Allowance>,

    /// Pause between two requests to a host [default: 1s]
    #[arg(long, value_name = "TIME", help_heading = "How fast")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Time>,

    /// Fetches at a time, over all hosts; auto finds the fastest number [default: auto]
    #[arg(long, value_name = "N|auto", help_heading = "How fast")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<Concurrency>,

    /// Threads to fetch and parse with [default: one per core]
    #[arg(long, value_name = "N", help_heading = "How fast")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,

    /// Requests per second, over all hosts [default: none]
    #[arg(long, value_name = "N/s|none", help_heading = "How fast")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,

    /// Your address for webmasters, a URL or e-mail: becomes part of the user agent
    #[arg(long, value_name = "CONTACT", help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,

    /// Another user agent [default: larm/VERSION (+CONTACT)]
    #[arg(long, value_name = "TEXT", help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,

    /// Send this header (repeatable): to the hosts of the URLs you give alone, unless it is a harmless
    /// one such as Accept-Language
    #[arg(long, value_name = "NAME: VALUE", help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub header: Vec<String>,

    /// Answer a server that asks who you are: USER:PASSWORD, or env:NAME; for the hosts of the URLs you
    /// give alone
    #[arg(long, value_name = "USER:PASSWORD", help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basic_auth: Option<String>,

    /// Send this token as Authorization, or env:NAME; to the hosts of the URLs you give alone
    #[arg(long, value_name = "TOKEN", help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer: Option<String>,

    /// Keep the cookies of each site, and send them back to it [default: no]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_name = "BOOL", hide_possible_values = true, help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cookies: Option<bool>,

    /// The same, with this file read at the start and written as they change
    #[arg(long, value_name = "FILE", help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cookie_jar: Option<PathBuf>,

    /// Ask by way of a proxy: http://, https://, socks5:// (names are looked up here) or socks5h://;
    /// `none` for no proxy at all [default: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY]
    #[arg(long, value_name = "URL", help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,

    /// Names and networks that are asked without the proxy [default: NO_PROXY]
    #[arg(long, value_name = "LIST", help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_proxy: Option<String>,

    /// Speak HTTP/2 with servers that know it; what is archived is then written down by larm, not what
    /// came over the wire [default: no]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_name = "BOOL", hide_possible_values = true, help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http2: Option<bool>,

    /// Fetch what robots.txt forbids; for your own sites
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_name = "BOOL", hide_possible_values = true, help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_robots: Option<bool>,

    /// Keep nothing whose owner reserves these uses: search, ai-input, ai-train, tdm
    #[arg(long, value_name = "USES", value_delimiter = ',', help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub respect_signals: Vec<Use>,

    /// Ask each site for its /.well-known/tdmrep.json, too; --respect-signals tdm does
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_name = "BOOL", hide_possible_values = true, help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tdmrep: Option<bool>,

    /// Do not ask hosts whose pages look alike for a path that cannot be there
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_name = "BOOL", hide_possible_values = true, help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_probe: Option<bool>,

    /// What to do about pages that are there already: nearly the same words, mirrors of a host, index files
    /// of directories. Mark them, and stop at them; mark them and go on; or do not look
    #[arg(long, value_name = "WHAT", help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<Duplicates>,

    /// For /a/b/page.html also ask for /a/b/, /a/ and /, though nobody links to them
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_name = "BOOL", hide_possible_values = true, help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_ascending: Option<bool>,

    /// Do not look for /sitemap.xml where robots.txt names no sitemap
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_name = "BOOL", hide_possible_values = true, help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_sitemap: Option<bool>,

    /// Sign requests with this Ed25519 key (Web Bot Auth); `larm key new` makes one
    #[arg(long, value_name = "FILE", help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sign_key: Option<PathBuf>,

    /// Where the key is published, the URL of its site: goes with --sign-key
    #[arg(long, value_name = "URL", help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature_agent: Option<String>,

    /// You may treat these sites as you like: goes with --ignore-robots and --delay 0
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_name = "BOOL", hide_possible_values = true, help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub i_own_this_site: Option<bool>,

    /// Let pages lead into this private network, such as 10.0.0.0/8 (repeatable)
    #[arg(long, value_name = "CIDR", help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_private: Vec<String>,

    /// Ask public addresses alone, even where a URL that you give leads elsewhere [default: no]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_name = "BOOL", hide_possible_values = true, help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_only: Option<bool>,

    /// Ask these hosts and no others, whatever leads there: a name, *.NAME for all below it, too, an
    /// address or a network (repeatable)
    #[arg(long, value_name = "HOST", help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_target: Vec<String>,

    /// Use this address for a host instead of asking DNS (repeatable)
    #[arg(long, value_name = "HOST:PORT:ADDR", help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resolve: Vec<String>,

    /// Accept any TLS certificate; for your own machines
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_name = "BOOL", hide_possible_values = true, help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insecure: Option<bool>,

    /// Trust the certificate authorities in this PEM file, too
    #[arg(long, value_name = "FILE", help_heading = "How to ask")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,

    /// How to keep pages: gzip (WARC files), none [default: gzip]
    #[arg(
        long,
        value_name = "KIND",
        value_enum,
        hide_possible_values = true,
        help_heading = "What to keep"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warc: Option<Warc>,

    /// At the end, keep this many pages, those that the order of the crawl thinks most of (without one, by
    /// PageRank), and drop all others from archive, page list and index
    #[arg(long, value_name = "N", help_heading = "What to keep")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_best: Option<u64>,

    /// Put the text of each page into the list of pages
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_name = "BOOL", hide_possible_values = true, help_heading = "What to keep")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_text: Option<bool>,

    /// Leave out the list of pages
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_name = "BOOL", hide_possible_values = true, help_heading = "What to keep")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_pages: Option<bool>,

    /// Leave out the log of links; `larm why` then does not know who links to a page
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_name = "BOOL", hide_possible_values = true, help_heading = "What to keep")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_links: Option<bool>,

    /// Keep no search index
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_name = "BOOL", hide_possible_values = true, help_heading = "What to keep")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_index: Option<bool>,

    /// Write the crawl log's lines there as well; `-` or nothing is standard output
    #[arg(long, num_args = 0..=1, default_missing_value = "-", value_name = "FILE",
        help_heading = "What to keep")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jsonl: Option<PathBuf>,

    /// Set one of the limits of docs/config.md (repeatable)
    #[arg(long = "limit", value_name = "NAME=VALUE", help_heading = "How much")]
    #[serde(skip)]
    pub limit: Vec<String>,

    /// Limits by name.
    #[arg(skip)]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, u64>,

    /// Hosts with settings of their own.
    #[arg(skip)]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub host: BTreeMap<String, HostSettings>,

    /// Hosts to log in to.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub login: Vec<LoginSettings>,

    /// The filters, in order, in place of the default ones.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filters: Option<Vec<FilterSpec>>,
}

/// Settings of one host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct HostSettings {
    /// Pause between two requests to this host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Time>,
    /// Headers for it alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub header: Vec<String>,
    /// User and password for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basic_auth: Option<String>,
    /// A token for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer: Option<String>,
}

/// How to log in to one host with a form.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LoginSettings {
    /// The page with the form.
    pub url: String,
    /// Name or id of the form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// What to fill in.
    pub fields: BTreeMap<String, String>,
    /// What the page behind it shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_text: Option<String>,
    /// The cookie that is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_cookie: Option<String>,
}

/// What is done about pages that are there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Duplicates {
    /// They are marked, their links are not followed, and aliases are not asked.
    Stop,
    /// They are marked, and fetched and followed like all others.
    Mark,
    /// Nobody looks.
    Off,
}

/// How pages are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Warc {
    /// WARC files, compressed.
    Gzip,
    /// Not at all.
    None,
}

fn scope(text: &str) -> Result<ScopeMode, String> {
    let known = ScopeMode::ALL.into_iter().find(|mode| mode.word() == text);
    let words = || ScopeMode::ALL.map(ScopeMode::word).join(", ");
    known.ok_or_else(|| format!("`{text}` is no scope; there are {}", words()))
}
