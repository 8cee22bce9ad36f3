//! Trouble with content codings: bombs, streams that break off, layers upon layers, and lies.

use std::io::{self, Write};
use std::sync::OnceLock;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{family, with_fields};
use crate::exchange::Exchange;

/// What a bomb grows to.
pub const BOMB_BYTES: usize = 100_000_000;
/// Zeros are fed to the encoders in pieces of this size.
const PIECE_BYTES: usize = 1_000_000;
/// Layers of the deep ones.
const DEEP: usize = 10;

family! {
    /// Ways to code a body badly.
    Encoding {
        /// 100 KB of gzip that become 100 MB.
        GzipBomb = "gzip-bomb",
        /// Less than a KB of Brotli that become 100 MB.
        BrotliBomb = "brotli-bomb",
        /// A few KB of Zstandard that become 100 MB.
        ZstdBomb = "zstd-bomb",
        /// A bomb in gzip once more: a few hundred bytes.
        BombInGzip = "bomb-in-gzip",
        /// gzip that breaks off half way, in an answer that does not.
        CutGzip = "cut-gzip",
        /// The same in Brotli.
        CutBrotli = "cut-brotli",
        /// The same in Zstandard.
        CutZstd = "cut-zstd",
        /// gzip in gzip, and announced so.
        GzipInGzip = "gzip-in-gzip",
        /// Ten layers of gzip, and announced so.
        GzipTenDeep = "gzip-ten-deep",
        /// Ten layers of gzip, of which one is announced.
        GzipHidden = "gzip-hidden",
        /// Announced as gzip, and none.
        NotGzip = "not-gzip",
        /// A coding that there is not.
        UnknownCoding = "unknown-coding",
        /// gzip with a byte that is not what it was.
        DamagedGzip = "damaged-gzip",
    }
}

/// Sends a body whose coding is the trouble.
pub(super) async fn send(exchange: &mut Exchange<'_>, encoding: Encoding) -> io::Result<()> {
    let (coding, body) = coded(encoding);
    with_fields(exchange, &format!("Content-Encoding: {coding}\r\n"), &body).await
}

/// What the header says, and the body.
fn coded(encoding: Encoding) -> (String, Vec<u8>) {
    let body = match encoding {
        Encoding::GzipBomb => gzip_bomb().to_vec(),
        Encoding::BrotliBomb => brotli_bomb().to_vec(),
        Encoding::ZstdBomb => zstd_bomb().to_vec(),
        Encoding::BombInGzip => gzip(gzip_bomb()),
        Encoding::CutGzip => half(gzip(&text())),
        Encoding::CutBrotli => half(brotli(&text())),
        Encoding::CutZstd => half(zstd(&text())),
        Encoding::GzipInGzip => gzip(&gzip(&text())),
        Encoding::GzipTenDeep | Encoding::GzipHidden => {
            (0..DEEP).fold(text(), |body, _| gzip(&body))
        }
        Encoding::NotGzip | Encoding::UnknownCoding => text(),
        Encoding::DamagedGzip => damaged(gzip(&text())),
    };
    (announced(encoding), body)
}

fn announced(encoding: Encoding) -> String {
    match encoding {
        Encoding::BrotliBomb | Encoding::CutBrotli => "br".to_owned(),
        Encoding::ZstdBomb | Encoding::CutZstd => "zstd".to_owned(),
        Encoding::BombInGzip | Encoding::GzipInGzip => "gzip, gzip".to_owned(),
        Encoding::GzipTenDeep => ["gzip"; DEEP].join(", "),
        Encoding::UnknownCoding => "rot13".to_owned(),
        _ => "gzip".to_owned(),
    }
}

/// A page that does not repeat itself, so that half of it packed is about half of it.
fn text() -> Vec<u8> {
    let numbers =
        (0..20_000_u64).map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20).to_string());
    let words = numbers.collect::<Vec<_>>().join(" ");
    format!("<!DOCTYPE html><title>Packed</title><p>{words}</p>").into_bytes()
}

fn half(mut body: Vec<u8>) -> Vec<u8> {
    body.truncate(body.len() / 2);
    body
}

fn damaged(mut body: Vec<u8>) -> Vec<u8> {
    let middle = body.len() / 2;
    body[middle..middle + 64].fill(0xff);
    body
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).and_then(|()| encoder.finish()).expect(MEMORY)
}

fn brotli(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    brotli_into(&mut out).write_all(body).expect(MEMORY);
    out
}

fn brotli_into(out: &mut Vec<u8>) -> brotli::CompressorWriter<&mut Vec<u8>> {
    brotli::CompressorWriter::new(out, 4_096, 3, 22)
}

fn zstd(body: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(body, 3).expect(MEMORY)
}

const MEMORY: &str = "memory takes all bytes";
const HARMLESS: &[u8] = b"<!DOCTYPE html><title>Harmless</title><p>Just a moment.";

/// Zeros behind a little HTML, packed once for all.
fn gzip_bomb() -> &'static [u8] {
    static BOMB: OnceLock<Vec<u8>> = OnceLock::new();
    BOMB.get_or_init(|| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::new(4));
        fill(&mut encoder);
        encoder.finish().expect(MEMORY)
    })
}

fn brotli_bomb() -> &'static [u8] {
    static BOMB: OnceLock<Vec<u8>> = OnceLock::new();
    BOMB.get_or_init(|| {
        let mut out = Vec::new();
        fill(&mut brotli_into(&mut out));
        out
    })
}

fn zstd_bomb() -> &'static [u8] {
    static BOMB: OnceLock<Vec<u8>> = OnceLock::new();
    BOMB.get_or_init(|| {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect(MEMORY);
        fill(&mut encoder);
        encoder.finish().expect(MEMORY)
    })
}

fn fill(encoder: &mut impl Write) {
    let zeros = vec![0; PIECE_BYTES];
    encoder.write_all(HARMLESS).expect(MEMORY);
    (0..BOMB_BYTES / PIECE_BYTES).for_each(|_| encoder.write_all(&zeros).expect(MEMORY));
}
