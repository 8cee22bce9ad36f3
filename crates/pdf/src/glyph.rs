//! What the bytes of simple fonts mean: encodings by name, glyphs by name, and what a Type 1 font says of
//! itself (ISO 32000-1 section 9.6.6).
//!
//! The tables are those of `lopdf`, which keeps them to itself; they are asked by way of a made-up font.

use lopdf::{Dictionary, Document, Object};

use crate::lexer::{Lexer, Token};

/// A character for each byte of a simple font.
pub type Table = Vec<Option<String>>;

/// The table of a predefined encoding; the standard one where the name is not known.
pub fn named(name: &[u8]) -> Table {
    let known: [&[u8]; 4] =
        [b"WinAnsiEncoding", b"MacRomanEncoding", b"MacExpertEncoding", b"StandardEncoding"];
    let name = *known.iter().find(|known| **known == name).unwrap_or(&known[3]);
    decode(&made_up(Object::Name(name.to_vec())), &(0..=u8::MAX).collect::<Vec<u8>>())
}

/// The character that a glyph's name stands for.
pub fn character(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?;
    // `A.small`, `f_f_i`: a variant, and a ligature (Adobe Glyph List Specification, section 2).
    let base = name.split('.').next().filter(|base| !base.is_empty())?;
    let parts = base.split('_').map(|part| listed(part).or_else(|| numbered(part)));
    parts.collect()
}

/// A name of the Adobe Glyph List.
fn listed(name: &str) -> Option<String> {
    let names = vec![Object::Integer(1), Object::Name(name.as_bytes().to_vec())];
    let mut encoding = Dictionary::new();
    encoding.set("Differences", names);
    decode(&made_up(Object::Dictionary(encoding)), &[1]).pop()?
}

/// `uni0041`, `uni00410042`, `u1F600`.
fn numbered(name: &str) -> Option<String> {
    let unit = |digits: &str| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
    let is_hex = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if let Some(digits) = name.strip_prefix("uni").filter(|digits| is_hex(digits)) {
        let is_whole = digits.len() >= 4 && digits.len().is_multiple_of(4);
        let quads = is_whole.then(|| (0..digits.len() / 4).map(|at| unit(&digits[at * 4..][..4])));
        return quads?.collect();
    }
    let digits = name.strip_prefix('u').filter(|digits| (4..=6).contains(&digits.len()))?;
    is_hex(digits).then(|| unit(digits))?.map(String::from)
}

fn made_up(encoding: Object) -> Dictionary {
    let mut font = Dictionary::new();
    font.set("Type", Object::Name(b"Font".to_vec()));
    font.set("Encoding", encoding);
    font
}

fn decode(font: &Dictionary, bytes: &[u8]) -> Table {
    let document = Document::new();
    let encoding = font.get_font_encoding(&document);
    let character = |byte: &u8| {
        let text = encoding.as_ref().ok()?.bytes_to_string(&[*byte]).ok()?;
        Some(text).filter(|text| !text.is_empty())
    };
    bytes.iter().map(character).collect()
}

/// The encoding that a Type 1 font carries, in its readable first part: `dup 65 /A put`.
pub fn built_in(program: &[u8]) -> Table {
    let mut table = vec![None; 256];
    let mut code = None;
    let mut name = None;
    for token in Lexer::new(program) {
        match token {
            Token::Number(number) => code = Some(number as usize),
            Token::Name(found) => name = Some(found),
            Token::Operator(b"put") => {
                if let (Some(code), Some(name)) = (code.take(), name.take())
                    && let Some(place) = table.get_mut(code)
                {
                    *place = character(&name);
                }
            }
            Token::Operator(b"StandardEncoding") => return named(b"StandardEncoding"),
            Token::Operator(b"eexec") => break,
            _ => {}
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_characters() {
        let rows = [
            ("A", Some("A")),
            ("Adieresis", Some("Ä")),
            ("fi", Some("\u{fb01}")),
            ("Euro", Some("€")),
            ("alpha", Some("α")),
            ("A.small", Some("A")),
            ("f_f_i", Some("ffi")),
            ("uni00E9", Some("é")),
            ("uni00410042", Some("AB")),
            ("u1F600", Some("😀")),
            ("g123", None),
            (".notdef", None),
            ("uniXYZW", None),
            ("union", Some("∪")),
        ];
        for (name, expected) in rows {
            assert_eq!(character(name.as_bytes()).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn encodings_are_known_by_name() {
        let rows = [
            (&b"WinAnsiEncoding"[..], 0x80, Some("€")),
            (b"MacRomanEncoding", 0x80, Some("Ä")),
            (b"StandardEncoding", 0xae, Some("\u{fb01}")),
            (b"nonsense", 0x41, Some("A")),
            (b"WinAnsiEncoding", 0x01, None),
        ];
        for (name, byte, expected) in rows {
            assert_eq!(named(name)[byte].as_deref(), expected, "{}", name.escape_ascii());
        }
    }

    #[test]
    fn a_type_1_font_says_itself_what_its_codes_mean() {
        let program =
            b"%!PS-AdobeFont\n/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for
            dup 12 /fi put dup 65 /A put readonly def currentfile eexec dup 66 /B put";
        let table = built_in(program);
        assert_eq!(table[12].as_deref(), Some("\u{fb01}"));
        assert_eq!(table[65].as_deref(), Some("A"));
        assert_eq!(table[66], None);
    }
}
