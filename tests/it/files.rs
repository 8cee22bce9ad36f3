//! Trees of files: crawled with the same filters, sinks and promises as the web.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use larm_core::scope::ScopeMode;
use larm_crawl::store::summary::State;
use larm_crawl::{Plan, Summary};
use larm_testsite::WebPlan;
use tempfile::TempDir;

use crate::archive::{run, said, tool};
use crate::kept::{Kept, files};
use crate::world::{World, crawl, crawl_until, url};

/// A tree, and a place beside it to crawl it into.
struct Tree {
    temp: TempDir,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self { temp: tempfile::tempdir().expect("a temporary directory") };
        for (name, text) in files {
            let path = tree.path(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, text).expect("a file");
        }
        tree
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().canonicalize().expect("a real path").join("tree").join(name)
    }

    fn url(&self, name: &str) -> String {
        url(&format!("file://{}", self.path(name).display())).to_string()
    }

    fn dir(&self) -> PathBuf {
        self.temp.path().join("tree.larm")
    }

    fn plan(&self, seed: &str) -> Plan {
        Plan::new(self.dir(), vec![url(&self.url(seed))])
    }

    /// The URLs of these names.
    fn urls(&self, names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| self.url(name)).collect()
    }
}

fn small() -> Tree {
    Tree::new(&[
        ("index.html", "<a href=sub/page.html>p</a> <a href=http://127.0.0.1:8009/>web</a>"),
        ("sub/page.html", "<a href=../../outside.html>out</a><a href=/etc/passwd>x</a>"),
        ("sub/notes.txt", "notes"),
        ("sub/copy.txt", "notes"),
        ("music/song.mp3", "ID3 song"),
        ("music/cover.jpg", "\u{ff}"),
    ])
}

/// URLs that were read, as the crawl log tells it.
fn fetched(kept: &Kept) -> BTreeSet<String> {
    let lines = kept.log.iter().filter(|line| line["outcome"] == "fetched");
    lines.map(|line| line["url"].as_str().expect("a URL").to_owned()).collect()
}

#[test]
fn a_directory_is_crawled_with_everything_below_it_and_nothing_else() {
    let tree = small();
    let summary = crawl(tree.plan(""));
    assert_eq!(summary.state, State::Finished);
    let kept = Kept::of(&tree.dir());
    let names =
        ["", "sub/", "music/", "index.html", "sub/page.html", "sub/notes.txt", "sub/copy.txt"];
    let mut expected = tree.urls(&names);
    expected.extend(tree.urls(&["music/song.mp3", "music/cover.jpg"]));
    assert_eq!(fetched(&kept), expected);
    let verdicts: Vec<&str> = [tree.url("index.html"), tree.url("sub/page.html")]
        .iter()
        .flat_map(|page| kept.links_of(page))
        .filter_map(|link| link["verdict"].as_str())
        .collect();
    assert_eq!(verdicts.len(), 3, "{verdicts:?}");
    assert!(verdicts[0].starts_with("scope: host 127.0.0.1 is on the web"), "{verdicts:?}");
    assert!(verdicts[1..].iter().all(|why| why.starts_with("files: not below")), "{verdicts:?}");
}

#[test]
fn a_page_as_seed_leads_only_where_its_links_do() {
    let tree = small();
    crawl(tree.plan("index.html"));
    let expected = tree.urls(&["index.html", "sub/page.html"]);
    assert_eq!(fetched(&Kept::of(&tree.dir())), expected);
}

#[test]
fn the_types_asked_for_are_found_in_the_whole_tree() {
    let tree = small();
    let mut plan = tree.plan("");
    plan.selection.accept = vec!["audio/*".to_owned()];
    plan.fetch.accept = plan.selection.accept.clone();
    crawl(plan);
    let kept = Kept::of(&tree.dir());
    let audio = kept.log.iter().filter(|line| line["type"] == "audio/mpeg");
    let audio: Vec<&str> = audio.filter_map(|line| line["url"].as_str()).collect();
    assert_eq!(audio, [tree.url("music/song.mp3")]);
    assert!(!fetched(&kept).contains(&tree.url("sub/notes.txt")));
}

#[test]
fn the_archive_has_resource_records_and_says_so_in_every_file() {
    let tree = small();
    // Of two that are read at the same time, neither is the copy.
    crawl(tree.plan("sub/notes.txt"));
    crawl(tree.plan(""));
    let kept = Kept::of(&tree.dir());
    let of = |name: &str| {
        let url = tree.url(name);
        let is_it = |kind: &str| matches!(kind, "resource" | "revisit");
        let mut found = kept.records.iter().map(|(_, record)| record);
        found.find(|r| r.target() == Some(&url) && is_it(r.kind())).expect("a record").clone()
    };
    let song = of("music/song.mp3");
    assert_eq!((song.kind(), song.block.as_slice()), ("resource", b"ID3 song".as_slice()));
    assert_eq!(song.field("Content-Type"), Some("audio/mpeg"));
    assert_eq!(song.field("WARC-Protocol"), Some("file"));
    let kinds: BTreeSet<&str> = kept.records.iter().map(|(_, record)| record.kind()).collect();
    assert_eq!(kinds, BTreeSet::from(["metadata", "resource", "revisit", "warcinfo"]));
    let (original, copy) = (of("sub/notes.txt"), of("sub/copy.txt"));
    assert_eq!(original.kind(), "resource");
    assert_eq!((copy.kind(), copy.block.len()), ("revisit", 0));
    assert_eq!(copy.field("WARC-Refers-To-Target-URI"), original.target());
    for (_, record) in &kept.records {
        record.check_digests().expect("digests agree");
    }
    assert_eq!(kept.index.len(), 9);
    let Some(warcio) = tool("warcio") else { return };
    let checked = run(&warcio, &["check", "-v"], &files(&tree.dir().join("warc"), "warc.gz"));
    assert!(checked.status.success(), "{}", said(&checked));
}

#[cfg(unix)]
#[test]
fn a_symlink_out_is_followed_only_when_asked_and_a_circle_ends() {
    use std::os::unix::fs::symlink;
    let tree = small();
    let outside = tree.temp.path().canonicalize().expect("a real path").join("outside");
    fs::create_dir_all(outside.join("deep")).expect("a directory");
    fs::write(outside.join("deep/secret.txt"), "secret").expect("a file");
    symlink(&outside, tree.path("out")).expect("a link");
    symlink(tree.path(""), outside.join("deep/back")).expect("a link");
    symlink(".", tree.path("sub/loop")).expect("a link");
    let secret = format!("file://{}", outside.join("deep/secret.txt").display());
    crawl(tree.plan(""));
    let kept = Kept::of(&tree.dir());
    assert!(!fetched(&kept).contains(&secret));
    let reason = kept.line(&tree.url("out"))["reason"].as_str().expect("a reason").to_owned();
    assert!(reason.starts_with("unreadable: a symbolic link leads out of the tree"), "{reason}");
    let mut plan = Plan { dir: tree.temp.path().join("followed.larm"), ..tree.plan("") };
    plan.selection.follow_symlinks = true;
    let summary = crawl(plan.clone());
    assert_eq!(summary.state, State::Finished);
    let followed = fetched(&Kept::of(&plan.dir));
    assert!(followed.contains(&secret), "{followed:?}");
    assert_eq!(followed.len(), fetched(&kept).len() + 3, "the file and its two directories");
}

#[test]
fn the_private_files_of_a_crawl_in_the_tree_are_not_read() {
    let tree = Tree::new(&[
        ("old.larm/larm.toml", "seeds = []"),
        ("old.larm/secrets.toml", "bearer = \"sesame\""),
        ("old.larm/state/format.json", "{}"),
        ("old.larm/state/cookies.txt", "h\tFALSE\t/\tFALSE\t0\tid\tsesame"),
        ("project/secrets.toml", "no crawl"),
        ("project/state/notes.txt", "no crawl"),
    ]);
    crawl(tree.plan(""));
    let kept = Kept::of(&tree.dir());
    let open = ["old.larm/larm.toml", "project/secrets.toml", "project/state/notes.txt"];
    assert!(fetched(&kept).is_superset(&tree.urls(&open)), "{:?}", fetched(&kept));
    for name in ["old.larm/secrets.toml", "old.larm/state/"] {
        let reason = kept.line(&tree.url(name))["reason"].as_str().expect("a reason").to_owned();
        assert!(reason.contains("private to the crawl"), "{name}: {reason}");
    }
    assert!(!fetched(&kept).iter().any(|url| url.contains("/old.larm/state/")));
}

#[test]
fn files_that_look_alike_or_like_a_wall_are_kept_all_the_same() {
    let wall = "<html><head><title>Just a moment...</title></head><body>\
                <script src=\"/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1\"></script>";
    let same = "<title>Not found</title><p>This page could not be found.";
    let pages: Vec<(String, String)> =
        (0..60).map(|i| (format!("p{i}.html"), format!("{same}<!-- {i} -->"))).collect();
    let mut all: Vec<(&str, &str)> = pages.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    all.push(("wall.html", wall));
    let tree = Tree::new(&all);
    crawl(tree.plan(""));
    let kept = Kept::of(&tree.dir());
    assert_eq!(fetched(&kept).len(), 62, "61 files and their directory");
    assert_eq!(kept.log.len(), 62, "and nothing else was looked for");
}

#[test]
fn a_file_older_than_time_itself_is_kept_without_its_date() {
    let tree = Tree::new(&[("old.txt", "old")]);
    let file = std::fs::File::options().write(true).open(tree.path("old.txt")).expect("a file");
    let before = std::time::SystemTime::UNIX_EPOCH - std::time::Duration::from_secs(1_000_000);
    file.set_modified(before).expect("a time");
    crawl(tree.plan(""));
    assert!(fetched(&Kept::of(&tree.dir())).contains(&tree.url("old.txt")));
}

#[test]
fn no_page_of_the_web_leads_to_a_file_even_of_a_seed() {
    let tree = small();
    let world = World::new(WebPlan { hosts: 1, pages_per_host: 3, ..WebPlan::default() });
    let mut plan = world.plan();
    plan.selection.scope = ScopeMode::Any;
    plan.seeds.push(url(&tree.url("sub/")));
    crawl(plan);
    let kept = Kept::of(&world.dir());
    let is_file = |text: &serde_json::Value| text.as_str().is_some_and(|t| t.starts_with("file:"));
    let crossing = kept.log.iter().filter(|line| is_file(&line["url"]));
    let crossing = crossing.filter(|line| line["from"].is_string() && !is_file(&line["from"]));
    assert_eq!(crossing.count(), 0);
    let read = fetched(&kept);
    assert!(
        read.contains(&tree.url("sub/notes.txt")) && read.iter().any(|u| u.starts_with("http"))
    );
}

fn numbered(files: usize) -> Tree {
    let texts: Vec<(String, String)> =
        (0..files).map(|i| (format!("d{}/f{i}.txt", i % 7), format!("text {i}"))).collect();
    Tree::new(&texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect::<Vec<_>>())
}

fn assert_whole(tree: &Tree, summary: &Summary, files: usize) {
    assert_eq!(summary.state, State::Finished);
    let kept = Kept::of(&tree.dir());
    assert_eq!(fetched(&kept).len(), files + 8, "the files, seven directories and their root");
    assert_eq!(kept.log.len(), files + 8, "each once");
    let resources = kept.records.iter().filter(|(_, record)| record.kind() == "resource");
    assert_eq!(resources.count(), files + 8);
}

#[test]
fn a_tree_that_was_stopped_twice_is_kept_whole_and_once() {
    let tree = numbered(300);
    for _ in 0..2 {
        assert_eq!(crawl_until(tree.plan(""), 60).state, State::Stopped);
    }
    assert_whole(&tree, &crawl(tree.plan("")), 300);
}

#[test]
fn a_tree_whose_crawl_was_killed_is_kept_whole_and_once() {
    let tree = numbered(3_000);
    let larm = |wait: bool| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
        command.arg("crawl").arg(tree.path("")).arg("-o").arg(tree.dir()).arg("--no-progress");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the binary starts");
        if !wait {
            let log = tree.dir().join("logs/crawl.jsonl");
            while fs::metadata(&log).map_or(0, |log| log.len()) == 0 {
                assert!(
                    child.try_wait().expect("a child").is_none(),
                    "it ended before it was killed"
                );
                std::thread::yield_now();
            }
            child.kill().expect("it can be killed");
        }
        child.wait().expect("it ends")
    };
    larm(false);
    assert!(larm(true).success());
    let summary = Summary::read(&tree.dir().join("summary.json")).expect("a summary");
    assert_whole(&tree, &summary, 3_000);
}

#[test]
fn the_program_takes_a_path_and_says_for_what() {
    let tree = small();
    let larm = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
        command.args(arguments).current_dir(tree.temp.path()).stdin(Stdio::null());
        command.output().expect("the binary runs")
    };
    let output = larm(&["./tree", "--no-progress"]);
    let words = said(&output);
    assert!(output.status.success(), "{words}");
    assert!(words.contains("./tree is taken for file:///"), "{words}");
    let cat = larm(&["cat", "tree.larm", &tree.url("sub/copy.txt")]);
    assert_eq!(cat.stdout, b"notes", "{}", said(&cat));
    let status = said(&larm(&["status", "tree.larm"]));
    assert!(!status.contains("host"), "files are on no host: {status}");
    let hosts = said(&larm(&["status", "tree.larm", "--hosts"]));
    assert!(hosts.contains("0 hosts") && !hosts.contains("files#"), "{hosts}");
    let why = said(&larm(&["why", "tree.larm", &tree.url("sub/notes.txt")]));
    assert!(why.contains("fetched: 200, text/plain") && why.contains("last-modified"), "{why}");
    let hosts = said(&larm(&["./tree", "-o", "x.larm", "--per-host", "3"]));
    assert!(hosts.contains("files have no host"), "{hosts}");
    let web = said(&larm(&["./tree", "-o", "x.larm", "--scope", "any"]));
    assert!(web.contains("--contact"), "{web}");
}

/// To open a pipe is to wait for who writes to it: here nobody ever does, not even at the end.
#[cfg(unix)]
#[test]
fn a_pipe_in_the_tree_holds_nobody_up() {
    let tree = small();
    let made = Command::new("mkfifo").arg(tree.path("pipe.html")).status().expect("mkfifo");
    assert!(made.success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
    command.args(["./tree", "--no-progress"]).current_dir(tree.temp.path()).stdin(Stdio::null());
    let output = command.output().expect("the binary runs");
    assert!(output.status.success(), "{}", said(&output));
    let kept = Kept::of(&tree.dir());
    let reason = kept.line(&tree.url("pipe.html"))["reason"].as_str().expect("a reason").to_owned();
    assert_eq!(reason, "unreadable: not a file but a pipe");
    assert!(fetched(&kept).contains(&tree.url("sub/notes.txt")));
}

/// Whoever may read a crawl may ask it, also on a medium that nobody can write.
#[cfg(unix)]
#[test]
fn a_crawl_that_cannot_be_written_can_be_asked() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let tree = small();
    crawl(tree.plan(""));
    fs::write(tree.dir().join("larm.toml"), format!("seeds = [\"{}\"]\n", tree.url(""))).unwrap();
    let mut all = vec![tree.temp.path().to_owned()];
    let mut at = 0;
    while let Some(path) = all.get(at).cloned() {
        at += 1;
        let mode = if path.is_dir() { 0o555 } else { 0o444 };
        all.extend(fs::read_dir(&path).into_iter().flatten().map(|entry| entry.unwrap().path()));
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let larm = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
        command.args(arguments).current_dir(tree.temp.path()).stdin(Stdio::null());
        if fs::write(tree.dir().join("summary.json"), "").is_ok() {
            // Who may write everywhere is not asked to: somebody else is.
            command.uid(65_534).gid(65_534);
        }
        command.output().expect("the binary runs")
    };
    let url = tree.url("sub/notes.txt");
    let cat = larm(&["cat", "tree.larm", &url]);
    assert_eq!(cat.stdout, b"notes", "{}", said(&cat));
    let why = said(&larm(&["why", "tree.larm", &url]));
    assert!(why.contains("fetched: 200"), "{why}");
    let hosts = larm(&["status", "tree.larm", "--hosts"]);
    assert!(hosts.status.success(), "{}", said(&hosts));
    for path in all.iter().filter(|path| path.is_dir()) {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}
