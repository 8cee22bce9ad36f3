//! The queue against its promises: exact order, nothing lost, short lists.

use super::*;
use crate::frontier::item::Errand;
use larm_core::via::Via;
use larm_core::workbench::HostKey;
use std::collections::HashMap;

fn item(priority: u8, seq: u64) -> Item {
    Item {
        url: format!("http://h/{seq}").into(),
        depth: 0,
        via: Via::Anchor,
        parent: None,
        redirects: 0,
        tries: 0,
        errand: Errand::Page,
        place: Place { priority, seq },
    }
}

fn limits() -> Limits {
    Limits { queue_block_urls_max: 4, host_urls_memory_max: 8, ..Limits::default() }
}

fn push(queue: &mut Queue, item: &Item) {
    let mut bytes = Vec::new();
    pack::pack(item.into(), 0, HostKey(0), &mut bytes);
    queue.push(item.place, &bytes);
}

fn next(queue: &mut Queue, now: u64) -> Option<Item> {
    let place = queue.peek(Millis(now))?;
    queue.take(place).map(|taken| taken.item)
}

/// Does to `disk` what a checkpoint of the frontier does to the store.
fn checkpoint(queue: &mut Queue, limits: &Limits, disk: &mut HashMap<BlockId, Vec<u8>>) {
    let removed = queue.checkpoint(limits, &mut |id, list| _ = disk.insert(id, list.to_vec()));
    removed.iter().for_each(|id| _ = disk.remove(id).expect("only what was written is removed"));
    queue.unload_beyond(limits);
}

/// Takes all items in order, loading blocks from `disk` as the frontier would.
fn drain(queue: &mut Queue, disk: &HashMap<BlockId, Vec<u8>>) -> Vec<u64> {
    let mut seqs = Vec::new();
    loop {
        while let Some(id) = queue.block_due() {
            queue.load(id, &disk[&id]).unwrap();
        }
        match next(queue, 0) {
            Some(item) => seqs.push(item.place.seq),
            None => return seqs,
        }
    }
}

#[test]
fn order_is_exact_across_memory_and_disk() {
    let mut disk = HashMap::new();
    let mut queue = Queue::default();
    (0..40).for_each(|seq| push(&mut queue, &item(5, seq)));
    checkpoint(&mut queue, &limits(), &mut disk);
    assert!(queue.memory.len() <= 8);
    // More important ones come later, and go first.
    (100..120).for_each(|seq| push(&mut queue, &item(3, seq)));
    checkpoint(&mut queue, &limits(), &mut disk);
    let expected: Vec<u64> = (100..120).chain(0..40).collect();
    assert_eq!(queue.len(), 60);
    assert_eq!(drain(&mut queue, &disk), expected);
    assert!(queue.is_empty());
}

#[test]
fn a_block_taken_from_its_front_is_not_written_again_and_is_removed_in_the_end() {
    let mut disk = HashMap::new();
    let mut queue = Queue::default();
    (0..4).for_each(|seq| push(&mut queue, &item(2, seq)));
    checkpoint(&mut queue, &limits(), &mut disk);
    next(&mut queue, 0);
    let before = disk.clone();
    checkpoint(&mut queue, &limits(), &mut disk);
    assert_eq!(disk, before);
    let mut again = Queue::from_row(queue.to_row());
    assert_eq!((again.len(), drain(&mut again, &disk)), (3, vec![1, 2, 3]));
    (0..3).for_each(|_| drop(next(&mut queue, 0)));
    checkpoint(&mut queue, &limits(), &mut disk);
    assert!(disk.is_empty() && queue.to_row().stored.is_empty());
}

#[test]
fn a_block_taken_from_its_middle_is_written_again() {
    let mut disk = HashMap::new();
    let mut queue = Queue::default();
    (0..4).for_each(|seq| push(&mut queue, &item(2, seq)));
    checkpoint(&mut queue, &limits(), &mut disk);
    queue.take(Place { priority: 2, seq: 2 }).unwrap();
    checkpoint(&mut queue, &limits(), &mut disk);
    let mut again = Queue::from_row(queue.to_row());
    assert_eq!(drain(&mut again, &disk), [0, 1, 3]);
}

#[test]
fn an_item_that_comes_back_does_not_take_its_old_block_along() {
    let mut disk = HashMap::new();
    let mut queue = Queue::default();
    (0..4).for_each(|seq| push(&mut queue, &item(2, seq)));
    checkpoint(&mut queue, &limits(), &mut disk);
    let leased = next(&mut queue, 0).unwrap();
    checkpoint(&mut queue, &limits(), &mut disk);
    push(&mut queue, &leased);
    checkpoint(&mut queue, &limits(), &mut disk);
    let mut queue = Queue::from_row(queue.to_row());
    assert_eq!(drain(&mut queue, &disk), [0, 1, 2, 3]);
}

#[test]
fn a_deferred_item_waits_for_its_time_and_then_goes_first() {
    let mut queue = Queue::default();
    queue.defer(item(2, 1), Millis(100), &limits()).unwrap();
    assert_eq!(queue.ready_before(Place::END), Some(Millis(100)));
    push(&mut queue, &item(2, 2));
    push(&mut queue, &item(2, 3));
    assert_eq!(next(&mut queue, 50).map(|item| item.place.seq), Some(2));
    assert_eq!(next(&mut queue, 100).map(|item| item.place.seq), Some(1));
}

#[test]
fn the_list_of_blocks_stays_short_when_few_come_at_a_time() {
    let limits = Limits { queue_block_urls_max: 16, host_urls_memory_max: 64, ..Limits::default() };
    let mut disk = HashMap::new();
    let mut queue = Queue::default();
    for seq in 0..2_000 {
        push(&mut queue, &item(4, seq));
        checkpoint(&mut queue, &limits, &mut disk);
    }
    assert_eq!((queue.len(), disk.len()), (2_000, queue.to_row().stored.len()));
    assert!(disk.len() <= 2 * 2_000 / 16 + 8, "{} blocks", disk.len());
    let mut again = Queue::from_row(queue.to_row());
    assert_eq!(drain(&mut again, &disk), (0..2_000).collect::<Vec<_>>());
}

#[test]
fn an_item_in_a_later_block_is_found_by_its_place() {
    let mut disk = HashMap::new();
    let mut queue = Queue::default();
    (0..40).for_each(|seq| push(&mut queue, &item(5, seq)));
    checkpoint(&mut queue, &limits(), &mut disk);
    let place = Place { priority: 5, seq: 33 };
    assert_eq!(queue.take(place), None);
    let id = queue.blocks_before(place)[0];
    queue.load(id, &disk[&id]).unwrap();
    assert_eq!(queue.take(place).map(|taken| taken.item.place), Some(place));
    assert_eq!(queue.len(), 39);
}

#[test]
fn what_is_put_back_is_where_it_was() {
    let mut disk = HashMap::new();
    let mut queue = Queue::default();
    queue.defer(item(2, 1), Millis(100), &limits()).unwrap();
    push(&mut queue, &item(2, 2));
    checkpoint(&mut queue, &limits(), &mut disk);
    for place in [Place { priority: 2, seq: 1 }, Place { priority: 2, seq: 2 }] {
        let before = queue.to_row();
        let taken = queue.take(place).unwrap();
        if let Some(item) = queue.put_back(taken) {
            push(&mut queue, &item);
        }
        checkpoint(&mut queue, &limits(), &mut disk);
        assert_eq!((queue.to_row(), queue.len()), (before, 2));
    }
    assert_eq!(queue.peek(Millis(50)), Some(Place { priority: 2, seq: 2 }));
}

#[test]
fn a_few_items_need_no_block_and_come_back_with_the_row() {
    let mut disk = HashMap::new();
    let limits = Limits { queue_block_urls_max: 24, host_urls_memory_max: 48, ..Limits::default() };
    let mut queue = Queue::default();
    for (priority, seq) in [(3, 1), (2, 2), (4, 3)] {
        push(&mut queue, &item(priority, seq));
        checkpoint(&mut queue, &limits, &mut disk);
    }
    assert!(disk.is_empty());
    let mut again = Queue::from_row(queue.to_row());
    assert_eq!((again.len(), drain(&mut again, &disk)), (3, vec![2, 1, 3]));
    next(&mut queue, 0);
    checkpoint(&mut queue, &limits, &mut disk);
    assert_eq!(drain(&mut Queue::from_row(queue.to_row()), &disk), [1, 3]);
    // One too many: each front queue gets a block.
    (4..6).for_each(|seq| push(&mut queue, &item(3, seq)));
    checkpoint(&mut queue, &limits, &mut disk);
    assert_eq!((disk.len(), queue.loose), (2, 0));
    assert_eq!(drain(&mut Queue::from_row(queue.to_row()), &disk), [1, 4, 5, 3]);
}

/// Picks the item at a place as the frontier would; whether it was there.
fn pick(queue: &mut Queue, place: Place, disk: &HashMap<BlockId, Vec<u8>>) -> bool {
    let blocks = queue.blocks_before(place);
    blocks.into_iter().any(|id| queue.pick(id, place, &disk[&id], &limits()).unwrap())
}

#[test]
fn what_is_picked_from_a_block_leaves_it_on_disk_as_it_is() {
    let mut disk = HashMap::new();
    let mut queue = Queue::default();
    (0..40).for_each(|seq| push(&mut queue, &item(5, seq)));
    checkpoint(&mut queue, &limits(), &mut disk);
    let (before, in_memory) = (disk.clone(), queue.memory.len());
    let place = Place { priority: 5, seq: 33 };
    assert!(pick(&mut queue, place, &disk) && !pick(&mut queue, place, &disk));
    assert_eq!((queue.len(), queue.memory.len()), (40, in_memory + 1));
    queue.take(place).unwrap();
    checkpoint(&mut queue, &limits(), &mut disk);
    assert_eq!(disk, before);
    let mut again = Queue::from_row(queue.to_row());
    assert_eq!(again.len(), 39);
    assert!(!pick(&mut again, place, &disk), "it is gone");
    let rest: Vec<u64> = (0..40).filter(|seq| *seq != 33).collect();
    assert_eq!(drain(&mut again, &disk), rest);
}

#[test]
fn what_is_picked_and_comes_back_counts_once() {
    let mut disk = HashMap::new();
    let mut queue = Queue::default();
    (0..40).for_each(|seq| push(&mut queue, &item(5, seq)));
    checkpoint(&mut queue, &limits(), &mut disk);
    for _ in 0..3 {
        let place = Place { priority: 5, seq: 30 };
        assert!(queue.holds(place) || pick(&mut queue, place, &disk));
        let taken = queue.take(place).unwrap();
        checkpoint(&mut queue, &limits(), &mut disk);
        push(&mut queue, &taken.item);
        checkpoint(&mut queue, &limits(), &mut disk);
        queue = Queue::from_row(queue.to_row());
    }
    assert_eq!(drain(&mut queue, &disk), (0..40).collect::<Vec<_>>());
}

#[test]
fn a_queue_that_is_taken_in_any_order_gives_each_item_once() {
    for seed in 0..20 {
        let (mut disk, mut queue) = (HashMap::new(), Queue::default());
        let mut dice = crate::disk::faulty::Dice(seed);
        let mut left: Vec<u64> = Vec::new();
        for seq in 0..300 {
            push(&mut queue, &item(5, seq));
            left.push(seq);
            if dice.below(10) == 0 {
                checkpoint(&mut queue, &limits(), &mut disk);
            }
            if dice.below(2) == 0 {
                let seq = left.swap_remove(dice.below(left.len() as u64) as usize);
                let place = Place { priority: 5, seq };
                assert!(queue.holds(place) || pick(&mut queue, place, &disk), "{seq}");
                assert_eq!(queue.take(place).unwrap().item.place, place);
            }
            if dice.below(40) == 0 {
                checkpoint(&mut queue, &limits(), &mut disk);
                queue = Queue::from_row(queue.to_row());
            }
            assert_eq!(queue.len(), left.len() as u64);
        }
        checkpoint(&mut queue, &limits(), &mut disk);
        left.sort_unstable();
        assert_eq!(drain(&mut queue, &disk), left);
        checkpoint(&mut queue, &limits(), &mut disk);
        assert!(disk.is_empty(), "{} blocks are left", disk.len());
    }
}
