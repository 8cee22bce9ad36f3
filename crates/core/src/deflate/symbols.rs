//! The symbols of deflate (RFC 1951 §3.2.5): bytes, lengths, distances; and how often each occurs.
//!
//! Both alphabets stand in one array, so that what a code costs is one product of two arrays.

/// The shortest match that is looked for, and the longest that there is.
pub const LENGTH_MAX: usize = 258;
/// How far back a match may be.
pub const DISTANCE_MAX: usize = 32_768;
/// The symbol that ends a block.
pub const END: usize = 256;
/// The first symbol of a length.
pub const LENGTHS: usize = 257;
/// Bytes, the end, and lengths.
pub const LITERALS: usize = 286;
/// Where distances begin in an array of both alphabets, and how many there are.
pub const DISTANCES: usize = 288;
pub const DISTANCE_COUNT: usize = 30;
/// Both alphabets.
pub const SYMBOLS: usize = 320;

/// Something for every symbol of both alphabets.
pub type PerSymbol = [u16; SYMBOLS];

/// The symbol of each length, less [`LENGTHS`]; by the length less 3.
pub const LENGTH_SLOTS: [u8; 256] = length_slots();
/// The distances of one less than 256, then the others in steps of 128.
const DISTANCE_SLOTS: [u8; 512] = distance_slots();

/// The part of a distance less one that follows its symbol.
pub const DISTANCE_MASKS: [u16; 32] = distance_masks();
/// The bits that follow a symbol, for every symbol.
pub const EXTRA_BITS: [u8; SYMBOLS] = extra_bits();

/// The symbol of a distance less one, less [`DISTANCES`].
#[inline(always)]
pub fn distance_slot(less_one: usize) -> usize {
    let index = if less_one < 256 { less_one } else { 256 + (less_one >> 7) };
    usize::from(DISTANCE_SLOTS[index & 511] & 31)
}

/// The least length of a slot, less 3.
pub const fn length_base(slot: usize) -> usize {
    match slot {
        0..8 => slot,
        28 => 255,
        _ => (4 + slot % 4) << (slot / 4 - 1),
    }
}

const fn length_extra(slot: usize) -> u8 {
    match slot {
        0..8 | 28 => 0,
        _ => (slot / 4 - 1) as u8,
    }
}

/// The least distance of a slot, less 1.
const fn distance_base(slot: usize) -> usize {
    match slot {
        0..4 => slot,
        _ => (2 + slot % 2) << (slot / 2 - 1),
    }
}

const fn distance_extra(slot: usize) -> u8 {
    match slot {
        0..4 => 0,
        _ => (slot / 2 - 1) as u8,
    }
}

const fn length_slots() -> [u8; 256] {
    let mut slots = [0; 256];
    let mut slot = 0;
    while slot < 29 {
        let mut length = length_base(slot);
        while length < 256 {
            slots[length] = slot as u8;
            length += 1;
        }
        slot += 1;
    }
    slots
}

const fn distance_slots() -> [u8; 512] {
    let mut slots = [0; 512];
    let mut slot = 0;
    while slot < DISTANCE_COUNT {
        let mut distance = distance_base(slot);
        while distance < 256 {
            slots[distance] = slot as u8;
            distance += 1;
        }
        let mut step = 256 + distance_base(slot).div_ceil(128);
        while step < 512 {
            slots[step] = slot as u8;
            step += 1;
        }
        slot += 1;
    }
    slots
}

const fn extra_bits() -> [u8; SYMBOLS] {
    let mut bits = [0; SYMBOLS];
    let mut slot = 0;
    while slot < 29 {
        bits[LENGTHS + slot] = length_extra(slot);
        slot += 1;
    }
    slot = 0;
    while slot < DISTANCE_COUNT {
        bits[DISTANCES + slot] = distance_extra(slot);
        slot += 1;
    }
    bits
}

const fn distance_masks() -> [u16; 32] {
    let mut masks = [0; 32];
    let mut slot = 0;
    while slot < DISTANCE_COUNT {
        masks[slot] = (1 << distance_extra(slot)) - 1;
        slot += 1;
    }
    masks
}
