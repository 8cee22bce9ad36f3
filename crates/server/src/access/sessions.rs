//! Browsers that have shown the token: each holds a random text of its own in a cookie.
//!
//! The cookie is not the token, so that whoever finds it in a browser's files has a session that ends, and
//! not the key. Sessions are in memory only: after a restart the link has to be opened again.

use std::collections::HashMap;

use larm_core::{Limits, Millis};

use super::token::{self, Token};

/// Sessions by the digest of their text, with the time of their last request.
#[derive(Debug, Default)]
pub struct Sessions {
    seen: HashMap<Token, Millis>,
}

impl Sessions {
    /// Begins a session, and gives the text of its cookie.
    pub fn begin(&mut self, now: Millis, limits: &Limits) -> String {
        self.forget_old(now, limits);
        if self.seen.len() as u64 >= limits.server_sessions_max {
            self.forget_oldest();
        }
        let text = token::random();
        self.seen.insert(Token::of(&text), now);
        text
    }

    /// Whether a text is that of a session, which is then used at `now`.
    pub fn knows(&mut self, text: &str, now: Millis, limits: &Limits) -> bool {
        let Some(seen) = self.seen.get_mut(&Token::of(text)) else { return false };
        let is_good = now.since(*seen) < limits.server_session_ms_max;
        *seen = if is_good { now } else { *seen };
        is_good
    }

    /// Ends a session.
    pub fn end(&mut self, text: &str) {
        self.seen.remove(&Token::of(text));
    }

    fn forget_old(&mut self, now: Millis, limits: &Limits) {
        self.seen.retain(|_, seen| now.since(*seen) < limits.server_session_ms_max);
    }

    fn forget_oldest(&mut self) {
        let oldest = self.seen.iter().min_by_key(|(_, seen)| **seen).map(|(token, _)| *token);
        oldest.map(|token| self.seen.remove(&token));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_so_many_sessions_and_the_oldest_goes_first() {
        let limits = Limits { server_sessions_max: 2, ..Limits::default() };
        let mut sessions = Sessions::default();
        let texts = [1, 2, 3].map(|at| sessions.begin(Millis(at), &limits));
        let known = texts.map(|text| sessions.knows(&text, Millis(4), &limits));
        assert_eq!(known, [false, true, true]);
    }

    #[test]
    fn a_session_ends_when_it_is_not_used_or_told_to() {
        let limits = Limits { server_session_ms_max: 10, ..Limits::default() };
        let mut sessions = Sessions::default();
        let text = sessions.begin(Millis(1), &limits);
        assert!(sessions.knows(&text, Millis(9), &limits));
        assert!(sessions.knows(&text, Millis(18), &limits));
        assert!(!sessions.knows(&text, Millis(28), &limits));
        let text = sessions.begin(Millis(30), &limits);
        sessions.end(&text);
        assert!(!sessions.knows(&text, Millis(31), &limits));
    }
}
