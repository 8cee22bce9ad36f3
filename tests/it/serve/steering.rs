//! A crawl that runs is steered: settings, rules, hosts, shares; and watched.

use std::io::BufRead;

use serde_json::{Value, json};

use super::http::head;
use super::{Root, Server, TOKEN, world};

#[test]
fn a_rule_is_tried_before_it_is_set_and_then_removes_what_waits() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let id = server.crawl(&world, json!({"delay": "150ms"}));
    server.wait_for(&id, "under way", |crawl| crawl["counts"]["queued"].as_u64() > Some(5));
    server.post(&format!("/crawls/{id}/pause"), &json!({}));
    let preview =
        server.post(&format!("/crawls/{id}/rules/preview"), &json!({"exclude": "."})).json();
    assert!(preview["matching"].as_u64() > Some(0) && preview["sampled"] == false, "{preview:#}");
    assert!(!preview["examples"].as_array().unwrap().is_empty());
    let none =
        server.post(&format!("/crawls/{id}/rules/preview"), &json!({"exclude": "no-such-path"}));
    assert_eq!(none.json()["matching"], 0);
    let wrong = server.post(&format!("/crawls/{id}/rules/preview"), &json!({"exclude": "("}));
    assert_eq!((wrong.status, &wrong.json()["key"]), (422, &json!("exclude")));
    let set = server.post(&format!("/crawls/{id}/rules"), &json!({"exclude": "."}));
    assert_eq!(set.json()["rule"], json!({"key": "exclude", "value": "."}));
    let rules = server.get(&format!("/crawls/{id}/rules")).json();
    assert!(rules["rules"].as_array().unwrap().contains(&json!({"key": "exclude", "value": "."})));
    server.post(&format!("/crawls/{id}/resume"), &json!({}));
    server.wait_for_state(&id, "finished");
}

#[test]
fn one_host_is_paused_and_slowed_and_that_holds_after_a_restart() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let id = server.crawl(&world, json!({"delay": "150ms"}));
    let hosts = format!("/crawls/{id}/hosts");
    server.wait_for(&id, "under way", |crawl| crawl["counts"]["hosts"].as_u64() > Some(2));
    let all = server.get(&format!("{hosts}?sort=-queued")).json();
    let name = all["hosts"][0]["host"].as_str().expect("a host").to_owned();
    let one = format!("{hosts}/{name}");
    let paused = server.patch(&one, &json!({"paused": true, "delay": "7s"})).json();
    assert!(paused["paused"] == true || paused["state"] == "busy", "{paused:#}");
    assert_eq!(paused["own_delay_ms"], 7_000);
    let others = |crawl: &Value| crawl["counts"]["queued"].as_u64() < Some(40);
    server.wait_for(&id, "done with the others", others);
    let find = |server: &Server| {
        let all = server.get(&hosts).json();
        let hosts = all["hosts"].as_array().unwrap().clone();
        hosts.into_iter().find(|host| host["host"] == name.as_str()).expect("the host")
    };
    assert_eq!(find(&server)["state"], "paused");
    server.end();
    let next = Server::start(root.path());
    next.wait_for(&id, "running", |crawl| crawl["rates"].is_object());
    assert_eq!(find(&next)["state"], "paused", "{:#}", find(&next));
    assert_eq!(find(&next)["own_delay_ms"], 7_000);
    let woken = next.patch(&one, &json!({"paused": false, "delay": null})).json();
    assert_eq!((&woken["paused"], woken["own_delay_ms"].is_null()), (&json!(false), true));
    next.patch(&format!("/crawls/{id}/settings"), &json!({"delay": "1ms"}));
    next.wait_for_state(&id, "finished");
    assert_eq!(next.patch(&format!("{hosts}/no.such.host"), &json!({"paused": true})).status, 404);
}

#[test]
fn what_happens_is_told_as_it_happens() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let id = server.crawl(&world, json!({"delay": "50ms"}));
    let mut stream =
        server.request("GET", &format!("/crawls/{id}/events")).open(server.at).unwrap();
    let (status, headers) = head(&mut stream).unwrap();
    assert_eq!(status, 200);
    assert!(headers.contains(&("content-type".to_owned(), "text/event-stream".to_owned())));
    let (mut rows, mut statuses) = (0, 0);
    for line in stream.lines() {
        let line = line.unwrap();
        let Some(data) = line.strip_prefix("data: ") else { continue };
        let data: Value = serde_json::from_str(data).unwrap();
        match data["rows"].as_array() {
            Some(more) => rows += more.len(),
            None => statuses += usize::from(data["id"] == id.as_str()),
        }
        if rows > 20 && statuses > 1 {
            return;
        }
    }
    panic!("the stream has ended after {rows} rows");
}

#[test]
fn crawls_that_run_share_what_the_server_may_have() {
    let (world, root) = (world(), Root::new());
    let more = ["--trusted", "--token", TOKEN, "--concurrency-max", "6"];
    let server = Server::with(root.path(), &more);
    let ids = [0, 1].map(|_| server.crawl(&world, json!({"delay": "300ms"})));
    assert_eq!(ids, ["web", "web-2"]);
    for id in &ids {
        server.wait_for(id, "given its share", |crawl| crawl["rates"]["places"] == 3);
    }
    server.post(&format!("/crawls/{}/stop", ids[0]), &json!({}));
    server.wait_for(&ids[1], "given all of it", |crawl| crawl["rates"]["places"] == 6);
}

#[test]
fn what_cannot_be_set_is_said_with_its_key() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let rows = [
        (json!({"seeds": []}), "seeds"),
        (json!({"seeds": ["mailto:a@b"]}), "seeds"),
        (json!({"seeds": ["http://a.example/"], "max-pages": 0}), "max-pages"),
        (json!({"seeds": ["http://a.example/"], "depht": 3}), "depht"),
        (json!({"seeds": ["http://a.example/"], "delay": "soon"}), "delay"),
        (json!({"seeds": ["http://a.example/"], "include": ["("]}), "seeds"),
        (json!({"seeds": ["http://a.example/"], "output": "/tmp/x"}), "output"),
    ];
    for (settings, key) in rows {
        let answer = server.post("/crawls/preview", &json!({"settings": settings}));
        assert_eq!(answer.status, 422, "{settings}: {}", answer.text());
        assert_eq!(answer.json()["key"], key, "{settings}: {}", answer.text());
    }
    let id = server.crawl(&world, json!({"delay": "300ms"}));
    server.wait_for(&id, "listening", |crawl| crawl["rates"].is_object());
    for (change, key) in [(json!({"colour": "red"}), "colour"), (json!({"delay": "0s"}), "delay")] {
        let answer = server.patch(&format!("/crawls/{id}/settings"), &change);
        assert_eq!((answer.status, &answer.json()["key"]), (422, &json!(key)), "{}", answer.text());
    }
}
