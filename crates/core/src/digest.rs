//! Digests of bodies: those that WARC writes, and the one by which larm knows a body again.
//!
//! SHA-1 is here because archives label payloads with it and tools look for it. Two bodies with the
//! same SHA-1 can be made on purpose, so a hostile site could have one page pass for another:
//! whether two bodies are the same is judged by [`BodyDigest`] and never by SHA-1.

use std::fmt;
use std::str::FromStr;

use data_encoding::{BASE32, HEXLOWER, HEXLOWER_PERMISSIVE};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use xxhash_rust::xxh3::xxh3_128;

/// SHA-1 of some bytes: a label for archives, not an identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Sha1Digest([u8; 20]);

impl Sha1Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha1::digest(bytes).into())
    }

    /// Takes bytes that `as_bytes` gave earlier, as the state on disk holds them.
    pub fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    /// The bytes of the digest.
    pub fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }

    /// The digest in Base32, without the name of the algorithm: as CDXJ has it.
    pub fn base32(&self) -> String {
        BASE32.encode(&self.0)
    }

    /// As `Display` writes it.
    pub fn labelled(&self) -> [u8; 37] {
        let mut text = [0; 37];
        let (label, letters) = text.split_at_mut(5);
        label.copy_from_slice(b"sha1:");
        BASE32.encode_mut(&self.0, letters);
        text
    }
}

/// `sha1:` and Base32, as `WARC-Payload-Digest` and `WARC-Block-Digest` have it.
impl fmt::Display for Sha1Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.labelled()).expect("Base32 is ASCII"))
    }
}

impl From<Sha1Digest> for String {
    fn from(digest: Sha1Digest) -> Self {
        digest.to_string()
    }
}

impl TryFrom<String> for Sha1Digest {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let wrong = "a SHA-1 digest is `sha1:` and 32 letters of Base32";
        let letters = text.strip_prefix("sha1:").ok_or(wrong)?;
        let bytes = BASE32.decode(letters.as_bytes()).map_err(|_| wrong)?;
        bytes.try_into().map(Self).map_err(|_| wrong)
    }
}

/// SHA-256 of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sha256Digest([u8; 32]);

impl Sha256Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The bytes of the digest.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// `sha256:` and small hexadecimal digits.
impl fmt::Display for Sha256Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", HEXLOWER.encode_display(&self.0))
    }
}

/// `sha1:` and the Base32 SHA-1 of `bytes`, ready for a WARC header.
pub fn sha1_base32(bytes: &[u8]) -> String {
    Sha1Digest::of(bytes).to_string()
}

/// SHA-256 of `bytes`.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256Digest::of(bytes).0
}

/// Identity of a body: two bodies with the same digest are the same body.
///
/// Of the body as received, transfer coding undone and content coding not: SHA-1, which archives ask
/// for anyway, and XXH3 with 128 bits, which costs next to nothing, together. Two bodies that share both
/// would have to be found among 2^64 with the same SHA-1, each pair of which takes 2^61 tries: nobody can.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BodyDigest([u8; 20]);

impl BodyDigest {
    /// The digest of a body.
    pub fn of(body: &[u8]) -> Self {
        Self::with_sha1(&Sha1Digest::of(body), body)
    }

    /// The digest of a body whose SHA-1 is known already.
    pub fn with_sha1(sha1: &Sha1Digest, body: &[u8]) -> Self {
        let both = Sha256::new().chain_update(sha1.0).chain_update(xxh3_128(body).to_be_bytes());
        let whole: [u8; 32] = both.finalize().into();
        Self(*whole.first_chunk().expect("32 bytes begin with 20"))
    }

    /// Takes bytes that `as_bytes` gave earlier, as the state on disk holds them.
    pub fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    /// The bytes of the digest.
    pub fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }
}

/// 40 small hexadecimal digits.
impl fmt::Display for BodyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", HEXLOWER.encode_display(&self.0))
    }
}

impl fmt::Debug for BodyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BodyDigest({self})")
    }
}

/// Text that is not 40 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyDigestError;

impl fmt::Display for BodyDigestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a body digest is 40 hexadecimal digits")
    }
}

impl std::error::Error for BodyDigestError {}

impl FromStr for BodyDigest {
    type Err = BodyDigestError;

    fn from_str(text: &str) -> Result<Self, BodyDigestError> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).map_err(|_| BodyDigestError)?;
        bytes.try_into().map(Self).map_err(|_| BodyDigestError)
    }
}

impl Serialize for BodyDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BodyDigest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_have_their_published_values() {
        assert_eq!(sha1_base32(b""), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
        assert_eq!(sha1_base32(b"abc"), "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5");
        // FIPS 180-2, appendix B.1.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Sha256Digest::of(b"abc").to_string(), format!("sha256:{abc}"));
        assert_eq!(sha256(b"abc"), *Sha256Digest::of(b"abc").as_bytes());
        // As Python's hashlib and xxhash have it. The state on disk holds them: they must not change.
        assert_eq!(BodyDigest::of(b"abc").to_string(), "e7d2cdfd41c32bd93e1af4f7755fdaba75a7ca46");
        assert_eq!(BodyDigest::of(b"").to_string(), "0d22ac8a8350bcb67149939eea56be74d71ceb7f");
    }

    #[test]
    fn a_body_digest_survives_text_and_json() {
        let digest = BodyDigest::of(b"abc");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert_eq!(digest.to_string().to_uppercase().parse(), Ok(digest));
        let json = serde_json::to_string(&digest).unwrap();
        assert_eq!(json, format!("\"{digest}\""));
        assert_eq!(serde_json::from_str::<BodyDigest>(&json).unwrap(), digest);
        assert_eq!(BodyDigest::from_bytes(*digest.as_bytes()), digest);
    }

    #[test]
    fn other_text_is_no_body_digest() {
        for text in ["", "ba78", "zz7816bf8f01cfea414140de5dae2223b00361a3", "é"] {
            assert_eq!(text.parse::<BodyDigest>(), Err(BodyDigestError), "{text}");
        }
        let long = "ba7816bf8f01cfea414140de5dae2223b00361a3ff";
        assert_eq!(long.parse::<BodyDigest>(), Err(BodyDigestError));
    }
}
