//! Character references: `&amp;`, `&#8217;`, `&copy` (HTML sections 13.2.5.72 to 80).
//!
//! Also what the standard does to the characters before that: line ends become line feeds, and NUL is
//! dropped from text and replaced in attributes. Appends to a buffer of the caller's, so that nothing
//! is allocated per value.

use htmlize::Context;
use memchr::memchr3;

use crate::parse::bytes;

/// The longest name is 31 letters and a semicolon.
const NAME_BYTES: usize = 32;

/// Appends text with its references decoded.
pub(in crate::parse) fn decode_text(raw: &str, out: &mut String) {
    decode(raw, Context::General, out);
}

/// Appends an attribute's value with its references decoded. Here `&copy=1` stays: a name without a
/// semicolon counts only where no letter, digit or `=` follows.
pub(in crate::parse) fn decode_attribute(raw: &str, out: &mut String) {
    decode(raw, Context::Attribute, out);
}

/// Whether a text is more than the characters it is made of.
pub(in crate::parse) fn has_references(raw: &str) -> bool {
    // Most values have no such sign at all, nor any like it.
    let may_have = |byte| (byte == b'&') | (byte < b' ');
    let has = |byte| (byte == b'&') | (byte == b'\r') | (byte == 0);
    bytes::any(raw.as_bytes(), may_have) && bytes::any(raw.as_bytes(), has)
}

/// Whether there is a character that is not taken as it is. Out of line, where the compiler makes vectors of it.
#[inline(never)]
fn has_controls(raw: &str) -> bool {
    bytes::any(raw.as_bytes(), |byte| (byte == b'\r') | (byte == 0))
}

fn decode(raw: &str, context: Context, out: &mut String) {
    let bytes = raw.as_bytes();
    if has_controls(raw) {
        return decode_controls(raw, context, out);
    }
    out.reserve(raw.len());
    let mut passed = 0;
    while let Some(at) = bytes::find(bytes, passed, b'&') {
        out.push_str(&raw[passed..at]);
        passed = at + reference(&raw[at..], context, out);
    }
    out.push_str(&raw[passed..]);
}

/// The same for the few that have a character which is not taken as it is.
#[cold]
fn decode_controls(mut raw: &str, context: Context, out: &mut String) {
    while let Some(at) = memchr3(b'&', b'\r', 0, raw.as_bytes()) {
        let (before, rest) = raw.split_at(at);
        out.push_str(before);
        let passed = match rest.as_bytes()[0] {
            b'&' => reference(rest, context, out),
            b'\r' => {
                out.push('\n');
                1 + usize::from(rest.starts_with("\r\n"))
            }
            _ => {
                out.push_str(if context == Context::General { "" } else { "\u{fffd}" });
                1
            }
        };
        raw = &rest[passed..];
    }
    out.push_str(raw);
}

/// Appends what the reference at the start of `text` stands for, or its `&`; gives the bytes passed.
fn reference(text: &str, context: Context, out: &mut String) -> usize {
    const COMMON: &[(&str, &str)] =
        &[("&amp;", "&"), ("&nbsp;", "\u{a0}"), ("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">")];
    if let Some((name, value)) = COMMON.iter().find(|(name, _)| text.starts_with(name)) {
        out.push_str(value);
        return name.len();
    }
    let numeric = text.strip_prefix("&#").and_then(number);
    if let Some((value, digits)) = numeric {
        out.push(value);
        return 2 + digits;
    }
    named(text, context, out)
}

fn named(text: &str, context: Context, out: &mut String) -> usize {
    let bytes = text.as_bytes();
    let letters =
        bytes[1..].iter().take(NAME_BYTES).take_while(|byte| byte.is_ascii_alphanumeric());
    let end = 1 + letters.count();
    // What follows the name decides whether it is one.
    let end = end + usize::from(matches!(bytes.get(end), Some(b';' | b'=')));
    match htmlize::unescape_in(&text[..end], context) {
        decoded if end > 1 && decoded != text[..end] => {
            out.push_str(&decoded);
            end
        }
        _ => {
            out.push('&');
            1
        }
    }
}

/// The character of a numeric reference, `text` being behind its `&#`; and the bytes passed.
fn number(text: &str) -> Option<(char, usize)> {
    let hex = text.starts_with(['x', 'X']);
    let (radix, start) = if hex { (16, 1) } else { (10, 0) };
    let digits = text[start..].bytes().take_while(|&byte| char::from(byte).is_digit(radix)).count();
    let end = start + digits;
    let value = text[start..end].chars().filter_map(|digit| digit.to_digit(radix));
    let value = value.fold(0_u32, |sum, digit| sum.saturating_mul(radix).saturating_add(digit));
    let passed = end + usize::from(text.as_bytes().get(end) == Some(&b';'));
    (digits > 0).then(|| (character(value), passed))
}

/// Section 13.2.5.80: 0x80 to 0x9F mean what they mean in windows-1252; what is no character is
/// U+FFFD.
fn character(value: u32) -> char {
    match u8::try_from(value) {
        Ok(0) => '\u{fffd}',
        Ok(byte @ 0x80..=0x9f) => {
            let text =
                encoding_rs::WINDOWS_1252.decode_without_bom_handling(&[byte]).0.chars().next();
            text.unwrap_or('\u{fffd}')
        }
        _ => char::from_u32(value).unwrap_or('\u{fffd}'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_decoded_by_the_rule_of_their_place() {
        let rows = [
            ("a&amp;b", "a&b", "a&b"),
            ("?a=1&copy=2", "?a=1©=2", "?a=1&copy=2"),
            ("&copy2", "©2", "&copy2"),
            ("&copy 2", "© 2", "© 2"),
            ("&notit;", "¬it;", "&notit;"),
            ("&notin;", "∉", "∉"),
            ("&#65;&#x41;&#X41", "AAA", "AAA"),
            (
                "&#0;&#xD800;&#x110000;&#99999999999999999999;",
                "\u{fffd}\u{fffd}\u{fffd}\u{fffd}",
                "\u{fffd}\u{fffd}\u{fffd}\u{fffd}",
            ),
            ("&#128;&#x9f;&#x81;", "€Ÿ\u{81}", "€Ÿ\u{81}"),
            ("&#13;", "\r", "\r"),
            ("&;&#;&#x;&&amp;&", "&;&#;&#x;&&&", "&;&#;&#x;&&&"),
            ("a\r\nb\rc\0", "a\nb\nc", "a\nb\nc\u{fffd}"),
            ("&CounterClockwiseContourIntegral;", "∳", "∳"),
            ("&xnothing;é", "&xnothing;é", "&xnothing;é"),
        ];
        for (raw, text, attribute) in rows {
            let mut out = String::new();
            decode_text(raw, &mut out);
            assert_eq!(out, text, "{raw:?} in text");
            out.clear();
            decode_attribute(raw, &mut out);
            assert_eq!(out, attribute, "{raw:?} in an attribute");
        }
    }
}
