//! The sieve against a set in memory: batches, checkpoints, crashes, leftovers, damage.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use larm_core::Limits;

use super::{Run, RunName, Saving, Sieve, tier};
use crate::disk::faulty::{Dice, Fault, FaultyDisk};
use crate::disk::{Disk, RealDisk};
use crate::{Error, Result};

const DIR: &str = "crawl/state/seen";

fn open(disk: &FaultyDisk, runs: &[RunName]) -> Result<Sieve> {
    let limits = Limits { sieve_filter_bytes_max: 8_192, ..Limits::default() };
    Sieve::open_on(Arc::new(disk.clone()), Path::new(DIR), runs, &limits)
}

fn files(disk: &FaultyDisk) -> Vec<String> {
    disk.list(Path::new(DIR)).unwrap()
}

fn file_names(runs: &[RunName]) -> Vec<String> {
    let mut names: Vec<_> = runs.iter().map(RunName::to_string).collect();
    names.sort();
    names
}

/// A batch with repetitions, from the ends of the range too.
fn random_batch(dice: &mut Dice, keys: u64) -> Vec<u64> {
    let spread = |n: u64| Dice(n).roll();
    let pick = |dice: &mut Dice| match dice.below(40) {
        0 => 0,
        1 => u64::MAX,
        2 => dice.below(5),
        _ => spread(dice.below(keys)),
    };
    (0..dice.between(0, 300)).map(|_| pick(dice)).collect()
}

fn insert_both(sieve: &mut Sieve, model: &mut HashSet<u64>, batch: &[u64]) {
    let expected: Vec<bool> = batch.iter().map(|&key| model.insert(key)).collect();
    assert_eq!(sieve.insert(batch).unwrap(), expected);
    assert_eq!(sieve.len(), model.len() as u64);
}

#[test]
fn each_fingerprint_is_absent_exactly_once() {
    for seed in 0..24 {
        let mut dice = Dice(seed);
        let keys = [500, 5_000, 50_000][seed as usize % 3];
        let disk = FaultyDisk::default();
        let mut durable = (Vec::new(), HashSet::new());
        let mut sieve = open(&disk, &durable.0).unwrap();
        let mut model = HashSet::new();
        for _ in 0..120 {
            match dice.below(10) {
                0..=5 => insert_both(&mut sieve, &mut model, &random_batch(&mut dice, keys)),
                6..=8 => {
                    durable = (sieve.checkpoint().unwrap(), model.clone());
                    if dice.below(3) > 0 {
                        sieve.forget_superseded().unwrap();
                    }
                }
                _ => {
                    disk.restart(&mut dice);
                    sieve = open(&disk, &durable.0).unwrap();
                    model = durable.1.clone();
                    assert_eq!(files(&disk), file_names(&durable.0), "seed {seed}: leftovers");
                }
            }
        }
        let random = (0..200).map(|_| dice.roll());
        for key in model.iter().copied().take(2_000).chain(random) {
            assert_eq!(sieve.contains(key).unwrap(), model.contains(&key));
        }
    }
}

#[test]
fn the_power_may_fail_at_every_single_operation() {
    let batches: Vec<Vec<u64>> =
        (0..14).map(|n| (0..150).map(|k| Dice(n * 100 + k).roll()).collect()).collect();
    let script = |disk: &FaultyDisk, state: &mut (Vec<RunName>, usize)| -> Result<()> {
        let mut sieve = open(disk, &[])?;
        for (number, batch) in batches.iter().enumerate() {
            sieve.insert(batch)?;
            *state = (sieve.checkpoint()?, number + 1);
            sieve.forget_superseded()?;
        }
        Ok(())
    };
    let whole = FaultyDisk::default();
    script(&whole, &mut (Vec::new(), 0)).unwrap();
    assert!(files(&whole).len() < 4, "the script must merge");
    for operation in 0..whole.operations() {
        let (disk, mut state) = (FaultyDisk::default(), (Vec::new(), 0));
        disk.fail_at(operation, Fault::PowerOff);
        script(&disk, &mut state).unwrap_err();
        disk.restart(&mut Dice(operation));
        let sieve = open(&disk, &state.0).unwrap();
        let expected: HashSet<u64> = batches[..state.1].iter().flatten().copied().collect();
        assert_eq!(sieve.len(), expected.len() as u64, "operation {operation}");
        assert!(expected.iter().all(|&key| sieve.contains(key).unwrap()));
    }
}

#[test]
fn a_fingerprint_twice_in_a_batch_is_absent_where_it_stands_first() {
    let mut sieve = open(&FaultyDisk::default(), &[]).unwrap();
    let answers = sieve.insert(&[7, u64::MAX, 7, 0, 0, u64::MAX, 7]).unwrap();
    assert_eq!(answers, [true, true, false, true, false, false, false]);
    sieve.checkpoint().unwrap();
    assert_eq!(sieve.insert(&[8, 0, u64::MAX, 7, 8]).unwrap(), [true, false, false, false, false]);
    assert!(sieve.insert(&[]).unwrap().is_empty());
    assert_eq!(sieve.len(), 4);
}

#[test]
fn superseded_runs_stay_until_they_are_forgotten() {
    let disk = FaultyDisk::default();
    let mut sieve = open(&disk, &[]).unwrap();
    let mut before = Vec::new();
    for key in 0..4 {
        sieve.insert(&[key]).unwrap();
        before = sieve.checkpoint().unwrap();
        assert_eq!(before.len() as u64, key + 1);
    }
    let after = sieve.checkpoint().unwrap();
    assert_eq!(after.len(), 1, "four runs of a tier become one");
    assert_eq!(open(&disk, &before).unwrap().len(), 4, "the state before can still be opened");
    let mut sieve = open(&disk, &[]).unwrap();
    assert!(sieve.is_empty() && files(&disk).is_empty(), "no run is named, so none is kept");
    sieve.insert(&[1]).unwrap();
    assert_eq!(file_names(&sieve.checkpoint().unwrap()), files(&disk));
}

#[test]
fn files_of_others_are_left_alone() {
    let disk = FaultyDisk::default();
    for name in ["README", "1.run", "0000000001.run.bak", "0000000009.run"] {
        disk.put(&Path::new(DIR).join(name), b"?");
    }
    let mut sieve = open(&disk, &[]).unwrap();
    assert_eq!(files(&disk), ["0000000001.run.bak", "1.run", "README"]);
    sieve.insert(&[5]).unwrap();
    assert_eq!(sieve.checkpoint().unwrap(), [RunName(10)], "a name is not given twice");
}

#[test]
fn large_merges_take_many_checkpoints_and_small_runs_do_not_pile_up() {
    let disk = FaultyDisk::default();
    let mut sieve = open(&disk, &[]).unwrap();
    let mut next = 0u64;
    let mut insert = |sieve: &mut Sieve, count: u64| {
        let keys: Vec<u64> = (next..next + count).map(|n| Dice(n).roll()).collect();
        next += count;
        assert!(sieve.insert(&keys).unwrap().iter().all(|&absent| absent));
    };
    let checkpoint = |sieve: &mut Sieve| {
        let saving = Saving { merge_keys: 20_000, ..sieve.begin_checkpoint().unwrap() };
        sieve.end_checkpoint(saving.write().unwrap());
        sieve.forget_superseded().unwrap();
    };
    for _ in 0..4 {
        insert(&mut sieve, 70_000);
        checkpoint(&mut sieve);
    }
    assert!(sieve.merges.is_empty());
    let mut checkpoints = 0;
    while checkpoints == 0 || !sieve.merges.is_empty() {
        insert(&mut sieve, 100);
        checkpoint(&mut sieve);
        checkpoints += 1;
        assert!(sieve.runs.len() < 4 + 6, "{} runs", sieve.runs.len());
        assert!(sieve.runs.iter().map(|run| run.filter().bytes()).sum::<u64>() <= 8_192);
    }
    assert!(checkpoints > 13, "280,000 keys in steps of 20,000");
    assert_eq!(tier(sieve.runs[0].count()), 2);
    assert_eq!(files(&disk), file_names(&sieve.names()));
    assert!((0..next).step_by(97).all(|n| sieve.contains(Dice(n).roll()).unwrap()));
    assert_eq!(sieve.len(), next);
}

#[test]
fn the_sieve_goes_on_while_its_checkpoint_is_written() {
    let disk = FaultyDisk::default();
    let mut sieve = open(&disk, &[]).unwrap();
    sieve.insert(&[1, 2]).unwrap();
    let saving = sieve.begin_checkpoint().unwrap();
    assert_eq!(sieve.insert(&[1, 3, 2]).unwrap(), [false, true, false]);
    let saved = saving.write().unwrap();
    assert_eq!(sieve.insert(&[3, 2, 4]).unwrap(), [false, false, true]);
    let names = saved.names();
    sieve.end_checkpoint(saved);
    assert_eq!(sieve.insert(&[1, 2, 3, 4]).unwrap(), [false; 4]);
    assert_eq!(sieve.len(), 4);
    assert_eq!(open(&disk, &names).unwrap().len(), 2, "what came later is in no run yet");
}

#[test]
fn a_checkpoint_that_does_not_come_back_is_the_last() {
    let disk = FaultyDisk::default();
    let mut sieve = open(&disk, &[]).unwrap();
    sieve.insert(&[1, 2]).unwrap();
    drop(sieve.begin_checkpoint().unwrap());
    assert!(sieve.begin_checkpoint().is_err());
    assert!(sieve.contains(1).unwrap());
}

#[test]
fn tiers_grow_by_four() {
    let rows = [(0, 0), (1, 0), (65_535, 0), (65_536, 1), (262_143, 1), (262_144, 2), (1 << 20, 3)];
    let tiers: BTreeMap<u64, u32> = rows.iter().map(|&(count, _)| (count, tier(count))).collect();
    assert_eq!(tiers, BTreeMap::from(rows));
}

#[test]
fn a_damaged_run_is_refused() {
    let disk = FaultyDisk::default();
    let mut sieve = open(&disk, &[]).unwrap();
    let keys: Vec<u64> = (0..1_100).map(|n| Dice(n).roll()).collect();
    sieve.insert(&keys).unwrap();
    let names = sieve.checkpoint().unwrap();
    let path = names[0].path(Path::new(DIR));
    let good = disk.content(&path);
    let refused = |content: &[u8]| {
        disk.put(&path, content);
        open(&disk, &names).is_err_and(|error| matches!(error, Error::Damaged { .. }))
    };
    assert!((0..good.len()).step_by(5).all(|size| refused(&good[..size])), "truncated");
    assert!(refused(&[&good[..], &[0; 8]].concat()) && refused(&[&good[8..]].concat()));
    for bit in (0..good.len() * 8).step_by(13) {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        let is_version = (good.len() - 24..good.len() - 20).contains(&(bit / 8));
        assert!(refused(&bad) || is_version && open(&disk, &names).is_err(), "bit {bit}");
    }
    disk.put(&path, &good);
    assert_eq!(open(&disk, &names).unwrap().len(), 1_100);
}

#[test]
fn damage_while_the_sieve_is_in_use_is_an_error_and_inserts_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let limits = Limits { sieve_filter_bytes_max: 8_192, ..Limits::default() };
    let mut sieve = Sieve::open(temp.path(), &[], &limits).unwrap();
    let keys: Vec<u64> = (0..1_000).map(|n| Dice(n).roll()).collect();
    sieve.insert(&keys).unwrap();
    let names = sieve.checkpoint().unwrap();
    sieve.recent = Arc::default();
    assert!(!sieve.runs[0].is_in_memory(), "there is no room for its keys");
    let mut content = std::fs::read(names[0].path(temp.path())).unwrap();
    content[100] ^= 1;
    std::fs::write(names[0].path(temp.path()), content).unwrap();
    let batch: Vec<u64> = (0..2_000).map(|n| Dice(n).roll()).collect();
    assert!(matches!(sieve.insert(&batch), Err(Error::Damaged { offset: 0, .. })));
    assert_eq!(sieve.len(), 1_000);
}

#[test]
fn where_there_is_room_for_keys_nothing_is_read() {
    let disk = FaultyDisk::default();
    let mut sieve = open(&disk, &[]).unwrap();
    let keys: Vec<u64> = (0..300).map(|n| Dice(n).roll()).collect();
    sieve.insert(&keys).unwrap();
    let names = sieve.checkpoint().unwrap();
    let sieves = [open(&disk, &names).unwrap(), sieve];
    disk.put(&names[0].path(Path::new(DIR)), b"overwritten by somebody");
    for mut sieve in sieves {
        sieve.recent = Arc::default();
        assert!(sieve.runs[0].is_in_memory());
        assert!(keys.iter().all(|&key| sieve.contains(key).unwrap()));
        assert!((300..5_000).all(|n| !sieve.contains(Dice(n).roll()).unwrap()));
    }
}

#[test]
fn filters_and_keys_share_their_memory_and_keys_make_room_first() {
    let mut sieve = open(&FaultyDisk::default(), &[]).unwrap();
    let (mut next, mut were_in_memory, mut were_not) = (0, false, false);
    for count in [200, 100, 50, 300, 2_000, 20, 3_000, 250, 20_000, 10] {
        let keys: Vec<u64> = (next..next + count).map(|n| Dice(n).roll()).collect();
        next += count;
        sieve.insert(&keys).unwrap();
        sieve.checkpoint().unwrap();
        assert!(sieve.memory_bytes() <= 8_192, "{} bytes", sieve.memory_bytes());
        were_in_memory |= sieve.runs.iter().any(Run::is_in_memory);
        were_not |= sieve.runs.iter().any(|run| !run.is_in_memory());
        sieve.recent = Arc::default();
        assert!((0..next).step_by(7).all(|n| sieve.contains(Dice(n).roll()).unwrap()));
    }
    assert!(were_in_memory && were_not);
    assert!(!sieve.runs.iter().any(Run::is_in_memory), "the filters need all of it");
}

#[test]
fn after_a_failed_write_or_sync_nothing_more_is_written() {
    for operation in 0..4 {
        let disk = FaultyDisk::default();
        let mut sieve = open(&disk, &[]).unwrap();
        sieve.insert(&[1, 2, 3]).unwrap();
        disk.fail_at(operation, Fault::Once(io::ErrorKind::StorageFull));
        assert!(sieve.checkpoint().unwrap_err().is_disk_full(), "operation {operation}");
        assert!(sieve.checkpoint().is_err() && sieve.forget_superseded().is_err());
        assert!(sieve.contains(2).unwrap());
    }
}

#[test]
fn a_missing_run_is_named_in_the_error() {
    let error = open(&FaultyDisk::default(), &[RunName(3)]).unwrap_err();
    assert!(error.to_string().contains("0000000003.run"), "{error}");
}

#[test]
fn a_sieve_on_the_real_disk_is_opened_again() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("seen");
    let keys: Vec<u64> = (0..3_000).map(|n| Dice(n).roll()).collect();
    let mut names = Vec::new();
    for part in keys.chunks(500) {
        let mut sieve = Sieve::open(&dir, &names, &Limits::default()).unwrap();
        assert!(sieve.insert(part).unwrap().iter().all(|&absent| absent));
        names = sieve.checkpoint().unwrap();
        sieve.forget_superseded().unwrap();
    }
    let mut sieve = Sieve::open(&dir, &names, &Limits::default()).unwrap();
    assert!(sieve.insert(&keys).unwrap().iter().all(|&absent| !absent));
    assert_eq!(RealDisk.list(&dir).unwrap(), file_names(&names));
}
