//! Made, started, paused, stopped, deleted; and servers that come and go while crawls run.

use std::process::Command;

use serde_json::json;

use super::http::Answer;
use super::{Root, Server, TOKEN, settings, world};

#[test]
fn a_crawl_is_previewed_made_run_to_its_end_and_deleted() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let body = json!({"name": "My Web", "settings": settings(&world, json!({"max-pages": 500}))});
    let preview = server.post("/crawls/preview", &body).json();
    let words = preview["words"].as_array().unwrap();
    assert!(
        words.len() >= 6 && words.iter().any(|words| words.as_str().unwrap().contains("500 pages"))
    );
    assert_eq!(preview["name"], "my-web");
    assert_eq!(preview["settings"]["delay"], "0s");
    assert!(root.crawls().is_empty(), "a preview makes nothing");

    let made = server.post("/crawls", &body);
    assert_eq!(made.status, 201, "{}", made.text());
    let done = server.wait_for_state("my-web", "finished");
    assert!(done["counts"]["fetched"].as_u64().unwrap() > 60, "{done:#}");
    assert_eq!(done["seeds_total"].as_u64(), Some(world.site.seeds().len() as u64));
    assert!(done["deletable"] == true && done["rates"].is_null());
    let stats = server.get("/crawls/my-web/stats").json();
    assert!(stats["points"].as_array().is_some_and(|points| !points.is_empty()));

    assert_eq!(server.request("DELETE", "/crawls/my-web").send(server.at).status, 204);
    assert_eq!(server.get("/crawls/my-web").status, 404);
    assert!(root.crawls().is_empty());
}

#[test]
fn a_crawl_that_is_not_started_is_new_and_can_be_told_something_else_first() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let body = json!({"start": false, "name": "later", "settings": settings(&world, json!({}))});
    assert_eq!(server.post("/crawls", &body).json()["state"], "new");
    let told = server.patch("/crawls/later/settings", &json!({"max-pages": 5}));
    assert_eq!(told.json()["settings"]["max-pages"], 5, "{}", told.text());
    assert_eq!(server.post("/crawls/later/start", &json!({})).status, 200);
    let ended = server.wait_for_state("later", "limit");
    assert!(ended["reason"].as_str().unwrap().contains("max-pages"), "{ended:#}");
    assert_eq!(ended["counts"]["fetched"], 5);
}

#[test]
fn crawls_that_are_made_at_once_get_a_name_each() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let body = json!({"name": "same", "settings": settings(&world, json!({})), "start": false});
    let requests = (0..6).map(|_| server.request("POST", "/crawls").json(&body));
    let (requests, at) = (requests.collect::<Vec<_>>(), server.at);
    let answers: Vec<_> = std::thread::scope(|scope| {
        let sent = requests.into_iter().map(|request| scope.spawn(move || request.send(at)));
        sent.collect::<Vec<_>>().into_iter().map(|answer| answer.join().unwrap()).collect()
    });
    let id = |answer: &Answer| answer.json()["id"].as_str().unwrap_or_default().to_owned();
    let mut ids: Vec<String> = answers.iter().map(id).collect();
    ids.sort();
    assert_eq!(ids, ["same", "same-2", "same-3", "same-4", "same-5", "same-6"]);
}

#[test]
fn one_server_looks_after_a_root() {
    let root = Root::new();
    let server = Server::start(root.path());
    let second = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
        command
            .args(["serve", "--listen", "localhost:0", "--token", "x", "--root"])
            .arg(root.path());
        command.output().unwrap()
    };
    let said = second();
    let text = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.code() == Some(2) && text.contains("another `larm serve`"), "{text}");
    server.kill();
    drop(Server::start(root.path()));
}

#[test]
fn what_is_wrong_is_said_with_its_key() {
    let root = Root::new();
    let server = Server::with(root.path(), &["--token", TOKEN]);
    let rows = [
        (json!({"seeds": ["http://a.example/"], "exclude": ["("]}), "exclude"),
        (json!({"seeds": ["http://a.example/"], "header": ["no colon"]}), "header"),
        (json!({"seeds": ["http://a.example/"], "user-agent": "a\nb"}), "user-agent"),
        (json!({"seeds": ["foo"]}), "seeds"),
        (json!({"seeds": ["http://a.example/ http://b.example/"]}), "seeds"),
        (json!({"seeds": ["http://a.example/"], "delay": "0s"}), "delay"),
    ];
    for (settings, key) in rows {
        let answer = server.post("/crawls/preview", &json!({"settings": settings}));
        let problem = answer.json();
        assert_eq!((answer.status, problem["key"].as_str()), (422, Some(key)), "{problem}");
        let words = problem["detail"].as_str().unwrap();
        assert!(!words.contains("--") && !words.contains("a file of"), "{words}");
    }
}

#[test]
fn a_crawl_is_paused_woken_and_stopped_and_goes_on_where_it_was() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let id = server.crawl(&world, json!({"delay": "200ms"}));
    server.wait_for(&id, "under way", |crawl| crawl["counts"]["fetched"].as_u64() > Some(3));
    assert_eq!(server.post(&format!("/crawls/{id}/pause"), &json!({})).json()["state"], "paused");
    assert_eq!(server.request("DELETE", &format!("/crawls/{id}")).send(server.at).status, 409);
    assert_eq!(server.post(&format!("/crawls/{id}/resume"), &json!({})).json()["state"], "running");
    assert_eq!(server.post(&format!("/crawls/{id}/stop"), &json!({})).status, 200);
    let stopped = server.wait_for_state(&id, "stopped");
    assert_eq!(server.post(&format!("/crawls/{id}/pause"), &json!({})).status, 409);
    server.post(&format!("/crawls/{id}/start"), &json!({}));
    let before = stopped["counts"]["fetched"].as_u64();
    server.wait_for(&id, "further", |crawl| crawl["counts"]["fetched"].as_u64() > before);
}

#[test]
fn a_server_that_ends_stops_its_crawls_and_the_next_one_goes_on() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let id = server.crawl(&world, json!({"delay": "200ms"}));
    server.wait_for(&id, "under way", |crawl| crawl["counts"]["fetched"].as_u64() > Some(3));
    let said = server.end();
    assert!(said.contains("1 crawl was stopped"), "{said}");
    assert!(!larm_crawl::directory::in_use(&root.path().join("web.larm")));
    let next = Server::start(root.path());
    next.wait_for_state(&id, "running");
    next.patch(&format!("/crawls/{id}/settings"), &json!({"delay": "1ms"}));
    next.wait_for_state(&id, "finished");
    next.end();
    let last = Server::start(root.path());
    assert_eq!(
        last.get(&format!("/crawls/{id}")).json()["state"],
        "finished",
        "nothing is begun anew"
    );
}

#[test]
fn crawls_survive_a_server_that_is_killed_and_are_found_again() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let id = server.crawl(&world, json!({"delay": "200ms"}));
    server.wait_for(&id, "under way", |crawl| crawl["counts"]["fetched"].as_u64() > Some(3));
    server.kill();
    assert!(larm_crawl::directory::in_use(&root.path().join("web.larm")), "it runs on");
    let next = Server::start(root.path());
    let found = next.get(&format!("/crawls/{id}")).json();
    assert!(found["state"] == "running" && found["managed"] == true, "{found:#}");
    assert_eq!(next.post(&format!("/crawls/{id}/stop"), &json!({})).status, 200);
    next.wait_for_state(&id, "stopped");
}

/// The process of the crawl `web`, if it listens.
fn pid(root: &Root) -> Option<u64> {
    let bytes = std::fs::read(root.path().join("web.larm/state/control.json")).ok()?;
    serde_json::from_slice::<serde_json::Value>(&bytes).ok()?["pid"].as_u64()
}

#[test]
fn whoever_looks_at_a_crawl_does_not_keep_it_from_starting() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let id = server.crawl(&world, json!({"delay": "1s"}));
    let hosts = format!("/crawls/{id}/hosts");
    for _ in 0..4 {
        server.wait_for(&id, "listening", |_| pid(&root).is_some());
        server.post(&format!("/crawls/{id}/stop"), &json!({}));
        server.wait_for_state(&id, "stopped");
        std::thread::scope(|scope| {
            for _ in 0..3 {
                let requests: Vec<_> = (0..5).map(|_| server.request("GET", &hosts)).collect();
                let at = server.at;
                scope.spawn(move || {
                    for answer in requests.into_iter().map(|request| request.send(at)) {
                        assert_eq!(answer.status, 200, "{}", answer.text());
                    }
                });
            }
            assert_eq!(server.post(&format!("/crawls/{id}/start"), &json!({})).status, 200);
        });
    }
    server.wait_for_state(&id, "running");
}

#[test]
fn a_start_right_after_a_stop_counts() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let id = server.crawl(&world, json!({"delay": "200ms"}));
    server.wait_for(&id, "under way", |crawl| crawl["counts"]["fetched"].as_u64() > Some(3));
    let first = pid(&root).expect("it listens");
    assert_eq!(server.post(&format!("/crawls/{id}/stop"), &json!({})).status, 200);
    assert_eq!(server.post(&format!("/crawls/{id}/start"), &json!({})).status, 200);
    server.wait_for(&id, "started again", |crawl| {
        crawl["state"] == "running" && pid(&root).is_some_and(|pid| pid != first)
    });
}

#[test]
fn a_change_right_after_a_start_counts() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let id = server.crawl(&world, json!({"delay": "1s"}));
    for delay in ["11s", "12s", "13s"] {
        server.wait_for(&id, "listening", |_| pid(&root).is_some());
        server.post(&format!("/crawls/{id}/stop"), &json!({}));
        server.wait_for_state(&id, "stopped");
        assert_eq!(server.post(&format!("/crawls/{id}/start"), &json!({})).status, 200);
        let changed = server.patch(&format!("/crawls/{id}/settings"), &json!({"delay": delay}));
        assert_eq!(changed.status, 200, "{}", changed.text());
        server.wait_for(&id, "listening", |_| pid(&root).is_some());
        let told = server.get(&format!("/crawls/{id}/settings")).json();
        let mut changes = told["changes"].as_array().into_iter().flatten();
        let live = changes.rfind(|change| change["key"] == "delay");
        let in_force = live.map_or(&told["settings"]["delay"], |change| &change["value"]);
        let ms = larm_crawl::change::parse_duration_ms(in_force.as_str().unwrap());
        assert_eq!(ms, larm_crawl::change::parse_duration_ms(delay), "{told:#}");
    }
}

#[test]
fn a_crawl_that_is_killed_is_started_again() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let id = server.crawl(&world, json!({"delay": "200ms"}));
    server.wait_for(&id, "under way", |crawl| crawl["counts"]["fetched"].as_u64() > Some(3));
    let first = pid(&root).expect("it listens");
    std::process::Command::new("kill").args(["-9", &first.to_string()]).status().unwrap();
    server.wait_for(&id, "started again", |crawl| {
        crawl["state"] == "running"
            && crawl["rates"].is_object()
            && pid(&root).is_some_and(|pid| pid != first)
    });
}

#[test]
fn a_crawl_that_came_to_nothing_says_why() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let nobody = json!({"seeds": ["http://127.0.0.1:9/"], "limits": {"host_chances_ms_max": 1}});
    let body = json!({"start": true, "name": "web", "settings": settings(&world, nobody)});
    server.post("/crawls", &body);
    let ended = server.wait_for_state("web", "finished");
    assert_eq!(ended["reason"], "Nothing could be fetched: 1 × refused.", "{ended:#}");
}

#[test]
fn a_crawl_that_cannot_go_on_says_why() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let body = json!({"start": false, "name": "web", "settings": settings(&world, json!({}))});
    server.post("/crawls", &body);
    let toml = root.path().join("web.larm/larm.toml");
    let text = std::fs::read_to_string(&toml).unwrap();
    std::fs::write(&toml, format!("no-such-key = 1\n{text}")).unwrap();
    server.post("/crawls/web/start", &json!({}));
    let failed = server.wait_for_state("web", "failed");
    assert!(failed["reason"].as_str().is_some_and(|why| !why.is_empty()), "{failed:#}");
}
