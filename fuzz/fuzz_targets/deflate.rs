//! Any bytes read back as they were packed, whatever the packer packed before.
#![no_main]

use larm_core::deflate::Packer;
use libdeflater::Decompressor;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|inputs: Vec<(&[u8], u16)>| {
    let mut packer = Packer::default();
    for (bytes, times) in inputs {
        // Long inputs out of few bytes: some cross the pieces that an input is packed in.
        let input = bytes.repeat(1 + usize::from(times) % 1_024);
        let mut out = Vec::new();
        packer.pack(&[&input], &mut out);
        let mut back = vec![0; input.len()];
        let read = Decompressor::new().deflate_decompress(&out, &mut back);
        assert_eq!(read, Ok(input.len()));
        assert_eq!(back, input);
    }
});
