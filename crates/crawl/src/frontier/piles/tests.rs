//! Piles against their promises: what was put there is there until it is taken, over crashes and merges.

use super::*;
use crate::Error;
use crate::disk::RealDisk;
use crate::disk::faulty::{Dice, Fault, FaultyDisk};
use crate::frontier::shelf::SHELVES;

const DIR: &str = "/arrivals";

/// Piles, and what must lie on each shelf.
struct Bench {
    piles: Piles,
    truth: Vec<Vec<u8>>,
    taken_to: Vec<u64>,
    seq: u64,
}

impl Bench {
    fn new(disk: Arc<dyn Disk>) -> Self {
        Self {
            piles: Piles::open(disk, Path::new(DIR), &[]).unwrap(),
            truth: vec![Vec::new(); usize::from(SHELVES)],
            taken_to: vec![0; usize::from(SHELVES)],
            seq: 0,
        }
    }

    /// Puts a few bytes on some shelves, and begins to write them.
    fn begin(&mut self, dice: &mut Dice) -> Saving {
        let mut lists = Vec::new();
        for shelf in (0..SHELVES).filter(|shelf| shelf % 500 == 7).map(ShelfId) {
            let list: Vec<u8> = (0..dice.roll() % 40).map(|_| dice.roll() as u8).collect();
            if !list.is_empty() {
                self.truth[shelf.index()].extend_from_slice(&list);
                lists.push((shelf, Arc::new(list)));
            }
        }
        self.seq += 10;
        self.piles.begin_checkpoint(lists, self.seq, self.taken_to.clone())
    }

    fn checkpoint(&mut self, dice: &mut Dice) -> Result<Vec<PileName>> {
        let saved = self.begin(dice).write()?;
        let names = saved.names();
        self.piles.end_checkpoint(saved);
        Ok(names)
    }

    fn take(&mut self, shelf: ShelfId) {
        self.truth[shelf.index()].clear();
        self.taken_to[shelf.index()] = self.seq;
    }

    fn check(&self) {
        for shelf in (0..SHELVES).map(ShelfId) {
            assert_eq!(on_shelf(&self.piles, shelf, &self.taken_to), self.sorted_truth(shelf));
            let bytes = self.piles.bytes(shelf, self.taken_to[shelf.index()]);
            assert_eq!(bytes, self.truth[shelf.index()].len() as u64);
        }
    }

    fn sorted_truth(&self, shelf: ShelfId) -> Vec<u8> {
        let mut bytes = self.truth[shelf.index()].clone();
        bytes.sort_unstable();
        bytes
    }
}

/// Lists come in any order.
fn on_shelf(piles: &Piles, shelf: ShelfId, taken_to: &[u64]) -> Vec<u8> {
    let lists = piles.lists(shelf, taken_to[shelf.index()]).unwrap();
    let mut bytes: Vec<u8> = lists.iter().flat_map(|list| list.iter().copied()).collect();
    bytes.sort_unstable();
    bytes
}

#[test]
fn what_arrived_is_there_until_it_is_taken_and_piles_stay_few() {
    let mut dice = Dice(3);
    let mut bench = Bench::new(Arc::new(FaultyDisk::default()));
    for round in 0..100 {
        // While it is written, somebody takes what was there before and what is being written.
        let saving = bench.begin(&mut dice);
        if round % 3 == 0 {
            bench.take(ShelfId(7 + 500 * (dice.roll() % 16) as u16));
        }
        bench.piles.end_checkpoint(saving.write().unwrap());
        bench.check();
        assert!(bench.piles.piles.len() < 32, "{} piles", bench.piles.piles.len());
    }
}

#[test]
fn piles_from_which_all_was_taken_are_removed() {
    let mut dice = Dice(4);
    let disk = Arc::new(FaultyDisk::default());
    let mut bench = Bench::new(disk.clone());
    (0..5).for_each(|_| _ = bench.checkpoint(&mut dice).unwrap());
    (0..SHELVES).for_each(|shelf| bench.take(ShelfId(shelf)));
    for _ in 0..2 {
        let nothing = bench.piles.begin_checkpoint(Vec::new(), bench.seq, bench.taken_to.clone());
        bench.piles.end_checkpoint(nothing.write().unwrap());
    }
    assert_eq!(disk.list(Path::new(DIR)).unwrap(), Vec::<String>::new());
}

#[test]
fn the_power_may_fail_at_every_single_operation() {
    for at in 0.. {
        let disk = Arc::new(FaultyDisk::default());
        let mut dice = Dice(5);
        let mut bench = Bench::new(disk.clone());
        let mut durable = (Vec::new(), bench.truth.clone(), bench.taken_to.clone());
        disk.fail_at(at, Fault::PowerOff);
        let crashed = (0..20).any(|round| {
            bench.take(ShelfId(7 + 500 * round));
            match bench.checkpoint(&mut dice) {
                Ok(names) => durable = (names, bench.truth.clone(), bench.taken_to.clone()),
                Err(_) => return true,
            }
            false
        });
        if !crashed {
            assert!(at > 50, "only {at} operations");
            return;
        }
        disk.restart(&mut dice);
        let (names, truth, taken_to) = durable;
        let piles = Piles::open(disk, Path::new(DIR), &names).unwrap();
        bench = Bench { piles, truth, taken_to, seq: bench.seq };
        bench.check();
        bench.checkpoint(&mut dice).unwrap();
        bench.check();
    }
}

#[test]
fn damage_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let list = Arc::new(b"some bytes that arrived".to_vec());
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let mut piles = Piles::open(disk.clone(), dir.path(), &[]).unwrap();
    let taken_to = vec![0; usize::from(SHELVES)];
    let saved = piles.begin_checkpoint(vec![(ShelfId(9), list)], 1, taken_to).write().unwrap();
    let names = saved.names();
    piles.end_checkpoint(saved);
    let path = names[0].path(dir.path());
    let whole = std::fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let opened = Piles::open(disk.clone(), dir.path(), &names);
        let read = opened.and_then(|piles| piles.lists(ShelfId(9), 0));
        let found = matches!(read, Err(Error::Damaged { .. } | Error::Directory(_)));
        assert!(found, "byte {at} of {}", whole.len());
    }
}
