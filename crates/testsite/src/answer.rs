//! What was asked, and the bytes of the answer: head, body, coding, chunks.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};

use crate::exchange::Exchange;
use crate::hostile::{self, Moment};
use crate::html::{self, relative};
use crate::resource::{Coding, Form, Link, Reply, Resource, RetryAfter};
use crate::server::rest;
use crate::web::Web;

/// Drops of a slow body, and the wait before each.
const DROPS: usize = 10;
const DROP_WAIT: Duration = Duration::from_millis(50);

/// A request as far as it matters.
pub(crate) struct Ask<'a> {
    pub path: &'a str,
    pub agent: &'a str,
    /// In lower case, without port.
    pub host: String,
    head_only: bool,
    close: bool,
    accepts: String,
}

impl<'a> Ask<'a> {
    /// Reads a head; `None` when it is no HTTP/1 request.
    pub fn parse(head: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(head).ok()?;
        let mut lines = text.split("\r\n");
        let mut first = lines.next()?.split(' ');
        let (method, path) = (first.next()?, first.next()?);
        let old = first.next()? == "HTTP/1.0";
        let head_only = method == "HEAD";
        let (host, accepts) = (String::new(), String::new());
        let mut ask = Self { path, agent: "", host, head_only, close: old, accepts };
        lines
            .filter_map(|line| line.split_once(':'))
            .for_each(|(name, value)| ask.field(name, value));
        Some(ask)
    }

    fn field(&mut self, name: &str, value: &'a str) {
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "host" => self.host = without_port(value).to_ascii_lowercase(),
            "user-agent" => self.agent = value,
            "accept-encoding" => self.accepts = value.to_ascii_lowercase(),
            "connection" => self.close = value.eq_ignore_ascii_case("close"),
            _ => {}
        }
    }

    fn accepts(&self, coding: Coding) -> bool {
        match coding {
            Coding::Identity => true,
            Coding::Gzip => self.accepts.contains("gzip"),
            Coding::Deflate => self.accepts.contains("deflate"),
        }
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// What to answer this time.
pub(crate) struct Turn {
    /// The host whose content it is.
    pub host: usize,
    pub resource: Resource,
    pub status: u16,
    /// How often it was asked for before, where that matters.
    pub tries: u32,
}

impl Turn {
    /// The reply of this try: what is flaky has two.
    fn reply(&self) -> &Reply {
        match &self.resource.reply {
            Reply::Flaky { first, then, .. } if *first != self.status => then,
            reply => reply,
        }
    }
}

/// Sends an answer; `true` when the connection can take another request.
pub(crate) async fn send(
    web: &Web,
    exchange: &mut Exchange<'_>,
    ask: &Ask<'_>,
    turn: Turn,
) -> io::Result<bool> {
    if let Reply::Bad(bad) = turn.resource.reply {
        let moment = Moment { path: ask.path, tries: turn.tries };
        hostile::misbehave(exchange, bad, moment).await?;
        return Ok(false);
    }
    let delivery = &turn.resource.delivery;
    let coding = if ask.accepts(delivery.coding) { delivery.coding } else { Coding::Identity };
    let body = encoded(body(web, ask.path, &turn), coding);
    let close = delivery.close || ask.close;
    let mut head = head(web, ask.path, &turn);
    coding_fields(&mut head, coding);
    let _ = match delivery.chunked {
        true => write!(head, "Transfer-Encoding: chunked\r\n"),
        false => write!(head, "Content-Length: {}\r\n", body.len()),
    };
    head.push_str(if close { "Connection: close\r\n\r\n" } else { "\r\n" });
    let body: &[u8] = if ask.head_only { b"" } else { &body };
    match (delivery.drip, delivery.chunked && !ask.head_only) {
        (true, chunked) => drip(exchange, &head, body, chunked).await?,
        (false, true) => exchange.last(&[head.as_bytes(), &chunks(body, 1_000)].concat()).await?,
        (false, false) => exchange.last(&[head.as_bytes(), body].concat()).await?,
    }
    Ok(!close)
}

/// The entity of an answer, before any coding.
pub(crate) fn body<'r>(web: &Web, path: &str, turn: &'r Turn) -> Cow<'r, [u8]> {
    match turn.reply() {
        Reply::Html(page) => html::render(web, turn.host, path, page).into(),
        Reply::Bytes { body, .. } => body.as_slice().into(),
        _ => status_page(turn.status).into(),
    }
}

fn status_page(status: u16) -> Vec<u8> {
    let title = reason(status);
    format!("<!DOCTYPE html>\n<title>{status} {title}</title>\n<h1>{title}</h1>\n").into_bytes()
}

/// Status line and header fields, up to those that depend on the client.
fn head(web: &Web, path: &str, turn: &Turn) -> String {
    let mut head = format!("HTTP/1.1 {} {}\r\n", turn.status, reason(turn.status));
    let content_type = turn.resource.delivery.content_type.unwrap_or_else(|| usual_type(turn));
    if !content_type.is_empty() {
        let _ = write!(head, "Content-Type: {content_type}\r\n");
    }
    match turn.reply() {
        Reply::Redirect { to, .. } => {
            let _ = write!(head, "Location: {}\r\n", location(web, path, to));
        }
        Reply::Flaky { retry_after, .. } => head.push_str(&retry_field(*retry_after)),
        _ => {}
    }
    for line in &turn.resource.delivery.headers {
        let _ = write!(head, "{line}\r\n");
    }
    head
}

fn usual_type(turn: &Turn) -> &'static str {
    match turn.reply() {
        Reply::Html(page) => page.charset.content_type(),
        Reply::Bytes { content_type, .. } => content_type,
        _ => "text/html; charset=utf-8",
    }
}

fn location(web: &Web, path: &str, to: &Link) -> String {
    match to.form {
        Form::Absolute => web.url(to.host, &to.path),
        Form::Relative => relative(path, &to.path),
        _ => to.path.clone(),
    }
}

fn coding_fields(head: &mut String, coding: Coding) {
    head.push_str(match coding {
        Coding::Identity => "",
        Coding::Gzip => "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n",
        Coding::Deflate => "Content-Encoding: deflate\r\nVary: Accept-Encoding\r\n",
    });
}

fn encoded(body: Cow<'_, [u8]>, coding: Coding) -> Cow<'_, [u8]> {
    let packed = match coding {
        Coding::Identity => return body,
        Coding::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&body).and_then(|()| encoder.finish())
        }
        // "deflate" is zlib by RFC 9110 section 8.4.1.2.
        Coding::Deflate => {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&body).and_then(|()| encoder.finish())
        }
    };
    packed.expect("memory takes all bytes").into()
}

/// The body as chunks of at most `size` bytes, with the last one.
fn chunks(body: &[u8], size: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + body.len() / size * 8 + 16);
    for chunk in body.chunks(size) {
        out.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
    out
}

/// Head at once, body in drops.
async fn drip(
    exchange: &mut Exchange<'_>,
    head: &str,
    body: &[u8],
    chunked: bool,
) -> io::Result<()> {
    let wire = if chunked { chunks(body, 100).into() } else { Cow::Borrowed(body) };
    exchange.send(head.as_bytes()).await?;
    let mut drops = wire.chunks(wire.len().div_ceil(DROPS).max(1)).peekable();
    while let Some(drop) = drops.next() {
        rest(DROP_WAIT).await;
        if drops.peek().is_none() {
            return exchange.last(drop).await;
        }
        exchange.send(drop).await?;
    }
    exchange.last(b"").await
}

fn retry_field(retry_after: RetryAfter) -> String {
    match retry_after {
        RetryAfter::None => String::new(),
        RetryAfter::Seconds(seconds) => format!("Retry-After: {seconds}\r\n"),
        RetryAfter::Date(seconds) => format!("Retry-After: {}\r\n", http_date_in(seconds)),
    }
}

/// The HTTP date (RFC 9110 section 5.6.7) that lies at least this many seconds ahead.
#[expect(clippy::disallowed_methods, reason = "an HTTP date is wall-clock time")]
pub(crate) fn http_date_in(seconds: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    http_date(now.as_secs() + 1 + seconds)
}

fn http_date(unix: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (days, second) = (unix / 86_400, unix % 86_400);
    // Civil date from days, counted in years that begin in March, so that leap days come last.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12;
    let year = era * 400 + year_of_era + u64::from(month < 2);
    let (weekday, month) = (DAYS[(days % 7) as usize], MONTHS[month as usize]);
    let (h, m, s) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{weekday}, {day:02} {month} {year} {h:02}:{m:02}:{s:02} GMT")
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        301 => "Moved Permanently",
        302 => "Found",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        403 => "Forbidden",
        404 => "Not Found",
        410 => "Gone",
        414 => "URI Too Long",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_http_has_them() {
        let rows = [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_735_689_599, "Tue, 31 Dec 2024 23:59:59 GMT"),
        ];
        for (unix, expected) in rows {
            assert_eq!(http_date(unix), expected);
        }
    }

    #[test]
    fn a_host_field_loses_its_port() {
        let rows = [("h.test:80", "h.test"), ("127.0.0.1:9", "127.0.0.1"), ("h.test", "h.test")];
        for (field, name) in rows {
            assert_eq!(without_port(field), name);
        }
    }
}
