//! Endless spaces that no rule about the form of URLs knows: a crawler has to notice that nothing new comes.
//!
//! They live on the first host. Each stands beside pages that are worth something, which the truth demands as
//! it does any others: the goods of the shop, the articles of the wiki. Of the spaces themselves it demands
//! nothing, and lets a crawler fetch [`Maze::urls_max`] URLs, which is enough to learn by.
//!
//! Two more hosts, `stuffed.spam.test` and `farm.spam.test`, were made for search engines.

use std::fmt::Write;

use crate::dice::Dice;
use crate::resource::{Link, Page, Resource};
use crate::web::{HostKind, Web};

/// Goods of the shop, and articles of the wiki.
pub(crate) const GOODS: usize = 40;
pub(crate) const ARTICLES: usize = 25;
/// Versions of each article.
const VERSIONS: u64 = 200;
/// Filters of the shop, and how many values each of them has.
const FILTERS: [&str; 6] = ["colour", "size", "fabric", "brand", "sort", "view"];
const VALUES: u64 = 7;
/// Desks that a visitor can stand at.
const DESKS: u64 = 8;

/// An endless space.
pub(crate) struct Maze {
    /// How its paths begin.
    pub prefix: &'static str,
    /// The most URLs of it that a crawler has to fetch to see what it is.
    pub urls_max: usize,
}

/// All of them.
pub(crate) const MAZES: [Maze; 5] = [
    // Weeks without end in both directions, with nothing in them.
    Maze { prefix: "/diary/", urls_max: 60 },
    // Eight pages, with another number for the visitor in every link: in the path, and in the query.
    Maze { prefix: "/visit/", urls_max: 60 },
    Maze { prefix: "/desk?", urls_max: 60 },
    // Goods by filters that can be set in any combination.
    Maze { prefix: "/shop/list", urls_max: 120 },
    // What was changed between any two versions of an article.
    Maze { prefix: "/wiki/changes/", urls_max: 60 },
];

/// Whether a host has mazes.
pub(crate) fn is_here(web: &Web, host: usize) -> bool {
    let host = web.hosts[host].serves;
    web.plan.features.mazes && host == 0 && web.hosts[host].kind == HostKind::Site
}

/// Whether a path is part of one.
pub(crate) fn holds(web: &Web, host: usize, path: &str) -> bool {
    is_here(web, host) && MAZES.iter().any(|maze| path.starts_with(maze.prefix))
}

/// What stands at a path of a maze.
pub(crate) fn resource(web: &Web, host: usize, path: &str) -> Option<Resource> {
    let maze = MAZES.iter().find(|maze| path.starts_with(maze.prefix))?;
    if !is_here(web, host) {
        return None;
    }
    let rest = &path[maze.prefix.len()..];
    let mut dice = Dice::of(&[web.plan.seed, xxhash_rust::xxh3::xxh3_64(path.as_bytes())]);
    let paths = match maze.prefix {
        "/diary/" => weeks(rest)?,
        "/visit/" | "/desk?" => desks(&mut dice),
        "/shop/list" => filters(rest, &mut dice),
        _ => versions(rest, &mut dice)?,
    };
    let links = paths.into_iter().map(|path| Link::local(host, path)).collect();
    // The same words on every page, so that nothing but numbers and links is new.
    let text = Dice::of(&[web.plan.seed, maze.prefix.len() as u64]).next();
    let title = maze.prefix.trim_matches(|c: char| !c.is_alphabetic()).to_owned();
    Some(Resource::page(Page { title, links, text, bytes: 900, ..Page::default() }))
}

fn weeks(rest: &str) -> Option<Vec<String>> {
    let week: i64 = rest.strip_prefix("week/")?.parse().ok()?;
    Some([-52, -1, 1, 52].map(|step| format!("/diary/week/{}", week + step)).to_vec())
}

fn desks(dice: &mut Dice) -> Vec<String> {
    let mut desk = |in_path: bool| {
        let (visitor, desk) = (dice.next(), dice.next() % DESKS);
        match in_path {
            true => format!("/visit/{visitor:016x}/desk/{desk}"),
            false => format!("/desk?number={desk}&visitor={visitor:016x}"),
        }
    };
    vec![desk(true), desk(true), desk(false), desk(false)]
}

/// Each link sets one filter more, or another value of one. All lists lead to some goods.
fn filters(rest: &str, dice: &mut Dice) -> Vec<String> {
    let set: Vec<&str> =
        rest.trim_start_matches('?').split('&').filter(|f| !f.is_empty()).collect();
    let mut links: Vec<String> = (0..3).map(|_| good(dice.below(GOODS))).collect();
    for name in FILTERS {
        let others = set.iter().filter(|filter| !filter.starts_with(name)).copied();
        let value = format!("{name}={}", dice.next() % VALUES);
        let mut all: Vec<&str> = others.chain([value.as_str()]).collect();
        all.sort_unstable();
        links.push(format!("/shop/list?{}", all.join("&")));
    }
    links
}

fn versions(rest: &str, dice: &mut Dice) -> Option<Vec<String>> {
    let article: usize = rest.split('/').next()?.parse().ok()?;
    let mut between = || {
        let (from, to) = (dice.next() % VERSIONS, dice.next() % VERSIONS);
        format!("/wiki/changes/{article}/{from}/{to}")
    };
    Some((0..6).map(|_| between()).chain([self::article(article % ARTICLES)]).collect())
}

/// The path of a good.
pub(crate) fn good(n: usize) -> String {
    format!("/shop/good/{n}")
}

/// The path of an article.
pub(crate) fn article(n: usize) -> String {
    format!("/wiki/article/{n}")
}

/// Where each article's versions are entered.
pub(crate) fn changes(n: usize) -> String {
    format!("/wiki/changes/{n}/0/1")
}

/// The start page of a host full of a few words.
pub(crate) fn stuffed() -> Resource {
    let text = "Cheap tickets online, best cheap tickets! Cheap flights tickets cheap hotels. ";
    Resource::bytes("text/html", format!("<title>Cheap</title><p>{}", text.repeat(40)))
}

/// The start page of a host that links to everybody. Nobody need follow: there is nobody.
pub(crate) fn farm() -> Resource {
    let mut html = "<title>Links</title><ul>".to_owned();
    for n in 0..80 {
        let _ = write!(html, "<li><a rel=nofollow href=\"http://casino{n}.test/\">casino</a>");
    }
    Resource::bytes("text/html", html)
}
