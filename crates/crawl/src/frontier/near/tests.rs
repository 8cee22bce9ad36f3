//! The index against a plain list: look-ups, checkpoints, merges, crashes, damage.

use std::path::Path;
use std::sync::Arc;

use larm_core::Limits;
use larm_core::near::Simhash;
use larm_core::url::Fingerprint;

use super::{Claim, Entry, Found, Names, Near, PageKey};
use crate::Result;
use crate::disk::Disk;
use crate::disk::faulty::{Dice, Fault, FaultyDisk};

const DIR: &str = "crawl/state/near";

fn open(disk: &FaultyDisk, names: &Names, memory_max: u64) -> Result<Near> {
    let limits = Limits { near_memory_max: memory_max, ..Limits::default() };
    Near::open_on(Arc::new(disk.clone()), Path::new(DIR), names, &limits)
}

fn entry(number: u64, simhash: u64) -> Entry {
    let page = PageKey { partition: number as u16 % 1_024, fingerprint: Fingerprint(number) };
    Entry { simhash, page }
}

/// Pages of which many are near to others, by one to eight bits.
fn entries(count: u64, seed: u64) -> Vec<Entry> {
    let mut dice = Dice(seed);
    let mut entries: Vec<Entry> = Vec::new();
    for number in 0..count {
        let simhash = match dice.below(3) {
            0 if number > 0 => {
                let near = entries[dice.below(number) as usize].simhash;
                (0..dice.below(8)).fold(near, |bits, _| bits ^ 1 << dice.below(64))
            }
            _ => dice.roll(),
        };
        entries.push(entry(number + seed * 1_000_000, simhash));
    }
    entries
}

fn checkpoint(near: &mut Near) -> Result<Names> {
    let saved = near.begin_checkpoint()?.write()?;
    let names = saved.names();
    near.end_checkpoint(saved)?;
    Ok(names)
}

/// Holds what is found against what is there.
fn assert_finds(near: &Near, there: &[Entry], asked: impl IntoIterator<Item = u64>) {
    for simhash in asked.into_iter().map(Simhash) {
        let mut expected: Vec<Entry> = there.to_vec();
        expected.retain(|entry| Simhash(entry.simhash).is_near(simhash));
        let mut found = near.index().find(simhash).unwrap();
        expected.sort_by_key(|entry| entry.page);
        found.sort_by_key(|entry| entry.page);
        assert_eq!(found, expected, "{simhash}");
    }
}

#[test]
fn all_that_is_near_is_found_in_memory_and_on_disk() {
    let disk = FaultyDisk::default();
    let mut near = open(&disk, &Names::default(), 300).unwrap();
    let all = entries(2_000, 1);
    let mut names = Names::default();
    for (number, entry) in all.iter().enumerate() {
        near.index().insert(*entry);
        if number % 350 == 349 {
            names = checkpoint(&mut near).unwrap();
        }
    }
    assert!(!names.runs.is_empty(), "the test must write runs");
    let strangers = (0..200).map(|seed| Dice(seed + 77).roll());
    assert_finds(&near, &all, all.iter().map(|entry| entry.simhash).chain(strangers));
    checkpoint(&mut near).unwrap();
    let names = checkpoint(&mut near).unwrap();
    let near = open(&disk, &names, 300).unwrap();
    assert_finds(&near, &all, all.iter().map(|entry| entry.simhash));
}

#[test]
fn every_place_of_three_bits_is_found() {
    let disk = FaultyDisk::default();
    let mut near = open(&disk, &Names::default(), 1).unwrap();
    let one = entry(1, 0x0123_4567_89ab_cdef);
    near.index().insert(one);
    let names = checkpoint(&mut near).unwrap();
    assert_eq!((names.runs.len(), names.list), (1, None));
    for (a, b, c) in (0..64).map(|bit| (bit, (bit * 7 + 16) % 64, (bit * 13 + 32) % 64)) {
        let asked = one.simhash ^ (1 << a | 1 << b | 1 << c);
        assert_finds(&near, &[one], [asked]);
    }
}

#[test]
fn runs_are_merged_and_few() {
    let disk = FaultyDisk::default();
    let mut near = open(&disk, &Names::default(), 100).unwrap();
    let all = entries(1_600, 3);
    let mut most = 0;
    for batch in all.chunks(100) {
        batch.iter().for_each(|entry| near.index().insert(*entry));
        most = most.max(checkpoint(&mut near).unwrap().runs.len());
    }
    assert!(most <= 5, "{most} runs of 16");
    assert_finds(&near, &all, all.iter().step_by(7).map(|entry| entry.simhash));
}

#[test]
fn the_power_may_fail_at_every_single_operation() {
    let all = entries(120, 5);
    let script = |disk: &FaultyDisk, state: &mut (Names, usize)| -> Result<()> {
        let mut near = open(disk, &Names::default(), 50)?;
        for (number, batch) in all.chunks(30).enumerate() {
            batch.iter().for_each(|entry| near.index().insert(*entry));
            let saved = near.begin_checkpoint()?.write()?;
            *state = (saved.names(), (number + 1) * 30);
            near.end_checkpoint(saved)?;
        }
        Ok(())
    };
    let whole = FaultyDisk::default();
    script(&whole, &mut (Names::default(), 0)).unwrap();
    for operation in 0..whole.operations() {
        let (disk, mut state) = (FaultyDisk::default(), (Names::default(), 0));
        disk.fail_at(operation, Fault::PowerOff);
        script(&disk, &mut state).unwrap_err();
        disk.restart(&mut Dice(operation));
        let near = open(&disk, &state.0, 50).unwrap();
        assert_finds(&near, &all[..state.1], all.iter().step_by(5).map(|entry| entry.simhash));
    }
}

#[test]
fn files_that_nobody_named_are_deleted_and_files_of_others_are_not() {
    let disk = FaultyDisk::default();
    for name in ["README", "0000000003.near", "0000000007.list", "7.near"] {
        disk.put(&Path::new(DIR).join(name), b"?");
    }
    let mut near = open(&disk, &Names::default(), 10).unwrap();
    assert_eq!(disk.list(Path::new(DIR)).unwrap(), ["7.near", "README"]);
    near.index().insert(entry(1, 2));
    checkpoint(&mut near).unwrap();
    let files = disk.list(Path::new(DIR)).unwrap();
    assert_eq!(files, ["0000000008.list", "7.near", "README"], "a name is not given twice");
}

#[test]
fn a_checkpoint_without_news_writes_nothing() {
    let disk = FaultyDisk::default();
    let mut near = open(&disk, &Names::default(), 10).unwrap();
    near.index().insert(entry(1, 2));
    let names = checkpoint(&mut near).unwrap();
    assert_eq!(checkpoint(&mut near).unwrap(), names);
    let mut near = open(&disk, &names, 10).unwrap();
    assert_eq!(checkpoint(&mut near).unwrap(), names);
    assert_finds(&near, &[entry(1, 2)], [2]);
}

#[test]
fn damage_is_found() {
    let disk = FaultyDisk::default();
    let mut near = open(&disk, &Names::default(), 2).unwrap();
    let all = [entry(1, 1 << 40), entry(2, 2 << 20)];
    all.iter().for_each(|entry| near.index().insert(*entry));
    let names = checkpoint(&mut near).unwrap();
    let path = Path::new(DIR).join(disk.list(Path::new(DIR)).unwrap().remove(0));
    let whole = disk.content(&path);
    let ends =
        [0, 10, 31, 40, whole.len() - 5, whole.len() - 20, whole.len() - 24, whole.len() - 30];
    for at in ends {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x40;
        disk.put(&path, &bytes);
        let found = open(&disk, &names, 2).and_then(|near| {
            all.iter().try_for_each(|one| near.index().find(Simhash(one.simhash)).map(drop))
        });
        assert!(found.is_err(), "byte {at}");
    }
    disk.put(&path, &whole[..whole.len() - 1]);
    assert!(open(&disk, &names, 2).is_err(), "too short");
}

#[test]
fn two_pages_that_are_read_at_once_meet() {
    let near = open(&FaultyDisk::default(), &Names::default(), 10).unwrap();
    let index = near.index();
    let claim =
        |url: &str, bits| Claim { simhash: Simhash(bits), url: url.into(), canonical: None };
    let (one, other) = (entry(1, 0xff00), entry(2, 0xff01));
    assert_eq!(index.find_or_claim(one.page, claim("one", 0xff00)).unwrap(), Found::default());
    let found = index.find_or_claim(other.page, claim("other", 0xff01)).unwrap();
    assert_eq!(found.claimed, Some(claim("one", 0xff00)));
    index.release("one");
    index.insert(one);
    let found = index.find_or_claim(other.page, claim("other", 0xff01)).unwrap();
    assert_eq!(found, Found { pages: vec![one], claimed: None });
    let again = index.find_or_claim(one.page, claim("one", 0xff00)).unwrap();
    assert_eq!(again, Found::default(), "a page is no copy of itself");
}

#[test]
fn a_crowd_in_one_bucket_is_bounded() {
    let disk = FaultyDisk::default();
    let mut near = open(&disk, &Names::default(), 1).unwrap();
    let crowd = (0..10_000).map(|number: u64| entry(number, 7 << 48 | Dice(number).roll() >> 16));
    crowd.for_each(|entry| near.index().insert(entry));
    checkpoint(&mut near).unwrap();
    let size = disk.content(&Path::new(DIR).join("0000000000.near")).len();
    assert!(size < 4 * super::BLOCKS * 8 + super::CROWD_MAX * 16 + 3 * 10_000 * 6 + 100);
}
