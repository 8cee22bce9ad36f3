//! What a crawl left in its directory, read by whoever knows the formats and nothing else of larm.
//!
//! Reading panics on a torn or damaged file. [`Kept::assert_sound`] compares the files with each other:
//! they tell of the same URLs, each once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use larm_core::Limits;
use larm_crawl::store::WarcReader;
use larm_crawl::store::warc::Record;
use larm_graph::LinkFact;
use larm_graph::log::{self, LogReader};
use serde_json::{Value, json};

use crate::world::assert_none;

/// The files of a crawl directory, in memory.
pub struct Kept {
    /// `logs/crawl.jsonl`.
    pub log: Vec<Value>,
    /// `pages/pages.jsonl`, without its first line.
    pub pages: Vec<Value>,
    /// `links/links.log`, an object for each visit that has links.
    pub links: Vec<Value>,
    /// `cdx/`: the JSON part of each line.
    pub index: Vec<Value>,
    /// The URIs of those lines that are about look-ups of names; they are not in `index`.
    pub indexed_lookups: Vec<String>,
    /// `warc/`: each record with the name of its file.
    pub records: Vec<(String, Record)>,
}

impl Kept {
    /// Reads all of it.
    pub fn of(dir: &Path) -> Self {
        let lines = files(&dir.join("cdx"), "cdxj").into_iter().flat_map(|file| index(&file));
        let (lookups, index): (Vec<_>, Vec<_>) = lines.partition(|line| line["mime"] == "text/dns");
        Self {
            log: json_lines(&read(&dir.join("logs/crawl.jsonl"))),
            pages: json_lines(&read(&dir.join("pages/pages.jsonl"))).split_off(1),
            links: links(dir),
            index,
            indexed_lookups: texts(&lookups, "url"),
            records: files(&dir.join("warc"), "warc.gz").iter().flat_map(|f| records(f)).collect(),
        }
    }

    /// The line of the crawl log about a URL.
    #[track_caller]
    pub fn line(&self, url: &str) -> &Value {
        let found = self.log.iter().find(|line| line["url"] == url);
        found.unwrap_or_else(|| panic!("the crawl log has no line for {url}"))
    }

    /// The response or revisit record of a URL.
    #[track_caller]
    pub fn answer(&self, url: &str) -> &Record {
        let found = self.answers().find(|(_, record)| record.target() == Some(url));
        &found.unwrap_or_else(|| panic!("the archive has no answer of {url}")).1
    }

    /// The links that the link log has for a page.
    pub fn links_of(&self, url: &str) -> Vec<&Value> {
        let pages = self.links.iter().filter(|line| line["from"] == url);
        pages.flat_map(|line| line["links"].as_array().expect("a list of links")).collect()
    }

    /// URLs of which the archive has an answer, robots.txt aside, each as often as it has one.
    pub fn answered(&self) -> Vec<String> {
        let targets = self.answers().map(|(_, record)| record.target().expect("a target"));
        targets.filter(|url| !is_robots(url)).map(str::to_owned).collect()
    }

    /// URLs that settled, robots.txt aside, each as often as the crawl log says so.
    pub fn settled(&self) -> Vec<String> {
        let mut urls = texts(&self.log, "url");
        urls.retain(|url| !is_robots(url));
        urls
    }

    /// URLs in the list of pages.
    pub fn page_urls(&self) -> Vec<String> {
        texts(&self.pages, "url")
    }

    /// All that the archive's records hold, as one text.
    pub fn archive_text(&self) -> String {
        let blocks = self.records.iter().map(|(_, record)| String::from_utf8_lossy(&record.block));
        blocks.collect::<Vec<_>>().join("\n")
    }

    /// Records of what name servers said.
    pub fn lookups(&self) -> Vec<&Record> {
        self.records.iter().map(|(_, record)| record).filter(|record| is_lookup(record)).collect()
    }

    fn answers(&self) -> impl Iterator<Item = &(String, Record)> {
        let records = self.records.iter().filter(|(_, record)| !is_lookup(record));
        records.filter(|(_, record)| matches!(record.kind(), "response" | "revisit"))
    }

    /// Fails unless no URL is told of twice, and all files tell of the same ones.
    #[track_caller]
    pub fn assert_sound(&self) {
        assert_none("URLs with two lines in crawl.jsonl", twice(&self.settled()));
        assert_none("URLs with two lines in pages.jsonl", twice(&texts(&self.pages, "url")));
        assert_none("ids with two lines in pages.jsonl", twice(&texts(&self.pages, "id")));
        assert_none("pages with two visits in links.log", twice(&texts(&self.links, "from")));
        assert_none("URLs with two answers in the archive", twice(&self.answered()));
        self.assert_log_is_archive();
        self.assert_index_is_archive();
        self.assert_records_are_whole();
        let known: BTreeSet<String> = texts(&self.log, "url").into_iter().collect();
        let pages = texts(&self.pages, "url").into_iter().chain(texts(&self.links, "from"));
        assert_none("pages that the crawl log lacks", pages.filter(|url| !known.contains(url)));
    }

    /// Fails unless the archive is whole, and the index tells of all that it holds.
    #[track_caller]
    pub fn assert_archive_sound(&self) {
        assert_none("URLs with two answers in the archive", twice(&self.answered()));
        self.assert_index_is_archive();
        self.assert_records_are_whole();
    }

    fn assert_log_is_archive(&self) {
        let told = self.log.iter().filter(|line| line["warc"].is_string());
        let told: BTreeSet<String> = told.map(|line| text(line, "url")).collect();
        let kept = self.answers().map(|(_, record)| record.target().expect("a target").to_owned());
        let kept: BTreeSet<String> = kept.collect();
        assert_none("URLs in the log and not in the archive", told.difference(&kept));
        assert_none("URLs in the archive and not in the log", kept.difference(&told));
    }

    fn assert_index_is_archive(&self) {
        let place = |file: &str, offset: u64, url: &str| format!("{file} {offset} {url}");
        let indexed = self.index.iter().map(|line| {
            let offset = text(line, "offset").parse().expect("an offset");
            place(&text(line, "filename"), offset, &text(line, "url"))
        });
        let indexed: BTreeSet<String> = indexed.collect();
        let kept = self
            .answers()
            .map(|(file, record)| place(file, record.offset, record.target().expect("a target")));
        let kept: BTreeSet<String> = kept.collect();
        assert_eq!(self.index.len(), indexed.len(), "lines of the index that stand there twice");
        assert_none("lines of the index without their record", indexed.difference(&kept));
        assert_none("records without their line in the index", kept.difference(&indexed));
    }

    fn assert_records_are_whole(&self) {
        let damaged = self.records.iter().filter_map(|(file, record)| {
            let why = record.check_digests().err()?;
            Some(format!("{file} at {}: {why}", record.offset))
        });
        assert_none("records with a wrong digest", damaged);
        let ids = self.records.iter().filter_map(|(_, record)| record.field("WARC-Record-ID"));
        assert_none("ids of two records", twice(&ids.map(str::to_owned).collect::<Vec<_>>()));
        let kinds = self.records.iter().map(|(_, record)| record.kind());
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        kinds.for_each(|kind| *counts.entry(kind).or_default() += 1);
        let count = |kind: &str| counts.get(kind).copied().unwrap_or_default();
        let answers = self.answers().count();
        assert_eq!((count("request"), count("metadata")), (answers, answers), "{counts:?}");
    }
}

/// Whether a URL is that of a robots.txt, which is asked for by need and not as part of the crawl.
pub fn is_robots(url: &str) -> bool {
    url.rsplit('/').next().is_some_and(|name| name.starts_with("robots") && name.ends_with(".txt"))
}

/// Everything that the crawl log says to a person about a URL.
pub fn story(line: &Value) -> String {
    let part = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
    let notes = line["notes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let notes: Vec<&str> = notes.iter().filter_map(Value::as_str).collect();
    format!("{}{}: {}", part("reason"), part("truncated"), notes.join("; "))
}

/// A text of a JSON object.
#[track_caller]
pub fn text(line: &Value, key: &str) -> String {
    line[key].as_str().unwrap_or_else(|| panic!("no text at `{key}` of {line}")).to_owned()
}

fn texts(lines: &[Value], key: &str) -> Vec<String> {
    lines.iter().map(|line| text(line, key)).collect()
}

/// What stands there more than once.
fn twice(texts: &[String]) -> BTreeSet<&String> {
    let mut met = BTreeSet::new();
    texts.iter().filter(|text| !met.insert(*text)).collect()
}

/// The files of a directory with this ending, in the order of their names.
pub fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("a directory that can be read").path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.to_string_lossy().ends_with(&format!(".{ending}"))).collect();
    paths.sort();
    paths
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The visits of the link log that have links.
pub fn links(dir: &Path) -> Vec<Value> {
    let mut reader = LogReader::open(&log::path_in(dir)).expect("a link log");
    let (mut visit, mut lines) = (log::Visit::default(), Vec::new());
    while reader.next(&mut visit).expect("a whole visit") {
        let links = visit.links.iter().map(|&number| {
            let LinkFact { to, via, text, rel, verdict } = reader.chapter().link(number);
            let verdict = Some(verdict).filter(|verdict| *verdict != "ok");
            json!({"to": to, "via": via, "text": text, "rel": rel, "verdict": verdict})
        });
        if !visit.links.is_empty() {
            lines.push(json!({"from": visit.url, "links": links.collect::<Vec<_>>()}));
        }
    }
    lines
}

/// The objects of a file of JSON lines, whose last line must be whole.
fn json_lines(text: &str) -> Vec<Value> {
    assert!(text.is_empty() || text.ends_with('\n'), "a torn last line: {:?}", text.lines().last());
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    text.lines().map(parse).collect()
}

fn index(path: &Path) -> Vec<Value> {
    let text = read(path);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.is_sorted(), "{} is not sorted", path.display());
    let json = lines.iter().map(|line| line.splitn(3, ' ').nth(2).expect("three fields"));
    json_lines(&json.map(|json| format!("{json}\n")).collect::<String>())
}

fn records(path: &Path) -> Vec<(String, Record)> {
    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
    let reader = WarcReader::open(path, &Limits::default()).expect("an archive file");
    let whole = reader.map(|record| record.expect("a whole record"));
    whole.map(|record| (name.clone(), record)).collect()
}

fn is_lookup(record: &Record) -> bool {
    record.target().is_some_and(|target| target.starts_with("dns:"))
}
