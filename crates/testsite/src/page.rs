//! Numbered pages: a pure function of (seed, host, number).
//!
//! Page 0 is the start page. The others hang below it as a tree, so that each can be reached; the
//! remaining links go to random pages of this host and of others. The truth says about a numbered
//! page: status 200, to be fetched once.

use crate::dice::Dice;
use crate::feature;
use crate::resource::{Carrier, Coding, Delivery, Form, Link, Page, Resource};
use crate::web::{HostKind, Web};

/// Path and query of page `n` of a host.
pub(crate) fn path(web: &Web, host: usize, n: usize) -> String {
    if n == 0 {
        return "/".to_owned();
    }
    if let Some(slug) = web.prose.slug(host, n) {
        return slug;
    }
    match Dice::of(&[web.plan.seed, host as u64, n as u64]).below(4) {
        0 => format!("/p/{n}.html"),
        1 => format!("/s{}/item/{n}", n % 7),
        2 => format!("/view?lang=en&id={n}"),
        _ => format!("/d/{n}/"),
    }
}

/// The number of the page at a path, if one of the host's pages stands there.
pub(crate) fn number(web: &Web, host: usize, path_asked: &str) -> Option<usize> {
    if path_asked == "/" {
        return Some(0);
    }
    let end = path_asked.rfind(|c: char| c.is_ascii_digit())? + 1;
    let digits = path_asked[..end].bytes().rev().take_while(u8::is_ascii_digit).count();
    let n: usize = path_asked[end - digits..end].parse().ok()?;
    (n < web.hosts[host].pages && path(web, host, n) == path_asked).then_some(n)
}

/// Page `n` of a host.
pub(crate) fn resource(web: &Web, host: usize, n: usize) -> Resource {
    let features = &web.plan.features;
    let mut dice = Dice::of(&[web.plan.seed, 1, host as u64, n as u64]);
    let text = dice.next();
    let mut links = links(web, host, n, &mut dice);
    if features.markup {
        vary(&mut links, n, &mut dice);
    }
    if n == 0 {
        links.extend(web.introduces(host).into_iter().map(|next| Link::absolute(next, "/")));
        links.extend_from_slice(web.entries(host));
    }
    if features.assets && n.is_multiple_of(2) && web.hosts[host].kind == HostKind::Site {
        links.extend(feature::embedded(host));
    }
    let page = Page {
        title: web.prose.title(host, n),
        links,
        base: (features.markup && n % 8 == 3).then(|| format!("/base/of/{n}/")),
        varied: features.markup,
        foreign: features.foreign && n == 0,
        text,
        bytes: web.plan.page_bytes,
        ..Page::default()
    };
    Resource::page(page).with_delivery(delivery(web, n))
}

/// Children in the tree, then random pages up to the planned number.
fn links(web: &Web, host: usize, n: usize, dice: &mut Dice) -> Vec<Link> {
    let pages = web.hosts[host].pages;
    let branches = (web.plan.links_per_page / 2).max(2);
    let children = (n * branches + 1..=n * branches + branches).take_while(|child| *child < pages);
    let mut links: Vec<_> =
        children.map(|child| Link::local(host, path(web, host, child))).collect();
    while links.len() < web.plan.links_per_page {
        links.push(random_link(web, host, dice));
    }
    links
}

/// One in five leads to another ordinary host.
fn random_link(web: &Web, host: usize, dice: &mut Dice) -> Link {
    let other = dice.below(web.plan.hosts);
    if other != host && dice.one_in(5) {
        let n = dice.below(web.hosts[other].pages);
        return Link::absolute(other, path(web, other, n));
    }
    let n = dice.below(web.hosts[host].pages);
    Link::local(host, path(web, host, n))
}

const OWN_FORMS: [Form; 9] = [
    Form::Absolute,
    Form::Shouted,
    Form::Network,
    Form::Root,
    Form::Relative,
    Form::Dotted,
    Form::Fragment,
    Form::Spaced,
    Form::Entities,
];

/// Writes the links in all the ways there are; those to other hosts in the ways that name a host.
fn vary(links: &mut [Link], n: usize, dice: &mut Dice) {
    for link in links.iter_mut() {
        let forms = if link.form == Form::Absolute { &OWN_FORMS[..3] } else { &OWN_FORMS[..] };
        link.form = forms[dice.below(forms.len())];
        link.carrier = match dice.below(12) {
            0 => Carrier::Area,
            1 => Carrier::Noscript,
            _ => Carrier::Anchor,
        };
    }
    if let Some(last) = links.last_mut().filter(|_| n % 9 == 5) {
        last.carrier = Carrier::Refresh;
    }
}

fn delivery(web: &Web, n: usize) -> Delivery {
    let features = &web.plan.features;
    let gzip = if web.plan.gzip { Coding::Gzip } else { Coding::Identity };
    let (coding, chunked) = match n % 5 {
        1 if features.encodings => (Coding::Gzip, false),
        2 if features.encodings => (Coding::Deflate, false),
        3 if features.encodings => (Coding::Identity, true),
        4 if features.encodings => (Coding::Gzip, true),
        _ => (gzip, false),
    };
    let cookie = features.cookies && n.is_multiple_of(3);
    let headers = if cookie { vec!["Set-Cookie: visit=1; Path=/; HttpOnly"] } else { Vec::new() };
    Delivery {
        coding,
        chunked,
        close: features.closing && n % 6 == 5,
        headers,
        ..Delivery::default()
    }
}
