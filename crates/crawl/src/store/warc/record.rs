//! Visits as WARC 1.1 records: pure, bytes out.
//!
//! A visit with an exchange gives a response (or, where the payload is archived already, a revisit), the
//! request, and a metadata record; one without gives nothing. The block of a response is what came over
//! the wire, unchanged, transfer encoding included, and its payload digest is over exactly the bytes
//! that follow the head in the block. A file of this machine was neither asked for nor answered: it gives
//! a resource, whose block is the file, and no request.

use larm_core::digest::Sha1Digest;
use larm_core::{Lookup, Millis, Protocol};
use uuid::Uuid;

use crate::store::gzip::{Effort, append_member};
use crate::store::json::push_number;
use crate::store::plan::StorePlan;
use crate::store::sink::Encoded;
use crate::store::visit::{Exchange, SameAs, Visit};

const HTTP_RESPONSE: &str = "application/http;msgtype=response";
const HTTP_REQUEST: &str = "application/http;msgtype=request";
const FIELDS: &str = "application/warc-fields";
/// What a look-up's record holds.
pub const TEXT_DNS: &str = "text/dns";
const CONFORMS_TO: &str =
    "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/";
const IDENTICAL_PAYLOAD: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";

/// Packed, a page takes about one byte in so many.
const PACKED_TO: usize = 3;
/// About what request and metadata take.
const SMALL_RECORDS_BYTES: usize = 2 * 1024;
/// More than most headers take, and all small records.
const HEAD_BYTES: usize = 1024;
/// Behind the block of a record.
const RECORD_END: &[u8] = b"\r\n\r\n";

/// All records of a visit, one gzip member each; the first is what an index points at.
///
/// Request and metadata are some 600 bytes each. Packing them takes a ninth of the time of all that is
/// done for a page, since a compressor starts by clearing its tables, and saves a third of them.
pub fn encode(visit: &Visit) -> Encoded {
    let mut encoded = Encoded::default();
    let Some(exchange) = visit.exchange.as_ref().filter(|exchange| is_kept(exchange)) else {
        return encoded;
    };
    let response_bytes = exchange.wire().response.len();
    encoded.bytes.reserve(response_bytes / PACKED_TO + SMALL_RECORDS_BYTES);
    let mut add = |record: &[&[u8]], effort| {
        encoded.parts.push(append_member(record, effort, &mut encoded.bytes));
    };
    let response = Common::of(visit, exchange);
    let mut room = Vec::with_capacity(HEAD_BYTES);
    let (block, effort) = match visit.revisit_of() {
        Some(original) => response.write_revisit(original, &mut room),
        None if is_file(exchange) => response.write_resource(&mut room),
        None => response.write_response(&mut room),
    };
    add(&[&room, block, RECORD_END], effort);
    if !exchange.wire().request.is_empty() {
        response.write_request(&mut room);
        add(&[&room], Effort::Stored);
    }
    response.write_metadata(&mut room);
    add(&[&room], Effort::Stored);
    encoded
}

/// What name servers said, as the record of a `dns:` URI (RFC 4501). One gzip member.
pub fn lookup(lookup: &Lookup) -> Vec<u8> {
    let block = lookup_block(lookup);
    let (mut record, mut out) = (Vec::new(), Vec::new());
    let mut fields = Fields::begin(&mut record, "response", &RecordId::new(), lookup.at);
    fields.add("WARC-Target-URI", lookup_uri(lookup));
    fields.add_some("WARC-IP-Address", lookup.server.map(|server| server.to_string()));
    fields.add("Content-Type", TEXT_DNS);
    fields.add("WARC-Payload-Digest", Sha1Digest::of(&block).labelled());
    fields.end_with_digest(&block);
    append_member(&[&record], Effort::Packed, &mut out);
    out
}

/// `dns:example.com`.
pub fn lookup_uri(lookup: &Lookup) -> String {
    format!("dns:{}", lookup.host)
}

/// The time, then the records as zone files have them (RFC 4027), as archives have long written them.
pub fn lookup_block(lookup: &Lookup) -> Vec<u8> {
    let mut block = lookup.at.compact() + "\n";
    for record in &lookup.records {
        // A control character in a name would begin a line of its own.
        block.extend(record.chars().filter(|c| *c == '\t' || !c.is_control()));
        block.push('\n');
    }
    block.into_bytes()
}

/// Whether there is something to keep: an answer, or a file. A link to a file has no bytes of its own.
fn is_kept(exchange: &Exchange) -> bool {
    match is_file(exchange) {
        true => exchange.wire().status == 200,
        false => !exchange.head().is_empty(),
    }
}

fn is_file(exchange: &Exchange) -> bool {
    exchange.wire().protocol == Protocol::File
}

/// The record that begins each file: by whom, with what, under which rules. One gzip member.
pub fn warcinfo(plan: &StorePlan, file_name: &str, at: Millis) -> Vec<u8> {
    let (mut block, mut record, mut out) = (Vec::new(), Vec::new(), Vec::new());
    let mut said = Fields(&mut block);
    said.add("software", concat!("larm/", env!("CARGO_PKG_VERSION")));
    said.add("format", "WARC File Format 1.1");
    said.add("conformsTo", CONFORMS_TO);
    said.add("robots", &plan.robots);
    said.add("http-header-user-agent", &plan.user_agent);
    said.add("isPartOf", &plan.crawl_id);
    said.add_some("operator", plan.operator.as_deref());
    said.add_some("http-header-from", plan.contact.as_deref());
    let mut fields = Fields::begin(&mut record, "warcinfo", &RecordId::new(), at);
    fields.add("WARC-Filename", file_name);
    fields.add("Content-Type", FIELDS);
    fields.end_with_digest(&block);
    append_member(&[&record], Effort::Packed, &mut out);
    out
}

/// What the records of a visit have in common. Each is written into the same room, but for the block of an answer, which is
/// large and stays where it is.
struct Common<'a> {
    visit: &'a Visit,
    exchange: &'a Exchange,
    /// Of the first one, to which the others belong.
    id: RecordId,
    /// The other end, in words.
    address: Option<String>,
}

impl<'a> Common<'a> {
    fn of(visit: &'a Visit, exchange: &'a Exchange) -> Self {
        let address = exchange.wire().peer.map(|peer| peer.ip().to_string());
        Self { visit, exchange, id: RecordId::new(), address }
    }

    fn write_response(&self, room: &mut Vec<u8>) -> (&'a [u8], Effort) {
        let mut fields = self.begin_answer(room, "response");
        fields.add("Content-Type", HTTP_RESPONSE);
        fields.add_some("WARC-Truncated", self.exchange.wire().truncated.map(|why| why.word()));
        (fields.end_before(&self.exchange.wire().response), effort_for(self.exchange))
    }

    /// WARC 1.1 section 6.4: a block without a protocol around it, of the type that it is.
    fn write_resource(&self, room: &mut Vec<u8>) -> (&'a [u8], Effort) {
        let wire = self.exchange.wire();
        let mut fields = self.begin_answer(room, "resource");
        fields.add_some("Content-Type", wire.content_type.as_deref());
        fields.add_some("WARC-Truncated", wire.truncated.map(|why| why.word()));
        (fields.end_before(self.exchange.payload()), effort_for(self.exchange))
    }

    /// The head is kept: it is what this server said this time. WARC 1.1 section 6.7.2 asks for the
    /// truncation to be named.
    fn write_revisit(&self, original: &SameAs, room: &mut Vec<u8>) -> (&'a [u8], Effort) {
        let mut fields = self.begin_answer(room, "revisit");
        if !is_file(self.exchange) {
            fields.add("Content-Type", HTTP_RESPONSE);
        }
        fields.add("WARC-Profile", IDENTICAL_PAYLOAD);
        fields.add("WARC-Refers-To-Target-URI", &original.url);
        fields.add("WARC-Refers-To-Date", original.at.rfc3339());
        fields.add("WARC-Truncated", "length");
        fields.add_digest(self.exchange.head());
        (fields.end_before(self.exchange.head()), Effort::Packed)
    }

    fn write_request(&self, room: &mut Vec<u8>) {
        let mut fields = self.begin(room, "request", &RecordId::new());
        fields.add("WARC-Concurrent-To", self.id.0);
        self.add_way(&mut fields);
        fields.add("Content-Type", HTTP_REQUEST);
        fields.end_with_digest(&self.exchange.wire().request);
    }

    fn write_metadata(&self, room: &mut Vec<u8>) {
        let mut block = Vec::with_capacity(HEAD_BYTES);
        self.add_metadata(&mut Fields(&mut block));
        let mut fields = self.begin(room, "metadata", &RecordId::new());
        fields.add("WARC-Concurrent-To", self.id.0);
        fields.add("Content-Type", FIELDS);
        fields.end_with_digest(&block);
    }

    fn add_metadata(&self, fields: &mut Fields<'_>) {
        let visit = self.visit;
        fields.add_some("via", visit.parent.as_deref());
        fields.add("found", visit.via.word());
        fields.number("depth", visit.depth.into());
        fields.number("tries", visit.tries.into());
        fields.number("fetchTimeMs", visit.timings.total_ms);
        fields.some_number("connectTimeMs", visit.timings.connect_ms);
        fields.some_number("firstByteTimeMs", visit.timings.first_byte_ms);
        fields.number("outlinks", visit.links.len() as u64);
        for fact in &visit.facts {
            fields.add(&fact.name, &*fact.value);
        }
        for note in &visit.notes {
            fields.add("note", note);
        }
    }

    fn begin<'r>(&self, room: &'r mut Vec<u8>, kind: &str, id: &RecordId) -> Fields<'r> {
        let mut fields = Fields::begin(room, kind, id, self.visit.at);
        fields.add("WARC-Target-URI", self.visit.url.as_str());
        fields
    }

    fn begin_answer<'r>(&self, room: &'r mut Vec<u8>, kind: &str) -> Fields<'r> {
        let mut fields = self.begin(room, kind, &self.id);
        fields.add("WARC-Payload-Digest", self.exchange.payload_digest().labelled());
        self.add_way(&mut fields);
        fields
    }

    fn add_way(&self, fields: &mut Fields<'_>) {
        fields.add_some("WARC-IP-Address", self.address.as_deref());
        fields.add("WARC-Protocol", self.exchange.wire().protocol.word());
    }
}

/// Bodies that are compressed already do not get smaller, only slower.
fn effort_for(exchange: &Exchange) -> Effort {
    let encoded = exchange.header("content-encoding").is_some_and(|encoding| {
        let encoding = encoding.to_ascii_lowercase();
        ["gzip", "br", "zstd", "deflate", "compress"].iter().any(|name| encoding.contains(name))
    });
    if encoded || exchange.wire().content_type.as_deref().is_some_and(is_compressed_type) {
        Effort::Stored
    } else {
        Effort::Packed
    }
}

fn is_compressed_type(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let compressed_image = essence.starts_with("image/")
        && !["image/svg+xml", "image/bmp", "image/x-icon", "image/vnd.microsoft.icon"]
            .contains(&essence.as_str());
    compressed_image
        || essence.starts_with("video/")
        || matches!(
            essence.as_str(),
            "audio/mpeg" | "audio/mp4" | "audio/ogg" | "audio/aac" | "audio/webm" | "audio/flac"
        )
        || matches!(essence.as_str(), "font/woff" | "font/woff2")
        || ["zip", "gzip", "x-gzip", "x-bzip2", "x-xz", "zstd", "x-7z-compressed"]
            .iter()
            .any(|kind| essence.strip_prefix("application/") == Some(kind))
}

/// `<urn:uuid:…>`, never the same twice.
struct RecordId([u8; 47]);

impl RecordId {
    fn new() -> Self {
        let mut text = *b"<urn:uuid:------------------------------------>";
        Uuid::new_v4().hyphenated().encode_lower(&mut text[10..46]);
        Self(text)
    }
}

/// Lines of `name: value`, at the end of what they are written to.
struct Fields<'a>(&'a mut Vec<u8>);

impl<'a> Fields<'a> {
    /// The header of a record, which is all that `room` holds from here on.
    fn begin(room: &'a mut Vec<u8>, kind: &str, id: &RecordId, at: Millis) -> Self {
        room.clear();
        room.extend_from_slice(b"WARC/1.1\r\n");
        let mut fields = Self(room);
        fields.add("WARC-Type", kind);
        fields.add("WARC-Record-ID", id.0);
        fields.add("WARC-Date", at.rfc3339());
        fields
    }

    /// Adds a line. A control character in the value becomes a space: no value can begin a line.
    fn add(&mut self, name: &str, value: impl AsRef<[u8]>) {
        self.name(name);
        let begin = self.0.len();
        self.0.extend_from_slice(value.as_ref());
        self.0[begin..].iter_mut().filter(|byte| byte.is_ascii_control()).for_each(|c| *c = b' ');
        self.0.extend_from_slice(b"\r\n");
    }

    fn add_some(&mut self, name: &str, value: Option<impl AsRef<[u8]>>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }

    fn number(&mut self, name: &str, value: u64) {
        self.name(name);
        push_number(self.0, value);
        self.0.extend_from_slice(b"\r\n");
    }

    fn some_number(&mut self, name: &str, value: Option<u64>) {
        if let Some(value) = value {
            self.number(name, value);
        }
    }

    fn name(&mut self, name: &str) {
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b": ");
    }

    fn add_digest(&mut self, block: &[u8]) {
        self.add("WARC-Block-Digest", Sha1Digest::of(block).labelled());
    }

    /// The rest of a record with a small block.
    fn end_with_digest(mut self, block: &[u8]) {
        self.add_digest(block);
        self.number("Content-Length", block.len() as u64);
        self.0.extend_from_slice(b"\r\n");
        self.0.extend_from_slice(block);
        self.0.extend_from_slice(RECORD_END);
    }

    /// The end of the fields, before a block that stands elsewhere. A response has no digest of its block: a payload
    /// digest, and the checksum of the gzip member, cover it already, and hashing it twice took a thirtieth of all
    /// work for a page.
    fn end_before(mut self, block: &[u8]) -> &[u8] {
        self.number("Content-Length", block.len() as u64);
        self.0.extend_from_slice(b"\r\n");
        block
    }
}
