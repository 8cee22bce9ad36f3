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

/// All records of a visit, one gzip member each; the first is what an index points at.
///
/// Request and metadata are some 600 bytes each. Packing them takes a ninth of the time of all that is
/// done for a page, since a compressor starts by clearing its tables, and saves a third of them.
pub fn encode(visit: &Visit) -> Encoded {
    let mut encoded = Encoded::default();
    let Some(exchange) = visit.exchange.as_ref().filter(|exchange| is_kept(exchange)) else {
        return encoded;
    };
    let id = RecordId::new();
    encoded.bytes.reserve(exchange.wire().response.len() / PACKED_TO + SMALL_RECORDS_BYTES);
    let mut add = |record: Vec<u8>, effort| {
        let bytes = append_member(&record, effort, &mut encoded.bytes);
        encoded.parts.push(bytes);
    };
    match visit.revisit_of() {
        Some(original) => add(revisit(visit, exchange, original, &id), Effort::Packed),
        None if is_file(exchange) => add(resource(visit, exchange, &id), effort_for(exchange)),
        None => add(response(visit, exchange, &id), effort_for(exchange)),
    }
    if !exchange.wire().request.is_empty() {
        add(request(visit, exchange, &id), Effort::Stored);
    }
    add(metadata(visit, &id), Effort::Stored);
    encoded
}

/// What name servers said, as the record of a `dns:` URI (RFC 4501). One gzip member.
pub fn lookup(lookup: &Lookup) -> Vec<u8> {
    let block = lookup_block(lookup);
    let mut head = RecordHead::new("response", &RecordId::new(), lookup.at);
    head.fields.add("WARC-Target-URI", &lookup_uri(lookup));
    let server = lookup.server.map(|server| server.to_string());
    head.fields.add_some("WARC-IP-Address", server.as_deref());
    head.fields.add("Content-Type", TEXT_DNS);
    head.fields.add("WARC-Payload-Digest", &Sha1Digest::of(&block).to_string());
    let mut out = Vec::new();
    append_member(&head.with_block(&block), Effort::Packed, &mut out);
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
    let mut block = Fields::default();
    block.add("software", concat!("larm/", env!("CARGO_PKG_VERSION")));
    block.add("format", "WARC File Format 1.1");
    block.add("conformsTo", CONFORMS_TO);
    block.add("robots", &plan.robots);
    block.add("http-header-user-agent", &plan.user_agent);
    block.add("isPartOf", &plan.crawl_id);
    block.add_some("operator", plan.operator.as_deref());
    block.add_some("http-header-from", plan.contact.as_deref());
    let mut head = RecordHead::new("warcinfo", &RecordId::new(), at);
    head.fields.add("WARC-Filename", file_name);
    head.fields.add("Content-Type", FIELDS);
    let mut out = Vec::new();
    append_member(&head.with_block(&block.0), Effort::Packed, &mut out);
    out
}

fn response(visit: &Visit, exchange: &Exchange, id: &RecordId) -> Vec<u8> {
    let mut head = RecordHead::of_visit("response", id, visit);
    head.of_exchange(exchange);
    head.fields.add("Content-Type", HTTP_RESPONSE);
    head.fields.add_some("WARC-Truncated", exchange.wire().truncated.map(|why| why.word()));
    head.before(&exchange.wire().response)
}

/// WARC 1.1 section 6.4: a block without a protocol around it, of the type that it is.
fn resource(visit: &Visit, exchange: &Exchange, id: &RecordId) -> Vec<u8> {
    let mut head = RecordHead::of_visit("resource", id, visit);
    head.of_exchange(exchange);
    head.fields.add_some("Content-Type", exchange.wire().content_type.as_deref());
    head.fields.add_some("WARC-Truncated", exchange.wire().truncated.map(|why| why.word()));
    head.before(exchange.payload())
}

/// The head is kept: it is what this server said this time. WARC 1.1 section 6.7.2 asks for the
/// truncation to be named.
fn revisit(visit: &Visit, exchange: &Exchange, original: &SameAs, id: &RecordId) -> Vec<u8> {
    let mut head = RecordHead::of_visit("revisit", id, visit);
    head.of_exchange(exchange);
    if !is_file(exchange) {
        head.fields.add("Content-Type", HTTP_RESPONSE);
    }
    head.fields.add("WARC-Profile", IDENTICAL_PAYLOAD);
    head.fields.add("WARC-Refers-To-Target-URI", &original.url);
    head.fields.add("WARC-Refers-To-Date", &original.at.to_string());
    head.fields.add("WARC-Truncated", "length");
    head.with_block(exchange.head())
}

fn request(visit: &Visit, exchange: &Exchange, response: &RecordId) -> Vec<u8> {
    let mut head = RecordHead::of_visit("request", &RecordId::new(), visit);
    head.fields.add("WARC-Concurrent-To", &response.0);
    head.by_way_of(exchange);
    head.fields.add("Content-Type", HTTP_REQUEST);
    head.with_block(&exchange.wire().request)
}

fn metadata(visit: &Visit, response: &RecordId) -> Vec<u8> {
    let mut head = RecordHead::of_visit("metadata", &RecordId::new(), visit);
    head.fields.add("WARC-Concurrent-To", &response.0);
    head.fields.add("Content-Type", FIELDS);
    head.with_block(&metadata_fields(visit).0)
}

fn metadata_fields(visit: &Visit) -> Fields {
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    let mut fields = Fields::default();
    fields.add_some("via", visit.parent.as_deref());
    fields.add("found", visit.via.word());
    fields.add("depth", &visit.depth.to_string());
    fields.add("tries", &visit.tries.to_string());
    fields.add("fetchTimeMs", &visit.timings.total_ms.to_string());
    fields.add_some("connectTimeMs", number(visit.timings.connect_ms).as_deref());
    fields.add_some("firstByteTimeMs", number(visit.timings.first_byte_ms).as_deref());
    fields.add("outlinks", &visit.links.len().to_string());
    for fact in &visit.facts {
        fields.add(&fact.name, &fact.value);
    }
    for note in &visit.notes {
        fields.add("note", note);
    }
    fields
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
struct RecordId(String);

impl RecordId {
    fn new() -> Self {
        Self(format!("<{}>", Uuid::new_v4().urn()))
    }
}

/// The header of one record.
struct RecordHead {
    fields: Fields,
}

impl RecordHead {
    fn new(kind: &str, id: &RecordId, at: Millis) -> Self {
        let mut fields = Fields(b"WARC/1.1\r\n".to_vec());
        fields.add("WARC-Type", kind);
        fields.add("WARC-Record-ID", &id.0);
        fields.add("WARC-Date", &at.to_string());
        Self { fields }
    }

    fn of_visit(kind: &str, id: &RecordId, visit: &Visit) -> Self {
        let mut head = Self::new(kind, id, visit.at);
        head.fields.add("WARC-Target-URI", visit.url.as_str());
        head
    }

    fn of_exchange(&mut self, exchange: &Exchange) {
        self.fields.add("WARC-Payload-Digest", &exchange.payload_digest().to_string());
        self.by_way_of(exchange);
    }

    fn by_way_of(&mut self, exchange: &Exchange) {
        let address = exchange.wire().peer.map(|peer| peer.ip().to_string());
        self.fields.add_some("WARC-IP-Address", address.as_deref());
        self.fields.add("WARC-Protocol", exchange.wire().protocol.word());
    }

    fn with_block(mut self, block: &[u8]) -> Vec<u8> {
        self.fields.add("WARC-Block-Digest", &Sha1Digest::of(block).to_string());
        self.before(block)
    }

    /// The record without a digest of its block: a payload digest, and the checksum of the gzip member,
    /// cover a response already, and hashing it twice took a thirtieth of all work for a page.
    fn before(mut self, block: &[u8]) -> Vec<u8> {
        self.fields.add("Content-Length", &block.len().to_string());
        let mut record = self.fields.0;
        record.reserve(block.len() + 6);
        record.extend_from_slice(b"\r\n");
        record.extend_from_slice(block);
        record.extend_from_slice(b"\r\n\r\n");
        record
    }
}

/// Lines of `name: value`.
#[derive(Default)]
struct Fields(Vec<u8>);

impl Fields {
    /// Adds a line. A control character in the value becomes a space: no value can begin a line.
    fn add(&mut self, name: &str, value: &str) {
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b": ");
        let begin = self.0.len();
        self.0.extend_from_slice(value.as_bytes());
        self.0[begin..].iter_mut().filter(|byte| byte.is_ascii_control()).for_each(|c| *c = b' ');
        self.0.extend_from_slice(b"\r\n");
    }

    fn add_some(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }
}
