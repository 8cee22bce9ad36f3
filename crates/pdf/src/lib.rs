//! What larm reads of a PDF: text, title and links.
//!
//! [`read`] takes any bytes and tells what it finds, page by page, as
//! [`Piece`]s. It is meant to run in a process of its own, which
//! [`serve`] makes safe to lose: bytes of the web decide how much is decompressed and how deep it is nested,
//! and a crawl should not have to trust that every bound was thought of.
//!
//! The structure of the file (cross-references in all their forms, object streams, damage, encryption
//! without a password) is read by `lopdf`. What the pages say is read here, by running their content
//! streams as far as they show text.

mod about;
mod cmap;
mod font;
mod glyph;
mod layout;
mod lexer;
mod page;
mod serve;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use larm_core::parse::pdf::{Order, Piece};
use lopdf::{Document, LoadOptions, Object, ObjectId};

use font::Bounds;
use page::Reader;

pub use serve::serve;

/// Reads a document and hands over what it finds, in order. The last piece says how it ended.
pub fn read<E>(
    body: &[u8],
    order: &Order,
    mut tell: impl FnMut(Piece) -> Result<(), E>,
) -> Result<(), E> {
    let stream_bytes_max = size(order.stream_bytes_max);
    let first = load(body, stream_bytes_max);
    if first.as_ref().is_some_and(Document::is_encrypted) {
        return tell(Piece::Locked);
    }
    let whole = first.filter(|document| !pages(document).is_empty());
    let Some(document) = whole.or_else(|| mend(body, stream_bytes_max)) else {
        return tell(Piece::Broken);
    };
    let pages = pages(&document);
    if pages.is_empty() {
        return tell(Piece::Broken);
    }
    tell(Piece::About(about::about(&document, stream_bytes_max)))?;
    let truncated = read_pages(&document, &pages, order, &mut tell)?;
    tell(Piece::End { truncated })
}

fn load(body: &[u8], stream_bytes_max: usize) -> Option<Document> {
    let options = LoadOptions::with_max_decompressed_size(stream_bytes_max);
    Document::load_mem_with_options(body, options).ok()
}

/// A file that was cut has lost what stands at its end and says where everything is, and in some that is
/// wrong. With an end that says nothing, its objects are looked for one by one. What is encrypted would
/// stay so.
fn mend(body: &[u8], stream_bytes_max: usize) -> Option<Document> {
    if memchr::memmem::find(body, b"/Encrypt").is_some() {
        return None;
    }
    let end = b"\nendstream\nendobj\ntrailer\n<</Size 1/Root 1 0 R>>\nstartxref\n0\n%%EOF\n";
    load(&[body, end].concat(), stream_bytes_max)
}

/// Reads page by page, and says whether there was more than may be read, or can be.
fn read_pages<E>(
    document: &Document,
    pages: &[ObjectId],
    order: &Order,
    tell: &mut impl FnMut(Piece) -> Result<(), E>,
) -> Result<bool, E> {
    let bounds = Bounds {
        stream_bytes_max: size(order.stream_bytes_max),
        operands_max: size(order.operands_max),
    };
    let mut reader = Reader::new(document, bounds, size(order.nesting_max));
    let (mut text_bytes, mut links_left) = (size(order.text_bytes_max), size(order.links_max));
    let mut truncated = pages.len() > size(order.pages_max);
    for page in pages.iter().take(size(order.pages_max)) {
        let text = reader.text(*page, text_bytes);
        let mut links = reader.links(*page);
        truncated |= text.len() >= text_bytes || links.len() > links_left;
        links.truncate(links_left);
        (text_bytes, links_left) =
            (text_bytes.saturating_sub(text.len()), links_left - links.len());
        if !text.is_empty() || !links.is_empty() {
            tell(Piece::Page { text, links })?;
        }
    }
    Ok(truncated || reader.left_out)
}

/// The pages of the tree, each once; of a tree that leads nowhere, whatever calls itself a page.
fn pages(document: &Document) -> Vec<ObjectId> {
    let mut seen = HashSet::new();
    let is_page = |id: &ObjectId| document.get_dictionary(*id).is_ok();
    let mut pages: Vec<_> =
        document.page_iter().filter(is_page).filter(|id| seen.insert(*id)).collect();
    if pages.is_empty() {
        let found = document.objects.iter().filter(|(_, object)| claims_page(object));
        pages = found.map(|(id, _)| *id).collect();
    }
    pages
}

fn claims_page(object: &Object) -> bool {
    object.as_dict().is_ok_and(|dict| dict.has_type(b"Page"))
}

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
