//! Uses of a page that an owner can allow or reserve, and what was said of each.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a page can be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Use {
    /// To be found by a search that leads to it.
    Search,
    /// As input of a model that answers: AIPREF's `ai-use`, Content Signals' `ai-input`.
    AiInput,
    /// To train models: AIPREF's `train-ai`, Content Signals' `ai-train`.
    AiTrain,
    /// Text and data mining, as European law has it.
    TextMining,
}

impl Use {
    /// All of them, in the order of the type.
    pub const ALL: [Self; 4] = [Self::Search, Self::AiInput, Self::AiTrain, Self::TextMining];

    /// One stable word for flags, facts and reasons.
    pub fn word(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::AiInput => "ai-input",
            Self::AiTrain => "ai-train",
            Self::TextMining => "tdm",
        }
    }

    /// The use of an AIPREF label, which are compared as they are.
    pub(super) fn from_label(label: &[u8]) -> Option<Self> {
        match label {
            b"search" => Some(Self::Search),
            b"ai-use" => Some(Self::AiInput),
            b"train-ai" => Some(Self::AiTrain),
            _ => None,
        }
    }

    /// The use of a Content Signal's name, whatever its case.
    pub(super) fn from_signal(name: &str) -> Option<Self> {
        let named = |of: &Self| name.eq_ignore_ascii_case(of.word());
        [Self::Search, Self::AiInput, Self::AiTrain].into_iter().find(named)
    }
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Use {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|of| of.word() == text);
        let words = || Self::ALL.map(Self::word).join(", ");
        known.ok_or_else(|| format!("`{text}` is no use of a page; there are {}", words()))
    }
}

impl Serialize for Use {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for Use {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What is said of a use. The stricter, the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Preference {
    /// It is welcome.
    Allowed,
    /// It is not.
    Reserved,
}

impl Preference {
    /// One stable word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Reserved => "reserved",
        }
    }
}

/// Some uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UseSet(u8);

impl UseSet {
    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether this one is among them.
    pub fn contains(self, of: Use) -> bool {
        self.0 & 1 << of as u8 != 0
    }

    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = Use> {
        Use::ALL.into_iter().filter(move |of| self.contains(*of))
    }
}

impl FromIterator<Use> for UseSet {
    fn from_iter<I: IntoIterator<Item = Use>>(uses: I) -> Self {
        Self(uses.into_iter().fold(0, |set, of| set | 1 << of as u8))
    }
}

/// What one or several statements say of each use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Says([Option<Preference>; 4]);

impl Says {
    pub fn get(&self, of: Use) -> Option<Preference> {
        self.0[of as usize]
    }

    pub fn with(mut self, of: Use, preference: Option<Preference>) -> Self {
        self.0[of as usize] = preference;
        self
    }

    /// AIPREF vocabulary, section 5.1: no before yes, yes before nothing.
    pub fn strictest(self, other: Self) -> Self {
        Use::ALL.into_iter().fold(self, |says, of| says.with(of, says.get(of).max(other.get(of))))
    }
}
