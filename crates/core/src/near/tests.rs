//! Simhashes of made-up texts: what leaves them near, what sets them apart.

use super::*;
use crate::random::Random;

const WORDS: [&str; 16] = [
    "river", "stone", "Harbour", "winter", "letter", "garden", "copper", "shadow", "market",
    "window", "bridge", "feather", "meadow", "lantern", "Ödland", "silver",
];

fn text(words: usize, seed: u64) -> Vec<String> {
    let mut random = Random(seed);
    let word = |_| format!("{}{}", WORDS[random.below(16) as usize], random.below(40));
    (0..words).map(word).collect()
}

fn simhash(words: &[String]) -> Simhash {
    Simhash::of([words.join(" ").as_str()], 1).unwrap()
}

#[test]
fn a_word_exchanged_in_a_long_text_leaves_it_near() {
    let is_near = |seed: &u64| {
        let one = text(1_000, *seed);
        let mut other = one.clone();
        other[500] = "exchanged".to_owned();
        simhash(&one).is_near(simhash(&other))
    };
    let near = (0..100).filter(is_near).count();
    assert!(near >= 90, "{near} of 100");
}

#[test]
fn texts_about_something_else_are_far_apart() {
    for seed in 0..50 {
        let apart = simhash(&text(300, seed)).distance(simhash(&text(300, seed + 1_000)));
        assert!(apart > 10, "{apart} bits for seed {seed}");
    }
}

#[test]
fn a_form_with_something_else_filled_in_is_another_page() {
    for seed in 0..20 {
        let (frame, one, other) = (text(200, seed), text(60, seed + 100), text(60, seed + 200));
        let pages = [one, other].map(|middle| [&frame[..100], &middle, &frame[100..]].concat());
        assert!(!simhash(&pages[0]).is_near(simhash(&pages[1])), "{seed}");
    }
}

#[test]
fn what_is_repeated_has_one_vote() {
    let once = text(200, 7);
    let mut often = once.clone();
    (0..50).for_each(|_| often.extend_from_slice(&once[..20]));
    let apart = simhash(&once).distance(simhash(&often));
    assert!(apart <= 8, "{apart} bits");
}

#[test]
fn case_spaces_and_punctuation_do_not_count() {
    let plain = Simhash::of(["one two three four five six"], 1);
    assert_eq!(Simhash::of(["  One, TWO — “three”\n\tfour... (five) six!"], 1), plain);
    assert_eq!(Simhash::of(["one two three", "four five six"], 1), plain);
    assert_ne!(Simhash::of(["one two three four six five"], 1), plain);
}

#[test]
fn a_text_of_few_words_has_none() {
    assert_eq!(Simhash::of([""], 1), None);
    assert_eq!(Simhash::of(["two words"], 1), None, "that is less than a feature");
    assert_eq!(Simhash::of(["four words are here"], 5), None);
    assert!(Simhash::of(["five words", "are here now"], 5).is_some());
}

#[test]
fn scripts_without_spaces_have_a_word_for_each_character() {
    assert_eq!(Simhash::of(["東京都"], 4), None);
    assert!(Simhash::of(["東京都区"], 4).is_some());
    assert!(Simhash::of(["東京 is 都"], 4).is_some());
    assert_eq!(Simhash::of(["äöü èéê"], 3), None, "letters of an alphabet make words");
}

#[test]
fn votes_are_what_counting_one_by_one_gives() {
    for count in [1, 2, 7, 8, 9, 15, 16, 17, 100, 1_000] {
        let mut random = Random(count);
        // Some bits are set often, some seldom.
        let numbers: Vec<u64> =
            (0..count).map(|_| random.next() | random.next() & 0xffff).collect();
        let mut votes = Votes::default();
        numbers.iter().for_each(|number| votes.add(*number));
        let is_set = |bit: &u32| {
            let ones = numbers.iter().filter(|number| *number >> bit & 1 == 1).count() as u64;
            2 * ones > count
        };
        let slow = (0..64).filter(is_set).fold(0, |bits, bit| bits | 1 << bit);
        assert_eq!(votes.majority(), slow, "{count} numbers");
    }
}

#[test]
fn it_is_written_and_read_again() {
    let simhash = Simhash(0x0123_4567_89ab_cdef);
    assert_eq!(simhash.to_string(), "0123456789abcdef");
    assert_eq!("0123456789abcdef".parse(), Ok(simhash));
}
