//! A client that says exactly what it is told to, byte by byte: browsers and good clients cannot attack.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// How long a test waits for a server that may be busy.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    /// A header by its name, in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {:?}", String::from_utf8_lossy(&self.body)))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A request, to be sent once.
pub struct Request {
    method: &'static str,
    path: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

impl Request {
    pub fn new(method: &'static str, path: &str) -> Self {
        Self { method, path: path.to_owned(), headers: Vec::new(), body: None }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn json(self, body: &Value) -> Self {
        let with_type = self.header("Content-Type", "application/json");
        Self { body: Some(body.to_string().into_bytes()), ..with_type }
    }

    pub fn body(self, body: &[u8]) -> Self {
        Self { body: Some(body.to_vec()), ..self }
    }

    fn bytes(&self, at: SocketAddr) -> Vec<u8> {
        let mut text = format!("{} {} HTTP/1.1\r\nConnection: close\r\n", self.method, self.path);
        if !self.headers.iter().any(|(name, _)| name == "Host") {
            text.push_str(&format!("Host: {at}\r\n"));
        }
        for (name, value) in self.headers.iter().filter(|(_, value)| !value.is_empty()) {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = &self.body {
            text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        text.push_str("\r\n");
        [text.into_bytes(), self.body.clone().unwrap_or_default()].concat()
    }

    /// Sends it and reads the whole answer.
    #[track_caller]
    pub fn send(&self, at: SocketAddr) -> Answer {
        exchange(at, &self.bytes(at)).expect("an answer")
    }

    /// Sends it, and leaves the answer to be read.
    pub fn open(&self, at: SocketAddr) -> std::io::Result<BufReader<TcpStream>> {
        let mut stream = connect(at)?;
        stream.write_all(&self.bytes(at))?;
        Ok(BufReader::new(stream))
    }
}

pub fn connect(at: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&at, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// Sends bytes and reads what comes back.
pub fn exchange(at: SocketAddr, bytes: &[u8]) -> std::io::Result<Answer> {
    let mut stream = connect(at)?;
    // A server that refuses early may close before everything is sent.
    let _ = stream.write_all(bytes);
    let mut reader = BufReader::new(stream);
    let (status, headers) = head(&mut reader)?;
    let mut body = Vec::new();
    let _ = reader.read_to_end(&mut body);
    Ok(Answer { status, headers, body })
}

/// Reads status and headers.
pub fn head(reader: &mut impl BufRead) -> std::io::Result<(u16, Vec<(String, String)>)> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| std::io::Error::other(format!("no status in `{line}`")))?;
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => {
                headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
            }
            None => return Ok((status, headers)),
        }
    }
}
