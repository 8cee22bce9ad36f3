//! The board: the best of each origin, whatever changes, and within its bounds.

use super::*;

fn board(pages_max: u64) -> Board {
    let limits = Limits { order_pages_max: pages_max, ..Limits::default() };
    Board::new(&limits, "a test".to_owned(), false)
}

fn origin(n: u64) -> OriginKey {
    OriginKey::of(HostKey(n), "http://h")
}

/// Puts URL `n` onto the board, at the place of its number.
fn put(board: &Board, at: OriginKey, n: u64, worth: f32) -> u32 {
    let number = board.meet(Fingerprint(n), |_| ());
    let place = Place { priority: 2, seq: n };
    let waits = Waits { url: Fingerprint(n), origin: at, place, depth: 0, text: None };
    board.put(number, &waits, worth);
    number
}

/// Takes everything of an origin, the best first.
fn drain(board: &Board, at: OriginKey) -> Vec<u64> {
    let mut order = Vec::new();
    loop {
        let best = board.look().best(at);
        let Some(best) = best else { return order };
        order.push(best.place.seq);
        board.leave(Fingerprint(best.place.seq));
    }
}

#[test]
fn each_origin_has_its_own_order_by_worth_and_of_equals_by_age() {
    let board = board(100);
    for (n, worth) in [(1, 2.0), (2, 5.0), (3, 2.0), (4, 0.1), (5, 1e9)] {
        put(&board, origin(1), n, worth);
        put(&board, origin(2), n + 10, -worth);
    }
    assert_eq!(drain(&board, origin(1)), [5, 2, 1, 3, 4]);
    assert_eq!(drain(&board, origin(2)), [11, 12, 13, 14, 15], "nonsense is the least");
    assert_eq!(board.look().best(origin(3)), None);
}

#[test]
fn a_new_worth_is_a_new_place_in_the_order() {
    let board = board(100);
    let numbers: Vec<u32> = (0..10).map(|n| put(&board, origin(1), n, 10.0 - n as f32)).collect();
    board.update(&[numbers[7], numbers[0]], |number| if number == numbers[7] { 99.0 } else { 0.5 });
    assert_eq!(drain(&board, origin(1)), [7, 1, 2, 3, 4, 5, 6, 8, 9, 0]);
}

#[test]
fn working_out_everything_anew_keeps_what_was_taken_in_the_meantime_away() {
    let board = board(1_000);
    (0..100).for_each(|n| _ = put(&board, origin(n % 3), n, 1.0));
    board.leave(Fingerprint(50));
    // Somebody takes pages while their worth is being worked out.
    board.update_all(|number| {
        if number % 10 == 0 {
            board.leave(Fingerprint(u64::from(99 - number)));
        }
        1.0 + number as f32
    });
    let left = |n: &u64| *n != 50 && n % 10 != 9;
    for at in 0..3 {
        let expected: Vec<u64> = (0..100).rev().filter(|n| n % 3 == at).filter(left).collect();
        assert_eq!(drain(&board, origin(at)), expected);
    }
}

#[test]
fn beyond_its_maximum_the_least_are_forgotten() {
    let board = board(32);
    (0..1_000).for_each(|n| _ = put(&board, origin(1), n, if n % 100 == 7 { 100.0 } else { 1.0 }));
    let order = drain(&board, origin(1));
    assert_eq!(
        order[..10],
        [7, 107, 207, 307, 407, 507, 607, 707, 807, 907].map(|n| n),
        "{order:?}"
    );
    assert!(order.len() <= 32, "{}", order.len());
}

#[test]
fn an_empty_place_is_cleared_but_not_one_that_was_filled_again() {
    let board = board(10);
    put(&board, origin(1), 1, 1.0);
    let stale = board.look().best(origin(1)).unwrap();
    let number = board.meet(Fingerprint(1), |_| panic!("it is known"));
    let place = Place { priority: 2, seq: 77 };
    let url = Fingerprint(1);
    board.put(number, &Waits { url, origin: origin(1), place, depth: 0, text: None }, 1.0);
    board.clear(stale);
    let best = board.look().best(origin(1)).unwrap();
    assert_eq!(best.place, place);
    board.clear(best);
    assert_eq!(board.look().best(origin(1)), None);
}

#[test]
fn whoever_asks_hears_how_a_url_stands() {
    let board = board(10);
    (1..4).for_each(|n| _ = put(&board, origin(1), n, n as f32));
    let ranked = board.ranked(Fingerprint(1)).unwrap();
    assert_eq!(ranked, Ranked { by: "a test".to_owned(), worth: 1.0, ahead: 2 });
    board.leave(Fingerprint(1));
    assert_eq!((board.ranked(Fingerprint(1)), board.ranked(Fingerprint(9))), (None, None));
}
