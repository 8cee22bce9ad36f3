//! `floor`: the least that fetching all pages of `web` can cost, printed as JSON.
//!
//! - `fetch`: hyper over keep-alive, one connection for each host in turn, nothing else.
//! - `links`: and the links of each page are found (see `scan`).
//! - `warc`: and each answer is written as a WARC record, a gzip member of its own.
//!
//! No robots, no seen set, no frontier, no index, no log, no digest: pages are asked for by their
//! known numbers. Records are compressed with libdeflate at level 1. With `--gzip` the answers come
//! compressed; they are inflated for the scan and written as they came, in a stored (level 0) member.

use std::fs::File;
use std::io::Write;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use bytes::Bytes;
use clap::{Parser, ValueEnum};
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::http::{HeaderMap, Request};
use hyper_util::rt::TokioIo;
use larm_bench::Result;
use larm_bench::scan::digest;
use larm_bench::usage::cpu_seconds;
use larm_bench::web::{Spec, address, paths};
use libdeflater::{CompressionLvl, Compressor, Decompressor};
use serde_json::json;
use tokio::net::TcpStream;

/// Fetch every page of `web`, and do the least with it
#[derive(Parser)]
struct Options {
    /// How much to do
    mode: Mode,
    #[command(flatten)]
    spec: Spec,
    /// Connections at a time
    #[arg(long, default_value_t = 32)]
    connections: usize,
    /// Worker threads
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Where `warc` writes
    #[arg(long, default_value = "floor.warc.gz")]
    output: PathBuf,
}

#[derive(Clone, Copy, ValueEnum, PartialEq, PartialOrd)]
enum Mode {
    Fetch,
    Links,
    Warc,
}

/// What all connections share.
struct Shared {
    options: Options,
    paths: Vec<String>,
    hosts: AtomicUsize,
    pages: AtomicU64,
    bytes: AtomicU64,
    links: AtomicU64,
    mix: AtomicU64,
    output: Option<Mutex<File>>,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let output = match options.mode {
        Mode::Warc => Some(Mutex::new(File::create(&options.output)?)),
        Mode::Fetch | Mode::Links => None,
    };
    let threads = options.threads.max(1);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    let [pages, bytes, links, mix] = Default::default();
    let paths = paths(&options.spec)?;
    let shared = Shared { options, paths, hosts: 0.into(), pages, bytes, links, mix, output };
    let (shared, start) = (Arc::new(shared), Instant::now());
    runtime.block_on(all(shared.clone()))?;
    shared.report(start.elapsed().as_secs_f64());
    Ok(())
}

async fn all(shared: Arc<Shared>) -> Result<()> {
    let connections = shared.options.connections.min(shared.options.spec.hosts);
    let tasks: Vec<_> = (0..connections).map(|_| tokio::spawn(hosts(shared.clone()))).collect();
    for task in tasks {
        task.await??;
    }
    Ok(())
}

/// One host after the other, as long as there are any.
async fn hosts(shared: Arc<Shared>) -> Result<()> {
    let mut work = Work::new();
    loop {
        let host = shared.hosts.fetch_add(1, Relaxed);
        if host >= shared.options.spec.hosts {
            return Ok(());
        }
        let host = address(host);
        let stream = TcpStream::connect((host, shared.options.spec.port)).await?;
        stream.set_nodelay(true)?;
        let (mut sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        for page in 0..shared.paths.len() {
            let (headers, body) = fetch(&mut sender, &shared, host, page).await?;
            shared.pages.fetch_add(1, Relaxed);
            shared.bytes.fetch_add(body.len() as u64, Relaxed);
            work.on(&shared, (host, page), &headers, &body)?;
        }
    }
}

async fn fetch(
    sender: &mut SendRequest<Empty<Bytes>>,
    shared: &Shared,
    host: Ipv4Addr,
    page: usize,
) -> Result<(HeaderMap, Bytes)> {
    let Spec { port, gzip, .. } = shared.options.spec;
    let mut request = Request::get(&shared.paths[page]).header("host", format!("{host}:{port}"));
    if gzip {
        request = request.header("accept-encoding", "gzip");
    }
    sender.ready().await?;
    let answer = sender.send_request(request.body(Empty::new())?).await?;
    if !answer.status().is_success() {
        return Err(format!("{host}{}: {}", shared.paths[page], answer.status()).into());
    }
    let (head, body) = answer.into_parts();
    Ok((head.headers, body.collect().await?.to_bytes()))
}

/// What one connection needs to work on its pages.
struct Work {
    compressor: Compressor,
    stored: Compressor,
    decompressor: Decompressor,
    text: Vec<u8>,
    record: Vec<u8>,
    member: Vec<u8>,
}

impl Work {
    fn new() -> Self {
        let level = |level| Compressor::new(CompressionLvl::new(level).expect("the level exists"));
        let [text, record, member] = Default::default();
        let decompressor = Decompressor::new();
        Self { compressor: level(1), stored: level(0), decompressor, text, record, member }
    }

    fn on(
        &mut self,
        shared: &Shared,
        place: (Ipv4Addr, usize),
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<()> {
        if shared.options.mode == Mode::Fetch {
            return Ok(());
        }
        let gzip = headers.contains_key("content-encoding");
        let page = if gzip { self.inflate(body)? } else { body };
        let (links, mix) = digest(page);
        shared.links.fetch_add(links, Relaxed);
        shared.mix.fetch_xor(mix, Relaxed);
        let Some(output) = &shared.output else { return Ok(()) };
        self.write_record(shared, place, headers, body)?;
        let compressor = if gzip { &mut self.stored } else { &mut self.compressor };
        self.member.resize(compressor.gzip_compress_bound(self.record.len()), 0);
        let length = compressor.gzip_compress(&self.record, &mut self.member)?;
        output.lock().map_err(|_| "a writer panicked")?.write_all(&self.member[..length])?;
        Ok(())
    }

    /// The length of what a gzip member holds is in its last four bytes.
    fn inflate(&mut self, body: &[u8]) -> Result<&[u8]> {
        let length = body.last_chunk().ok_or("too short for gzip")?;
        self.text.resize(u32::from_le_bytes(*length) as usize, 0);
        let length = self.decompressor.gzip_decompress(body, &mut self.text)?;
        Ok(&self.text[..length])
    }

    fn write_record(
        &mut self,
        shared: &Shared,
        (host, page): (Ipv4Addr, usize),
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<()> {
        let mut head = b"HTTP/1.1 200 OK\r\n".to_vec();
        for (name, value) in headers {
            head.extend_from_slice(name.as_ref());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value.as_ref());
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"\r\n");
        self.record.clear();
        write!(
            self.record,
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{page:032x}>\r\n\
             WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: http://{host}:{}{}\r\n\
             Content-Type: application/http;msgtype=response\r\nContent-Length: {}\r\n\r\n",
            shared.options.spec.port,
            shared.paths[page],
            head.len() + body.len(),
        )?;
        [&head, body, b"\r\n\r\n"].iter().for_each(|part| self.record.extend_from_slice(part));
        Ok(())
    }
}

impl Shared {
    fn report(&self, wall: f64) {
        let (user, sys) = cpu_seconds();
        let pages = self.pages.load(Relaxed);
        let report = json!({
            "pages": pages,
            "bytes": self.bytes.load(Relaxed),
            "links": self.links.load(Relaxed),
            "mix": self.mix.load(Relaxed),
            "wall": wall,
            "user": user,
            "sys": sys,
            "cpu_per_1000": (user + sys) * 1e3 / pages as f64,
            "pages_per_second": pages as f64 / wall,
        });
        println!("{report}");
    }
}
