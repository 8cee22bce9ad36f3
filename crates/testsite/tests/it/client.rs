//! A blocking HTTP client of a few lines, which takes whatever comes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use flate2::read::{GzDecoder, ZlibDecoder};
use larm_testsite::TestSite;
use url::Url;

/// What came back; `status` 0 when it was no HTTP.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
    /// All bytes as they came, up to the limit.
    pub raw: Vec<u8>,
}

impl Answer {
    /// The value of a header field.
    pub fn field(&self, name: &str) -> Option<&str> {
        let fields = self.head.lines().filter_map(|line| line.split_once(':'));
        fields
            .into_iter()
            .find(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
    }
}

/// More than this is not read of an answer.
pub const READ_MAX: u64 = 1_000_000;

/// Where a URL of the site is served.
pub fn address(site: &TestSite, url: &Url) -> SocketAddr {
    let name = url.host_str().unwrap();
    let rules = site.resolve_rules();
    let named = rules.iter().find(|(host, ..)| host == name).map(|(_, _, address)| *address);
    (named.unwrap_or_else(|| name.parse().unwrap()), site.port()).into()
}

/// Asks for a URL on a connection of its own.
pub fn get(site: &TestSite, url: &str) -> Answer {
    let url = Url::parse(url).unwrap();
    let Ok(mut stream) = TcpStream::connect(address(site, &url)) else {
        return Answer::default();
    };
    stream.write_all(request(&url, "Connection: close\r\n").as_bytes()).unwrap();
    let mut raw = Vec::new();
    // A reset after the last byte is one of the ways in which an answer may end.
    let _ = stream.take(READ_MAX).read_to_end(&mut raw);
    parse(raw)
}

/// The bytes of a request, with extra header lines.
pub fn request(url: &Url, fields: &str) -> String {
    let target = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let authority = &url[url::Position::BeforeHost..url::Position::BeforePath];
    format!(
        "GET {target} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: reference/1\r\n\
         Accept-Encoding: gzip, deflate\r\n{fields}\r\n"
    )
}

/// Takes an answer apart: head, chunks, coding.
pub fn parse(raw: Vec<u8>) -> Answer {
    let Some(end) = raw.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Answer { raw, ..Answer::default() };
    };
    let head = String::from_utf8_lossy(&raw[..end]).into_owned();
    let status = head.strip_prefix("HTTP/1.1 ").and_then(|rest| rest[..3].parse().ok());
    let mut answer = Answer { status: status.unwrap_or(0), head, ..Answer::default() };
    let body = &raw[end + 4..];
    let body = match answer.field("Transfer-Encoding") {
        Some(_) => unchunked(body),
        None => body.to_vec(),
    };
    answer.body = match answer.field("Content-Encoding") {
        Some("gzip") => inflated(GzDecoder::new(&body[..])),
        Some(_) => inflated(ZlibDecoder::new(&body[..])),
        None => body,
    };
    answer.raw = raw;
    answer
}

fn inflated(decoder: impl Read) -> Vec<u8> {
    let mut out = Vec::new();
    let _ = decoder.take(READ_MAX).read_to_end(&mut out);
    out
}

fn unchunked(mut wire: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(end) = wire.windows(2).position(|window| window == b"\r\n") {
        let size = usize::from_str_radix(&String::from_utf8_lossy(&wire[..end]), 16).unwrap_or(0);
        let Some(chunk) = wire.get(end + 2..end + 2 + size).filter(|_| size > 0) else {
            break;
        };
        out.extend_from_slice(chunk);
        wire = wire.get(end + 4 + size..).unwrap_or(&[]);
    }
    out
}
