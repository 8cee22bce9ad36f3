//! `Content-Type` values, parsed and written by the WHATWG MIME Sniffing standard (section 4).
//!
//! A value that is no MIME type gives `None`; parameters that are malformed are left out, as the
//! standard has it. Nothing here looks at a body: that is `sniff`.

use std::fmt;

/// A MIME type: `text/html;charset=utf-8`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mime {
    essence: String,
    parameters: Vec<(String, String)>,
}

impl Mime {
    /// Parses a `Content-Type` value (section 4.4).
    pub fn parse(input: &str) -> Option<Self> {
        let input = input.trim_matches(is_http_space);
        let (kind, rest) = input.split_once('/')?;
        let (subtype, parameters) = rest.split_once(';').unwrap_or((rest, ""));
        let subtype = subtype.trim_end_matches(is_http_space);
        if !is_token(kind) || !is_token(subtype) {
            return None;
        }
        let essence = format!("{kind}/{subtype}").to_ascii_lowercase();
        let mut mime = Self { essence, parameters: Vec::new() };
        mime.read_parameters(parameters);
        Some(mime)
    }

    /// Type and subtype in lower case: `text/html`.
    pub fn essence(&self) -> &str {
        &self.essence
    }

    /// A parameter's value; names are in lower case, the first of a name counts.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(each, _)| each == name).map(|(_, value)| value.as_str())
    }

    fn read_parameters(&mut self, mut rest: &str) {
        while !rest.is_empty() {
            rest = rest.trim_start_matches(is_http_space);
            let end = rest.find([';', '=']).unwrap_or(rest.len());
            let name = rest[..end].to_ascii_lowercase();
            rest = &rest[end..];
            let Some(value) = rest.strip_prefix('=') else {
                rest = rest.strip_prefix(';').unwrap_or(rest);
                continue;
            };
            let quoted = value.starts_with('"');
            let (value, after) = if quoted { quoted_value(value) } else { plain_value(value) };
            rest = after;
            self.keep(name, value, quoted);
        }
    }

    fn keep(&mut self, name: String, value: String, quoted: bool) {
        let valid = is_token(&name) && value.chars().all(is_quotable);
        if valid && (quoted || !value.is_empty()) && self.parameter(&name).is_none() {
            self.parameters.push((name, value));
        }
    }
}

impl fmt::Display for Mime {
    /// Writes it as the standard does (section 4.5): values that are no tokens in quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.essence)?;
        for (name, value) in &self.parameters {
            if is_token(value) {
                write!(f, ";{name}={value}")?;
            } else {
                let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
                write!(f, ";{name}=\"{escaped}\"")?;
            }
        }
        Ok(())
    }
}

/// A value up to the next `;`, and what follows that.
fn plain_value(text: &str) -> (String, &str) {
    let (value, rest) = text.split_once(';').unwrap_or((text, ""));
    (value.trim_end_matches(is_http_space).to_owned(), rest)
}

/// A value in quotes, escapes undone, and what follows the next `;` behind it.
fn quoted_value(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut chars = text.chars();
    chars.next();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            // A backslash at the very end stands for itself.
            '\\' => value.push(chars.next().unwrap_or('\\')),
            _ => value.push(c),
        }
    }
    let rest = chars.as_str().split_once(';').map_or("", |(_, rest)| rest);
    (value, rest)
}

fn is_http_space(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' ')
}

/// HTTP token (RFC 9110 section 5.6.2).
fn is_token(text: &str) -> bool {
    let is_tchar = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !text.is_empty() && text.chars().all(is_tchar)
}

/// What may stand in quotes, the field being read as Latin-1.
fn is_quotable(c: char) -> bool {
    matches!(c, '\t' | ' '..='~' | '\u{80}'..='\u{ff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testdata;
    use encoding_rs::Encoding;

    /// WPT: input, and output or null; `encoding` is what the charset parameter names.
    fn passes_wpt(file: &str, cases: usize) {
        let Some(bytes) = testdata::file(file) else {
            return;
        };
        let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let mut seen = 0;
        for case in json.as_array().unwrap().iter().filter(|case| case.is_object()) {
            let input = case["input"].as_str().unwrap();
            let mime = Mime::parse(input);
            assert_eq!(
                mime.as_ref().map(Mime::to_string).as_deref(),
                case["output"].as_str(),
                "{input:?}"
            );
            let label = mime.as_ref().and_then(|mime| mime.parameter("charset"));
            let encoding = label.and_then(|label| Encoding::for_label(label.as_bytes()));
            if let Some(expected) = case.get("encoding") {
                assert_eq!(encoding.map(Encoding::name), expected.as_str(), "{input:?}");
            }
            seen += 1;
        }
        assert_eq!(seen, cases);
    }

    #[test]
    fn web_platform_cases_pass() {
        passes_wpt("html/wpt_mime-types.json", 74);
        passes_wpt("html/wpt_generated-mime-types.json", 881);
    }

    #[test]
    fn parameters_survive_what_servers_write() {
        let rows = [
            ("text/html; charset=utf-8", "text/html;charset=utf-8"),
            ("TEXT/HTML;CHARSET=\"a\\\"b\"", "text/html;charset=\"a\\\"b\""),
            ("text/html;;;charset=x;charset=y", "text/html;charset=x"),
            (" text/html ;", "text/html"),
        ];
        for (input, expected) in rows {
            assert_eq!(Mime::parse(input).unwrap().to_string(), expected);
        }
        assert_eq!(Mime::parse("html"), None);
        assert_eq!(Mime::parse("/"), None);
    }
}
