//! Character maps: what the codes of a font mean, as `ToUnicode` says (ISO 32000-1 section 9.10.3).
//!
//! Ranges stay ranges, so that a map of a few bytes cannot grow to millions of entries. Codes are known by
//! their value: that `<41>` and `<0041>` could differ in one font is a case for the textbook.

use std::collections::BTreeMap;

use crate::lexer::{Lexer, Token};

/// How long a code is, and what it means.
#[derive(Debug, Default)]
pub struct CharMap {
    /// First and last code, and their length in bytes.
    spaces: Vec<(u32, u32, usize)>,
    single: BTreeMap<u32, String>,
    /// By first code: the last one, and what the first one means.
    ranges: BTreeMap<u32, (u32, Vec<u16>)>,
}

impl CharMap {
    /// Reads a map. Whatever it says that is no map is passed over.
    pub fn parse(source: &[u8], operands_max: usize) -> Self {
        let mut map = Self::default();
        let mut operands = Vec::new();
        for token in Lexer::new(source) {
            match token {
                Token::Operator(word) => {
                    map.operator(word, &operands);
                    operands.clear();
                }
                token if operands.len() < operands_max => operands.push(token),
                _ => {}
            }
        }
        map
    }

    fn operator(&mut self, word: &[u8], operands: &[Token<'_>]) {
        match word {
            b"endcodespacerange" => {
                let strings: Vec<&[u8]> = operands.iter().filter_map(string).collect();
                for pair in strings.chunks_exact(2) {
                    self.spaces.push((code(pair[0]), code(pair[1]), pair[0].len()));
                }
            }
            b"endbfchar" => {
                let strings: Vec<&[u8]> = operands.iter().filter_map(string).collect();
                for pair in strings.chunks_exact(2) {
                    self.single.insert(code(pair[0]), text(&units(pair[1])));
                }
            }
            b"endbfrange" => self.ranges(operands),
            _ => {}
        }
    }

    fn ranges(&mut self, operands: &[Token<'_>]) {
        let mut rest = operands.iter();
        while let (Some(first), Some(last)) =
            (rest.next().and_then(string), rest.next().and_then(string))
        {
            let (first, last) = (code(first), code(last));
            match rest.next() {
                Some(Token::Text(target)) => {
                    self.ranges.insert(first, (last, units(target)));
                }
                Some(Token::ArrayStart) => {
                    let targets: Vec<&[u8]> = rest.by_ref().map_while(string).collect();
                    for (code, target) in (first..=last).zip(targets) {
                        self.single.insert(code, text(&units(target)));
                    }
                }
                _ => {}
            }
        }
    }

    /// What a code means.
    pub fn get(&self, code: u32) -> Option<String> {
        if let Some(text) = self.single.get(&code) {
            return Some(text.clone());
        }
        let (first, (last, target)) = self.ranges.range(..=code).next_back()?;
        if code > *last {
            return None;
        }
        let (end, start) = target.split_last()?;
        let end = u32::from(*end).wrapping_add(code - first) & 0xffff;
        let units: Vec<u16> = start.iter().copied().chain([end as u16]).collect();
        Some(text(&units))
    }

    /// The length of the code at the start of `bytes`; two bytes where nothing else is said.
    pub fn code_len(&self, bytes: &[u8]) -> usize {
        let fits = |len: &usize| {
            let value = bytes.get(..*len).map(code);
            let mut spaces = self.spaces.iter();
            value
                .is_some_and(|v| spaces.any(|(from, to, l)| l == len && (*from..=*to).contains(&v)))
        };
        (1..=4).find(fits).unwrap_or(2)
    }
}

fn string<'t>(token: &'t Token<'_>) -> Option<&'t [u8]> {
    match token {
        Token::Text(bytes) => Some(bytes),
        _ => None,
    }
}

/// The value of a code: of more than four bytes, the last ones.
pub fn code(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |value, &byte| (value << 8) | u32::from(byte))
}

/// UTF-16 as maps have it; a single byte is a character, too.
fn units(bytes: &[u8]) -> Vec<u16> {
    match bytes {
        [byte] => vec![u16::from(*byte)],
        _ => bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect(),
    }
}

fn text(units: &[u16]) -> String {
    String::from_utf16_lossy(units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_mean_what_the_map_says() {
        let source = b"1 begincodespacerange <00> <7f> <8000> <ffff> endcodespacerange
            2 beginbfchar <01> <0041> <8001> <d83dde00> endbfchar
            3 beginbfrange <10> <12> <0061> <20> <21> [<00660069> <005a>] <8100> <81ff> <00410042>
            endbfrange";
        let map = CharMap::parse(source, 1_000);
        let rows = [
            (0x01, Some("A")),
            (0x8001, Some("😀")),
            (0x10, Some("a")),
            (0x12, Some("c")),
            (0x13, None),
            (0x20, Some("fi")),
            (0x21, Some("Z")),
            (0x8102, Some("AD")),
            (0x00, None),
        ];
        for (code, expected) in rows {
            assert_eq!(map.get(code).as_deref(), expected, "{code:x}");
        }
        assert_eq!(map.code_len(b"\x01\x80\x01"), 1);
        assert_eq!(map.code_len(b"\x80\x01"), 2);
        assert_eq!(CharMap::default().code_len(b"\x01"), 2);
    }

    #[test]
    fn a_range_of_four_thousand_million_codes_costs_nothing() {
        let map = CharMap::parse(b"1 beginbfrange <00000000> <ffffffff> <0041> endbfrange", 10);
        assert_eq!(map.get(1).as_deref(), Some("B"));
    }
}
