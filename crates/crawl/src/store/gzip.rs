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

thread_local! {
    // A compressor is some hundred KiB of tables: made once per thread, not once per record.
    static STORER: RefCell<Compressor> = RefCell::new(compressor(STORED));
    static PACKER: RefCell<Compressor> = RefCell::new(compressor(PACKED));
}

fn compressor(level: i32) -> Compressor {
    Compressor::new(CompressionLvl::new(level).expect("a level that libdeflate has"))
}

/// Appends one gzip member that holds `bytes`, and returns its length.
pub fn append_member(bytes: &[u8], effort: Effort, out: &mut Vec<u8>) -> u64 {
    let compressor = match effort {
        Effort::Stored => &STORER,
        Effort::Packed => &PACKER,
    };
    compressor.with_borrow_mut(|compressor| {
        let begin = out.len();
        out.resize(begin + compressor.gzip_compress_bound(bytes.len()), 0);
        let written = compressor.gzip_compress(bytes, &mut out[begin..]);
        let written = written.expect("a member fits into its bound");
        out.truncate(begin + written);
        written as u64
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
