//! Dictionaries of Structured Fields (RFC 9651 section 4.2.2), as far as AIPREF needs them: which labels
//! have a token for a value, and which.
//!
//! Values of every other type and all parameters are read and dropped. A dictionary that breaks the
//! grammar anywhere is no dictionary: the caller forgets what it was told.

/// Tells `member` each label with its token, or nothing where its value is no token, and returns whether
/// the whole is a dictionary.
pub(super) fn read(bytes: &[u8], member: impl FnMut(&[u8], Option<&[u8]>)) -> bool {
    Parser { rest: bytes.trim_ascii() }.dictionary(member).is_some()
}

struct Parser<'a> {
    rest: &'a [u8],
}

impl<'a> Parser<'a> {
    fn dictionary(&mut self, mut member: impl FnMut(&[u8], Option<&[u8]>)) -> Option<()> {
        while !self.rest.is_empty() {
            let label = self.key()?;
            let token = if self.skip(b'=') { self.value()? } else { None };
            self.parameters()?;
            member(label, token);
            self.blanks();
            if self.rest.is_empty() {
                return Some(());
            }
            self.expect(b',')?;
            self.blanks();
            // A comma at the end is an error.
            self.rest.first()?;
        }
        Some(())
    }

    /// A value: a token, or something else that is dropped.
    fn value(&mut self) -> Option<Option<&'a [u8]>> {
        if self.rest.first() == Some(&b'(') {
            self.inner_list().map(|()| None)
        } else {
            self.item()
        }
    }

    fn inner_list(&mut self) -> Option<()> {
        self.expect(b'(')?;
        loop {
            while self.skip(b' ') {}
            if self.skip(b')') {
                return Some(());
            }
            self.item()?;
            self.parameters()?;
            matches!(self.rest.first()?, b' ' | b')').then_some(())?;
        }
    }

    fn item(&mut self) -> Option<Option<&'a [u8]>> {
        match self.rest.first()? {
            b'A'..=b'Z' | b'a'..=b'z' | b'*' => Some(Some(self.take_while(is_token))),
            b'"' => self.quoted().map(|()| None),
            b':' => self.until_colon().map(|()| None),
            b'?' => self.boolean().map(|()| None),
            b'-' | b'0'..=b'9' => self.number().map(|()| None),
            b'@' => {
                self.expect(b'@')?;
                self.number().map(|()| None)
            }
            b'%' => {
                self.expect(b'%')?;
                self.quoted().map(|()| None)
            }
            _ => None,
        }
    }

    fn parameters(&mut self) -> Option<()> {
        while self.skip(b';') {
            while self.skip(b' ') {}
            self.key()?;
            if self.skip(b'=') {
                self.item()?;
            }
        }
        Some(())
    }

    fn key(&mut self) -> Option<&'a [u8]> {
        matches!(self.rest.first()?, b'a'..=b'z' | b'*').then_some(())?;
        let in_key = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-.*".contains(&byte)
        };
        Some(self.take_while(in_key))
    }

    fn quoted(&mut self) -> Option<()> {
        self.expect(b'"')?;
        loop {
            let (byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            match byte {
                b'"' => return Some(()),
                b'\\' => self.rest = self.rest.get(1..)?,
                b' '..=b'~' => {}
                _ => return None,
            }
        }
    }

    fn until_colon(&mut self) -> Option<()> {
        self.expect(b':')?;
        let in_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
        self.take_while(in_base64);
        self.expect(b':')
    }

    fn boolean(&mut self) -> Option<()> {
        self.expect(b'?')?;
        (self.skip(b'0') || self.skip(b'1')).then_some(())
    }

    fn number(&mut self) -> Option<()> {
        self.skip(b'-');
        let digits = self.take_while(|byte| byte.is_ascii_digit() || byte == b'.');
        digits.first().is_some_and(u8::is_ascii_digit).then_some(())
    }

    fn blanks(&mut self) {
        self.take_while(|byte| matches!(byte, b' ' | b'\t'));
    }

    fn take_while(&mut self, fits: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| !fits(*byte)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn skip(&mut self, byte: u8) -> bool {
        let rest = self.rest.strip_prefix(&[byte]);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.skip(byte).then_some(())
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(&byte)
}
