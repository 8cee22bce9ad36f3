//! Prefix codes of least cost: how long the code of each symbol is, and which it is.
//!
//! Codes are made for a good part of all pages, so this is written to be quick.

/// Codes are at most so long in deflate.
pub const BITS_MAX: usize = 15;
/// No fewer than an alphabet has symbols.
const SYMBOLS_MAX: usize = 288;
/// Weights from here on are sorted by comparing.
const HEAVY: usize = 256;

/// How many codes there are of each length; the last counts what is longer than can be.
type PerLength = [u16; BITS_MAX + 2];

/// Gives every symbol with a weight a length of 1 to `max`, and the others 0.
///
/// At least two symbols need a weight, and 2 to the power of `max` must be no fewer than those with one.
pub fn lengths(weights: &[u16], max: usize, lengths: &mut [u8]) {
    let mut room = [0; SYMBOLS_MAX];
    let leaves = sorted(weights, &mut room);
    let mut per_length = depths(leaves);
    limit(&mut per_length, max);
    lengths.fill(0);
    // The rarest symbols get the longest codes.
    let mut leaves = leaves.iter();
    for length in (1..=max).rev() {
        for leaf in leaves.by_ref().take(per_length[length].into()) {
            lengths[(leaf & 0xffff) as usize] = length as u8;
        }
    }
}

/// The symbols that have a weight, by weight: it is in the upper half, the symbol in the lower.
fn sorted<'a>(weights: &[u16], room: &'a mut [u32; SYMBOLS_MAX]) -> &'a [u32] {
    // Most are light: those are put where they belong, by counting.
    let mut places = [0u16; HEAVY + 1];
    for &weight in weights {
        places[usize::from(weight).min(HEAVY)] += 1;
    }
    places[0] = 0;
    let mut all = 0;
    for place in &mut places[1..] {
        (*place, all) = (all, all + *place);
    }
    let light = usize::from(places[HEAVY]);
    for (symbol, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0) {
        let place = &mut places[usize::from(weight).min(HEAVY)];
        room[usize::from(*place)] = u32::from(weight) << 16 | symbol as u32;
        *place += 1;
    }
    room[light..usize::from(all)].sort_unstable();
    &room[..usize::from(all)]
}

/// How many leaves of the tree are how deep.
///
/// Leaves come sorted, so the inner nodes are made in order of their weight too: the two lightest are
/// always at the front of one of two queues.
fn depths(leaves: &[u32]) -> PerLength {
    const DEEPEST: u8 = BITS_MAX as u8 + 1;
    debug_assert!(leaves.len() > 1);
    let inner = leaves.len() - 1;
    let mut weights = [0u32; SYMBOLS_MAX];
    let mut parents = [0u16; SYMBOLS_MAX];
    // The parents of leaves are not needed, only how many leaves a node has.
    let mut leaves_of = [0u8; SYMBOLS_MAX];
    let (mut leaf, mut node) = (0, 0);
    for made in 0..inner {
        for _ in 0..2 {
            let lightest = leaves.get(leaf).map_or(u32::MAX, |leaf| leaf >> 16);
            if node == made || lightest <= weights[node] {
                weights[made] += lightest;
                leaves_of[made] += 1;
                leaf += 1;
            } else {
                weights[made] += weights[node];
                parents[node] = made as u16;
                node += 1;
            }
        }
    }
    let mut depths = [0u8; SYMBOLS_MAX];
    let mut per_length = [0; BITS_MAX + 2];
    // The last node is the root.
    parents[inner - 1] = inner as u16;
    for node in (0..inner).rev() {
        let above = depths[usize::from(parents[node])];
        per_length[usize::from(above + 1)] += u16::from(leaves_of[node]);
        depths[node] = (above + 1).min(DEEPEST - 1);
    }
    per_length
}

/// Shortens codes to `max`, and lengthens others until all have room.
fn limit(per_length: &mut PerLength, max: usize) {
    let over: u16 = per_length[max + 1..].iter().sum();
    if over == 0 {
        return;
    }
    per_length[max + 1..].fill(0);
    per_length[max] += over;
    // In units of the longest code.
    let taken = |length: usize| u32::from(per_length[length]) << (max - length);
    let mut excess = (1..=max).map(taken).sum::<u32>() - (1 << max);
    while excess > 0 {
        // The longest code that can grow makes room beside it for one of the longest.
        let length = (1..max).rev().find(|&length| per_length[length] > 0);
        let length = length.expect("the symbols have room");
        per_length[length] -= 1;
        per_length[length + 1] += 2;
        per_length[max] -= 1;
        excess -= 1;
    }
}

/// The codes of symbols whose lengths are given (RFC 1951 §3.2.2), with the bits in the order in which
/// they are written.
pub fn codes(lengths: &[u8], codes: &mut [u16]) {
    let mut next = [0u16; BITS_MAX + 1];
    for &length in lengths {
        next[usize::from(length & 15)] += 1;
    }
    next[0] = 0;
    let (mut code, mut before) = (0, 0);
    for count in &mut next[1..] {
        code = (code + before) << 1;
        before = *count;
        *count = code;
    }
    for (code, &length) in codes.iter_mut().zip(lengths) {
        if length > 0 {
            let next = &mut next[usize::from(length & 15)];
            *code = next.reverse_bits() >> (16 - length);
            *next += 1;
        }
    }
}
