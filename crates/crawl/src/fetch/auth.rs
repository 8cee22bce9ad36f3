//! Answers to a server that asks who we are: Basic (RFC 7617) and Digest (RFC 7616). Pure.
//!
//! Nothing is sent before it is asked for: a server that wants a digest never gets to see the password.

use data_encoding::{BASE64, HEXLOWER};
use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;
use md5::{Digest as _, Md5};
use sha2::Sha256;

/// The longest challenge that is read.
const CHALLENGE_BYTES_MAX: usize = 4 * 1024;

/// How a server wants to be shown a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Challenge {
    Basic,
    Digest(Digest),
}

/// What a digest is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Digest {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    algorithm: Algorithm,
    /// Whether user and password are hashed once more, with this session's nonces (`-sess`).
    is_session: bool,
    /// Whether the server knows `qop=auth`; old ones do not.
    counts: bool,
    /// The last nonce was fine once, and is too old now.
    pub is_stale: bool,
    /// Answers given to this nonce.
    answers: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    Md5,
    Sha256,
}

impl Challenge {
    /// The strongest challenge of a 401 that can be answered.
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let texts =
            headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        let all: Vec<Self> =
            texts.flat_map(challenges).filter_map(|text| Self::read(&text)).collect();
        let rank = |challenge: &&Self| match challenge {
            Self::Digest(digest) if digest.algorithm == Algorithm::Sha256 => 2,
            Self::Digest(_) => 1,
            Self::Basic => 0,
        };
        all.iter().max_by_key(rank).cloned()
    }

    fn read(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once(' ').unwrap_or((text, ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Self::Basic);
        }
        scheme
            .eq_ignore_ascii_case("digest")
            .then(|| Digest::read(rest))
            .flatten()
            .map(Self::Digest)
    }

    /// The value of `Authorization` for one request. `salt` is a number never used before.
    pub fn answer(
        &mut self,
        user: &str,
        password: &str,
        request: (&str, &str),
        salt: u64,
    ) -> String {
        match self {
            Self::Basic => {
                format!("Basic {}", BASE64.encode(format!("{user}:{password}").as_bytes()))
            }
            Self::Digest(digest) => digest.answer(user, password, request, salt),
        }
    }
}

impl Digest {
    fn read(text: &str) -> Option<Self> {
        let fields = parameters(text);
        let get = |name: &str| {
            let field = fields.iter().find(|(found, _)| found.eq_ignore_ascii_case(name));
            field.map(|(_, value)| value.clone())
        };
        let named = get("algorithm").unwrap_or_default().to_ascii_lowercase();
        let (name, is_session) =
            named.strip_suffix("-sess").map_or((&*named, false), |n| (n, true));
        let algorithm = match name {
            "" | "md5" => Algorithm::Md5,
            "sha-256" => Algorithm::Sha256,
            _ => return None,
        };
        let qop = get("qop");
        let counts = qop
            .iter()
            .any(|qop| qop.split(',').any(|word| word.trim().eq_ignore_ascii_case("auth")));
        if qop.is_some() && !counts {
            return None;
        }
        Some(Self {
            realm: get("realm")?,
            nonce: get("nonce")?,
            opaque: get("opaque"),
            algorithm,
            is_session,
            counts,
            is_stale: get("stale").is_some_and(|stale| stale.eq_ignore_ascii_case("true")),
            answers: 0,
        })
    }

    fn answer(
        &mut self,
        user: &str,
        password: &str,
        (method, uri): (&str, &str),
        salt: u64,
    ) -> String {
        self.answers = self.answers.saturating_add(1);
        let Self { realm, nonce, .. } = &*self;
        let (count, own) = (format!("{:08x}", self.answers), format!("{salt:016x}"));
        let mut who = self.hash(&format!("{user}:{realm}:{password}"));
        if self.is_session {
            who = self.hash(&format!("{who}:{nonce}:{own}"));
        }
        let what = self.hash(&format!("{method}:{uri}"));
        let response = match self.counts {
            true => self.hash(&format!("{who}:{nonce}:{count}:{own}:auth:{what}")),
            false => self.hash(&format!("{who}:{nonce}:{what}")),
        };
        let mut text = format!(
            "Digest username={}, realm={}, nonce={}, uri=\"{uri}\", response=\"{response}\"",
            quoted(user),
            quoted(realm),
            quoted(nonce)
        );
        if let Some(name) = self.algorithm_name() {
            text.push_str(&format!(", algorithm={name}"));
        }
        if let Some(opaque) = &self.opaque {
            text.push_str(&format!(", opaque={}", quoted(opaque)));
        }
        if self.counts {
            text.push_str(&format!(", qop=auth, nc={count}"));
        }
        if self.counts || self.is_session {
            text.push_str(&format!(", cnonce=\"{own}\""));
        }
        text
    }

    /// Its name, where it is not the one that goes without saying.
    fn algorithm_name(&self) -> Option<&'static str> {
        match (self.algorithm, self.is_session) {
            (Algorithm::Md5, false) => None,
            (Algorithm::Md5, true) => Some("MD5-sess"),
            (Algorithm::Sha256, false) => Some("SHA-256"),
            (Algorithm::Sha256, true) => Some("SHA-256-sess"),
        }
    }

    fn hash(&self, text: &str) -> String {
        match self.algorithm {
            Algorithm::Md5 => HEXLOWER.encode(&Md5::digest(text.as_bytes())),
            Algorithm::Sha256 => HEXLOWER.encode(&Sha256::digest(text.as_bytes())),
        }
    }
}

/// The challenges of one field: a comma may part them, or their parameters.
fn challenges(text: &str) -> Vec<String> {
    let text = text.get(..CHALLENGE_BYTES_MAX).unwrap_or(text);
    let mut found: Vec<String> = Vec::new();
    for part in parts(text) {
        let part = part.trim();
        let first = part.split_ascii_whitespace().next().unwrap_or_default();
        match found.last_mut().filter(|_| first.contains('=') || first.is_empty()) {
            Some(open) => *open = format!("{open}, {part}"),
            None => found.push(part.to_owned()),
        }
    }
    found
}

/// What stands between commas, those in quotes aside.
fn parts(text: &str) -> Vec<&str> {
    let (mut found, mut begin) = (Vec::new(), 0);
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b',' if !is_quoted => {
                found.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    found.push(&text[begin..]);
    found
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// `name=value, name="quoted value", …`.
fn parameters(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((name, behind)) = rest.split_once('=') {
        let name = name.trim_matches([' ', ',', '\t']).to_owned();
        let (value, after) = read_value(behind.trim_start());
        found.push((name, value));
        rest = after;
    }
    found
}

fn read_value(text: &str) -> (String, &str) {
    let Some(inner) = text.strip_prefix('"') else {
        let end = text.find([',', ' ']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut chars = inner.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (value, &inner[at + 1..]),
            '\\' => value.extend(chars.next().map(|(_, c)| c)),
            c => value.push(c),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn challenge(texts: &[&str]) -> Option<Challenge> {
        let mut headers = HeaderMap::new();
        for text in texts {
            headers.append(WWW_AUTHENTICATE, text.parse().unwrap());
        }
        Challenge::of(&headers)
    }

    #[test]
    fn the_digest_of_the_standards_example_comes_out() {
        // RFC 2617 section 3.5, whose client nonce is no number of ours, without a count.
        let text =
            r#"Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093""#;
        let mut challenge = challenge(&[text]).unwrap();
        let answer = challenge.answer("Mufasa", "Circle Of Life", ("GET", "/dir/index.html"), 1);
        // md5(ha1 ":" nonce ":" ha2), as RFC 2069 has it (with its erratum).
        assert!(answer.contains("response=\"670fd8c2df070c60b045671b8b24ff02\""), "{answer}");
    }

    #[test]
    fn the_strongest_challenge_is_answered() {
        let md5 = r#"Digest realm="r", qop="auth,auth-int", nonce="n", opaque="o\"p""#;
        let sha = r#"digest realm=r,nonce="n",qop=auth,algorithm=SHA-256,stale=TRUE"#;
        let both = challenge(&["Basic realm=x", md5, sha]).unwrap();
        let Challenge::Digest(digest) = &both else { panic!("{both:?}") };
        assert_eq!((digest.algorithm, digest.is_stale), (Algorithm::Sha256, true));
        let Some(Challenge::Digest(digest)) = challenge(&["Basic realm=x", md5]) else { panic!() };
        assert_eq!(digest.opaque.as_deref(), Some("o\"p"));
        assert_eq!(challenge(&["Basic realm=x"]), Some(Challenge::Basic));
        let joined = format!("Negotiate, Basic realm=\"b, c\", {md5}");
        assert!(matches!(challenge(&[&joined]), Some(Challenge::Digest(_))), "{joined}");
        assert_eq!(challenge(&["Negotiate, Basic realm=\"b\""]), Some(Challenge::Basic));
        for unknown in
            ["Negotiate", r#"Digest realm="r", nonce="n", algorithm=X"#, "Digest", "", "=,"]
        {
            assert_eq!(challenge(&[unknown]), None, "{unknown}");
        }
    }

    /// What Python's hashlib makes of RFC 7616 section 3.4, with the nonces of the test.
    #[test]
    fn a_session_hashes_who_we_are_with_its_nonces() {
        #[rustfmt::skip]
        let rows = [
            ("MD5-sess", "399d9fc0079b008708aad603d7240ce0"),
            ("sha-256-SESS", "0d0330a3c6f21762c3297d2474b8ab5bcab43d4c048676ab74fbbf74abbc9dff"),
        ];
        for (algorithm, response) in rows {
            let text = format!(r#"Digest realm="r", nonce="n", qop="auth", algorithm={algorithm}"#);
            let answer = challenge(&[&text]).unwrap().answer("u", "p", ("GET", "/a?b"), 1);
            assert!(answer.contains(&format!("response=\"{response}\"")), "{algorithm}: {answer}");
            let named = answer.to_ascii_lowercase();
            assert!(
                named.contains(&format!("algorithm={}", algorithm.to_ascii_lowercase())),
                "{answer}"
            );
            assert!(answer.contains("cnonce=\"0000000000000001\""), "{answer}");
        }
    }

    #[test]
    fn each_answer_to_a_nonce_is_counted() {
        let mut challenge = challenge(&[r#"Digest realm="r", nonce="n", qop="auth""#]).unwrap();
        let answers: Vec<_> =
            (1..=2).map(|salt| challenge.answer("u", "p", ("GET", "/"), salt)).collect();
        assert!(answers[0].contains("nc=00000001, cnonce=\"0000000000000001\""), "{}", answers[0]);
        assert!(answers[1].contains("nc=00000002"), "{}", answers[1]);
    }

    #[test]
    fn a_password_is_basics_secret_only() {
        let answer = Challenge::Basic.answer("Aladdin", "open sesame", ("GET", "/"), 0);
        assert_eq!(answer, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    }
}
