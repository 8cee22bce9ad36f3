//! A font as a reader needs it: what its codes mean, and how wide they are.
//!
//! What `ToUnicode` says counts first. Then, for simple fonts, the encoding and its differences, or what a
//! Type 1 font says of itself; for composite ones, the character sets that predefined maps are named after.
//! A composite font with nothing but glyph numbers stays silent: a guess would be noise.

use encoding_rs::Encoding;
use lopdf::{Dictionary, Document, Object};

use crate::cmap::{CharMap, code};
use crate::glyph::{self, Table};

/// The readable part of a Type 1 font is no longer than this.
const PROGRAM_BYTES_MAX: usize = 64 * 1024;

pub struct Font {
    codes: Codes,
    unicode: Option<CharMap>,
    widths: Widths,
}

/// What codes look like, and what they mean where `ToUnicode` does not say.
enum Codes {
    Simple(Table),
    /// Numbers of two bytes, or as the map divides them.
    Glyphs,
    /// UTF-16, big end first.
    Utf16,
    /// A character set of one or two bytes.
    Legacy(&'static Encoding),
}

/// How far each code moves on, in parts of the font's size.
struct Widths {
    known: Vec<Stretch>,
    other: Option<f64>,
}

/// Codes in a row.
struct Stretch {
    first: u32,
    last: u32,
    /// The width of each; the last one is also that of those behind it.
    widths: Vec<f64>,
}

/// One code of a string that is shown.
pub struct Shown {
    pub text: String,
    /// In parts of the font's size.
    pub width: f64,
    /// Whether it is the byte that word spacing is added to.
    pub is_space: bool,
}

/// What a font may cost.
#[derive(Clone, Copy)]
pub struct Bounds {
    pub stream_bytes_max: usize,
    pub operands_max: usize,
}

impl Font {
    pub fn new(document: &Document, font: &Dictionary, bounds: Bounds) -> Self {
        let entry = |dict: &Dictionary, key: &[u8]| dict.get_deref(key, document).ok().cloned();
        let unicode = entry(font, b"ToUnicode").and_then(|map| {
            let source =
                map.as_stream().ok()?.get_plain_content_with_limit(bounds.stream_bytes_max);
            Some(CharMap::parse(&source.ok()?, bounds.operands_max))
        });
        let descendant = entry(font, b"DescendantFonts").and_then(|fonts| {
            let first = fonts.as_array().ok()?.first()?;
            document.dereference(first).ok()?.1.as_dict().ok().cloned()
        });
        match descendant {
            Some(descendant) => Self {
                codes: composite(document, font),
                unicode,
                widths: Widths::composite(document, &descendant),
            },
            None => Self {
                codes: Codes::Simple(simple(document, font, bounds)),
                unicode,
                widths: Widths::simple(document, font),
            },
        }
    }

    /// Takes the next code from the start of `bytes`.
    pub fn take(&self, bytes: &mut &[u8]) -> Option<Shown> {
        let (first, len) = (*bytes.first()?, self.code_len(bytes).min(bytes.len()));
        let (this, rest) = bytes.split_at(len);
        *bytes = rest;
        let code = code(this);
        let meant = self.unicode.as_ref().and_then(|map| map.get(code));
        let text = meant.or_else(|| self.fallback(this)).unwrap_or_default();
        let width = self.widths.of(code, &text);
        Some(Shown { width, is_space: len == 1 && first == b' ', text })
    }

    fn code_len(&self, bytes: &[u8]) -> usize {
        let first = bytes.first().copied().unwrap_or_default();
        match &self.codes {
            Codes::Simple(_) => 1,
            Codes::Glyphs => self.unicode.as_ref().map_or(2, |map| map.code_len(bytes)),
            Codes::Utf16 if matches!(first, 0xd8..=0xdb) => 4,
            Codes::Utf16 => 2,
            // Katakana of half width stand alone in Shift_JIS.
            Codes::Legacy(set) if set.name() == "Shift_JIS" && (0xa0..0xe0).contains(&first) => 1,
            Codes::Legacy(_) => 1 + usize::from(first >= 0x80),
        }
    }

    fn fallback(&self, code: &[u8]) -> Option<String> {
        match &self.codes {
            Codes::Simple(table) => table.get(usize::from(*code.first()?))?.clone(),
            Codes::Glyphs => None,
            Codes::Utf16 => Some(encoding_rs::UTF_16BE.decode_without_bom_handling(code).0.into()),
            Codes::Legacy(set) => Some(set.decode_without_bom_handling(code).0.into()),
        }
    }
}

/// What the codes of a composite font are, by the name of its map (section 9.7.5.2).
fn composite(document: &Document, font: &Dictionary) -> Codes {
    let encoding = font.get_deref(b"Encoding", document);
    let name = encoding.ok().and_then(|name| name.as_name().ok()).unwrap_or_default();
    let has = |part: &[u8]| name.windows(part.len()).any(|window| window == part);
    let sets: [(&[u8], &'static Encoding); 8] = [
        (b"RKSJ", encoding_rs::SHIFT_JIS),
        (b"GBK", encoding_rs::GBK),
        (b"GB-EUC", encoding_rs::GBK),
        (b"B5", encoding_rs::BIG5),
        (b"HKscs", encoding_rs::BIG5),
        (b"KSC", encoding_rs::EUC_KR),
        (b"CNS", encoding_rs::BIG5),
        (b"EUC", encoding_rs::EUC_JP),
    ];
    if has(b"UCS2") || has(b"UTF16") {
        return Codes::Utf16;
    }
    sets.iter().find(|(part, _)| has(part)).map_or(Codes::Glyphs, |(_, set)| Codes::Legacy(set))
}

/// What the bytes of a simple font mean.
fn simple(document: &Document, font: &Dictionary, bounds: Bounds) -> Table {
    let encoding = font.get_deref(b"Encoding", document).ok();
    if let Some(name) = encoding.and_then(|encoding| encoding.as_name().ok()) {
        return glyph::named(name);
    }
    let changes = encoding.and_then(|encoding| encoding.as_dict().ok());
    let base = changes.and_then(|changes| changes.get(b"BaseEncoding").ok()?.as_name().ok());
    let mut table = match base {
        Some(name) => glyph::named(name),
        None => own_table(document, font, bounds),
    };
    if let Some(Ok(list)) = changes.map(|changes| changes.get_deref(b"Differences", document)) {
        differ(&mut table, list);
    }
    table
}

/// What the font itself says, else what is usual for its kind. A Type 3 font draws its letters itself, and
/// has no kind.
fn own_table(document: &Document, font: &Dictionary, bounds: Bounds) -> Table {
    if is_named(font, b"Subtype", b"Type3") {
        return vec![None; 256];
    }
    let descriptor = font.get_deref(b"FontDescriptor", document).and_then(Object::as_dict);
    let program = descriptor.and_then(|about| about.get_deref(b"FontFile", document));
    if let Ok(stream) = program.and_then(Object::as_stream) {
        let whole =
            stream.get_plain_content_with_limit(bounds.stream_bytes_max).unwrap_or_default();
        return glyph::built_in(whole.get(..PROGRAM_BYTES_MAX).unwrap_or(&whole));
    }
    let is_true_type = is_named(font, b"Subtype", b"TrueType");
    glyph::named(if is_true_type { b"WinAnsiEncoding" } else { b"StandardEncoding" })
}

/// `[32 /space 65 /A /B]`: a code, and the glyphs from there on.
fn differ(table: &mut Table, list: &Object) {
    let mut code = 0_usize;
    for entry in list.as_array().into_iter().flatten() {
        match entry {
            Object::Integer(number) => code = usize::try_from(*number).unwrap_or(usize::MAX),
            Object::Name(name) => {
                if let Some(place) = table.get_mut(code) {
                    *place = glyph::character(name);
                }
                code = code.saturating_add(1);
            }
            _ => {}
        }
    }
}

impl Widths {
    fn simple(document: &Document, font: &Dictionary) -> Self {
        let first = font.get_deref(b"FirstChar", document).and_then(Object::as_i64).unwrap_or(0);
        let widths = font.get_deref(b"Widths", document).and_then(Object::as_array);
        let scale = type_3_scale(document, font).unwrap_or(0.001);
        let width = |object| number(document, object).unwrap_or(0.0) * scale;
        let widths: Vec<f64> = widths.into_iter().flatten().map(width).collect();
        let other = (!widths.is_empty()).then_some(0.0);
        let known = Stretch::new(u32::try_from(first).unwrap_or_default(), widths);
        Self { known: known.into_iter().collect(), other }
    }

    /// `[1 [500 600] 10 20 700]`: widths one by one, or one for all from here to there.
    fn composite(document: &Document, font: &Dictionary) -> Self {
        let default = font.get_deref(b"DW", document).ok().and_then(|w| number(document, w));
        let other = Some(default.unwrap_or(1_000.0) / 1_000.0);
        let mut known = Vec::new();
        let list = font.get_deref(b"W", document).and_then(Object::as_array);
        let mut rest = list.map(Vec::as_slice).unwrap_or_default().iter();
        while let Some(first) = rest.next().and_then(|first| number(document, first)) {
            let Some(next) = rest.next().and_then(|next| document.dereference(next).ok()) else {
                break;
            };
            if let Ok(widths) = next.1.as_array() {
                let widths = widths.iter().filter_map(|w| number(document, w));
                let widths = widths.map(|width| width / 1_000.0).collect();
                known.extend(Stretch::new(first as u32, widths));
            } else if let Some(width) = rest.next().and_then(|width| number(document, width)) {
                let last = number(document, next.1).unwrap_or(first) as u32;
                known.push(Stretch { first: first as u32, last, widths: vec![width / 1_000.0] });
            }
        }
        known.sort_by_key(|stretch| stretch.first);
        Self { known, other }
    }

    fn of(&self, code: u32, text: &str) -> f64 {
        let at = self.known.partition_point(|stretch| stretch.first <= code);
        let stretch = at.checked_sub(1).and_then(|at| self.known.get(at));
        let known = stretch.and_then(|stretch| stretch.get(code));
        known.or(self.other).unwrap_or_else(|| usual_width(text))
    }
}

impl Stretch {
    fn new(first: u32, widths: Vec<f64>) -> Option<Self> {
        let count = u32::try_from(widths.len()).ok()?.checked_sub(1)?;
        Some(Self { first, last: first.saturating_add(count), widths })
    }

    fn get(&self, code: u32) -> Option<f64> {
        let at = code.checked_sub(self.first).filter(|_| code <= self.last)? as usize;
        self.widths.get(at).or(self.widths.last()).copied()
    }
}

/// A Type 3 font says how large its units are.
fn type_3_scale(document: &Document, font: &Dictionary) -> Option<f64> {
    let matrix = font.get_deref(b"FontMatrix", document).ok()?.as_array().ok()?;
    number(document, matrix.first()?).map(f64::abs)
}

/// Whether an entry is this name.
pub fn is_named(dict: &Dictionary, key: &[u8], name: &[u8]) -> bool {
    dict.get(key).and_then(Object::as_name).is_ok_and(|found| found == name)
}

pub fn number(document: &Document, object: &Object) -> Option<f64> {
    let (_, object) = document.dereference(object).ok()?;
    object.as_float().ok().map(f64::from).filter(|number| number.is_finite())
}

/// About how wide a letter is in the fonts that every reader has, which come without widths.
fn usual_width(text: &str) -> f64 {
    let one = |letter: char| match letter {
        ' ' | '.' | ',' | ':' | ';' | '!' | '\'' | '|' | '/' | 'i' | 'j' | 'l' | 't' | 'f'
        | 'I' => 0.27,
        'r' | '(' | ')' | '-' | '[' | ']' | '"' => 0.35,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.85,
        'A'..='Z' => 0.68,
        _ => 0.52,
    };
    text.chars().map(one).sum()
}
