//! Makes PDFs of every vintage, sound and hostile, out of a handful of objects.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// A document under construction: object 1 is the catalogue, 2 the page tree, 3 the page, 4 its content,
/// 5 its font, 6 the information; further ones as needed.
#[derive(Clone)]
pub struct Maker {
    pub version: &'static str,
    pub objects: Vec<Vec<u8>>,
}

impl Maker {
    /// One page with this content stream, in Helvetica.
    pub fn new(content: &str) -> Self {
        Self::with_font(
            content.as_bytes(),
            "/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding",
        )
    }

    pub fn with_font(content: &[u8], font: &str) -> Self {
        let objects = vec![
            b"<</Type/Catalog/Pages 2 0 R/Lang(en-GB)>>".to_vec(),
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>\
              >>/Annots[<</Type/Annot/Subtype/Link/A<</S/URI/URI(http://h/link)>>>>]>>"
                .to_vec(),
            stream("", content),
            format!("<</Type/Font{font}>>").into_bytes(),
            b"<</Title(A title)/CreationDate(D:20240131120000Z)>>".to_vec(),
        ];
        Self { version: "1.4", objects }
    }

    /// Adds an object and gives its number.
    pub fn add(&mut self, object: Vec<u8>) -> usize {
        self.objects.push(object);
        self.objects.len()
    }

    /// Puts another object in the place of one.
    pub fn set(mut self, number: usize, object: impl Into<Vec<u8>>) -> Self {
        self.objects[number - 1] = object.into();
        self
    }

    /// With a cross-reference table, as from the beginning.
    pub fn classic(&self) -> Vec<u8> {
        let (mut out, offsets) = self.body();
        let start = out.len();
        let size = self.objects.len() + 1;
        write!(out, "xref\n0 {size}\n0000000000 65535 f \n").unwrap();
        for offset in offsets {
            writeln!(out, "{offset:010} 00000 n ").unwrap();
        }
        write!(out, "trailer\n<</Size {size}/Root 1 0 R/Info 6 0 R>>\nstartxref\n{start}\n%%EOF\n")
            .unwrap();
        out
    }

    /// With object streams and a cross-reference stream, as since 1.5.
    pub fn packed(&self) -> Vec<u8> {
        let is_stream = |object: &[u8]| object.windows(6).any(|window| window == b"stream");
        let mut out = format!("%PDF-{}\n%\u{e2}\u{e3}\n", self.version).into_bytes();
        let (mut index, mut inside) = (String::new(), Vec::new());
        let mut rows = vec![(0_u8, 0_usize, 255_u8)];
        let holder = self.objects.len() + 1;
        for (at, object) in self.objects.iter().enumerate() {
            if is_stream(object) {
                rows.push((1, out.len(), 0));
                write_object(&mut out, at + 1, object);
            } else {
                rows.push((
                    2,
                    holder,
                    u8::try_from(rows.iter().filter(|r| r.0 == 2).count()).unwrap(),
                ));
                index += &format!("{} {} ", at + 1, inside.len());
                inside.extend_from_slice(object);
                inside.push(b' ');
            }
        }
        let count = rows.iter().filter(|row| row.0 == 2).count();
        let packed = deflated(&[index.as_bytes(), &inside].concat());
        let dict = format!("/Type/ObjStm/N {count}/First {}/Filter/FlateDecode", index.len());
        rows.push((1, out.len(), 0));
        write_object(&mut out, holder, &stream(&dict, &packed));
        let start = out.len();
        rows.push((1, start, 0));
        let table: Vec<u8> = rows
            .iter()
            .flat_map(|(kind, place, last)| {
                let place = u32::try_from(*place).unwrap().to_be_bytes();
                [&[*kind][..], &place, &[*last]].concat()
            })
            .collect();
        let size = rows.len();
        let dict =
            format!("/Type/XRef/Size {size}/W[1 4 1]/Root 1 0 R/Info 6 0 R/Filter/FlateDecode");
        write_object(&mut out, holder + 1, &stream(&dict, &deflated(&table)));
        write!(out, "startxref\n{start}\n%%EOF\n").unwrap();
        out
    }

    fn body(&self) -> (Vec<u8>, Vec<usize>) {
        let mut out = format!("%PDF-{}\n", self.version).into_bytes();
        let mut offsets = Vec::new();
        for (at, object) in self.objects.iter().enumerate() {
            offsets.push(out.len());
            write_object(&mut out, at + 1, object);
        }
        (out, offsets)
    }
}

fn write_object(out: &mut Vec<u8>, number: usize, object: &[u8]) {
    writeln!(out, "{number} 0 obj").unwrap();
    out.extend_from_slice(object);
    out.extend_from_slice(b"\nendobj\n");
}

/// A stream with these entries and this content.
pub fn stream(dict: &str, content: &[u8]) -> Vec<u8> {
    let head = format!("<<{dict}/Length {}>>\nstream\n", content.len());
    [head.as_bytes(), content, b"\nendstream"].concat()
}

pub fn deflated(content: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}
