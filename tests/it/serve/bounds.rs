//! What is too large, too slow or too many; and a description that fits what is there.

use std::io::{BufRead, Read, Write};

use serde_json::{Value, json};

use super::http::{PATIENCE, Request, connect, exchange, head};
use super::{Root, Server, TOKEN, world};

#[test]
fn a_huge_body_is_refused() {
    let root = Root::new();
    let server = Server::start(root.path());
    let body = vec![b' '; 2 * 1_024 * 1_024];
    let request = server.request("POST", "/crawls").header("Content-Type", "application/json");
    assert_eq!(request.body(&body).send(server.at).status, 413);
    let claimed = format!(
        "POST /api/v1/crawls HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\
         Content-Type: application/json\r\nContent-Length: 99999999999\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(exchange(server.at, claimed.as_bytes()).unwrap().status, 413);
    assert_eq!(server.get("/crawls").status, 200);
}

#[test]
fn huge_and_slow_headers_are_refused() {
    let root = Root::new();
    let limits = ["--limit", "server_header_ms_max=300"];
    let server =
        Server::with(root.path(), &[&["--trusted", "--token", TOKEN], &limits[..]].concat());
    let long = Request::new("GET", "/api/v1/health").header("X-Long", &"x".repeat(100_000));
    assert_eq!(long.send(server.at).status, 431);
    let mut slow = connect(server.at).unwrap();
    slow.write_all(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nX: ").unwrap();
    let mut said = Vec::new();
    // It is closed by the server, whatever it says before.
    let _ = slow.read_to_end(&mut said);
    assert!(!said.starts_with(b"HTTP/1.1 200"), "{said:?}");
}

#[test]
fn who_asks_and_does_not_read_is_let_go() {
    let root = Root::new();
    let limits = ["--limit", "server_write_ms_max=200", "--limit", "server_connections_max=2"];
    let server =
        Server::with(root.path(), &[&["--trusted", "--token", TOKEN], &limits[..]].concat());
    let ask = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(400);
    let deaf: Vec<_> = (0..2)
        .map(|_| {
            let mut stream = connect(server.at).unwrap();
            // Nobody takes the answers, so that not all of it may be taken from us either.
            let _ = stream.set_write_timeout(Some(std::time::Duration::from_millis(100)));
            let _ = stream.write_all(&ask);
            stream
        })
        .collect();
    assert_eq!(server.get("/health").status, 200, "they hold all places, but not for long");
    drop(deaf);
}

#[test]
fn a_thousand_browsers_listen_and_none_slows_the_crawl() {
    larm_crawl::files::raise_limit();
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let id = server.crawl(&world, json!({"delay": "100ms"}));
    let path = format!("/crawls/{id}/events");
    let listen = |_| server.request("GET", &path).open(server.at).expect("room for one more");
    // None of them reads but the last.
    let mut listeners: Vec<_> = (0..1_000).map(listen).collect();
    let last = listeners.last_mut().unwrap();
    assert_eq!(head(last).unwrap().0, 200);
    let told = last.lines().map_while(Result::ok).find(|line| line.starts_with("data: "));
    assert!(told.is_some_and(|line| line.contains(&id)));
    server.wait_for_state(&id, "finished");
    let memory = server.get("/server").json()["memory"].as_u64().unwrap_or(0);
    assert!(memory < 400 * 1_024 * 1_024, "{memory} bytes for a thousand listeners");
}

#[test]
fn one_listener_too_many_is_told_so() {
    let root = Root::new();
    let limits = ["--limit", "server_events_max=2"];
    let server =
        Server::with(root.path(), &[&["--trusted", "--token", TOKEN], &limits[..]].concat());
    let listen = || {
        let mut stream = server.request("GET", "/events").open(server.at).unwrap();
        (head(&mut stream).unwrap().0, stream)
    };
    let held = [listen(), listen()];
    assert!(held.iter().all(|(status, _)| *status == 200));
    assert_eq!(listen().0, 503);
    drop(held);
    let started = super::now();
    while listen().0 == 503 {
        assert!(started.elapsed() < PATIENCE, "places are not given back");
        server.pause();
    }
}

#[test]
fn the_description_fits_what_is_there() {
    let root = Root::new();
    let server = Server::start(root.path());
    let document = Request::new("GET", "/api/v1/openapi.json").send(server.at).json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"), "{}", document["openapi"]);
    assert_references(&document, &document);
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().unwrap() {
            assert!(operation["summary"].is_string(), "{method} {path} says nothing of itself");
            let names: Vec<&str> = operation["parameters"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|parameter| parameter["in"] == "path")
                .filter_map(|parameter| parameter["name"].as_str())
                .collect();
            for part in path.split('/').filter_map(|part| part.strip_prefix('{')) {
                let name = part.trim_end_matches('}').trim_start_matches('*');
                assert!(names.contains(&name), "{method} {path} does not describe {name}");
            }
            let filled =
                path.replace("{id}", "no-such-crawl").replace("{host}", "h").replace("{name}", "n");
            let method = ["GET", "POST", "PATCH", "DELETE"]
                .into_iter()
                .find(|m| m.eq_ignore_ascii_case(method));
            let request = Request::new(method.expect("a method"), &filled);
            let answer = request.header("Authorization", &format!("Bearer {TOKEN}"));
            if filled.ends_with("/events") && !filled.contains("no-such") {
                continue;
            }
            let answer = answer.send(server.at);
            assert!(
                answer.status != 405 && answer.status < 500,
                "{filled}: {} {}",
                answer.status,
                answer.text()
            );
            let told = operation["responses"].as_object().unwrap();
            assert!(
                told.contains_key(&answer.status.to_string())
                    || answer.status == 415
                    || answer.status == 400,
                "{filled} answers {} and does not say so",
                answer.status
            );
        }
    }
}

/// Every reference leads somewhere.
fn assert_references(value: &Value, document: &Value) {
    match value {
        Value::Object(map) => {
            if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
                let pointer = reference.trim_start_matches('#');
                assert!(document.pointer(pointer).is_some(), "{reference}");
            }
            map.values().for_each(|value| assert_references(value, document));
        }
        Value::Array(values) => values.iter().for_each(|value| assert_references(value, document)),
        _ => {}
    }
}
