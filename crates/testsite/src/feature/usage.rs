//! What owners say of the use of their pages, in each place where it can stand.
//!
//! The truth says: ordinary pages, for a crawler that was not asked to respect what is said.

use super::Shelf;
use crate::resource::{Delivery, Resource};

/// What robots.txt says for every agent that it does not name.
pub(crate) const ROBOTS_LINES: &str = "\nUser-agent: *\n\
    Content-Usage: /usage/robots train-ai=n\n\
    Content-Signal: /usage/signal search=yes, ai-input=no\n";

const META: &str = "<!DOCTYPE html>\n<title>Usage meta</title>\n\
    <meta name=\"robots\" content=\"noai\">\n\
    <meta name=\"tdm-reservation\" content=\"1\">\n\
    <meta name=\"tdm-policy\" content=\"https://policy.test/1\">\n\
    <p>This page has its say in its head.</p>\n";

const TDMREP: &str = "[{\"location\": \"/usage/file\", \"tdm-reservation\": 1}]\n";

pub(super) fn usage(shelf: &mut Shelf) {
    for path in ["/usage/robots", "/usage/signal", "/usage/file", "/usage/silent"] {
        shelf.offer_page(path);
    }
    let fields = [
        ("/usage/header", "Content-Usage: train-ai=n, search=y"),
        ("/usage/tdm", "tdm-reservation: 1"),
        ("/usage/noai", "X-Robots-Tag: noai"),
    ];
    for (path, line) in fields {
        let delivery = Delivery { headers: vec![line], ..Delivery::default() };
        let page = Resource::page(shelf.page(path, Vec::new()));
        shelf.offer(path, page.with_delivery(delivery));
    }
    shelf.offer("/usage/meta", Resource::bytes("text/html; charset=utf-8", META));
    shelf.put("/.well-known/tdmrep.json", Resource::bytes("application/json", TDMREP));
}
