//! The archive is enough: everything that is made of it can be made of it again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use larm_crawl::Plan;
use larm_crawl::change::Change;
use larm_crawl::changes::Changes;
use larm_crawl::rebuild::{Rebuild, Rebuilt};
use larm_testsite::{Features, WebPlan};
use serde_json::Value;

use crate::kept::{Kept, files};
use crate::world::{World, crawl, crawl_until, runtime};

fn web() -> World {
    let features = Features {
        charsets: true,
        redirects: true,
        duplicates: true,
        mirrors: true,
        encodings: true,
        types: true,
        dead_links: true,
        sitemaps: true,
        ..Features::none()
    };
    World::new(WebPlan { hosts: 3, pages_per_host: 12, features, ..WebPlan::default() })
}

fn rebuild(plan: Plan) -> Rebuilt {
    runtime().block_on(Rebuild::new(plan).run()).expect("the rebuild ends well")
}

/// Lines as they can be compared: the order of answers is not that of the first time.
fn sorted(lines: &[Value]) -> Vec<String> {
    let mut texts: Vec<String> = lines.iter().map(ToString::to_string).collect();
    texts.sort();
    texts
}

/// Who is linked to from where. Of a link that was known a moment ago the rules are not asked, so the
/// verdicts may differ.
fn arcs(kept: &Kept) -> Vec<String> {
    let pages = kept.links.iter().flat_map(|page| {
        let links = page["links"].as_array().expect("a list");
        links.iter().map(move |link| format!("{} {} {}", page["from"], link["to"], link["text"]))
    });
    let mut arcs: Vec<String> = pages.collect();
    arcs.sort();
    arcs
}

#[track_caller]
fn assert_same(before: &Kept, after: &Kept) {
    assert_eq!(sorted(&before.pages), sorted(&after.pages), "pages.jsonl");
    assert_eq!(sorted(&before.index), sorted(&after.index), "CDXJ");
    assert_eq!(arcs(before), arcs(after), "links");
    assert!(!before.pages.is_empty() && !before.index.is_empty());
}

#[test]
fn a_lost_page_list_index_and_link_log_are_made_anew() {
    let world = web();
    let summary = crawl(world.plan());
    let (dir, asked) = (world.dir(), world.pages_asked());
    let before = Kept::of(&dir);
    for part in ["pages", "cdx", "links"] {
        fs::remove_dir_all(dir.join(part)).expect("it is there");
    }
    let rebuilt = rebuild(world.plan());
    assert!(!rebuilt.state_rebuilt, "{rebuilt:?}");
    assert_eq!(rebuilt.damaged, Vec::<String>::new());
    assert_same(&before, &Kept::of(&dir));
    assert_eq!(crawl(world.plan()).fetched, summary.fetched, "the crawl is as finished as it was");
    assert_eq!(world.pages_asked(), asked, "nobody was asked");
}

#[test]
fn a_lost_state_is_made_anew_and_the_crawl_goes_on_with_what_it_lacks() {
    let world = web();
    crawl_until(world.plan(), 12);
    let dir = world.dir();
    let before = Kept::of(&dir);
    for part in ["state", "pages", "cdx", "links"] {
        fs::remove_dir_all(dir.join(part)).expect("it is there");
    }
    fs::remove_file(dir.join("summary.json")).expect("it is there");
    let rebuilt = rebuild(world.plan());
    assert!(rebuilt.state_rebuilt && rebuilt.waiting > 0, "{rebuilt:?}");
    assert_same(&before, &Kept::of(&dir));
    crawl(world.plan());
    let missing = world.audit().coverage.missing;
    assert!(missing.is_empty(), "every page is there in the end: {missing:?}");
    Kept::of(&dir).assert_sound();
}

#[test]
fn a_rule_that_was_lifted_is_lifted_for_links_that_are_read_again() {
    let world = web();
    let plan = || {
        let mut plan = world.plan();
        plan.selection.exclude = vec!["/view\\?".to_owned()];
        plan
    };
    crawl_until(plan(), 6);
    let again = || {
        let rebuild = Rebuild::new(plan()).from_archive_alone(true);
        runtime().block_on(rebuild.run()).expect("the rebuild ends well").waiting
    };
    let before = again();
    let mut changes = Changes::open(&world.dir().join("state"), &plan()).expect("changes");
    changes.note(&[Change::Unexclude("/view\\?".to_owned())]).expect("a change is kept");
    assert!(again() > before, "{before} waited before");
}

#[test]
fn a_rebuild_that_was_killed_leaves_the_crawl_as_it_was() {
    let world = web();
    crawl(world.plan());
    let dir = world.dir();
    let before = Kept::of(&dir);
    let stage = dir.join(".rebuild");
    fs::create_dir_all(stage.join("pages")).expect("a directory");
    fs::write(stage.join("pages/pages.jsonl"), "half a li").expect("a file");
    crawl(world.plan());
    assert_same(&before, &Kept::of(&dir));
    rebuild(world.plan());
    assert_same(&before, &Kept::of(&dir));
    assert!(!stage.exists());
}

#[test]
fn a_damaged_archive_gives_what_stands_before_the_damage() {
    let world = web();
    crawl(world.plan());
    let dir = world.dir();
    let whole = Kept::of(&dir).index.len();
    let archive = files(&dir.join("warc"), "warc.gz").pop().expect("an archive");
    let bytes = fs::read(&archive).expect("it can be read");
    fs::write(&archive, &bytes[..bytes.len() / 2]).expect("it can be written");
    let plan = world.plan();
    let rebuilt = runtime().block_on(Rebuild::new(plan).from_archive_alone(true).run());
    let rebuilt = rebuilt.expect("the rebuild ends well");
    assert_eq!(rebuilt.damaged.len(), 1, "{rebuilt:?}");
    let kept = files(&dir.join("cdx"), "cdxj");
    let lines: usize =
        kept.iter().map(|file| fs::read_to_string(file).expect("text").lines().count()).sum();
    assert!(lines > 0 && lines < whole, "{lines} of {whole}");
}

/// A flipped bit costs the record that it is in, and those that belong to it.
#[test]
fn what_stands_behind_a_damaged_record_is_found_again() {
    let world = web();
    crawl(world.plan());
    let dir = world.dir();
    let before = Kept::of(&dir).index;
    let victim = &before[before.len() / 2];
    let number =
        |key: &str| victim[key].as_str().expect("text").parse::<usize>().expect("a number");
    let archive = dir.join("warc").join(victim["filename"].as_str().expect("a name"));
    let mut bytes = fs::read(&archive).expect("it can be read");
    bytes[number("offset") + number("length") / 2] ^= 0x10;
    fs::write(&archive, &bytes).expect("it can be written");
    let rebuilt = runtime().block_on(Rebuild::new(world.plan()).from_archive_alone(true).run());
    let rebuilt = rebuilt.expect("the rebuild ends well");
    assert_eq!(rebuilt.damaged.len(), 1, "{rebuilt:?}");
    assert!(rebuilt.damaged[0].contains("reading goes on"), "{rebuilt:?}");
    let after: usize = files(&dir.join("cdx"), "cdxj")
        .iter()
        .map(|file| fs::read_to_string(file).expect("text").lines().count())
        .sum();
    assert_eq!(after, before.len() - 1);
}

fn larm(arguments: &[&str], paths: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
    command.args(arguments).args(paths).stdin(Stdio::null());
    command.output().expect("the binary starts")
}

fn samples() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/testdata");
    let folder = std::env::var_os("LARM_TESTDATA").map_or(beside, PathBuf::from);
    let found = folder.join("warc").is_dir().then(|| folder.join("warc"));
    if found.is_none() {
        println!("skipped: no testdata");
    }
    found
}

/// Every sample that two other readers find sound, and what of its answers can be brought back.
#[test]
fn archives_of_other_crawlers_are_taken() {
    let Some(samples) = samples() else { return };
    let temp = tempfile::tempdir().expect("a temporary directory");
    let expected = fs::read(samples.join("expected.json")).expect("what is expected");
    let expected: Vec<Value> = serde_json::from_slice(&expected).expect("a list");
    let is_sound = |row: &&Value| row["warcio_check_exit"] == 0 && row["fastwarc_check_exit"] == 0;
    let sound: Vec<&Value> = expected.iter().filter(is_sound).collect();
    assert!(sound.len() >= 10);
    for row in sound {
        let name = row["file"].as_str().expect("a name");
        let tar = samples.join(row["archive"].as_str().expect("a name"));
        let unpacked =
            Command::new("tar").arg("-xzf").arg(&tar).arg("-C").arg(temp.path()).status();
        assert!(unpacked.expect("tar").success());
        let dir = temp.path().join(format!("{name}.larm"));
        let output = larm(&["rebuild", "--json"], &[&dir, &temp.path().join(name)]);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let rebuilt: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let count = |kind: &str| row["records"][kind].as_u64().unwrap_or_default();
        let answers = count("response") + count("revisit") + count("resource");
        assert_eq!(rebuilt["captures"], answers, "{name}: {rebuilt}");
        assert_eq!(rebuilt["damaged"], Value::Array(Vec::new()), "{name}");
    }
    let dir = temp.path().join("cc.warc.gz.larm");
    let line = files(&dir.join("cdx"), "cdxj").pop().expect("an index");
    let line = fs::read_to_string(line).expect("text");
    let entry: Value = serde_json::from_str(&line[line.find('{').expect("JSON")..]).expect("JSON");
    let text = larm(&["cat", "--text"], &[&dir, Path::new(entry["url"].as_str().expect("a URL"))]);
    assert!(text.stdout.len() > 100, "{}", String::from_utf8_lossy(&text.stderr));
}

/// A page as another crawler would have kept it.
fn record(path: &str, date: &str, word: &str) -> String {
    let body = format!("<title>{path}</title><p>{word}");
    let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{body}");
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{path}-{date}>\r\nWARC-Date: {date}\r\n\
         WARC-Target-URI: http://h.test{path}\r\nContent-Type: application/http\r\n\
         Content-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

#[test]
fn of_several_versions_of_a_page_the_newest_is_found_in_whatever_order_they_stand() {
    let temp = tempfile::tempdir().expect("a directory");
    let [old, new] = ["2018-01-01T00:00:00Z", "2020-01-01T00:00:00Z"];
    let versions = |n: u32| match n % 2 {
        0 => record(&format!("/{n}"), old, "older") + &record(&format!("/{n}"), new, "newer"),
        _ => record(&format!("/{n}"), new, "newer") + &record(&format!("/{n}"), old, "older"),
    };
    let archive = temp.path().join("others.warc");
    std::fs::write(&archive, (0..40).map(versions).collect::<String>()).expect("it is written");
    let dir = temp.path().join("new.larm");
    let output = larm(&["rebuild", "--json"], &[&dir, &archive]);
    assert!(output.status.success(), "{output:?}");
    for (word, total) in [("newer", 40), ("older", 0)] {
        let found =
            larm(&["search", "--similar", "--json", dir.to_str().expect("UTF-8"), word], &[]);
        let found: Value = serde_json::from_slice(&found.stdout).expect("JSON");
        assert_eq!(found["total"], total, "{word}: {found}");
    }
}

#[test]
fn a_record_that_is_too_long_costs_none_of_those_behind_it() {
    let temp = tempfile::tempdir().expect("a directory");
    let long = record("/long", "2020-01-01T00:00:00Z", &"x".repeat(400_000));
    let [before, behind] =
        ["/before", "/behind"].map(|path| record(path, "2020-01-01T00:00:00Z", "egg"));
    let dir = temp.path().join("new.larm");
    std::fs::create_dir_all(dir.join("warc")).expect("a directory");
    std::fs::write(dir.join("warc/others.warc"), before + &long + &behind).expect("it is written");
    std::fs::write(dir.join("larm.toml"), "[limits]\nbody_bytes_max = 20000\n")
        .expect("it is, too");
    let output = larm(&["rebuild", "--json"], &[&dir]);
    assert!(output.status.success(), "{output:?}");
    let rebuilt: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(rebuilt["restored"], 2, "{rebuilt}");
    assert_eq!(rebuilt["skipped"]["longer than may be read"], 1, "{rebuilt}");
}

#[test]
fn an_archive_that_gives_nothing_says_why() {
    let temp = tempfile::tempdir().expect("a directory");
    let page = record("/", "2020-01-01T00:00:00Z", "egg");
    let mut together = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut together, page.repeat(2).as_bytes()).expect("it is packed");
    let together = together.finish().expect("it is packed");
    let archives: [(&str, &[u8], &str); 3] = [
        ("together.warc.gz", &together, "unpacked, the file can be read"),
        ("page.warc", b"<!doctype html>", "cut short"),
        ("empty.warc", b"", "0 answers"),
    ];
    for (name, bytes, why) in archives {
        let archive = temp.path().join(name);
        std::fs::write(&archive, bytes).expect("it is written");
        let output = larm(&["rebuild"], &[&temp.path().join(format!("{name}.larm")), &archive]);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.code() == Some(3) && said.contains(why), "{name}: {output:?}");
    }
}

#[test]
fn two_archives_of_one_name_are_not_taken_for_one() {
    let temp = tempfile::tempdir().expect("a directory");
    let archives = ["a", "b"].map(|part| {
        let dir = temp.path().join(part);
        std::fs::create_dir(&dir).expect("a directory");
        let archive = dir.join("data.warc");
        let page =
            record(&format!("/{part}"), "2020-01-01T00:00:00Z", &part.repeat(part.len() + 1));
        let more = if part == "b" { page.clone() } else { String::new() };
        std::fs::write(&archive, page + &more).expect("it is written");
        archive
    });
    let output = larm(&["rebuild"], &[&temp.path().join("new.larm"), &archives[0], &archives[1]]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("needs another name"), "{output:?}");
}
