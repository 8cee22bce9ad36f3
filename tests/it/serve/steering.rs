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
    let set = server.post(&format!("/crawls/{id}/rules"), &json!({"exclude": "."})).json();
    assert_eq!(set["rule"], json!({"key": "exclude", "value": "."}));
    assert!(set["words"].as_str().unwrap().contains("when their turn comes"), "{set}");
    let waits = preview["examples"][0].as_str().unwrap();
    let why = server.get(&format!("/crawls/{id}/why?url={waits}")).json();
    assert_eq!(why["verdict"], "waiting", "{why:#}");
    assert!(why["words"][0].as_str().unwrap().contains("exclude: matches `.`"), "{why:#}");
    let rules = server.get(&format!("/crawls/{id}/rules")).json();
    assert!(rules["rules"].as_array().unwrap().contains(&json!({"key": "exclude", "value": "."})));
    server.post(&format!("/crawls/{id}/resume"), &json!({}));
    server.wait_for_state(&id, "finished");
}

/// Changes that the settings of a crawl show, as `key=value`.
fn changes(server: &Server, id: &str) -> Vec<String> {
    let told = server.get(&format!("/crawls/{id}/settings")).json();
    let all = told["changes"].as_array().expect("changes").iter();
    all.map(|change| format!("{}={}", change["key"], change["value"]).replace('"', "")).collect()
}

fn stop(server: &Server, id: &str) {
    server.post(&format!("/crawls/{id}/stop"), &json!({}));
    server.wait_for_state(id, "stopped");
}

#[test]
fn what_was_changed_last_counts_whether_it_ran_or_not() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let id = server.crawl(&world, json!({"delay": "150ms", "max-pages": 60}));
    let settings = format!("/crawls/{id}/settings");
    server.wait_for(&id, "under way", |crawl| crawl["counts"]["fetched"].as_u64() > Some(1));
    assert_eq!(server.patch(&settings, &json!({"max-pages": 1, "rate": 50})).status, 200);
    let ended = server.wait_for(&id, "at its limit", |crawl| crawl["rates"].is_null());
    let fetched = ended["counts"]["fetched"].as_u64().expect("a count");
    assert_eq!(changes(&server, &id), ["max-pages=1", "rate=50"], "what holds when it goes on");
    // The same number as before the change, so that it is not the settings that differ.
    let told = server.patch(&settings, &json!({"max-pages": 60, "delay": "20ms"}));
    assert_eq!(told.status, 200, "{}", told.text());
    assert_eq!(changes(&server, &id), ["rate=50"]);
    server.post(&format!("/crawls/{id}/start"), &json!({}));
    let on = |crawl: &Value| crawl["counts"]["fetched"].as_u64() > Some(fetched + 5);
    server.wait_for(&id, "going on", on);
    server.wait_for(&id, "at its limit again", |crawl| crawl["rates"].is_null());
    // Whoever edits the file by hand is heard, too.
    let file = root.path().join("web.larm/larm.toml");
    let file = if file.exists() { file } else { root.crawls()[0].join("larm.toml") };
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("rate = \"7/s\"\n{text}")).unwrap();
    assert_eq!(changes(&server, &id), [""; 0]);
}

#[test]
fn settings_are_understood_alike_whether_it_runs_or_not_and_all_or_none_are_changed() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let id = server.crawl(&world, json!({"delay": "300ms"}));
    let settings = format!("/crawls/{id}/settings");
    server.wait_for(&id, "listening", |crawl| crawl["rates"].is_object());
    let good = [
        json!({"max-pages": "700"}),
        json!({"max-pages": 700}),
        json!({"rate": "none"}),
        json!({"rate": 50}),
        json!({"delay": 0.3}),
        json!({"delay": "300ms", "concurrency": "9"}),
        json!({"host-budget": "off"}),
        json!({"exclude": ["zzz", "yyy"]}),
        json!({"exclude": null}),
        json!({"exclude": ["zzz", "yyy", "zzz"]}),
        json!({"exclude": "xxx"}),
        json!({"exclude": "xxx"}),
    ];
    let bad = [
        (json!({"delay": "1s", "max-pages": 0}), "max-pages"),
        (json!({"delay": "1s", "concurrency": 100_000}), "concurrency"),
        (json!({"delay": "1s", "exclude": [1]}), "exclude"),
        (json!({"delay": "1s", "exclude": "("}), "exclude"),
        (json!({"delay": "1s", "colour": "red"}), "colour"),
        (json!({"delay": "1s", "colour": null}), "colour"),
        (json!({"delay": "1s", "seeds": null}), "seeds"),
        (json!({"delay": "1s", "rate": "fast"}), "rate"),
    ];
    let in_force = || {
        let told = server.get(&settings).json();
        let rules = server.get(&format!("/crawls/{id}/rules")).json();
        let values = rules["rules"].as_array().unwrap().iter().map(|rule| rule["value"].clone());
        let mut values: Vec<String> = values.map(|value| value.to_string()).collect();
        values.sort();
        (told["settings"]["delay"].clone(), told["changes"].clone(), values)
    };
    for is_alive in [true, false] {
        for change in &good {
            let answer = server.patch(&settings, change);
            assert_eq!(answer.status, 200, "{is_alive} {change}: {}", answer.text());
        }
        let before = in_force();
        assert_eq!(before.2, ["\"xxx\"", "\"yyy\"", "\"zzz\""], "{is_alive}");
        for (change, key) in &bad {
            let answer = server.patch(&settings, change);
            let told = (answer.status, answer.json()["key"].clone());
            assert_eq!(told, (422, json!(key)), "{is_alive} {change}: {}", answer.text());
        }
        assert_eq!(in_force(), before, "nothing was changed by what is wrong");
        if is_alive {
            stop(&server, &id);
        }
    }
    assert_eq!(server.patch(&settings, &json!({"exclude": []})).status, 200);
    assert_eq!(in_force().2, [""; 0]);
}

#[test]
fn a_limit_is_lifted_by_none_and_by_null_whether_it_runs_or_not() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let id = server.crawl(&world, json!({"delay": "300ms", "max-pages": 40}));
    let settings = format!("/crawls/{id}/settings");
    server.wait_for(&id, "listening", |crawl| crawl["rates"].is_object());
    let told = |change: Value| {
        let answer = server.patch(&settings, &change);
        assert_eq!(answer.status, 200, "{change}: {}", answer.text());
        answer.json()["in_force"].clone()
    };
    for is_alive in [true, false] {
        for lifted in [json!("none"), json!(null)] {
            assert_eq!(told(json!({"max-pages": 50}))["max-pages"], 50);
            let now = told(json!({ "max-pages": lifted }))["max-pages"].clone();
            assert!(now == "none" || now.is_null(), "{is_alive} {lifted}: {now}");
        }
        let wrong = server.patch(&settings, &json!({"max-pages": 0})).json();
        assert!(wrong["detail"].as_str().unwrap().contains("none for no such limit"), "{wrong}");
        // What has no limit to lift is what it is when nobody sets it.
        assert_eq!(told(json!({"delay": null}))["delay"], "1s", "{is_alive}");
        assert_eq!(told(json!({"delay": "20ms"}))["delay"], "20ms", "{is_alive}");
        if is_alive {
            server
                .wait_for(&id, "beyond it", |crawl| crawl["counts"]["fetched"].as_u64() > Some(50));
            server.wait_for(&id, "done", |crawl| crawl["rates"].is_null());
        }
    }
}

#[test]
fn what_was_changed_since_counts_when_crawls_are_compared_and_settings_are_shown() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let [a, b] = [0, 1].map(|_| server.crawl(&world, json!({"delay": "300ms"})));
    let compared = || {
        let answer = server.get(&format!("/compare?a={a}&b={b}")).json();
        let settings = answer["settings"].as_array().expect("settings").iter();
        let pairs = settings.map(|pair| format!("{} {} {}", pair["key"], pair["a"], pair["b"]));
        pairs.map(|pair| pair.replace(['"', '\\'], "")).collect::<Vec<_>>()
    };
    for id in [&a, &b] {
        server.wait_for(id, "listening", |crawl| crawl["rates"].is_object());
    }
    assert_eq!(compared(), [""; 0]);
    let settings = format!("/crawls/{b}/settings");
    let change = json!({"exclude": "zzz", "rate": 50, "delay": "2s"});
    let in_force = server.patch(&settings, &change).json()["in_force"].clone();
    let shown = ["exclude", "rate", "delay"].map(|key| in_force[key].clone());
    assert_eq!(shown, [json!(["zzz"]), json!("50/s"), json!("2s")]);
    assert_eq!(server.post(&format!("/crawls/{b}/rules"), &json!({"block": "x.test"})).status, 200);
    let expected =
        ["blocked-hosts null x.test", "delay 300ms 2s", "exclude null [zzz]", "rate null 50/s"];
    assert_eq!(compared(), expected, "while it runs");
    stop(&server, &b);
    assert_eq!(compared(), expected, "and when it has ended");
    let run = server.get(&format!("/crawls/{b}/runs")).json()["runs"][0].clone();
    let told = run["changes"].as_array().expect("changes").iter();
    let mut told: Vec<String> = told
        .map(|change| format!("{}={}", change["key"], change["value"]).replace('"', ""))
        .collect();
    told.sort();
    assert_eq!(told, ["block=x.test", "delay=2000ms", "exclude=zzz", "rate=50"], "{run:#}");
}

#[test]
fn a_rule_can_be_set_and_lifted_whether_it_runs_or_not() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let id = server.crawl(&world, json!({"delay": "150ms", "exclude": ["/never/"]}));
    let rules = format!("/crawls/{id}/rules");
    server.wait_for(&id, "under way", |crawl| crawl["counts"]["queued"].as_u64() > Some(5));
    let shown = || {
        let all = server.get(&rules).json()["rules"].as_array().unwrap().clone();
        all.iter().map(|rule| rule["value"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for is_alive in [true, false] {
        let preview = server.post(&format!("{rules}/preview"), &json!({"exclude": "."}));
        assert_eq!(preview.status, 200, "{is_alive} {}", preview.text());
        assert!(preview.json()["matching"].as_u64() > Some(0), "{is_alive} {}", preview.text());
        let wrong = server.post(&rules, &json!({"exclude": "("}));
        assert_eq!((wrong.status, &wrong.json()["key"]), (422, &json!("exclude")));
        assert_eq!(server.post(&rules, &json!({"exclude": "/x%y/"})).status, 200);
        for typed in ["ads.test", " ADS.test ", "*.ads.test"] {
            assert_eq!(server.post(&rules, &json!({"block": typed})).status, 200, "{typed}");
        }
        let wrong = server.post(&rules, &json!({"block": "no host"}));
        assert_eq!((wrong.status, &wrong.json()["key"]), (422, &json!("block")));
        assert_eq!(shown(), ["/never/", "ads.test", "/x%y/"], "{is_alive}");
        assert_eq!(server.delete(&format!("{rules}?exclude=/x%25y/")).status, 200, "{is_alive}");
        assert_eq!(server.delete(&format!("{rules}?block=Ads.test")).status, 200, "{is_alive}");
        assert_eq!(server.delete(&format!("{rules}?exclude=/x%25y/")).status, 404, "{is_alive}");
        assert_eq!(server.delete(&rules).status, 422);
        // One of the settings is lifted, and held again.
        assert_eq!(server.delete(&format!("{rules}?exclude=/never/")).status, 200, "{is_alive}");
        assert_eq!(shown(), [""; 0], "{is_alive}");
        assert_eq!(server.post(&rules, &json!({"exclude": "/never/"})).status, 200);
        assert_eq!((shown(), changes(&server, &id)), (vec!["/never/".to_owned()], vec![]));
        if is_alive {
            stop(&server, &id);
        }
    }
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
    for delay in ["soon", "x:5s", "0s"] {
        let wrong = server.patch(&one, &json!({"paused": true, "delay": delay}));
        assert_eq!((wrong.status, &wrong.json()["key"]), (422, &json!("delay")), "{delay}");
    }
    assert_eq!(changes(&server, &id), [""; 0], "nothing was changed by what is wrong");
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
        let told = server.wait_for(id, "given its share", |crawl| crawl["rates"]["places"] == 3);
        let reason = told["rates"]["places_reason"].as_str().expect("a reason");
        assert!(reason.contains("share"), "{reason}");
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
        (json!({"seeds": ["http://a.example/"], "include": ["("]}), "include"),
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
