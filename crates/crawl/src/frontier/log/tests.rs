//! The log against a model, with the power failing at every operation, and with every bit flipped.

use std::io;
use std::path::Path;
use std::sync::Arc;

use larm_core::Limits;

use super::segment::{self, FRAME_BYTES, HEADER_BYTES};
use super::{Log, LogPosition, Tail};
use crate::disk::faulty::{Dice, Fault, FaultyDisk};
use crate::disk::{Disk, RealDisk};
use crate::{Error, Result};

const DIR: &str = "crawl/state/log";

fn limits() -> Limits {
    Limits { log_segment_bytes_max: 2_000, log_record_bytes_max: 5_000, ..Limits::default() }
}

fn open(disk: &FaultyDisk) -> Result<(Log, Tail)> {
    Log::open_on(Arc::new(disk.clone()), Path::new(DIR), &limits())
}

fn segments(disk: &FaultyDisk) -> Vec<String> {
    disk.list(Path::new(DIR)).unwrap()
}

fn records(log: &Log, from: LogPosition) -> Vec<(LogPosition, Vec<u8>)> {
    log.replay(from).unwrap().collect::<Result<_>>().unwrap()
}

fn payloads(log: &Log) -> Vec<Vec<u8>> {
    records(log, LogPosition(0)).into_iter().map(|(_, payload)| payload).collect()
}

/// A log that holds `payloads`, each synced, and the path of its first segment.
fn synced_log(payloads: &[&[u8]]) -> (FaultyDisk, std::path::PathBuf) {
    let disk = FaultyDisk::default();
    let (mut log, _) = open(&disk).unwrap();
    for payload in payloads {
        log.append(payload).unwrap();
        log.sync().unwrap();
    }
    (disk, segment::path(Path::new(DIR), 0))
}

/// What the log was told, and what it must never forget.
#[derive(Debug, Default)]
struct Model {
    appended: Vec<(LogPosition, Vec<u8>)>,
    synced: LogPosition,
    cut: LogPosition,
}

impl Model {
    /// LOG-1 and LOG-2: what is there is a prefix of what was appended, with all that was synced.
    fn check_after_crash(&mut self, log: &Log) {
        let found = records(log, self.cut);
        let first = self.appended.partition_point(|(after, _)| *after <= self.cut);
        let expected = &self.appended[first..];
        assert!(found.len() <= expected.len(), "more records than were appended");
        assert_eq!(found, expected[..found.len()]);
        self.appended.truncate(first + found.len());
        let last = self.last();
        assert!(last >= self.synced, "synced up to {}, but the log ends at {last}", self.synced);
        assert!(log.end() >= last && log.synced() == log.end());
        self.synced = last;
    }

    fn last(&self) -> LogPosition {
        self.appended.last().map_or(LogPosition(0), |(after, _)| *after)
    }

    /// One random step; its error, if the disk gave one.
    fn step(&mut self, log: &mut Log, dice: &mut Dice) -> Result<()> {
        match dice.below(10) {
            0..=5 => {
                // One that fails here left nothing: it is written by a later sync or roll.
                let payload = random_payload(dice);
                self.appended.push((log.append(&payload)?, payload));
            }
            6 => log.guard(Log::write)?,
            7..=8 => {
                let durable = log.sync()?;
                self.synced = self.last();
                assert!(durable >= self.synced);
            }
            _ if self.synced > self.cut => {
                self.cut =
                    LogPosition(dice.between(self.cut.0 as usize, self.synced.0 as usize) as u64);
                let known = self.appended.iter().rev().find(|(after, _)| *after <= self.cut);
                self.cut = known.map_or(LogPosition(0), |(after, _)| *after);
                log.cut_before(self.cut)?;
            }
            _ => {}
        }
        Ok(())
    }
}

fn random_payload(dice: &mut Dice) -> Vec<u8> {
    let bytes = match dice.below(20) {
        0 => 0,
        1 => dice.between(1_500, 5_000),
        _ => dice.between(1, 300),
    };
    (0..bytes).map(|_| dice.roll() as u8 & 3).collect()
}

#[test]
fn any_crash_leaves_a_prefix_that_holds_all_that_was_synced() {
    for seed in 0..200 {
        let mut dice = Dice(seed);
        let disk = FaultyDisk::default();
        let mut model = Model::default();
        for _ in 0..8 {
            let mut log = match open(&disk) {
                Ok((log, _)) => log,
                Err(Error::Io { .. }) => {
                    disk.restart(&mut dice); // the power failed again, while recovering
                    continue;
                }
                Err(error) => panic!("seed {seed}: {error}"),
            };
            model.check_after_crash(&log);
            disk.fail_at(dice.below(60), Fault::PowerOff);
            let steps = dice.below(50);
            let has_power = (0..steps).all(|_| model.step(&mut log, &mut dice).is_ok());
            if !has_power || dice.below(2) == 0 {
                disk.restart(&mut dice); // otherwise only the process was killed
            }
            disk.fail_at(dice.below(12), Fault::PowerOff);
        }
        disk.restart(&mut dice);
        let (log, _) = open(&disk).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        model.check_after_crash(&log);
    }
}

#[test]
fn the_power_may_fail_at_every_single_operation() {
    let script = |disk: &FaultyDisk, synced: &mut Vec<Vec<u8>>| -> Result<()> {
        let mut log = open(disk)?.0;
        let mut pending = Vec::new();
        for number in 0..40u8 {
            let payload = vec![number; 40 + 9 * usize::from(number)];
            pending.push(payload.clone());
            log.append(&payload)?;
            if number % 3 == 0 {
                log.sync()?;
                synced.append(&mut pending);
            }
        }
        Ok(())
    };
    let whole = FaultyDisk::default();
    script(&whole, &mut Vec::new()).unwrap();
    assert!(segments(&whole).len() > 3, "the script must roll segments");
    for operation in 0..whole.operations() {
        for seed in 0..8 {
            let (disk, mut synced) = (FaultyDisk::default(), Vec::new());
            disk.fail_at(operation, Fault::PowerOff);
            script(&disk, &mut synced).unwrap_err();
            disk.restart(&mut Dice(seed));
            let found = payloads(&open(&disk).unwrap().0);
            assert!(found.starts_with(&synced), "operation {operation}, seed {seed}");
            let in_order = found.iter().enumerate().all(|(n, payload)| payload[0] == n as u8);
            assert!(in_order, "operation {operation}, seed {seed}");
        }
    }
}

#[test]
fn a_tail_torn_at_any_byte_is_cut_back_to_the_last_whole_record() {
    let (disk, path) = synced_log(&[b"first", b"second"]);
    let (mut log, _) = open(&disk).unwrap();
    let before = disk.content(&path).len();
    log.append(b"third, which tears").unwrap();
    log.write_and_sync().unwrap();
    let whole = disk.content(&path);
    for size in before..=whole.len() {
        disk.put(&path, &whole[..size]);
        let (log, tail) = open(&disk).unwrap();
        let count = if size == whole.len() { 3 } else { 2 };
        assert_eq!(payloads(&log).len(), count, "torn at {size}");
        let cut_bytes = if size == whole.len() { 0 } else { size - before };
        assert_eq!(tail, Tail { end: log.end(), cut_bytes: cut_bytes as u64 });
        assert_eq!(open(&disk).unwrap().1.cut_bytes, 0, "the cut is done once");
    }
}

#[test]
fn garbage_after_the_end_is_cut() {
    let mut dice = Dice(7);
    let (disk, path) = synced_log(&[b"first", b"second"]);
    let good = disk.content(&path);
    let old_frames = good[HEADER_BYTES as usize..].to_vec();
    let tails = [vec![0; 5_000], vec![0xff; 700], old_frames];
    let random = (0..50).map(|_| random_payload(&mut dice));
    for tail in tails.into_iter().chain(random) {
        disk.put(&path, &[good.clone(), tail.clone()].concat());
        let (log, found) = open(&disk).unwrap();
        assert_eq!(found.cut_bytes, tail.len() as u64);
        assert_eq!(payloads(&log), [b"first".to_vec(), b"second".to_vec()]);
    }
}

#[test]
fn a_flipped_bit_in_any_synced_byte_is_damage() {
    let (disk, path) = synced_log(&[b"first", b"", b"third"]);
    let good = disk.content(&path);
    let synced = good.len() - FRAME_BYTES as usize;
    for bit in 0..synced * 8 {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        disk.put(&path, &bad);
        let error = open(&disk).unwrap_err();
        let is_newer = (64..96).contains(&bit) && matches!(error, Error::Directory(_));
        assert!(is_newer || matches!(error, Error::Damaged { .. }), "bit {bit}: {error}");
    }
    for bit in synced * 8..good.len() * 8 {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        disk.put(&path, &bad);
        assert_eq!(payloads(&open(&disk).unwrap().0).len(), 3, "the last mark holds no record");
    }
}

#[test]
fn records_after_a_hole_that_no_sync_covered_are_a_torn_tail() {
    let (disk, path) = synced_log(&[b"synced"]);
    let (mut log, _) = open(&disk).unwrap();
    let hole = disk.content(&path).len();
    log.append(b"lost by the disk").unwrap();
    log.append(b"kept by the disk").unwrap();
    log.write().unwrap();
    let mut content = disk.content(&path);
    content[hole..hole + 20].fill(0);
    disk.put(&path, &content);
    let (log, tail) = open(&disk).unwrap();
    assert_eq!(payloads(&log), [b"synced"]);
    assert_eq!(tail.cut_bytes, (content.len() - hole) as u64);
}

#[test]
fn damage_in_an_older_segment_is_never_cut() {
    let disk = FaultyDisk::default();
    let (mut log, _) = open(&disk).unwrap();
    for _ in 0..9 {
        log.append(&[1; 600]).unwrap();
    }
    log.sync().unwrap();
    let first = segment::path(Path::new(DIR), 0);
    let good = disk.content(&first);
    let refused = |content: &[u8]| {
        disk.put(&first, content);
        matches!(open(&disk), Err(Error::Damaged { .. }))
    };
    assert!((0..good.len()).step_by(7).all(|size| refused(&good[..size])));
    assert!(refused(&[&good[..], &[0]].concat()));
    disk.put(&first, &good);
    disk.remove(&Path::new(DIR).join(&segments(&disk)[1])).unwrap();
    assert!(matches!(open(&disk), Err(Error::Damaged { .. })), "a segment is missing");
}

#[test]
fn a_failed_write_or_sync_closes_the_log_for_good() {
    for (operation, kind) in [(0, io::ErrorKind::StorageFull), (1, io::ErrorKind::Other)] {
        let (disk, _) = synced_log(&[b"before"]);
        let (mut log, _) = open(&disk).unwrap();
        log.append(b"after").unwrap();
        disk.fail_at(operation, Fault::Once(kind));
        let error = log.sync().unwrap_err();
        assert_eq!(error.is_disk_full(), operation == 0);
        assert!(log.append(b"more").is_err() && log.sync().is_err());
        assert!(log.replay(LogPosition(0)).is_err() && log.cut_before(log.end()).is_err());
        let (log, _) = open(&disk).unwrap();
        assert_eq!(payloads(&log)[0], b"before");
    }
}

#[test]
fn positions_go_on_over_segments_cuts_and_reopening() {
    let disk = FaultyDisk::default();
    let mut positions = vec![LogPosition(0)];
    for round in 0..20u8 {
        let (mut log, tail) = open(&disk).unwrap();
        assert!(tail.end >= positions[positions.len() - 1]);
        for _ in 0..5 {
            positions.push(log.append(&[round; 333]).unwrap());
        }
        log.sync().unwrap();
        let middle = positions[positions.len() - 8.min(positions.len())];
        log.cut_before(middle).unwrap();
        let after: Vec<_> = records(&log, middle).into_iter().map(|(after, _)| after).collect();
        let expected: Vec<_> = positions.iter().copied().filter(|&p| p > middle).collect();
        assert_eq!(after, expected);
    }
    assert!(positions.is_sorted());
    assert!(segments(&disk).len() < 5, "what was cut is gone");
}

#[test]
fn a_position_outside_the_log_is_refused() {
    let disk = FaultyDisk::default();
    let (mut log, _) = open(&disk).unwrap();
    for _ in 0..9 {
        log.append(&[1; 600]).unwrap();
    }
    let end = log.sync().unwrap();
    log.cut_before(end).unwrap();
    for position in [LogPosition(0), LogPosition(end.0 + 1)] {
        assert!(matches!(log.replay(position), Err(Error::Damaged { .. })), "{position}");
    }
    let inside_a_record = log.replay(LogPosition(end.0 - 5)).unwrap().next();
    assert!(matches!(inside_a_record, Some(Err(Error::Damaged { .. }))));
    assert!(log.replay(end).unwrap().next().is_none());
}

#[test]
fn a_record_above_the_maximum_is_refused_and_harms_nothing() {
    let disk = FaultyDisk::default();
    let (mut log, _) = open(&disk).unwrap();
    assert!(log.append(&[0; 5_001]).is_err());
    log.append(&[7; 5_000]).unwrap();
    log.append(b"small").unwrap();
    log.sync().unwrap();
    assert_eq!(payloads(&open(&disk).unwrap().0), [vec![7; 5_000], b"small".to_vec()]);
}

#[test]
fn a_newer_format_is_refused_with_a_clear_message() {
    let (disk, path) = synced_log(&[b"x"]);
    let mut content = disk.content(&path);
    content[8] = 2;
    disk.put(&path, &content);
    let message = open(&disk).unwrap_err().to_string();
    assert!(message.ends_with("written by a newer larm"), "{message}");
}

#[test]
fn a_log_on_the_real_disk_is_read_back() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("log");
    let payload = vec![3; 700_000];
    {
        let (mut log, _) = Log::open(&dir, &Limits::default()).unwrap();
        log.append(&payload).unwrap();
        log.append(b"end").unwrap();
        log.sync().unwrap();
        log.append(b"never synced").unwrap();
    }
    let (log, tail) = Log::open(&dir, &Limits::default()).unwrap();
    assert_eq!(payloads(&log), [payload, b"end".to_vec()]);
    assert_eq!((tail.cut_bytes, tail.end), (0, log.end()));
    assert_eq!(RealDisk.list(&dir).unwrap(), ["00000000000000000000.log"]);
}
