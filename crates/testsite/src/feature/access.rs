//! What should not be fetched, and who says so: robots.txt, the page, the header, the link, or
//! common sense.

use super::Shelf;
use crate::resource::{Delivery, Link, Resource, Role};

/// The header line by which a page asks for its links not to be followed.
pub(crate) const NOFOLLOW_HEADER: &str = "X-Robots-Tag: nofollow";

/// Pairs of paths, one closed by a rule and one that looks as if it were.
///
/// The truth says: `Rules::close` decides; the closed ones are forbidden, the others ordinary pages.
pub(super) fn private(shelf: &mut Shelf) {
    let paths = [
        "/private/diary",
        "/private/open/letter",
        "/papers/plan.secret",
        "/papers/plan.secretary",
        "/tmp7/drafts/1",
        "/tmp7/final",
        "/search?q=anything",
        "/search",
    ];
    for path in paths {
        shelf.offer_page(path);
    }
}

/// A page with meta robots, one with the header, one behind rel=nofollow.
///
/// The truth says: the first two are ordinary pages; what only such links lead to is `nofollow`:
/// not demanded, and counted apart when fetched.
pub(super) fn nofollow(shelf: &mut Shelf) {
    let mut by_meta = shelf.page("/quiet/meta", vec![shelf.link("/quiet/behind-meta")]);
    by_meta.nofollow = true;
    shelf.offer("/quiet/meta", Resource::page(by_meta));
    let by_header = shelf.page("/quiet/header", vec![shelf.link("/quiet/behind-header")]);
    let headers = vec![NOFOLLOW_HEADER];
    let delivery = Delivery { headers, ..Delivery::default() };
    shelf.offer("/quiet/header", Resource::page(by_header).with_delivery(delivery));
    let by_rel = Link { nofollow: true, ..shelf.link("/quiet/behind-rel") };
    shelf.entries.push(by_rel);
    for path in ["/quiet/behind-meta", "/quiet/behind-header", "/quiet/behind-rel"] {
        shelf.put_page(path);
    }
}

/// Links that a visitor clicks on purpose only.
///
/// The truth says: not demanded; each request for one is a forbidden action.
pub(super) fn actions(shelf: &mut Shelf) {
    let paths = [
        "/logout",
        "/account/logout?next=%2F",
        "/items/3/delete",
        "/cart/add?item=3",
        "/vote?item=3&direction=up",
    ];
    for path in paths {
        let page = shelf.page(path, Vec::new());
        shelf.offer(path, Resource::page(page).with_role(Role::Action));
    }
}
