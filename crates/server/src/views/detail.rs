//! Everything about one URL: its row, what went over the wire, its links, its text.

use std::collections::BTreeMap;
use std::ops::Range;

use larm_core::parse::{Input, Kind, parse};
use larm_crawl::archived::{Answer, RecordPlace, read_answer};
use larm_graph::query::{InLink, InLinks, in_links_by_graph, in_links_part, out_links_within};
use serde::Serialize;
use utoipa::ToSchema;

use super::Looked;
use super::why::Why;
use crate::problem::Problem;
use crate::table::{Flags, Row, Table, Whole};

/// Links that are shown with a URL.
const LINKS_SHOWN: u64 = 50;
/// Bytes of a page's text that are shown.
const TEXT_BYTES_MAX: u64 = 256 * 1024;

/// One side of an exchange: its first line and its fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Head {
    /// Request line or status line.
    pub line: String,
    /// Names and values, in order.
    pub headers: Vec<(String, String)>,
}

/// A link, seen from one of its ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Link {
    /// The other end.
    pub url: String,
    /// Text of the link.
    pub text: String,
    /// How it was found: `anchor`, `embed`, `redirect`, …
    pub via: String,
    /// Its `rel` attribute.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub rel: String,
    /// The reason of the filter that said no to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
}

/// Links to a URL, or from it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Links {
    /// How many there are.
    pub total: u64,
    /// Some of them.
    pub links: Vec<Link>,
    /// Whether the link log is longer than what was read of it, so that there may be more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
}

/// Which way links are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Who links to it.
    In,
    /// Where it leads.
    Out,
}

/// Everything about one URL.
#[derive(Debug, Serialize, ToSchema)]
pub struct Detail {
    /// What became of it; null if it has not settled.
    #[schema(required = false)]
    pub row: Option<Row>,
    /// The request as sent, without secrets.
    pub request: Option<Head>,
    /// The head of the answer.
    pub response: Option<Head>,
    /// What else is known of the answer, by name.
    pub facts: BTreeMap<String, String>,
    /// Oddities.
    pub notes: Vec<String>,
    /// Links to it.
    #[serde(rename = "in")]
    pub incoming: Links,
    /// Links from it.
    pub out: Links,
    /// Why it was fetched, or not.
    pub why: Why,
    /// The text of the page, where it has one.
    pub text: Option<String>,
    /// Whether it is in the archive.
    pub archived: bool,
    /// The archived copy as a path of this server.
    pub replay: Option<String>,
}

/// The row of a URL: the last one.
pub fn row_of(looked: &Looked<'_>, url: &str) -> Result<Option<Whole>, Problem> {
    looked.table(|table| {
        let index = table.find(url).next();
        Ok(rows(table, &index.into_iter().collect::<Vec<_>>())?.pop())
    })
}

/// Rows in full.
pub fn rows(table: &Table, indices: &[usize]) -> Result<Vec<Whole>, Problem> {
    table
        .rows(indices)
        .map_err(|error| Problem::internal(format!("The crawl log cannot be read: {error}.")))
}

/// The archived answer of a URL whose request was nearest to `at`, or the last one; and its row.
pub fn archived(
    looked: &Looked<'_>,
    url: &str,
    at: Option<u64>,
) -> Result<Option<(Whole, Answer)>, Problem> {
    let whole = looked.table(|table| {
        let kept = table.find(url).filter(|&row| table.is(row, Flags::Archived));
        let row = match at {
            Some(at) => kept.min_by_key(|&row| table.at(row).abs_diff(at)),
            None => kept.take(1).next(),
        };
        Ok(rows(table, &row.into_iter().collect::<Vec<_>>())?.pop())
    })?;
    let Some(whole) = whole else { return Ok(None) };
    let Some((name, offset)) = whole.place.clone() else { return Ok(None) };
    let original = |url: &str| {
        let place =
            place_of(looked, url).map_err(|problem| larm_crawl::Error::Stopped(problem.detail))?;
        Ok(place)
    };
    let place = RecordPlace { name, offset };
    let answer = read_answer(&looked.dir, &place, looked.limits, original);
    let answer = answer
        .map_err(|error| Problem::internal(format!("The archive cannot be read: {error}.")))?;
    Ok(Some((whole, answer)))
}

/// Where the bytes of a URL are that is no copy itself.
fn place_of(looked: &Looked<'_>, url: &str) -> Result<Option<RecordPlace>, Problem> {
    looked.table(|table| {
        let kept: Vec<usize> =
            table.find(url).filter(|&row| table.is(row, Flags::Archived)).collect();
        let own = kept.iter().find(|&&row| !table.is(row, Flags::Duplicate));
        let row = own.or(kept.first()).copied();
        let whole = rows(table, &row.into_iter().collect::<Vec<_>>())?.pop();
        Ok(whole.and_then(|whole| whole.place).map(|(name, offset)| RecordPlace { name, offset }))
    })
}

/// The first line and the fields of a head; `None` if there is none.
pub fn head(bytes: &[u8]) -> Option<Head> {
    if bytes.is_empty() {
        return None;
    }
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.lines();
    let line = lines.next().unwrap_or_default().to_owned();
    let fields = lines.take_while(|line| !line.is_empty()).filter_map(|line| line.split_once(':'));
    let headers =
        fields.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect();
    Some(Head { line, headers })
}

/// What a reader finds on an archived page: its main part if one is known. `None` for what is no text.
pub fn text_of(looked: &Looked<'_>, whole: &Whole, answer: &Answer) -> Option<String> {
    let body = answer.body(looked.limits);
    let url = larm_core::url::resolve(&whole.row.url, None, None).ok()?;
    let content_type = whole.row.media.as_deref();
    let input = Input { url: &url, content_type, body: &body, text: true };
    let page = parse(&input, looked.limits);
    if matches!(page.kind, Kind::Pdf | Kind::Other | Kind::Css) {
        return None;
    }
    let text = page.main_text();
    Some(larm_core::parse::cut(text.trim(), TEXT_BYTES_MAX).to_owned())
        .filter(|text| !text.is_empty())
}

/// Links to a URL or from it, from the `begin`th on.
pub fn links(
    looked: &Looked<'_>,
    url: &str,
    way: Way,
    begin: u64,
    count: u64,
) -> Result<Links, Problem> {
    let failed = |error: larm_graph::Error| {
        Problem::internal(format!("The link log cannot be read: {error}."))
    };
    let bytes_max = looked.limits.server_links_bytes_max;
    let part = begin..begin.saturating_add(count);
    match way {
        Way::In => {
            let found = in_links(looked, url, part).map_err(failed)?;
            let links = found.links.into_iter().map(in_link).collect();
            Ok(Links { total: found.total, links, partial: found.is_cut })
        }
        Way::Out => {
            let Some(page) = out_links_within(&looked.dir, url, bytes_max).map_err(failed)? else {
                return Ok(Links::default());
            };
            let total = page.links().len() as u64;
            let from = usize::try_from(part.start).unwrap_or(usize::MAX);
            let links = page.links().skip(from).take(usize::try_from(count).unwrap_or(usize::MAX));
            let links = links.map(|link| Link {
                url: link.to.to_owned(),
                text: link.text.to_owned(),
                via: link.via.word().to_owned(),
                rel: link.rel.to_owned(),
                verdict: link.is_rejected().then(|| link.verdict.to_owned()),
            });
            Ok(Links { total, links: links.collect(), partial: false })
        }
    }
}

/// Who links to a URL: by the log, or by the graph where the log is too long to be read for one URL.
fn in_links(looked: &Looked<'_>, url: &str, part: Range<u64>) -> larm_graph::Result<InLinks> {
    let (dir, bytes_max) = (&looked.dir, looked.limits.server_links_bytes_max);
    let log_bytes = std::fs::metadata(larm_graph::log::path_in(dir)).map_or(0, |meta| meta.len());
    let by_graph = match log_bytes > bytes_max {
        true => in_links_by_graph(dir, url, part.clone())?,
        false => None,
    };
    by_graph.map_or_else(|| in_links_part(dir, url, part, bytes_max), Ok)
}

/// The first links of both ways.
pub fn both_links(looked: &Looked<'_>, url: &str) -> Result<(Links, Links), Problem> {
    Ok((
        links(looked, url, Way::In, 0, LINKS_SHOWN)?,
        links(looked, url, Way::Out, 0, LINKS_SHOWN)?,
    ))
}

fn in_link(link: InLink) -> Link {
    let rejected = link.verdict != larm_graph::link::PASSED;
    Link {
        url: link.from,
        text: link.text,
        via: link.via.word().to_owned(),
        rel: link.rel,
        verdict: rejected.then_some(link.verdict),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_its_first_line_and_its_fields() {
        let head = head(b"HTTP/1.1 200 OK\r\nA: b\r\nno field\r\nC:d:e\r\n\r\nnot: this").unwrap();
        assert_eq!(head.line, "HTTP/1.1 200 OK");
        let fields =
            [("A", "b"), ("C", "d:e")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(head.headers, fields);
        assert_eq!(super::head(b""), None);
    }
}
