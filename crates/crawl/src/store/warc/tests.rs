//! Records that go in come out; files roll; the index points at them; other people's files are read.

use std::path::{Path, PathBuf};

use larm_core::{Limits, Millis};
use proptest::prelude::*;

use super::*;
use crate::store::cdxj::Entry;
use crate::store::samples::*;
use crate::store::{Chain, Position, Sink, Visit};

fn warc_chain(dir: &Path, limits: Limits, position: Option<Position>) -> Chain {
    let sinks: Vec<Box<dyn Sink>> = vec![Box::new(WarcSink::new(plan(dir, limits)).unwrap())];
    let committed: Vec<_> = position.into_iter().map(|at| ("warc".to_owned(), at)).collect();
    Chain::open(sinks, &committed).unwrap()
}

fn write(dir: &Path, limits: Limits, visits: &[Visit]) -> Position {
    let mut chain = warc_chain(dir, limits, None);
    for visit in visits {
        keep(&mut chain, visit);
    }
    chain.finish().unwrap()[0].1
}

fn warcs(dir: &Path) -> Vec<PathBuf> {
    let names = FileName::list(dir, "test-1").unwrap();
    names.iter().map(|name| name.warc_path(dir)).collect()
}

fn read(path: &Path) -> Vec<Record> {
    let reader = WarcReader::open(path, &Limits::default()).unwrap();
    reader.map(|record| record.unwrap()).collect()
}

fn read_all(dir: &Path) -> Vec<Record> {
    warcs(dir).iter().flat_map(|path| read(path)).collect()
}

fn index(dir: &Path) -> Vec<(String, String, Entry)> {
    let lines = files(&dir.join("cdx"));
    lines
        .iter()
        .flat_map(|(name, bytes)| {
            assert!(name.ends_with(".cdxj"), "{name}");
            let text = std::str::from_utf8(bytes).unwrap();
            assert!(text.lines().is_sorted(), "{name}");
            text.lines().map(|line| {
                let (key, time, entry) = Entry::parse(line).unwrap();
                (key.to_owned(), time.to_owned(), entry)
            })
        })
        .collect()
}

#[test]
fn every_shape_of_answer_reads_back_with_matching_digests() {
    let dir = temp_dir();
    let visits = every_shape();
    write(dir.path(), Limits::default(), &visits);
    let records = read_all(dir.path());
    for record in &records {
        assert_eq!(record.check_digests(), Ok(()));
        assert_eq!(record.version, "WARC/1.1");
    }
    assert_eq!(records[0].kind(), "warcinfo");
    let answered: Vec<_> = visits.iter().filter(|visit| visit.exchange.is_some()).collect();
    assert_eq!(records.len(), 1 + 3 * answered.len());
    for (visit, records) in answered.iter().zip(records[1..].chunks(3)) {
        let kinds: Vec<_> = records.iter().map(|record| record.kind()).collect();
        let wire = visit.exchange.as_ref().unwrap().wire();
        if visit.same_as.is_some() {
            assert_eq!(kinds, ["revisit", "request", "metadata"]);
            assert_eq!(records[0].block, &wire.response[..wire.head_bytes]);
        } else {
            assert_eq!(kinds, ["response", "request", "metadata"]);
            assert_eq!(records[0].block, wire.response);
        }
        assert_eq!(records[1].block, wire.request);
        let id = records[0].field("WARC-Record-ID");
        for record in records {
            assert_eq!(record.target(), Some(visit.url.as_str()));
            assert_eq!(record.field("WARC-Date"), Some(visit.at.to_string().as_str()));
            if record.kind() != "response" && record.kind() != "revisit" {
                assert_eq!(record.field("WARC-Concurrent-To"), id);
            }
        }
        let truncated = wire.truncated.map(|why| why.word());
        let expected = truncated.or(visit.same_as.as_ref().map(|_| "length"));
        assert_eq!(records[0].field("WARC-Truncated"), expected);
    }
}

#[test]
fn the_first_record_says_who_crawled_and_how() {
    let dir = temp_dir();
    write(dir.path(), Limits::default(), &every_shape());
    let records = read_all(dir.path());
    let text = String::from_utf8(records[0].block.clone()).unwrap();
    for line in [
        concat!("software: larm/", env!("CARGO_PKG_VERSION")),
        "format: WARC File Format 1.1",
        "robots: obey",
        "http-header-user-agent: larm/0 (+http://example.org/bot)",
        "operator: The operator",
        "isPartOf: test-1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in {text}");
    }
    let name = warcs(dir.path())[0].file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(records[0].field("WARC-Filename"), Some(name.as_str()));
}

#[test]
fn no_value_can_forge_a_field() {
    let dir = temp_dir();
    write(dir.path(), Limits::default(), &every_shape());
    let is_forged = |record: &Record| String::from_utf8_lossy(&record.block).contains("forged");
    let noted = read_all(dir.path()).into_iter().find(is_forged).unwrap();
    let text = String::from_utf8(noted.block).unwrap();
    assert!(text.contains("note: a note  WARC-Type: forged\r\n"), "{text}");
}

#[test]
fn a_copy_in_other_chunks_is_kept_in_full() {
    let dir = temp_dir();
    let headers = ["Content-Type: text/html", "Transfer-Encoding: chunked"];
    let original = answered("http://h.example/a", 200, &headers, b"3\r\nabc\r\n0\r\n\r\n");
    let other = answered("http://h.example/b", 200, &headers, b"1\r\na\r\n2\r\nbc\r\n0\r\n\r\n");
    let copy =
        Visit { exchange: other.exchange.clone(), ..copy_of(&original, "http://h.example/b") };
    write(dir.path(), Limits::default(), &[original, copy]);
    let kinds: Vec<_> =
        read_all(dir.path()).iter().map(|record| record.kind().to_owned()).collect();
    assert!(!kinds.contains(&"revisit".to_owned()), "{kinds:?}");
}

#[test]
fn what_is_compressed_already_is_stored() {
    let dir = temp_dir();
    write(dir.path(), Limits::default(), &every_shape());
    for record in read_all(dir.path()) {
        let path =
            record.target().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned();
        if record.kind() == "response" {
            let stored = record.bytes > record.block.len() as u64;
            let expected = ["gzip", "chunked-gzip", "image.png"].contains(&path.as_str());
            let small = record.block.len() < 400;
            assert!(small || stored == expected, "{path}");
        }
    }
}

#[test]
fn files_roll_before_they_pass_their_maximum() {
    let dir = temp_dir();
    let limits = Limits { warc_bytes_max: 3_000, ..Limits::default() };
    let end = write(dir.path(), limits.clone(), &every_shape());
    let paths = warcs(dir.path());
    assert!(paths.len() > 2);
    assert_eq!(end.file as usize, paths.len() - 1);
    for path in &paths {
        assert_eq!(read(path)[0].kind(), "warcinfo");
        let bytes = std::fs::metadata(path).unwrap().len();
        assert!(bytes <= limits.warc_bytes_max, "{bytes}");
    }
}

#[test]
fn a_visit_larger_than_a_file_gets_one_of_its_own() {
    let dir = temp_dir();
    let limits = Limits { warc_bytes_max: 1, ..Limits::default() };
    write(dir.path(), limits, &every_shape()[..4]);
    assert_eq!(warcs(dir.path()).len(), 4);
}

#[test]
fn every_line_of_the_index_points_at_its_record() {
    let dir = temp_dir();
    let limits = Limits { warc_bytes_max: 3_000, ..Limits::default() };
    write(dir.path(), limits.clone(), &every_shape());
    let lines = index(dir.path());
    let answered = every_shape().iter().filter(|visit| visit.exchange.is_some()).count();
    assert_eq!(lines.len(), answered);
    for (key, time, entry) in lines {
        let path = dir.path().join("warc").join(&entry.filename);
        let mut reader = WarcReader::open(path, &limits).unwrap();
        let record = reader.record_at(entry.offset.parse().unwrap()).unwrap();
        assert_eq!(record.target(), Some(entry.url.as_str()));
        assert_eq!(record.bytes.to_string(), entry.length);
        assert_eq!(record.kind() == "revisit", entry.mime == "warc/revisit");
        let digest = format!("sha1:{}", entry.digest);
        assert_eq!(record.field("WARC-Payload-Digest"), Some(digest.as_str()));
        assert!(record.block.starts_with(format!("HTTP/1.1 {} ", entry.status).as_bytes()));
        assert_eq!(key, url(&entry.url).surt());
        let date: String =
            record.field("WARC-Date").unwrap().chars().filter(char::is_ascii_digit).collect();
        assert_eq!(date[..14], time);
    }
}

#[test]
fn an_index_that_does_not_fit_into_memory_is_sorted_all_the_same() {
    let visits: Vec<_> =
        (0..200).map(|n| page(&format!("http://h.example/{}", n * 7919 % 200), "t")).collect();
    let sorted = |sort_bytes_max| {
        let dir = temp_dir();
        write(dir.path(), Limits { sort_bytes_max, ..Limits::default() }, &visits);
        index(dir.path()).into_iter().map(|(key, time, _)| (key, time)).collect::<Vec<_>>()
    };
    let at_once = sorted(1 << 20);
    assert_eq!(at_once.len(), 200);
    assert!(at_once.is_sorted());
    assert_eq!(sorted(1_000), at_once);
    assert_eq!(sorted(1), at_once);
}

#[test]
fn recovery_removes_later_files_and_leaves_those_of_others() {
    let dir = temp_dir();
    let limits = Limits { warc_bytes_max: 3_000, ..Limits::default() };
    let visits = every_shape();
    let mut chain = warc_chain(dir.path(), limits.clone(), None);
    keep(&mut chain, &visits[0]);
    let position = chain.flush_all().unwrap().positions[0].1;
    visits[1..].iter().for_each(|visit| drop(keep(&mut chain, visit)));
    chain.finish().unwrap();
    let other = dir.path().join("warc").join("larm-20261115200001-00009-other.warc.gz");
    std::fs::write(&other, "not ours").unwrap();

    warc_chain(dir.path(), limits.clone(), Some(position)).finish().unwrap();
    assert_eq!(warcs(dir.path()).len(), 1);
    assert_eq!(std::fs::metadata(&warcs(dir.path())[0]).unwrap().len(), position.offset);
    assert_eq!(index(dir.path()).len(), 1);
    warc_chain(dir.path(), limits, None).finish().unwrap();
    assert!(warcs(dir.path()).is_empty() && files(&dir.path().join("cdx")).is_empty());
    assert!(other.exists());
}

#[test]
fn a_missing_file_that_was_committed_is_damage() {
    let dir = temp_dir();
    let position = write(dir.path(), Limits::default(), &every_shape());
    std::fs::remove_file(&warcs(dir.path())[0]).unwrap();
    let mut sink = WarcSink::new(plan(dir.path(), Limits::default())).unwrap();
    assert!(sink.recover(Some(position)).is_err());
}

#[test]
fn ids_that_are_no_file_names_are_refused() {
    for id in ["", "a/b", "..", "a.b", "a b", "ä"] {
        let mut plan = (*plan(Path::new("x"), Limits::default())).clone();
        plan.crawl_id = id.into();
        assert!(WarcSink::new(plan.into()).is_err(), "{id}");
    }
}

/// One file of every shape, cut at and garbled at every byte: whole records or damage, never a panic.
#[test]
fn damage_anywhere_is_reported() {
    let dir = temp_dir();
    write(dir.path(), Limits::default(), &every_shape()[..2]);
    let bytes = std::fs::read(&warcs(dir.path())[0]).unwrap();
    let ends: Vec<_> =
        read_all(dir.path()).iter().map(|record| record.offset + record.bytes).collect();
    let path = dir.path().join("damaged.warc.gz");
    for at in 0..bytes.len() {
        std::fs::write(&path, &bytes[..at]).unwrap();
        let cut: Vec<_> = WarcReader::open(&path, &Limits::default()).unwrap().collect();
        let on_border = at == 0 || ends.contains(&(at as u64));
        assert_eq!(cut.iter().all(|record| record.is_ok()), on_border, "cut at {at}");
        let mut garbled = bytes.clone();
        garbled[at] ^= 0x55;
        std::fs::write(&path, &garbled).unwrap();
        for record in WarcReader::open(&path, &Limits::default()).unwrap().flatten() {
            assert_eq!(record.check_digests(), Ok(()), "garbled at {at}");
        }
    }
}

fn any_visit() -> impl Strategy<Value = Visit> {
    let header = "[A-Za-z-]{1,12}: [ -~]{0,30}";
    let headers = prop::collection::vec(header, 0..5);
    let payload = prop::collection::vec(any::<u8>(), 0..3_000);
    ("[a-z0-9/%?=&.]{0,40}", 100u16..600, headers, payload, "\\PC{0,40}", any::<u32>()).prop_map(
        |(path, status, headers, payload, note, at)| {
            let headers: Vec<_> = headers.iter().map(String::as_str).collect();
            let mut visit =
                answered(&format!("http://h.example/{path}"), status, &headers, &payload);
            visit.notes = vec![note];
            visit.at = Millis(NOON + u64::from(at));
            visit
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_is_written_is_read(visits in prop::collection::vec(any_visit(), 1..6), bytes_max in 1u64..8_000) {
        let dir = temp_dir();
        write(dir.path(), Limits { warc_bytes_max: bytes_max, ..Limits::default() }, &visits);
        let records = read_all(dir.path());
        for record in &records {
            prop_assert_eq!(record.check_digests(), Ok(()));
        }
        let responses: Vec<_> = records.iter().filter(|record| record.kind() == "response").collect();
        prop_assert_eq!(responses.len(), visits.len());
        for (record, visit) in responses.iter().zip(&visits) {
            let exchange = visit.exchange.as_ref().unwrap();
            prop_assert_eq!(record.target(), Some(visit.url.as_str()));
            prop_assert_eq!(&record.block, &exchange.wire().response);
            prop_assert_eq!(record.payload(), exchange.payload());
        }
    }
}
