//! Bytes in, one gzip member out.
//!
//! Packed by our own [`deflate`]: a record takes less time than with level 1 of libdeflate, and some 3 % more
//! bytes (see `docs/adr/0026-a-deflate-of-our-own.md`). What is compressed already is stored, in a member all the
//! same, because tools expect every record to be one.

use std::cell::RefCell;

use larm_core::deflate::{self, Packer};
use libdeflater::Crc;

/// How much work to put into a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// None: the bytes are compressed already.
    Stored,
    /// As much as pays.
    Packed,
}

/// Deflate; no name, no time; "unknown" for the system (RFC 1952 §2.3).
const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

thread_local! {
    // Its tables are some 250 KiB, and it is the better for what it packed before: one per thread.
    static PACKER: RefCell<Packer> = RefCell::new(Packer::default());
}

/// Appends one gzip member that holds all of `parts`, one behind the other, and returns its length.
pub fn append_member(parts: &[&[u8]], effort: Effort, out: &mut Vec<u8>) -> u64 {
    let before = out.len();
    out.extend_from_slice(&HEAD);
    match effort {
        Effort::Stored => deflate::store(parts, out),
        Effort::Packed => PACKER.with_borrow_mut(|packer| packer.pack(parts, out)),
    }
    let mut crc = Crc::new();
    parts.iter().for_each(|part| crc.update(part));
    out.extend_from_slice(&crc.sum().to_le_bytes());
    // Its length modulo 2 to the power of 32.
    let bytes: usize = parts.iter().map(|part| part.len()).sum();
    out.extend_from_slice(&(bytes as u32).to_le_bytes());
    (out.len() - before) as u64
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn members_follow_each_other_and_read_back() {
        let text = "the same again and ".repeat(5_000);
        let mut out = Vec::new();
        let (one, other) = text.as_bytes().split_at(40_000);
        let stored = append_member(&[one, b"", other], Effort::Stored, &mut out);
        let packed = append_member(&[b"", one, other], Effort::Packed, &mut out);
        append_member(&[], Effort::Packed, &mut out);
        assert!(packed < stored / 10 && stored > text.len() as u64);
        let mut back = String::new();
        flate2::read::MultiGzDecoder::new(&out[..]).read_to_string(&mut back).unwrap();
        assert_eq!(back, text.repeat(2));
    }
}
