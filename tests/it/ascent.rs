//! Whoever asks for it gets the folders of what is found, though nobody links to them.

use crate::hand::{Hand, page};
use crate::kept::Kept;
use crate::world::crawl;

const HOST: &str = "h.test";

/// A page deep down, and a list above it that leads to what nobody else knows.
fn site() -> Hand {
    Hand::serve(|_| {
        vec![
            ("h.test/start".to_owned(), page(&["/a/b/deep.html?x=/no/", "//other.test/p/q/r"])),
            ("h.test/a/b/deep.html?x=/no/".to_owned(), page(&[])),
            ("h.test/a/".to_owned(), page(&["/a/hidden"])),
            ("h.test/a/hidden".to_owned(), page(&[])),
        ]
    })
}

#[test]
fn folders_are_asked_for_once_within_the_scope_and_counted_apart() {
    let web = site();
    let mut plan = web.plan("h.test/start", &[HOST, "other.test"]);
    plan.path_ascending = true;
    let summary = crawl(plan);
    let mut asked = web.asked();
    asked.sort();
    let expected = ["/", "/a/", "/a/b/", "/a/b/deep.html?x=/no/", "/a/hidden", "/start"];
    assert_eq!(asked, expected.map(|path| format!("{HOST}{path}")));
    assert_eq!(summary.ascents, 1, "one of three is there: {summary:?}");
    let kept = Kept::of(&web.dir());
    kept.assert_sound();
    let list = kept.line(&web.url("h.test/a/"));
    assert_eq!((&list["via"], &list["depth"]), (&"ascent".into(), &1.into()));
    let links = kept.links_of(&web.url("h.test/start"));
    assert_eq!(links.len(), 2, "a folder is no link of the page: {links:?}");
}

#[test]
fn nobody_ascends_unasked() {
    let web = site();
    let summary = crawl(web.plan("h.test/start", &[HOST]));
    assert_eq!((summary.fetched, summary.ascents), (2, 0), "{summary:?}");
}
