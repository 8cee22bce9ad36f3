//! Bits in the order of WebGraph (the highest of a byte first), and the codes of its graphs.
//!
//! Reading takes any bytes: what is not there is `None`, and no code makes a reader run on for longer
//! than the bytes last.

use std::io::{self, Write};

/// A code for numbers that are not negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// So many zeros, then a one.
    Unary,
    /// Elias γ.
    Gamma,
    /// Elias δ.
    Delta,
    /// ζ with this parameter (Boldi and Vigna), for numbers that follow a power law.
    Zeta(u32),
}

impl Code {
    /// How many bits a number takes.
    pub fn bits(self, number: u64) -> u64 {
        let log = u64::from((number + 1).ilog2());
        match self {
            Self::Unary => number + 1,
            Self::Gamma => 2 * log + 1,
            Self::Delta => log + Self::Gamma.bits(log),
            Self::Zeta(k) => {
                let (k, group) = (u64::from(k), log / u64::from(k));
                let is_short = number + 1 < 2 << (group * k);
                group + 1 + group * k + k - u64::from(is_short)
            }
        }
    }
}

/// Writes bits to a stream.
pub struct BitWriter<W> {
    out: W,
    /// Bits that do not make a byte yet, in the lowest places.
    held: u64,
    held_bits: u32,
    written: u64,
}

impl<W: Write> BitWriter<W> {
    /// Bits for a stream.
    pub fn new(out: W) -> Self {
        Self { out, held: 0, held_bits: 0, written: 0 }
    }

    /// Bits written so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Writes a number, and says how many bits that took.
    pub fn put(&mut self, code: Code, number: u64) -> io::Result<()> {
        let log = (number + 1).ilog2();
        match code {
            Code::Unary => self.put_unary(number),
            Code::Gamma => {
                self.put_unary(u64::from(log))?;
                self.put_bits(number + 1, log)
            }
            Code::Delta => {
                self.put(Code::Gamma, u64::from(log))?;
                self.put_bits(number + 1, log)
            }
            Code::Zeta(k) => {
                let low = log / k * k;
                self.put_unary(u64::from(log / k))?;
                let above = number + 1 - (1 << low);
                if above < 1 << low {
                    self.put_bits(above, low + k - 1)
                } else {
                    self.put_bits(number + 1, low + k)
                }
            }
        }
    }

    /// Fills the last byte with zeros, and gives the stream back.
    pub fn finish(mut self) -> io::Result<W> {
        let missing = (8 - self.held_bits % 8) % 8;
        self.put_bits(0, missing)?;
        self.written -= u64::from(missing);
        self.out.flush()?;
        Ok(self.out)
    }

    fn put_unary(&mut self, mut zeros: u64) -> io::Result<()> {
        while zeros >= 32 {
            self.put_bits(0, 32)?;
            zeros -= 32;
        }
        self.put_bits(1, zeros as u32 + 1)
    }

    /// Writes the lowest bits of a number, at most 56 or, of larger numbers, in two steps.
    fn put_bits(&mut self, number: u64, bits: u32) -> io::Result<()> {
        if bits > 32 {
            self.put_bits(number >> 32, bits - 32)?;
            return self.put_bits(number, 32);
        }
        let mask = (1 << bits) - 1;
        self.held = (self.held << bits) | (number & mask);
        self.held_bits += bits;
        self.written += u64::from(bits);
        while self.held_bits >= 8 {
            self.held_bits -= 8;
            self.out.write_all(&[(self.held >> self.held_bits) as u8])?;
        }
        Ok(())
    }
}

/// Reads bits from memory.
#[derive(Debug, Clone, Copy)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    /// The next bit.
    at: u64,
}

impl<'a> BitReader<'a> {
    /// Begins at a bit.
    pub fn new(bytes: &'a [u8], at: u64) -> Self {
        Self { bytes, at }
    }

    /// The next bit.
    pub fn position(&self) -> u64 {
        self.at
    }

    /// Reads a number.
    pub fn get(&mut self, code: Code) -> Option<u64> {
        match code {
            Code::Unary => self.unary(),
            Code::Gamma => {
                let log = self.unary().filter(|&log| log < 64)? as u32;
                Some((1_u64.checked_shl(log)? | self.bits(log)?) - 1)
            }
            Code::Delta => {
                let log = self.get(Code::Gamma).filter(|&log| log < 64)? as u32;
                Some((1_u64.checked_shl(log)? | self.bits(log)?) - 1)
            }
            Code::Zeta(k) => {
                let group = self.unary().filter(|&group| group < 64)? as u32;
                let low = group.checked_mul(k).filter(|&low| low + k <= 63)?;
                let above = self.bits(low + k - 1)?;
                match above < 1 << low {
                    true => Some(above + (1 << low) - 1),
                    false => Some((above << 1 | self.bits(1)?) - 1),
                }
            }
        }
    }

    fn unary(&mut self) -> Option<u64> {
        let mut zeros = 0;
        loop {
            let word = self.peek()?;
            let leading = u64::from(word.leading_zeros());
            if leading < 56 {
                self.at += leading + 1;
                let within = self.at <= 8 * self.bytes.len() as u64;
                return within.then_some(zeros + leading);
            }
            zeros += 56;
            self.at += 56;
        }
    }

    fn bits(&mut self, bits: u32) -> Option<u64> {
        if bits > 32 {
            let high = self.bits(bits - 32)?;
            return Some(high << 32 | self.bits(32)?);
        }
        if bits == 0 {
            return Some(0);
        }
        let word = self.peek()?;
        self.at += u64::from(bits);
        let within = self.at <= 8 * self.bytes.len() as u64;
        within.then_some(word >> (64 - bits))
    }

    /// At least 57 bits from here on in the highest places, zeros behind the end; `None` at the end.
    fn peek(&self) -> Option<u64> {
        let rest = self.bytes.get(usize::try_from(self.at / 8).ok()?..)?;
        let word = match rest.first_chunk::<8>() {
            Some(whole) => u64::from_be_bytes(*whole),
            None if rest.is_empty() => return None,
            None => {
                let mut last = [0; 8];
                last[..rest.len()].copy_from_slice(rest);
                u64::from_be_bytes(last)
            }
        };
        Some(word << (self.at % 8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODES: [Code; 6] =
        [Code::Unary, Code::Gamma, Code::Delta, Code::Zeta(1), Code::Zeta(3), Code::Zeta(5)];

    #[test]
    fn numbers_come_back_and_take_the_bits_that_were_foretold() {
        for code in CODES {
            let large = if code == Code::Unary { 300 } else { (1 << 40) + 12_345 };
            let numbers: Vec<u64> = (0..200).chain([255, 256, large]).collect();
            let mut bits = BitWriter::new(Vec::new());
            for &number in &numbers {
                let before = bits.written();
                bits.put(code, number).unwrap();
                assert_eq!(bits.written() - before, code.bits(number), "{code:?} of {number}");
            }
            let bytes = bits.finish().unwrap();
            let mut reader = BitReader::new(&bytes, 0);
            let read: Vec<u64> = numbers.iter().map(|_| reader.get(code).unwrap()).collect();
            assert_eq!(read, numbers, "{code:?}");
        }
    }

    /// The first code words, as "The WebGraph Framework II: Codes For The World-Wide Web" lists them.
    #[test]
    fn code_words_are_those_of_the_literature() {
        let word = |code, number| {
            let mut bits = BitWriter::new(Vec::new());
            bits.put(code, number).unwrap();
            let length = bits.written() as usize;
            let bytes = bits.finish().unwrap();
            let text: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
            text[..length].to_owned()
        };
        let words = |code| (0..8).map(|number| word(code, number)).collect::<Vec<_>>().join(" ");
        assert_eq!(words(Code::Gamma), "1 010 011 00100 00101 00110 00111 0001000");
        assert_eq!(words(Code::Delta), "1 0100 0101 01100 01101 01110 01111 00100000");
        let zeta3 = "100 1010 1011 1100 1101 1110 1111 0100000";
        assert_eq!(words(Code::Zeta(3)), zeta3);
    }

    #[test]
    fn bytes_that_end_give_nothing() {
        for code in CODES {
            assert_eq!(BitReader::new(&[0; 40], 0).get(code), None, "{code:?}");
            assert_eq!(BitReader::new(&[], 0).get(code), None, "{code:?}");
            assert_eq!(BitReader::new(&[0x20], 9).get(code), None, "{code:?}");
        }
    }
}
