//! Finite difficulties: what each feature puts on the shelf of a host.
//!
//! A generator adds resources and the start page's links to them, and its comment says what the truth
//! makes of them. Endless spaces are in `trap`, broken HTTP in `hostile`, robots.txt in `robots`.

mod access;
mod assets;
mod content;
mod errors;
mod moved;

use std::collections::HashMap;

pub(crate) use access::NOFOLLOW_HEADER;
pub(crate) use assets::{SITEMAP_INDEX, embedded};

use crate::hostile::Misbehaviour;
use crate::resource::{Link, Page, Resource};
use crate::trap;
use crate::web::{HostKind, Web};

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
        Page {
            title: title_of(path),
            links,
            text,
            bytes: self.bytes,
            ..Page::default()
        }
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

/// Title for a path: its words.
pub(crate) fn title_of(path: &str) -> String {
    let words = path
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let title = words.collect::<Vec<_>>().join(" ");
    title.chars().take(80).collect()
}

/// Fills the shelf of a host with what its kind and the plan's features ask for.
pub(crate) fn stock(web: &Web, host: usize) -> Shelf {
    let bytes = web.plan.page_bytes.min(2_000);
    let seed = web.plan.seed ^ (host as u64) << 32;
    let mut shelf = Shelf {
        host,
        seed,
        bytes,
        ..Shelf::default()
    };
    match web.hosts[host].kind {
        HostKind::Site => stock_site(web, &mut shelf),
        // Its page is closed or open as its robots.txt has it.
        HostKind::Robots(_) => shelf.offer_page("/private/page"),
        HostKind::Hostile(Misbehaviour::Refuses) | HostKind::Mirror => {}
        // Misbehaves at one path; its other pages are as good as any.
        HostKind::Hostile(bad) => shelf.offer("/bad", Resource::bad(bad)),
    }
    shelf
}

fn stock_site(web: &Web, shelf: &mut Shelf) {
    let features = &web.plan.features;
    let next_host = (shelf.host + 1) % web.plan.hosts;
    type Generator<'g> = &'g dyn Fn(&mut Shelf);
    let generators: [(bool, Generator<'_>); 15] = [
        (features.redirects, &|shelf| {
            moved::redirects(shelf, next_host, features.private)
        }),
        (features.dead_links, &errors::dead_links),
        (features.flaky, &errors::flaky),
        (features.failing, &errors::failing),
        (features.duplicates, &content::duplicates),
        (features.charsets, &content::charsets),
        (features.types, &content::types),
        (features.slow, &content::slow),
        (features.long_urls, &content::long_urls),
        (features.private, &access::private),
        (features.nofollow, &access::nofollow),
        (features.actions, &access::actions),
        (features.assets, &assets::assets),
        (features.sitemaps, &|shelf| assets::sitemaps(web, shelf)),
        (trap::is_trapped(web, shelf.host), &traps),
    ];
    for (_, generate) in generators.into_iter().filter(|(on, _)| *on) {
        generate(shelf);
    }
}

fn traps(shelf: &mut Shelf) {
    for (_, _, entry) in trap::SPACES {
        shelf.enter(entry);
    }
}
