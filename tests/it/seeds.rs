//! Whoever names a site means what it redirects to, as long as it is the same site.

use larm_crawl::store::summary::State;

use crate::hand::{Hand, at, page, redirect, with_body};
use crate::kept::{Kept, text};
use crate::world::{crawl, crawl_until};

const HOSTS: [&str; 3] = ["example.test", "www.example.test", "other.test"];

/// example.test redirects to www.example.test, which has `pages` pages in a row.
fn moved_site(pages: usize) -> Hand {
    Hand::serve(|port| {
        let www = at(port, "www.example.test/");
        let mut answers = vec![("example.test/".to_owned(), redirect(&www))];
        for n in 0..pages {
            let here = if n == 0 { String::new() } else { format!("page/{n}") };
            let next = format!("/page/{}", n + 1);
            let links =
                if n + 1 < pages { vec![next.as_str(), "/page/1"] } else { vec!["/page/2"] };
            answers.push((format!("www.example.test/{here}"), page(&links)));
        }
        answers
    })
}

#[test]
fn a_seed_that_moved_to_another_name_of_its_site_is_followed() {
    let hand = moved_site(4);
    let summary = crawl(hand.plan("example.test/", &HOSTS));
    assert_eq!((summary.redirects, summary.fetched), (1, 4), "{summary:?}");
    Kept::of(&hand.dir()).assert_sound();
}

#[test]
fn where_a_seed_moved_to_is_not_forgotten_when_the_crawl_goes_on() {
    let hand = moved_site(12);
    let stopped = crawl_until(hand.plan("example.test/", &HOSTS), 4);
    assert_eq!(stopped.state, State::Stopped);
    let summary = crawl(hand.plan("example.test/", &HOSTS));
    assert_eq!((summary.redirects, summary.fetched), (1, 12), "{summary:?}");
}

#[test]
fn a_seed_that_moved_to_another_site_is_not_followed_and_the_link_log_says_so() {
    let hand = Hand::serve(|port| {
        let other = at(port, "other.test/");
        vec![
            ("example.test/".to_owned(), redirect(&other)),
            ("other.test/".to_owned(), page(&["/more"])),
        ]
    });
    let summary = crawl(hand.plan("example.test/", &HOSTS));
    assert_eq!(hand.asked(), ["example.test/"]);
    assert_eq!(summary.rejected.get("scope"), Some(&1), "{summary:?}");
    let kept = Kept::of(&hand.dir());
    let links = kept.links_of(&hand.url("example.test/"));
    assert_eq!(links.len(), 1, "{links:?}");
    assert_eq!(text(links[0], "via"), "redirect");
    assert!(text(links[0], "verdict").starts_with("scope: "), "{links:?}");
}

#[test]
fn a_page_that_redirects_later_on_does_not_widen_the_scope() {
    let hand = Hand::serve(|port| {
        let www = at(port, "www.example.test/");
        vec![
            ("example.test/".to_owned(), page(&["/moved"])),
            ("example.test/moved".to_owned(), redirect(&www)),
            ("www.example.test/".to_owned(), page(&["/more"])),
        ]
    });
    crawl(hand.plan("example.test/", &HOSTS));
    assert_eq!(hand.asked(), ["example.test/", "example.test/moved"]);
}

#[test]
fn a_sitemap_as_a_seed_gives_its_pages() {
    let hand = Hand::serve(|port| {
        let entry =
            |n: usize| format!("<url><loc>{}</loc></url>", at(port, &format!("a.test/{n}")));
        let sitemap = format!("<?xml version=\"1.0\"?><urlset>{}{}</urlset>", entry(1), entry(2));
        vec![
            ("a.test/map.xml".to_owned(), with_body("application/xml", &sitemap)),
            ("a.test/1".to_owned(), page(&["/3"])),
            ("a.test/2".to_owned(), page(&[])),
            ("a.test/3".to_owned(), page(&["/1"])),
        ]
    });
    let mut plan = hand.plan("a.test/map.xml", &["a.test"]);
    plan.sitemaps = std::mem::take(&mut plan.seeds);
    crawl(plan);
    let mut asked = hand.asked();
    asked.sort();
    assert_eq!(asked, ["a.test/1", "a.test/2", "a.test/3", "a.test/map.xml"]);
}
