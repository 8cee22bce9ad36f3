//! Wrong tokens, counted by where they come from, so that nobody finds the right one by trying.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

use larm_core::{Limits, Millis};

/// Wrong tokens are counted over this time.
const WINDOW_MS: u64 = 60_000;

/// Who tried, since when, how often.
#[derive(Debug, Default)]
pub struct Guesses {
    tried: HashMap<IpAddr, (Millis, u64)>,
}

impl Guesses {
    /// Takes note of a wrong token.
    pub fn wrong(&mut self, from: IpAddr, now: Millis, limits: &Limits) {
        let from = network_of(from);
        if !self.tried.contains_key(&from) && self.tried.len() as u64 >= limits.server_guessers_max
        {
            self.make_room(now);
        }
        let (since, count) = self.tried.entry(from).or_insert((now, 0));
        if now.since(*since) >= WINDOW_MS {
            (*since, *count) = (now, 0);
        }
        *count += 1;
    }

    /// For how many seconds nothing is looked at that comes from there, if it has tried too often.
    pub fn wait_seconds(&self, from: IpAddr, now: Millis, limits: &Limits) -> Option<u64> {
        let (since, count) = self.tried.get(&network_of(from))?;
        let gone = now.since(*since);
        (*count >= limits.server_guesses_max && gone < WINDOW_MS)
            .then(|| (WINDOW_MS - gone).div_ceil(1_000))
    }

    fn make_room(&mut self, now: Millis) {
        self.tried.retain(|_, (since, _)| now.since(*since) < WINDOW_MS);
        let oldest = self.tried.iter().min_by_key(|(_, (since, _))| *since).map(|(from, _)| *from);
        oldest.map(|from| self.tried.remove(&from));
    }
}

/// Whoever has an IPv6 address has 2^64 of them.
fn network_of(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits { server_guesses_max: 3, server_guessers_max: 2, ..Limits::default() }
    }

    #[test]
    fn who_guesses_too_often_has_to_wait_and_nobody_else_does() {
        let [one, other] = ["192.0.2.1", "192.0.2.2"].map(|text| text.parse().unwrap());
        let mut guesses = Guesses::default();
        for at in 1..=3 {
            assert_eq!(guesses.wait_seconds(one, Millis(at), &limits()), None);
            guesses.wrong(one, Millis(at), &limits());
        }
        assert_eq!(guesses.wait_seconds(one, Millis(1_001), &limits()), Some(59));
        assert_eq!(guesses.wait_seconds(other, Millis(1_001), &limits()), None);
        assert_eq!(guesses.wait_seconds(one, Millis(60_001), &limits()), None);
    }

    #[test]
    fn a_network_of_ipv6_addresses_is_one_and_the_table_is_bounded() {
        let mut guesses = Guesses::default();
        for text in ["2001:db8::1", "2001:db8::2", "2001:db8::ffff:1"] {
            guesses.wrong(text.parse().unwrap(), Millis(1), &limits());
        }
        let same = "2001:db8::9".parse().unwrap();
        assert!(guesses.wait_seconds(same, Millis(2), &limits()).is_some());
        for number in 0..100_u8 {
            let from = IpAddr::from([192, 0, 2, number]);
            guesses.wrong(from, Millis(3), &limits());
        }
        assert!(guesses.tried.len() <= 2);
    }
}
