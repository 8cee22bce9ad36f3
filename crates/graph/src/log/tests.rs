//! The log gives back what it was given, wherever it is cut and however it is packed.

use std::path::PathBuf;

use larm_core::Millis;
use larm_core::via::Via;
use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::Error;
use crate::link::{LinkFact, PASSED};

/// A visit as a test has it, links written out.
#[derive(Debug, Clone, PartialEq)]
struct Told {
    url: String,
    at: u64,
    ended: Ended,
    via: Via,
    depth: u32,
    links: Vec<(String, Via, String, String, String)>,
}

fn told(url: &str, links: &[&str]) -> Told {
    let link = |to: &&str| (to.to_string(), Via::Anchor, "a".into(), "".into(), PASSED.into());
    let (ended, via) = (Ended::Fetched(200), Via::Anchor);
    let links = links.iter().map(link).collect();
    Told { url: url.into(), at: 1_000, ended, via, depth: 3, links }
}

fn add(log: &mut LogWriter, visit: &Told) {
    let head = VisitHead {
        url: &visit.url,
        at: Millis(visit.at),
        ended: visit.ended,
        via: visit.via,
        depth: visit.depth,
    };
    let links = visit.links.iter().map(|(to, via, text, rel, verdict)| LinkFact {
        to,
        via: *via,
        text,
        rel,
        verdict,
    });
    log.add(&head, links);
}

/// A log of these visits, with a block behind each of the visits that say so.
fn write(visits: &[(Told, bool)], chapter_bytes_max: u64) -> Vec<u8> {
    let mut log = LogWriter::new(chapter_bytes_max).unwrap();
    let mut out = Vec::new();
    for (visit, ends_block) in visits {
        add(&mut log, visit);
        if *ends_block {
            let begin = out.len() as u64;
            log.pack(begin, &mut out).unwrap();
        }
    }
    let begin = out.len() as u64;
    log.pack(begin, &mut out).unwrap();
    out
}

struct File {
    _dir: TempDir,
    path: PathBuf,
}

fn file(bytes: &[u8]) -> File {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("links.log");
    std::fs::write(&path, bytes).unwrap();
    File { _dir: dir, path }
}

fn tell(visit: &Visit, chapter: &Chapter) -> Told {
    let link = |&number: &u32| {
        let LinkFact { to, via, text, rel, verdict } = chapter.link(number);
        (to.to_owned(), via, text.to_owned(), rel.to_owned(), verdict.to_owned())
    };
    Told {
        url: visit.url.clone(),
        at: visit.at.0,
        ended: visit.ended,
        via: visit.via,
        depth: visit.depth,
        links: visit.links.iter().map(link).collect(),
    }
}

fn read(bytes: &[u8]) -> Result<Vec<(Told, Place)>, Error> {
    let file = file(bytes);
    let mut reader = LogReader::open(&file.path)?;
    let (mut visit, mut visits) = (Visit::default(), Vec::new());
    while reader.next(&mut visit)? {
        visits.push((tell(&visit, reader.chapter()), visit.place));
    }
    Ok(visits)
}

fn visit() -> impl Strategy<Value = (Told, bool)> {
    let way = (0..Via::ALL.len()).prop_map(|index| Via::ALL[index]);
    let ended = (0..6_u8, 100..600_u16).prop_map(|(code, status)| {
        let (code, status) = Ended::from_code(code, status).unwrap().to_code();
        Ended::from_code(code, status).unwrap()
    });
    let verdict = prop_oneof![Just(PASSED.to_owned()), "[a-z]{1,6}: \\PC{0,6}"];
    let link = (".{0,3}/[ab]{0,2}", way.clone(), "[xy]?", "(me)?", verdict);
    let parts = ("http://[ab].é/[ab]{0,4}", any::<u64>(), ended, way, any::<u32>());
    (parts, vec(link, 0..8), any::<bool>()).prop_map(
        |((url, at, ended, via, depth), links, ends)| {
            (Told { url, at, ended, via, depth, links }, ends)
        },
    )
}

proptest! {
    #[test]
    fn visits_come_out_as_they_went_in(visits in vec(visit(), 0..40), chapter in 1..600_u64) {
        let bytes = write(&visits, chapter);
        let (read, places): (Vec<Told>, Vec<Place>) = read(&bytes).unwrap().into_iter().unzip();
        prop_assert_eq!(&read, &visits.into_iter().map(|(visit, _)| visit).collect::<Vec<_>>());
        let file = file(&bytes);
        let mut reader = LogReader::open(&file.path).unwrap();
        let mut visit = Visit::default();
        for (expected, place) in read.iter().zip(places).rev() {
            reader.read_at(place, &mut visit).unwrap();
            prop_assert_eq!(&tell(&visit, reader.chapter()), expected);
        }
    }

    #[test]
    fn any_bytes_give_visits_or_an_error(bytes in vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
    }
}

#[test]
fn a_log_that_is_cut_anywhere_is_a_prefix_of_whole_visits() {
    let pages: Vec<String> = (0..9).map(|page| format!("http://h/{page}")).collect();
    let visits: Vec<(Told, bool)> = (0..9)
        .map(|page| {
            (told(&pages[page], &["http://h/", "http://h/nav", &pages[page]]), page % 2 == 0)
        })
        .collect();
    let bytes = write(&visits, 150);
    let whole: Vec<Told> = read(&bytes).unwrap().into_iter().map(|(visit, _)| visit).collect();
    let mut counts = Vec::new();
    for end in 0..=bytes.len() {
        let cut: Vec<Told> =
            read(&bytes[..end]).unwrap().into_iter().map(|(visit, _)| visit).collect();
        assert_eq!(cut, whole[..cut.len()], "cut at {end}");
        counts.push(cut.len());
    }
    assert!(counts.is_sorted());
    counts.dedup();
    assert_eq!(counts, [0, 1, 3, 5, 7, 9], "a block is there as a whole or not at all");
}

#[test]
fn a_changed_byte_is_never_taken_for_another_link() {
    let visits = [(told("http://h/", &["http://h/a", "http://h/b"]), false)];
    let bytes = write(&visits, 1_000);
    let expected = read(&bytes).unwrap();
    for at in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        match read(&bytes) {
            Ok(visits) => assert!(visits.is_empty() || visits == expected, "byte {at}"),
            Err(error) => assert!(matches!(error, Error::Damaged { .. }), "byte {at}: {error}"),
        }
    }
}

#[test]
fn links_that_many_pages_share_are_written_once() {
    let menu: Vec<String> = (0..50).map(|entry| format!("http://h/menu/entry-{entry}")).collect();
    let menu: Vec<&str> = menu.iter().map(String::as_str).collect();
    let page = |page: u32| (told(&format!("http://h/page/{page}"), &menu), true);
    let bytes = |pages: u32| write(&(0..pages).map(page).collect::<Vec<_>>(), 1 << 20).len();
    let (one, hundred) = (bytes(1), bytes(101));
    assert!(hundred - one < 100 * 60, "{} bytes for each further page", (hundred - one) / 100);
}
