//! `larm status --hosts`: what each host is doing, what it waits for, and which rule set that time.
//!
//! A crawl that runs is asked, and tells of the hosts that it has in memory; of one that does not, all hosts
//! are read from its files, as they would stand if it went on now.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use larm_core::Millis;
use larm_crawl::control::{Request, ask_patiently};
use larm_crawl::directory;
use larm_crawl::frontier::{HostList, HostStatus, HostsAsked, Standing};
use serde_json::json;

use super::lookup::Lookup;
use crate::exit::{Exit, shown};
use crate::{human, worth};

/// No line is longer than this.
const WIDTH: usize = 100;
/// Milliseconds of a day: times on another one are shown with their date.
const DAY_MS: u64 = 24 * 3_600 * 1_000;

/// Prints it.
pub fn show(dir: &Path, hosts_max: usize, as_json: bool) -> Result<Exit> {
    let running = directory::in_use(dir);
    let list = if running {
        ask_for(dir, hosts_max)?
    } else {
        Lookup::open(dir)?.hosts(&HostsAsked::first(hosts_max))?
    };
    let text = if as_json {
        let whole = json!({
            "dir": dir, "running": running, "total": list.total, "hosts": list.hosts,
        });
        serde_json::to_string_pretty(&whole)?
    } else {
        in_words(dir, &list)
    };
    writeln!(std::io::stdout(), "{}", text.trim_end())?;
    Ok(Exit::Done)
}

fn ask_for(dir: &Path, hosts_max: usize) -> Result<HostList> {
    let request = Request::Hosts(HostsAsked::first(hosts_max));
    let answer = super::block_on(async { Ok(ask_patiently(dir, request).await?) })?;
    let answer = answer.context("the crawl has just started or ended; try again")?;
    Ok(serde_json::from_value(answer)?)
}

fn in_words(dir: &Path, list: &HostList) -> String {
    let mut out = format!("{}: {}", shown(dir), human::counted(list.total, "host", "hosts"));
    let more = list.total.saturating_sub(list.hosts.len() as u64);
    if more > 0 {
        let _ = write!(out, ", the first {} of them", human::count(list.hosts.len() as u64));
    }
    out.push('\n');
    if !list.hosts.is_empty() {
        line(&mut out, &["HOST", "STATE", "UNTIL", "WAITING", "ANSWERED", "FAILS"]);
    }
    for host in &list.hosts {
        row(&mut out, host);
    }
    out
}

/// Two lines: what can be counted, and what has to be said; and what was found of its pages.
fn row(out: &mut String, host: &HostStatus) {
    let number = |count: u64| human::count(count);
    line(
        out,
        &[
            &human::cut(&host.host, 28),
            host.standing.word(),
            &until(&host.standing),
            &number(host.waiting),
            &number(host.answered),
            &number(u64::from(host.failures)),
        ],
    );
    let address = host.address.map(|address| address.to_string());
    let said = [why(&host.standing), host.trouble.clone(), address, alias(host)];
    let said: Vec<String> = said.into_iter().flatten().collect();
    let joined = Some(said.join(" · ")).filter(|said| !said.is_empty());
    let budget = host.budget.as_ref().map(|budget| worth::budget(host.answered, budget));
    let patterns = host.patterns.iter().map(worth::pattern);
    for text in joined.into_iter().chain(budget).chain(patterns) {
        let _ = writeln!(out, "  {}", human::cut(&text, WIDTH - 2));
    }
}

fn line(out: &mut String, cells: &[&str; 6]) {
    let [host, state, until, waiting, answered, failures] = cells;
    let text =
        format!("{host:<28} {state:<18} {until:<25} {waiting:>9} {answered:>9} {failures:>6}");
    // Writing to a text cannot fail.
    let _ = writeln!(out, "{}", text.trim_end());
}

/// `20:05:01Z (42 s)`; on another day with its date.
fn until(standing: &Standing) -> String {
    let Some(wait) = standing.until() else { return String::new() };
    let (date, time) = date_and_time(wait.until);
    let now = Millis(wait.until.0.saturating_sub(wait.ms));
    let time = if now.0 / DAY_MS == wait.until.0 / DAY_MS {
        format!("{time}Z")
    } else {
        format!("{} {}Z", date.get(5..).unwrap_or(&date), time.get(..5).unwrap_or(&time))
    };
    format!("{time} ({})", human::time(wait.ms))
}

/// `2026-11-15` and `20:05:01`.
fn date_and_time(at: Millis) -> (String, String) {
    let text = at.to_string();
    let (date, time) = text.split_once('T').unwrap_or((&text, ""));
    (date.to_owned(), time.split('.').next().unwrap_or_default().to_owned())
}

fn why(standing: &Standing) -> Option<String> {
    if let Some(wait) = standing.until() {
        return Some(wait.rule.clone());
    }
    Some(match standing {
        Standing::Fetching { url } => url.clone(),
        Standing::SharesAddress { with } => format!("{with} is at the same address"),
        Standing::AwaitingRobots => "its robots.txt lies elsewhere and is being fetched".to_owned(),
        Standing::Paused => "somebody paused it (larm set DIR host-resume=HOST)".to_owned(),
        Standing::OverBudget => format!("it has had its share ({})", worth::BUDGETS),
        Standing::Held => "what waits is like pages that bring nothing new".to_owned(),
        Standing::GivenUp { class } => format!("failed too often ({class})"),
        _ => return None,
    })
}

fn alias(host: &HostStatus) -> Option<String> {
    host.alias.as_ref().map(|alias| format!("alias of {alias}"))
}

#[cfg(test)]
mod tests {
    use larm_core::FailureClass;
    use larm_core::workbench::WaitRule;

    use super::*;

    fn host(name: &str, standing: Standing) -> HostStatus {
        HostStatus {
            host: name.to_owned(),
            waiting: 1_234_567,
            answered: 7,
            failures: 3,
            address: Some("2001:db8:1234:5678:9abc:def0:1234:5678".parse().expect("an address")),
            alias: Some("edge.example.net".to_owned()),
            trouble: Some("no answer to connecting".to_owned()),
            gap_ms: 1_000,
            gap_rule: String::new(),
            delay_ms: None,
            standing,
            budget: None,
            patterns: Vec::new(),
        }
    }

    #[test]
    fn no_line_is_too_long_and_columns_stand_below_each_other() {
        let now = Millis(1_794_772_801_042);
        let rule = WaitRule::Excluded(FailureClass::ConnectTimeout);
        let standings = [
            Standing::waiting(now.after(42_000), rule, now),
            Standing::waiting(now.after(3 * DAY_MS), WaitRule::RetryAfter, now),
            Standing::Fetching { url: format!("http://h/{}", "x".repeat(500)) },
            Standing::Ready,
        ];
        let hosts = standings.map(|standing| host(&"long.".repeat(20), standing));
        let list = HostList { total: 9, hosts: hosts.to_vec() };
        let text = in_words(Path::new("d"), &list);
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
        let column = |line: &str| line.chars().count();
        let rows: Vec<&str> = text.lines().filter(|line| line.ends_with("  3")).collect();
        assert_eq!(rows.len(), 4, "{text}");
        assert!(rows.iter().all(|row| column(row) == column(rows[0])), "{text}");
        assert!(text.contains("20:00:43Z (42 s)"), "{text}");
        assert!(text.contains("11-18 20:00Z (3 days 0 h)"), "{text}");
        assert!(text.contains("excluded") && text.contains("left alone after many failures"));
        assert!(text.contains("9 hosts, the first 4 of them"));
    }
}
