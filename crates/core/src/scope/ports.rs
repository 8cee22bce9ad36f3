//! Filter `ports`: ports on which something else than the web answers.
//!
//! A link could make the crawler speak to a mail server, or to anything else that reads lines. Browsers
//! refuse these ports (Fetch standard, "port blocking"), and so does larm, unless a seed names that very
//! host and port.

use std::collections::HashSet;

use super::{Filter, Subject, Verdict};
use crate::url::CrawlUrl;

/// The bad ports of the Fetch standard, in its order.
#[rustfmt::skip]
const BAD: &[u16] = &[
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513,
    514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720,
    1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

pub(super) struct Ports {
    /// Bad ports that a seed names, with its host.
    named: HashSet<(String, u16)>,
}

impl Ports {
    pub fn new(seeds: &[CrawlUrl]) -> Self {
        let bad = seeds.iter().filter(|seed| BAD.binary_search(&seed.port()).is_ok());
        Self { named: bad.map(|seed| (seed.host().to_owned(), seed.port())).collect() }
    }
}

impl Filter for Ports {
    fn name(&self) -> &'static str {
        "ports"
    }

    fn is_about_safety(&self) -> bool {
        true
    }

    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let port = subject.url.port();
        if subject.url.is_file() || BAD.binary_search(&port).is_err() {
            return Verdict::Pass;
        }
        if self.named.contains(&(subject.url.host().to_owned(), port)) {
            return Verdict::Pass;
        }
        Verdict::reject("ports", format!("port {port} is not for the web, and no seed names it"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_passes, assert_rejects, link, url};
    use super::*;

    #[test]
    fn the_list_is_in_order_and_of_the_standards_length() {
        assert!(BAD.is_sorted());
        assert_eq!(BAD.len(), 83);
    }

    #[test]
    fn ports_of_other_protocols_are_refused() {
        let ports = Ports::new(&[]);
        for text in ["http://h/", "https://h/", "http://h:8080/", "http://h:81/", "http://h:3000/"]
        {
            assert_passes(&ports, link(text));
        }
        for text in ["http://h:25/", "https://h:22/", "http://h:6667/", "http://h:0/"] {
            assert_rejects(&ports, link(text), "is not for the web");
        }
    }

    #[test]
    fn a_seed_opens_its_own_port_on_its_own_host() {
        let ports = Ports::new(&[url("http://h:6000/")]);
        assert_passes(&ports, link("http://h:6000/page"));
        assert_rejects(&ports, link("http://other:6000/"), "ports: port 6000");
        assert_rejects(&ports, link("http://h:25/"), "ports: port 25");
    }
}
