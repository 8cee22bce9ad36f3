//! Made, started, paused, stopped, deleted; and servers that come and go while crawls run.

use serde_json::json;

use super::{Root, Server, settings, world};

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

#[test]
fn a_crawl_that_is_killed_is_started_again() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let id = server.crawl(&world, json!({"delay": "200ms"}));
    server.wait_for(&id, "under way", |crawl| crawl["counts"]["fetched"].as_u64() > Some(3));
    let pid = |root: &Root| {
        let bytes = std::fs::read(root.path().join("web.larm/state/control.json")).ok()?;
        serde_json::from_slice::<serde_json::Value>(&bytes).ok()?["pid"].as_u64()
    };
    let first = pid(&root).expect("it listens");
    std::process::Command::new("kill").args(["-9", &first.to_string()]).status().unwrap();
    server.wait_for(&id, "started again", |crawl| {
        crawl["state"] == "running"
            && crawl["rates"].is_object()
            && pid(&root).is_some_and(|pid| pid != first)
    });
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
