//! A few pages written by hand, for tests that need a link of their own.
//!
//! One address, one port, any number of host names; every answer closes its connection. Asked as a proxy, it
//! answers as the hosts themselves.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::Builder;

use larm_core::workbench::Pace;
use larm_crawl::Plan;
use tempfile::TempDir;

use crate::world::{patient_plan, url};

/// Pages on loopback. The server's thread ends with the test binary.
pub struct Hand {
    address: SocketAddr,
    temp: TempDir,
    asked: Arc<Mutex<Vec<String>>>,
}

type Answers = HashMap<String, Vec<u8>>;

impl Hand {
    /// Serves what `answers` makes of the port: `host/path` and the answer's bytes. All else is 404.
    pub fn serve(answers: impl FnOnce(u16) -> Vec<(String, Vec<u8>)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let answers: Arc<Answers> = Arc::new(answers(address.port()).into_iter().collect());
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = asked.clone();
        let serve = move || {
            for stream in listener.incoming().flatten() {
                let (answers, log) = (answers.clone(), log.clone());
                let answer = move || answer(stream, &answers, &log);
                Builder::new().spawn(answer).expect("a thread");
            }
        };
        Builder::new().name("by hand".to_owned()).spawn(serve).expect("a thread");
        Self { address, temp: tempfile::tempdir().expect("a temporary directory"), asked }
    }

    /// The port of all hosts.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// `host/path` as a URL of this server.
    pub fn url(&self, place: &str) -> String {
        at(self.port(), place)
    }

    /// The crawl directory.
    pub fn dir(&self) -> PathBuf {
        self.temp.path().join("hand.larm")
    }

    /// A crawl from `host/path`, with the names of `hosts` at this server; scope is the seed's host.
    pub fn plan(&self, seed: &str, hosts: &[&str]) -> Plan {
        let seeds = [url(&self.url(seed))];
        let rule = |host: &&str| format!("{host}:{}:127.0.0.1", self.port());
        let mut plan = patient_plan(self.dir(), seeds.into_iter());
        plan.pace = Pace { delay_ms: 0, address_gap_ms: 0, ..Pace::default() };
        plan.resolve = hosts.iter().map(|host| rule(host).parse().expect("a rule")).collect();
        plan
    }

    /// `host/path` of every request so far, robots.txt aside.
    pub fn asked(&self) -> Vec<String> {
        let mut asked = self.all_asked();
        asked.retain(|place| !place.ends_with("/robots.txt"));
        asked
    }

    /// `host/path` of every request so far.
    pub fn all_asked(&self) -> Vec<String> {
        self.asked.lock().expect("no thread panicked").clone()
    }
}

/// `host/path` as a URL at a port.
pub fn at(port: u16, place: &str) -> String {
    let (host, path) = place.split_once('/').expect("host and path");
    format!("http://{host}:{port}/{path}")
}

/// 200 and a page with these links.
pub fn page(links: &[&str]) -> Vec<u8> {
    let anchors: String =
        links.iter().map(|to| format!("<p><a href=\"{to}\">to</a></p>")).collect();
    // A text of its own, so that no two pages are taken for copies.
    let body = format!("<!doctype html><title>By hand</title><p>{links:?}</p>{anchors}");
    with_body("text/html; charset=utf-8", &body)
}

/// 200 and this text, of this type.
pub fn with_body(content_type: &str, body: &str) -> Vec<u8> {
    let (ok, length) = ("HTTP/1.1 200 OK\r\nConnection: close", body.len());
    format!("{ok}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n{body}").into()
}

/// 302 to there.
pub fn redirect(to: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 302 Found\r\nLocation: {to}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    )
    .into_bytes()
}

fn answer(stream: TcpStream, answers: &Answers, log: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(&stream);
    let Some(place) = asked_for(&mut reader) else { return };
    log.lock().expect("no thread panicked").push(place.clone());
    let missing: &[u8] =
        b"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let bytes = answers.get(&place).map_or(missing, Vec::as_slice);
    // Whoever asked may have gone.
    let _ = (&stream).write_all(bytes);
}

/// `host/path` of a request.
fn asked_for(reader: &mut impl BufRead) -> Option<String> {
    let mut lines = reader.lines().map_while(|line| line.ok());
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    if let Some(place) = path.strip_prefix("http://") {
        return Some(place.to_owned());
    }
    let fields = lines.take_while(|line| !line.is_empty());
    let fields: Vec<(String, String)> = fields
        .filter_map(|line| line.split_once(':').map(|(n, v)| (n.to_lowercase(), v.trim().into())))
        .collect();
    let (_, host) = fields.into_iter().find(|(name, _)| name == "host")?;
    Some(format!("{}{path}", host.rsplit_once(':').map_or(&*host, |(name, _)| name)))
}
