//! Endless spaces: a crawler that follows every link here never ends.
//!
//! They live on every third ordinary host. The truth demands nothing of a trap and lets a crawler
//! fetch [`Trap::urls_max`] of its URLs; that is generous to one that learns while it crawls, and far
//! too little for one that does not.

use serde::Serialize;

use crate::dice::Dice;
use crate::feature::title_of;
use crate::resource::{Form, Link, Page, Resource};
use crate::web::{HostKind, Web, home};

/// One endless space.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trap {
    /// How all its URLs begin.
    pub prefix: String,
    /// The most of them that a sane crawler fetches.
    pub urls_max: usize,
}

/// Path prefix, the most URLs to be fetched of it, and where it is entered.
pub(crate) const SPACES: [(&str, usize, &str); 5] = [
    // Months without end in both directions, with the same empty page for each.
    ("/calendar/", 200, "/calendar/2024/05"),
    // A relative link that adds a segment each time.
    ("/deep/", 40, "/deep/a/"),
    // Eight pages, with a new session id in every link.
    ("/session/", 24, "/session/0"),
    // The nine views of a directory, as Apache gives them: finite, and all the same.
    ("/files/", 9, "/files/"),
    // A filter that every link makes longer.
    ("/filter", 100, "/filter?f=1"),
];

/// Whether a host has traps.
pub(crate) fn is_trapped(web: &Web, host: usize) -> bool {
    let host = web.hosts[host].serves;
    let chosen = web.plan.features.prose || host.is_multiple_of(3);
    let shown = web.plan.shows(web.plan.features.traps, host, home::TRAPPED);
    shown && chosen && web.hosts[host].kind == HostKind::Site
}

/// The prefix of the trap that a path is part of.
pub(crate) fn space_of(web: &Web, host: usize, path: &str) -> Option<(&'static str, usize)> {
    let inside = |(prefix, most, _): &(&'static str, usize, &str)| {
        path.starts_with(prefix).then_some((*prefix, *most))
    };
    is_trapped(web, host).then(|| SPACES.iter().find_map(inside)).flatten()
}

/// What stands at a path of a trap.
pub(crate) fn resource(web: &Web, host: usize, path: &str) -> Option<Resource> {
    let (prefix, _) = space_of(web, host, path)?;
    let links = match prefix {
        "/calendar/" => months(host, path)?,
        "/deep/" => vec![deeper(host, path)],
        "/session/" => sessions(web.plan.seed, host, path)?,
        "/files/" => views(host),
        _ => filters(host, path),
    };
    // The same text everywhere: the pages of a trap say nothing new.
    let text = Dice::of(&[web.plan.seed, host as u64, prefix.len() as u64]).next();
    let title = title_of(prefix);
    Some(Resource::page(Page { title, links, text, bytes: 600, ..Page::default() }))
}

fn months(host: usize, path: &str) -> Option<Vec<Link>> {
    let (year, month) = path.strip_prefix("/calendar/")?.split_once('/')?;
    let (year, month): (i64, i64) = (year.parse().ok()?, month.parse().ok()?);
    let months = year.checked_mul(12)?.checked_add(month)?.checked_sub(1)?;
    let link = |months: i64| {
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
        Link::local(host, format!("/calendar/{year}/{month:02}"))
    };
    Some(vec![link(months - 1), link(months + 1), link(months + 12)])
}

fn deeper(host: usize, path: &str) -> Link {
    let deeper = format!("{}/a/", path.trim_end_matches('/'));
    Link::new(host, deeper, Form::Relative)
}

/// Half of the ids stand in the query, half in the path; new ones on every page.
fn sessions(seed: u64, host: usize, path: &str) -> Option<Vec<Link>> {
    let page = path.strip_prefix("/session/")?.chars().next()?.to_digit(8)?;
    let mut dice = Dice::of(&[seed, xxhash_rust::xxh3::xxh3_64(path.as_bytes())]);
    let link = |next: u32| {
        let id = dice.next();
        Link::local(
            host,
            match next % 2 {
                0 => format!("/session/{next}?PHPSESSID={id:016x}"),
                _ => format!("/session/{next};jsessionid={id:016X}"),
            },
        )
    };
    Some([(page + 1) % 8, (page + 3) % 8, page].map(link).to_vec())
}

fn views(host: usize) -> Vec<Link> {
    let view =
        |column: &str, order: &str| Link::local(host, format!("/files/?C={column};O={order}"));
    let columns = ["N", "M", "S", "D"];
    columns.iter().flat_map(|column| [view(column, "A"), view(column, "D")]).collect()
}

fn filters(host: usize, path: &str) -> Vec<Link> {
    (1..=4).map(|value| Link::local(host, format!("{path}&f={value}"))).collect()
}
