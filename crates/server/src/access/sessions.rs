//! Browsers that have shown the token: each holds a random text of its own in a cookie.
//!
//! The cookie is not the token, so that whoever finds it in a browser's files has a session that ends, and
//! not the key. Sessions are in memory only: after a restart the link has to be opened again.

use std::collections::HashMap;

use larm_core::{Limits, Millis};

use super::token::{self, Token};

/// One session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    token: Token,
    /// Tells it from all others of this server; it opens nothing by itself.
    pub number: u64,
}

/// Sessions by the digest of their text.
#[derive(Debug, Default)]
pub struct Sessions {
    seen: HashMap<Token, Seen>,
    begun: u64,
}

#[derive(Debug)]
struct Seen {
    number: u64,
    /// When the last request came.
    last: Millis,
}

impl Seen {
    fn is_good(&self, now: Millis, limits: &Limits) -> bool {
        now.since(self.last) < limits.server_session_ms_max
    }
}

impl Sessions {
    /// Begins a session, and gives the text of its cookie.
    pub fn begin(&mut self, now: Millis, limits: &Limits) -> String {
        self.forget_old(now, limits);
        if self.seen.len() as u64 >= limits.server_sessions_max {
            self.forget_oldest();
        }
        let text = token::random();
        self.begun += 1;
        self.seen.insert(Token::of(&text), Seen { number: self.begun, last: now });
        text
    }

    /// The session that a text is of, which is then used at `now`.
    pub fn of(&mut self, text: &str, now: Millis, limits: &Limits) -> Option<Session> {
        let token = Token::of(text);
        let seen = self.seen.get_mut(&token).filter(|seen| seen.is_good(now, limits))?;
        seen.last = now;
        Some(Session { token, number: seen.number })
    }

    /// Whether a session has not ended. Looking does not use it.
    pub fn has(&self, session: Session, now: Millis, limits: &Limits) -> bool {
        self.seen.get(&session.token).is_some_and(|seen| seen.is_good(now, limits))
    }

    /// The same by its number.
    pub fn has_number(&self, number: u64, now: Millis, limits: &Limits) -> bool {
        self.seen.values().any(|seen| seen.number == number && seen.is_good(now, limits))
    }

    /// Ends a session.
    pub fn end(&mut self, text: &str) {
        self.seen.remove(&Token::of(text));
    }

    fn forget_old(&mut self, now: Millis, limits: &Limits) {
        self.seen.retain(|_, seen| seen.is_good(now, limits));
    }

    fn forget_oldest(&mut self) {
        let oldest = self.seen.iter().min_by_key(|(_, seen)| seen.last).map(|(token, _)| *token);
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
        let known = texts.map(|text| sessions.of(&text, Millis(4), &limits).is_some());
        assert_eq!(known, [false, true, true]);
    }

    #[test]
    fn a_session_ends_when_it_is_not_used_or_told_to() {
        let limits = Limits { server_session_ms_max: 10, ..Limits::default() };
        let mut sessions = Sessions::default();
        let text = sessions.begin(Millis(1), &limits);
        assert!(sessions.of(&text, Millis(9), &limits).is_some());
        assert!(sessions.of(&text, Millis(18), &limits).is_some());
        assert_eq!(sessions.of(&text, Millis(28), &limits), None);
        let text = sessions.begin(Millis(30), &limits);
        sessions.end(&text);
        assert_eq!(sessions.of(&text, Millis(31), &limits), None);
    }

    #[test]
    fn whoever_holds_a_session_can_ask_whether_it_has_ended_without_using_it() {
        let limits = Limits { server_session_ms_max: 10, ..Limits::default() };
        let mut sessions = Sessions::default();
        let texts = [0, 0].map(|at| sessions.begin(Millis(at), &limits));
        let [one, other] = texts
            .each_ref()
            .map(|text| sessions.of(text, Millis(1), &limits).expect("it has just begun"));
        let is_there = |sessions: &Sessions, session: Session, at: u64| {
            let by_itself = sessions.has(session, Millis(at), &limits);
            assert_eq!(sessions.has_number(session.number, Millis(at), &limits), by_itself);
            by_itself
        };
        assert!(is_there(&sessions, one, 10) && !is_there(&sessions, one, 11));
        sessions.end(&texts[0]);
        assert!(!is_there(&sessions, one, 2) && is_there(&sessions, other, 2));
    }
}
