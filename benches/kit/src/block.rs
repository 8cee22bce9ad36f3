//! Pieces of pages that are compressed once and put together many times.
//!
//! A deflate stream that ends with a sync flush ends on a byte and refers to nothing outside itself, so
//! flushed pieces in a row are again a deflate stream; the checksum of the whole is computed from those
//! of the pieces. A gzip answer therefore costs the server no compression.

use std::io::Write;

use crc32fast::Hasher;
use flate2::{Compress, Compression, FlushCompress};

/// The first ten bytes of a gzip member: deflate, no name, no time, system unknown.
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// An empty deflate block that says that it is the last.
const LAST_BLOCK: [u8; 2] = [3, 0];

/// Bytes, and the same as a piece of a deflate stream.
pub struct Block {
    /// As they are.
    pub plain: Vec<u8>,
    /// Deflated and flushed; empty if nobody asked for it.
    pub deflated: Vec<u8>,
    crc: Hasher,
}

impl Block {
    /// Deflated only if `gzip`.
    pub fn new(plain: Vec<u8>, gzip: bool) -> Self {
        let mut crc = Hasher::new();
        crc.update(&plain);
        let deflated = if gzip { deflate(&plain) } else { Vec::new() };
        Self { plain, deflated, crc }
    }
}

fn deflate(plain: &[u8]) -> Vec<u8> {
    let mut state = Compress::new(Compression::new(6), false);
    let mut out = Vec::with_capacity(plain.len() + 64);
    state.compress_vec(plain, &mut out, FlushCompress::Sync).expect("memory is enough");
    assert!(state.total_in() == plain.len() as u64, "the room was large enough");
    out
}

/// Begins a gzip member with a stored (not compressed) block of `plain`, which is short.
pub fn begin_gzip(plain: &[u8], out: &mut Vec<u8>) {
    let length = u16::try_from(plain.len()).expect("a stored block is shorter than 64 KiB");
    out.extend_from_slice(&GZIP_HEADER);
    out.push(0);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&(!length).to_le_bytes());
    out.extend_from_slice(plain);
}

/// What ends the member: the last block, checksum and length of the beginning and all blocks.
pub fn end_gzip<'a>(beginning: &[u8], blocks: impl Iterator<Item = &'a Block>) -> [u8; 10] {
    let mut crc = Hasher::new();
    crc.update(beginning);
    let mut length = beginning.len();
    for block in blocks {
        crc.combine(&block.crc);
        length += block.plain.len();
    }
    let mut end = [0; 10];
    let mut rest = &mut end[..];
    let fields = [&LAST_BLOCK[..], &crc.finalize().to_le_bytes(), &(length as u32).to_le_bytes()];
    fields.iter().for_each(|field| rest.write_all(field).expect("ten bytes are enough"));
    end
}

/// How many times smaller the text becomes with libdeflate at this level.
pub fn ratio(plain: &[u8], level: i32) -> f64 {
    let level = libdeflater::CompressionLvl::new(level).expect("the level exists");
    let mut compressor = libdeflater::Compressor::new(level);
    let mut out = vec![0; compressor.deflate_compress_bound(plain.len())];
    let length = compressor.deflate_compress(plain, &mut out).expect("the room is enough");
    plain.len() as f64 / length as f64
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn blocks_in_a_row_are_one_gzip_member() {
        let blocks = [&b"first block "[..], b"second block"].map(|b| Block::new(b.to_vec(), true));
        let mut gzip = Vec::new();
        begin_gzip(b"beginning ", &mut gzip);
        blocks.iter().for_each(|block| gzip.extend_from_slice(&block.deflated));
        gzip.extend_from_slice(&end_gzip(b"beginning ", blocks.iter()));
        let mut text = String::new();
        flate2::read::GzDecoder::new(&gzip[..]).read_to_string(&mut text).unwrap();
        assert_eq!(text, "beginning first block second block");
    }
}
