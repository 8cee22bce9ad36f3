//! Which settings may come from elsewhere: crawls that are made through the API run on this machine, with its
//! files, its network and its name.
//!
//! Every key of `larm.toml` stands in one row of [`TABLE`]. What would read or write files here, lead into
//! private networks, take secrets from the environment, or be impolite in our name, needs `larm serve --trusted`.
//! A key that is in no row fails a test, and is refused.

use std::net::IpAddr;

use larm_core::scope::Target;
use larm_core::url::CrawlUrl;
use larm_server::Problem;
use serde_json::{Map, Value};

use crate::config::Config;

/// Who may set a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum May {
    /// Whoever has the token.
    Anyone,
    /// The same, where `--trusted` says that they may do all that the operator may.
    Trusted,
    /// Nobody: the server itself says it.
    Nobody,
}

/// Every key of `larm.toml`.
#[rustfmt::skip]
pub const TABLE: &[(&str, May)] = &[
    ("seeds", May::Anyone),             // files and private hosts: checked one by one
    ("sitemap", May::Anyone),           // the same
    ("scope", May::Anyone),
    ("include", May::Anyone),
    ("exclude", May::Anyone),
    ("restrict-to", May::Anyone),
    ("depth", May::Anyone),
    ("accept", May::Anyone),
    ("no-pdf", May::Anyone),
    ("assets", May::Anyone),
    ("drop-params", May::Anyone),
    ("sort-query", May::Anyone),
    ("order", May::Anyone),
    ("query", May::Anyone),
    ("like", May::Anyone),              // URLs; files are refused
    ("unlike", May::Anyone),            // the same
    ("place", May::Anyone),
    ("max-pages", May::Anyone),
    ("max-time", May::Anyone),
    ("max-size", May::Anyone),
    ("max-page-size", May::Trusted),    // memory
    ("per-host", May::Anyone),
    ("host-budget", May::Anyone),
    ("site-budget", May::Anyone),
    ("pattern-budget", May::Anyone),
    ("delay", May::Anyone),             // 0 needs i-own-this-site
    ("concurrency", May::Anyone),
    ("threads", May::Trusted),          // this machine's
    ("rate", May::Anyone),
    ("contact", May::Anyone),
    ("user-agent", May::Anyone),
    ("header", May::Anyone),            // but none from files or the environment
    ("basic-auth", May::Anyone),        // the same
    ("bearer", May::Anyone),            // the same
    ("cookies", May::Anyone),
    ("host", May::Anyone),              // the same
    ("login", May::Anyone),             // the same
    ("http2", May::Anyone),
    ("respect-signals", May::Anyone),
    ("tdmrep", May::Anyone),
    ("no-probe", May::Anyone),
    ("duplicates", May::Anyone),
    ("path-ascending", May::Anyone),
    ("stop-below", May::Anyone),
    ("stop-window", May::Anyone),
    ("good-above", May::Anyone),
    ("keep-best", May::Anyone),
    ("no-sitemap", May::Anyone),
    ("warc", May::Anyone),
    ("page-text", May::Anyone),
    ("no-pages", May::Anyone),
    ("no-links", May::Anyone),
    ("no-index", May::Anyone),
    ("follow-symlinks", May::Trusted),  // files
    ("block", May::Trusted),            // reads a file
    ("cookie-jar", May::Trusted),       // reads and writes one
    ("ca-file", May::Trusted),          // reads one
    ("sign-key", May::Trusted),         // reads one, and signs in our name
    ("signature-agent", May::Trusted),  // the same
    ("proxy", May::Trusted),            // connects to where it says
    ("no-proxy", May::Trusted),         // goes round the operator's
    ("ignore-robots", May::Trusted),    // in our name
    ("i-own-this-site", May::Trusted),  // a promise of the operator's
    ("allow-private", May::Trusted),    // leads into private networks
    ("resolve", May::Trusted),          // the same
    ("insecure", May::Trusted),
    ("limits", May::Trusted),           // memory and disk
    ("filters", May::Trusted),          // could leave out those that confine
    ("output", May::Nobody),            // the server says where
    ("input", May::Nobody),             // reads a file, and seeds can be given as such
    ("jsonl", May::Nobody),             // writes one
    ("public-only", May::Nobody),       // the server says so
    ("allow-target", May::Nobody),      // the same
];

/// Keys whose values can be names of variables or files that hold the secret itself.
const SECRETS: [&str; 5] = ["header", "basic-auth", "bearer", "host", "login"];

/// Keys of which each value is a URL, or else the name of a file.
const PLACES: [&str; 4] = ["seeds", "sitemap", "like", "unlike"];

/// What is allowed to whoever makes crawls here.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// They may do all that the operator may.
    pub trusted: bool,
    /// The only hosts; none named means all public ones.
    pub targets: Vec<Target>,
}

impl Policy {
    /// Refuses keys and values that are not for everybody.
    pub fn check(&self, settings: &Map<String, Value>) -> Result<(), Problem> {
        settings.iter().try_for_each(|(key, value)| self.check_one(key, value))
    }

    fn check_one(&self, key: &str, value: &Value) -> Result<(), Problem> {
        let refused = |why: &str| {
            Err(Problem::invalid(key, format!("`{key}` cannot be set here: {why}."))
                .hint("Whoever runs the server can allow it with `larm serve --trusted`."))
        };
        match may(key) {
            // What no key is called is told by whoever reads the settings.
            None => return Ok(()),
            Some(May::Nobody) => {
                let detail = format!("`{key}` is for the server to say, not for a crawl.");
                return Err(Problem::invalid(key, detail));
            }
            Some(May::Trusted) if !self.trusted => return refused("it is for the operator"),
            Some(_) if self.trusted => return Ok(()),
            Some(_) => {}
        }
        if SECRETS.contains(&key) && texts(value).any(names_a_secret) {
            return refused("it would read a file or a variable of this machine");
        }
        if let Some(text) = texts(value).find(|text| PLACES.contains(&key) && !is_web(text)) {
            if !names_a_file(text) {
                let shown = larm_core::parse::cut(text, 200);
                let detail =
                    format!("`{shown}` is no address of a web page, such as https://example.com/.");
                return Err(Problem::invalid(key, detail));
            }
            return refused("it names a file of this machine");
        }
        if key == "seeds"
            && let Some(text) = texts(value).find(|text| text.trim().contains(char::is_whitespace))
        {
            let shown = larm_core::parse::cut(text, 200);
            let detail =
                format!("`{shown}` has white space in it: one address each, with %20 for a space.");
            return Err(Problem::invalid(key, detail));
        }
        Ok(())
    }

    /// Refuses seeds that are not for everybody.
    pub fn check_seeds(&self, config: &Config) -> Result<(), Problem> {
        config.seeds.all().try_for_each(|seed| self.check_seed(seed))
    }

    fn check_seed(&self, seed: &CrawlUrl) -> Result<(), Problem> {
        let named = |target: &Target| target.holds(seed);
        if !self.targets.is_empty() && !self.targets.iter().any(named) {
            let detail =
                format!("{} is not among the hosts that may be crawled here.", seed.host());
            return Err(Problem::invalid("seeds", detail)
                .hint("GET /api/v1/server lists them; `larm serve --allow-target` adds one."));
        }
        let is_allowed =
            self.trusted || self.targets.iter().any(|target| target.is_exact() && named(target));
        if !is_allowed && (seed.is_file() || is_inside(seed)) {
            let detail = format!("{seed} is on this machine or in a private network.");
            return Err(Problem::invalid("seeds", detail).hint(
                "Whoever runs the server can allow it with --allow-target and its host, or --trusted.",
            ));
        }
        Ok(())
    }

    /// Whether names may lead to public addresses only: nobody answers for where the others lead.
    pub fn is_public_only(&self, config: &Config) -> bool {
        let named = |seed: &CrawlUrl| {
            self.targets.iter().any(|target| target.is_exact() && target.holds(seed))
        };
        !self.trusted && !config.seeds.all().all(named)
    }
}

/// Who may set a key.
pub fn may(key: &str) -> Option<May> {
    TABLE.iter().find(|(name, _)| *name == key).map(|(_, may)| *may)
}

/// Every text in a value.
fn texts(value: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    match value {
        Value::String(text) => Box::new(std::iter::once(text.as_str())),
        Value::Array(values) => Box::new(values.iter().flat_map(texts)),
        Value::Object(values) => Box::new(values.values().flat_map(texts)),
        _ => Box::new(std::iter::empty()),
    }
}

/// `env:NAME` or `file:PATH`, alone or behind the name of a header.
fn names_a_secret(text: &str) -> bool {
    let value = text.split_once(':').map_or("", |(_, value)| value.trim_start());
    let is_named = |text: &str| text.starts_with("env:") || text.starts_with("file:");
    is_named(text.trim_start()) || is_named(value)
}

/// A URL of the web, or a name that will be taken for one: nothing that is looked up among files.
fn is_web(text: &str) -> bool {
    let text = text.trim();
    match text.split_once("://") {
        Some((scheme, _)) => ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web)),
        None => {
            let host = text.split(['/', '?', '#']).next().unwrap_or_default();
            let is_path = text.starts_with(['/', '.', '~', '\\']) || text.contains('\\');
            !is_path
                && (host.contains('.') || host.contains(':') || host == "localhost")
                && !text.to_ascii_lowercase().starts_with("file:")
        }
    }
}

fn names_a_file(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(['/', '.', '~', '\\'])
        || text.contains(['/', '\\'])
        || text.to_ascii_lowercase().starts_with("file:")
}

/// Whether a host is inside, as far as can be told without asking DNS. What a name leads to is checked by the
/// crawl, on the address itself.
fn is_inside(seed: &CrawlUrl) -> bool {
    let host = seed.host();
    let inside =
        |address: IpAddr| larm_crawl::fetch::Guard::default().check(host, seed.port(), address);
    let is_name = !host.contains('.') || host.ends_with(".localhost");
    seed.ip().map_or(is_name, |address| inside(address).is_err())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::config::Settings;

    /// serde names all keys when it meets one that is none of them.
    fn keys() -> BTreeSet<String> {
        let error = serde_json::from_value::<Settings>(json!({"no-such-key": 1})).unwrap_err();
        let message = error.to_string();
        message.split('`').skip(3).step_by(2).map(str::to_owned).collect()
    }

    fn check(policy: &Policy, settings: Value) -> Result<(), Problem> {
        policy.check(settings.as_object().unwrap())
    }

    #[test]
    fn every_key_stands_in_one_row_and_no_row_is_for_nothing() {
        let rows: Vec<String> = TABLE.iter().map(|(key, _)| (*key).to_owned()).collect();
        let distinct: BTreeSet<String> = rows.iter().cloned().collect();
        assert_eq!(distinct.len(), rows.len(), "a key stands in two rows");
        assert_eq!(distinct, keys());
    }

    #[test]
    fn settings_that_reach_into_this_machine_are_refused() {
        let rows = [
            json!({"seeds": ["file:///etc/"]}),
            json!({"seeds": ["FILE:/etc/passwd"]}),
            json!({"seeds": ["/etc/passwd"]}),
            json!({"seeds": ["./x"]}),
            json!({"seeds": [".."]}),
            json!({"seeds": ["https://a.example/", "../x"]}),
            json!({"sitemap": ["/etc/passwd"]}),
            json!({"like": ["/etc/passwd"]}),
            json!({"like": ["secrets"]}),
            json!({"unlike": ["notes/x.txt"]}),
            json!({"block": "/etc/passwd"}),
            json!({"ca-file": "x"}),
            json!({"cookie-jar": "/etc/cron.d/x"}),
            json!({"sign-key": "k"}),
            json!({"proxy": "http://10.0.0.1:3128"}),
            json!({"resolve": ["a.example:80:127.0.0.1"]}),
            json!({"allow-private": ["10.0.0.0/8"]}),
            json!({"ignore-robots": true}),
            json!({"i-own-this-site": true}),
            json!({"insecure": true}),
            json!({"filters": []}),
            json!({"limits": {"fetches_max": 100_000}}),
            json!({"header": ["X: env:LARM_TOKEN"]}),
            json!({"header": ["X: file:/etc/passwd"]}),
            json!({"bearer": "env:HOME"}),
            json!({"basic-auth": "file:/etc/passwd"}),
            json!({"host": {"a.example": {"bearer": "env:X"}}}),
            json!({"login": [{"url": "https://a.example/", "fields": {"p": "file:/etc/shadow"}}]}),
        ];
        for row in rows {
            let refused = check(&Policy::default(), row.clone());
            assert!(refused.as_ref().is_err_and(|problem| problem.key.is_some()), "{row}");
            let trusted = Policy { trusted: true, ..Policy::default() };
            assert_eq!(check(&trusted, row.clone()), Ok(()), "{row}");
        }
        for row in
            [json!({"output": "/x"}), json!({"input": "/etc/passwd"}), json!({"jsonl": "/x"})]
        {
            let trusted = Policy { trusted: true, ..Policy::default() };
            assert!(check(&trusted, row.clone()).is_err(), "{row}");
        }
        let harmless = json!({
            "seeds": ["example.com", "https://a.example/x", "localhost:8080"], "max-pages": 5,
            "header": ["Accept-Language: fi"], "bearer": "t", "like": ["https://a.example/"],
        });
        assert_eq!(check(&Policy::default(), harmless), Ok(()));
    }

    fn seeds(policy: &Policy, seed: &str) -> Result<(), Problem> {
        policy.check_seed(&CrawlUrl::from_canonical(seed).unwrap())
    }

    #[test]
    fn private_seeds_need_a_word_of_the_operator() {
        let inside = [
            "http://127.0.0.1/",
            "http://10.1.2.3/",
            "http://192.168.0.1:8080/",
            "http://169.254.169.254/latest/meta-data/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://localhost/",
            "http://a.localhost/",
            "http://intranet/",
            "file:///etc/",
        ];
        for seed in inside {
            assert!(seeds(&Policy::default(), seed).is_err(), "{seed}");
            let trusted = Policy { trusted: true, ..Policy::default() };
            assert_eq!(seeds(&trusted, seed), Ok(()), "{seed}");
        }
        assert_eq!(seeds(&Policy::default(), "https://example.com/"), Ok(()));
        let targets = vec!["127.0.0.0/8".parse().unwrap(), "*.example.com".parse().unwrap()];
        let confined = Policy { targets, ..Policy::default() };
        assert_eq!(seeds(&confined, "http://127.0.0.1:99/"), Ok(()));
        assert_eq!(seeds(&confined, "https://a.example.com/"), Ok(()));
        assert!(seeds(&confined, "https://example.org/").is_err());
        assert!(seeds(&confined, "http://10.0.0.1/").is_err());
    }
}
