//! What kind of web to put up: size, shape and which difficulties.
//!
//! A plan is plain data. Together with the port it decides every byte that the web serves; nothing
//! else does. No clock, no global state, no randomness that the seed does not fix.

use serde::Serialize;

use crate::hostile::Misbehaviour;

/// A web to put up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WebPlan {
    /// Everything random follows from it.
    pub seed: u64,
    /// Ordinary hosts, at least one. Features may add special ones behind them.
    pub hosts: usize,
    /// Numbered pages of an ordinary host, its start page included.
    pub pages_per_host: usize,
    /// Ordinary hosts that share an address. Counts only with names: a bare address is one host.
    pub hosts_per_address: usize,
    /// Which difficulties to build in.
    pub features: Features,
    /// Hosts that misbehave, behind the ordinary ones: how each of them does.
    pub misbehaviours: Vec<Misbehaviour>,
    /// Typical size of a page in bytes.
    pub page_bytes: usize,
    /// Typical number of links of a page.
    pub links_per_page: usize,
    /// Wait before each answer.
    pub latency_ms: u64,
    /// Compress pages for clients that accept gzip.
    pub gzip: bool,
    /// Hosts have names (`h007.site1.test`), else they are bare addresses.
    pub named_hosts: bool,
}

impl Default for WebPlan {
    /// A small and harmless web: 3 hosts of 10 pages, no features.
    fn default() -> Self {
        Self {
            seed: 1,
            hosts: 3,
            pages_per_host: 10,
            hosts_per_address: 1,
            features: Features::none(),
            misbehaviours: Vec::new(),
            page_bytes: 2_000,
            links_per_page: 8,
            latency_ms: 0,
            gzip: false,
            named_hosts: false,
        }
    }
}

impl WebPlan {
    /// Six hosts with names and prose that people like to look at, about eighty pages.
    pub fn demo() -> Self {
        Self {
            seed: 20,
            hosts: 6,
            pages_per_host: 13,
            features: Features::demo(),
            page_bytes: 3_000,
            latency_ms: 15,
            gzip: true,
            named_hosts: true,
            ..Self::default()
        }
    }

    /// Many small hosts, of which a third misbehave, each in a way that `seed` draws.
    pub fn chaos(seed: u64, hosts: usize) -> Self {
        let bad = hosts / 3;
        Self {
            seed,
            hosts: hosts - bad,
            pages_per_host: 4,
            misbehaviours: Misbehaviour::draw(seed, bad),
            ..Self::default()
        }
    }

    /// How the hosts misbehave that do: those of the feature first.
    pub(crate) fn all_misbehaviours(&self) -> Vec<Misbehaviour> {
        let basic: &[_] = if self.features.hostile { &Misbehaviour::BASIC } else { &[] };
        [basic, &self.misbehaviours].concat()
    }

    /// Whether an ordinary host shows a feature that is `on`: all of them do, but in a web with prose
    /// each feature is at `home` with one host, so that people can find it.
    pub(crate) fn shows(&self, on: bool, host: usize, home: usize) -> bool {
        on && (!self.features.prose || host == home)
    }

    /// The same plan within what can be served: no count of 0.
    pub(crate) fn sane(mut self) -> Self {
        self.hosts = self.hosts.max(1);
        self.pages_per_host = self.pages_per_host.max(1);
        self.hosts_per_address = if self.named_hosts { self.hosts_per_address.max(1) } else { 1 };
        self
    }
}

macro_rules! features {
    ($($(#[doc = $about:literal])+ $name:ident,)+) => {
        /// The difficulties a web can have, each of which can be switched on alone.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
        pub struct Features {
            $($(#[doc = $about])+ pub $name: bool,)+
        }

        impl Features {
            /// The name of each feature.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),+];

            /// Plain pages and links only.
            pub const fn none() -> Self {
                Self { $($name: false,)+ }
            }

            /// Every difficulty. Prose is none, and stays off; so do the mazes, which cost a crawler
            /// hundreds of pages to see through.
            pub const fn all() -> Self {
                Self { prose: false, mazes: false, ..Self { $($name: true,)+ } }
            }

            /// Switches one feature by its name; `false` when there is no such feature.
            pub fn set(&mut self, name: &str, on: bool) -> bool {
                match name {
                    $(stringify!($name) => self.$name = on,)+
                    _ => return false,
                }
                true
            }
        }
    };
}

features! {
    /// Many ways to write the same link: entities, no quotes, base, relative forms, upper case,
    /// area, refresh, noscript; and links that are none, in comments and scripts.
    markup,
    /// Pages in windows-1252, UTF-16 and Shift_JIS, declared in various places.
    charsets,
    /// 301, 302, 307, 308, relative targets, chains, loops, to other hosts and to private pages.
    redirects,
    /// Links that lead to 404 and 410.
    dead_links,
    /// 500, 503 and 429 at the first try, a page at the second.
    flaky,
    /// 500 and 503 at every try.
    failing,
    /// The same body at several URLs.
    duplicates,
    /// A host that is the copy of another.
    mirrors,
    /// Areas closed by robots.txt: longest match, wildcards, groups for other agents.
    private,
    /// One host per way in which a robots.txt can be unusual.
    robots,
    /// Endless calendars, endless paths, session ids, views of views.
    traps,
    /// Endless spaces on the first host that no rule about URLs knows: a diary, visitors' numbers, a shop
    /// with filters, a wiki with versions; and two hosts made for search engines.
    mazes,
    /// Pages that only a sitemap names.
    sitemaps,
    /// gzip, deflate and chunked bodies.
    encodings,
    /// Answers that end their connection.
    closing,
    /// Bodies that come in drops.
    slow,
    /// Nine hosts that break HTTP, each in a way that is over at once.
    hostile,
    /// Content types that do not tell the truth.
    types,
    /// Links not to follow: rel, meta and header.
    nofollow,
    /// Links that change something when followed: logout, delete, vote, add to cart.
    actions,
    /// Images, styles and scripts embedded in pages.
    assets,
    /// Sound, a podcast's feed and a PDF.
    media,
    /// What owners say of the use of pages: in robots.txt, headers, `meta` elements and a file.
    usage,
    /// Hosts that show a page for browsers instead of theirs.
    walls,
    /// A host that answers every path with 200.
    soft,
    /// Links to private networks and to other schemes.
    foreign,
    /// URLs of almost 2,000 bytes, and of far more.
    long_urls,
    /// Cookies set.
    cookies,
    /// Host names, titles and text as people write them; up to six hosts.
    prose,
}

impl Default for Features {
    fn default() -> Self {
        Self::none()
    }
}

impl Features {
    /// What [`WebPlan::demo`] shows.
    pub const fn demo() -> Self {
        Self {
            redirects: true,
            dead_links: true,
            private: true,
            traps: true,
            sitemaps: true,
            assets: true,
            media: true,
            duplicates: true,
            prose: true,
            ..Self::none()
        }
    }

    /// Reads `all`, `none`, `demo` or names with commas between; the error names what is unknown.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut features = Self::none();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match name {
                "none" => features = Self::none(),
                "all" => features = Self::all(),
                "demo" => features = Self::demo(),
                _ if features.set(name, true) => {}
                _ => return Err(format!("there is no feature named `{name}`")),
            }
        }
        Ok(features)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_read_by_name() {
        let read = Features::parse("redirects, traps").unwrap();
        assert!(read.redirects && read.traps && !read.hostile);
        assert_eq!(Features::parse("all"), Ok(Features::all()));
        assert!(Features::parse("no_such").is_err());
        for name in Features::NAMES {
            assert!(Features::parse(name).is_ok(), "{name}");
        }
    }
}
