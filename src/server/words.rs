//! What a crawl will do, in plain words, before it does anything.

use larm_core::scope::ScopeMode;
use larm_core::url::CrawlUrl;
use larm_crawl::Plan;

use crate::config::Config;
use crate::config::value::Time;
use crate::human;

/// Seeds that are named.
const NAMED: usize = 3;

/// A sentence for each thing that matters.
pub fn of(config: &Config, plan: &Plan) -> Vec<String> {
    let words = [
        vec![begins(config), follows(config, plan)],
        narrowed(config),
        vec![fast(plan)],
        vec![ends(plan), keeps(config, plan)],
        manners(plan),
    ];
    words.concat()
}

fn begins(config: &Config) -> String {
    let all: Vec<&CrawlUrl> = config.seeds.all().collect();
    let named: Vec<&str> = all.iter().take(NAMED).map(|seed| seed.as_str()).collect();
    let more = all.len().saturating_sub(NAMED) as u64;
    match more {
        0 => format!("It starts at {}.", joined(&named)),
        _ => format!("It starts at {} and {} more.", named.join(", "), human::count(more)),
    }
}

fn joined(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn follows(config: &Config, plan: &Plan) -> String {
    let hosts: std::collections::BTreeSet<&str> = config.seeds.all().map(CrawlUrl::host).collect();
    let hosts: Vec<&str> = hosts.into_iter().collect();
    let of = if hosts.len() <= NAMED { joined(&hosts) } else { "those hosts".to_owned() };
    let reach = match plan.selection.scope {
        _ if plan.selection.depth_max == 0 => return "It follows no links.".to_owned(),
        ScopeMode::Host => format!("It follows links to pages of {of}, and to no other host"),
        ScopeMode::Domain | ScopeMode::Subdomains => {
            format!("It follows links within the domain of {of}, other hosts of it included")
        }
        ScopeMode::Prefix => "It follows links to pages below where it starts".to_owned(),
        ScopeMode::Any => "It follows links to any host of the web".to_owned(),
    };
    match plan.selection.depth_max {
        hops if u64::from(hops) < plan.limits.depth_hops_max => {
            format!("{reach}, at most {} away.", human::counted(hops.into(), "link", "links"))
        }
        _ => format!("{reach}."),
    }
}

fn narrowed(config: &Config) -> Vec<String> {
    let settings = &config.settings;
    let quoted = |patterns: &[String]| {
        patterns.iter().map(|pattern| format!("`{pattern}`")).collect::<Vec<_>>().join(" or ")
    };
    let mut words = Vec::new();
    if !settings.include.is_empty() {
        words.push(format!("Only URLs that match {} are fetched.", quoted(&settings.include)));
    }
    if !settings.exclude.is_empty() {
        words.push(format!("URLs that match {} are left out.", quoted(&settings.exclude)));
    }
    if !settings.accept.is_empty() {
        words.push(format!("Only these types are kept: {}.", settings.accept.join(", ")));
    }
    if settings.assets == Some(true) {
        words.push("Images, styles and scripts of pages are fetched, too.".to_owned());
    }
    if !settings.allow_target.is_empty() {
        let targets = settings.allow_target.join(", ");
        words.push(format!("Whatever leads elsewhere, only these may be asked: {targets}."));
    }
    words
}

fn fast(plan: &Plan) -> String {
    let pause = match plan.pace.delay_ms {
        0 => "It makes no pause between two requests to a host".to_owned(),
        ms => format!("It waits at least {} between two requests to a host", Time(ms)),
    };
    let gap = plan.pace.address_gap_ms;
    let pause = match plan.pace.delay_ms < gap {
        true => format!("{pause}, and {} between two to one address", Time(gap)),
        false => pause,
    };
    let rate = plan.pace.rate.map(|rate| format!("at most {rate} requests a second in all"));
    let places = plan.concurrency.map(|places| format!("at most {places} fetches at a time"));
    let bounds: Vec<String> = rate.into_iter().chain(places).collect();
    match bounds.is_empty() {
        true => format!("{pause}; hosts that are slow, or ask for more, get more."),
        false => format!("{pause}, with {}.", bounds.join(" and ")),
    }
}

fn ends(plan: &Plan) -> String {
    let pages = plan.budgets.pages_max.map(|n| human::counted(n, "page", "pages"));
    let time = plan.time_ms_max.map(human::time);
    let size = plan.bytes_max.map(human::bytes);
    let ends: Vec<String> = [pages, time, size].into_iter().flatten().collect();
    match ends.is_empty() {
        true => "It ends when nothing is left to fetch.".to_owned(),
        false => format!("It ends after {}, or when nothing is left to fetch.", ends.join(" or ")),
    }
}

fn keeps(config: &Config, plan: &Plan) -> String {
    let archive = plan.keep.warc.then_some("every answer in an archive (WARC)");
    let index = (config.settings.no_index != Some(true)).then_some("an index to search in");
    let links = plan.keep.links.then_some("who links to whom");
    let kept: Vec<&str> = [archive, index, links].into_iter().flatten().collect();
    match kept.is_empty() {
        true => "It keeps a list of what it met, and no pages.".to_owned(),
        false => format!("It keeps {}.", joined(&kept)),
    }
}

fn manners(plan: &Plan) -> Vec<String> {
    let robots = match plan.obey_robots {
        true => "It fetches nothing that a site's robots.txt forbids.",
        false => "It ignores robots.txt: that is for your own sites.",
    };
    let contact = match plan.contact {
        Some(_) => "",
        None => " No address for webmasters is in it; `contact` adds one.",
    };
    vec![robots.to_owned(), format!("Site owners see it as `{}`.{contact}", plan.fetch.user_agent)]
}
