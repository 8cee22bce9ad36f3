//! One JSON object, written field by field.
//!
//! A page's line holds all of its text and seventy links: written through a general serialiser it cost
//! more than the archive's checksums. Here strings go over in pieces as long as nothing in them needs
//! an escape, and nothing is put together twice.

/// Bytes that are looked at together.
const PIECE: usize = 16;

/// An object that is being written.
pub struct Object<'a> {
    out: &'a mut Vec<u8>,
    is_empty: bool,
}

impl<'a> Object<'a> {
    /// Opens an object at the end of `out`.
    pub fn open(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, is_empty: true }
    }

    /// A field with a string.
    pub fn text(&mut self, name: &str, value: &str) {
        push_string(self.field(name), value);
    }

    /// A field with a string of ours, which needs no escapes.
    pub fn plain(&mut self, name: &str, value: impl AsRef<[u8]>) {
        let out = self.field(name);
        out.push(b'"');
        out.extend_from_slice(value.as_ref());
        out.push(b'"');
    }

    /// The same, unless the string is empty.
    pub fn text_if_any(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.text(name, value);
        }
    }

    /// A field with a number.
    pub fn number(&mut self, name: &str, value: u64) {
        push_number(self.field(name), value);
    }

    /// The same, if there is one.
    pub fn some_number(&mut self, name: &str, value: Option<impl Into<u64>>) {
        if let Some(value) = value {
            self.number(name, value.into());
        }
    }

    /// A field with a list, each element of which `write` puts at the end.
    pub fn list<T>(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Vec<u8>, T),
    ) {
        let out = self.field(name);
        out.push(b'[');
        for (i, value) in values.into_iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            write(out, value);
        }
        out.push(b']');
    }

    /// A field with an object, which `write` fills.
    pub fn object(&mut self, name: &str, write: impl FnOnce(&mut Object<'_>)) {
        let mut inner = Object::open(self.field(name));
        write(&mut inner);
        inner.close();
    }

    /// Closes the object.
    pub fn close(self) {
        self.out.push(b'}');
    }

    /// The name of a field, with what belongs around it. Names are ours, and need no escapes.
    fn field(&mut self, name: &str) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.is_empty) {
            self.out.push(b',');
        }
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }
}

/// Appends a string, quotes and escapes included (RFC 8259 section 7).
pub fn push_string(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(odd) = first_odd(rest) {
        let (plain, behind) = rest.split_at(odd);
        out.extend_from_slice(plain);
        push_escape(out, behind[0]);
        rest = &behind[1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// The first byte that needs an escape.
fn first_odd(bytes: &[u8]) -> Option<usize> {
    let (pieces, _) = bytes.as_chunks();
    let passed = PIECE * pieces.iter().take_while(|piece| is_plain(piece)).count();
    // What is left is looked at together with some of the bytes before it.
    if bytes.len() - passed < PIECE && bytes.last_chunk().is_some_and(is_plain) {
        return None;
    }
    bytes[passed..].iter().position(|&byte| needs_escape(byte)).map(|at| passed + at)
}

/// Looking at all bytes of a piece and only then asking lets the compiler look at many at a time.
fn is_plain(piece: &[u8; PIECE]) -> bool {
    !piece.iter().fold(false, |any, &byte| any | needs_escape(byte))
}

fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

fn push_escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    match byte {
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        0..0x20 => {
            out.extend_from_slice(b"\\u00");
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 15)]);
        }
        _ => out.extend_from_slice(&[b'\\', byte]),
    }
}

/// Appends a number.
pub fn push_number(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; 20];
    let mut begin = digits.len();
    loop {
        begin -= 1;
        digits[begin] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[begin..]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn written(fill: impl FnOnce(&mut Object<'_>)) -> Value {
        let mut out = Vec::new();
        let mut object = Object::open(&mut out);
        fill(&mut object);
        object.close();
        serde_json::from_slice(&out).expect("it is JSON")
    }

    #[test]
    fn fields_come_in_their_order_and_empty_ones_may_stay_out() {
        let mut out = Vec::new();
        let mut object = Object::open(&mut out);
        object.text("b", "x");
        object.text_if_any("none", "");
        object.number("a", 0);
        object.list("l", [1, 20], push_number);
        object.close();
        assert_eq!(out, br#"{"b":"x","a":0,"l":[1,20]}"#);
        assert_eq!(written(|_| ()), json!({}));
    }

    proptest! {
        #[test]
        fn any_string_and_number_reads_back(text in "(?s).{0,80}", number: u64) {
            let value = written(|object| {
                object.text("text", &text);
                object.number("number", number);
            });
            prop_assert_eq!(value, json!({ "text": text, "number": number }));
        }
    }
}
