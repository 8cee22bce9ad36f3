//! The binary: one JSON line, then a web until standard input closes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

#[test]
fn the_binary_serves_until_its_input_closes() {
    let files = tempfile::tempdir().unwrap();
    let (log, truth) = (files.path().join("log"), files.path().join("truth"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_larm-testsite"))
        .args([
            "--seed",
            "7",
            "--hosts",
            "4",
            "--pages",
            "5",
            "--named",
            "--features",
            "dead_links",
        ])
        .arg("--log")
        .arg(&log)
        .arg("--truth")
        .arg(&truth)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let hello: serde_json::Value = serde_json::from_str(&line).unwrap();
    let rule = hello["resolve"][1].as_str().unwrap();
    assert!(rule.starts_with("h001.site0.test:"), "{rule}");
    let (_, at) = rule.split_once(':').unwrap();
    let (port, address) = at.split_once(':').unwrap();
    assert_eq!(hello["port"].to_string(), port);
    let mut stream = TcpStream::connect(format!("{address}:{port}")).unwrap();
    stream.write_all(b"GET / HTTP/1.0\r\nHost: h001.site0.test\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"));
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(std::fs::read_to_string(log).unwrap().lines().count(), 1);
    let truth: serde_json::Value = serde_json::from_slice(&std::fs::read(truth).unwrap()).unwrap();
    assert_eq!(truth["pages"].as_object().unwrap().len(), 4 * (5 + 2));
}

#[test]
fn a_wrong_option_is_refused_with_the_usage() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_larm-testsite")).arg("--nonsense").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("usage: larm-testsite"));
}
