use super::*;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn special_addresses_are_known_by_kind_at_both_ends_of_their_ranges() {
    use Kind::*;
    let rows: &[(&str, Option<Kind>)] = &[
        ("0.0.0.0", Some(Unspecified)),
        ("0.255.255.255", Some(Unspecified)),
        ("1.0.0.0", None),
        ("9.255.255.255", None),
        ("10.0.0.0", Some(Private)),
        ("10.255.255.255", Some(Private)),
        ("11.0.0.0", None),
        ("100.63.255.255", None),
        ("100.64.0.0", Some(Shared)),
        ("100.100.100.200", Some(Metadata)),
        ("100.127.255.255", Some(Shared)),
        ("100.128.0.0", None),
        ("126.255.255.255", None),
        ("127.0.0.1", Some(Loopback)),
        ("127.255.255.255", Some(Loopback)),
        ("128.0.0.0", None),
        ("168.63.129.16", Some(Metadata)),
        ("168.63.129.17", None),
        ("169.253.255.255", None),
        ("169.254.0.0", Some(LinkLocal)),
        ("169.254.169.254", Some(Metadata)),
        ("169.254.255.255", Some(LinkLocal)),
        ("169.255.0.0", None),
        ("172.15.255.255", None),
        ("172.16.0.0", Some(Private)),
        ("172.31.255.255", Some(Private)),
        ("172.32.0.0", None),
        ("192.0.0.1", Some(Reserved)),
        ("192.0.1.0", None),
        ("192.0.2.255", Some(Documentation)),
        ("192.0.3.0", None),
        ("192.88.99.1", Some(Tunnel)),
        ("192.167.255.255", None),
        ("192.168.0.0", Some(Private)),
        ("192.168.255.255", Some(Private)),
        ("192.169.0.0", None),
        ("198.17.255.255", None),
        ("198.18.0.0", Some(Benchmarking)),
        ("198.19.255.255", Some(Benchmarking)),
        ("198.20.0.0", None),
        ("198.51.100.1", Some(Documentation)),
        ("203.0.113.1", Some(Documentation)),
        ("223.255.255.255", None),
        ("224.0.0.1", Some(Multicast)),
        ("239.255.255.255", Some(Multicast)),
        ("240.0.0.0", Some(Reserved)),
        ("255.255.255.254", Some(Reserved)),
        ("255.255.255.255", Some(Broadcast)),
        ("8.8.8.8", None),
        ("::", Some(Unspecified)),
        ("::1", Some(Loopback)),
        ("::2", Some(Reserved)),
        ("64:ff9b:1::a00:1", Some(Tunnel)),
        ("64:ff9b:2::1", Some(Reserved)),
        ("100::1", Some(Reserved)),
        ("1fff::1", Some(Reserved)),
        ("2000::1", None),
        ("2001::1", Some(Tunnel)),
        ("2001:2::1", Some(Benchmarking)),
        ("2001:1ff::1", Some(Reserved)),
        ("2001:200::1", None),
        ("2001:db8::1", Some(Documentation)),
        ("2001:4860:4860::8888", None),
        ("3fff:fff::1", Some(Documentation)),
        ("3fff:1000::1", None),
        ("4000::1", Some(Reserved)),
        ("5f00::1", Some(Reserved)),
        ("fbff::1", Some(Reserved)),
        ("fc00::1", Some(Private)),
        ("fdff::1", Some(Private)),
        ("fd00:ec2::254", Some(Metadata)),
        ("fe80::1", Some(LinkLocal)),
        ("febf::1", Some(LinkLocal)),
        ("fec0::1", Some(Private)),
        ("ff02::1", Some(Multicast)),
    ];
    for (address, kind) in rows {
        assert_eq!(Kind::of(ip(address)), *kind, "{address}");
    }
}

#[test]
fn what_the_registries_list_as_reachable_but_special_is_not_for_us_either() {
    use Kind::*;
    let rows: &[(&str, Option<Kind>)] = &[
        ("192.31.196.1", Some(Reserved)),
        ("192.52.193.1", Some(Tunnel)),
        ("192.175.48.1", Some(Reserved)),
        ("100:0:0:1::1", Some(Reserved)),
        ("2001:1::1", Some(Reserved)),
        ("2001:3::1", Some(Reserved)),
        ("2001:4:112::1", Some(Reserved)),
        ("2001:10::1", Some(Reserved)),
        ("2001:20::1", Some(Reserved)),
        ("2001:3f:ffff::1", Some(Reserved)),
        ("2620:4f:7fff::1", None),
        ("2620:4f:8000::1", Some(Reserved)),
        ("2620:4f:8001::1", None),
        ("::ffff:0:7f00:1", Some(Reserved)),
    ];
    for (address, kind) in rows {
        assert_eq!(Kind::of(ip(address)), *kind, "{address}");
    }
}

#[test]
fn an_ipv4_address_is_judged_in_every_ipv6_form() {
    let forms = ["::ffff:{}", "::{}", "64:ff9b::{}"];
    let rows = [
        ("127.0.0.1", Some(Kind::Loopback)),
        ("10.1.2.3", Some(Kind::Private)),
        ("169.254.169.254", Some(Kind::Metadata)),
        ("8.8.8.8", None),
    ];
    for (v4, kind) in rows {
        for form in forms {
            let address = ip(&form.replace("{}", v4));
            assert_eq!(Kind::of(address), kind, "{address}");
        }
        for prefix in ["2606:4700::", "2606:4700::200:"] {
            let isatap = ip(&format!("{prefix}5efe:{v4}"));
            assert_eq!(Kind::of(isatap), kind, "{isatap}");
        }
        assert_eq!(Kind::of(ip(&format!("fe80::5efe:{v4}"))), Some(Kind::LinkLocal));
        let [a, b, c, d] = v4.parse::<Ipv4Addr>().unwrap().octets();
        let sixtofour = ip(&format!("2002:{a:02x}{b:02x}:{c:02x}{d:02x}::1"));
        assert_eq!(Kind::of(sixtofour), kind, "{sixtofour}");
    }
}

#[test]
fn a_seed_opens_its_own_host_and_port_and_nothing_else() {
    let seeds = [("127.0.0.1", 8080), ("intranet", 80), ("[::1]", 80), ("169.254.10.10", 80)];
    let guard = Guard::new(seeds, &[], &[]);
    let rows: &[(&str, u16, &str, bool)] = &[
        ("127.0.0.1", 8080, "127.0.0.1", true),
        ("127.0.0.1", 8081, "127.0.0.1", false),
        ("127.0.0.1", 8080, "127.0.0.2", false),
        ("127.0.0.2", 8080, "127.0.0.2", false),
        ("localhost", 8080, "127.0.0.1", false),
        ("intranet", 80, "10.0.0.5", true),
        ("INTRANET.", 80, "10.0.0.5", true),
        ("intranet", 80, "127.0.0.1", true),
        ("intranet", 80, "fd12::1", true),
        ("intranet", 80, "100.64.0.1", true),
        ("intranet", 443, "10.0.0.5", false),
        ("evil.example", 80, "10.0.0.5", false),
        ("intranet", 80, "169.254.169.254", false),
        ("intranet", 80, "169.254.1.1", false),
        ("intranet", 80, "0.0.0.0", false),
        ("intranet", 80, "224.0.0.1", false),
        ("[::1]", 80, "::1", true),
        ("::1", 80, "::1", true),
        ("169.254.10.10", 80, "169.254.10.10", true),
        ("evil.example", 80, "93.184.215.14", true),
        ("evil.example", 80, "::ffff:127.0.0.1", false),
        ("evil.example", 80, "2606:4700::1", true),
    ];
    for (host, port, address, allowed) in rows {
        let verdict = guard.check(host, *port, ip(address));
        assert_eq!(verdict.is_ok(), *allowed, "{host}:{port} at {address}: {verdict:?}");
    }
}

#[test]
fn an_allowed_network_is_open_to_every_host() {
    let guard = Guard::new([("h", 80); 0], &["10.1.0.0/16".parse().unwrap()], &[]);
    let rows = [
        ("10.1.2.3", true),
        ("10.2.0.1", false),
        ("::ffff:10.1.2.3", true),
        ("64:ff9b::10.2.0.1", false),
        ("127.0.0.1", false),
    ];
    for (address, allowed) in rows {
        assert_eq!(guard.check("any", 81, ip(address)).is_ok(), allowed, "{address}");
    }
}

#[test]
fn a_rule_opens_the_address_it_gives() {
    let rules = ["a.example:80:127.0.0.1", "*:443:[::1]"].map(|text| text.parse().unwrap());
    let guard = Guard::new([("h", 80); 0], &[], &rules);
    let rows: &[(&str, u16, &str, bool)] = &[
        ("a.example", 80, "127.0.0.1", true),
        ("A.Example", 80, "127.0.0.1", true),
        ("a.example", 80, "127.0.0.2", false),
        ("a.example", 81, "127.0.0.1", false),
        ("b.example", 80, "127.0.0.1", false),
        ("b.example", 443, "::1", true),
        ("b.example", 443, "127.0.0.1", false),
    ];
    for (host, port, address, allowed) in rows {
        let verdict = guard.check(host, *port, ip(address));
        assert_eq!(verdict.is_ok(), *allowed, "{host}:{port} at {address}");
    }
}

#[test]
fn the_reason_names_address_and_kind() {
    let reason = Guard::default().check("h", 80, ip("169.254.169.254")).unwrap_err();
    assert!(reason.contains("169.254.169.254") && reason.contains("metadata"), "{reason}");
}

#[test]
fn networks_are_read_as_they_are_written() {
    let rows = [
        ("10.0.0.0/8", true),
        ("127.0.0.1", true),
        ("0.0.0.0/0", true),
        ("fd00::/8", true),
        ("::1/128", true),
        ("10.0.0.0/33", false),
        ("::1/129", false),
        ("10.0.0.0/", false),
        ("10.0.0.0/-1", false),
        ("10.0.0/8", false),
        ("localhost", false),
        ("", false),
    ];
    for (text, valid) in rows {
        assert_eq!(text.parse::<Cidr>().is_ok(), valid, "{text:?}");
    }
    assert!("0.0.0.0/0".parse::<Cidr>().unwrap().contains(ip("8.8.8.8")));
    assert!(!"127.0.0.1".parse::<Cidr>().unwrap().contains(ip("127.0.0.2")));
}

#[test]
fn a_seed_on_loopback_opens_neither_private_networks_nor_clouds() {
    let guard = Guard::new([("127.0.0.1", 80), ("localhost", 80)], &[], &[]);
    for address in ["10.0.0.1", "192.168.0.1", "169.254.169.254", "169.254.0.1", "fd00:ec2::254"] {
        for host in [address, "127.0.0.1", "page.example"] {
            assert!(guard.check(host, 80, ip(address)).is_err(), "{host} at {address}");
        }
    }
    // The name of a seed may be at home in a private network, but never where clouds keep credentials.
    assert!(guard.check("localhost", 80, ip("169.254.169.254")).is_err());
    assert!(guard.check("localhost", 80, ip("::ffff:169.254.169.254")).is_err());
}
