use hickory_resolver::Resolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
use hickory_resolver::proto::op::{Message, ResponseCode};
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use tokio::net::UdpSocket;

use super::*;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn rules_are_read_as_they_are_typed() {
    #[rustfmt::skip]
    let rows = [
        ("example.com:443:127.0.0.1", Some(("example.com", 443, "127.0.0.1"))),
        ("Example.COM.:80:10.0.0.1", Some(("example.com", 80, "10.0.0.1"))),
        ("*:80:127.0.0.1", Some(("*", 80, "127.0.0.1"))),
        ("h:80:[::1]", Some(("h", 80, "::1"))),
        ("h:80:::1", Some(("h", 80, "::1"))),
        ("[::2]:80:::1", Some(("::2", 80, "::1"))),
        ("h:80", None),
        ("h:80:", None),
        ("h:99999:127.0.0.1", None),
        ("h::127.0.0.1", None),
        (":80:127.0.0.1", None),
        ("h:80:localhost", None),
        ("", None),
    ];
    for (text, expected) in rows {
        let expected = expected.map(|(host, port, address)| ResolveRule {
            host: host.to_owned(),
            port,
            address: ip(address),
        });
        assert_eq!(text.parse::<ResolveRule>().ok(), expected, "{text:?}");
    }
}

#[test]
fn rules_come_first_then_addresses_then_localhost() {
    let rules = ["a:80:10.0.0.1", "*:80:10.0.0.2", "127.0.0.1:81:10.0.0.3"];
    let rules = rules.map(|text| text.parse().unwrap());
    let rows: &[(&str, u16, Option<&[&str]>)] = &[
        ("a", 80, Some(&["10.0.0.1"])),
        ("b", 80, Some(&["10.0.0.2"])),
        ("127.0.0.1", 80, Some(&["10.0.0.2"])),
        ("127.0.0.1", 81, Some(&["10.0.0.3"])),
        ("127.0.0.1", 82, Some(&["127.0.0.1"])),
        ("[::1]", 82, Some(&["::1"])),
        ("localhost", 82, Some(&["127.0.0.1", "::1"])),
        ("a.localhost.", 82, Some(&["127.0.0.1", "::1"])),
        ("localhost.example", 82, None),
        ("a", 82, None),
    ];
    for (host, port, expected) in rows {
        let expected = expected.map(|list| list.iter().map(|text| ip(text)).collect::<Vec<_>>());
        assert_eq!(without_asking(host, *port, &rules), expected, "{host}:{port}");
    }
}

#[test]
fn the_first_address_that_may_be_reached_is_admitted() {
    let guard = Guard::new([("seed", 80)], &[], &[]);
    #[rustfmt::skip]
    let rows: &[(&str, &[&str], Result<&str, FailureClass>)] = &[
        ("h", &["2606:4700::1", "1.1.1.1"], Ok("1.1.1.1")),
        ("h", &["2606:4700::1"], Ok("2606:4700::1")),
        ("h", &["10.0.0.1", "1.1.1.1"], Ok("1.1.1.1")),
        ("h", &["10.0.0.1", "2606:4700::1"], Ok("2606:4700::1")),
        ("h", &["10.0.0.1", "::1"], Err(FailureClass::ForbiddenAddress)),
        ("seed", &["10.0.0.1"], Ok("10.0.0.1")),
        ("h", &[], Err(FailureClass::Dns)),
    ];
    for (host, addresses, expected) in rows {
        let addresses = addresses.iter().map(|text| ip(text)).collect();
        let resolved = Resolved { addresses, ttl_ms: 1 };
        let admitted = admit(&guard, host, 80, &resolved).map_err(|failure| failure.class);
        assert_eq!(admitted, expected.map(ip), "{host} {resolved:?}");
    }
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
    let mut resolver = DnsResolver::new(&[], &Limits::default());
    resolver.servers = Err("no name server is configured; use --resolve".to_owned());
    assert_eq!(resolver.resolve("127.0.0.1", 80).await.unwrap().addresses, [ip("127.0.0.1")]);
    let failure = resolver.resolve("example.com", 80).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Dns);
    assert!(failure.detail.contains("--resolve"), "{failure}");
}

/// A name server that knows a few names, whatever search domain is appended to them.
#[expect(clippy::disallowed_methods, reason = "a server needs a life of its own beside the test")]
async fn name_server() -> std::net::SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut buffer = [0; 512];
        while let Ok((count, client)) = socket.recv_from(&mut buffer).await {
            let query = Message::from_vec(&buffer[..count]).unwrap();
            if let Some(answer) = answer(query) {
                let _ = socket.send_to(&answer.to_vec().unwrap(), client).await;
            }
        }
    });
    address
}

fn answer(query: Message) -> Option<Message> {
    let question = query.queries.first()?.clone();
    let mut answer = query.into_response();
    let address = match (question.name().to_string().as_str(), question.query_type()) {
        ("both.example.", RecordType::A) => "192.0.2.1",
        ("both.example.", RecordType::AAAA) => panic!("not asked for when there is IPv4"),
        ("six.example.", RecordType::AAAA) => "2001:db8::1",
        ("six.example." | "none.example.", _) => return Some(answer),
        ("silent.example.", _) => return None,
        _ => {
            answer.metadata.response_code = ResponseCode::NXDomain;
            return Some(answer);
        }
    };
    let name: Name = question.name().clone();
    answer.add_answer(Record::from_rdata(name, 60, RData::from(ip(address))));
    Some(answer)
}

async fn resolver(limits: &Limits) -> DnsResolver {
    let server = name_server().await;
    let mut connection = ConnectionConfig::udp();
    connection.port = server.port();
    let mut server = NameServerConfig::udp(server.ip());
    server.connections = vec![connection];
    let search = vec!["search.example.".parse().unwrap()];
    let config = ResolverConfig::from_parts(None, search, vec![server]);
    let builder = Resolver::builder_with_config(config, TokioRuntimeProvider::default());
    let mut resolver = DnsResolver::new(&[], limits);
    resolver.servers = servers(builder, limits).map_err(|error| error.to_string());
    resolver
}

#[tokio::test]
async fn name_servers_are_asked_for_ipv4_first_and_for_complete_names() {
    let resolver = resolver(&Limits::default()).await;
    let rows = [
        ("both.example", Ok("192.0.2.1")),
        ("BOTH.example.", Ok("192.0.2.1")),
        ("six.example", Ok("2001:db8::1")),
        ("none.example", Err("no address")),
        ("unknown.example", Err("no such name")),
        ("both", Err("no such name")),
    ];
    for (host, expected) in rows {
        match (resolver.resolve(host, 80).await, expected) {
            (Ok(resolved), Ok(address)) => {
                assert_eq!(resolved.addresses, [ip(address)], "{host}");
                assert!((1..=60_000).contains(&resolved.ttl_ms), "{}", resolved.ttl_ms);
            }
            (Err(failure), Err(words)) => {
                assert_eq!(failure.class, FailureClass::Dns);
                assert!(failure.detail.contains(words), "{host}: {failure}");
            }
            (result, _) => panic!("{host}: {result:?}"),
        }
    }
}

#[tokio::test]
async fn a_name_server_that_does_not_answer_is_given_up() {
    let resolver = resolver(&Limits { dns_ms_max: 50, ..Limits::default() }).await;
    let failure = resolver.resolve("silent.example", 80).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Dns);
    assert!(failure.detail.contains("in time"), "{failure}");
}

#[tokio::test]
async fn names_that_cannot_be_names_have_no_address() {
    let resolver = resolver(&Limits::default()).await;
    for host in ["", ".", "a..b", &"a".repeat(64), &"a.".repeat(200)] {
        let failure = resolver.resolve(host, 80).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Dns, "{host}");
    }
}
