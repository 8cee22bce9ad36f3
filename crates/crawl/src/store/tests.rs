//! The chain as a whole: what each file holds, and that a crash at any byte loses and doubles nothing.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use larm_core::{Limits, Millis};
use larm_graph::log::LogReader;
use serde_json::{Value, json};

use super::cdxj::Entry;
use super::samples::*;
use super::warc::FileName;
use super::*;

fn open(dir: &Path, committed: &[(String, Position)]) -> Chain {
    open_rolling(dir, committed, ROLLING)
}

fn open_rolling(dir: &Path, committed: &[(String, Position)], warc_bytes_max: u64) -> Chain {
    // Small files and buffers, so that a handful of visits rolls and flushes.
    let limits = Limits { warc_bytes_max, sink_buffer_bytes_max: 300, ..Limits::default() };
    Chain::open(all_sinks(&plan(dir, limits)).unwrap(), committed).unwrap()
}

fn lines(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn write(dir: &Path, visits: &[Visit]) -> BTreeMap<String, Vec<u8>> {
    let mut chain = open(dir, &[]);
    visits.iter().for_each(|visit| drop(keep(&mut chain, visit)));
    chain.finish().unwrap();
    files(dir)
}

#[test]
fn pages_are_listed_as_wacz_has_them() {
    let dir = temp_dir();
    let visits = every_shape();
    let lines = lines(&write(dir.path(), &visits)["pages/pages.jsonl"]);
    let header = json!({"format": "json-pages-1.0", "id": "pages", "title": "A \"test\""});
    assert_eq!(lines[0], header);
    let page = visits.iter().find(|visit| visit.page.is_some()).unwrap();
    let expected = json!({
        "id": format!("{}-{}", page.url.fingerprint(), page.at.0),
        "url": "http://example.org/page",
        "ts": page.at.to_string(),
        "title": "A page",
        "text": "x",
        "lang": "en",
        "size": 37,
        "status": 200,
        "depth": 2,
    });
    assert_eq!(lines[1..], [expected]);
}

#[test]
fn a_page_comes_with_its_text_only_if_that_was_asked_for() {
    let (dir, visit) = (temp_dir(), page("http://example.org/page", "A page"));
    let plan = plan(dir.path(), Limits::default());
    for text in [false, true] {
        let sink = PagesSink::new(plan.clone(), text);
        let line = lines(&(sink.encoder())(&visit).bytes).remove(0);
        assert_eq!((line.get("text").is_some(), sink.reads_text()), (text, text));
    }
}

#[test]
fn a_page_that_came_with_an_error_is_not_listed() {
    let dir = temp_dir();
    let mut missing = page("http://example.org/gone", "Not found");
    missing.outcome = larm_core::Outcome::Fetched { status: 404 };
    assert_eq!(lines(&write(dir.path(), &[missing])["pages/pages.jsonl"]).len(), 1);
}

#[test]
fn links_are_kept_with_their_verdicts() {
    let dir = temp_dir();
    let visit = page("http://example.org/page", "A page");
    write(dir.path(), std::slice::from_ref(&visit));
    let link = "http://example.org/x anchor “x” new".to_owned();
    assert_eq!(links(dir.path()), [("http://example.org/page".to_owned(), visit.at, vec![link])]);
}

#[test]
fn every_url_has_one_line_in_the_log_with_the_reason() {
    let dir = temp_dir();
    let visits = every_shape();
    let files = write(dir.path(), &visits);
    let lines = lines(&files["logs/crawl.jsonl"]);
    assert_eq!(lines.len(), visits.len());
    let of = |path: &str| {
        let url = format!("http://example.org/{path}");
        lines.iter().find(|line| line["url"] == url).unwrap()
    };
    assert_eq!(of("denied")["reason"], "Disallow: /");
    assert_eq!(of("denied").get("warc"), None);
    assert_eq!(of("failed")["reason"], "refused: connection \"refused\"");
    assert_eq!(of("redirect")["reason"], "http://example.org/plain");
    assert_eq!(of("redirect")["status"], 301);
    assert_eq!(of("copy")["same_as"], "http://example.org/plain");
    assert_eq!(of("cut")["truncated"], "length");
    assert_eq!(of("page")["links"], 1);
    assert_eq!(of("plain")["type"], "text/html; charset=utf-8");
    assert_eq!(of("plain")["digest"], of("copy")["digest"]);
    let keys: Vec<_> = of("page").as_object().unwrap().keys().map(String::as_str).collect();
    let expected = "at url outcome status depth via from tries bytes type ms first_byte_ms digest links warc offset";
    assert_eq!(keys.join(" "), expected);
}

#[test]
fn a_later_sink_learns_where_an_earlier_one_put_the_visit() {
    let dir = temp_dir();
    let told = Arc::new(Mutex::new(Vec::new()));
    let teller = told.clone();
    let plan = plan(dir.path(), Limits::default());
    let sinks: Vec<Box<dyn Sink>> = vec![
        Box::new(WarcSink::new(plan).unwrap()),
        Box::new(NullSink),
        Box::new(CallSink::new("mine", move |visit: &Visit, kept: &Kept| {
            teller.lock().unwrap().push((visit.url.to_string(), kept.clone()));
            Ok(())
        })),
    ];
    let mut chain = Chain::open(sinks, &[]).unwrap();
    let kept = keep(&mut chain, &page("http://example.org/", "t"));
    assert!(kept.warc.as_ref().unwrap().offset > 0);
    assert_eq!(*told.lock().unwrap(), [("http://example.org/".to_owned(), kept)]);
}

#[test]
fn two_sinks_of_one_name_are_refused() {
    let sinks: Vec<Box<dyn Sink>> = vec![Box::new(NullSink), Box::new(NullSink)];
    assert!(matches!(Chain::open(sinks, &[]), Err(crate::Error::Plan(_))));
}

#[test]
fn a_summary_knows_the_archive_and_reads_back() {
    let dir = temp_dir();
    write(dir.path(), &every_shape());
    let summary = Summary { urls: 17, limit: Some("pages".into()), ..Summary::default() };
    let summary = summary.with_archive(dir.path()).unwrap();
    let archive = files(&dir.path().join("warc"));
    assert_eq!(summary.warc_files, archive.len() as u64);
    assert_eq!(summary.warc_bytes, archive.values().map(|bytes| bytes.len() as u64).sum::<u64>());
    assert_eq!(summary.clone().with_archive(dir.path()).unwrap(), summary, "counted, not added up");
    let path = dir.path().join("summary.json");
    summary.write(&path).unwrap();
    assert_eq!(Summary::read(&path).unwrap(), summary);
    assert_eq!(serde_json::to_value(&summary).unwrap()["state"], "running");
}

/// What a crawl directory says, apart from record ids and places, having checked that the index and the
/// log point at the right records.
#[derive(Debug, PartialEq)]
struct Told {
    records: Vec<(String, Option<String>, Vec<u8>)>,
    index: Vec<(String, String, String)>,
    pages: Vec<Value>,
    links: Vec<(String, Millis, Vec<String>)>,
    log: Vec<Value>,
}

/// The visits of the link log, each with its links in words.
fn links(dir: &Path) -> Vec<(String, Millis, Vec<String>)> {
    let mut reader = LogReader::open(&larm_graph::log::path_in(dir)).unwrap();
    let (mut visit, mut visits) = (larm_graph::log::Visit::default(), Vec::new());
    while reader.next(&mut visit).unwrap() {
        let links = visit.links.iter().map(|&number| {
            let LinkFact { to, via, text, verdict, .. } = reader.chapter().link(number);
            format!("{to} {via} “{text}” {verdict}")
        });
        visits.push((visit.url.clone(), visit.at, links.collect()));
    }
    visits
}

fn tell(dir: &Path) -> Told {
    let files = files(dir);
    let mut records = Vec::new();
    let mut places = BTreeMap::new();
    for name in FileName::list(dir, "test-1").unwrap() {
        for record in WarcReader::open(name.warc_path(dir), &Limits::default()).unwrap() {
            let record = record.unwrap();
            let target = record.target().map(str::to_owned);
            places.insert((name.warc(), record.offset), target.clone());
            if record.kind() != "warcinfo" {
                records.push((record.kind().to_owned(), target, record.block));
            }
        }
    }
    let mut index = Vec::new();
    for (name, bytes) in files.iter().filter(|(name, _)| name.starts_with("cdx/")) {
        assert!(name.ends_with(".cdxj"), "{name}");
        for line in std::str::from_utf8(bytes).unwrap().lines() {
            let (key, time, entry) = Entry::parse(line).unwrap();
            let place = (entry.filename, entry.offset.parse().unwrap());
            assert_eq!(places[&place], Some(entry.url));
            index.push((key.to_owned(), time.to_owned(), entry.digest));
        }
    }
    index.sort();
    let mut log = lines(&files["logs/crawl.jsonl"]);
    for line in &mut log {
        let line = line.as_object_mut().unwrap();
        if let (Some(warc), Some(offset)) = (line.remove("warc"), line.remove("offset")) {
            let place = (warc.as_str().unwrap().to_owned(), offset.as_u64().unwrap());
            assert_eq!(places[&place].as_deref(), line["url"].as_str());
        }
    }
    let (pages, links) = (lines(&files["pages/pages.jsonl"]), links(dir));
    Told { records, index, pages, links, log }
}

/// Files as a crash left them: all of `after`, of which `before` was committed.
struct Crash {
    warc_bytes_max: u64,
    visits: Vec<Visit>,
    committed: Positions,
    before: BTreeMap<String, Vec<u8>>,
    after: BTreeMap<String, Vec<u8>>,
    expected: Told,
}

/// How many visits are committed before the crash, and written after.
const COMMITTED: usize = 3;
/// Bytes of a file that holds one visit or two, and of one that holds them all.
const ROLLING: u64 = 2_500;
const ROOMY: u64 = 1_000_000;

fn crash(warc_bytes_max: u64, closed: bool) -> Crash {
    let visits = some_visits();
    let whole = temp_dir();
    write(whole.path(), &visits);
    let dir = temp_dir();
    let mut chain = open_rolling(dir.path(), &[], warc_bytes_max);
    visits[..COMMITTED].iter().for_each(|visit| drop(keep(&mut chain, visit)));
    let committed = chain.flush_all().unwrap().positions;
    let before = files_once_sorted(dir.path());
    visits[COMMITTED..].iter().for_each(|visit| drop(keep(&mut chain, visit)));
    if closed {
        chain.finish().unwrap();
    } else {
        chain.flush_all().unwrap();
    }
    let after = files_once_sorted(dir.path());
    Crash { warc_bytes_max, visits, committed, before, after, expected: tell(whole.path()) }
}

/// The files when no index is being sorted: the part of the open file is the only one.
fn files_once_sorted(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let is_part = |entry: &std::fs::DirEntry| entry.path().extension().unwrap() == "part";
    let parts =
        || std::fs::read_dir(dir.join("cdx")).unwrap().filter(|e| is_part(e.as_ref().unwrap()));
    while parts().count() > 1 {
        std::thread::yield_now();
    }
    files(dir)
}

impl Crash {
    /// Bytes of a file that were committed and so survive. A sorted index is synced before it takes the
    /// place of a committed part, so it survives whole.
    fn safe_bytes(&self, name: &str) -> usize {
        if self.before.contains_key(&format!("{name}.part")) {
            return self.after[name].len();
        }
        self.before.get(name).map_or(0, Vec::len)
    }

    /// Puts the files down with `name` replaced, goes on from there, and compares with no crash.
    fn go_on(&self, name: &str, bytes: Option<&[u8]>, what: &str) {
        let dir = temp_dir();
        for (other, whole) in &self.after {
            let path = dir.path().join(other);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            if let Some(bytes) = if other == name { bytes } else { Some(whole.as_slice()) } {
                std::fs::write(path, bytes).unwrap();
            }
        }
        let mut chain = open_rolling(dir.path(), &self.committed, self.warc_bytes_max);
        self.visits[COMMITTED..].iter().for_each(|visit| drop(keep(&mut chain, visit)));
        chain.finish().unwrap();
        assert!(tell(dir.path()) == self.expected, "{name}: {what}");
    }
}

fn some_visits() -> Vec<Visit> {
    let mut visits = vec![page("http://example.org/1", "one"), denied("http://example.org/no")];
    visits.push(page("http://example.org/0", "zero"));
    visits.push(copy_of(&visits[0], "http://example.org/copy"));
    visits.push(failed("http://example.org/failed"));
    visits.push(page("http://example.org/z", "last by key"));
    visits
}

#[test]
fn a_file_cut_anywhere_behind_the_commit_loses_and_doubles_nothing() {
    let crash = crash(ROLLING, false);
    let mut cuts = 0;
    for (name, whole) in &crash.after {
        for end in crash.safe_bytes(name)..whole.len() {
            crash.go_on(name, Some(&whole[..end]), &format!("cut at {end}"));
            cuts += 1;
        }
        if crash.safe_bytes(name) == 0 {
            crash.go_on(name, None, "missing");
        }
    }
    assert!(cuts > 1_000, "{cuts}");
}

#[test]
fn an_archive_file_cut_or_garbled_while_it_grows_loses_and_doubles_nothing() {
    let crash = crash(ROOMY, false);
    let growing = |name: &str| name.starts_with("cdx/") || name.starts_with("warc/");
    for (name, whole) in crash.after.iter().filter(|(name, _)| growing(name)) {
        assert!(crash.safe_bytes(name) > 0, "{name}");
        for end in crash.safe_bytes(name)..whole.len() {
            crash.go_on(name, Some(&whole[..end]), &format!("cut at {end}"));
            if end % 5 == 0 {
                let mut flipped = whole.clone();
                flipped[end] ^= 0x15;
                crash.go_on(name, Some(&flipped), &format!("garbled at {end}"));
            }
        }
    }
}

#[test]
fn a_file_garbled_anywhere_behind_the_commit_loses_and_doubles_nothing() {
    let crash = crash(ROLLING, false);
    for (name, whole) in &crash.after {
        for begin in (crash.safe_bytes(name)..whole.len()).step_by(11) {
            let mut zeros = whole.clone();
            zeros[begin..].fill(0);
            crash.go_on(name, Some(&zeros), &format!("zeros from {begin}"));
            let mut flipped = whole.clone();
            flipped[begin] ^= 0x15;
            crash.go_on(name, Some(&flipped), &format!("garbled at {begin}"));
        }
    }
}

#[test]
fn a_crash_after_files_were_closed_but_not_committed_is_undone() {
    let mut crash = crash(ROLLING, true);
    crash.go_on("", None, "closed");
    let mut parts = crash.before.keys().filter(|name| name.ends_with(".part"));
    let part = parts.next().expect("that of the file that was open").clone();
    crash.after.insert(part.clone(), b"torn".to_vec());
    crash.go_on("", None, "the part of a sorted index is still there, in part");
    crash.after.insert(part.replace(".part", ".tmp"), b"half".to_vec());
    crash.after.insert(part.replace(".part", ".runs"), b"half".to_vec());
    crash.go_on("", None, "and so is what a sort left behind");
}

#[test]
fn a_crash_while_the_index_of_a_full_file_is_sorted_costs_no_line() {
    let mut crash = crash(ROLLING, false);
    let sorted = crash.before.keys().find(|name| name.ends_with(".cdxj")).expect("of a full file");
    let sorted = sorted.clone();
    let lines = crash.after.remove(&sorted).unwrap();
    crash.after.insert(format!("{sorted}.tmp"), lines[..lines.len() / 2].to_vec());
    crash.after.insert(format!("{sorted}.part"), lines);
    crash.go_on("", None, "its lines are there as they were written, and half of the sorted ones");
}

#[test]
fn a_crawl_that_goes_on_after_each_visit_tells_the_same() {
    let whole = temp_dir();
    let visits = some_visits();
    write(whole.path(), &visits);
    let dir = temp_dir();
    let mut committed = Positions::new();
    for visit in &visits {
        let mut chain = open(dir.path(), &committed);
        keep(&mut chain, visit);
        committed = chain.finish().unwrap();
    }
    open(dir.path(), &committed).finish().unwrap();
    assert_eq!(tell(dir.path()), tell(whole.path()));
}

#[test]
fn nothing_committed_means_nothing_kept() {
    let dir = temp_dir();
    write(dir.path(), &some_visits());
    let told = tell(dir.path());
    let mut chain = open(dir.path(), &[]);
    some_visits().iter().for_each(|visit| drop(keep(&mut chain, visit)));
    chain.finish().unwrap();
    assert_eq!(tell(dir.path()), told);
}

#[test]
fn committed_bytes_that_are_missing_are_damage() {
    let crash = crash(ROLLING, false);
    let ends = |name: &&String| !name.starts_with("cdx/") && !name.contains("-00000-");
    for name in crash.before.keys().filter(ends) {
        let dir = temp_dir();
        for (other, whole) in &crash.after {
            let path = dir.path().join(other);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let lost = if other == name { crash.safe_bytes(name) - 1 } else { whole.len() };
            std::fs::write(path, &whole[..lost]).unwrap();
        }
        let sinks = all_sinks(&plan(dir.path(), Limits::default())).unwrap();
        let error = Chain::open(sinks, &crash.committed).err().unwrap();
        assert!(matches!(error, crate::Error::Damaged { .. }), "{name}: {error}");
    }
}
