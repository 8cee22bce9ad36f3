//! Other people's opinion: their archives in our reader, our archives in their tools.
//!
//! The samples are looked for in `LARM_TESTDATA`, or beside the workspace. The tools are looked for in a
//! Python environment named by `LARM_VENV`, with `warcio`, `fastwarc` and `pywb` in it. What is not there
//! is skipped, aloud.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use larm_core::Limits;
use serde_json::Value;

use super::*;
use crate::store::samples::*;
use crate::store::{Chain, Sink, Visit};

fn testdata() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/testdata");
    let dir = std::env::var_os("LARM_TESTDATA").map_or(beside, PathBuf::from);
    dir.is_dir().then_some(dir)
}

/// The files of a `.tar.gz` whose names fit into the plain header.
fn untar(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut tar = Vec::new();
    let file = std::fs::File::open(path).unwrap();
    flate2::read::GzDecoder::new(file).read_to_end(&mut tar).unwrap();
    let mut files = BTreeMap::new();
    let mut rest = tar.as_slice();
    while rest.len() > 512 && rest[0] != 0 {
        let text = |range: std::ops::Range<usize>| {
            String::from_utf8_lossy(&rest[range]).trim_end_matches(['\0', ' ']).to_owned()
        };
        let bytes = usize::from_str_radix(&text(124..135), 8).unwrap();
        files.insert(text(0..100), rest[512..512 + bytes].to_vec());
        rest = &rest[512 + bytes.next_multiple_of(512)..];
    }
    files
}

/// What our reader makes of a file: records by type, or the first fault.
fn judge(path: &Path) -> Result<BTreeMap<String, u64>, String> {
    let mut kinds = BTreeMap::new();
    for record in WarcReader::open(path, &Limits::default()).unwrap() {
        let record = record.map_err(|error| error.to_string())?;
        record.check_digests()?;
        *kinds.entry(record.kind().to_owned()).or_insert(0) += 1;
    }
    Ok(kinds)
}

#[test]
fn sound_archives_of_others_are_read_and_broken_ones_reported() {
    let Some(dir) = testdata().map(|dir| dir.join("warc")) else {
        println!("skipped: no testdata");
        return;
    };
    let expected = std::fs::read(dir.join("expected.json")).unwrap();
    let expected: Vec<Value> = serde_json::from_slice(&expected).unwrap();
    let temp = temp_dir();
    let mut judged = 0;
    for case in &expected {
        let name = case["file"].as_str().unwrap();
        let archive = untar(&dir.join(case["archive"].as_str().unwrap()));
        let path = temp.path().join(name);
        std::fs::write(&path, &archive[name]).unwrap();
        let found = judge(&path);
        let exits = (&case["warcio_check_exit"], &case["fastwarc_check_exit"]);
        match (exits.0.as_u64().unwrap(), exits.1.as_u64().unwrap()) {
            (0, 0) => {
                let records = serde_json::from_value(case["records"].clone()).unwrap();
                assert_eq!(found, Ok(records), "{name}");
            }
            (1, 1) => assert!(found.is_err(), "{name}: {found:?}"),
            // The two checkers differ. An old ARC file is not a WARC file, and a digest of a payload
            // that was left out cannot match: both are faults here.
            _ => assert!(found.is_err(), "{name}: {found:?}"),
        }
        judged += 1;
    }
    assert!(judged > 20, "{judged}");
}

fn venv() -> Option<PathBuf> {
    let venv = std::env::var_os("LARM_VENV").map(PathBuf::from);
    if venv.is_none() {
        println!("skipped: LARM_VENV names no Python environment");
    }
    venv
}

fn run(program: PathBuf, arguments: &[&str]) -> (bool, String) {
    let Output { status, stdout, stderr } =
        Command::new(&program).args(arguments).output().expect("the tool can be started");
    let text = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
    (status.success(), text)
}

/// An archive with every shape of answer, in several files; a copy before its original.
fn archive(dir: &Path) -> Vec<PathBuf> {
    let limits = Limits { warc_bytes_max: 5_000, ..Limits::default() };
    let sinks: Vec<Box<dyn Sink>> = vec![Box::new(WarcSink::new(plan(dir, limits)).unwrap())];
    let mut chain = Chain::open(sinks, &[]).unwrap();
    every_shape().iter().for_each(|visit| drop(keep(&mut chain, visit)));
    chain.finish().unwrap();
    let names = FileName::list(dir, "test-1").unwrap();
    names.iter().map(|name| name.warc_path(dir)).collect()
}

#[test]
fn warcio_finds_no_fault_in_our_archives() {
    let Some(venv) = venv() else { return };
    let dir = temp_dir();
    for path in archive(dir.path()) {
        let (passed, said) = run(venv.join("bin/warcio"), &["check", "-v", path.to_str().unwrap()]);
        assert!(passed && said.contains("digest pass"), "{said}");
        assert!(!said.contains("no digest to check"), "{said}");
    }
}

/// FastWARC compares the payload digest of a revisit with the revisit's own block, which holds no
/// payload: no revisit of any writer passes that. All else must. Our responses have a payload digest only.
#[test]
fn fastwarc_finds_no_fault_in_our_archives() {
    let Some(venv) = venv() else { return };
    let dir = temp_dir();
    for path in archive(dir.path()) {
        let path = path.to_str().unwrap();
        let fastwarc = venv.join("bin/fastwarc");
        let (passed, said) = run(fastwarc.clone(), &["check", "-q", path]);
        assert!(passed, "{said}");
        let (_, said) = run(fastwarc, &["check", "-q", "-p", "-o", "/dev/stdout", path]);
        for record in WarcReader::open(path, &Limits::default()).unwrap() {
            let record = record.unwrap();
            let id = record.field("WARC-Record-ID").unwrap();
            let line = said.lines().find(|line| line.contains(id)).expect("a line per record");
            let expected = match record.kind() {
                "response" => "NO_DIGEST, PAYLOAD_OK",
                "revisit" => "OK, PAYLOAD_FAIL",
                _ => "OK, PAYLOAD_NO_DIGEST",
            };
            assert!(line.ends_with(expected), "{}: {line}", record.kind());
        }
    }
}

#[test]
fn pywb_replays_our_archives_from_our_index() {
    let Some(venv) = venv() else { return };
    let dir = temp_dir();
    archive(dir.path());
    let questions: Vec<_> = every_shape().iter().filter_map(question).collect();
    let questions = serde_json::to_string(&questions).unwrap();
    std::fs::write(dir.path().join("questions.json"), questions).unwrap();
    let script = dir.path().join("replay.py");
    std::fs::write(&script, include_str!("replay.py")).unwrap();
    let arguments = [script.to_str().unwrap(), dir.path().to_str().unwrap()];
    let (passed, said) = run(venv.join("bin/python"), &arguments);
    assert!(passed && said.contains("replayed 15"), "{said}");
}

/// URL, time, status and body as a browser would get it.
fn question(visit: &Visit) -> Option<Value> {
    let exchange = visit.exchange.as_ref()?;
    let path = visit.url.path();
    let text = "<p>All that is kept is kept as it came.</p>\n".repeat(20);
    let body = match path {
        "/empty" | "/no-content" | "/redirect" | "/image.png" => String::new(),
        "/page" => String::from_utf8(exchange.payload().to_vec()).unwrap(),
        "/cut" => text[..300].to_owned(),
        // Two chunks of 100 and 84 bytes of a third, without the 16 bytes that frame them.
        "/cut-chunked" => text[..284].to_owned(),
        _ => text,
    };
    let any = path == "/image.png";
    Some(serde_json::json!({
        "url": visit.url.as_str(),
        "time": visit.at.compact(),
        "status": exchange.wire().status,
        "body": if any { Value::Null } else { body.into() },
    }))
}
