use super::*;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn rules_are_read_as_they_are_typed() {
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
    let guard = Guard::new([("seed", 80)], Vec::new(), Vec::new());
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
    let mut resolver = DnsResolver::new(Vec::new(), &Limits::default(), Clock::start());
    resolver.servers = Err("no name server is configured; use --resolve".to_owned());
    assert_eq!(resolver.resolve("127.0.0.1", 80).await.unwrap().addresses, [ip("127.0.0.1")]);
    let failure = resolver.resolve("example.com", 80).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Dns);
    assert!(failure.detail.contains("--resolve"), "{failure}");
}
