//! Finite difficulties: what each feature puts on the shelf of a host.
//!
//! A generator adds resources and the start page's links to them, and its comment says what the truth
//! makes of them. Endless spaces are in `trap` and `maze`, broken HTTP in `hostile`, robots.txt in `robots`.

mod access;
mod assets;
mod content;
mod errors;
mod media;
mod moved;
mod usage;
mod walls;

use std::collections::HashMap;

pub(crate) use access::NOFOLLOW_HEADER;
pub(crate) use assets::{SITEMAP_INDEX, embedded};
pub(crate) use usage::ROBOTS_LINES;
pub(crate) use walls::{Challenge, challenge, nothing_here};

use crate::hostile::{BAD, Place};
use crate::resource::{Link, Page, Resource};
use crate::web::{HostKind, Web, home};
use crate::{maze, trap};

/// The extras of one host.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    host: usize,
    seed: u64,
    bytes: usize,
    resources: HashMap<String, Resource>,
    /// What the start page links to because of them.
    pub entries: Vec<Link>,
}

impl Shelf {
    /// What stands at this path, if it is on the shelf.
    pub fn get(&self, path: &str) -> Option<Resource> {
        self.resources.get(path).cloned()
    }

    /// A page of this shelf with these links, titled by its path.
    fn page(&self, path: &str, links: Vec<Link>) -> Page {
        let text = xxhash_rust::xxh3::xxh3_64_with_seed(path.as_bytes(), self.seed);
        Page { title: title_of(path), links, text, bytes: self.bytes, ..Page::default() }
    }

    /// Puts a resource at a path that nothing links to yet.
    fn put(&mut self, path: &str, resource: Resource) {
        self.resources.insert(path.to_owned(), resource);
    }

    /// Puts a plain page without links at a path that nothing links to yet.
    fn put_page(&mut self, path: &str) {
        self.put(path, Resource::page(self.page(path, Vec::new())));
    }

    /// Puts a resource and links to it from the start page.
    fn offer(&mut self, path: &str, resource: Resource) {
        self.put(path, resource);
        self.enter(path);
    }

    /// Puts a plain page and links to it from the start page.
    fn offer_page(&mut self, path: &str) {
        self.put_page(path);
        self.enter(path);
    }

    /// Links to a path from the start page.
    fn enter(&mut self, path: &str) {
        let link = self.link(path);
        self.entries.push(link);
    }

    fn link(&self, path: &str) -> Link {
        Link::local(self.host, path)
    }
}

/// Title for a path: its words, the first with a capital.
pub(crate) fn title_of(path: &str) -> String {
    let words = path.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let title = words.collect::<Vec<_>>().join(" ");
    let mut letters = title.chars().take(80);
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Fills the shelf of a host with what its kind and the plan's features ask for.
pub(crate) fn stock(web: &Web, host: usize) -> Shelf {
    let bytes = web.plan.page_bytes.min(2_000);
    let seed = web.plan.seed ^ (host as u64) << 32;
    let mut shelf = Shelf { host, seed, bytes, ..Shelf::default() };
    match web.hosts[host].kind {
        HostKind::Site => stock_site(web, &mut shelf),
        // Its page is closed or open as its robots.txt has it.
        HostKind::Robots(_) => shelf.offer_page("/private/page"),
        HostKind::Mirror | HostKind::Walled(_) => {}
        HostKind::Stuffed => shelf.put("/", maze::stuffed()),
        HostKind::Farm => shelf.put("/", maze::farm()),
        HostKind::Soft => (0..walls::LOST).for_each(|n| shelf.enter(&format!("/lost/{n}"))),
        HostKind::Hostile(bad) => match bad.place() {
            // Misbehaves at one path; its other pages are as good as any.
            Place::Path => shelf.offer(BAD, Resource::bad(bad)),
            Place::Robots => shelf.offer_page("/private/page"),
            Place::Connection => {}
        },
    }
    shelf
}

fn stock_site(web: &Web, shelf: &mut Shelf) {
    let features = &web.plan.features;
    let next_host = (shelf.host + 1) % web.plan.hosts;
    let shown = |on: bool, home: usize| web.plan.shows(on, shelf.host, home);
    type Generator<'g> = &'g dyn Fn(&mut Shelf);
    let generators: [(bool, Generator<'_>); 18] = [
        (shown(features.redirects, home::MOVED), &|shelf| {
            moved::redirects(shelf, next_host, features.private);
        }),
        (features.dead_links, &errors::dead_links),
        (shown(features.flaky, home::ODD), &errors::flaky),
        (shown(features.failing, home::ODD), &errors::failing),
        (shown(features.duplicates, home::COPIED), &content::duplicates),
        (shown(features.charsets, home::ODD), &content::charsets),
        (shown(features.types, home::ODD), &content::types),
        (shown(features.slow, home::ODD), &content::slow),
        (shown(features.long_urls, home::ODD), &content::long_urls),
        (shown(features.private, home::PRIVATE), &access::private),
        (shown(features.nofollow, home::ODD), &access::nofollow),
        (shown(features.actions, home::ODD), &access::actions),
        (features.usage, &usage::usage),
        (features.assets, &assets::assets),
        (shown(features.sitemaps, home::MAPPED), &|shelf| assets::sitemaps(web, shelf)),
        (shown(features.media, home::MAPPED), &|shelf| media::media(web, shelf)),
        (trap::is_trapped(web, shelf.host), &traps),
        (maze::is_here(web, shelf.host), &mazes),
    ];
    for (_, generate) in generators.into_iter().filter(|(on, _)| *on) {
        generate(shelf);
    }
}

/// The ways into the mazes, and what stands beside them: goods with a list of all, articles with theirs.
fn mazes(shelf: &mut Shelf) {
    let goods: Vec<Link> = (0..maze::GOODS).map(|n| shelf.link(&maze::good(n))).collect();
    let all = goods.into_iter().chain([shelf.link("/shop/list")]).collect();
    shelf.offer("/shop/", Resource::page(shelf.page("/shop/", all)));
    (0..maze::GOODS).for_each(|n| shelf.put_page(&maze::good(n)));
    let articles = (0..maze::ARTICLES).map(|n| shelf.link(&maze::article(n))).collect();
    shelf.offer("/wiki/", Resource::page(shelf.page("/wiki/", articles)));
    for n in 0..maze::ARTICLES {
        let path = maze::article(n);
        let links = vec![shelf.link(&maze::changes(n))];
        shelf.put(&path, Resource::page(shelf.page(&path, links)));
    }
    for entry in ["/diary/week/1000", "/visit/00000000000000aa/desk/0", "/desk?number=0&visitor=1"]
    {
        shelf.enter(entry);
    }
}

fn traps(shelf: &mut Shelf) {
    for (_, _, entry) in trap::SPACES {
        shelf.enter(entry);
    }
}
