//! What a crawl came to, in a dozen lines worth reading.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use larm_core::url::{CrawlUrl, UrlRules, canonicalise, resolve};
use larm_core::{FailureClass, Outcome};
use larm_crawl::explain::Stand;
use larm_crawl::store::summary::State;
use larm_crawl::{Handle, Summary};

use crate::config::Config;
use crate::exit::{Exit, shell_word, shown};
use crate::human::{self, Paint};
use crate::worth;

/// Seeds that are looked at for hints.
const SEEDS_LOOKED_AT: usize = 100;
/// Hints that are shown.
const HINTS_MAX: usize = 5;
/// Reasons that are named.
const REASONS_MAX: usize = 6;
/// Mirrors that are named.
const MIRRORS_SHOWN: usize = 3;

/// How a finished run ends the program.
pub fn exit_of(summary: &Summary) -> Exit {
    match summary.state {
        State::Limit => Exit::Limit,
        State::Stopped | State::Running => Exit::Interrupted,
        State::Finished if summary.has_something() => Exit::Done,
        State::Finished => Exit::NothingFetched,
    }
}

/// The text of the summary.
pub struct Report<'a> {
    /// The numbers.
    pub summary: &'a Summary,
    /// What was asked for.
    pub config: &'a Config,
    /// Where it is.
    pub dir: &'a Path,
    /// The crawl, which can still be asked.
    pub handle: &'a Handle,
    /// How to emphasise.
    pub paint: Paint,
}

impl Report<'_> {
    /// All of it.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a text cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let summary = self.summary;
        writeln!(out, "{}", self.paint.bold(&self.headline()))?;
        let counted = self.handle.status(0).frontier.totals.answered;
        let sitemaps = (summary.fetched + summary.redirects).saturating_sub(counted);
        self.row(out, "pages", &pages(summary, sitemaps))?;
        self.row(out, "yield", &summary.gain.map(worth::gain).unwrap_or_default())?;
        self.row(out, "mirrors", &mirrors(summary))?;
        self.row(out, "statuses", &listed(&summary.statuses))?;
        self.row(out, "skipped", &self.skipped())?;
        self.row(out, "waiting", &self.waiting())?;
        self.row(out, "failed", &listed(&summary.failed))?;
        for class in
            FailureClass::ALL.iter().filter(|class| summary.failed.contains_key(class.word()))
        {
            self.row(out, "", &format!("{class}: {}", hint(*class)))?;
        }
        for host in self.unreachable() {
            self.row(out, "", &host)?;
        }
        self.row(out, "received", &self.received())?;
        self.row(out, "files", &self.files())?;
        for hint in self.hints() {
            writeln!(out, "  {} {hint}", self.paint.warn("note:"))?;
        }
        self.next_steps(out)
    }

    fn row(&self, out: &mut String, name: &str, text: &str) -> std::fmt::Result {
        if text.is_empty() {
            return Ok(());
        }
        writeln!(out, "  {} {text}", self.paint.dim(&format!("{name:<9}")))
    }

    fn headline(&self) -> String {
        let dir = shown(self.dir);
        let limit = self.summary.limit.as_deref().unwrap_or("limit");
        match self.summary.state {
            State::Finished if exit_of(self.summary) == Exit::NothingFetched => {
                format!("{dir}: nothing could be fetched")
            }
            State::Finished => format!("{dir}: done"),
            State::Limit => format!("{dir}: ended by --{limit}"),
            _ => format!("{dir}: stopped, and can go on"),
        }
    }

    fn skipped(&self) -> String {
        let summary = self.summary;
        let mut reasons: Vec<(&str, u64)> =
            summary.rejected.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let more = reasons.len().saturating_sub(REASONS_MAX);
        let mut parts: Vec<String> = reasons
            .iter()
            .take(REASONS_MAX)
            .map(|(name, count)| format!("{} by {name}", human::count(*count)))
            .collect();
        if more > 0 {
            parts.push(format!("{more} more reasons"));
        }
        let links =
            if parts.is_empty() { None } else { Some(format!("links: {}", parts.join(", "))) };
        let denied = human::counted(summary.denied, "URL", "URLs") + " by robots.txt";
        let denied = (summary.denied > 0).then_some(denied);
        let reserved = human::counted(summary.reserved, "URL", "URLs") + " by their owners";
        let reserved = (summary.reserved > 0).then_some(reserved);
        denied.into_iter().chain(reserved).chain(links).collect::<Vec<_>>().join("; ")
    }

    /// What waits although the crawl is at its end.
    fn waiting(&self) -> String {
        match self.summary.state {
            State::Finished => worth::beyond_budget(self.summary.queued, self.summary.held),
            _ => String::new(),
        }
    }

    /// Hosts, or files alone: their lanes are no hosts to anybody but the frontier.
    fn whence(&self) -> String {
        match self.config.seeds.all().all(CrawlUrl::is_file) {
            true => "files of this machine".to_owned(),
            false => hosts(self.summary),
        }
    }

    fn received(&self) -> String {
        let summary = self.summary;
        let mut text = format!(
            "{} from {} in {}",
            human::bytes(summary.bytes),
            self.whence(),
            human::time(summary.active_ms),
        );
        if summary.retries > 0 {
            let _ =
                write!(text, ", {}", human::counted(summary.retries, "try", "tries") + " repeated");
        }
        text
    }

    fn files(&self) -> String {
        let summary = self.summary;
        if summary.warc_files == 0 {
            return shown(self.dir);
        }
        let files = human::counted(summary.warc_files, "archive file", "archive files");
        format!(
            "{files} of {} in {}",
            human::bytes(summary.warc_bytes),
            shown(&self.dir.join("warc"))
        )
    }

    /// Hosts that were given up, as far as they are still in memory.
    fn unreachable(&self) -> Vec<String> {
        use larm_crawl::frontier::{HostsAsked, Standing};
        let hosts = self.handle.hosts(&HostsAsked::first(SEEDS_LOOKED_AT)).hosts;
        let given_up = hosts.into_iter().filter_map(|host| match host.standing {
            Standing::GivenUp { class } => {
                let why = host.trouble.unwrap_or_else(|| class.to_string());
                Some(format!("unreachable: {} ({why})", host.host))
            }
            _ => None,
        });
        given_up.take(HINTS_MAX).collect()
    }

    fn hints(&self) -> Vec<String> {
        let seeds = self.config.seeds.all().take(SEEDS_LOOKED_AT);
        let mut hints: Vec<String> =
            seeds.filter_map(|seed| self.seed_hint(seed)).take(HINTS_MAX).collect();
        let embeds = self.summary.rejected.get("assets").copied().unwrap_or_default();
        if embeds > 0 && self.config.settings.assets != Some(true) {
            hints.push(format!(
                "{} to images, styles and scripts were left out; --assets fetches them",
                human::counted(embeds, "link", "links")
            ));
        }
        hints
    }

    /// Something about a seed that its owner did not expect.
    fn seed_hint(&self, seed: &CrawlUrl) -> Option<String> {
        let Stand::Settled { page } = self.handle.explain(seed).ok()?.stand else { return None };
        match &page.outcome {
            Outcome::Redirected { to, .. } => {
                // The target is as the server wrote it, where it is no URL.
                let target = resolve(to, None, None).ok()?;
                let target = canonicalise(target, &UrlRules::default()).ok()?;
                let stand = self.handle.explain(&target).ok()?.stand;
                let Stand::Unknown { rejected_by } = stand else { return None };
                let reason = rejected_by.map(|reason| format!(" ({reason})")).unwrap_or_default();
                Some(format!(
                    "{seed} leads to {to}, which is not part of this crawl{reason}; try: larm {}",
                    shell_word(to)
                ))
            }
            Outcome::Denied { rule } => Some(format!("{seed} is closed by robots.txt: {rule}")),
            Outcome::Failed { detail, .. } => Some(format!("{seed}: {detail}")),
            Outcome::HostUnreachable { class } => {
                // The first note says what went wrong last.
                let why = page.notes.first().cloned().unwrap_or_else(|| class.to_string());
                Some(format!("{seed}: the host could not be reached ({why})"))
            }
            // It was read for its links, as was to be expected.
            Outcome::Rejected { filter, .. } if filter == "types" && self.summary.fetched > 0 => {
                None
            }
            Outcome::Rejected { filter, detail } => Some(format!("{seed}: {filter}: {detail}")),
            Outcome::Fetched { status } if *status >= 400 => {
                Some(format!("{seed} answered {status}"))
            }
            Outcome::Fetched { .. } => None,
        }
    }

    fn next_steps(&self, out: &mut String) -> std::fmt::Result {
        let dir = shown(self.dir);
        let first = self.config.seeds.all().next().map(CrawlUrl::as_str).unwrap_or("URL");
        let url = shell_word(first);
        match exit_of(self.summary) {
            Exit::Interrupted => writeln!(out, "  go on with: larm resume {dir}"),
            Exit::Limit => {
                let limit = self.summary.limit.as_deref().unwrap_or("max-pages");
                writeln!(
                    out,
                    "  {} left; go on with: larm resume {dir} --{limit} …",
                    human::counted(self.summary.queued, "URL", "URLs")
                )
            }
            Exit::NothingFetched => writeln!(out, "  ask why: larm why {dir} {url}"),
            _ if !self.config.settings.accept.is_empty() => {
                writeln!(
                    out,
                    "  next: {dir}/pages/pages.jsonl lists what was found · larm status {dir}"
                )
            }
            _ => writeln!(
                out,
                "  next: larm search {dir} WORDS · larm why {dir} {url} · larm cat {dir} {url}"
            ),
        }
    }
}

/// The hosts that answered, of all that were met.
pub fn hosts(summary: &Summary) -> String {
    let all = human::counted(summary.hosts, "host", "hosts");
    match summary.hosts_answered {
        answered if answered == summary.hosts => all,
        answered => format!("{} of {all}", human::count(answered)),
    }
}

/// Sitemaps are counted apart, as `--max-pages` does.
fn pages(summary: &Summary, sitemaps: u64) -> String {
    let mut text = human::counted(summary.fetched.saturating_sub(sitemaps), "page", "pages");
    let more = [
        (sitemaps, "sitemap", "sitemaps"),
        (summary.redirects, "redirect", "redirects"),
        (summary.duplicates, "copy of another page", "copies of other pages"),
        (summary.near_duplicates, "near-duplicate", "near-duplicates"),
        (summary.soft_404, "soft 404", "soft 404s"),
        (summary.ascents, "folder found above a page", "folders found above pages"),
        (summary.spam, "spam page", "spam pages"),
        (summary.probes, "probe", "probes"),
    ];
    for (count, one, many) in more.into_iter().filter(|(count, ..)| *count > 0) {
        let _ = write!(text, ", {}", human::counted(count, one, many));
    }
    text
}

/// Which hosts are mirrors of which, the first few.
fn mirrors(summary: &Summary) -> String {
    let shown = summary.mirrors.iter().take(MIRRORS_SHOWN);
    let mut parts: Vec<String> = shown.map(|(from, of)| format!("{from} of {of}")).collect();
    let more = summary.mirrors.len().saturating_sub(MIRRORS_SHOWN);
    parts.extend((more > 0).then(|| format!("{more} more")));
    parts.join(", ")
}

/// `200 × 75, 404 × 3`, the most frequent first.
fn listed(counts: &BTreeMap<String, u64>) -> String {
    let mut sorted: Vec<_> = counts.iter().collect();
    sorted.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let parts = sorted.iter().map(|(name, count)| format!("{} × {name}", human::count(**count)));
    parts.collect::<Vec<_>>().join(", ")
}

/// What a class of failure usually means.
pub fn hint(class: FailureClass) -> &'static str {
    match class {
        FailureClass::Dns => {
            "the name has no address; is it spelled right, and is there a network?"
        }
        FailureClass::ForbiddenAddress => "a private address; --allow-private CIDR if it is yours",
        FailureClass::Refused => "nothing listens there; is the port right?",
        FailureClass::Unroutable => "no way there; is there a network, and IPv6 if it needs that?",
        FailureClass::ConnectTimeout => {
            "no connection in time; the host is down or a firewall drops us"
        }
        FailureClass::Proxy => "the proxy cannot be used; see --proxy and HTTPS_PROXY",
        FailureClass::Login => "the login failed; `larm why` says at what; see [[login]]",
        FailureClass::Tls => {
            "no safe connection: expired, for another name, not trusted or not spoken; `larm why` says which"
        }
        FailureClass::FirstByteTimeout => "the server took the request and did not answer in time",
        FailureClass::Reset => "the server closed the connection before it answered",
        FailureClass::Protocol => "the answer was not proper HTTP",
        FailureClass::BodyBroken => "the answer broke off",
        FailureClass::TooManyRequests => "the server asks for fewer requests; try a longer --delay",
        FailureClass::Unavailable => "the server is overloaded or closed for now; try again later",
        FailureClass::ServerError => "the server's own errors",
        FailureClass::RobotsUnreachable => {
            "its robots.txt cannot be had, which means no (RFC 9309); try again later"
        }
        FailureClass::CrawlDelayTooLong => {
            "its crawl-delay is beyond the limit `crawl_delay_ms_max`"
        }
        FailureClass::BotWall => {
            "a page that asks for a browser stands before theirs; ask the owner, or sign with --sign-key"
        }
        FailureClass::NoFiles => {
            "this machine allows no more open files; raise it with: ulimit -n 4096"
        }
        FailureClass::NameServers => "no name server answered; see /etc/resolv.conf, or --resolve",
        FailureClass::Offline => "this machine had no network",
        FailureClass::Elsewhere => "another address of the host answered first",
        FailureClass::Unreadable => {
            "files that are gone, not allowed, no files, or outside of the tree; `larm why` says which"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(state: State, statuses: &[u16]) -> Summary {
        let statuses = statuses.iter().map(|status| (status.to_string(), 1)).collect();
        Summary { state, statuses, ..Summary::default() }
    }

    #[test]
    fn a_crawl_exits_as_it_ended() {
        #[rustfmt::skip]
        let rows: [(State, &[u16], Exit); 8] = [
            (State::Finished, &[200, 404], Exit::Done),
            (State::Finished, &[301, 206], Exit::Done),
            (State::Finished, &[], Exit::NothingFetched),
            (State::Finished, &[404], Exit::NothingFetched),
            (State::Finished, &[401, 403, 407], Exit::NothingFetched),
            (State::Finished, &[302], Exit::NothingFetched),
            (State::Limit, &[404], Exit::Limit),
            (State::Stopped, &[404], Exit::Interrupted),
        ];
        for (state, statuses, expected) in rows {
            assert_eq!(exit_of(&summary(state, statuses)), expected, "{state:?} {statuses:?}");
        }
    }

    #[test]
    fn hosts_that_only_refused_are_not_among_those_that_gave_something() {
        let of = |hosts, hosts_answered| Summary { hosts, hosts_answered, ..Summary::default() };
        assert_eq!(hosts(&of(1, 1)), "1 host");
        assert_eq!(hosts(&of(1_005, 3)), "3 of 1,005 hosts");
        assert_eq!(hosts(&of(2, 0)), "0 of 2 hosts");
    }

    #[test]
    fn sitemaps_are_no_pages() {
        let summary = Summary { fetched: 33, redirects: 1, ..Summary::default() };
        assert_eq!(pages(&summary, 3), "30 pages, 3 sitemaps, 1 redirect");
        assert_eq!(pages(&summary, 0), "33 pages, 1 redirect");
    }

    #[test]
    fn counts_are_listed_by_size() {
        let counts = [("404", 3), ("200", 1_075)].map(|(name, n)| (name.to_owned(), n));
        assert_eq!(listed(&counts.into()), "1,075 × 200, 3 × 404");
    }
}
