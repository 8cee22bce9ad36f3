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

/// Every row of the two special-purpose registries of IANA, as of October 2025.
#[rustfmt::skip]
const REGISTRIES: &[(&str, &str)] = &[
    ("0.0.0.0/8", "this network"),
    ("0.0.0.0/32", "this host on this network"),
    ("10.0.0.0/8", "private use"),
    ("100.64.0.0/10", "shared address space"),
    ("127.0.0.0/8", "loopback"),
    ("169.254.0.0/16", "link local"),
    ("172.16.0.0/12", "private use"),
    ("192.0.0.0/24", "protocol assignments"),
    ("192.0.0.0/29", "service continuity"),
    ("192.0.0.8/32", "dummy address"),
    ("192.0.0.9/32", "port control anycast"),
    ("192.0.0.10/32", "relays around NAT anycast"),
    ("192.0.0.170/32", "NAT64 discovery"),
    ("192.0.0.171/32", "NAT64 discovery"),
    ("192.0.2.0/24", "documentation"),
    ("192.31.196.0/24", "AS112"),
    ("192.52.193.0/24", "multicast tunnels"),
    ("192.88.99.0/24", "6to4 relay anycast, retired"),
    ("192.88.99.2/32", "6a44 relay anycast"),
    ("192.168.0.0/16", "private use"),
    ("192.175.48.0/24", "AS112, direct delegation"),
    ("198.18.0.0/15", "benchmarking"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("240.0.0.0/4", "reserved"),
    ("255.255.255.255/32", "limited broadcast"),
    ("::1/128", "loopback"),
    ("::/128", "unspecified"),
    ("::ffff:0:0/96", "IPv4-mapped"),
    ("64:ff9b::/96", "NAT64"),
    ("64:ff9b:1::/48", "NAT64, local use"),
    ("100::/64", "discard only"),
    ("100:0:0:1::/64", "dummy prefix"),
    ("2001::/23", "protocol assignments"),
    ("2001::/32", "Teredo"),
    ("2001:1::1/128", "port control anycast"),
    ("2001:1::2/128", "relays around NAT anycast"),
    ("2001:1::3/128", "service registration anycast"),
    ("2001:2::/48", "benchmarking"),
    ("2001:3::/32", "multicast tunnels"),
    ("2001:4:112::/48", "AS112"),
    ("2001:10::/28", "ORCHID, retired"),
    ("2001:20::/28", "ORCHIDv2"),
    ("2001:30::/28", "drone tags"),
    ("2001:db8::/32", "documentation"),
    ("2002::/16", "6to4"),
    ("2620:4f:8000::/48", "AS112, direct delegation"),
    ("3fff::/20", "documentation"),
    ("5f00::/16", "segment routing"),
    ("fc00::/7", "unique local"),
    ("fe80::/10", "link local"),
];

fn last_of(network: &Cidr) -> IpAddr {
    let host_bits = |all: u32| all - u32::from(network.bits);
    match network.address {
        IpAddr::V4(first) => {
            let mask = u32::MAX.checked_shr(32 - host_bits(32)).unwrap_or(0);
            Ipv4Addr::from_bits(first.to_bits() | mask).into()
        }
        IpAddr::V6(first) => {
            let mask = u128::MAX.checked_shr(128 - host_bits(128)).unwrap_or(0);
            Ipv6Addr::from_bits(first.to_bits() | mask).into()
        }
    }
}

#[test]
fn no_address_of_the_special_purpose_registries_is_public() {
    let guard = Guard::new([("seed.example", 80)], &[], &[]);
    for (network, name) in REGISTRIES {
        let network: Cidr = network.parse().unwrap();
        // What is inside of the forms that carry an IPv4 address is judged by that, in the next test.
        for address in [network.address, last_of(&network)] {
            assert!(network.contains(address), "{name}: {address}");
            assert!(guard.check("page.example", 80, address).is_err(), "{name}: {address}");
        }
    }
}

#[test]
fn a_tunnel_by_which_any_address_could_be_reached_is_closed_as_a_whole() {
    let (public, private) = ("8.8.8.8", "10.0.0.1");
    for v4 in [public, private] {
        let [a, b, c, d] = v4.parse::<Ipv4Addr>().unwrap().octets();
        // Teredo has its server's address as it is, and its client's with every bit turned.
        let server = format!("2001:0:{a:02x}{b:02x}:{c:02x}{d:02x}::1");
        let client = format!("2001::{:02x}{:02x}:{:02x}{:02x}", !a, !b, !c, !d);
        for text in [server, client, format!("64:ff9b:1::{v4}")] {
            assert_eq!(Kind::of(ip(&text)), Some(Kind::Tunnel), "{text}");
        }
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
