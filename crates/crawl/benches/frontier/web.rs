//! The links of a web that is not there: a pure function of their number.

use std::sync::Arc;

use larm_core::url::CrawlUrl;
use larm_core::via::Via;
use larm_crawl::frontier::{Candidate, Errand};

/// URLs among which links repeat from page to page.
const NEAR_URLS: u64 = 20_000;

/// URLs by number.
pub struct Web {
    hosts: u64,
    uniform: bool,
    /// How many URLs were given out.
    pub known: u64,
    chance: u64,
    parent: Arc<str>,
}

impl Web {
    /// A web of so many hosts.
    pub fn new(hosts: u64, uniform: bool) -> Self {
        Self { hosts, uniform, known: 0, chance: 1, parent: "http://example.org/".into() }
    }

    /// The links of a page, so many of them new that `known_after` are known.
    pub fn page(&mut self, links: u64, known_after: u64) -> Vec<Candidate> {
        self.parent = self.url(self.known.saturating_sub(1)).as_str().into();
        (0..links).map(|_| self.link(known_after)).collect()
    }

    fn link(&mut self, known_after: u64) -> Candidate {
        let roll = self.roll();
        let number = if self.known < known_after {
            self.known += 1;
            self.known - 1
        } else if !roll.is_multiple_of(6) {
            self.known - 1 - (roll >> 8) % self.known.min(NEAR_URLS)
        } else {
            (roll >> 8) % self.known
        };
        Candidate {
            url: self.url(number),
            depth: (number % 7) as u32 + 1,
            via: Via::Anchor,
            parent: Some(self.parent.clone()),
            redirects: 0,
            errand: Errand::Page,
        }
    }

    /// The host of a URL: popular ones have many.
    fn host(&self, number: u64) -> u64 {
        let chance = mix(number);
        if self.uniform {
            return chance % self.hosts;
        }
        // 1/k for the k-th: the logarithm of the rank is evenly spread.
        let share = (chance >> 11) as f64 / (1_u64 << 53) as f64;
        ((self.hosts as f64).powf(share) as u64 - 1).min(self.hosts - 1)
    }

    fn url(&self, number: u64) -> CrawlUrl {
        const WORDS: [&str; 8] =
            ["news", "shop-online", "blog", "uni-library", "cats", "wiki", "travelguide", "x"];
        const ENDS: [&str; 5] = ["com", "org", "co.uk", "de", "net"];
        let host = self.host(number);
        let name = mix(host);
        let word = |n: u64| WORDS[(n % 8) as usize];
        let text = format!(
            "https://{}.{}{:x}.{}/{}/{}/{:x}-{}.html?id={number}",
            ["www", "de", "m"][(name % 3) as usize],
            word(name >> 8),
            host,
            ENDS[(name >> 16) as usize % 5],
            word(number),
            word(number >> 3),
            mix(number) >> 24,
            word(number >> 6),
        );
        CrawlUrl::from_canonical(&text).expect("it is a URL")
    }

    fn roll(&mut self) -> u64 {
        self.chance += 1;
        mix(!self.chance)
    }
}

/// A bijection that spreads numbers (SplitMix64's last step).
fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
