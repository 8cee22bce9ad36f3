//! Filter `blocklist`: hosts that are left alone, each with everything below it.

use std::collections::BTreeSet;

use url::Host;

use super::reach::host_and_parents;
use super::{Filter, ScopeError, Subject, Verdict};

#[derive(Debug)]
pub(super) struct Blocklist {
    hosts: BTreeSet<String>,
}

impl Blocklist {
    /// Reads one host per line. `#` begins a comment; `*.` and a dot before the host mean nothing, as
    /// every entry stands for its subdomains too.
    pub fn new<'a>(lines: impl IntoIterator<Item = &'a str>) -> Result<Self, ScopeError> {
        let hosts = lines.into_iter().map(blocked_host).filter_map(Result::transpose);
        Ok(Self { hosts: hosts.collect::<Result<_, _>>()? })
    }

    fn blocking_entry<'a>(&self, host: &'a str) -> Option<&'a str> {
        if self.hosts.is_empty() {
            return None;
        }
        host_and_parents(host).find(|name| self.hosts.contains(*name))
    }
}

/// The host that a line of a list names, if it names one, as URLs have it: one host has one name, however it is typed.
pub fn blocked_host(line: &str) -> Result<Option<String>, ScopeError> {
    let entry = line.split('#').next().unwrap_or_default().trim();
    (!entry.is_empty()).then(|| host_of_entry(entry)).transpose()
}

/// Names in any writing come out as URLs have them.
fn host_of_entry(entry: &str) -> Result<String, ScopeError> {
    let name = entry.trim_start_matches("*.").trim_matches('.');
    match Host::parse(name) {
        Ok(host) => Ok(host.to_string()),
        Err(error) => Err(ScopeError::Host { entry: entry.to_owned(), why: error.to_string() }),
    }
}

impl Filter for Blocklist {
    fn name(&self) -> &'static str {
        "blocklist"
    }

    fn is_about_safety(&self) -> bool {
        true
    }

    fn is_about_url(&self) -> bool {
        true
    }

    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        match self.blocking_entry(subject.url.host()) {
            None => Verdict::Pass,
            Some(entry) => {
                Verdict::reject("blocklist", format!("{entry} is on the list of blocked hosts"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_passes, assert_rejects, link};
    use super::*;

    const LIST: &str = "# trackers\nads.example\n*.Metrics.example # and all below\n\n.bücher.example\n10.0.0.1\n[::1]";

    #[test]
    fn an_entry_blocks_its_host_and_everything_below() {
        let filter = Blocklist::new(LIST.lines()).unwrap();
        let rejected = [
            ("http://ads.example/", "ads.example"),
            ("http://a.b.ads.example/x", "ads.example"),
            ("http://metrics.example/", "metrics.example"),
            ("http://www.bücher.example/", "xn--bcher-kva.example"),
            ("http://10.0.0.1:8080/", "10.0.0.1"),
            ("http://[::1]/", "[::1]"),
        ];
        for (url, entry) in rejected {
            let reason = format!("blocklist: {entry} is on the list of blocked hosts");
            assert_rejects(&filter, link(url), &reason);
        }
        for url in ["http://example/", "http://notads.example/", "http://ads.example.org/"] {
            assert_passes(&filter, link(url));
        }
    }

    #[test]
    fn an_entry_that_is_no_host_is_named() {
        let error = Blocklist::new(["ads.example", "not a host"]).unwrap_err();
        assert!(error.to_string().contains("`not a host`"), "{error}");
    }
}
