//! Hosts that show something else than what was asked for: a page for browsers, or one for everything.

use crate::resource::{Delivery, Link, Page, Resource, Role};
use crate::web::Web;

/// Ways in which a host keeps machines out of all its pages; its robots.txt is open to everybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Challenge {
    /// 403, and a header that says so.
    Header,
    /// 200, and a page that has to be run.
    Page,
}

impl Challenge {
    /// All of them, with the word that names their host.
    pub const ALL: [(Self, &'static str); 2] = [(Self::Header, "header"), (Self::Page, "page")];
}

const CHECKING: &str = "<!doctype html><html lang=\"en\"><head>\
    <title>Making sure you&#39;re not a bot!</title>\
    <script id=\"anubis_challenge\" type=\"application/json\">{\"difficulty\":4}</script></head>\
    <body><p>Loading. <a href=\"/p/1.html\">Home</a></p></body></html>\n";

/// What such a host answers. The truth says: asked for at least once, and never a page.
pub(crate) fn challenge(challenge: Challenge) -> Resource {
    let resource = match challenge {
        Challenge::Header => {
            let headers = vec!["cf-mitigated: challenge", "Server: cloudflare"];
            let delivery = Delivery { headers, ..Delivery::default() };
            Resource::status(403).with_delivery(delivery)
        }
        Challenge::Page => Resource::bytes("text/html; charset=utf-8", CHECKING),
    };
    resource.with_role(Role::Wall)
}

/// Links of a soft host's start page that lead to nothing.
pub(crate) const LOST: usize = 8;

/// What a soft host answers to every path where nothing is. The truth says: a page, since its status
/// says so; and a path that nobody links to may be asked for, to find out.
pub(crate) fn nothing_here(web: &Web, host: usize) -> Resource {
    let links = vec![Link::local(host, "/")];
    let title = "Nothing is here".to_owned();
    let bytes = web.plan.page_bytes.min(2_000);
    Resource::page(Page { title, links, text: web.plan.seed, bytes, ..Page::default() })
}
