//! `/.well-known/tdmrep.json` (TDM Reservation Protocol, 2024): a list of paths, and whether text and data
//! mining is reserved there.
//!
//! Patterns are those of robots.txt; the first that matches decides. Bytes are never an error: what is no
//! list of rules is a file without rules, and a rule that lacks its path or its number is skipped. At
//! most `tdmrep_bytes_max` bytes and `tdmrep_rules_max` rules count.

use serde::Deserialize;
use serde_json::Value;

use crate::Limits;
use crate::robots::{escape, matcher};

/// The rules of one origin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TdmRep {
    rules: Box<[TdmRule]>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TdmRule {
    /// The path as written.
    pub location: Box<str>,
    /// Whether mining is reserved there.
    pub reserved: bool,
    /// Where a licence can be had.
    pub policy: Option<Box<str>>,
    /// The path in the form for comparison.
    pattern: Box<[u8]>,
    anchored: bool,
}

#[derive(Deserialize)]
struct Written {
    location: String,
    #[serde(rename = "tdm-reservation")]
    reservation: Value,
    #[serde(rename = "tdm-policy")]
    policy: Option<String>,
}

impl TdmRep {
    /// Reads a file.
    pub fn parse(bytes: &[u8], limits: &Limits) -> Self {
        if bytes.len() as u64 > limits.tdmrep_bytes_max {
            return Self::default();
        }
        let listed: Vec<Value> = match serde_json::from_slice(bytes) {
            Ok(Value::Array(list)) => list,
            // Often written so, although the brackets are mandatory.
            Ok(one @ Value::Object(_)) => vec![one],
            _ => Vec::new(),
        };
        let max = usize::try_from(limits.tdmrep_rules_max).unwrap_or(usize::MAX);
        Self { rules: listed.into_iter().take(max).filter_map(rule).collect() }
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The rule that decides about a path with its query.
    pub fn rule_for(&self, path_and_query: &str) -> Option<&TdmRule> {
        if self.rules.is_empty() {
            return None;
        }
        let path = escape::normal_path(path_and_query.as_bytes());
        self.rules.iter().find(|rule| matcher::matches(&rule.pattern, rule.anchored, &path))
    }

    /// Bytes on the heap, for caches that count them.
    pub fn heap_bytes(&self) -> usize {
        let texts = self.rules.iter().map(|rule| {
            rule.location.len() + rule.pattern.len() + rule.policy.as_ref().map_or(0, |p| p.len())
        });
        size_of_val(&*self.rules) + texts.sum::<usize>()
    }
}

fn rule(value: Value) -> Option<TdmRule> {
    let Written { location, reservation, policy } = serde_json::from_value(value).ok()?;
    let reserved = match &reservation {
        Value::Number(number) => number.as_u64()?,
        Value::String(digits) => digits.trim().parse().ok()?,
        _ => return None,
    };
    let (bare, anchored) = match location.strip_suffix('$') {
        Some(bare) => (bare, true),
        None => (location.as_str(), false),
    };
    Some(TdmRule {
        pattern: escape::normal_pattern(bare.as_bytes()).into_owned().into(),
        anchored,
        reserved: match reserved {
            0 => false,
            1 => true,
            _ => return None,
        },
        policy: policy.map(Into::into),
        location: location.into(),
    })
}
