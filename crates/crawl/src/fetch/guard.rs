//! Which addresses may be reached (before step 5 of the line). Pure.
//!
//! No page may steer the crawler into a private network: not by a link, a redirect, a name that
//! resolves there, or an IPv6 form of an IPv4 address. The decision is made on the address that will be
//! connected to. Allowed are
//!
//! - public addresses, always;
//! - any address inside a network that the user allowed (`--allow-private`);
//! - the address that the user gave to a host and port (`--resolve`);
//! - for the very host and port of a seed: the address it is written as, or, for a name, a loopback
//!   or private address. A name never leads to link-local addresses, where machines in clouds keep
//!   their credentials: whoever wants those has to write them down.

use std::collections::HashSet;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use super::ResolveRule;
use super::proxy::{ProxyPlan, stand_in};

/// Names that no public name server knows (RFC 6761, 6762, 8375, ICANN's `internal`, and habit).
const LOCAL_NAMES: &[&str] =
    &["localhost", "local", "internal", "home.arpa", "lan", "intranet", "corp", "home"];

/// Says whether an address may be connected to.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    seeds: HashSet<(String, u16)>,
    allowed: Vec<Cidr>,
    rules: Vec<ResolveRule>,
    proxies: ProxyPlan,
}

impl Guard {
    /// A guard for a crawl with these seeds (host and port), networks and look-up rules.
    pub fn new<H: AsRef<str>>(
        seeds: impl IntoIterator<Item = (H, u16)>,
        allowed: &[Cidr],
        rules: &[ResolveRule],
    ) -> Self {
        let seeds = seeds.into_iter().map(|(host, port)| (bare(host.as_ref()), port)).collect();
        let (allowed, rules) = (allowed.to_vec(), rules.to_vec());
        Self { seeds, allowed, rules, proxies: ProxyPlan::default() }
    }

    /// The same behind proxies. Where one of them looks up names, the name is all there is to judge by.
    pub fn behind(self, proxies: ProxyPlan) -> Self {
        Self { proxies, ..self }
    }

    /// Whether `host` on `port` may be reached at `address`; if not, why.
    pub fn check(&self, host: &str, port: u16, address: IpAddr) -> Result<(), String> {
        let Some(kind) = Kind::of(address) else {
            return Ok(());
        };
        let host = bare(host);
        if address == stand_in(&host) && self.proxies.hides(&host, port) {
            return self.check_name(host, port);
        }
        let allowed = self.allowed.iter().any(|network| network.contains(address))
            || self.rules.iter().any(|rule| rule.gives(&host, port, address))
            || (self.names_or_writes(&host, address, kind) && self.seeds.contains(&(host, port)));
        if allowed {
            return Ok(());
        }
        Err(format!("{address} is {kind}, and no seed, --resolve or --allow-private names it"))
    }

    /// Names that mean something inside a network only are for seeds.
    fn check_name(&self, host: String, port: u16) -> Result<(), String> {
        let inside = !host.contains('.') || LOCAL_NAMES.iter().any(|name| is_below(&host, name));
        if !inside || self.seeds.contains(&(host.clone(), port)) {
            return Ok(());
        }
        Err(format!("{host} is a name of the proxy's own network, and no seed names it"))
    }

    /// What a seed's own host may lead to, beyond public addresses.
    fn names_or_writes(&self, host: &str, address: IpAddr, kind: Kind) -> bool {
        match host.parse::<IpAddr>() {
            Ok(written) => written == address,
            Err(_) => matches!(kind, Kind::Loopback | Kind::Private | Kind::Shared),
        }
    }
}

fn is_below(host: &str, name: &str) -> bool {
    host == name || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'))
}

/// A host as it is compared: lower case, no brackets, no dot at the end.
pub(super) fn bare(host: &str) -> String {
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

/// The kinds of addresses that are not public.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unspecified,
    Loopback,
    Private,
    Shared,
    LinkLocal,
    Metadata,
    Multicast,
    Broadcast,
    Documentation,
    Benchmarking,
    Tunnel,
    Reserved,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unspecified => "the unspecified address or its network",
            Self::Loopback => "a loopback address",
            Self::Private => "a private address",
            Self::Shared => "an address shared behind a carrier's NAT",
            Self::LinkLocal => "a link-local address",
            Self::Metadata => "a cloud's metadata service",
            Self::Multicast => "a multicast address",
            Self::Broadcast => "the broadcast address",
            Self::Documentation => "an address for documentation",
            Self::Benchmarking => "an address for benchmarks",
            Self::Tunnel => "a tunnel's address",
            Self::Reserved => "a reserved address",
        })
    }
}

/// IPv4, by the IANA special-purpose registry (RFC 6890 and updates); the first row that fits counts.
#[rustfmt::skip]
const V4: &[(Ipv4Addr, u8, Kind)] = &[
    (Ipv4Addr::new(169, 254, 169, 254), 32, Kind::Metadata),
    (Ipv4Addr::new(100, 100, 100, 200), 32, Kind::Metadata),    // Alibaba Cloud
    (Ipv4Addr::new(168, 63, 129, 16),   32, Kind::Metadata),    // Azure, inside public space
    (Ipv4Addr::new(255, 255, 255, 255), 32, Kind::Broadcast),
    (Ipv4Addr::new(0, 0, 0, 0),          8, Kind::Unspecified),   // RFC 1122: "this network"
    (Ipv4Addr::new(10, 0, 0, 0),         8, Kind::Private),       // RFC 1918
    (Ipv4Addr::new(100, 64, 0, 0),      10, Kind::Shared),        // RFC 6598
    (Ipv4Addr::new(127, 0, 0, 0),        8, Kind::Loopback),      // RFC 1122
    (Ipv4Addr::new(169, 254, 0, 0),     16, Kind::LinkLocal),     // RFC 3927
    (Ipv4Addr::new(172, 16, 0, 0),      12, Kind::Private),       // RFC 1918
    (Ipv4Addr::new(192, 0, 0, 0),       24, Kind::Reserved),      // RFC 6890: protocol assignments
    (Ipv4Addr::new(192, 0, 2, 0),       24, Kind::Documentation), // RFC 5737
    (Ipv4Addr::new(192, 31, 196, 0),    24, Kind::Reserved),      // RFC 7535: AS112
    (Ipv4Addr::new(192, 52, 193, 0),    24, Kind::Tunnel),        // RFC 7450: multicast tunnels
    (Ipv4Addr::new(192, 175, 48, 0),    24, Kind::Reserved),      // RFC 7534: AS112
    (Ipv4Addr::new(192, 88, 99, 0),     24, Kind::Tunnel),        // RFC 7526: 6to4 relays, retired
    (Ipv4Addr::new(192, 168, 0, 0),     16, Kind::Private),       // RFC 1918
    (Ipv4Addr::new(198, 18, 0, 0),      15, Kind::Benchmarking),  // RFC 2544
    (Ipv4Addr::new(198, 51, 100, 0),    24, Kind::Documentation), // RFC 5737
    (Ipv4Addr::new(203, 0, 113, 0),     24, Kind::Documentation), // RFC 5737
    (Ipv4Addr::new(224, 0, 0, 0),        4, Kind::Multicast),     // RFC 5771
    (Ipv4Addr::new(240, 0, 0, 0),        4, Kind::Reserved),      // RFC 1112
];

/// IPv6, likewise; forms that carry an IPv4 address have been unwrapped before.
#[rustfmt::skip]
const V6: &[(Ipv6Addr, u8, Kind)] = &[
    (Ipv6Addr::UNSPECIFIED,                             128, Kind::Unspecified),
    (Ipv6Addr::LOCALHOST,                               128, Kind::Loopback),
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), 128, Kind::Metadata),     // AWS
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0),      48, Kind::Tunnel),        // RFC 8215
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0),         32, Kind::Tunnel),        // RFC 4380: Teredo
    (Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0),         48, Kind::Benchmarking),  // RFC 5180
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0),     32, Kind::Documentation), // RFC 3849
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0),         23, Kind::Reserved),      // RFC 2928
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0),         20, Kind::Documentation), // RFC 9637
    (Ipv6Addr::new(0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0), 48, Kind::Reserved),      // RFC 7534: AS112
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0),          7, Kind::Private),       // RFC 4193
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0),         10, Kind::LinkLocal),     // RFC 4291
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0),         10, Kind::Private),       // RFC 3879: site-local
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0),          8, Kind::Multicast),     // RFC 4291
];

/// All that is given out to the public (RFC 4291 section 2.4, IANA).
const GLOBAL_UNICAST: Cidr =
    Cidr { address: IpAddr::V6(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0)), bits: 3 };

impl Kind {
    /// What is special about an address; `None` if it is public.
    fn of(address: IpAddr) -> Option<Self> {
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => match embedded(address) {
                Some(inner) => Self::of_v4(inner),
                None => Self::of_v6(address).or_else(|| isatap(address).and_then(Self::of_v4)),
            },
        }
    }

    fn of_v4(address: Ipv4Addr) -> Option<Self> {
        let fits = |&&(network, bits, _): &&(Ipv4Addr, u8, Self)| {
            Cidr { address: network.into(), bits }.contains(address.into())
        };
        V4.iter().find(fits).map(|&(_, _, kind)| kind)
    }

    fn of_v6(address: Ipv6Addr) -> Option<Self> {
        let fits = |&&(network, bits, _): &&(Ipv6Addr, u8, Self)| {
            Cidr { address: network.into(), bits }.contains(address.into())
        };
        let kind = V6.iter().find(fits).map(|&(_, _, kind)| kind);
        kind.or_else(|| (!GLOBAL_UNICAST.contains(address.into())).then_some(Self::Reserved))
    }
}

/// The IPv4 address inside an IPv6 one that leads to it: mapped (`::ffff:0:0/96`), compatible (`::/96`),
/// NAT64 (`64:ff9b::/96`, RFC 6052) and 6to4 (`2002::/16`, RFC 3056).
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let (high, low) = match (a, b, c, d, e, f) {
        (0, 0, 0, 0, 0, 0) if g != 0 => (g, h),
        (0, 0, 0, 0, 0, 0xffff) | (0x64, 0xff9b, 0, 0, 0, 0) => (g, h),
        (0x2002, ..) => (b, c),
        _ => return None,
    };
    Some(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)))
}

/// The IPv4 address at the end of an ISATAP one (RFC 5214 section 6.1), whatever its prefix.
fn isatap(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [.., e, f, g, h] = address.segments();
    let is_isatap = matches!((e, f), (0 | 0x200, 0x5efe));
    is_isatap.then(|| Ipv4Addr::from((u32::from(g) << 16) | u32::from(h)))
}

/// A network, such as `10.0.0.0/8` or `fd00::/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cidr {
    address: IpAddr,
    bits: u8,
}

impl Cidr {
    /// Whether `address` lies inside. An IPv6 form of an IPv4 address counts as that address.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                (network.to_bits() ^ address.to_bits()).leading_zeros() >= u32::from(self.bits)
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                (network.to_bits() ^ address.to_bits()).leading_zeros() >= u32::from(self.bits)
            }
            (IpAddr::V4(_), IpAddr::V6(address)) => {
                embedded(address).is_some_and(|inner| self.contains(inner.into()))
            }
            (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl FromStr for Cidr {
    type Err = String;

    /// `ADDRESS/BITS`, or an address alone.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a network; write it like 10.0.0.0/8 or fd00::/8");
        let (address, bits) = text.split_once('/').map_or((text, None), |(a, b)| (a, Some(b)));
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let bits_max = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(bits_max), str::parse).map_err(|_| wrong())?;
        if bits <= bits_max { Ok(Self { address, bits }) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests;
