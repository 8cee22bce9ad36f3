//! Open files: what the tools of archivists make of a crawl.
//!
//! Two checkers read every record, and pywb replays pages from our own index: the bytes that it serves
//! are compared with those of the origin, and a browser shows one of them. The tools are named by the
//! environment: `LARM_VENV`, a Python environment with warcio, fastwarc and pywb, and `LARM_CHROMIUM`.
//! Without them a test says so and passes.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use larm_crawl::Duplicates;
use larm_testsite::{Features, Kind, WebPlan};

use crate::kept::{Kept, files};
use crate::world::{World, crawl};

/// The background colour of the style that the test web's pages embed.
const BACKGROUND: [u8; 3] = [0xfd, 0xfc, 0xf8];

/// A tool of the Python environment; says that the test is skipped where there is none.
pub fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("LARM_VENV").map(|venv| Path::new(&venv).join("bin").join(name));
    let found = path.filter(|path| path.exists());
    if found.is_none() {
        println!("skipped: no {name}; LARM_VENV names an environment that has it");
    }
    found
}

/// A crawl with all that is hard on an archive, made once for all tests.
fn crawled() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let features = Features {
            assets: true,
            charsets: true,
            redirects: true,
            duplicates: true,
            mirrors: true,
            encodings: true,
            types: true,
            dead_links: true,
            hostile: true,
            ..Features::none()
        };
        let web = WebPlan {
            hosts: 2,
            pages_per_host: 10,
            features,
            named_hosts: true,
            ..WebPlan::default()
        };
        let world = World::new(web);
        let mut plan = world.plan();
        plan.selection.assets = true;
        // Mirrors are to be replayed, too.
        plan.duplicates = Duplicates::Off;
        plan.limits.body_bytes_max = 500_000;
        plan.limits.body_decoded_bytes_max = 5_000_000;
        crawl(plan);
        world
    })
}

fn archive_files(world: &World) -> Vec<PathBuf> {
    files(&world.dir().join("warc"), "warc.gz")
}

pub fn run(tool: &Path, arguments: &[&str], files: &[PathBuf]) -> Output {
    let mut command = Command::new(tool);
    command.args(arguments).args(files).stdin(Stdio::null());
    command.output().expect("the tool starts")
}

pub fn said(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{:?}\n{out}\n{err}", output.status.code())
}

#[test]
fn the_archive_holds_truncated_duplicate_chunked_and_compressed_answers() {
    let kept = Kept::of(&crawled().dir());
    kept.assert_sound();
    let heads: Vec<String> = kept
        .records
        .iter()
        .filter_map(|(_, record)| record.http())
        .map(|(head, _)| String::from_utf8_lossy(head).to_lowercase())
        .collect();
    let has = |text: &str| heads.iter().any(|head| head.contains(text));
    assert!(has("transfer-encoding: chunked") && has("content-encoding: gzip"));
    assert!(has("content-encoding: deflate") && has("location: "));
    assert!(kept.records.iter().any(|(_, record)| record.kind() == "revisit"));
    let truncated = |word: &str| {
        let responses = kept.records.iter().filter(|(_, record)| record.kind() == "response");
        responses.filter(|(_, record)| record.field("WARC-Truncated") == Some(word)).count()
    };
    assert!(truncated("length") > 0 && truncated("disconnect") > 0);
}

#[test]
fn warcio_finds_nothing_wrong_with_the_archive() {
    let Some(warcio) = tool("warcio") else { return };
    let output = run(&warcio, &["check", "-v"], &archive_files(crawled()));
    let said = said(&output);
    assert!(output.status.success() && !said.to_lowercase().contains("fail"), "{said}");
    assert!(said.contains("digest pass"), "it compared digests: {said}");
}

#[test]
fn fastwarc_finds_nothing_wrong_with_blocks_and_only_revisits_with_payloads() {
    let Some(fastwarc) = tool("fastwarc") else { return };
    let mut failed = BTreeSet::new();
    for file in archive_files(crawled()) {
        let blocks = run(&fastwarc, &["check", "-q"], std::slice::from_ref(&file));
        assert!(blocks.status.success(), "{}", said(&blocks));
        let payloads = run(&fastwarc, &["check", "-q", "-p", "-o", "-"], &[file]);
        let lines = String::from_utf8_lossy(&payloads.stdout).into_owned();
        let fails = lines.lines().filter_map(|line| line.strip_suffix(": OK, PAYLOAD_FAIL"));
        failed.extend(fails.map(str::to_owned));
        assert!(!lines.contains(": FAIL") && lines.contains("PAYLOAD_OK"), "{}", said(&payloads));
    }
    // It compares the payload digest of a revisit, which is that of its original, with an empty block.
    let kept = Kept::of(&crawled().dir());
    let revisits = kept.records.iter().filter(|(_, record)| record.kind() == "revisit");
    let revisits = revisits.filter_map(|(_, record)| record.field("WARC-Record-ID"));
    assert_eq!(failed, revisits.map(str::to_owned).collect::<BTreeSet<_>>());
}

/// pywb over a crawl's own index. Ends with the test.
struct Replay {
    wayback: Child,
    port: u16,
    _home: tempfile::TempDir,
}

impl Replay {
    fn start(wayback: &Path, dir: &Path) -> Self {
        let home = tempfile::tempdir().expect("a temporary directory");
        let collection = home.path().join("collections/larm");
        let indexes = collection.join("indexes");
        std::fs::create_dir_all(&indexes).expect("a directory");
        std::fs::create_dir_all(collection.join("archive")).expect("a directory");
        let mut lines: Vec<String> = Vec::new();
        for file in files(&dir.join("cdx"), "cdxj") {
            let text = std::fs::read_to_string(file).expect("an index");
            lines.extend(text.lines().map(str::to_owned));
        }
        lines.sort();
        std::fs::write(indexes.join("index.cdxj"), lines.join("\n") + "\n").expect("an index");
        for file in files(&dir.join("warc"), "warc.gz") {
            let name = file.file_name().expect("a name");
            std::fs::copy(&file, collection.join("archive").join(name)).expect("a copy");
        }
        let port = free_port();
        let mut command = Command::new(wayback);
        command.args(["-b", "127.0.0.1", "-p", &port.to_string()]).current_dir(home.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut wayback = command.spawn().expect("pywb starts");
        wait_for(&mut wayback, "Starting");
        Self { wayback, port, _home: home }
    }

    /// What is replayed for a URL, without pywb's own additions.
    fn body(&self, url: &str) -> (u16, Vec<u8>) {
        get(self.port, &format!("/larm/id_/{url}"))
    }

    /// Where a browser finds a page.
    fn page(&self, url: &str) -> String {
        format!("http://127.0.0.1:{}/larm/mp_/{url}", self.port)
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        let _ = self.wayback.kill();
        let _ = self.wayback.wait();
    }
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

/// Reads what a child says until a line holds `word`, and goes on reading it in the background.
fn wait_for(child: &mut Child, word: &str) {
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let mut said = String::new();
    for line in lines.by_ref().map_while(|line| line.ok()) {
        said += &format!("{line}\n");
        if line.contains(word) {
            let rest = move || lines.for_each(drop);
            std::thread::Builder::new().spawn(rest).expect("a thread");
            return;
        }
    }
    panic!("it ended without a word of {word}: {said}");
}

/// A GET by hand: status and body. Tries again while nobody listens yet.
fn get(port: u16, path: &str) -> (u16, Vec<u8>) {
    let mut stream = (0..100_000)
        .find_map(|_| TcpStream::connect(("127.0.0.1", port)).ok())
        .expect("somebody listens");
    write!(stream, "GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n\r\n").expect("a request");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    let head = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head") + 4;
    let body = answer.split_off(head);
    let status = String::from_utf8_lossy(&answer).split(' ').nth(1).and_then(|s| s.parse().ok());
    (status.expect("a status"), body)
}

#[test]
fn pywb_replays_what_the_origin_served_from_our_own_index() {
    let Some(wayback) = tool("wayback") else { return };
    let world = crawled();
    let replay = Replay::start(&wayback, &world.dir());
    let truth = world.site.truth();
    let whole = truth.pages.iter().filter(|(_, expect)| {
        matches!(expect.kind, Kind::Page | Kind::DuplicateOf(_) | Kind::MirrorOf(_) | Kind::Asset)
    });
    let mut compared = 0;
    for (url, _) in whole {
        let (status, body) = replay.body(url);
        let origin = world.site.body(url).expect("a body");
        assert_eq!(status, 200, "{url}");
        assert!(body == origin, "{url}: {} bytes replayed, {} served", body.len(), origin.len());
        compared += 1;
    }
    assert!(compared > 50, "{compared} pages compared");
}

#[test]
fn a_browser_shows_a_replayed_page_with_its_style() {
    let Some(wayback) = tool("wayback") else { return };
    let Some(chromium) = std::env::var_os("LARM_CHROMIUM") else {
        println!("skipped: LARM_CHROMIUM names no browser");
        return;
    };
    let world = crawled();
    let replay = Replay::start(&wayback, &world.dir());
    let temp = tempfile::tempdir().expect("a temporary directory");
    let picture = match std::env::var_os("LARM_SCREENSHOT") {
        Some(path) => PathBuf::from(path),
        None => temp.path().join("page.png"),
    };
    let mut browser = Command::new(chromium);
    browser
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--window-size=800,600", "--virtual-time-budget=5000"])
        .arg(format!("--user-data-dir={}", temp.path().display()))
        .arg(format!("--screenshot={}", picture.display()))
        .arg(replay.page(&world.site.seeds()[0]));
    let output = browser.stdin(Stdio::null()).output().expect("the browser starts");
    assert!(picture.exists(), "{}", said(&output));
    let pixels = png::pixels(&std::fs::read(&picture).expect("a picture"));
    let styled = pixels.iter().filter(|pixel| **pixel == BACKGROUND).count();
    let share = 100 * styled / pixels.len();
    assert!(share > 50, "{share} % of the page have the colour of its style");
}

/// Just enough of PNG to look at a screenshot.
mod png {
    use std::io::Read;

    /// The colours of a picture with 8 bits for each of red, green, blue (and alpha), not interlaced.
    pub fn pixels(file: &[u8]) -> Vec<[u8; 3]> {
        let mut chunks = Vec::new();
        let mut rest = file.strip_prefix(b"\x89PNG\r\n\x1a\n").expect("a PNG file");
        while let Some((length, tail)) = rest.split_first_chunk::<4>() {
            let length = u32::from_be_bytes(*length) as usize;
            chunks.push((&tail[..4], &tail[4..4 + length]));
            rest = &tail[8 + length..];
        }
        let head = chunks.iter().find(|(kind, _)| *kind == b"IHDR").expect("a header").1;
        let width = u32::from_be_bytes(head[..4].try_into().expect("four bytes")) as usize;
        let colours = match (head[8], head[9], head[12]) {
            (8, 2, 0) => 3,
            (8, 6, 0) => 4,
            other => panic!("a PNG of another form: {other:?}"),
        };
        let data = chunks.iter().filter(|(kind, _)| *kind == b"IDAT");
        let packed: Vec<u8> = data.flat_map(|(_, bytes)| bytes.iter().copied()).collect();
        let mut bytes = Vec::new();
        flate2::read::ZlibDecoder::new(&*packed).read_to_end(&mut bytes).expect("zlib");
        unfiltered(&bytes, width * colours, colours)
            .chunks(colours)
            .map(|pixel| [pixel[0], pixel[1], pixel[2]])
            .collect()
    }

    /// Takes the filter of each row off (PNG section 9.2).
    fn unfiltered(bytes: &[u8], row_bytes: usize, step: usize) -> Vec<u8> {
        let mut out: Vec<u8> = Vec::new();
        let mut above = vec![0; row_bytes];
        for row in bytes.chunks(row_bytes + 1) {
            let (filter, row) = (row[0], &row[1..]);
            let mut plain = vec![0_u8; row.len()];
            for at in 0..row.len() {
                let before = |row: &[u8]| if at < step { 0 } else { row[at - step] };
                let (left, up, corner) = (before(&plain), above[at], before(&above));
                let guess = match filter {
                    0 => 0,
                    1 => left,
                    2 => up,
                    3 => ((u16::from(left) + u16::from(up)) / 2) as u8,
                    _ => paeth(left, up, corner),
                };
                plain[at] = row[at].wrapping_add(guess);
            }
            out.extend_from_slice(&plain);
            above = plain;
        }
        out
    }

    fn paeth(left: u8, up: u8, corner: u8) -> u8 {
        let [a, b, c] = [left, up, corner].map(i16::from);
        let estimate = a + b - c;
        let nearest = [left, up, corner];
        let far = |value: &u8| (estimate - i16::from(*value)).abs();
        // The first of equals wins, in this order.
        *nearest.iter().min_by_key(|value| far(value)).expect("three of them")
    }
}
