//! Budgets, and URLs whose like bring nothing new, in the words of people.

use std::path::Path;

use larm_core::gain::Tally;
use larm_core::worth::{Finding, Verdict};
use larm_crawl::frontier::{Budget, HostStatus, Standing};

use crate::exit::shown;
use crate::human;

/// The settings that say how much of a host is enough.
pub const BUDGETS: &str = "--per-host, --host-budget, --site-budget or --max-pages";

/// `/cal/{n}/{n}: cut off, 1 of 31 pages had something new, none of the last 30`.
pub fn pattern(finding: &Finding) -> String {
    let word = match finding.verdict {
        Verdict::Cut | Verdict::Try => "cut off",
        Verdict::Slow => "after all others",
        Verdict::Good => "good",
    };
    format!("{}: {word}, {}", finding.pattern, figures(finding))
}

fn figures(finding: &Finding) -> String {
    let tally = &finding.tally;
    format!(
        "{} of {} had something new, none of the last {}",
        human::count(u64::from(tally.fruitful)),
        human::counted(u64::from(tally.pages), "page", "pages"),
        human::count(u64::from(tally.since))
    )
}

/// Why a URL waits, or comes late, and what frees it.
pub fn why_waiting(finding: &Finding, dir: &Path) -> Vec<String> {
    let like = format!("pages like it, {}: {}", finding.pattern, figures(finding));
    match finding.verdict {
        Verdict::Cut | Verdict::Try => vec![
            format!("held back: {like}"),
            format!("to have it fetched: larm resume {} --pattern-budget off", shown(dir)),
        ],
        Verdict::Slow => vec![format!("comes after all others of its host: {like}")],
        Verdict::Good => Vec::new(),
    }
}

/// `12 of the last 500 pages were good (2.4 %)`.
pub fn gain(tally: Tally) -> String {
    let last = match tally.pages < tally.of {
        true => format!("first {}", human::counted(tally.pages, "page", "pages")),
        false => format!("last {}", human::counted(tally.pages, "page", "pages")),
    };
    let were = if tally.good == 1 { "was" } else { "were" };
    let good = human::count(tally.good);
    format!("{good} of the {last} {were} good ({})", human::percent(tally.share()))
}

/// What a host has had and may have.
pub fn budget(answered: u64, budget: &Budget) -> String {
    let of = |pages: u64, allowed: Option<u64>| match allowed {
        Some(allowed) => format!("{} of {} pages", human::count(pages), human::count(allowed)),
        None => human::counted(pages, "page", "pages"),
    };
    format!(
        "budget: {}, {} with something new; its site {}, linked from {}",
        of(answered, budget.allowed),
        human::count(budget.fruitful),
        of(budget.site_pages, budget.site_allowed),
        human::counted(budget.domains, "other site", "other sites")
    )
}

/// Why nothing more is fetched of a host that has had its share.
pub fn why_spent(host: &HostStatus, dir: &Path) -> Option<String> {
    let budget = host.budget.as_ref().filter(|_| host.standing == Standing::OverBudget)?;
    let site_spent = budget.site_allowed.is_some_and(|allowed| budget.site_pages >= allowed);
    let flag = if site_spent { "--site-budget" } else { "--host-budget" };
    let said = self::budget(host.answered, budget);
    Some(format!("{said}; for more: larm resume {} {flag} off", shown(dir)))
}

/// What waits at the end of a crawl.
pub fn beyond_budget(queued: u64, held: u64) -> String {
    if queued == 0 {
        return String::new();
    }
    let spent = queued.saturating_sub(held);
    let parts = [
        (held, "like pages that bring nothing new (--pattern-budget)"),
        (spent, "of hosts or sites that had their share (--host-budget, --site-budget)"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> =
        parts.map(|(count, what)| format!("{} {what}", human::count(*count))).collect();
    let urls = human::counted(queued, "URL waits", "URLs wait");
    format!("{urls} beyond their budget: {}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_at_the_end_is_said_by_its_reason() {
        assert_eq!(beyond_budget(0, 0), "");
        let both = beyond_budget(1_240, 1_200);
        assert!(
            both.starts_with("1,240 URLs wait beyond their budget: 1,200 like pages"),
            "{both}"
        );
        assert!(both.contains(", 40 of hosts or sites"), "{both}");
        assert!(!beyond_budget(7, 7).contains("hosts"));
    }

    #[test]
    fn a_shape_is_told_with_its_figures() {
        let mut worth = larm_core::worth::HostWorth::default();
        let limits = larm_core::Limits::default();
        for _ in 0..31 {
            let nothing = larm_core::worth::Harvest::Nothing;
            worth.note("/cal/2024/05", &nothing, std::iter::once("/cal/2024/06"), &limits);
        }
        let (_, finding) = worth.judge("/cal/1999/01", 30);
        let finding = finding.expect("it is cut off");
        let said = pattern(&finding);
        let expected =
            "/cal/{n}/{n}: cut off, 0 of 31 pages had something new, none of the last 31";
        assert_eq!(said, expected);
        let why = why_waiting(&finding, Path::new("d.larm"));
        assert!(why.len() == 2 && why[1].contains("larm resume d.larm --pattern-budget off"));
    }
}
