//! Content encodings off (after step 7 of the line): gzip, deflate, br, zstd.
//!
//! A body may be a bomb: decoding stops at `body_decoded_bytes_max`, and, past the first MiB, at
//! `body_ratio_max` times what was sent. It may also be broken: what could be decoded before that is
//! given, with a note. Nothing here fails, and a body without encodings is not copied.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, Read};

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use larm_core::Limits;
use libdeflater::Decompressor;

/// Encodings on top of each other that are still taken off.
const LAYERS_MAX: usize = 3;
/// Bytes that may come out whatever the ratio.
const FREE_BYTES: u64 = 1024 * 1024;
/// Bytes decoded per call.
const STEP_BYTES: usize = 16 * 1024;
/// RFC 9659 section 3: windows above 8 MiB are not for the web.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// What a gzip member that is deflated begins with.
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b, 0x08];

thread_local! {
    // Its tables are made once per thread, not once per body.
    static INFLATER: RefCell<Decompressor> = RefCell::new(Decompressor::new());
}

/// A body without its content encodings.
#[derive(Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// The bytes; borrowed where nothing had to be decoded.
    pub bytes: Cow<'a, [u8]>,
    /// What kept it from being whole, if anything did.
    pub note: Option<&'static str>,
}

/// What a gzip file holds, up to `bytes_max`; of a broken one, what could be read.
pub fn gunzip(bytes: &[u8], bytes_max: u64) -> Vec<u8> {
    let mut unpacked = Vec::new();
    let mut reader = flate2::read::MultiGzDecoder::new(bytes).take(bytes_max);
    // A file that breaks off is no error of ours: its first part is as good as it gets.
    let _ = reader.read_to_end(&mut unpacked);
    unpacked
}

/// Takes the encodings that the headers name off `payload`, the last one first.
pub(super) fn decode<'a>(payload: &'a [u8], headers: &HeaderMap, limits: &Limits) -> Decoded<'a> {
    let mut decoded = Decoded { bytes: Cow::Borrowed(payload), note: None };
    let encodings = encodings(headers);
    if encodings.len() > LAYERS_MAX {
        decoded.note = Some("more than three content encodings; the body was left as it came");
        return decoded;
    }
    let bytes_max = decoded_bytes_max(payload.len(), limits);
    for encoding in encodings.iter().rev() {
        if decoded.bytes.is_empty() {
            break;
        }
        match take_off(encoding, &decoded.bytes, bytes_max) {
            // Of two layers that are both cut, the outer one is the cause.
            Ok((body, end)) => {
                decoded = Decoded { bytes: Cow::Owned(body), note: decoded.note.or(end.note()) };
            }
            Err(note) => {
                return Decoded { note: decoded.note.or(Some(note)), ..decoded };
            }
        }
    }
    decoded
}

/// In the order in which they were applied (RFC 9110 section 8.4).
fn encodings(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(http::header::CONTENT_ENCODING).iter();
    let texts = values.filter_map(|value| value.to_str().ok());
    let names = texts.flat_map(|text| text.split(',')).map(|name| name.trim().to_ascii_lowercase());
    names.filter(|name| !matches!(name.as_str(), "" | "identity" | "none")).collect()
}

fn decoded_bytes_max(sent: usize, limits: &Limits) -> usize {
    let by_ratio = (sent as u64).saturating_mul(limits.body_ratio_max).max(FREE_BYTES);
    usize::try_from(by_ratio.min(limits.body_decoded_bytes_max)).unwrap_or(usize::MAX)
}

/// The body with one layer less, or why that layer stays.
fn take_off(encoding: &str, body: &[u8], bytes_max: usize) -> Result<(Vec<u8>, End), &'static str> {
    let (decoded, end) = match encoding {
        "gzip" | "x-gzip" => match inflate_whole(body, bytes_max) {
            Some(decoded) => (decoded, End::Whole),
            None => read_all(MultiGzDecoder::new(body), bytes_max),
        },
        "deflate" => inflate(body, bytes_max),
        "br" => read_all(brotli::Decompressor::new(body, STEP_BYTES), bytes_max),
        "zstd" => unzstd(body, bytes_max),
        _ => return Err("unknown content encoding; the body was left as it came"),
    };
    // Some servers announce an encoding and send plain bytes.
    if end == End::Broken && decoded.is_empty() {
        return Err("the body is not encoded as announced; it was left as it came");
    }
    Ok((decoded, end))
}

/// A gzip body that is one member, whole and within the limits: at once and in half the time. All
/// others are read step by step.
fn inflate_whole(body: &[u8], bytes_max: usize) -> Option<Vec<u8>> {
    // A member ends with the length of what it holds (RFC 1952 section 2.3.1).
    let length = usize::try_from(u32::from_le_bytes(*body.last_chunk()?)).ok()?;
    let another = memchr::memmem::find(body.get(1..)?, GZIP_MAGIC);
    if length > bytes_max || another.is_some() {
        return None;
    }
    let mut decoded = vec![0; length];
    let result = INFLATER.with_borrow_mut(|inflater| inflater.gzip_decompress(body, &mut decoded));
    result.is_ok_and(|bytes| bytes == length).then_some(decoded)
}

/// `deflate` means zlib (RFC 9110 section 8.4.1.2), and is raw deflate often enough.
fn inflate(body: &[u8], bytes_max: usize) -> (Vec<u8>, End) {
    if has_zlib_header(body) {
        let (decoded, end) = read_all(ZlibDecoder::new(body), bytes_max);
        if end != End::Broken || !decoded.is_empty() {
            return (decoded, end);
        }
    }
    read_all(DeflateDecoder::new(body), bytes_max)
}

/// RFC 1950 section 2.2: method 8, and a check that divides by 31.
fn has_zlib_header(body: &[u8]) -> bool {
    matches!(body, [method, flags, ..]
        if method & 0x0f == 8 && u16::from_be_bytes([*method, *flags]) % 31 == 0)
}

fn unzstd(body: &[u8], bytes_max: usize) -> (Vec<u8>, End) {
    let decoder = zstd::stream::read::Decoder::with_buffer(body).and_then(|mut decoder| {
        decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
        Ok(decoder)
    });
    match decoder {
        Ok(decoder) => read_all(decoder, bytes_max),
        Err(_) => (Vec::new(), End::Broken),
    }
}

/// How a stream of encoded bytes ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Whole,
    Full,
    Broken,
}

impl End {
    fn note(self) -> Option<&'static str> {
        match self {
            Self::Whole => None,
            Self::Full => Some("the decoded body is beyond the limits; the rest was left out"),
            Self::Broken => {
                Some("the encoded body is cut or broken; the rest could not be decoded")
            }
        }
    }
}

/// Reads in small steps: a decoder that hits an error loses the bytes of that step.
fn read_all(mut decoder: impl Read, bytes_max: usize) -> (Vec<u8>, End) {
    let mut out = Vec::new();
    loop {
        let start = out.len();
        if start > bytes_max {
            out.truncate(bytes_max);
            return (out, End::Full);
        }
        out.resize(start + STEP_BYTES, 0);
        let result = read_some(&mut decoder, &mut out[start..]);
        out.truncate(start + result.as_ref().map_or(0, |&count| count));
        match result {
            Ok(0) => return (out, End::Whole),
            Ok(_) => {}
            Err(_) => return (out, End::Broken),
        }
    }
}

fn read_some(decoder: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match decoder.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests;
