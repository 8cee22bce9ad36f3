//! Code: the language that markup names, and fences that its text cannot break.

use crate::parse::html::{Attr, Attributes};

/// A name of a language is not longer than this.
const LANGUAGE_BYTES_MAX: usize = 24;

/// The language that an element's class names: `language-rust`, `lang-c`, `highlight-source-js`,
/// `brush: py`.
pub(super) fn language(attributes: &Attributes<'_>) -> Option<String> {
    let class = attributes.get(Attr::Class)?;
    let mut words = class.split(|c: char| c.is_ascii_whitespace() || matches!(c, ':' | ';'));
    while let Some(word) = words.next() {
        let prefixed = ["language-", "lang-", "highlight-source-", "sourceCode-"];
        let name = prefixed.iter().find_map(|prefix| word.strip_prefix(prefix));
        let name = if word == "brush" { words.find(|word| !word.is_empty()) } else { name };
        if let Some(name) = name.filter(|name| is_language(name)) {
            return Some(name.to_ascii_lowercase());
        }
    }
    None
}

fn is_language(name: &str) -> bool {
    let is_part =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'#' | b'-' | b'_' | b'.');
    (1..=LANGUAGE_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_part)
}

/// More backticks than stand together anywhere in the code, and no fewer than `least`.
pub(super) fn fence(code: &str, least: usize) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(least.max(longest + 1))
}

/// Code within a line.
pub(super) fn span(code: &str) -> String {
    let fence = fence(code, 1);
    let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{code}{pad}{fence}")
}
