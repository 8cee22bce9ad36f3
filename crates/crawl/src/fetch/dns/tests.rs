//! Rules and tables, and a real name server on loopback that misbehaves by name.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig, ResolverOpts};
use hickory_resolver::proto::op::{Message, ResponseCode};
use hickory_resolver::proto::rr::rdata::{CNAME, SOA};
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};

use super::*;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn ips(list: &[&str]) -> Vec<IpAddr> {
    list.iter().map(|text| ip(text)).collect()
}

#[test]
fn rules_are_read_as_they_are_typed() {
    type Read<'a> = Option<(&'a str, u16, &'a [&'a str])>;
    #[rustfmt::skip]
    let rows: &[(&str, Read<'_>)] = &[
        ("example.com:443:127.0.0.1", Some(("example.com", 443, &["127.0.0.1"]))),
        ("Example.COM.:80:10.0.0.1", Some(("example.com", 80, &["10.0.0.1"]))),
        ("*:80:127.0.0.1", Some(("*", 80, &["127.0.0.1"]))),
        ("h:80:[::1]", Some(("h", 80, &["::1"]))),
        ("h:80:::1", Some(("h", 80, &["::1"]))),
        ("[::2]:80:::1", Some(("::2", 80, &["::1"]))),
        ("h:80:[::1],127.0.0.1,::2", Some(("h", 80, &["::1", "127.0.0.1", "::2"]))),
        ("Bücher.example:80:127.0.0.1", Some(("xn--bcher-kva.example", 80, &["127.0.0.1"]))),
        ("h:80", None),
        ("h:80:", None),
        ("h:80:127.0.0.1,", None),
        ("h:99999:127.0.0.1", None),
        ("h::127.0.0.1", None),
        (":80:127.0.0.1", None),
        ("h:80:localhost", None),
        ("a b:80:127.0.0.1", None),
        ("", None),
    ];
    for (text, expected) in rows {
        let expected = expected.map(|(host, port, addresses)| ResolveRule {
            host: host.to_owned(),
            port,
            addresses: ips(addresses),
        });
        assert_eq!(text.parse::<ResolveRule>().ok(), expected, "{text:?}");
    }
}

#[tokio::test]
async fn rules_come_first_then_addresses_then_localhost() {
    let rules = [
        "a:80:10.0.0.1",
        "a:80:10.0.0.9",
        "a:81:10.0.0.4",
        "*:80:10.0.0.2",
        "127.0.0.1:81:10.0.0.3",
    ];
    let rules = rules.map(|text| text.parse().unwrap());
    let mut resolver = DnsResolver::new(&rules, &Limits::default(), Clock::start());
    resolver.servers = Err("nobody is asked".to_owned());
    let rows: &[(&str, u16, &[&str])] = &[
        ("a", 80, &["10.0.0.1", "10.0.0.9"]),
        ("a", 81, &["10.0.0.4"]),
        ("b", 80, &["10.0.0.2"]),
        ("127.0.0.1", 80, &["10.0.0.2"]),
        ("127.0.0.1", 81, &["10.0.0.3"]),
        ("127.0.0.1", 82, &["127.0.0.1"]),
        ("[::1]", 82, &["::1"]),
        ("localhost", 82, &["127.0.0.1", "::1"]),
        ("a.localhost.", 82, &["127.0.0.1", "::1"]),
        ("localhost.example", 82, &[]),
        ("a", 82, &[]),
    ];
    for (host, port, expected) in rows {
        let resolved = resolver.resolve(host, *port).await;
        let found = resolved.as_ref().map_or(Vec::new(), |resolved| resolved.addresses.clone());
        assert_eq!(found, ips(expected), "{host}:{port}");
        assert!(resolved.is_err() || resolved.unwrap().one_port, "`*` speaks of every host");
    }
}

#[tokio::test]
async fn only_a_host_of_which_a_rule_speaks_is_bound_to_its_port() {
    let rules = ["a:80:10.0.0.1".parse().unwrap()];
    let resolver = DnsResolver::new(&rules, &Limits::default(), Clock::start());
    assert!(resolver.resolve("a", 80).await.unwrap().one_port);
    assert!(!resolver.resolve("127.0.0.1", 80).await.unwrap().one_port);
}

#[tokio::test]
async fn a_fixed_table_answers_for_its_names_only() {
    let resolver = FixedResolver::new([("A.example", vec![ip("10.0.0.1")])]);
    assert_eq!(resolver.resolve("a.example", 80).await.unwrap().addresses, [ip("10.0.0.1")]);
    assert_eq!(resolver.resolve("[::1]", 80).await.unwrap().addresses, [ip("::1")]);
    assert_eq!(resolver.resolve("b.example", 80).await.unwrap_err().class, FailureClass::Dns);
}

#[tokio::test]
async fn without_name_servers_addresses_still_resolve_and_names_say_what_to_do() {
    let mut resolver = DnsResolver::new(&[], &Limits::default(), Clock::start());
    resolver.servers = Err("no name server is configured; use --resolve".to_owned());
    assert_eq!(resolver.resolve("127.0.0.1", 80).await.unwrap().addresses, [ip("127.0.0.1")]);
    let failure = resolver.resolve("example.com", 80).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Dns);
    assert!(failure.detail.contains("--resolve"), "{failure}");
}

/// How often each name was asked for, by type and way.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<BTreeMap<String, u32>>>);

impl Asked {
    fn note(&self, message: &Message, way: &str) {
        let query = message.queries.first().unwrap();
        let key = format!("{} {} {way}", query.name(), query.query_type()).to_ascii_lowercase();
        *self.0.lock().unwrap().entry(key).or_default() += 1;
    }

    fn times(&self, key: &str) -> u32 {
        self.0.lock().unwrap().get(key).copied().unwrap_or_default()
    }
}

/// A name server that knows a few names, whatever search domain is appended to them.
#[expect(clippy::disallowed_methods, reason = "a server needs a life of its own beside the test")]
async fn name_server() -> (SocketAddr, Asked) {
    let (udp, tcp) = loop {
        let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()).await {
            break (udp, tcp);
        }
    };
    let address = udp.local_addr().unwrap();
    let asked = Asked::default();
    let (by_udp, by_tcp) = (asked.clone(), asked.clone());
    tokio::spawn(async move {
        let mut buffer = [0; 512];
        while let Ok((count, client)) = udp.recv_from(&mut buffer).await {
            let query = Message::from_vec(&buffer[..count]).unwrap();
            by_udp.note(&query, "udp");
            if let Some(answer) = answer(query, false) {
                let _ = udp.send_to(&answer, client).await;
            }
        }
    });
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = tcp.accept().await {
            while let Ok(length) = stream.read_u16().await {
                let mut bytes = vec![0; length.into()];
                stream.read_exact(&mut bytes).await.unwrap();
                let query = Message::from_vec(&bytes).unwrap();
                by_tcp.note(&query, "tcp");
                let answer = answer(query, true).unwrap_or_default();
                stream.write_u16(answer.len().try_into().unwrap()).await.unwrap();
                stream.write_all(&answer).await.unwrap();
            }
        }
    });
    (address, asked)
}

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn soa(ttl: u32) -> Record {
    let soa = SOA::new(name("ns.example."), name("admin.example."), 1, 1, 1, 1, ttl);
    Record::from_rdata(name("example."), ttl, RData::SOA(soa))
}

fn answer(query: Message, by_tcp: bool) -> Option<Vec<u8>> {
    let question = query.queries.first()?.clone();
    let mut answer = query.into_response();
    let asked = question.name().to_string().to_ascii_lowercase();
    let kind = question.query_type();
    let mut add = |owner: &str, ttl, data| {
        answer.add_answer(Record::from_rdata(name(owner), ttl, data));
    };
    let (v4, v6) = (RData::from(ip("192.0.2.1")), RData::from(ip("2001:db8::1")));
    match (asked.as_str(), kind) {
        ("both.example.", RecordType::A) => add("both.example.", 60, v4),
        ("both.example.", _) => add("both.example.", 60, v6),
        ("six.example.", RecordType::AAAA) => add("six.example.", 60, v6),
        ("short.example.", RecordType::A) => add("short.example.", 0, v4),
        ("long.example.", RecordType::A) => add("long.example.", 1_000_000, v4),
        ("www.example.", RecordType::A) => {
            add("www.example.", 300, RData::CNAME(CNAME(name("cdn.example."))));
            add("cdn.example.", 30, RData::CNAME(CNAME(name("edge.example."))));
            add("edge.example.", 20, v4);
        }
        ("half.example.", RecordType::A) => add("half.example.", 60, v4),
        ("half.example.", _) => return None,
        ("large.example.", RecordType::A) if by_tcp => add("large.example.", 60, v4),
        ("large.example.", RecordType::A) => answer.metadata.truncation = true,
        ("garbage.example.", _) => return Some(b"\x00\x01 this is no answer".to_vec()),
        ("silent.example.", _) => return None,
        ("broken.example.", _) => answer.metadata.response_code = ResponseCode::ServFail,
        (
            "six.example." | "none.example." | "www.example." | "short.example." | "long.example."
            | "large.example.",
            _,
        ) => _ = answer.add_authority(soa(5)),
        _ => {
            answer.metadata.response_code = ResponseCode::NXDomain;
            answer.add_authority(soa(5));
        }
    }
    Some(answer.to_vec().unwrap())
}

fn config(server: SocketAddr) -> ResolverConfig {
    let mut config = NameServerConfig::udp_and_tcp(server.ip());
    let mut connections = vec![ConnectionConfig::udp(), ConnectionConfig::tcp()];
    connections.iter_mut().for_each(|connection| connection.port = server.port());
    config.connections = connections;
    ResolverConfig::from_parts(None, vec![name("search.example.")], vec![config])
}

async fn resolver(limits: &Limits) -> (DnsResolver, Asked) {
    let (server, asked) = name_server().await;
    (asking(server, limits), asked)
}

fn asking(server: SocketAddr, limits: &Limits) -> DnsResolver {
    let clock = Clock::start();
    let mut resolver = DnsResolver::new(&[], limits, clock);
    let servers = Servers::new(config(server), ResolverOpts::default(), limits, clock);
    resolver.servers = servers.map_err(|error| error.to_string());
    resolver
}

#[tokio::test]
async fn both_families_are_asked_for_and_names_are_complete() {
    let (resolver, asked) = resolver(&Limits::default()).await;
    let rows: [(&str, Result<&[&str], &str>); 6] = [
        ("both.example", Ok(&["2001:db8::1", "192.0.2.1"])),
        ("BOTH.example.", Ok(&["2001:db8::1", "192.0.2.1"])),
        ("six.example", Ok(&["2001:db8::1"])),
        ("none.example", Err("no address")),
        ("unknown.example", Err("no such name")),
        ("both", Err("no such name")),
    ];
    for (host, expected) in rows {
        match (resolver.resolve(host, 80).await, expected) {
            (Ok(resolved), Ok(addresses)) => {
                assert_eq!(resolved.addresses, ips(addresses), "{host}");
                assert!((1..=60_000).contains(&resolved.ttl_ms), "{}", resolved.ttl_ms);
            }
            (Err(failure), Err(words)) => {
                assert_eq!(failure.class, FailureClass::Dns);
                assert!(failure.detail.contains(words), "{host}: {failure}");
            }
            (result, _) => panic!("{host}: {result:?}"),
        }
    }
    assert_eq!(asked.times("both.example. a udp"), 1, "the second time it was known");
}

#[tokio::test]
async fn answers_hold_within_the_bounds_and_are_archived_once() {
    let limits = Limits { dns_ttl_ms_min: 5_000, dns_ttl_ms_max: 50_000, ..Limits::default() };
    let (resolver, asked) = resolver(&limits).await;
    for (host, ttl_ms) in [("short.example", 4_000..=5_000), ("long.example", 49_000..=50_000)] {
        let first = resolver.resolve(host, 80).await.unwrap();
        assert!(ttl_ms.contains(&first.ttl_ms), "{host}: {}", first.ttl_ms);
        let lookup = first.lookup.expect("it was asked for");
        assert_eq!(&*lookup.host, host);
        assert_eq!(lookup.server, Some(ip("127.0.0.1")));
        let second = resolver.resolve(host, 443).await.unwrap();
        assert_eq!((second.addresses, second.lookup), (first.addresses, None), "{host}");
        assert_eq!(asked.times(&format!("{host}. a udp")), 1);
    }
}

#[tokio::test]
async fn that_there_is_no_such_name_is_remembered_and_trouble_is_not() {
    let (resolver, asked) = resolver(&Limits::default()).await;
    for _ in 0..3 {
        resolver.resolve("unknown.example", 80).await.unwrap_err();
    }
    assert_eq!(asked.times("unknown.example. a udp"), 1);
    let failure = resolver.resolve("broken.example", 80).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::NameServers, "nobody knows the name: {failure}");
    let before = asked.times("broken.example. a udp");
    resolver.resolve("broken.example", 80).await.unwrap_err();
    assert!(asked.times("broken.example. a udp") > before, "asked again");
}

#[tokio::test]
async fn a_chain_of_aliases_is_followed_and_told() {
    let (resolver, _) = resolver(&Limits::default()).await;
    let resolved = resolver.resolve("www.example", 80).await.unwrap();
    assert_eq!(resolved.addresses, [ip("192.0.2.1")]);
    assert_eq!(resolved.alias.as_deref(), Some("edge.example"));
    let expected = [
        "www.example.\t300\tIN\tCNAME\tcdn.example.",
        "cdn.example.\t30\tIN\tCNAME\tedge.example.",
        "edge.example.\t20\tIN\tA\t192.0.2.1",
    ];
    assert_eq!(resolved.lookup.unwrap().records, expected);
    assert_eq!(resolver.resolve("both.example", 80).await.unwrap().alias, None);
}

#[tokio::test]
async fn an_answer_too_long_for_a_datagram_is_fetched_over_tcp() {
    let (resolver, asked) = resolver(&Limits::default()).await;
    let resolved = resolver.resolve("large.example", 80).await.unwrap();
    assert_eq!(resolved.addresses, [ip("192.0.2.1")]);
    assert_eq!(asked.times("large.example. a tcp"), 1);
}

#[tokio::test]
async fn servers_that_are_silent_about_ipv6_hold_up_nobody() {
    let (resolver, _) = resolver(&Limits::default()).await;
    let started = resolver.clock.now();
    let resolved = resolver.resolve("half.example", 80).await.unwrap();
    assert_eq!(resolved.addresses, [ip("192.0.2.1")]);
    assert!(resolver.clock.now().since(started) < 4_000);
}

#[tokio::test]
async fn a_server_that_does_not_answer_or_talks_garbage_is_not_held_against_the_name() {
    let (resolver, _) = resolver(&Limits { dns_ms_max: 80, ..Limits::default() }).await;
    for host in ["silent.example", "garbage.example"] {
        let failure = resolver.resolve(host, 80).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::NameServers, "{host}: {failure}");
        assert!(failure.detail.contains("in time"), "{failure}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_not_held_against_the_name() {
    let nobody = UdpSocket::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let limits = Limits { dns_ms_max: 3_000, ..Limits::default() };
    let failure = asking(nobody, &limits).resolve("h.example", 80).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::NameServers, "{failure}");
}

#[tokio::test]
async fn two_who_ask_at_once_are_answered_by_one_question() {
    let (resolver, asked) = resolver(&Limits::default()).await;
    let (one, two, three) = tokio::join!(
        resolver.resolve("both.example", 80),
        resolver.resolve("both.example", 443),
        resolver.resolve("BOTH.example.", 8080),
    );
    let lookups = [one, two, three].map(|resolved| resolved.unwrap().lookup);
    assert_eq!(lookups.iter().flatten().count(), 1, "one record for the archive");
    assert_eq!(asked.times("both.example. a udp"), 1);
    assert_eq!(asked.times("both.example. aaaa udp"), 1);
}

#[tokio::test]
async fn names_that_cannot_be_names_have_no_address() {
    let (resolver, _) = resolver(&Limits::default()).await;
    for host in ["", ".", "a..b", &"a".repeat(64), &"a.".repeat(200)] {
        let failure = resolver.resolve(host, 80).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Dns, "{host}");
    }
}
