//! The pages of a host behind TLS: a start page and four that it links to.

/// Pages that a start page links to on its own host.
const PAGES: usize = 4;

/// The start page, with links to the host's own pages and to others.
pub(super) fn start(word: &str, others: &[String]) -> String {
    let own = (1..=PAGES).map(|n| format!("/{n}"));
    let links = own.chain(others.iter().cloned());
    let links: String = links.map(|to| format!("<p><a href=\"{to}\">to</a></p>")).collect();
    format!("<!doctype html><title>{word}</title>{links}")
}

/// Any other page; what tells it from the rest stands in it.
pub(super) fn leaf(word: &str, what: &str) -> String {
    format!("<!doctype html><title>{word} {what}</title><p>A page of {word}: {what}.")
}
