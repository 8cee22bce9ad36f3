//! Redirects. The truth says: every hop is a URL of its own, fetched once and answered with its
//! status; the target is a URL like any other. A loop is each of its hops once.

use super::Shelf;
use crate::resource::{Form, Link, Resource};

/// One redirect per status, a relative one, a chain of four, loops, one to another host and, where
/// there are private areas, one into them (its target is forbidden).
pub(super) fn redirects(shelf: &mut Shelf, next_host: usize, private: bool) {
    for status in [301, 302, 307, 308] {
        let form = if status == 302 { Form::Absolute } else { Form::Root };
        hop(shelf, &format!("/moved/{status}"), status, &format!("/landed/{status}"), form);
        shelf.put_page(&format!("/landed/{status}"));
        shelf.enter(&format!("/moved/{status}"));
    }
    hop(shelf, "/moved/near/relative", 301, "/landed/relative?by=header", Form::Relative);
    shelf.put_page("/landed/relative?by=header");
    shelf.enter("/moved/near/relative");
    chain(shelf);
    loops(shelf);
    let away = Resource::redirect(301, Link::absolute(next_host, "/"));
    shelf.offer("/moved/away", away);
    if private {
        hop(shelf, "/moved/private", 302, "/private/by-redirect", Form::Root);
        shelf.put_page("/private/by-redirect");
        shelf.enter("/moved/private");
    }
}

fn chain(shelf: &mut Shelf) {
    for n in 1..4 {
        let (from, to) = (format!("/moved/chain/{n}"), format!("/moved/chain/{}", n + 1));
        hop(shelf, &from, 302, &to, Form::Root);
    }
    hop(shelf, "/moved/chain/4", 302, "/landed/chain", Form::Root);
    shelf.put_page("/landed/chain");
    shelf.enter("/moved/chain/1");
}

fn loops(shelf: &mut Shelf) {
    hop(shelf, "/moved/round/a", 301, "/moved/round/b", Form::Root);
    hop(shelf, "/moved/round/b", 302, "/moved/round/a", Form::Root);
    hop(shelf, "/moved/self", 307, "/moved/self", Form::Absolute);
    shelf.enter("/moved/round/a");
    shelf.enter("/moved/self");
}

fn hop(shelf: &mut Shelf, from: &str, status: u16, to: &str, form: Form) {
    let to = Link::new(shelf.host, to, form);
    shelf.put(from, Resource::redirect(status, to));
}
