//! The queue against its promises: exact order, nothing lost, short lists.

use super::*;
use crate::frontier::item::Errand;
use larm_core::via::Via;
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

fn next(queue: &mut Queue, now: u64) -> Option<Item> {
    let place = queue.peek(Millis(now))?;
    queue.take(place).map(|taken| taken.item)
}

/// Takes all items in order, loading blocks from `disk` as the frontier would.
fn drain(queue: &mut Queue, disk: &HashMap<BlockId, Vec<Item>>) -> Vec<u64> {
    let mut seqs = Vec::new();
    loop {
        while let Some(id) = queue.block_due() {
            queue.load(id, disk[&id].clone());
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
    (0..40).for_each(|seq| queue.push(item(5, seq)));
    disk.extend(queue.checkpoint(&limits()).write);
    assert!(queue.memory.len() <= 8);
    // More important ones come later, and go first.
    (100..120).for_each(|seq| queue.push(item(3, seq)));
    disk.extend(queue.checkpoint(&limits()).write);
    let expected: Vec<u64> = (100..120).chain(0..40).collect();
    assert_eq!(queue.len(), 60);
    assert_eq!(drain(&mut queue, &disk), expected);
    assert!(queue.is_empty());
}

#[test]
fn a_block_taken_in_part_is_written_back_shorter_and_then_removed() {
    let mut queue = Queue::default();
    (0..4).for_each(|seq| queue.push(item(2, seq)));
    let id = queue.checkpoint(&limits()).write[0].0;
    next(&mut queue, 0);
    let changes = queue.checkpoint(&limits());
    assert_eq!(changes.write[0].1.len(), 3);
    (0..3).for_each(|_| drop(next(&mut queue, 0)));
    assert_eq!(queue.checkpoint(&limits()).remove, [id]);
    assert!(queue.stored_after_checkpoint().is_empty());
}

#[test]
fn an_item_that_comes_back_does_not_take_its_old_block_along() {
    let mut disk = HashMap::new();
    let mut queue = Queue::default();
    (0..4).for_each(|seq| queue.push(item(2, seq)));
    disk.extend(queue.checkpoint(&limits()).write);
    let leased = next(&mut queue, 0).unwrap();
    disk.extend(queue.checkpoint(&limits()).write);
    queue.push(leased);
    disk.extend(queue.checkpoint(&limits()).write);
    let mut queue = Queue::from_row(queue.to_row());
    assert_eq!(drain(&mut queue, &disk), [0, 1, 2, 3]);
}

#[test]
fn a_deferred_item_waits_for_its_time_and_then_goes_first() {
    let mut queue = Queue::default();
    queue.defer(item(2, 1), Millis(100), &limits());
    assert_eq!(queue.ready_at(), Some(Millis(100)));
    queue.push(item(2, 2));
    queue.push(item(2, 3));
    assert_eq!(next(&mut queue, 50).map(|item| item.place.seq), Some(2));
    assert_eq!(next(&mut queue, 100).map(|item| item.place.seq), Some(1));
}

#[test]
fn the_list_of_blocks_stays_short_when_few_come_at_a_time() {
    let limits = Limits { queue_block_urls_max: 16, host_urls_memory_max: 64, ..Limits::default() };
    let mut disk = HashMap::new();
    let mut queue = Queue::default();
    for seq in 0..2_000 {
        queue.push(item(4, seq));
        let changes = queue.checkpoint(&limits);
        changes.remove.iter().for_each(|id| drop(disk.remove(id)));
        disk.extend(changes.write);
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
    (0..40).for_each(|seq| queue.push(item(5, seq)));
    disk.extend(queue.checkpoint(&limits()).write);
    let place = Place { priority: 5, seq: 33 };
    assert_eq!(queue.take(place), None);
    let id = queue.blocks_before(place)[0];
    queue.load(id, disk[&id].clone());
    assert_eq!(queue.take(place).map(|taken| taken.item.place), Some(place));
    assert_eq!(queue.len(), 39);
}

#[test]
fn what_is_put_back_is_where_it_was() {
    let mut queue = Queue::default();
    queue.defer(item(2, 1), Millis(100), &limits());
    queue.push(item(2, 2));
    for place in [Place { priority: 2, seq: 1 }, Place { priority: 2, seq: 2 }] {
        let before = queue.to_row();
        let taken = queue.take(place).unwrap();
        queue.put_back(taken);
        assert_eq!((queue.to_row(), queue.len()), (before, 2));
    }
    assert_eq!(queue.peek(Millis(50)), Some(Place { priority: 2, seq: 2 }));
}
