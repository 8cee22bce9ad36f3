//! Unusual content: copies, charsets, wrong types, slow bodies, long URLs.

use super::Shelf;
use super::assets::PIXEL_PNG;
use crate::charset::Charset;
use crate::resource::{Delivery, Link, Resource, Role};

/// Three URLs with one body.
///
/// The truth says: the second and third are copies of the first; a crawler that left them out because
/// it has that content is excused. What they link to is an ordinary page.
pub(super) fn duplicates(shelf: &mut Shelf) {
    let page = shelf.page("/same/1", vec![shelf.link("/same/child")]);
    shelf.offer("/same/1", Resource::page(page.clone()));
    for path in ["/same/2", "/same/elsewhere/3?copy=yes"] {
        let copy = Resource::page(page.clone()).with_role(Role::CopyOf("/same/1".to_owned()));
        shelf.offer(path, copy);
    }
    shelf.put_page("/same/child");
}

/// One page per charset and place of its declaration, each with a link only found by decoding it.
///
/// The truth says: ordinary pages. Paths are UTF-8 whatever the page is written in; queries are in
/// the charset of the page (WHATWG URL, "encoding-parse a URL").
pub(super) fn charsets(shelf: &mut Shelf) {
    for charset in Charset::ODD {
        let name = charset.word();
        let (path, found) = (format!("/charset/{name}"), format!("/charset/found/{name}"));
        let mut page = shelf.page(&path, vec![shelf.link(&found)]);
        page.title = charset.sample().to_owned();
        if let Some((path, written)) = charset.odd_link() {
            page.links.push(Link { written: written.to_owned(), ..shelf.link(path) });
            shelf.put_page(path);
        }
        page.charset = charset;
        shelf.offer(&path, Resource::page(page));
        shelf.put_page(&found);
    }
}

/// Types that are wrong or missing. The links in them lead to the start page, which is known anyway:
/// whether to look into such a body is a matter of taste.
///
/// The truth says: fetched once, status 200.
pub(super) fn types(shelf: &mut Shelf) {
    for (path, content_type) in [
        ("/odd/page-as-text", "text/plain"),
        ("/odd/page-as-image", "image/png"),
        ("/odd/none", ""),
    ] {
        let page = Resource::page(shelf.page(path, vec![shelf.link("/")]));
        let delivery = Delivery { content_type: Some(content_type), ..Delivery::default() };
        shelf.offer(path, page.with_delivery(delivery));
    }
    shelf.offer("/odd/image-as-page", Resource::bytes("text/html", PIXEL_PNG));
    let noise: Vec<u8> =
        (0..4_096_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    shelf.offer("/odd/noise-as-page", Resource::bytes("text/html; charset=utf-8", noise));
}

/// The truth says: ordinary pages that take half a second.
pub(super) fn slow(shelf: &mut Shelf) {
    for (path, chunked) in [("/slow/drops", false), ("/slow/chunks", true)] {
        let page = Resource::page(shelf.page(path, vec![shelf.link(&format!("{path}/found"))]));
        let delivery = Delivery { drip: true, chunked, ..Delivery::default() };
        shelf.offer(path, page.with_delivery(delivery));
        shelf.put_page(&format!("{path}/found"));
    }
}

/// The truth says: the one below 2,000 bytes is an ordinary page; the one of 5,000 may be left out.
pub(super) fn long_urls(shelf: &mut Shelf) {
    let long = |bytes: usize| format!("/long/{}", "abcdefghi-".repeat(bytes / 10));
    shelf.offer_page(&long(1_900));
    let far_too_long = Resource::status(414).with_role(Role::Overlong);
    shelf.offer(&long(5_000), far_too_long);
}
