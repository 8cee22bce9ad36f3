//! Everything that is packed reads back the same, by two readers that are not ours.

use std::io::Read;

use proptest::prelude::*;

use super::*;
use crate::parse::testdata::archive;
use crate::random::Random;

/// Packs with a packer that may have packed before, and reads back.
fn round_trip(packer: &mut Packer, input: &[u8]) -> usize {
    let before = b"what was there";
    let mut out = before.to_vec();
    // In parts, and in one: it is the same.
    let (one, other) = input.split_at(input.len() / 3);
    packer.pack(&[one, &[], other], &mut out);
    let packed = out.strip_prefix(before.as_slice()).expect("what was there stays");
    assert_eq!(inflate(packed, input.len()), input, "zlib-rs");
    let mut back = vec![0; input.len()];
    let read = libdeflater::Decompressor::new().deflate_decompress(packed, &mut back);
    assert_eq!(read, Ok(input.len()));
    assert!(back == input, "libdeflate");
    let blocks = input.len().div_ceil(PIECE_BYTES).max(1);
    assert!(packed.len() <= input.len() + 8 * blocks, "{} of {}", packed.len(), input.len());
    packed.len()
}

fn inflate(packed: &[u8], bytes_max: usize) -> Vec<u8> {
    let mut back = Vec::new();
    let mut reader = flate2::read::DeflateDecoder::new(packed).take(bytes_max as u64 + 1);
    reader.read_to_end(&mut back).unwrap();
    back
}

/// Words of a made-up language, whose letters come from `letters`.
fn text(bytes: usize, letters: &[u8], seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let mut draw = |below: usize| random.below(below as u64) as usize;
    let words: Vec<Vec<u8>> = (0..300)
        .map(|_| (0..1 + draw(9)).map(|_| letters[draw(letters.len())]).chain([b' ']).collect())
        .collect();
    let mut text = Vec::new();
    while text.len() < bytes {
        text.extend_from_slice(&words[draw(17) * draw(17)]);
    }
    text.truncate(bytes);
    text
}

fn noise(bytes: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    (0..bytes).map(|_| random.next() as u8).collect()
}

const LENGTHS_OF_NOTE: [usize; 31] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 30, 31, 32, 33, 63, 257, 258, 259, 260, 1_000, 32_767,
    32_768, 32_769, 32_770, 65_535, 65_536, 65_537, 98_303, 98_305, 200_000,
];

#[test]
fn every_length_of_note_reads_back_whatever_the_bytes() {
    let mut packer = Packer::default();
    for length in LENGTHS_OF_NOTE {
        round_trip(&mut packer, &text(length, b"etaoinshrdlu<>/=\"", 1));
        round_trip(&mut packer, &noise(length, 2));
        round_trip(&mut packer, &vec![b'a'; length]);
        round_trip(&mut packer, &b"ab".repeat(length)[..length]);
        // All bytes there are, and each as often as the others.
        round_trip(&mut packer, &(0..length).map(|at| at as u8).collect::<Vec<_>>());
        round_trip(&mut Packer::default(), &text(length, b"xyz", 3));
    }
}

#[test]
fn matches_reach_as_far_as_they_may_and_no_further() {
    let mut packer = Packer::default();
    let word = b"a word of its own that nothing else has";
    for gap in [32_700, 32_727, 32_728, 32_729, 32_730, 32_768, 65_400, 65_496, 65_497, 65_600] {
        let mut input = word.to_vec();
        input.extend(noise(gap, gap as u64));
        input.extend_from_slice(word);
        round_trip(&mut packer, &input);
    }
}

#[test]
fn a_byte_that_the_last_code_lacks_reads_back() {
    let mut packer = Packer::default();
    let page = text(PIECE_BYTES, b"etaoinshrdlu<>/=\"", 10);
    for byte in 0..=255 {
        round_trip(&mut packer, &page);
        let mut other = page.clone();
        other[20_000] = byte;
        round_trip(&mut packer, &[&page[..], &other].concat());
    }
}

#[test]
fn a_long_input_of_many_kinds_reads_back() {
    let parts = [
        text(150_000, b"etaoin <>", 4),
        noise(70_000, 5),
        text(40_000, "абвгд ".as_bytes(), 6),
        vec![0; 100_000],
        text(33_000, b"0123456789,", 7),
    ];
    let input = parts.concat();
    let packed = round_trip(&mut Packer::default(), &input);
    assert!(packed < input.len() / 2);
}

#[test]
fn what_was_packed_before_makes_small_records_smaller() {
    let mut packer = Packer::default();
    let record = |n: u64| {
        format!(
            "WARC/1.1\r\nWARC-Type: request\r\nWARC-Target-URI: http://host-{n}.example/{n}\r\nContent-Length: {n}\r\n\r\n"
        )
    };
    let first = round_trip(&mut packer, &text(20_000, b"etaoinshrdlu:./-0123456789WARC", 8));
    assert!(first < 20_000);
    for n in 0..2_000 {
        round_trip(&mut packer, record(n * 7_919).as_bytes());
    }
    let later = round_trip(&mut packer, record(12_345).as_bytes());
    assert!(later < record(12_345).len());
}

#[test]
fn what_is_stored_reads_back() {
    for length in LENGTHS_OF_NOTE {
        let input = noise(length, 9);
        let mut out = Vec::new();
        store(&[&input], &mut out);
        assert_eq!(inflate(&out, length), input);
        assert!(out.len() <= length + 5 * length.div_ceil(STORED_BYTES_MAX).max(1));
    }
}

#[test]
fn real_pages_are_hardly_larger_than_others_make_them() {
    let sets = [
        ("html/readability-pages.tar.gz", 1),
        ("neardup/kafka-docs-20-21-24.tar.gz", 20),
        ("topic/webkb-pages.tar.gz", 10),
    ];
    for (name, step) in sets {
        let Some(files) = archive(name) else { return };
        let mut packer = Packer::default();
        let level = libdeflater::CompressionLvl::new(1).unwrap();
        let mut other = libdeflater::Compressor::new(level);
        let (mut ours, mut theirs) = (0, 0);
        for (_, page) in files.iter().step_by(step) {
            ours += round_trip(&mut packer, page);
            let mut room = vec![0; other.deflate_compress_bound(page.len())];
            theirs += other.deflate_compress(page, &mut room).unwrap();
        }
        let ratio = ours as f64 / theirs as f64;
        println!("{name}: {ours} of {theirs} bytes, {ratio:.4}");
        // The most where pages are small: a few bytes more for each are taken for the time that its own code would cost.
        assert!(ratio < 1.05, "{name}: {ratio}");
    }
}

/// Pieces of input of all kinds, put together.
fn input() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..600),
        (any::<u8>(), 0..40_000usize).prop_map(|(byte, count)| vec![byte; count]),
        (proptest::collection::vec(any::<u8>(), 1..40), 1..400usize)
            .prop_map(|(bytes, count)| bytes.repeat(count)),
        (0..40_000usize, any::<u64>()).prop_map(|(bytes, seed)| text(bytes, b"etaoin<>=\"/", seed)),
        (0..40_000usize, any::<u64>()).prop_map(|(bytes, seed)| noise(bytes, seed)),
    ];
    proptest::collection::vec(part, 0..5).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn inputs_in_any_order_through_one_packer_read_back(
        inputs in proptest::collection::vec(input(), 1..8),
    ) {
        let mut packer = Packer::default();
        for input in &inputs {
            round_trip(&mut packer, input);
        }
    }

    /// Places and hashes are kept in few bits: whatever a table is left with, nothing goes wrong.
    #[test]
    fn any_state_of_the_table_will_do(input in input(), seed in any::<u64>()) {
        let mut packer = Packer::default();
        packer.matcher.fill_for_test(seed);
        round_trip(&mut packer, &input);
    }

    #[test]
    fn codes_are_complete_and_no_longer_than_allowed(
        weights in proptest::collection::vec(prop_oneof![Just(0u16), 1..10u16, any::<u16>()], 2..286),
        max in 9usize..=15,
    ) {
        prop_assume!(weights.iter().filter(|weight| **weight > 0).count() > 1);
        let mut lengths = vec![0; weights.len()];
        huffman::lengths(&weights, max, &mut lengths);
        let taken: usize =
            lengths.iter().filter(|length| **length > 0).map(|&length| 1 << (max - usize::from(length))).sum();
        prop_assert_eq!(taken, 1 << max);
        for (weight, length) in weights.iter().zip(&lengths) {
            prop_assert_eq!(*weight > 0, *length > 0);
        }
    }
}
