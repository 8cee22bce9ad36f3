//! Tokens one by one, for whoever asks for the next instead of taking all as they come.

use super::name::Tag;
use super::tokenizer::{Mode, Part, StartTag, Tokenizer, Tokens};

/// What comes next in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// White space, and nothing else.
    Blank(&'a str),
    /// Text in which character references count.
    Text(&'a str),
    /// Text in which nothing counts: raw text, scripts, CDATA.
    Raw(&'a str),
    Start {
        name: Part<'a>,
        self_closing: bool,
    },
    End {
        name: Part<'a>,
    },
}

impl<'a> Tokenizer<'a> {
    /// The next token. `cdata` tells whether `<![CDATA[` counts here.
    pub fn next(&mut self, cdata: bool) -> Option<Token<'a>> {
        let mut kept = Kept { token: None, cdata };
        while kept.token.is_none() && self.step(&mut kept) {}
        kept.token
    }
}

/// Keeps the token of one step.
struct Kept<'a> {
    token: Option<Token<'a>>,
    cdata: bool,
}

impl<'a> Tokens<'a> for Kept<'a> {
    fn start(&mut self, start: StartTag<'_, 'a>) -> Mode {
        let StartTag { name, self_closing, .. } = start;
        self.token = Some(Token::Start { name, self_closing });
        Mode::Data
    }

    fn end(&mut self, _: Tag, name: Part<'a>) {
        self.token = Some(Token::End { name });
    }

    fn blank(&mut self, text: Part<'a>) {
        self.token = Some(Token::Blank(text.as_str()));
    }

    fn text(&mut self, text: Part<'a>) {
        self.token = Some(Token::Text(text.as_str()));
    }

    fn raw(&mut self, text: Part<'a>) {
        self.token = Some(Token::Raw(text.as_str()));
    }

    fn takes_cdata(&self) -> bool {
        self.cdata
    }
}
