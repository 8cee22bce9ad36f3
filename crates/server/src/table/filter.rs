//! Which rows are wanted.
//!
//! A filter is asked for stretches of rows at a time: each condition clears the marks of rows that it says no to,
//! column by column. The search for a text comes last, and runs over the URLs of a stretch as one text unless few
//! rows of it are left.

use memchr::memmem::Finder;
use serde::Deserialize;
use utoipa::IntoParams;

use super::columns::{Columns, Flags, Outcome};
use super::load::Table;
use crate::problem::Problem;

/// Rows that are looked at together.
pub(super) const STRETCH: usize = 4_096;
/// Bytes of a text that is searched for.
const TEXT_BYTES_MAX: usize = 1_024;
/// Rows of a stretch up to which each is searched by itself.
const FEW: usize = 256;

/// What is asked for, as it was typed.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct FilterText {
    /// `fetched`, `redirected`, `denied`, `rejected`, `failed` or `host-unreachable`; several with commas.
    #[param(required = false)]
    pub outcome: String,
    /// A status, such as `404`, or a class of them, such as `4xx`.
    #[param(required = false)]
    pub status: String,
    /// A media type, such as `text/html`, or all of a kind, such as `image/*`.
    #[serde(rename = "type")]
    #[param(required = false)]
    pub media: String,
    /// A host, with its port or without.
    #[param(required = false)]
    pub host: String,
    /// A piece of the URL, in upper or lower case.
    #[param(required = false)]
    pub q: String,
    /// Hops from a seed.
    #[param(required = false)]
    pub depth: String,
    /// `true`: only copies of other pages; `false`: no copies.
    #[param(required = false)]
    pub duplicate: String,
    /// The same for pages that say nearly the same as another.
    #[param(required = false)]
    pub near: String,
    /// The same for what is in the archive.
    #[param(required = false)]
    pub archived: String,
}

/// Which rows are wanted.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    outcomes: Option<Vec<Outcome>>,
    statuses: Option<std::ops::RangeInclusive<u16>>,
    media: Option<String>,
    host: Option<String>,
    text: Option<Finder<'static>>,
    depth: Option<u32>,
    /// Bits of the flags that count, and what they should be.
    flags: Option<(u8, u8)>,
}

impl Filter {
    /// Understands what was typed; an empty text asks for nothing.
    pub fn parse(text: &FilterText) -> Result<Self, Problem> {
        Ok(Self {
            outcomes: given(&text.outcome).map(outcomes).transpose()?,
            statuses: given(&text.status).map(statuses).transpose()?,
            media: given(&text.media).map(str::to_ascii_lowercase),
            host: given(&text.host).map(str::to_ascii_lowercase),
            text: given(&text.q).map(pattern).transpose()?,
            depth: given(&text.depth).map(depth).transpose()?,
            flags: flags(text)?,
        })
    }

    /// The filter with what it needs to know of a table.
    pub(super) fn on<'a>(&'a self, table: &'a Table) -> Chosen<'a> {
        let columns = &table.columns;
        let media = self.media.as_deref();
        let host = self.host.as_deref();
        Chosen {
            filter: self,
            columns,
            types: media.map(|wanted| columns.type_names.chosen(|name| is_of(name, wanted))),
            hosts: host.map(|wanted| columns.host_names.chosen(|name| is_at(name, wanted))),
        }
    }
}

/// A filter and the columns that it looks at.
pub(super) struct Chosen<'a> {
    filter: &'a Filter,
    columns: &'a Columns,
    types: Option<Vec<bool>>,
    hosts: Option<Vec<bool>>,
}

impl Chosen<'_> {
    /// Puts into `wanted`, for each row from `begin` on, whether it is wanted.
    pub fn mark(&self, begin: usize, wanted: &mut [bool]) {
        let (filter, columns) = (self.filter, self.columns);
        let rows = begin..begin + wanted.len();
        wanted.fill(true);
        if let Some(outcomes) = &filter.outcomes {
            keep(wanted, &columns.outcomes[rows.clone()], |outcome| outcomes.contains(outcome));
        }
        if let Some(statuses) = &filter.statuses {
            let (low, high) = (*statuses.start(), *statuses.end());
            keep(wanted, &columns.statuses[rows.clone()], |&status| {
                low <= status && status <= high
            });
        }
        if let Some(depth) = filter.depth {
            keep(wanted, &columns.depths[rows.clone()], |&found| found == depth);
        }
        if let Some((mask, value)) = filter.flags {
            keep(wanted, &columns.flags[rows.clone()], |&flags| flags & mask == value);
        }
        if let Some(types) = &self.types {
            keep(wanted, &columns.types[rows.clone()], |&number| types[usize::from(number)]);
        }
        if let Some(hosts) = &self.hosts {
            keep(wanted, &columns.hosts[rows.clone()], |&number| hosts[number as usize]);
        }
        if let Some(text) = &filter.text {
            self.search(text, begin, wanted);
        }
    }

    fn search(&self, text: &Finder<'_>, begin: usize, wanted: &mut [bool]) {
        let mut lowered = Vec::new();
        if wanted.iter().filter(|wanted| **wanted).count() > FEW {
            let mut found = [false; STRETCH];
            let found = &mut found[..wanted.len()];
            self.search_together(text, begin, found);
            for (index, (wanted, found)) in wanted.iter_mut().zip(found).enumerate() {
                *wanted &= *found || (*wanted && self.has_upper(text, begin + index, &mut lowered));
            }
            return;
        }
        for (index, wanted) in wanted.iter_mut().enumerate().filter(|(_, wanted)| **wanted) {
            let row = begin + index;
            let found = text.find(self.columns.url(row)).is_some();
            *wanted = found || self.has_upper(text, row, &mut lowered);
        }
    }

    /// Marks the rows that have a text in lower case, which most URLs are in.
    fn search_together(&self, text: &Finder<'_>, begin: usize, found: &mut [bool]) {
        let span = self.columns.url_span(begin, begin + found.len());
        let (urls, base) = (&self.columns.urls[span.clone()], span.start);
        let ends = &self.columns.url_ends[begin..begin + found.len()];
        let (mut at, mut row) = (0, 0);
        while let Some(hit) = text.find(&urls[at..]).map(|hit| base + at + hit) {
            while ends[row] as usize <= hit {
                row += 1;
            }
            found[row] = true;
            at = ends[row] as usize - base;
        }
    }

    /// Whether a row whose URL has letters in upper case has the text in any case.
    fn has_upper(&self, text: &Finder<'_>, row: usize, lowered: &mut Vec<u8>) -> bool {
        if self.columns.flags[row] & Flags::Upper as u8 == 0 {
            return false;
        }
        lowered.clear();
        lowered.extend(self.columns.url(row).iter().map(u8::to_ascii_lowercase));
        text.find(lowered).is_some()
    }
}

/// Without a branch for each row, so that many rows are looked at together.
fn keep<T>(wanted: &mut [bool], column: &[T], is_wanted: impl Fn(&T) -> bool) {
    wanted.iter_mut().zip(column).for_each(|(wanted, value)| *wanted &= is_wanted(value));
}

fn given(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

fn outcomes(text: &str) -> Result<Vec<Outcome>, Problem> {
    let named = |word: &str| {
        Outcome::named(word.trim()).ok_or_else(|| {
            let words = Outcome::ALL.map(Outcome::word).join(", ");
            Problem::invalid(
                "outcome",
                format!("There is no outcome `{}`; there are: {words}.", shown(word)),
            )
        })
    };
    text.split(',').map(named).collect()
}

fn statuses(text: &str) -> Result<std::ops::RangeInclusive<u16>, Problem> {
    let class = text.strip_suffix("xx").or_else(|| text.strip_suffix("XX"));
    let number =
        |text: &str| text.parse::<u16>().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
    let range = match class {
        Some(class) => {
            number(class).filter(|class| *class < 10).map(|class| 100 * class..=100 * class + 99)
        }
        None => number(text).filter(|status| *status < 1_000).map(|status| status..=status),
    };
    range.ok_or_else(|| {
        let detail = format!("`{}` is no status; say for example `404` or `4xx`.", shown(text));
        Problem::invalid("status", detail)
    })
}

fn pattern(text: &str) -> Result<Finder<'static>, Problem> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(Problem::invalid(
            "q",
            format!("A text of more than {TEXT_BYTES_MAX} bytes is not searched for."),
        ));
    }
    Ok(Finder::new(&text.to_ascii_lowercase()).into_owned())
}

fn depth(text: &str) -> Result<u32, Problem> {
    text.parse()
        .map_err(|_| Problem::invalid("depth", format!("`{}` is no number of hops.", shown(text))))
}

fn flags(text: &FilterText) -> Result<Option<(u8, u8)>, Problem> {
    let asked = [
        ("duplicate", &text.duplicate, Flags::Duplicate),
        ("near", &text.near, Flags::Near),
        ("archived", &text.archived, Flags::Archived),
    ];
    let (mut mask, mut value) = (0, 0);
    for (key, text, flag) in asked {
        let Some(text) = given(text) else { continue };
        mask |= flag as u8;
        match text {
            "true" => value |= flag as u8,
            "false" => {}
            _ => return Err(Problem::invalid(key, format!("`{key}` is `true` or `false`."))),
        }
    }
    Ok((mask != 0).then_some((mask, value)))
}

/// Whether a media type is the one that is wanted, or of its kind.
fn is_of(name: &str, wanted: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(kind) => name.starts_with(kind),
        None => {
            name == wanted || wanted.strip_suffix('/').is_some_and(|_| name.starts_with(wanted))
        }
    }
}

/// Whether a host is the one that is wanted, whatever its port if none is named.
fn is_at(name: &str, wanted: &str) -> bool {
    let port = name.strip_prefix(wanted).map(|rest| rest.strip_prefix(':').unwrap_or(rest));
    name == wanted
        || port.is_some_and(|port| {
            !port.is_empty()
                && port.bytes().all(|b| b.is_ascii_digit())
                && name.as_bytes()[wanted.len()] == b':'
        })
}

/// What was typed, short enough to be said again.
fn shown(text: &str) -> &str {
    larm_core::parse::cut(text, 60)
}
