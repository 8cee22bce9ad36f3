//! PDF: what a reader in another process is asked for, what it answers, and the page made of it.
//!
//! A PDF is a heap of programs, fonts and compressed streams that refer to each other: too much to be read
//! in the process that holds the crawl. Here are only the words that go over the pipe, an [`Order`] one way
//! and [`Piece`]s the other, and an [`Assembly`] that makes a [`Page`] of them. Pieces come in the order of
//! the document, so whatever ends the reader, the pages before that are kept.

use serde::{Deserialize, Serialize};
use url::Url;

use super::language::language;
use super::page::{Links, NewLink, Note, Page, cut};
use super::prose::Prose;
use crate::{Limits, Via};

/// What a reader may use and give, in one line before the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Bytes of memory.
    pub memory_bytes_max: u64,
    /// Seconds on a processor.
    pub seconds_max: u64,
    /// Bytes of the document.
    pub body_bytes_max: u64,
    /// Pages to read.
    pub pages_max: u64,
    /// Bytes of one stream after decoding.
    pub stream_bytes_max: u64,
    /// Operands of one operator.
    pub operands_max: u64,
    /// Drawings inside drawings.
    pub nesting_max: u64,
    /// Bytes of text, all pages together.
    pub text_bytes_max: u64,
    /// Links, all pages together.
    pub links_max: u64,
}

impl Order {
    /// What these limits allow.
    pub fn new(limits: &Limits) -> Self {
        Self {
            memory_bytes_max: limits.pdf_memory_bytes_max,
            seconds_max: limits.pdf_ms_max.div_ceil(1_000),
            body_bytes_max: limits.body_decoded_bytes_max,
            pages_max: limits.pdf_pages_max,
            stream_bytes_max: limits.pdf_stream_bytes_max,
            operands_max: limits.pdf_operands_max,
            nesting_max: limits.pdf_nesting_max,
            text_bytes_max: limits.page_text_bytes_max,
            links_max: limits.page_links_max,
        }
    }
}

/// Something that was found in a PDF: a line of a reader's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Piece {
    /// What the document says of itself.
    About(About),
    /// The next page.
    Page {
        /// Its text, a line for each line.
        text: String,
        /// Where its annotations lead.
        links: Vec<String>,
    },
    /// All was read.
    End {
        /// Whether there was more than may be read.
        truncated: bool,
    },
    /// It cannot be read without a password.
    Locked,
    /// It cannot be read at all.
    Broken,
}

/// What a PDF says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Its title.
    pub title: Option<String>,
    /// Its language.
    pub lang: Option<String>,
    /// What its links resolve against.
    pub base: Option<String>,
    /// When it was made, as an ISO 8601 date.
    pub created: Option<String>,
    /// When it was last changed, in the same form.
    pub modified: Option<String>,
}

/// What ended a reader before it had said all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// There is none.
    NoReader,
    /// It took longer than `pdf_ms_max`.
    Late,
    /// It died: out of memory, or a fault of its own.
    Died,
}

/// A page made of pieces.
pub struct Assembly<'l> {
    page: Page,
    limits: &'l Limits,
    text: Prose,
    links: Links,
    done: bool,
}

impl<'l> Assembly<'l> {
    /// Begins with what [`parse`](super::parse) made of the document.
    pub fn new(page: Page, limits: &'l Limits) -> Self {
        let text = Prose::new(limits.page_text_bytes_max);
        Self { page, limits, text, links: Links::default(), done: false }
    }

    /// Adds what was found next.
    pub fn add(&mut self, piece: Piece) {
        match piece {
            Piece::About(about) => self.about(about),
            Piece::Page { text, links } => {
                for line in text.lines() {
                    self.text.words(line);
                    self.text.line();
                }
                for link in &links {
                    let link = NewLink::new(Via::Anchor, link);
                    self.links.push(link, self.limits.page_links_max, self.limits);
                }
            }
            Piece::End { truncated } => self.end(truncated.then_some(Note::PdfTruncated)),
            Piece::Locked => self.end(Some(Note::PdfLocked)),
            Piece::Broken => self.end(Some(Note::PdfBroken)),
        }
    }

    /// The page, with a note where the reader had not said all.
    pub fn finish(mut self, fault: Option<Fault>) -> Page {
        if !self.done {
            self.page.note(match fault {
                Some(Fault::NoReader) => Note::PdfUnread,
                Some(Fault::Late) => Note::PdfLate,
                Some(Fault::Died) | None => Note::PdfReaderDied,
            });
        }
        self.page.language = language(self.text.as_str(), &[]);
        self.page.set_text(self.text);
        self.page.set_links(self.links);
        self.page
    }

    fn about(&mut self, about: About) {
        let short = |text: Option<String>| {
            let mut prose = Prose::new(self.limits.page_meta_bytes_max);
            prose.words(&text?);
            Some(prose.into_string()).filter(|text| !text.is_empty())
        };
        self.page.title = short(about.title);
        self.page.lang = short(about.lang);
        self.page.published = short(about.created);
        self.page.modified = short(about.modified);
        let base = about.base.as_deref().map(|base| cut(base, self.limits.url_bytes_max));
        self.page.base = base.and_then(|base| Url::parse(base).ok());
    }

    fn end(&mut self, note: Option<Note>) {
        self.done = true;
        if let Some(note) = note {
            self.page.note(note);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Input, Kind, parse};
    use super::*;

    fn empty() -> Page {
        let url = Url::parse("http://h/a.pdf").unwrap();
        let body = b"%PDF-1.4";
        parse(&Input { url: &url, content_type: None, body, text: true }, &Limits::default())
    }

    #[test]
    fn pieces_make_a_page() {
        let limits = Limits::default();
        let mut pdf = Assembly::new(empty(), &limits);
        let title = Some(" A  title ".to_owned());
        let base = Some("http://elsewhere/".to_owned());
        pdf.add(Piece::About(About { title, base, ..About::default() }));
        let links = vec!["http://h/b".to_owned(), "c".to_owned(), String::new()];
        pdf.add(Piece::Page { text: "first  line\nsecond".to_owned(), links });
        pdf.add(Piece::Page { text: "third".to_owned(), links: Vec::new() });
        pdf.add(Piece::End { truncated: false });
        let page = pdf.finish(None);
        assert_eq!(page.kind, Kind::Pdf);
        assert_eq!(page.title.as_deref(), Some("A title"));
        assert_eq!(page.text, "first line\nsecond\nthird");
        assert_eq!(page.base.as_ref().map(Url::as_str), Some("http://elsewhere/"));
        let links: Vec<_> = page.links().map(|link| (link.via, link.target)).collect();
        assert_eq!(links[..2], [(Via::Anchor, "http://h/b"), (Via::Anchor, "c")]);
        assert!(page.notes.is_empty());
    }

    #[test]
    fn what_ended_a_reader_is_noted_and_what_it_had_said_is_kept() {
        let limits = Limits::default();
        let rows = [
            (Some(Fault::NoReader), Note::PdfUnread),
            (Some(Fault::Late), Note::PdfLate),
            (Some(Fault::Died), Note::PdfReaderDied),
            (None, Note::PdfReaderDied),
        ];
        for (fault, note) in rows {
            let mut pdf = Assembly::new(empty(), &limits);
            pdf.add(Piece::Page { text: "kept".to_owned(), links: Vec::new() });
            let page = pdf.finish(fault);
            assert_eq!((page.text.as_str(), page.notes.as_slice()), ("kept", &[note][..]));
        }
        for (piece, note) in [(Piece::Locked, Note::PdfLocked), (Piece::Broken, Note::PdfBroken)] {
            let mut pdf = Assembly::new(empty(), &limits);
            pdf.add(piece);
            assert_eq!(pdf.finish(None).notes, [note]);
        }
    }

    #[test]
    fn a_reader_that_says_too_much_is_cut() {
        let limits = Limits { page_links_max: 1, page_text_bytes_max: 4, ..Limits::default() };
        let mut pdf = Assembly::new(empty(), &limits);
        let links = vec!["http://h/1".to_owned(), "http://h/2".to_owned()];
        pdf.add(Piece::Page { text: "longer than four".to_owned(), links });
        pdf.add(Piece::End { truncated: false });
        let page = pdf.finish(None);
        assert_eq!((page.link_count(), page.text.as_str()), (1, "long"));
        assert_eq!(page.notes, [Note::TextTruncated, Note::LinksTruncated]);
    }
}
