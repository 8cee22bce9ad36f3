//! Changes of crawls that are there already: what settings mean to one that runs, what the next run of one that does
//! not goes on with, and rules that are added to it or lifted.
//!
//! The same JSON is understood in both states, by the same reader; which keys a running crawl takes is the only difference.

use std::collections::BTreeMap;
use std::path::Path;

use larm_crawl::change::Change;
use larm_crawl::changes::Changes;
use larm_crawl::directory::{Directory, in_use};
use larm_crawl::rules::SharedRules;
use larm_crawl::{Error, Plan};
use larm_server::Problem;
use larm_server::launch::InForce;
use larm_server::views::runs::changed;
use serde_json::{Map, Value};

use super::{Program, checked, policy, read, shown, told, wrong};
use crate::commands::crawl::{self, LIVE};
use crate::commands::lookup::plan_of;
use crate::config::raw::Settings;
use crate::config::value::{Allowance, Concurrency, PageLimit, Rate, Time};
use crate::config::{Config, FILE_NAME, consent, file, merge, save};
use crate::exit::in_words;

/// What these settings mean to a crawl that runs, if all of them are for it.
pub fn live(
    program: &Program,
    dir: &Path,
    settings: &Map<String, Value>,
) -> Result<Vec<Change>, Problem> {
    program.policy.check(settings)?;
    settings.keys().try_for_each(|key| refuse_what_must_wait(key))?;
    let flags = read(settings)?;
    let saved = save::settings_of(dir).map_err(internal)?;
    let saved = without_taken_back(saved, settings)?;
    let config = Config::new(flags.clone(), saved).map_err(told)?;
    consent::check(&config).map_err(told)?;
    let plan = checked(&config, dir)?;
    let taken_back = settings.iter().filter(|(_, value)| value.is_null());
    let by_default = taken_back.filter_map(|(key, _)| by_default(key, &plan));
    Ok(crawl::told(&flags).into_iter().chain(by_default).collect())
}

/// What a plan says of a setting that nobody gave a value.
fn by_default(key: &str, plan: &Plan) -> Option<Change> {
    let budgets = &plan.budgets;
    Some(match key {
        "delay" => Change::Delay(plan.pace.delay_ms),
        "rate" => Change::Rate(plan.pace.rate),
        "concurrency" => Change::Concurrency(plan.concurrency),
        "max-pages" => Change::MaxPages(budgets.pages_max),
        "host-budget" => Change::HostBudget(budgets.host_base),
        "site-budget" => Change::SiteBudget(budgets.site_base),
        "pattern-budget" => Change::PatternBudget(budgets.cut_at.map(u64::from)),
        _ => return None,
    })
}

fn refuse_what_must_wait(key: &str) -> Result<(), Problem> {
    if LIVE.contains(&key) {
        return Ok(());
    }
    if policy::may(key).is_none() {
        return Err(Problem::invalid(key, wrong(key, "")));
    }
    let hint = match key {
        "block" => "To leave a host alone: POST …/rules with `block`.".to_owned(),
        _ => format!("Stop it, change it, and start it again. At once: {}.", LIVE.join(", ")),
    };
    Err(Problem::invalid(key, format!("`{key}` cannot be changed while the crawl runs."))
        .hint(hint))
}

/// What the next run of a crawl goes on with, on top of its settings.
pub fn kept(dir: &Path) -> Result<Vec<Change>, Problem> {
    let plan = plan_of(dir).map_err(internal)?;
    Ok(open(dir, &plan)?.all())
}

/// Adds rules to a crawl that does not run, or lifts some.
pub fn keep(dir: &Path, changes: &[Change]) -> Result<(), Problem> {
    let lock = locked(dir)?;
    let plan = plan_of(dir).map_err(internal)?;
    let mut kept = open(dir, &plan)?;
    let rules = SharedRules::new(&plan, Vec::new()).map_err(|error| refused(&error))?;
    rules.revise(&kept.all()).map_err(|error| refused(&error))?;
    let lifted = |change: &&Change| matches!(change, Change::Unexclude(_) | Change::Unblock(_));
    if let Some(change) = changes.iter().filter(lifted).find(|change| !rules.holds(change)) {
        return Err(Problem::not_found(format!("There is no rule `{}`.", change.value())));
    }
    rules
        .revise(changes)
        .and_then(|()| kept.check_room(changes))
        .map_err(|error| refused(&error))?;
    kept.note(changes).map_err(Problem::internal)?;
    drop(lock);
    Ok(())
}

/// What was changed while it ran about settings that are written now is older.
pub fn forget(dir: &Path, config: &Config, keys: &[&str]) -> Result<(), Problem> {
    let plan = checked(config, dir)?;
    // The file `block` of the settings has nothing to do with hosts that were blocked one by one.
    let keys: Vec<&str> = keys.iter().copied().filter(|key| *key != "block").collect();
    open(dir, &plan)?.forget_settings(&keys).map_err(Problem::internal)
}

/// Settings without those that `changes` takes back: with null, or with a list that is empty, which says nothing when
/// it is laid over others.
pub fn without_taken_back(
    saved: Settings,
    changes: &Map<String, Value>,
) -> Result<Settings, Problem> {
    if changes.get("seeds").is_some_and(Value::is_null) {
        let detail = "`seeds` cannot be taken back: a crawl has to begin somewhere.";
        return Err(Problem::invalid("seeds", detail));
    }
    let mut table = merge::to_table(&saved).map_err(internal)?;
    let is_none = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    for (key, _) in changes.iter().filter(|(key, value)| *key != "seeds" && is_none(value)) {
        table.remove(key);
    }
    table.try_into().map_err(Problem::internal)
}

/// The settings of a crawl with changes laid over them.
pub fn in_force(dir: &Path, changes: &[Change]) -> Result<InForce, Problem> {
    let written = file::read(&dir.join(FILE_NAME)).map_err(internal)?;
    let mut now = written.clone();
    changes.iter().for_each(|change| lay_over(&mut now, change));
    let told = |settings: &Settings| save::told(settings).map_err(internal);
    let mut changed = changed(&told(&written)?, &told(&now)?);
    for (key, hosts) in named_hosts(changes) {
        changed.insert(key.to_owned(), Some(hosts.join(", ")));
    }
    Ok(InForce { settings: shown(&now)?, changed })
}

fn lay_over(settings: &mut Settings, change: &Change) {
    match change {
        Change::Delay(ms) => settings.delay = Some(Time(*ms)),
        Change::Rate(rate) => settings.rate = Some(Rate(*rate)),
        Change::Concurrency(number) => settings.concurrency = Some(Concurrency(*number)),
        Change::MaxPages(pages) => settings.max_pages = Some(PageLimit(*pages)),
        Change::HostBudget(pages) => settings.host_budget = Some(Allowance(*pages)),
        Change::SiteBudget(pages) => settings.site_budget = Some(Allowance(*pages)),
        Change::PatternBudget(pages) => settings.pattern_budget = Some(Allowance(*pages)),
        Change::Exclude(pattern) if !settings.exclude.contains(pattern) => {
            settings.exclude.push(pattern.clone());
        }
        Change::Unexclude(pattern) => settings.exclude.retain(|held| held != pattern),
        Change::HostDelay(host, ms) => {
            settings.host.entry(host.clone()).or_default().delay = ms.map(Time);
        }
        Change::Exclude(_)
        | Change::Block(_)
        | Change::Unblock(_)
        | Change::HostPause(..)
        | Change::Seed(_) => {}
    }
}

/// Hosts that changes name one by one, which no key of the settings does.
fn named_hosts(changes: &[Change]) -> BTreeMap<&'static str, Vec<&str>> {
    let mut named: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for change in changes {
        match change {
            Change::Block(host) => named.entry("blocked-hosts").or_default().push(host),
            Change::HostPause(host, true) => named.entry("paused-hosts").or_default().push(host),
            _ => {}
        }
    }
    named
}

/// Nobody else has the crawl, as long as this is kept.
pub fn locked(dir: &Path) -> Result<Directory, Problem> {
    Directory::borrow(dir).map_err(|error| match in_use(dir) {
        true => Problem::conflict("This crawl runs."),
        false => Problem::internal(error),
    })
}

fn open(dir: &Path, plan: &Plan) -> Result<Changes, Problem> {
    Changes::open(&dir.join("state"), plan).map_err(Problem::internal)
}

fn refused(error: &Error) -> Problem {
    Problem::invalid("exclude", error.to_string())
}

fn internal(error: anyhow::Error) -> Problem {
    Problem::internal(in_words(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `in_force` shows of `larm.toml` with these changes: the value of a key, and what differs.
    fn shown(toml: &str, changes: &[&str], key: &str) -> (String, String) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE_NAME), toml).unwrap();
        let parsed = changes.iter().map(|text| text.split_once('=').unwrap());
        let parsed = parsed.map(|(key, value)| Change::parse(key, value).unwrap());
        let now = in_force(dir.path(), &parsed.collect::<Vec<_>>()).unwrap();
        let differs = now.changed.iter().map(|(key, value)| format!("{key}: {value:?}"));
        let value = now.settings.get(key).map(Value::to_string).unwrap_or_default();
        (value, differs.collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn changes_are_laid_over_the_settings_and_written_as_those_are() {
        let rows: [(&str, &[&str], &str, &str, &str); 9] = [
            ("delay = '1s'", &[], "delay", "\"1s\"", ""),
            ("delay = '1s'", &["delay=2000ms"], "delay", "\"2s\"", "delay: Some(\"2s\")"),
            ("", &["rate=5"], "rate", "\"5/s\"", "rate: Some(\"5/s\")"),
            ("max-pages = 9", &["max-pages=50"], "max-pages", "50", "max-pages: Some(\"50\")"),
            (
                "max-pages = 9",
                &["max-pages=none"],
                "max-pages",
                "\"none\"",
                "max-pages: Some(\"none\")",
            ),
            ("exclude = ['a']", &["unexclude=a"], "exclude", "", "exclude: None"),
            (
                "exclude = ['a']",
                &["exclude=b"],
                "exclude",
                "[\"a\",\"b\"]",
                "exclude: Some(\"[\\\"a\\\", \\\"b\\\"]\")",
            ),
            (
                "",
                &["host-delay=h.test:5s"],
                "host",
                "{\"h.test\":{\"delay\":\"5s\"}}",
                "host.h.test.delay: Some(\"5s\")",
            ),
            (
                "",
                &["block=b.test", "block=a.test", "host-pause=p.test"],
                "block",
                "",
                "blocked-hosts: Some(\"b.test, a.test\"); paused-hosts: Some(\"p.test\")",
            ),
        ];
        for (toml, changes, key, value, differs) in rows {
            let expected = (value.to_owned(), differs.to_owned());
            assert_eq!(shown(toml, changes, key), expected, "{toml} {changes:?}");
        }
    }
}
