//! `larm inspect page`: what larm reads in a page.

use std::io::Write;

use anyhow::Result;
use data_encoding::{BASE64, BASE64_NOPAD};
use larm_core::Limits;
use larm_core::parse::{Input, Kind, LinkRef, Page, Part, markdown, pieces};
use larm_core::signals::{Reader, Signals};
use larm_core::url::{canonicalise, resolve};
use serde::Deserialize;
use serde_json::{Value, json};

use super::url::RULES;
use crate::cli::InspectPage;
use crate::exit::usage;
use crate::human;
use crate::pdf::parse_any;

/// A line of `--jsonl`.
#[derive(Deserialize)]
pub struct Question {
    url: String,
    content_type: Option<String>,
    body_base64: String,
}

/// Answers a line.
pub fn answer(question: Question, limits: &Limits) -> Value {
    let text = question.body_base64.as_bytes();
    let body = match BASE64.decode(text).or_else(|_| BASE64_NOPAD.decode(text)) {
        Ok(body) => body,
        Err(error) => return json!({"error": format!("body_base64: {error}")}),
    };
    let url = match resolve(&question.url, None, None) {
        Ok(url) => url,
        Err(error) => return json!({"error": format!("url: {error}")}),
    };
    let content_type = question.content_type.as_deref();
    facts(&Input { url: &url, content_type, body: &body, text: true }, limits)
}

/// Everything that larm reads in a body, as JSON.
pub fn facts(input: &Input<'_>, limits: &Limits) -> Value {
    let page = parse_any(input, limits);
    let links: Vec<Value> = page.links().map(|link| link_fact(input, &page, link)).collect();
    json!({
        "title": page.title,
        "lang": page.lang,
        "charset": page.charset.encoding.name(),
        "links": links,
        "text": page.text,
        "markdown": markdown_of(input, &page, Part::Whole, limits),
        "main_text": main_text(&page),
        "main_markdown": markdown_of(input, &page, Part::Main, limits),
        "headings": headings(&page),
        "emphasis": pieces(&page.text, &page.marks.emphasis).collect::<Vec<_>>(),
        "language": page.language,
        "published": page.published,
        "modified": page.modified,
        "alternates": alternates(input, &page),
        "meta_robots": meta_robots(&page),
        "signals": signals(&page, limits),
        "canonical": page.canonical.as_deref().and_then(|href| target(input, &page, href)),
        "description": page.description,
        "kind": page.kind.word(),
        "notes": page.notes.iter().map(|note| note.word()).collect::<Vec<_>>(),
    })
}

/// A part of the page in Markdown. A PDF has lines, and nothing that would be marked up.
pub fn markdown_of(input: &Input<'_>, page: &Page, part: Part, limits: &Limits) -> String {
    if page.kind == Kind::Pdf { page.text.clone() } else { markdown(input, part, limits) }
}

/// The main part, if there is one.
fn main_text(page: &Page) -> Option<String> {
    (!page.marks.main.is_empty()).then(|| page.main_text())
}

fn headings(page: &Page) -> Vec<Value> {
    let text = |span| pieces(&page.text, std::slice::from_ref(span)).collect::<String>();
    let headings = page.marks.headings.iter();
    headings.map(|(level, span)| json!({"level": level, "text": text(span)})).collect()
}

fn alternates(input: &Input<'_>, page: &Page) -> Vec<Value> {
    let fact = |(lang, href): &(String, String)| json!({"lang": lang, "url": target(input, page, href), "href": href});
    page.alternates.iter().map(fact).collect()
}

fn link_fact(input: &Input<'_>, page: &Page, link: LinkRef<'_>) -> Value {
    json!({
        "url": target(input, page, link.target),
        "text": link.text,
        "rel": link.rel,
        "via": link.via,
        "href": link.target,
    })
}

/// Canonical where it can be crawled, else resolved, else nothing.
fn target(input: &Input<'_>, page: &Page, href: &str) -> Option<String> {
    let base = page.base.as_ref().unwrap_or(input.url);
    let resolved = resolve(href, Some(base), Some(page.encoding())).ok()?;
    let plain = resolved.to_string();
    Some(canonicalise(resolved, &RULES).map_or(plain, |url| url.to_string()))
}

/// What the page says to robots of any name.
fn meta_robots(page: &Page) -> Option<String> {
    let named = page.robots_meta.iter().filter(|(name, _)| name == "robots");
    let contents: Vec<&str> = named.map(|(_, content)| content.as_str()).collect();
    (!contents.is_empty()).then(|| contents.join(", "))
}

/// What the page says of its use, one line each.
fn signals(page: &Page, limits: &Limits) -> Vec<String> {
    let mut signals = Signals::default();
    let reader = Reader { agent: "larm", content_type: "", limits };
    for (name, content) in &page.robots_meta {
        signals.read_meta(name, content, &reader);
    }
    signals.into_facts().map(|fact| format!("{}: {}", fact.name, fact.value)).collect()
}

/// Prints a page for people.
pub fn show(args: &InspectPage) -> Result<()> {
    let body = super::read(args.file.as_deref().expect("clap asks for a file or --jsonl"))?;
    let text = args.url.as_deref().expect("clap asks for a URL or --jsonl");
    let url = larm_core::url::seed(text, &RULES).map_err(|error| {
        usage(format!("--url `{}`: {error}", crate::config::secret::told(text)))
    })?;
    let limits = Limits::default();
    let input = Input {
        url: &url.to_url(),
        content_type: args.content_type.as_deref(),
        body: &body,
        text: true,
    };
    let page = parse_any(&input, &limits);
    let mut out = std::io::stdout().lock();
    let kind = page.kind.word();
    writeln!(out, "{url}: {kind}, {}", page.charset.encoding.name())?;
    let rows = [
        ("title", page.title.clone()),
        ("language", language(&page)),
        ("published", page.published.clone()),
        ("modified", page.modified.clone()),
        ("about", page.description.clone()),
        ("robots", meta_robots(&page)),
        ("canonical", page.canonical.clone()),
    ];
    for (name, value) in rows {
        if let Some(value) = value {
            writeln!(out, "  {name:<9} {}", human::plain(&value))?;
        }
    }
    for signal in signals(&page, &limits) {
        writeln!(out, "  signal    {signal}")?;
    }
    for note in &page.notes {
        writeln!(out, "  note      {}", note.word())?;
    }
    writeln!(out, "{}", human::counted(page.link_count() as u64, "link", "links"))?;
    for link in page.links() {
        let to = target(&input, &page, link.target);
        let to = to.unwrap_or_else(|| format!("{} (cannot be resolved)", link.target));
        let (to, text) = (human::plain(&to), human::cut(link.text, 60));
        writeln!(out, "  {:<9} {to}  {text}", link.via.word())?;
    }
    let words =
        |text: &str| human::counted(text.split_whitespace().count() as u64, "word", "words");
    match main_text(&page) {
        Some(main) => writeln!(
            out,
            "{}, {} in the main part: {}",
            words(&page.text),
            words(&main),
            excerpt(&main)
        )?,
        None => writeln!(out, "{}: {}", words(&page.text), excerpt(&page.text))?,
    }
    Ok(())
}

/// What the text is written in, and what the page declares.
fn language(page: &Page) -> Option<String> {
    match (page.language, page.lang.as_deref()) {
        (Some(told), Some(declared)) => Some(format!("{told} (declared: {declared})")),
        (Some(told), None) => Some(told.to_owned()),
        (None, declared) => declared.map(|declared| format!("not clear (declared: {declared})")),
    }
}

fn excerpt(text: &str) -> String {
    human::cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), 200)
}
