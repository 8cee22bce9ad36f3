//! A page as its texts and tags, for whoever writes it anew.
//!
//! The same tokenizer that finds links reads it, but every attribute is told, and nothing of the tree's rules
//! counts: which elements hold nothing but text is for the caller to say.

use super::attributes::read_attributes;
use super::name::Tag;
use super::reference::decode_attribute;
use super::token::Token;
use super::tokenizer::{Mode, Tokenizer, comment_end};

/// Attributes of a tag that are told.
const ATTRIBUTES_MAX: usize = 256;

/// A piece of a page. Comments, processing instructions and document types are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text, its character references as they are.
    Text(&'a str),
    /// A start tag.
    Start(StartTag<'a>),
    /// An end tag, by name.
    End(&'a str),
}

/// A start tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartTag<'a> {
    /// Its name, as the page has it.
    pub name: &'a str,
    /// Whether it ends with `/>`.
    pub self_closing: bool,
    /// What follows the name.
    behind: &'a str,
}

impl StartTag<'_> {
    /// Names in small letters, values with their character references decoded. The first of a name counts.
    pub fn attributes(&self) -> Vec<(String, String)> {
        let mut attributes: Vec<(String, String)> = Vec::new();
        read_attributes(self.behind, 0, |name, value| {
            let name = String::from_utf8_lossy(name).to_ascii_lowercase();
            let is_new = attributes.iter().all(|(other, _)| *other != name);
            if is_new && attributes.len() < ATTRIBUTES_MAX {
                let mut decoded = String::with_capacity(value.len());
                decode_attribute(value, &mut decoded);
                attributes.push((name, decoded));
            }
        });
        attributes
    }
}

/// The pieces of a page.
#[derive(Debug)]
pub struct Markup<'a> {
    source: &'a str,
    tokens: Tokenizer<'a>,
}

impl<'a> Markup<'a> {
    /// Those of a source.
    pub fn new(source: &'a str) -> Self {
        Self { source, tokens: Tokenizer::new(source).without_hints() }
    }

    /// Whether a document type comes before anything else.
    pub fn has_doctype(&self) -> bool {
        let mut rest = self.source.trim_ascii_start();
        while rest.starts_with("<!--") {
            rest = rest[comment_end(rest.as_bytes(), 4)..].trim_ascii_start();
        }
        rest.as_bytes().get(..9).is_some_and(|head| head.eq_ignore_ascii_case(b"<!doctype"))
    }

    /// Takes all up to the end tag of this element as text, from behind a start tag on. The end tag is a piece.
    pub fn raw(&mut self, name: &str) -> &'a str {
        let tag = Tag::of(name.as_bytes());
        self.tokens.set_mode(if tag == Tag::Script { Mode::Script } else { Mode::Rawtext(tag) });
        self.tokens.raw()
    }
}

impl<'a> Iterator for Markup<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        Some(match self.tokens.next(false)? {
            Token::Blank(text) | Token::Text(text) | Token::Raw(text) => Piece::Text(text),
            Token::End { name } => Piece::End(name.as_str()),
            Token::Start { name, self_closing } => {
                let name = name.as_str();
                let behind = &self.source[self.tokens.tag_at() + 1 + name.len()..];
                Piece::Start(StartTag { name, self_closing, behind })
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_falls_into_pieces_that_keep_all_attributes() {
        let source = "<!-- x --> <!DOCTYPE html><A HREF='a&amp;b' data-x=1 href=c é=ü/>t&lt;<style><b>x</style><br";
        let mut markup = Markup::new(source);
        assert!(markup.has_doctype());
        let mut told = Vec::new();
        while let Some(piece) = markup.next() {
            match piece {
                Piece::Start(tag) if tag.name == "style" => {
                    told.push(markup.raw("style").to_owned())
                }
                Piece::Start(tag) => told.push(format!("{} {:?}", tag.name, tag.attributes())),
                Piece::Text(text) => told.push(format!("{text:?}")),
                Piece::End(name) => told.push(format!("/{name}")),
            }
        }
        let expected = [
            "\" \"",
            r#"A [("href", "a&b"), ("data-x", "1"), ("é", "ü/")]"#,
            r#""t&lt;""#,
            "<b>x",
            "/style",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn only_what_comes_first_is_a_document_type() {
        let rows = [
            ("<!doctype html>", true),
            ("\n<!----><!-- a --><!DocType x>", true),
            ("<p><!doctype html>", false),
            ("<!-- <!doctype html>", false),
            ("", false),
            ("<!docé", false),
        ];
        for (source, expected) in rows {
            assert_eq!(Markup::new(source).has_doctype(), expected, "{source:?}");
        }
    }
}
