//! Orders as people write them: `pagerank`, or `pagerank=2,location=1`, with `+` in place of the comma where
//! commas part orders; in TOML a text or a table.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::{
    Backlinks, Breadth, DepthFirst, Foresight, Forward, Fresh, Hubs, Location, Mix, Opic, PageRank,
    Random, Score, Tuning,
};

macro_rules! names {
    ($($(#[doc = $about:literal])+ $name:ident = $word:literal $(or $alias:literal)?;)+) => {
        /// What a page can be worth something by.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Name {
            $($(#[doc = $about])+ $name,)+
        }

        impl Name {
            /// Every name.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The word for it.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)+
                }
            }

            fn of(word: &str) -> Option<Self> {
                match word {
                    $($word $(| $alias)? => Some(Self::$name),)+
                    _ => None,
                }
            }
        }
    };
}

names! {
    /// Any waiting page.
    Random = "random";
    /// The fewest links from a seed.
    Breadth = "breadth" or "bfs";
    /// What the last page links to.
    DepthFirst = "depth-first" or "dfs";
    /// Links from fetched pages.
    Backlinks = "backlinks" or "backlink";
    /// PageRank, as it will probably be.
    Pagerank = "pagerank";
    /// PageRank of what is known by now.
    PagerankSoFar = "pagerank-so-far";
    /// Cash that pages pass on.
    Opic = "opic";
    /// Links that it probably has.
    Forward = "forward";
    /// Its URL.
    Location = "location";
    /// Good hubs that lead to it.
    Hubs = "hubs";
    /// Likeness to a query.
    Query = "query";
    /// Likeness to example documents.
    Like = "like";
    /// The newest, as sitemaps and feeds say.
    Fresh = "fresh";
}

impl Name {
    /// Whether it judges by the text of pages and links.
    pub fn needs_text(self) -> bool {
        matches!(self, Self::Query | Self::Like)
    }

    /// Whether it judges by what sitemaps and feeds say of pages.
    pub fn needs_hints(self) -> bool {
        self == Self::Fresh
    }

    /// Whether it judges by URLs.
    pub fn needs_urls(self) -> bool {
        self == Self::Location
    }

    /// The score of this name, unless it is about text, which is not known here.
    pub fn score(self, tuning: &Tuning) -> Option<Box<dyn Score>> {
        Some(match self {
            Self::Random => Box::new(Random::new(tuning)),
            Self::Breadth => Box::new(Breadth::default()),
            Self::DepthFirst => Box::new(DepthFirst::default()),
            Self::Backlinks => Box::new(Backlinks::default()),
            Self::Pagerank => Box::new(Foresight::new(tuning)),
            Self::PagerankSoFar => Box::new(PageRank::new(tuning)),
            Self::Opic => Box::new(Opic::new(tuning)),
            Self::Forward => Box::new(Forward::default()),
            Self::Location => Box::new(Location::new(tuning)),
            Self::Hubs => Box::new(Hubs::new(tuning)),
            Self::Fresh => Box::new(Fresh::new(tuning.now)),
            Self::Query | Self::Like => return None,
        })
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Name {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        Self::of(word).ok_or_else(|| {
            let words: Vec<&str> = Self::ALL.iter().map(|name| name.word()).collect();
            format!("there is no order `{word}`; there are {}", words.join(", "))
        })
    }
}

/// One name or several, each with a weight: never none, none twice, no weight 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Order(Vec<(Name, f32)>);

impl Order {
    /// An order by one name alone.
    pub fn by(name: Name) -> Self {
        Self(vec![(name, 1.0)])
    }

    /// Puts names and weights together, or says what is wrong with them.
    pub fn of(parts: Vec<(Name, f32)>) -> Result<Self, String> {
        if parts.is_empty() {
            return Err("an order needs a name, as in `pagerank` or `pagerank=2,location=1`".into());
        }
        for (at, (name, weight)) in parts.iter().enumerate() {
            if !weight.is_finite() || weight.abs() > 1_000.0 || *weight == 0.0 {
                return Err(format!("the weight of `{name}` is a number up to 1,000, and not 0"));
            }
            if parts[..at].iter().any(|(before, _)| before == name) {
                return Err(format!("`{name}` stands twice in the order"));
            }
        }
        Ok(Self(parts))
    }

    /// Names and weights, in the order in which they were given.
    pub fn parts(&self) -> &[(Name, f32)] {
        &self.0
    }

    /// The score of this order. `text` makes those that judge by text; where it makes none, the name is
    /// the error.
    pub fn score(
        &self,
        tuning: &Tuning,
        text: &mut dyn FnMut(Name) -> Option<Box<dyn Score>>,
    ) -> Result<Box<dyn Score>, Name> {
        let part = |&(name, weight): &(Name, f32)| {
            let score = name.score(tuning).or_else(|| text(name)).ok_or(name)?;
            Ok((weight, score))
        };
        let mut parts = self.0.iter().map(part).collect::<Result<Vec<_>, Name>>()?;
        // One alone is exact: powers and logarithms cost digits.
        match parts.as_slice() {
            [(weight, _)] if *weight > 0.0 => Ok(parts.remove(0).1),
            _ => Ok(Box::new(Mix::new(parts))),
        }
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let part = |part: &str| match part.split_once('=') {
            None => Ok((part.trim().parse()?, 1.0)),
            Some((name, weight)) => {
                let wrong = |_| format!("the weight of `{}` is a number", name.trim());
                Ok((name.trim().parse()?, weight.trim().parse().map_err(wrong)?))
            }
        };
        let parts = text.split([',', '+']).filter(|part| !part.trim().is_empty());
        Self::of(parts.map(part).collect::<Result<_, String>>()?)
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [(name, 1.0)] = self.0.as_slice() {
            return write!(f, "{name}");
        }
        let parts: Vec<String> =
            self.0.iter().map(|(name, weight)| format!("{name}={weight}")).collect();
        f.write_str(&parts.join(","))
    }
}

impl Serialize for Order {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Order {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AsWritten)
    }
}

struct AsWritten;

impl<'de> Visitor<'de> for AsWritten {
    type Value = Order;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an order, like \"pagerank\" or { pagerank = 2, location = 1 }")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Order, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Order, A::Error> {
        let mut parts = Vec::new();
        while let Some((name, weight)) = map.next_entry::<String, f32>()? {
            parts.push((name.parse().map_err(de::Error::custom)?, weight));
        }
        Order::of(parts).map_err(de::Error::custom)
    }
}
