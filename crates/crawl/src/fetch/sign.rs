//! Requests signed by whoever runs the crawl: Web Bot Auth (draft-meunier-web-bot-auth-architecture), which
//! is HTTP Message Signatures (RFC 9421) with Ed25519 and a published key.
//!
//! What is signed is the authority and where the key can be found, so that a signature is of no use at
//! another host, nor after `signature_ms_max`; each has a nonce of its own. A key never leaves its file:
//! it is neither shown nor logged, and a new file is readable by its owner alone.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use data_encoding::{BASE64, BASE64URL_NOPAD};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::clock::Clock;
use crate::{Error, Result};

/// Which of several signatures this is; there is one.
const LABEL: &str = "sig1";
/// Bytes of a nonce, as the draft recommends.
const NONCE_BYTES: usize = 64;
const PEM_BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const PEM_END: &str = "-----END PRIVATE KEY-----";

/// How to sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignPlan {
    /// The key: PEM (PKCS#8) or a JWK.
    pub key: PathBuf,
    /// Where its public half is published, as a URL.
    pub agent: Option<String>,
    /// For how long a signature is good.
    pub good_for_ms: u64,
}

/// An Ed25519 key. What is printed of it is its public half.
pub struct SignKey {
    pair: Ed25519KeyPair,
    /// Public key, in the form of a JWK.
    x: String,
}

impl fmt::Debug for SignKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SignKey").field(&self.thumbprint()).finish()
    }
}

impl From<Ed25519KeyPair> for SignKey {
    fn from(pair: Ed25519KeyPair) -> Self {
        let x = BASE64URL_NOPAD.encode(pair.public_key().as_ref());
        Self { pair, x }
    }
}

impl SignKey {
    /// A new key.
    pub fn generate() -> Result<Self> {
        let failed = |_| Error::Plan("this machine gives no random numbers".to_owned());
        Ed25519KeyPair::generate().map(Self::from).map_err(failed)
    }

    /// The key in a file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(Error::io(path))?;
        let wrong = || {
            let path = path.display();
            Error::Plan(format!("{path} holds no Ed25519 key, as PEM (PKCS#8) or as a JWK"))
        };
        Self::parse(&text).ok_or_else(wrong)
    }

    /// The key in a text: PEM (PKCS#8) or a JWK.
    pub fn parse(text: &str) -> Option<Self> {
        if let Ok(jwk) = serde_json::from_str::<Value>(text) {
            let is_ed25519 = jwk["kty"] == "OKP" && jwk["crv"] == "Ed25519";
            let seed = jwk["d"].as_str().filter(|_| is_ed25519)?;
            let seed = BASE64URL_NOPAD.decode(seed.as_bytes()).ok()?;
            return Ed25519KeyPair::from_seed_unchecked(&seed).ok().map(Self::from);
        }
        let (_, rest) = text.split_once(PEM_BEGIN)?;
        let (body, _) = rest.split_once(PEM_END)?;
        let body: String = body.split_whitespace().collect();
        let der = BASE64.decode(body.as_bytes()).ok()?;
        Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).ok().map(Self::from)
    }

    /// Writes the key to a file that is not there yet, for its owner's eyes alone.
    pub fn write(&self, path: &Path) -> Result<()> {
        let der = self.pair.to_pkcs8v1().expect("SIGN: a key has a form on disk");
        let pem = format!("{PEM_BEGIN}\n{}\n{PEM_END}\n", BASE64.encode(der.as_ref()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(Error::io(path))?;
        file.write_all(pem.as_bytes()).and_then(|()| file.sync_all()).map_err(Error::io(path))
    }

    /// The name of the key: its JWK thumbprint (RFC 7638, RFC 8037 appendix A.3).
    pub fn thumbprint(&self) -> String {
        let canonical = format!("{{\"crv\":\"Ed25519\",\"kty\":\"OKP\",\"x\":\"{}\"}}", self.x);
        BASE64URL_NOPAD.encode(digest(&SHA256, canonical.as_bytes()).as_ref())
    }

    /// The directory to publish at `/.well-known/http-message-signatures-directory`: the public half.
    pub fn directory(&self) -> Value {
        let kid = self.thumbprint();
        json!({"keys": [{
            "kty": "OKP", "crv": "Ed25519", "x": self.x, "kid": kid, "use": "sig",
        }]})
    }

    fn sign(&self, base: &str) -> String {
        BASE64.encode(self.pair.sign(base.as_bytes()).as_ref())
    }
}

/// One signature: what it covers, and when.
struct Covered<'a> {
    authority: &'a str,
    agent: Option<&'a str>,
    created_s: u64,
    expires_s: u64,
    nonce: &'a str,
}

impl Covered<'_> {
    /// The value of `Signature-Input`, without its label.
    fn parameters(&self, key: &SignKey) -> String {
        let Self { created_s, expires_s, nonce, .. } = self;
        let agent = self.agent.map(|_| format!(" \"signature-agent\";key=\"{LABEL}\""));
        format!(
            "(\"@authority\"{});created={created_s};keyid=\"{}\";alg=\"ed25519\";\
             expires={expires_s};nonce=\"{nonce}\";tag=\"web-bot-auth\"",
            agent.unwrap_or_default(),
            key.thumbprint(),
        )
    }

    /// What is signed (RFC 9421 section 2.5).
    fn base(&self, parameters: &str) -> String {
        let agent =
            self.agent.map(|url| format!("\"signature-agent\";key=\"{LABEL}\": \"{url}\"\n"));
        format!(
            "\"@authority\": {}\n{}\"@signature-params\": {parameters}",
            self.authority,
            agent.unwrap_or_default(),
        )
    }

    /// The header fields that carry it.
    fn fields(&self, key: &SignKey) -> Vec<(&'static str, String)> {
        let parameters = self.parameters(key);
        let signature = key.sign(&self.base(&parameters));
        let agent = self.agent.map(|url| ("signature-agent", format!("{LABEL}=\"{url}\"")));
        let signed = [
            ("signature-input", format!("{LABEL}={parameters}")),
            ("signature", format!("{LABEL}=:{signature}:")),
        ];
        agent.into_iter().chain(signed).collect()
    }
}

/// Signs the requests of a crawl.
#[derive(Debug)]
pub(super) struct Signer {
    key: SignKey,
    plan: SignPlan,
    clock: Clock,
}

impl Signer {
    pub fn new(plan: &SignPlan) -> Result<Self> {
        if let Some(agent) = plan.agent.as_deref().filter(|agent| !is_publishable(agent)) {
            let form = "write it like https://bot.example.com";
            return Err(Error::Plan(format!(
                "`{agent}` cannot be where a key is published; {form}"
            )));
        }
        Ok(Self { key: SignKey::read(&plan.key)?, plan: plan.clone(), clock: Clock::start() })
    }

    /// Adds a signature for a request to `authority`.
    pub fn sign(&self, headers: &mut HeaderMap, authority: &str) {
        let created_s = self.clock.now().0 / 1_000;
        let covered = Covered {
            authority,
            agent: self.plan.agent.as_deref(),
            created_s,
            expires_s: created_s + self.plan.good_for_ms.div_ceil(1_000),
            nonce: &nonce(),
        };
        for (name, value) in covered.fields(&self.key) {
            let value = HeaderValue::try_from(value).expect("SIGN: printable ASCII");
            headers.insert(HeaderName::from_static(name), value);
        }
    }
}

fn nonce() -> String {
    let mut bytes = [0; NONCE_BYTES];
    rand::fill(&mut bytes).expect("SIGN: this machine has random numbers, as TLS needs them, too");
    BASE64.encode(&bytes)
}

fn is_publishable(agent: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_graphic() && !b"\"\\".contains(&byte);
    let has_host = |rest: &str| !rest.is_empty() && !rest.starts_with('/');
    let rest = agent.strip_prefix("https://").or_else(|| agent.strip_prefix("http://"));
    rest.is_some_and(has_host) && agent.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};

    /// RFC 9421 appendix B.1.4.
    const TEST_KEY: &str = "-----BEGIN PRIVATE KEY-----\n\
        MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF\n\
        -----END PRIVATE KEY-----\n";
    const KEY_ID: &str = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";

    #[test]
    fn the_example_of_the_standard_is_signed_as_there() {
        // RFC 9421 appendix B.2.6. Ed25519 gives the same signature every time.
        let base = "\"date\": Tue, 20 Apr 2021 02:07:55 GMT\n\"@method\": POST\n\"@path\": /foo\n\
            \"@authority\": example.com\n\"content-type\": application/json\n\"content-length\": 18\n\
            \"@signature-params\": (\"date\" \"@method\" \"@path\" \"@authority\" \"content-type\" \
            \"content-length\");created=1618884473;keyid=\"test-key-ed25519\"";
        let signature = "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQ\
            v5lIp5WPpBKRCw==";
        assert_eq!(SignKey::parse(TEST_KEY).unwrap().sign(base), signature);
    }

    #[test]
    fn a_request_is_signed_as_in_the_draft() {
        // draft-meunier-web-bot-auth-architecture, appendix A.2.1.
        let key = SignKey::parse(TEST_KEY).unwrap();
        let covered = Covered {
            authority: "example.com",
            agent: None,
            created_s: 1_735_689_600,
            expires_s: 4_889_289_600,
            nonce: "zIW8+cdmA3vdYagbxojpONwa/l0EKJ/O3/wD486VvsQjO/RxPaSt6ZxvQaMcQzNnqKN/mQ6hpGiFro2\
                L2qkz5A==",
        };
        let input = format!(
            "sig1=(\"@authority\");created=1735689600;keyid=\"{KEY_ID}\";alg=\"ed25519\";\
             expires=4889289600;nonce=\"{}\";tag=\"web-bot-auth\"",
            covered.nonce
        );
        let signature = "sig1=:QKN4fTdIYfh82fvoZCQiQA1weuozfCS/Led2zTMbewMMqH8PI2Wsy/5c4ao6B6D09nr\
            aNQdBNOADg8aM1MqfCg==:";
        let expected = [("signature-input", input), ("signature", signature.to_owned())];
        assert_eq!(covered.fields(&key), expected);
    }

    #[test]
    fn a_signature_covers_where_the_key_is_published() {
        let key = SignKey::parse(TEST_KEY).unwrap();
        let agent = Some("https://bot.test");
        let covered =
            Covered { authority: "h:8080", agent, created_s: 1, expires_s: 301, nonce: "bm9uY2U=" };
        let fields = covered.fields(&key);
        assert_eq!(fields[0], ("signature-agent", "sig1=\"https://bot.test\"".to_owned()));
        let parameters = fields[1].1.strip_prefix("sig1=").unwrap();
        let base = format!(
            "\"@authority\": h:8080\n\"signature-agent\";key=\"sig1\": \"https://bot.test\"\n\
             \"@signature-params\": {parameters}"
        );
        let signature = fields[2].1.strip_prefix("sig1=:").unwrap().strip_suffix(':').unwrap();
        let signature = BASE64.decode(signature.as_bytes()).unwrap();
        let public = UnparsedPublicKey::new(&ED25519, key.pair.public_key().as_ref().to_vec());
        assert!(public.verify(base.as_bytes(), &signature).is_ok());
        assert!(public.verify(base.replace("h:8080", "other").as_bytes(), &signature).is_err());
    }

    #[test]
    fn a_key_is_named_by_its_thumbprint() {
        // RFC 8037 appendix A.1 to A.3.
        let jwk = r#"{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
            "x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
        let key = SignKey::parse(jwk).unwrap();
        assert_eq!(key.x, "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
        assert_eq!(key.thumbprint(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
        assert_eq!(SignKey::parse(TEST_KEY).unwrap().thumbprint(), KEY_ID);
        assert_eq!(
            key.directory()["keys"][0]["kid"],
            "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
        );
        assert_eq!(key.directory().to_string().matches("nWGx").count(), 0, "the secret stays here");
        assert!(!format!("{key:?}").contains("nWGx"));
    }

    #[test]
    fn a_new_key_is_read_back_and_is_nobody_elses() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bot.pem");
        let key = SignKey::generate().unwrap();
        key.write(&path).unwrap();
        assert_eq!(SignKey::read(&path).unwrap().thumbprint(), key.thumbprint());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert!(key.write(&path).is_err(), "a key is not written over another");
    }

    #[test]
    fn what_is_no_key_or_no_address_is_refused() {
        let pem = |body: &str| format!("{PEM_BEGIN}\n{body}\n{PEM_END}\n");
        for text in ["", "{}", "[]", r#"{"kty":"RSA","d":"AQ"}"#, &pem("AAAA"), &pem("!")] {
            assert!(SignKey::parse(text).is_none(), "{text}");
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bot.pem");
        SignKey::generate().unwrap().write(&path).unwrap();
        let plan = |agent: &str| SignPlan {
            key: path.clone(),
            agent: Some(agent.to_owned()),
            good_for_ms: 1,
        };
        assert!(Signer::new(&plan("https://bot.test/x")).is_ok());
        for agent in ["bot.test", "https://", "https://a\"b", "ftp://a", "https://ä"] {
            assert!(Signer::new(&plan(agent)).is_err(), "{agent}");
        }
    }
}
