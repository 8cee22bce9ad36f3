//! Five hundred hosts, of which a third misbehave as the dice have it: the good pages are all there, every
//! bad URL has an outcome in words, nothing hangs, and neither memory nor open files grow.
//!
//! The binary is a process of its own, so that what it takes can be seen from outside.

use larm_testsite::{Kind, WebPlan};
use serde_json::Value;

use crate::kept::Kept;
use crate::larm::{Larm, said};
use crate::world::{World, assert_harmless, assert_none};

/// Draws who misbehaves, and how.
const SEED: u64 = 4;

const FETCHES: usize = 64;
const IDLE_CONNECTIONS: usize = 32;
/// Files that a crawl has open beside its connections.
const OWN_FILES: usize = 80;
const MEMORY_BYTES: usize = 300_000_000;

/// Small, so that those who want to be waited for are not waited for long.
const LIMITS: [&str; 12] = [
    "first_byte_ms_max=5000",
    "connect_ms_max=5000",
    "fetch_ms_max=6000",
    "url_tries_max=2",
    "host_back_off_ms_max=100",
    "retry_after_ms_max=1500",
    "host_chances_max=2",
    "host_chances_ms_max=500",
    "body_bytes_max=2000000",
    "body_decoded_bytes_max=4000000",
    "page_links_max=100",
    "connections_idle_max=32",
];

#[test]
fn of_five_hundred_hosts_a_third_may_misbehave() {
    let world = World::new(WebPlan { named_hosts: true, ..WebPlan::chaos(SEED, 500) });
    let limits = LIMITS.map(|limit| format!("--limit={limit}"));
    let places = format!("--concurrency={FETCHES}");
    let more: Vec<&str> = limits.iter().map(String::as_str).chain([places.as_str()]).collect();
    let (output, most) = Larm::new(&world, "0").start_with(&more, &world.dir()).watch();
    assert!(output.status.success(), "{}", said(&output));
    println!("{most:?}\n{}", said(&output));
    assert!(most.files <= FETCHES + IDLE_CONNECTIONS + OWN_FILES, "{most:?}");
    assert!(most.bytes <= MEMORY_BYTES, "{most:?}");
    let audit = world.audit();
    assert_none("missing", &audit.coverage.missing);
    assert_harmless(&audit);
    assert_every_bad_url_has_its_reason(&world);
}

fn assert_every_bad_url_has_its_reason(world: &World) {
    let (truth, kept) = (world.site.truth(), Kept::of(&world.dir()));
    kept.assert_sound();
    let is_bad = |kind: &Kind| matches!(kind, Kind::Broken(_) | Kind::Unreachable);
    let bad = truth.pages.iter().filter(|(_, page)| is_bad(&page.kind));
    let bad: Vec<&String> = bad.map(|(url, _)| url).collect();
    assert!(bad.len() > 120, "{} bad URLs are few for a third of 500 hosts", bad.len());
    let silent = bad.into_iter().map(|url| kept.line(url)).filter(|line| !is_explained(line));
    assert_none("bad URLs without a reason", silent);
}

/// Whoever was not answered says why.
fn is_explained(line: &Value) -> bool {
    let answered = matches!(line["outcome"].as_str(), Some("fetched" | "redirected"));
    answered || line["reason"].as_str().is_some_and(|reason| reason.contains(": "))
}
