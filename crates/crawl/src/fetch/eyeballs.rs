//! Which of a host's addresses is tried first, and how several are tried (happy eyeballs, RFC 8305).
//!
//! The host stands on the bench at its first address. Connecting begins there; if that fails, or takes
//! longer than `connect_stagger_ms`, the next address is tried beside it, and so on. Whoever comes first
//! wins, but a request is sent to the lease's own address alone: if another one won, the lease goes back
//! unused, the host moves there, and the connection waits for its turn (EYES-1).
//!
//! Nothing here asks the guard a second time: what is tried was admitted before.

use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use larm_core::{Failure, FailureClass};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{BoxFuture, Guard, failure};

/// The addresses of a host in the order in which they are tried: families in turn, IPv6 first where this
/// machine has a way there. Those that the guard refuses for this port come last, as another port may be
/// allowed there.
pub fn in_order(guard: &Guard, host: &str, port: u16, addresses: &[IpAddr]) -> Vec<IpAddr> {
    let v6 = addresses.iter().find(|address| address.is_ipv6());
    let mut ordered = in_turn(addresses, v6.is_none_or(|address| has_route(*address)));
    ordered.sort_by_key(|address| guard.check(host, port, *address).is_err());
    ordered
}

/// One of each family in turn (RFC 8305 section 4). A family without a way comes behind the other.
fn in_turn(addresses: &[IpAddr], has_ipv6: bool) -> Vec<IpAddr> {
    let (v6, v4): (Vec<_>, Vec<_>) = addresses.iter().partition(|address| address.is_ipv6());
    if !has_ipv6 {
        return [v4, v6].concat();
    }
    let longest = v4.len().max(v6.len());
    (0..longest).flat_map(|i| [v6.get(i), v4.get(i)]).flatten().copied().collect()
}

/// Whether this machine knows a way to an address. Nothing is sent: a datagram socket that is connected
/// has only looked into the table of routes.
fn has_route(address: IpAddr) -> bool {
    let any: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let connected = UdpSocket::bind((any, 0)).and_then(|socket| socket.connect((address, 9)));
    connected.is_ok()
}

/// Whether this machine has a way to anywhere, by either family.
fn has_way_out() -> bool {
    let documentation = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
    has_route(Ipv4Addr::new(192, 0, 2, 1).into()) || has_route(documentation.into())
}

type Attempt<'a> = (SocketAddr, BoxFuture<'a, io::Result<TcpStream>>);

/// Connects to one of `peers`, and says to which. Time in all is the caller's concern.
pub(super) async fn race(
    peers: &[SocketAddr],
    stagger: Duration,
) -> Result<(TcpStream, SocketAddr), Failure> {
    let mut waiting = peers.iter().copied();
    let mut under_way: Vec<Attempt<'_>> = Vec::new();
    let mut failed: Option<Failure> = None;
    loop {
        if let Some(peer) = waiting.next() {
            under_way.push((peer, Box::pin(TcpStream::connect(peer))));
        }
        if under_way.is_empty() {
            return Err(failed.expect("a lease has an address"));
        }
        let ended = if waiting.len() == 0 {
            first(&mut under_way).await
        } else if let Ok(ended) = timeout(stagger, first(&mut under_way)).await {
            ended
        } else {
            continue;
        };
        match ended {
            (peer, Ok(stream)) => return Ok((stream, peer)),
            (peer, Err(error)) => {
                // That there is no way to one family says less than what the other came to.
                let says_little = failed.as_ref().is_none_or(is_about_routes);
                failed = failed.filter(|_| !says_little).or(Some(explain(peer.ip(), &error)));
            }
        }
    }
}

/// The first of them that ends.
async fn first(under_way: &mut Vec<Attempt<'_>>) -> (SocketAddr, io::Result<TcpStream>) {
    poll_fn(|context| {
        for i in 0..under_way.len() {
            if let Poll::Ready(result) = Pin::as_mut(&mut under_way[i].1).poll(context) {
                let (peer, _) = under_way.swap_remove(i);
                return Poll::Ready((peer, result));
            }
        }
        Poll::Pending
    })
    .await
}

fn is_about_routes(failure: &Failure) -> bool {
    matches!(failure.class, FailureClass::Unroutable | FailureClass::Offline)
}

/// No route can be the host's fault, or that of a router out there. If this machine has none to anywhere,
/// it is ours.
fn explain(address: IpAddr, error: &io::Error) -> Failure {
    use io::ErrorKind as Kind;
    let local = matches!(error.kind(), Kind::NetworkUnreachable | Kind::NetworkDown);
    if local && !has_route(address) && !has_way_out() {
        let detail = format!("this machine has no way to any network: {error}");
        return Failure::new(FailureClass::Offline, detail);
    }
    failure::connecting(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    const STAGGER: Duration = Duration::from_millis(250);

    fn ips(list: &[&str]) -> Vec<IpAddr> {
        list.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn families_take_turns() {
        #[rustfmt::skip]
        let rows: &[(&[&str], bool, &[&str])] = &[
            (&["1.1.1.1", "2606::1"], true, &["2606::1", "1.1.1.1"]),
            (&["1.1.1.1", "2606::1"], false, &["1.1.1.1", "2606::1"]),
            (&["1.1.1.1", "1.1.1.2", "1.1.1.3", "2606::1"], true, &["2606::1", "1.1.1.1", "1.1.1.2", "1.1.1.3"]),
            (&["2606::1", "2606::2", "1.1.1.1", "1.1.1.2"], true, &["2606::1", "1.1.1.1", "2606::2", "1.1.1.2"]),
            (&["2606::1", "2606::2"], false, &["2606::1", "2606::2"]),
            (&[], true, &[]),
        ];
        for (addresses, has_ipv6, expected) in rows {
            assert_eq!(in_turn(&ips(addresses), *has_ipv6), ips(expected), "{addresses:?}");
        }
    }

    #[test]
    fn what_the_guard_refuses_comes_last() {
        let guard = Guard::new([("seed", 80)], &[], &[]);
        let addresses = ips(&["10.0.0.1", "1.1.1.1", "127.0.0.1", "1.1.1.2"]);
        let expected = ips(&["1.1.1.1", "1.1.1.2", "10.0.0.1", "127.0.0.1"]);
        assert_eq!(in_order(&guard, "other", 80, &addresses), expected);
        assert_eq!(in_order(&guard, "seed", 80, &addresses), addresses);
    }

    async fn listener() -> TcpListener {
        TcpListener::bind("127.0.0.1:0").await.unwrap()
    }

    /// Nobody listens there.
    async fn refusing() -> SocketAddr {
        listener().await.local_addr().unwrap()
    }

    /// Somebody listens there, and takes no more calls: the next one waits.
    async fn silent() -> (Vec<TcpStream>, tokio::net::TcpListener) {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(1).unwrap();
        let address = listener.local_addr().unwrap();
        let mut callers = Vec::new();
        while let Ok(Ok(caller)) =
            timeout(Duration::from_millis(100), TcpStream::connect(address)).await
        {
            callers.push(caller);
        }
        (callers, listener)
    }

    #[tokio::test]
    async fn the_first_address_wins_if_it_answers() {
        let (one, two) = (listener().await, listener().await);
        let peers = [one.local_addr().unwrap(), two.local_addr().unwrap()];
        let (_, peer) = race(&peers, STAGGER).await.unwrap();
        assert_eq!(peer, peers[0]);
        let asked = timeout(Duration::from_millis(50), two.accept()).await;
        assert!(asked.is_err(), "the second was not needed");
    }

    #[tokio::test]
    async fn a_refused_address_is_followed_by_the_next_at_once() {
        let good = listener().await;
        let peers = [refusing().await, refusing().await, good.local_addr().unwrap()];
        let patience = Duration::from_secs(3600);
        let (_, peer) = race(&peers, patience).await.unwrap();
        assert_eq!(peer, peers[2]);
    }

    #[tokio::test]
    async fn a_silent_address_is_overtaken() {
        let (_callers, silent) = silent().await;
        let good = listener().await;
        let peers = [silent.local_addr().unwrap(), good.local_addr().unwrap()];
        let (_, peer) = race(&peers, STAGGER).await.unwrap();
        assert_eq!(peer, peers[1]);
    }

    #[tokio::test]
    async fn only_when_all_have_failed_the_host_has() {
        let peers = [refusing().await, refusing().await];
        let failure = race(&peers, STAGGER).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Refused);
    }

    #[test]
    fn a_refusal_is_not_taken_for_our_own_trouble() {
        let here = "127.0.0.1".parse().unwrap();
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        assert_eq!(explain(here, &refused).class, FailureClass::Refused);
        let unroutable = io::Error::from(io::ErrorKind::NetworkUnreachable);
        assert_eq!(explain(here, &unroutable).class, FailureClass::Unroutable, "there is a way");
    }
}
