//! Pages that are not there, not yet there, or never.

use super::Shelf;
use crate::resource::{Resource, RetryAfter};

/// The truth says: fetched once, with status 404 or 410.
pub(super) fn dead_links(shelf: &mut Shelf) {
    shelf.enter("/gone/not-found");
    shelf.offer("/gone/for-good", Resource::status(410));
}

/// The truth says: a page, status 200, for a crawler that tries again after the wait that it was
/// told (one second); what it links to can be found only so.
pub(super) fn flaky(shelf: &mut Shelf) {
    let rows = [(500, RetryAfter::None), (503, RetryAfter::Seconds(1)), (429, RetryAfter::Date(1))];
    for (first, retry_after) in rows {
        let (path, found) = (format!("/flaky/{first}"), format!("/flaky/found/{first}"));
        let page = shelf.page(&path, vec![shelf.link(&found)]);
        shelf.offer(&path, Resource::page(page).flaky(first, retry_after));
        shelf.put_page(&found);
    }
}

/// The truth says: fetched at least once, and never answered with anything but its status.
pub(super) fn failing(shelf: &mut Shelf) {
    shelf.offer("/failing/500", Resource::status(500));
    shelf.offer("/failing/503", Resource::status(503));
}
