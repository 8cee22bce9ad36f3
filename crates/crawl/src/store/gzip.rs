//! Bytes in, one gzip member out.
//!
//! Level 1 of libdeflate: on HTML, levels 2 to 4 cost more time than the bytes they save are worth (see
//! `docs/adr/0002-warc-bytes.md`). What is compressed already is stored, in a member all the same,
//! because tools expect every record to be one.

use std::cell::RefCell;

use libdeflater::{CompressionLvl, Compressor};

/// How much work to put into a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// None: the bytes are compressed already.
    Stored,
    /// As much as pays.
    Packed,
}

const STORED: i32 = 0;
const PACKED: i32 = 1;
/// Room that a thread keeps between two members.
const ROOM_BYTES_MAX: usize = 1024 * 1024;

thread_local! {
    // A compressor is some hundred KiB of tables: made once per thread, not once per record.
    static STORER: RefCell<Packer> = RefCell::new(Packer::new(STORED));
    static PACKER: RefCell<Packer> = RefCell::new(Packer::new(PACKED));
}

/// A compressor, and room for what it makes: much more than it will need, so it is not given away.
struct Packer {
    compressor: Compressor,
    room: Vec<u8>,
}

impl Packer {
    fn new(level: i32) -> Self {
        let level = CompressionLvl::new(level).expect("a level that libdeflate has");
        Self { compressor: Compressor::new(level), room: Vec::new() }
    }

    fn pack(&mut self, bytes: &[u8]) -> &[u8] {
        let bound = self.compressor.gzip_compress_bound(bytes.len());
        if self.room.len() < bound {
            self.room.resize(bound, 0);
        }
        let written = self.compressor.gzip_compress(bytes, &mut self.room);
        &self.room[..written.expect("a member fits into its bound")]
    }

    /// After something large, most of the room would lie idle.
    fn tidy(&mut self) {
        if self.room.len() > ROOM_BYTES_MAX {
            self.room = Vec::new();
        }
    }
}

/// Appends one gzip member that holds `bytes`, and returns its length.
pub fn append_member(bytes: &[u8], effort: Effort, out: &mut Vec<u8>) -> u64 {
    let packer = match effort {
        Effort::Stored => &STORER,
        Effort::Packed => &PACKER,
    };
    packer.with_borrow_mut(|packer| {
        let member = packer.pack(bytes);
        let length = member.len() as u64;
        out.extend_from_slice(member);
        packer.tidy();
        length
    })
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn members_follow_each_other_and_read_back() {
        let text = "the same again and ".repeat(5_000);
        let mut out = Vec::new();
        let stored = append_member(text.as_bytes(), Effort::Stored, &mut out);
        let packed = append_member(text.as_bytes(), Effort::Packed, &mut out);
        append_member(b"", Effort::Packed, &mut out);
        assert!(packed < stored / 10 && stored > text.len() as u64);
        let mut back = String::new();
        flate2::read::MultiGzDecoder::new(&out[..]).read_to_string(&mut back).unwrap();
        assert_eq!(back, text.repeat(2));
    }
}
