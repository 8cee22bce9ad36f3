//! `larm search`: the pages of a crawl that say what is looked for.
//!
//! Works on a crawl that runs as well as on one that has ended: the index is read, never written.

use std::fmt::Write as _;
use std::io::Write;

use anyhow::{Context, Result};
use larm_core::Millis;
use larm_core::url::Fingerprint;
use larm_crawl::directory;
use larm_graph::stored::Ranks;
use larm_search::query::{By, Filter};
use larm_search::{Explanation, Found, Hit, Request, SearchError, SearchIndex, Snippet};
use serde_json::{Value, json};

use crate::cli::SearchArgs;
use crate::config::{plan, save, secret};
use crate::exit::{Exit, shell_word, shown, usage};
use crate::human::{self, Paint};

/// Copies of a page that are shown to people.
const COPIES_SHOWN: usize = 3;

/// Prints what was found.
pub fn search(args: &SearchArgs) -> Result<Exit> {
    directory::identify(&args.dir)?;
    let request = request(args)?;
    let limits = limits_of(args)?;
    let index = SearchIndex::open(&args.dir, &limits).map_err(|error| in_words(error, args))?;
    let ranks = Ranks::open(&args.dir).ok().flatten();
    let importance = |page| importance(ranks.as_ref()?, page);
    let found = index.search(&request, &importance).map_err(|error| in_words(error, args))?;
    let text = match args.json {
        true => serde_json::to_string_pretty(&as_json(&found))? + "\n",
        false => page(&found, args, Paint::for_stdout()),
    };
    std::io::stdout().write_all(text.as_bytes())?;
    for note in notes(&found, &index, args) {
        writeln!(std::io::stderr(), "{} {note}", Paint::for_stderr().warn("note:"))?;
    }
    Ok(Exit::Done)
}

/// What the graph says of a page, by which the average one has 1. Where there is no graph, or the page came
/// after it, the links that were gathered with the pages are counted.
fn importance(ranks: &Ranks, page: Fingerprint) -> Option<f32> {
    let rank = ranks.of(page).ok().flatten()?;
    Some(rank * ranks.len() as f32)
}

/// The limits of the crawl, or the usual ones where its settings cannot be read.
fn limits_of(args: &SearchArgs) -> Result<larm_core::Limits> {
    let Some(mut config) = save::read(&args.dir)? else { return Ok(larm_core::Limits::default()) };
    secret::forget(&mut config.settings);
    plan::limits(&config.settings)
}

fn request(args: &SearchArgs) -> Result<Request> {
    let flags = [
        ("host", &args.host),
        ("site", &args.site),
        ("type", &args.media),
        ("lang", &args.lang),
        ("since", &args.since),
        ("until", &args.until),
    ];
    let given = flags.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
    let filters = given.map(|(name, value)| filter(name, value)).collect::<Result<Vec<_>>>()?;
    let query = args.query.join(" ");
    let parsed = larm_search::query::parse(&query, &larm_core::Limits::default());
    if parsed.asks_nothing() && filters.is_empty() {
        let dir = shown(&args.dir);
        let heard = if query.trim().is_empty() { "" } else { " There is no word in the query." };
        return Err(usage(format!(
            "what to look for?{heard} For example: larm search {dir} WORDS"
        )));
    }
    Ok(Request {
        query,
        filters,
        limit: args.limit,
        offset: args.offset,
        similar: args.similar,
        snippets: true,
        explain: args.explain,
    })
}

fn filter(name: &str, value: &str) -> Result<Filter> {
    let by = By::named(name, value).with_context(|| {
        let example = if matches!(name, "since" | "until") {
            "a date, such as 2026-11-15"
        } else {
            "a value"
        };
        format!("--{name} needs {example}, not `{value}`")
    });
    by.map(|by| Filter { by, excludes: false }).map_err(|error| usage(error.to_string()))
}

fn in_words(error: SearchError, args: &SearchArgs) -> anyhow::Error {
    let dir = shown(&args.dir);
    match error {
        SearchError::NoIndex => usage(format!(
            "{dir} has no search index: it was crawled with --no-index, or has not begun yet"
        )),
        other => anyhow::Error::from(other).context(format!("{dir}/search")),
    }
}

/// What the reader should know beside the hits.
fn notes(found: &Found, index: &SearchIndex, args: &SearchArgs) -> Vec<String> {
    let mut notes = Vec::new();
    if found.is_cut {
        notes.push("the query is too long; only its beginning was looked at".to_owned());
    }
    if let Some(why) = index.why_incomplete() {
        let dir = shown(&args.dir);
        notes.push(format!(
            "the index lacks pages of this crawl: {why}; larm rebuild {dir} adds them"
        ));
    }
    let unread = found.hits.iter().filter(|hit| hit.is_unread).count() as u64;
    if unread > 0 {
        let unread = human::count(unread);
        notes.push(format!(
            "the archive (warc/) cannot be read for the text of {unread} of these pages; what they say of themselves is shown"
        ));
    }
    if found.hits.is_empty() && found.pages == 0 && directory::in_use(&args.dir) {
        notes.push("the crawl has just begun; its pages can be found in a moment".to_owned());
    }
    notes
}

/// The hits as a page for people.
fn page(found: &Found, args: &SearchArgs, paint: Paint) -> String {
    let mut out = String::new();
    for (number, hit) in (args.offset + 1..).zip(&found.hits) {
        // Writing to a text cannot fail.
        let _ = write_hit(&mut out, number, hit, paint);
    }
    out.push_str(&ending(found, args));
    out
}

fn write_hit(out: &mut String, number: usize, hit: &Hit, paint: Paint) -> std::fmt::Result {
    let title = if hit.title.is_empty() { &hit.url } else { &hit.title };
    writeln!(out, "{number}. {}", paint.bold(title))?;
    let facts = [day(hit.date), hit.lang.clone(), short_type(hit)];
    let facts = facts.into_iter().filter(|fact| !fact.is_empty()).collect::<Vec<_>>().join(" · ");
    writeln!(out, "   {}  {}", paint.good(&hit.url), paint.dim(&facts))?;
    if !hit.snippet.text.is_empty() {
        writeln!(out, "   {}", highlighted(&hit.snippet, paint))?;
    }
    for copy in hit.copies.iter().take(COPIES_SHOWN) {
        writeln!(out, "   {}", paint.dim(&format!("also at {copy}")))?;
    }
    if hit.copies.len() > COPIES_SHOWN {
        let more = human::counted((hit.copies.len() - COPIES_SHOWN) as u64, "copy", "copies");
        writeln!(out, "   {}", paint.dim(&format!("and {more} more")))?;
    }
    if hit.similar > 0 {
        let similar = human::counted(hit.similar as u64, "page", "pages");
        writeln!(
            out,
            "   {}",
            paint.dim(&format!("and {similar} that say nearly the same (--similar)"))
        )?;
    }
    if let Some(explanation) = &hit.explanation {
        write_explanation(out, hit, explanation, paint)?;
    }
    writeln!(out)
}

/// Pages of HTML are the rule.
fn short_type(hit: &Hit) -> String {
    let media = hit.media.as_str();
    if media == "text/html" { String::new() } else { media.to_owned() }
}

fn day(date: u64) -> String {
    Millis(date).to_string().get(..10).unwrap_or_default().to_owned()
}

fn highlighted(snippet: &Snippet, paint: Paint) -> String {
    let mut out = String::new();
    let mut at = 0;
    for mark in &snippet.marks {
        out.push_str(&snippet.text[at..mark.start]);
        out.push_str(&paint.bold(&snippet.text[mark.clone()]));
        at = mark.end;
    }
    out + &snippet.text[at..]
}

fn write_explanation(
    out: &mut String,
    hit: &Hit,
    explanation: &Explanation,
    paint: Paint,
) -> std::fmt::Result {
    let mut line = |text: String| writeln!(out, "     {}", paint.dim(&text));
    let links = match explanation.links {
        Some(links) => human::counted(links, "link", "links"),
        None => format!("importance {:.2}", explanation.importance),
    };
    line(format!(
        "score {:.2} = text {:.2} × {:.3} for {links}",
        hit.score, explanation.text, explanation.factor
    ))?;
    for worth in &explanation.words {
        let parts = worth.parts.iter().map(|(part, score)| format!("{part} {score:.2}"));
        let parts = parts.collect::<Vec<_>>().join(", ");
        let parts = if parts.is_empty() { parts } else { format!(": {parts}") };
        line(format!("{:>6.2}  {}{parts}", worth.score, worth.word))?;
    }
    Ok(())
}

/// How many there are, and how to see more.
fn ending(found: &Found, args: &SearchArgs) -> String {
    if found.hits.is_empty() {
        return nothing_found(found, args);
    }
    let shown_so_far = args.offset + found.hits.len();
    let of = human::counted(found.total, "page", "pages");
    if found.total <= found.hits.len() as u64 {
        return format!("{of} found\n");
    }
    let next = match found.total > shown_so_far as u64 {
        true => format!("; more with --offset {shown_so_far}"),
        false => String::new(),
    };
    format!("{} to {shown_so_far} of {of} found{next}\n", args.offset + 1)
}

fn nothing_found(found: &Found, args: &SearchArgs) -> String {
    let pages = human::counted(found.pages, "page", "pages");
    if found.total > 0 {
        let total = human::counted(found.total, "page", "pages");
        return format!("no further hits: {total} found in all\n");
    }
    let mut text = format!("no page of {pages} fits");
    if !found.missing.is_empty() {
        let words: Vec<&str> = found.missing.iter().map(String::as_str).collect();
        let _ = write!(text, "; none has: {}", words.join(", "));
    }
    let word = args.query.iter().find_map(|word| word.get(..3).filter(|_| word.len() > 4));
    if let Some(word) = word.filter(|word| word.chars().all(char::is_alphanumeric)) {
        let _ = write!(
            text,
            "\ntry the beginning of a word: larm search {} {}",
            shown(&args.dir),
            shell_word(&format!("{word}*"))
        );
    }
    text + "\n"
}

fn as_json(found: &Found) -> Value {
    let hits: Vec<Value> = found.hits.iter().map(hit_as_json).collect();
    json!({ "total": found.total, "hits": hits, "missing": found.missing, "pages": found.pages })
}

fn hit_as_json(hit: &Hit) -> Value {
    let marks: Vec<[usize; 2]> =
        hit.snippet.marks.iter().map(|mark| [mark.start, mark.end]).collect();
    let mut value = json!({
        "url": hit.url,
        "title": hit.title,
        "score": hit.score,
        "snippet": hit.snippet.text,
        "marks": marks,
        "date": Millis(hit.date).to_string(),
        "type": hit.media,
        "lang": hit.lang,
        "copies": hit.copies,
        "similar": hit.similar,
    });
    if let Some(explanation) = &hit.explanation {
        value["explanation"] = explanation_as_json(explanation);
    }
    value
}

fn explanation_as_json(explanation: &Explanation) -> Value {
    let words = explanation.words.iter().map(|worth| {
        let parts: serde_json::Map<String, Value> =
            worth.parts.iter().map(|(part, score)| ((*part).to_owned(), json!(score))).collect();
        json!({ "word": worth.word, "score": worth.score, "parts": parts })
    });
    json!({
        "text": explanation.text,
        "words": words.collect::<Vec<_>>(),
        "importance": explanation.importance,
        "links": explanation.links,
        "factor": explanation.factor,
    })
}
