//! Frames of HTTP/2 (RFC 9113) by hand, so that they can also be wrong.
//!
//! Only as much as a small server needs: what a client sends is told apart by type and stream; its header
//! blocks are not decoded.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PUSH_PROMISE: u8 = 5;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const CONTINUATION: u8 = 9;

pub(super) const END_STREAM: u8 = 1;
pub(super) const ACK: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;

/// What a client says first (section 3.4).
pub(super) const PREFACE_BYTES: usize = 24;
/// No client sends a larger frame before it was allowed to.
const FRAME_BYTES_MAX: usize = 16_384;

/// The part of a frame that a server looks at.
pub(super) struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Frame {
    /// Reads the next one; `None` when the client has left.
    pub async fn read(from: &mut (impl AsyncRead + Unpin)) -> Option<Self> {
        let mut head = [0; 9];
        from.read_exact(&mut head).await.ok()?;
        let [a, b, c, kind, flags, stream @ ..] = head;
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        let mut payload = vec![0; length.min(FRAME_BYTES_MAX)];
        from.read_exact(&mut payload).await.ok()?;
        Some(Self { kind, flags, stream: u32::from_be_bytes(stream) & 0x7fff_ffff, payload })
    }
}

/// The bytes of a frame.
pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX).to_be_bytes();
    let head = [length[1], length[2], length[3], kind, flags];
    [&head[..], &stream.to_be_bytes(), payload].concat()
}

/// A header block (RFC 7541) of literals: a status that the static table has, and fields.
pub(super) fn block(status: u16, fields: &[(&str, &str)]) -> Vec<u8> {
    let mut out = vec![if status == 200 { 0x88 } else { 0x8d }];
    for (name, value) in fields {
        out.push(0);
        text(&mut out, name);
        text(&mut out, value);
    }
    out
}

/// A string without Huffman coding.
pub(super) fn text(out: &mut Vec<u8>, text: &str) {
    let length = text.len();
    if length < 127 {
        out.push(length as u8);
    } else {
        out.push(127);
        let mut rest = length - 127;
        while rest >= 128 {
            out.push((rest % 128) as u8 | 0x80);
            rest /= 128;
        }
        out.push(rest as u8);
    }
    out.extend_from_slice(text.as_bytes());
}

/// Waits for what a client says first.
pub(super) async fn read_preface(from: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
    from.read_exact(&mut [0; PREFACE_BYTES]).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_texts_are_written_as_their_standards_say() {
        let bytes = frame(SETTINGS, ACK, 0, b"");
        assert_eq!(bytes, [0, 0, 0, 4, 1, 0, 0, 0, 0]);
        let mut out = Vec::new();
        text(&mut out, &"x".repeat(1_337));
        assert_eq!(out[..3], [127, 0xba, 0x09]);
    }
}
