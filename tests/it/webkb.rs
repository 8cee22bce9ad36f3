//! Real pages of computer science departments, crawled live for a topic: WebKB, under its real host names.
//!
//! The pages are outside data, which is skipped where it is not there. A proxy answers for all hosts, so no
//! name is looked up and nothing leaves this machine. One page is fetched at a time, and read before the next one is
//! chosen, so what is found hardly depends on how fast this machine is.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::hand::Hand;

/// Where crawls go, what they look for, and how somebody might ask for it.
const PANELS: [(&str, &str, &str); 3] = [
    ("cornell", "course", "course lecture homework syllabus exam"),
    ("cornell", "student", "graduate student home page resume advisor"),
    ("texas", "course", "course lecture homework syllabus exam"),
];
/// Example pages, all of other universities.
const EXAMPLES: usize = 20;

/// A page of the collection.
#[derive(Debug, Clone, Deserialize)]
struct Entry {
    id: usize,
    url: String,
    cls: String,
    uni: String,
    file: String,
    header_bytes: usize,
    links: Vec<usize>,
}

struct Collection {
    entries: Vec<Entry>,
    pages: tempfile::TempDir,
}

fn collection() -> Option<Collection> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/testdata");
    let folder = std::env::var_os("LARM_TESTDATA").map_or(beside, PathBuf::from).join("topic");
    let Ok(index) = fs::File::open(folder.join("webkb-index.jsonl.gz")) else {
        println!("skipped: no testdata with WebKB");
        return None;
    };
    let mut lines = String::new();
    flate2::read::GzDecoder::new(index).read_to_string(&mut lines).expect("text");
    let entries = lines.lines().map(|line| serde_json::from_str(line).expect("an entry")).collect();
    let pages = tempfile::tempdir().expect("a temporary directory");
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(folder.join("webkb-pages.tar.gz")).arg("-C").arg(pages.path());
    assert!(tar.status().expect("tar starts").success());
    Some(Collection { entries, pages })
}

impl Collection {
    fn body(&self, entry: &Entry) -> Vec<u8> {
        fs::read(self.pages.path().join(&entry.file)).expect("a page").split_off(entry.header_bytes)
    }

    /// What can be reached from a page without leaving its university.
    fn reach(&self, from: usize) -> HashSet<usize> {
        let home = &self.entries[from].uni;
        let (mut seen, mut queue) = (HashSet::from([from]), VecDeque::from([from]));
        while let Some(page) = queue.pop_front() {
            for &to in &self.entries[page].links {
                if self.entries.get(to).is_some_and(|to| to.uni == *home) && seen.insert(to) {
                    queue.push_back(to);
                }
            }
        }
        seen
    }

    /// The page from which most can be reached, and what that is; of pages that reach alike, the first.
    fn best_start(&self, uni: &str) -> (usize, HashSet<usize>) {
        let starts = self.entries.iter().filter(|e| e.uni == uni && e.url.starts_with("http:"));
        let reaches = starts.map(|entry| (entry.id, self.reach(entry.id)));
        reaches.max_by_key(|(id, reach)| (reach.len(), usize::MAX - id)).expect("a start")
    }

    /// Every page of a university, as its hosts would answer.
    fn serve(&self, uni: &str) -> Hand {
        let answer = |entry: &Entry| {
            let body = self.body(entry);
            let head = format!(
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html\r\n\
                 Content-Length: {}\r\n\r\n",
                body.len()
            );
            let place = entry.url.strip_prefix("http://")?;
            Some((place.to_owned(), [head.into_bytes(), body].concat()))
        };
        Hand::serve(|_| self.entries.iter().filter(|e| e.uni == uni).filter_map(answer).collect())
    }

    /// Example pages of a class, from elsewhere.
    fn write_examples(&self, class: &str, uni: &str, folder: &Path) -> Vec<String> {
        // Some are frames or pictures, without a word.
        let has_words = |e: &&Entry| self.body(e).len() > 2_000;
        let others: Vec<_> =
            self.entries.iter().filter(|e| e.cls == class && e.uni != uni).collect();
        let spread = others.len() / (2 * EXAMPLES);
        let chosen = others.into_iter().step_by(spread.max(1)).filter(has_words).take(EXAMPLES);
        let written = chosen.map(|entry| {
            let path = folder.join(format!("{}.html", entry.id));
            fs::write(&path, self.body(entry)).expect("a file");
            path.display().to_string()
        });
        written.collect()
    }
}

/// Crawls from the start: the share of a class among the first fifth of what can be reached.
fn harvest(all: &Collection, (uni, class): (&str, &str), flags: &[String]) -> f64 {
    let (start, reach) = all.best_start(uni);
    let first = reach.len() / 5;
    let web = all.serve(uni);
    let dir = web.dir();
    let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
    command.args(["crawl", &all.entries[start].url, "-o"]).arg(&dir);
    command.args(["--proxy", &format!("http://127.0.0.1:{}", web.port())]);
    command.args(["--scope", "any", "--contact", "a@b.example", "--i-own-this-site"]);
    command.args(["--delay", "0", "--concurrency", "1", "--no-progress", "-q", "--no-index"]);
    command.args(["--no-sitemap", "--no-probe", "--duplicates", "off", "--pattern-budget", "off"]);
    command.args(["--host-budget", "off", "--site-budget", "off"]);
    // Most links lead out of the collection, to nothing.
    command.args(["--max-pages", &(first * 8).to_string()]).args(flags);
    let ended = command.output().expect("the binary starts");
    assert!(matches!(ended.status.code(), Some(0 | 4)), "{ended:?}");
    let by_url: HashMap<&str, &Entry> =
        reach.iter().map(|id| &all.entries[*id]).map(|entry| (&*entry.url, entry)).collect();
    let log = fs::read_to_string(dir.join("logs/crawl.jsonl")).expect("a log");
    let lines = log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let fetched = lines.filter(|line| line["status"] == 200);
    let known = fetched.filter_map(|line| by_url.get(line["url"].as_str()?).copied());
    let seen: Vec<&Entry> = known.take(first).collect();
    assert!(seen.len() > first / 2, "{} of {first} pages of {uni} were seen", seen.len());
    seen.iter().filter(|entry| entry.cls == class).count() as f64 / seen.len() as f64
}

#[test]
fn a_focused_crawl_of_real_departments_finds_what_it_looks_for_early() {
    let Some(all) = collection() else { return };
    let (mut breadth, mut by_query, mut by_example) = (0.0, 0.0, 0.0);
    for (uni, class, query) in PANELS {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let examples = all.write_examples(class, uni, folder.path());
        let like = examples.into_iter().flat_map(|path| ["--like".to_owned(), path]);
        breadth += harvest(&all, (uni, class), &[]);
        by_query += harvest(&all, (uni, class), &["--query".to_owned(), query.to_owned()]);
        by_example += harvest(&all, (uni, class), &like.collect::<Vec<_>>());
    }
    println!(
        "harvest: {breadth:.3} breadth first, {by_query:.3} by query, {by_example:.3} by examples"
    );
    assert!(by_query >= breadth * 2.0, "{by_query} by query, {breadth} breadth first");
    // It comes to two and a half times, whatever else the machine has to do: docs/focus.md.
    assert!(by_example >= breadth * 2.0, "{by_example} by examples, {breadth} breadth first");
}
