//! No page leads larm into this machine or a private network.
//!
//! A listener stands where each link leads, so that a connection would be noticed. The seed's own
//! server is on loopback too: the seed names it, and nothing else does.

use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};

use larm_core::scope::ScopeMode;
use larm_crawl::fetch::FixedResolver;
use larm_crawl::{Crawl, Plan};

use crate::hand::{Hand, page, redirect};
use crate::kept::{Kept, text};
use crate::world::{assert_none, run};

/// Listeners that nobody should reach.
struct Decoys(Vec<TcpListener>);

impl Decoys {
    /// The same port on IPv4 loopback and, where there is one, on IPv6 loopback.
    fn listen() -> Self {
        let v4 = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = v4.local_addr().expect("an address").port();
        let v6 = TcpListener::bind((Ipv6Addr::LOCALHOST, port));
        Self([Ok(v4), v6].into_iter().flatten().collect())
    }

    fn port(&self) -> u16 {
        self.0[0].local_addr().expect("an address").port()
    }

    /// A connection that came would wait in the listener's queue.
    #[track_caller]
    fn assert_untouched(&self) {
        for listener in &self.0 {
            listener.set_nonblocking(true).expect("a listener");
            let came = listener.accept();
            assert!(came.is_err(), "connected to {:?}", listener.local_addr());
        }
    }
}

/// Links that lead to this machine or to networks that are nobody's business.
fn targets(decoy: u16, own: u16) -> Vec<String> {
    let hosts = [
        "127.0.0.1",
        "127.0.0.2",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "[::]",
        // Decimal, hexadecimal, octal and short forms of 127.0.0.1.
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "0x7f.1",
        "017700000001",
        "inner.test",
    ];
    let here = hosts.iter().map(|host| format!("http://{host}:{decoy}/secret"));
    let own =
        [format!("http://127.0.0.1:{own}/private"), format!("http://inner.test:{own}/private")];
    let nets =
        ["10.0.0.1", "192.168.1.1", "172.16.0.9", "169.254.169.254", "100.64.0.1", "[fd00::1]"];
    let nets = nets.iter().map(|host| format!("http://{host}/latest/meta-data/"));
    here.chain(own).chain(nets).collect()
}

/// Knows the seed's name, and a name that leads to loopback.
fn names() -> FixedResolver {
    let here = || vec![Ipv4Addr::LOCALHOST.into()];
    FixedResolver::new([("start.test", here()), ("inner.test", here())])
}

fn crawl_everything(hand: &Hand) -> Kept {
    let mut plan: Plan = hand.plan("start.test/", &[]);
    plan.selection.scope = ScopeMode::Any;
    run(Crawl::new(plan).resolver(names())).expect("the crawl ends well");
    Kept::of(&hand.dir())
}

#[track_caller]
fn assert_refused(kept: &Kept, targets: &[String]) {
    assert_none("URLs outside the seed that were answered", {
        let outside = |url: &String| !url.starts_with("http://start.test");
        kept.answered().into_iter().filter(outside)
    });
    let lines = kept.log.iter().filter(|line| line["outcome"] != "fetched");
    let refused: Vec<_> = lines.filter(|line| line["outcome"] != "redirected").collect();
    for line in &refused {
        assert_eq!(line["outcome"], "failed", "{line}");
        let reason = text(line, "reason");
        assert!(reason.contains("forbidden-address") && reason.contains("no seed"), "{line}");
    }
    // Several spellings are one URL.
    assert!(refused.len() >= targets.len() / 2, "{} of {}", refused.len(), targets.len());
}

#[test]
fn links_into_this_machine_and_private_networks_are_refused_without_a_connection() {
    let decoys = Decoys::listen();
    let decoy = decoys.port();
    let hand = Hand::serve(|own| {
        let targets = targets(decoy, own);
        let links: Vec<&str> = targets.iter().map(String::as_str).collect();
        vec![("start.test/".to_owned(), page(&links))]
    });
    let kept = crawl_everything(&hand);
    decoys.assert_untouched();
    assert_eq!(hand.asked(), ["start.test/"]);
    assert_refused(&kept, &targets(decoy, hand.port()));
}

#[test]
fn redirects_into_this_machine_and_private_networks_are_refused_without_a_connection() {
    let decoys = Decoys::listen();
    let decoy = decoys.port();
    let hand = Hand::serve(|own| {
        let targets = targets(decoy, own);
        let hops: Vec<String> = (0..targets.len()).map(|n| format!("/go/{n}")).collect();
        let links: Vec<&str> = hops.iter().map(String::as_str).collect();
        let moved = hops.iter().zip(&targets);
        let moved = moved.map(|(hop, to)| (format!("start.test{hop}"), redirect(to)));
        std::iter::once(("start.test/".to_owned(), page(&links))).chain(moved).collect()
    });
    let kept = crawl_everything(&hand);
    decoys.assert_untouched();
    assert_none("requests for another host", {
        hand.asked().into_iter().filter(|place| !place.starts_with("start.test/"))
    });
    assert_refused(&kept, &targets(decoy, hand.port()));
}

#[test]
fn a_robots_file_that_redirects_into_this_machine_is_not_followed() {
    let decoys = Decoys::listen();
    let to = format!("http://127.0.0.1:{}/robots.txt", decoys.port());
    let hand = Hand::serve(|_| {
        vec![
            ("start.test/robots.txt".to_owned(), redirect(&to)),
            ("start.test/".to_owned(), page(&[])),
        ]
    });
    run(Crawl::new(hand.plan("start.test/", &[])).resolver(names())).expect("the crawl ends well");
    decoys.assert_untouched();
}

#[test]
fn a_network_that_was_allowed_can_be_crawled() {
    let hand = Hand::serve(|port| {
        let inner = format!("http://inner.test:{port}/");
        vec![
            ("start.test/".to_owned(), page(&[&inner])),
            ("inner.test/".to_owned(), page(&["/there"])),
            ("inner.test/there".to_owned(), page(&[])),
        ]
    });
    let mut plan = hand.plan("start.test/", &[]);
    plan.selection.scope = ScopeMode::Any;
    plan.allow_private = vec!["127.0.0.0/8".parse().expect("a network")];
    run(Crawl::new(plan).resolver(names())).expect("the crawl ends well");
    assert_eq!(hand.asked(), ["start.test/", "inner.test/", "inner.test/there"]);
}
