//! Lines of a robots.txt about the use of pages: `Content-Usage` (draft-ietf-aipref-attach) and
//! `Content-Signal`.
//!
//! They are found like rules: of the groups for an agent, the lines with the longest path that matches.
//! Where several have the same path, all of them hold, and whoever reads them takes the strictest. What
//! their words mean is for [`signals`](crate::signals).

use std::borrow::Cow;

use super::{Robots, Span, escape, matcher};

/// Which vocabulary a line is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageField {
    /// IETF AIPREF: `train-ai=n`.
    ContentUsage,
    /// Content Signals: `ai-train=no`.
    ContentSignal,
}

impl UsageField {
    /// Both, in the order of the type.
    const ALL: [Self; 2] = [Self::ContentUsage, Self::ContentSignal];

    /// Name of the field, in lower case.
    pub fn word(self) -> &'static str {
        match self {
            Self::ContentUsage => "content-usage",
            Self::ContentSignal => "content-signal",
        }
    }
}

/// One such line, as it applies to a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageLine<'a> {
    /// Which vocabulary it is in.
    pub field: UsageField,
    /// What it says, without its path.
    pub words: Cow<'a, str>,
    /// Its number, counted from 1.
    pub line: u32,
}

/// One such line, as it is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usage {
    pub field: UsageField,
    pub pattern: Span,
    pub anchored: bool,
    pub words: Span,
    pub line: u32,
}

impl Usage {
    fn octets(&self) -> u32 {
        self.pattern.len() + u32::from(self.anchored)
    }
}

impl Robots {
    /// What the file says to `agent` of the use of a path with its query, in the order of the file. Most
    /// files say nothing, and then nothing is looked at.
    pub fn signals(&self, agent: &str, path_and_query: &str) -> Vec<UsageLine<'_>> {
        if self.usages.is_empty() {
            return Vec::new();
        }
        let path = if path_and_query.is_empty() { "/" } else { path_and_query };
        let path = escape::normal_path(path.as_bytes());
        let groups = self.agents_for(agent).iter().flat_map(|entry| entry.usages.of(&self.usages));
        let matching: Vec<&Usage> = groups.filter(|usage| self.applies(usage, &path)).collect();
        let longest = UsageField::ALL.map(|field| {
            let same = matching.iter().filter(|usage| usage.field == field);
            same.map(|usage| usage.octets()).max()
        });
        let decides = |usage: &&&Usage| longest[usage.field as usize] == Some(usage.octets());
        let decisive = matching.iter().filter(decides);
        let mut lines: Vec<UsageLine<'_>> = decisive.map(|usage| self.usage_line(usage)).collect();
        lines.sort_by_key(|usage| usage.line);
        lines.dedup_by_key(|usage| usage.line);
        lines
    }

    fn applies(&self, usage: &Usage, path: &[u8]) -> bool {
        matcher::matches(usage.pattern.of(&self.text), usage.anchored, path)
    }

    fn usage_line(&self, usage: &Usage) -> UsageLine<'_> {
        let words = String::from_utf8_lossy(usage.words.of(&self.text));
        UsageLine { field: usage.field, words, line: usage.line }
    }
}
