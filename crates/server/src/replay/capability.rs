//! What opens the archive of one crawl: REPLAY-3.
//!
//! A capability is a keyed hash of the crawl's id and of the number of the session that it was given to, with that number
//! behind it: whoever reads it knows which session has to be there still.

use aws_lc_rs::hmac::{HMAC_SHA256, Key, sign, verify};
use data_encoding::HEXLOWER;

/// In place of a number, where no session was shown: sessions are counted from 1.
const NO_SESSION: u64 = 0;

/// Makes and checks capabilities; those of another server, or of the last start of this one, open nothing.
pub struct Capabilities {
    key: Key,
}

impl Capabilities {
    /// With a new secret.
    pub fn new() -> Self {
        let mut secret = [0; 32];
        aws_lc_rs::rand::fill(&mut secret).expect("the system has random numbers");
        Self { key: Key::new(HMAC_SHA256, &secret) }
    }

    /// The capability of a crawl for a session; without one it is good for as long as the server runs.
    pub fn of(&self, id: &str, session: Option<u64>) -> String {
        let number = session.unwrap_or(NO_SESSION).to_be_bytes();
        let tag = sign(&self.key, &signed(&number, id));
        HEXLOWER.encode(&[tag.as_ref(), &number].concat())
    }

    /// Whether a text is the capability of a crawl, `holds` saying whether the session that it was given to has not
    /// ended. How long that takes tells nothing about the right one.
    pub fn opens(
        &self,
        capability: &str,
        id: &str,
        holds: impl FnOnce(Option<u64>) -> bool,
    ) -> bool {
        let Ok(bytes) = HEXLOWER.decode(capability.as_bytes()) else { return false };
        let Some((tag, number)) = bytes.split_last_chunk::<8>() else { return false };
        let session = Some(u64::from_be_bytes(*number)).filter(|number| *number != NO_SESSION);
        verify(&self.key, &signed(number, id), tag).is_ok() && holds(session)
    }
}

fn signed(number: &[u8; 8], id: &str) -> Vec<u8> {
    [number, id.as_bytes()].concat()
}

impl Default for Capabilities {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capability_opens_its_crawl_and_no_other() {
        let capabilities = Capabilities::new();
        let right = capabilities.of("a", None);
        let always = |_: Option<u64>| true;
        assert!(capabilities.opens(&right, "a", always));
        assert!(!capabilities.opens(&right, "b", always));
        assert!(!Capabilities::new().opens(&right, "a", always));
        for wrong in ["", "00", &right[1..], &right.to_uppercase(), &format!("{right}00"), "ä"] {
            assert!(!capabilities.opens(wrong, "a", always), "{wrong}");
        }
    }

    #[test]
    fn a_capability_opens_as_long_as_its_session_holds() {
        let capabilities = Capabilities::new();
        let of_seven = capabilities.of("a", Some(7));
        assert!(capabilities.opens(&of_seven, "a", |session| session == Some(7)));
        assert!(!capabilities.opens(&of_seven, "a", |session| session != Some(7)));
        let forged = format!("{}{}", &of_seven[..64], &capabilities.of("a", Some(8))[64..]);
        assert!(
            !capabilities.opens(&forged, "a", |_| true),
            "the number is part of what is signed"
        );
        assert!(capabilities.opens(&capabilities.of("a", None), "a", |session| session.is_none()));
    }
}
