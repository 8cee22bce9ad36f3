//! What opens the archive of one crawl: REPLAY-3.

use aws_lc_rs::hmac::{HMAC_SHA256, Key, sign, verify};
use data_encoding::HEXLOWER;

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

    /// The capability of a crawl.
    pub fn of(&self, id: &str) -> String {
        HEXLOWER.encode(sign(&self.key, id.as_bytes()).as_ref())
    }

    /// Whether a text is the capability of a crawl. How long that takes tells nothing about the right one.
    pub fn opens(&self, capability: &str, id: &str) -> bool {
        let tag = HEXLOWER.decode(capability.as_bytes());
        tag.is_ok_and(|tag| verify(&self.key, id.as_bytes(), &tag).is_ok())
    }
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
        let right = capabilities.of("a");
        assert!(capabilities.opens(&right, "a"));
        assert!(!capabilities.opens(&right, "b"));
        assert!(!Capabilities::new().opens(&right, "a"));
        for wrong in ["", "00", &right[1..], &right.to_uppercase(), &format!("{right}00"), "ä"] {
            assert!(!capabilities.opens(wrong, "a"), "{wrong}");
        }
    }
}
