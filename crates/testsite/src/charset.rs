//! Text in other charsets than UTF-8, written by hand: the few characters that the web needs.

/// A charset and the place where it is declared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Charset {
    /// UTF-8, in a meta element.
    #[default]
    Utf8,
    Windows1252Header,
    Windows1252Meta,
    /// Little endian, by its byte order mark alone.
    Utf16Bom,
    /// Big endian, by the header alone.
    Utf16Header,
    ShiftJisHeader,
    ShiftJisMeta,
}

impl Charset {
    /// All but UTF-8.
    pub const ODD: [Self; 6] = [
        Self::Windows1252Header,
        Self::Windows1252Meta,
        Self::Utf16Bom,
        Self::Utf16Header,
        Self::ShiftJisHeader,
        Self::ShiftJisMeta,
    ];

    /// Its place in a path.
    pub fn word(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Windows1252Header => "windows-1252-header",
            Self::Windows1252Meta => "windows-1252-meta",
            Self::Utf16Bom => "utf-16-bom",
            Self::Utf16Header => "utf-16-header",
            Self::ShiftJisHeader => "shift-jis-header",
            Self::ShiftJisMeta => "shift-jis-meta",
        }
    }

    /// The content type of a page in it.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Windows1252Header => "text/html; charset=windows-1252",
            Self::Utf16Header => "text/html; charset=utf-16be",
            Self::ShiftJisHeader => "text/html; charset=Shift_JIS",
            _ => "text/html",
        }
    }

    /// The meta element of a page in it, where that declares it.
    pub fn meta(self) -> Option<&'static str> {
        match self {
            Self::Utf8 => Some("<meta charset=\"utf-8\">"),
            Self::Windows1252Meta => Some("<meta charset=windows-1252>"),
            Self::ShiftJisMeta => {
                Some("<META HTTP-EQUIV='Content-Type' CONTENT='text/html; charset=shift_jis'>")
            }
            _ => None,
        }
    }

    /// A title that is unreadable in any other charset.
    pub fn sample(self) -> &'static str {
        match self {
            Self::Utf8 => "Plain and simple",
            Self::Windows1252Header | Self::Windows1252Meta => "Café “Größe” für 5 €",
            Self::Utf16Bom | Self::Utf16Header => "Ελληνικά και кириллица",
            Self::ShiftJisHeader | Self::ShiftJisMeta => "ひらがなのぺえじ",
        }
    }

    /// A link with characters beyond ASCII: its canonical path, and as it is written.
    pub fn odd_link(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Windows1252Header => Some(("/caf%C3%A9/header", "/café/header")),
            Self::Windows1252Meta => Some(("/menu?dish=cr%E8me", "/menu?dish=crème")),
            Self::Utf16Bom => Some(("/menu?dish=%CE%B1", "/menu?dish=α")),
            _ => None,
        }
    }

    /// The text in this charset; `?` for what it does not have.
    pub fn encode(self, text: String) -> Vec<u8> {
        match self {
            Self::Utf8 => text.into_bytes(),
            Self::Windows1252Header | Self::Windows1252Meta => {
                text.chars().map(windows_1252).collect()
            }
            Self::Utf16Bom => {
                let marked = std::iter::once(0xfeff).chain(text.encode_utf16());
                marked.flat_map(u16::to_le_bytes).collect()
            }
            Self::Utf16Header => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            Self::ShiftJisHeader | Self::ShiftJisMeta => text.chars().flat_map(shift_jis).collect(),
        }
    }
}

fn windows_1252(c: char) -> u8 {
    match c {
        '€' => 0x80,
        '“' => 0x93,
        '”' => 0x94,
        c if c.is_ascii() || ('\u{a0}'..='\u{ff}').contains(&c) => c as u8,
        _ => b'?',
    }
}

/// ASCII as one byte, hiragana as two (JIS X 0208 row 4 lies at 0x829F and on).
fn shift_jis(c: char) -> impl Iterator<Item = u8> {
    let (first, second) = match c {
        'ぁ'..='ん' => (0x82, Some((0x9f + (c as u32 - 'ぁ' as u32)) as u8)),
        c if c.is_ascii() => (c as u8, None),
        _ => (b'?', None),
    };
    std::iter::once(first).chain(second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_have_the_bytes_of_their_charset() {
        let rows: [(Charset, &str, &[u8]); 4] = [
            (Charset::Windows1252Meta, "é€", &[0xe9, 0x80]),
            (Charset::ShiftJisMeta, "ひa", &[0x82, 0xd0, 0x61]),
            (Charset::Utf16Bom, "a", &[0xff, 0xfe, 0x61, 0x00]),
            (Charset::Utf16Header, "α", &[0x03, 0xb1]),
        ];
        for (charset, text, bytes) in rows {
            assert_eq!(charset.encode(text.to_owned()), bytes, "{}", charset.word());
        }
    }
}
