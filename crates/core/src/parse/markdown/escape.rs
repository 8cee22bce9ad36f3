//! Words of a page that Markdown would take for its own.
//!
//! Only what would change the meaning is escaped, so that plain text stays plain: an underscore within a
//! word, a number in a sentence.

/// Keeps characters of a text from being taken for markup.
pub(super) fn escape(word: &str, begins_line: bool) -> String {
    let mut out = String::with_capacity(word.len() + 2);
    let numbers = word.bytes().take_while(u8::is_ascii_digit).count();
    if begins_line && is_block_marker(word) {
        out.push('\\');
    }
    for (at, c) in word.char_indices() {
        let ends_number = begins_line && numbers > 0 && at == numbers && at + 1 == word.len();
        let is_edge = at == 0 || at + 1 == word.len();
        let is_markup = matches!(c, '\\' | '`' | '*' | '<' | '[' | ']')
            || (c == '_' && is_edge)
            || (c == '~' && word[at..].starts_with("~~"))
            || (c == '&' && word[at..].contains(';'))
            || (ends_number && matches!(c, '.' | ')'));
        if is_markup {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Whether a word at the start of a line would make it an item, a heading, a quote or a rule.
fn is_block_marker(word: &str) -> bool {
    let is_all = |c: u8| word.bytes().all(|byte| byte == c);
    matches!(word, "-" | "+" | ":")
        || word.starts_with(['#', '>'])
        || is_all(b'=')
        || (is_all(b'-') && !word.is_empty())
        || word.starts_with("~~~")
}
