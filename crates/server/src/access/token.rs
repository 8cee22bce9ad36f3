//! Tokens: random texts that open the server, kept as digests only.

use sha2::{Digest, Sha256};

/// From this length on a token cannot be guessed, if it is a random one.
const LONG: usize = 16;

/// What is known of a secret text: enough to know it again, not enough to say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token {
    digest: [u8; 32],
    is_long: bool,
}

impl Token {
    /// Takes note of a text.
    pub fn of(text: &str) -> Self {
        Self { digest: Sha256::digest(text.as_bytes()).into(), is_long: is_long(text) }
    }

    /// Whether this is the text. Two digests are compared, each byte of them: how long that takes says nothing
    /// of the text.
    pub fn is(&self, text: &str) -> bool {
        let given = Self::of(text);
        let differences = self.digest.iter().zip(given.digest).map(|(one, other)| one ^ other);
        differences.fold(0, |all, difference| all | difference) == 0
    }

    /// Whether nobody finds it by trying.
    pub fn is_long(&self) -> bool {
        self.is_long
    }
}

/// A new random text: 244 bits, in letters and digits.
pub fn random() -> String {
    let half = || uuid::Uuid::new_v4().simple().to_string();
    half() + &half()
}

/// Whether a token that somebody made up is long enough for other machines to try it.
pub fn is_long(text: &str) -> bool {
    text.len() >= LONG
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_knows_its_text_and_no_other() {
        let token = Token::of("open sesame");
        assert!(token.is("open sesame"));
        for wrong in ["", "open", "open sesame ", "Open sesame"] {
            assert!(!token.is(wrong), "{wrong}");
        }
    }

    #[test]
    fn random_tokens_are_long_and_differ() {
        let (one, other) = (random(), random());
        assert!(is_long(&one) && one.len() == 64);
        assert_ne!(one, other);
    }
}
