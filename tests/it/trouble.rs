//! Trouble is sat out: our own network that goes away, addresses that do not answer, hosts that fail.

use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use larm_core::{Failure, FailureClass, Limits, Lookup, Millis};
use larm_crawl::clock::Clock;
use larm_crawl::fetch::{
    BoxFuture, Fetch, FetchPlan, Fetched, FixedResolver, HttpFetch, Resolve, Resolved,
};
use larm_crawl::robots::Permit;
use larm_crawl::{Crawl, Phase, Plan};
use larm_testsite::WebPlan;

use crate::archive::said;
use crate::hand::{Hand, page, redirect};
use crate::kept::Kept;
use crate::larm::Larm;
use crate::world::{World, assert_none, assert_perfect, run, runtime};

/// The real network, with a switch: from one request to another everything fails.
#[derive(Clone)]
struct Switched {
    network: Arc<HttpFetch>,
    asked: Arc<AtomicU64>,
    /// The numbers of the tries that fail.
    down: std::ops::Range<u64>,
    class: FailureClass,
}

impl Switched {
    fn new(down: std::ops::Range<u64>, class: FailureClass) -> Self {
        let network = HttpFetch::new(FetchPlan::default(), None, Limits::default(), Clock::start());
        let network = Arc::new(network.expect("a fetcher"));
        Self { network, asked: Arc::default(), down, class }
    }

    fn tries(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Fetch for Switched {
    fn fetch<'a>(
        &'a self,
        permit: &'a Permit,
        sent: &'a (dyn Fn(Millis) + Send + Sync),
    ) -> BoxFuture<'a, Result<Fetched, Failure>> {
        if self.down.contains(&self.asked.fetch_add(1, Ordering::SeqCst)) {
            let failure = Failure::new(self.class, "the cable is out");
            return Box::pin(std::future::ready(Err(failure)));
        }
        self.network.fetch(permit, sent)
    }
}

/// Short times, so that an outage is over within seconds.
fn hasty(mut plan: Plan) -> Plan {
    plan.limits.outage_quiet_ms_min = 100;
    plan.limits.outage_probe_ms_min = 50;
    plan.limits.outage_probe_ms_max = 200;
    plan.limits.outage_doubt_ms_max = 2_000;
    plan
}

/// Crawls, and tells in which phases the crawl was.
fn phases_of(crawl: Crawl) -> (larm_crawl::Result<larm_crawl::Summary>, Vec<Phase>) {
    runtime().block_on(async {
        let running = crawl.start().expect("the crawl starts");
        let handle = running.handle();
        let mut phases = Vec::new();
        let mut end = std::pin::pin!(running.wait());
        loop {
            let phase = handle.status(0).phase;
            if phases.last() != Some(&phase) {
                phases.push(phase);
            }
            let moment = std::time::Duration::from_millis(10);
            if let Ok(end) = tokio::time::timeout(moment, &mut end).await {
                return (end, phases);
            }
        }
    })
}

#[test]
fn an_outage_in_the_middle_costs_no_page_and_no_try() {
    for class in [FailureClass::Offline, FailureClass::ConnectTimeout] {
        let world = World::new(WebPlan { hosts: 8, pages_per_host: 6, ..WebPlan::default() });
        let network = Switched::new(20..60, class);
        let crawl = Crawl::new(hasty(world.plan())).fetcher(network.clone());
        let (end, phases) = phases_of(crawl);
        let summary = end.expect("the crawl ends well");
        assert!(phases.contains(&Phase::Offline), "{class}: {phases:?}");
        assert!(network.tries() > 60, "{class}: it went on");
        assert_perfect(&world.audit());
        assert_eq!(summary.retries, 0, "{class}: {summary:?}");
        assert_none("failures", &summary.failed);
    }
}

#[test]
fn a_dead_host_among_living_ones_does_not_pause_the_crawl() {
    let hand = Hand::serve(|port| {
        let others = (0..6).map(|n| format!("http://h{n}.test:{port}/"));
        let links: Vec<String> = others.collect();
        let links: Vec<&str> = links.iter().map(String::as_str).collect();
        let living = (0..5).map(|n| (format!("h{n}.test/"), page(&["/more"])));
        let more = (0..5).map(|n| (format!("h{n}.test/more"), page(&[])));
        std::iter::once(("start.test/".to_owned(), page(&links)))
            .chain(living)
            .chain(more)
            .collect()
    });
    let here: IpAddr = Ipv4Addr::LOCALHOST.into();
    // There is no way to the last of them.
    let nowhere: IpAddr = "240.0.0.1".parse().expect("an address");
    let names = (0..5).map(|n| (format!("h{n}.test"), vec![here]));
    let odd = [("start.test".to_owned(), vec![here]), ("h5.test".to_owned(), vec![nowhere])];
    let names = FixedResolver::new(names.chain(odd));
    let mut plan = hasty(hand.plan("start.test/", &[]));
    plan.selection.scope = larm_core::scope::ScopeMode::Any;
    let allowed = ["127.0.0.0/8", "240.0.0.0/4"];
    plan.allow_private = allowed.map(|text| text.parse().expect("a network")).into();
    plan.limits.connect_ms_max = 300;
    let (end, phases) = phases_of(Crawl::new(plan).resolver(names));
    assert!(!phases.contains(&Phase::Offline), "{phases:?}");
    let summary = end.expect("the crawl ends well");
    assert_eq!(summary.fetched, 11, "{summary:?}");
}

#[test]
fn without_any_network_the_crawl_says_so_and_keeps_its_urls() {
    let hand = Hand::serve(|_| vec![("start.test/".to_owned(), page(&[]))]);
    let mut plan = hasty(hand.plan("start.test/", &["start.test"]));
    plan.limits.outage_start_ms_max = 400;
    let network = Switched::new(0..u64::MAX, FailureClass::Offline);
    let error = run(Crawl::new(plan.clone()).fetcher(network)).expect_err("there is no network");
    assert!(error.to_string().contains("offline since"), "{error}");
    let summary = run(Crawl::new(plan)).expect("the crawl ends well");
    assert_eq!(summary.fetched, 1, "{summary:?}");
}

#[test]
fn the_next_address_of_a_host_is_tried_before_it_is_blamed() {
    let hand = Hand::serve(|_| {
        let pages = [("start.test/", page(&["/a"])), ("start.test/a", page(&[]))];
        pages.map(|(place, page)| (place.to_owned(), page)).into()
    });
    let addresses = ["127.9.9.9", "127.9.9.8", "127.0.0.1"];
    let addresses = addresses.map(|text| text.parse().expect("an address")).into();
    let names = FixedResolver::new([("start.test", addresses)]);
    let summary = run(Crawl::new(hand.plan("start.test/", &[])).resolver(names));
    let summary = summary.expect("the crawl ends well");
    assert_eq!((summary.fetched, summary.retries), (2, 0), "{summary:?}");
    assert_eq!(hand.asked(), ["start.test/", "start.test/a"]);
}

#[test]
fn ports_of_one_host_can_be_at_different_addresses() {
    let one = Hand::serve(|_| {
        vec![("h.test/".to_owned(), page(&["/a"])), ("h.test/a".to_owned(), page(&[]))]
    });
    let two = Hand::serve(|_| {
        vec![("h.test/".to_owned(), page(&["/b"])), ("h.test/b".to_owned(), page(&[]))]
    });
    let mut plan = one.plan("h.test/", &[]);
    plan.seeds.push(crate::world::url(&two.url("h.test/")));
    // Nobody is at 127.9.9.9; with the wrong address for a port, nothing comes.
    let rule =
        |port: u16, address: &str| format!("h.test:{port}:{address}").parse().expect("a rule");
    plan.resolve = vec![rule(one.port(), "127.0.0.1"), rule(two.port(), "127.9.9.9,127.0.0.1")];
    let summary = run(Crawl::new(plan)).expect("the crawl ends well");
    assert_eq!(summary.fetched, 4, "{summary:?}");
    assert_eq!((one.asked().len(), two.asked().len()), (2, 2));
}

/// Answers as name servers would, differently each time.
struct Rebinding(Mutex<Vec<IpAddr>>);

impl Resolve for Rebinding {
    fn resolve<'a>(&'a self, host: &'a str, _: u16) -> BoxFuture<'a, Result<Resolved, Failure>> {
        let mut answers = self.0.lock().expect("nobody panicked");
        let address = if answers.len() > 1 { answers.remove(0) } else { answers[0] };
        let records = vec![format!("{host}.\t0\tIN\tA\t{address}")];
        let lookup = Lookup { host: host.into(), at: Clock::start().now(), server: None, records };
        let resolved = Resolved {
            addresses: vec![address],
            lookup: Some(lookup),
            alias: Some("edge.test".into()),
            ..Resolved::default()
        };
        Box::pin(std::future::ready(Ok(resolved)))
    }
}

/// Takes note of where a request would go, and says that nobody is there.
#[derive(Clone, Default)]
struct Noting(Arc<Mutex<Vec<IpAddr>>>);

impl Fetch for Noting {
    fn fetch<'a>(
        &'a self,
        permit: &'a Permit,
        _: &'a (dyn Fn(Millis) + Send + Sync),
    ) -> BoxFuture<'a, Result<Fetched, Failure>> {
        let mut seen = self.0.lock().expect("nobody panicked");
        seen.push(permit.address());
        seen.extend(permit.others());
        Box::pin(std::future::ready(Err(Failure::new(FailureClass::Refused, "nobody there"))))
    }
}

/// A machine that has no file left for the first look-ups.
struct OutOfFiles {
    refused: Mutex<u32>,
    names: Rebinding,
}

impl Resolve for OutOfFiles {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, Result<Resolved, Failure>> {
        let mut refused = self.refused.lock().expect("nobody panicked");
        if let Some(fewer) = refused.checked_sub(1) {
            *refused = fewer;
            let failure = Failure::new(FailureClass::NoFiles, "no file left here");
            return Box::pin(std::future::ready(Err(failure)));
        }
        self.names.resolve(host, port)
    }
}

#[test]
fn look_ups_for_which_there_is_no_file_are_held_against_nobody() {
    let hand = Hand::serve(|_| {
        vec![("start.test/".to_owned(), page(&["/a"])), ("start.test/a".to_owned(), page(&[]))]
    });
    let mut plan = hand.plan("start.test/", &[]);
    // More refusals than a host that fails would have chances.
    plan.limits.host_chances_max = 1;
    let names = Rebinding(Mutex::new(vec![Ipv4Addr::LOCALHOST.into()]));
    let names = OutOfFiles { refused: Mutex::new(3), names };
    let summary = run(Crawl::new(plan).resolver(names));
    let summary = summary.expect("the crawl ends well");
    assert_eq!((summary.fetched, summary.failed.len()), (2, 0), "{summary:?}");
}

#[test]
fn a_name_that_moves_into_this_machine_after_the_check_is_not_followed() {
    let [public, clouds]: [IpAddr; 2] =
        ["93.184.216.34", "169.254.169.254"].map(|text| text.parse().expect("an address"));
    let hand = Hand::serve(|_| Vec::new());
    let mut plan = hand.plan("start.test/", &[]);
    plan.limits.dns_ttl_ms_min = 1;
    let (fetch, names) = (Noting::default(), Rebinding(Mutex::new(vec![public, clouds])));
    run(Crawl::new(plan).resolver(names).fetcher(fetch.clone())).expect("the crawl ends well");
    let seen = fetch.0.lock().expect("nobody panicked").clone();
    assert_eq!(seen, [public], "what was checked, and nothing else");
    let log = std::fs::read_to_string(hand.dir().join("logs/crawl.jsonl")).expect("a log");
    assert!(log.contains("a cloud's metadata service"), "{log}");
}

#[test]
fn what_name_servers_said_is_archived_once_and_told() {
    let hand = Hand::serve(|_| {
        vec![("start.test/".to_owned(), page(&["/a"])), ("start.test/a".to_owned(), page(&[]))]
    });
    let plan = hand.plan("start.test/", &[]);
    let names = Rebinding(Mutex::new(vec![Ipv4Addr::LOCALHOST.into()]));
    let handle = runtime().block_on(async {
        let running = Crawl::new(plan).resolver(names).start().expect("the crawl starts");
        let handle = running.handle();
        running.wait().await.expect("the crawl ends well");
        handle
    });
    let kept = Kept::of(&hand.dir());
    kept.assert_sound();
    let host = handle.host("start.test").expect("it is known");
    assert_eq!(host.alias.as_deref(), Some("edge.test"));
    assert_eq!(host.address, Some(Ipv4Addr::LOCALHOST.into()));
    let lookups = kept.lookups();
    assert_eq!(lookups.len(), 1, "{lookups:?}");
    assert_eq!(lookups[0].target(), Some("dns:start.test"));
    let block = String::from_utf8_lossy(&lookups[0].block);
    let (date, records) = block.split_once('\n').expect("a line");
    assert!(date.len() == 14 && date.bytes().all(|byte| byte.is_ascii_digit()), "{date}");
    assert_eq!(records, "start.test.\t0\tIN\tA\t127.0.0.1\n");
    assert_eq!(kept.indexed_lookups, ["dns:start.test"]);
}

#[test]
fn a_robots_file_on_a_blocked_host_or_port_is_not_followed() {
    let hand = Hand::serve(|port| {
        vec![
            (
                "start.test/robots.txt".to_owned(),
                redirect(&format!("http://blocked.test:{port}/robots.txt")),
            ),
            ("start.test/".to_owned(), page(&[])),
            ("blocked.test/robots.txt".to_owned(), page(&[])),
        ]
    });
    let mut plan = hand.plan("start.test/", &["start.test", "blocked.test"]);
    plan.selection.blocked = vec!["blocked.test".to_owned()];
    let _ = run(Crawl::new(plan));
    assert_none("requests to the blocked host", {
        hand.all_asked().into_iter().filter(|place| place.starts_with("blocked.test"))
    });
}

#[test]
fn status_tells_what_each_host_does_running_or_not() {
    let world = World::new(WebPlan { hosts: 3, pages_per_host: 4, ..WebPlan::default() });
    let larm = Larm::new(&world, "0");
    larm.run(&world.dir());
    let table = larm.ask(&["status", &world.dir().to_string_lossy(), "--hosts"]);
    let table = String::from_utf8(table.stdout).expect("text");
    assert!(table.contains("HOST") && table.contains("3 hosts"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
    let json = larm.ask(&["status", &world.dir().to_string_lossy(), "--hosts", "2", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(json["total"], 3, "{json}");
    assert_eq!(json["hosts"].as_array().map(Vec::len), Some(2), "{json}");
    assert_eq!(json["hosts"][0]["state"], "idle", "{json}");
    let address = json["hosts"][0]["address"].as_str().expect("an address");
    assert!(address.starts_with("127."), "{json}");
}

/// Runs one of larm's commands, with what it said and how it ended.
fn larm(arguments: &[&str]) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
    let output = command.args(arguments).stdin(Stdio::null()).output().expect("the binary starts");
    (said(&output), output.status.code())
}

/// Asks until the answer has these words in it.
fn larm_until(arguments: &[&str], words: &str) -> String {
    let mut answers = (0..1_000).map(|_| larm(arguments).0);
    answers.find(|answer| answer.contains(words)).unwrap_or_else(|| panic!("never: {words}"))
}

#[test]
fn while_a_host_waits_and_afterwards_it_is_told_what_went_wrong() {
    // Nobody else is at this address: the port stays free.
    let port = TcpListener::bind("127.9.9.9:0").unwrap().local_addr().unwrap().port();
    let temp = tempfile::tempdir().expect("a directory");
    let dir = temp.path().join("c.larm");
    let (dir, url) = (dir.to_str().unwrap(), format!("http://home.test:{port}/"));
    let rule = format!("--resolve=home.test:{port}:127.9.9.9");
    let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
    command.args(["crawl", &url, "-o", dir, "--no-progress", &rule]);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the binary starts");
    let hosts = larm_until(&["status", dir, "--hosts"], "connection refused");
    assert!(hosts.contains("home.test"), "{hosts}");
    let why = larm_until(&["why", dir, &url], "connection refused");
    assert!(why.contains("waiting: known"), "{why}");
    let (refused, code) = larm(&["resume", dir, "--depth", "3"]);
    assert!(code == Some(2) && refused.contains("larm stop"), "{refused}");
    let (taken, code) = larm(&["resume", dir, "--delay", "2s"]);
    assert!(code == Some(0) && taken.contains("delay is 2000ms from now on"), "{taken}");
    larm(&["stop", dir]);
    child.wait().expect("a child can be waited for");
    let (hosts, _) = larm(&["status", dir, "--hosts"]);
    assert!(hosts.contains("connection refused"), "after the run, too: {hosts}");
}
