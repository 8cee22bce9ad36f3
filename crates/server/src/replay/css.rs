//! Style sheets with every URL mapped to the archive.
//!
//! Tokens are read as CSS Syntax section 4 has them, escapes in names included: whatever a browser would take for a
//! URL is taken for one here. A URL that may not stay becomes one that is known to be none.

use memchr::memmem;

use super::place::{Mapper, Use};

/// Functions whose strings are URLs.
const URL_FUNCTIONS: [&str; 6] =
    ["url", "src", "image", "image-set", "-webkit-image-set", "url-prefix"];
/// What stands in the place of a URL that has to go.
const NOTHING: &str = "url(\"about:invalid\")";

/// A style sheet, or the value of a `style` attribute, with its URLs mapped.
pub fn rewrite(source: &str, mapper: &Mapper) -> String {
    let mut sheet =
        Sheet { source, at: 0, out: String::with_capacity(source.len() + 256), mapper, inside: 0 };
    while sheet.step() {}
    sheet.out
}

struct Sheet<'a> {
    source: &'a str,
    at: usize,
    out: String,
    mapper: &'a Mapper,
    /// How many parentheses are open since the function began whose strings are URLs.
    inside: u32,
}

impl<'a> Sheet<'a> {
    /// Copies or changes the next token; `false` at the end.
    fn step(&mut self) -> bool {
        let Some(first) = self.peek() else { return false };
        match first {
            '/' if self.rest().starts_with("/*") => {
                let end = memmem::find(&self.rest().as_bytes()[2..], b"*/")
                    .map_or(self.rest().len(), |at| at + 4);
                self.at += end;
                self.out.push_str("/**/");
            }
            '"' | '\'' => {
                let text = self.string();
                if self.inside > 0 { self.put_string_url(&text) } else { self.put_string(&text) }
            }
            '@' => {
                self.at += 1;
                self.out.push('@');
                let name = self.name();
                self.put_name(&name);
                if name.eq_ignore_ascii_case("import") {
                    self.import();
                }
            }
            c if is_name(c) || c == '\\' => self.word(),
            c => self.copy(c),
        }
        true
    }

    fn copy(&mut self, c: char) {
        self.at += c.len_utf8();
        match c {
            '(' if self.inside > 0 => self.inside += 1,
            ')' => self.inside = self.inside.saturating_sub(1),
            _ => {}
        }
        self.out.push(c);
    }

    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len()
            - self.rest().trim_start_matches([' ', '\t', '\n', '\r', '\x0c']).len();
    }

    /// A name, or a function.
    fn word(&mut self) {
        let begin = self.at;
        let is_escaped = self.peek() == Some('\\');
        let name = self.name();
        if self.at == begin {
            // A backslash before a line end is no name.
            let c = self.peek().unwrap_or_default();
            self.at += c.len_utf8();
            return;
        }
        let is_function = self.peek() == Some('(');
        let lower = name.to_ascii_lowercase();
        if !is_function || !URL_FUNCTIONS.contains(&lower.as_str()) {
            // A digit at the beginning of a name is one only if it is escaped.
            let digit = name.chars().next().filter(|c| is_escaped && c.is_ascii_digit());
            self.out.extend(digit.map(|digit| format!("\\{:x} ", u32::from(digit))));
            return self.put_name(&name[usize::from(digit.is_some())..]);
        }
        self.at += 1;
        if matches!(lower.as_str(), "url" | "url-prefix") {
            self.url();
        } else {
            self.put_name(&lower);
            self.out.push('(');
            self.inside += 1;
        }
    }

    /// What follows `url(`.
    fn url(&mut self) {
        self.skip_space();
        let text = match self.peek() {
            Some('"' | '\'') => {
                let text = self.string();
                self.skip_past_parenthesis();
                text
            }
            _ => self.bare_url(),
        };
        self.put_url(&text);
    }

    fn bare_url(&mut self) -> String {
        let mut text = String::new();
        while let Some(c) = self.peek() {
            match c {
                ')' => {
                    self.at += 1;
                    break;
                }
                '\\' => text.extend(self.escape()),
                c => {
                    self.at += c.len_utf8();
                    text.push(c);
                }
            }
        }
        text.trim().to_owned()
    }

    /// Modifiers of a URL are left out.
    fn skip_past_parenthesis(&mut self) {
        let end = self.rest().find(')').map_or(self.rest().len(), |at| at + 1);
        self.at += end;
    }

    /// `@import "…"`; with `url(…)` it is read like any other.
    fn import(&mut self) {
        loop {
            self.skip_space();
            if !self.rest().starts_with("/*") {
                break;
            }
            self.at += memmem::find(&self.rest().as_bytes()[2..], b"*/")
                .map_or(self.rest().len(), |at| at + 4);
        }
        self.out.push(' ');
        if matches!(self.peek(), Some('"' | '\'')) {
            let text = self.string();
            self.put_url(&text);
        }
    }

    /// A string from its quote on, escapes decoded; a line end breaks it off.
    fn string(&mut self) -> String {
        let quote = self.peek().unwrap_or_default();
        self.at += quote.len_utf8();
        let mut text = String::new();
        while let Some(c) = self.peek() {
            match c {
                '\\' => text.extend(self.escape()),
                '\n' | '\r' | '\x0c' => break,
                c => {
                    self.at += c.len_utf8();
                    if c == quote {
                        break;
                    }
                    text.push(c);
                }
            }
        }
        text
    }

    /// A name with its escapes decoded.
    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self.peek() {
            if is_name(c) {
                self.at += c.len_utf8();
                name.push(c);
            } else if c == '\\' && !self.rest()[1..].starts_with(['\n', '\r', '\x0c']) {
                name.extend(self.escape());
            } else {
                break;
            }
        }
        name
    }

    /// Section 4.3.7: what a backslash and what follows it stand for; nothing before a line end.
    fn escape(&mut self) -> Option<char> {
        self.at += 1;
        let rest = self.rest();
        let digits = rest.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits == 0 {
            let c = rest.chars().next()?;
            self.at += c.len_utf8();
            return Some(c).filter(|c| !matches!(c, '\n' | '\r' | '\x0c'));
        }
        let number = u32::from_str_radix(&rest[..digits], 16).unwrap_or(0);
        self.at += digits;
        if self.rest().starts_with("\r\n") {
            self.at += 2;
        } else if self.rest().starts_with([' ', '\t', '\n', '\r', '\x0c']) {
            self.at += 1;
        }
        Some(char::from_u32(number).filter(|c| *c != '\0').unwrap_or('\u{fffd}'))
    }

    fn put_url(&mut self, text: &str) {
        match self.mapper.map(text, Use::Part) {
            Some(path) => self.out.push_str(&format!("url(\"{path}\")")),
            None => self.out.push_str(NOTHING),
        }
    }

    /// A string that is a URL, as in `image-set("a.png" 1x)`.
    fn put_string_url(&mut self, text: &str) {
        let path = self.mapper.map(text, Use::Part);
        self.out.push_str(&format!("\"{}\"", path.as_deref().unwrap_or("about:invalid")));
    }

    fn put_string(&mut self, text: &str) {
        self.out.push('"');
        text.chars().for_each(|c| push_safe(&mut self.out, c, false));
        self.out.push('"');
    }

    fn put_name(&mut self, name: &str) {
        name.chars().for_each(|c| push_safe(&mut self.out, c, true));
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_' || !c.is_ascii()
}

/// A character as it is where that means nothing, else as an escape.
fn push_safe(out: &mut String, c: char, in_name: bool) {
    let plain = if in_name {
        is_name(c)
    } else {
        !matches!(c, '"' | '\'' | '\\' | '<' | '>') && !c.is_control()
    };
    match plain {
        true => out.push(c),
        false => out.push_str(&format!("\\{:x} ", u32::from(c))),
    }
}
