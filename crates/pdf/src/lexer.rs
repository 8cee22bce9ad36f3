//! Tokens of content streams and of character maps (ISO 32000-1 sections 7.2 and 7.8).
//!
//! Both are the same small language: operands, then an operator. One pass, no tree, and nothing is an
//! error: what means nothing is passed over.

/// A token. What it holds of the source is borrowed where that is possible.
#[derive(Debug, Clone, PartialEq)]
pub enum Token<'a> {
    Number(f64),
    Text(Vec<u8>),
    Name(Vec<u8>),
    ArrayStart,
    ArrayEnd,
    /// A dictionary's bracket, of either side.
    Bracket,
    Operator(&'a [u8]),
}

pub struct Lexer<'a> {
    source: &'a [u8],
    at: usize,
}

impl<'a> Lexer<'a> {
    pub fn new(source: &'a [u8]) -> Self {
        Self { source, at: 0 }
    }

    /// Passes over an inline image: from behind `ID` to behind the next `EI` that stands alone.
    pub fn skip_image(&mut self) {
        while let Some(byte) = self.take() {
            let stands_alone = is_space(byte) && self.rest().starts_with(b"EI");
            if stands_alone && self.rest().get(2).is_none_or(|&next| is_space(next)) {
                self.at += 2;
                return;
            }
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.source.get(self.at).copied()
    }

    fn take(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn skip_space(&mut self) {
        while let Some(byte) = self.peek() {
            if byte == b'%' {
                let end = self.rest().iter().position(|&byte| matches!(byte, b'\n' | b'\r'));
                self.at += end.unwrap_or(self.rest().len());
            } else if is_space(byte) {
                self.at += 1;
            } else {
                break;
            }
        }
    }

    /// What is neither space nor delimiter.
    fn word(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let end = rest.iter().position(|&byte| is_space(byte) || is_delimiter(byte));
        let word = &rest[..end.unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    fn number_or_operator(&mut self) -> Token<'a> {
        let word = self.word();
        match number(word) {
            Some(number) => Token::Number(number),
            None => Token::Operator(word),
        }
    }

    /// A name behind its `/`, with `#xx` decoded.
    fn name(&mut self) -> Token<'a> {
        let word = self.word();
        let mut name = Vec::with_capacity(word.len());
        let mut at = 0;
        while let Some(&byte) = word.get(at) {
            let digits = word.get(at + 1..at + 3).filter(|_| byte == b'#');
            let code = digits.and_then(|pair| Some(hex(pair[0])? * 16 + hex(pair[1])?));
            name.push(code.unwrap_or(byte));
            at += if code.is_some() { 3 } else { 1 };
        }
        Token::Name(name)
    }

    /// A string behind its `(`.
    fn literal(&mut self) -> Token<'a> {
        let mut text = Vec::new();
        let mut depth = 1_u32;
        while let Some(byte) = self.take() {
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                b'\\' => {
                    text.extend(self.escaped());
                    continue;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
            text.push(byte);
        }
        Token::Text(text)
    }

    fn escaped(&mut self) -> Option<u8> {
        Some(match self.take()? {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'b' => 8,
            b'f' => 12,
            b'\r' => {
                self.at += usize::from(self.peek() == Some(b'\n'));
                return None;
            }
            b'\n' => return None,
            first @ b'0'..=b'7' => self.octal(first),
            other => other,
        })
    }

    /// One to three octal digits; what is too large loses its high bit.
    fn octal(&mut self, first: u8) -> u8 {
        let mut value = u32::from(first - b'0');
        for _ in 0..2 {
            let Some(digit @ b'0'..=b'7') = self.peek() else { break };
            value = value * 8 + u32::from(digit - b'0');
            self.at += 1;
        }
        (value & 0xff) as u8
    }

    /// A string behind its `<`.
    fn hexadecimal(&mut self) -> Token<'a> {
        let mut text = Vec::new();
        let mut half = None;
        while let Some(byte) = self.take().filter(|&byte| byte != b'>') {
            let Some(digit) = hex(byte) else { continue };
            match half.take() {
                Some(high) => text.push(high * 16 + digit),
                None => half = Some(digit),
            }
        }
        text.extend(half.map(|high| high * 16));
        Token::Text(text)
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.skip_space();
        let byte = self.peek()?;
        if !is_delimiter(byte) {
            return Some(self.number_or_operator());
        }
        self.at += 1;
        Some(match byte {
            b'/' => self.name(),
            b'(' => self.literal(),
            b'[' => Token::ArrayStart,
            b']' => Token::ArrayEnd,
            b'<' if self.peek() != Some(b'<') => self.hexadecimal(),
            b'<' | b'>' => {
                self.at += usize::from(self.peek() == Some(byte));
                Token::Bracket
            }
            _ => Token::Bracket,
        })
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | 12 | b'\r' | b' ')
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

/// A number as producers write them: `--5`, `5-3` and `.5` are known, exponents are not.
fn number(word: &[u8]) -> Option<f64> {
    let first = word.first()?;
    if !first.is_ascii_digit() && !matches!(first, b'+' | b'-' | b'.') {
        return None;
    }
    let text = std::str::from_utf8(word).ok()?;
    let digits = text.trim_start_matches(['+', '-']);
    let digits = digits.split('-').next().unwrap_or_default();
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value: f64 = digits.parse().ok().filter(|_| is_plain)?;
    Some(if text.starts_with('-') { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Token<'static> {
        Token::Text(bytes.to_vec())
    }

    #[test]
    fn every_token_is_known() {
        let rows: &[(&[u8], &[Token<'_>])] = &[
            (b"1 -2.5 +3 .5 4.", &[1.0, -2.5, 3.0, 0.5, 4.0].map(Token::Number)),
            (b"--5 5-3", &[-5.0, 5.0].map(Token::Number)),
            (b"Tj T* ' 1e5", &[&b"Tj"[..], b"T*", b"'", b"1e5"].map(Token::Operator)),
            (b"(a(b)c)(\\(\\101\\1\\n\\\r\nx)", &[text(b"a(b)c"), text(b"(A\x01\nx")]),
            (b"(open", &[text(b"open")]),
            (b"<4 1 4>", &[text(b"A@")]),
            (b"/F1/A#20B/", &[&b"F1"[..], b"A B", b""].map(|name| Token::Name(name.to_vec()))),
            (
                b"<</A 1>>[2]",
                &[
                    Token::Bracket,
                    Token::Name(b"A".to_vec()),
                    Token::Number(1.0),
                    Token::Bracket,
                    Token::ArrayStart,
                    Token::Number(2.0),
                    Token::ArrayEnd,
                ],
            ),
            (b"% comment (x)\n7", &[Token::Number(7.0)]),
        ];
        for (source, expected) in rows {
            let tokens: Vec<_> = Lexer::new(source).collect();
            assert_eq!(tokens, *expected, "{}", String::from_utf8_lossy(source));
        }
    }

    #[test]
    fn an_inline_image_is_passed_over() {
        let mut lexer = Lexer::new(b"ID \x00EI\xff xEI EIx\nEI Q");
        assert_eq!(lexer.next(), Some(Token::Operator(b"ID")));
        lexer.skip_image();
        assert_eq!(lexer.next(), Some(Token::Operator(b"Q")));
    }
}
