//! PDFs of every vintage: how they are put together, how they write text, how they break, and how they
//! attack. Whole documents of other programs are in `vintage/`.

mod maker;

use larm_core::Limits;
use larm_core::parse::pdf::{About, Order, Piece};

use maker::{Maker, deflated, stream};

const HELLO: &str = "BT /F1 12 Tf 72 700 Td (Hello, reader) Tj 0 -14 Td (second line) Tj ET";

fn read(body: &[u8]) -> Vec<Piece> {
    read_within(body, &Limits::default())
}

fn read_within(body: &[u8], limits: &Limits) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let tell = |piece| {
        pieces.push(piece);
        Ok::<_, ()>(())
    };
    crate::read(body, &Order::new(limits), tell).unwrap();
    pieces
}

/// The text of all pages, a line each.
fn text(body: &[u8]) -> String {
    let texts = read(body).into_iter().filter_map(|piece| match piece {
        Piece::Page { text, .. } => Some(text),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn links(body: &[u8]) -> Vec<String> {
    let links = read(body).into_iter().filter_map(|piece| match piece {
        Piece::Page { links, .. } => Some(links),
        _ => None,
    });
    links.flatten().collect()
}

#[test]
fn a_document_tells_of_itself_and_of_its_pages() {
    let about = About {
        title: Some("A title".to_owned()),
        lang: Some("en-GB".to_owned()),
        base: None,
        created: Some("2024-01-31T12:00:00Z".to_owned()),
        modified: None,
    };
    let page = Piece::Page {
        text: "Hello, reader\nsecond line".to_owned(),
        links: vec!["http://h/link".to_owned()],
    };
    let expected = [Piece::About(about), page, Piece::End { truncated: false }];
    assert_eq!(read(&Maker::new(HELLO).classic()), expected);
}

#[test]
fn every_version_and_every_form_of_cross_reference_is_read() {
    for version in ["1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6", "1.7", "2.0"] {
        let made = Maker { version, ..Maker::new(HELLO) };
        assert_eq!(text(&made.classic()), "Hello, reader\nsecond line", "{version}");
        assert_eq!(text(&made.packed()), "Hello, reader\nsecond line", "{version}, packed");
    }
}

#[test]
fn what_is_broken_is_read_as_far_as_it_goes() {
    let whole = Maker::new(HELLO).classic();
    let plain = String::from_utf8(whole.clone()).unwrap();
    let at = plain.find("xref\n0 ").unwrap();
    let rows: [(&str, Vec<u8>); 7] = [
        ("a wrong startxref", plain.replace("startxref\n", "startxref\n9").into_bytes()),
        ("no cross-references", whole[..at].to_vec()),
        ("offsets that lie", plain.replace("\n0000000", "\n0000001").into_bytes()),
        ("a mail header before it", [b"From: me\r\n\r\n", whole.as_slice()].concat()),
        ("carriage returns for line ends", plain.replace('\n', "\r").into_bytes()),
        ("rubbish behind its end", [whole.as_slice(), &[0; 4_096]].concat()),
        ("a length that lies", plain.replace("/Length 7", "/Length 9").into_bytes()),
    ];
    for (name, body) in rows {
        assert_eq!(text(&body), "Hello, reader\nsecond line", "{name}");
    }
}

#[test]
fn what_is_cut_off_gives_the_pages_before_it() {
    let mut made = Maker::new(HELLO);
    let second = made.add(stream("", b"BT /F1 12 Tf (second page) Tj ET"));
    let page = format!(
        "<</Type/Page/Parent 2 0 R/Contents {second} 0 R/Resources<</Font<</F1 5 0 R>>>>>>"
    );
    made.add(page.into_bytes());
    let made = made.set(2, "<</Type/Pages/Kids[3 0 R 8 0 R]/Count 2>>");
    assert_eq!(text(&made.classic()), "Hello, reader\nsecond line\nsecond page");
    let body = made.classic();
    let at = body.windows(7).position(|window| window == b"8 0 obj").unwrap();
    assert_eq!(text(&body[..at]), "Hello, reader\nsecond line");
}

#[test]
fn bytes_that_are_no_pdf_are_broken() {
    for body in [&b""[..], b"%PDF-", b"%PDF-1.4\n", b"<html>", &[0xff; 1_000]] {
        assert_eq!(read(body), [Piece::Broken]);
    }
}

#[test]
fn fonts_say_what_their_bytes_mean() {
    let show = b"BT /F1 12 Tf (\x8a\x80 caf\xe9 A\x01B) Tj ET";
    let rows = [
        ("/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding", "Š€ café AB"),
        ("/Subtype/Type1/BaseFont/Helvetica/Encoding/MacRomanEncoding", "äÄ cafÈ AB"),
        (
            "/Subtype/Type1/Encoding<</BaseEncoding/WinAnsiEncoding/Differences[1/fi 128/uni0416 138/g7]>>",
            "Ж café AfiB",
        ),
        (
            "/Subtype/Type3/FontMatrix[.01 0 0 .01 0 0]/FirstChar 0/Widths[]/Encoding<</Differences[65/A/B]>>",
            "AB",
        ),
    ];
    for (font, expected) in rows {
        let found = text(&Maker::with_font(show, font).classic());
        assert_eq!(found.trim_start_matches(' '), expected, "{font}");
    }
}

#[test]
fn composite_fonts_are_read_by_their_maps_or_their_character_sets() {
    let map = b"1 begincodespacerange <0000> <ffff> endcodespacerange
        2 beginbfchar <0003> <0020> <0010> <00660069> endbfchar 1 beginbfrange <0024> <003d> <0041> endbfrange";
    let rows: [(&str, &[u8], &str); 5] = [
        ("/Encoding/Identity-H/ToUnicode 7 0 R", b"<00240025000300100026>", "AB fiC"),
        ("/Encoding/Identity-H", b"<00240025>", ""),
        ("/Encoding/UniGB-UCS2-H", b"<4f60597d>", "你好"),
        ("/Encoding/90ms-RKSJ-H", b"<82b182f1b1>", "こんｱ"),
        ("/Encoding/GBK-EUC-H", b"<c4e3bac341>", "你好A"),
    ];
    for (font, codes, expected) in rows {
        let content = [b"BT /F1 12 Tf ", codes, b" Tj ET"].concat();
        let font = format!(
            "/Subtype/Type0{font}/DescendantFonts[<</Type/Font/Subtype/CIDFontType2/DW 1000>>]"
        );
        let mut made = Maker::with_font(&content, &font);
        made.add(stream("", map));
        assert_eq!(text(&made.classic()), expected, "{font}");
    }
}

#[test]
fn a_type_1_font_without_an_encoding_is_asked_itself() {
    let program =
        b"%!FontType1\n/Encoding 256 array dup 12 /fi put dup 97 /a put def currentfile eexec ...";
    let font = "/Subtype/Type1/FontDescriptor<</FontFile 7 0 R>>";
    let mut made = Maker::with_font(b"BT /F1 12 Tf (\x0ca) Tj ET", font);
    made.add(stream("/Filter/FlateDecode", &deflated(program)));
    assert_eq!(text(&made.classic()), "fia");
}

#[test]
fn every_operator_that_shows_text_shows_it() {
    let rows = [
        ("BT /F1 12 Tf 14 TL (a) Tj T* (b) Tj (c) ' 1 2 (d) \" ET", "a\nb\nc\nd"),
        ("BT /F1 12 Tf [(wo) -20 (rd) -600 (next)] TJ ET", "word next"),
        ("BT /F1 12 Tf 1 0 0 1 72 700 Tm (a) Tj 1 0 0 1 72 600 Tm (b) Tj ET", "a\nb"),
        ("q 2 0 0 2 0 0 cm BT /F1 12 Tf (a) Tj ET Q BT /F1 12 Tf 0 -50 Td (b) Tj ET", "a\nb"),
        ("BT /F1 12 Tf (a) Tj ET BI /W 1 ID \u{1}(x) Tj EI BT 0 50 Td (b) Tj ET", "a\nb"),
        ("BT /Missing 12 Tf (nothing) Tj ET", ""),
        ("Q Q Q ET Tj (a) Tf /F1 Tf 5 Td", ""),
    ];
    for (content, expected) in rows {
        assert_eq!(text(&Maker::new(content).classic()), expected, "{content}");
    }
}

#[test]
fn drawings_inside_of_drawings_show_their_text_and_cannot_go_round_in_circles() {
    let mut made = Maker::new("/X1 Do BT /F1 12 Tf 0 -50 Td (page) Tj ET");
    let form = "/Type/XObject/Subtype/Form/Matrix[1 0 0 1 0 90]/Resources<</Font<</F1 5 0 R>>/XObject<</X1 7 0 R>>>>";
    made.add(stream(form, b"BT /F1 12 Tf (form) Tj ET /X1 Do"));
    let page = "<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>/XObject<</X1 7 0 R>>>>>>";
    let text = text(&made.set(3, page).classic());
    assert!(text.starts_with("form\nform") && text.ends_with("form\npage"), "{text}");
    assert_eq!(text.matches("form").count() as u64, Limits::default().pdf_nesting_max);
}

#[test]
fn annotations_lead_where_they_say() {
    let page = |annots: &str| {
        let page = format!("<</Type/Page/Parent 2 0 R/Contents 4 0 R/Annots[{annots}]>>");
        links(&Maker::new(HELLO).set(3, page).classic())
    };
    let rows = [
        ("<</Subtype/Link/A<</S/URI/URI(http://h/a?b=\\(c\\))>>>>", &["http://h/a?b=(c)"][..]),
        ("<</Subtype/Link/A<</S/GoToR/F<</FS/URL/F(http://h/b.pdf)>>>>>>", &["http://h/b.pdf"]),
        ("<</Subtype/Link/A<</S/GoToR/F(other.pdf)>>>>", &["other.pdf"]),
        ("<</Subtype/Link/A<</S/Launch/F(evil.exe)>>>>", &[]),
        ("<</Subtype/Link/Dest[3 0 R/Fit]>>", &[]),
        ("<</Subtype/Text/Contents(http://h/no)>> 99 0 R 7 null", &[]),
    ];
    for (annots, expected) in rows {
        assert_eq!(page(annots), expected, "{annots}");
    }
}

#[test]
fn a_title_is_found_where_documents_have_them() {
    let titled = |info: &[u8]| match &read(&Maker::new(HELLO).set(6, info).classic())[0] {
        Piece::About(about) => about.title.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(titled(b"<</Title<feff00c400410042>>>").as_deref(), Some("ÄAB"));
    assert_eq!(titled(b"<</Title(caf\xe9)>>").as_deref(), Some("café"));
    assert_eq!(titled(b"<</Title( )>>"), None);
    let mut made = Maker::new(HELLO).set(6, "<<>>");
    let xmp = b"<x:xmpmeta><dc:title><rdf:Alt><rdf:li xml:lang='x'>A &amp; B</rdf:li></rdf:Alt></dc:title>";
    let number = made.add(stream("/Type/Metadata", xmp));
    let catalog = format!("<</Type/Catalog/Pages 2 0 R/Metadata {number} 0 R>>");
    let Piece::About(about) = &read(&made.set(1, catalog).classic())[0] else { panic!() };
    assert_eq!(about.title.as_deref(), Some("A & B"));
}

#[test]
fn hostile_structures_come_to_an_end() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let made = || Maker::new(HELLO);
    let rows = [
        (
            "a page tree in a circle",
            made().set(2, "<</Type/Pages/Kids[2 0 R 3 0 R 2 0 R]/Count 9>>"),
        ),
        ("a lie about pages", made().set(2, "<</Type/Pages/Kids[3 0 R]/Count 999999999>>")),
        ("parents in a circle", made().set(3, "<</Type/Page/Parent 3 0 R/Contents 4 0 R>>")),
        ("deep nesting", made().set(6, deep)),
        ("a reference to itself", made().set(5, "5 0 R")),
        ("a content that is no stream", made().set(4, "<</Length 4 0 R>>")),
        ("a length in a circle", made().set(4, "<</Length 4 0 R>>\nstream\nBT ET\nendstream")),
        ("pages that are none", made().set(2, "<</Type/Pages/Kids[5 0 R 6 0 R 1 0 R]>>")),
    ];
    for (name, made) in rows {
        for body in [made.classic(), made.packed()] {
            let last = read(&body).pop();
            assert!(matches!(last, Some(Piece::End { .. } | Piece::Broken)), "{name}: {last:?}");
        }
    }
}

#[test]
fn what_blows_up_is_left_out_and_said_to_be() {
    let limits = Limits { pdf_stream_bytes_max: 100_000, ..Limits::default() };
    let bomb = deflated(&vec![b' '; 10_000_000]);
    let twice = deflated(&bomb);
    for content in
        [stream("/Filter/FlateDecode", &bomb), stream("/Filter[/FlateDecode/FlateDecode]", &twice)]
    {
        let body = Maker::new("").set(4, content).classic();
        let pieces = read_within(&body, &limits);
        assert_eq!(pieces.last(), Some(&Piece::End { truncated: true }));
        let Piece::Page { text, .. } = &pieces[1] else { panic!() };
        assert_eq!(text, "");
    }
}

#[test]
fn no_more_is_told_than_was_asked_for() {
    let limits = Limits { page_text_bytes_max: 5, page_links_max: 1, ..Limits::default() };
    let pieces = read_within(&Maker::new(HELLO).classic(), &limits);
    assert_eq!(pieces.last(), Some(&Piece::End { truncated: true }));
    let Piece::Page { text, links } = &pieces[1] else { panic!() };
    assert_eq!((text.as_str(), links.len()), ("Hello", 1));
    let limits = Limits { pdf_pages_max: 1, ..Limits::default() };
    let made = Maker::new(HELLO).set(2, "<</Type/Pages/Kids[3 0 R 7 0 R]/Count 2>>");
    let mut made = made;
    made.add(b"<</Type/Page/Parent 2 0 R/Contents 4 0 R>>".to_vec());
    let pieces = read_within(&made.classic(), &limits);
    assert_eq!(pieces.last(), Some(&Piece::End { truncated: true }));
}

/// Every way to cut a document, and every byte of it changed: an end comes in any case.
#[test]
fn damage_anywhere_is_survived() {
    let whole = Maker::new(HELLO).packed();
    for at in 0..whole.len() {
        assert!(!read(&whole[..at]).is_empty());
        let mut changed = whole.clone();
        changed[at] ^= 0x15;
        assert!(!read(&changed).is_empty());
    }
}

/// What other programs made, with what each has in it.
#[test]
fn documents_of_other_programs_are_read() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("vintage");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "pdf") {
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let body = std::fs::read(&path).unwrap();
        count += 1;
        if name.starts_with("locked") {
            assert_eq!(read(&body), [Piece::Locked], "{name}");
            continue;
        }
        let text = text(&body);
        assert!(text.contains("The quick brown fox jumps over the lazy dog."), "{name}: {text}");
        assert!(text.contains("office files flow"), "{name}: {text}");
        assert_eq!(links(&body), ["http://example.org/vintage"], "{name}");
    }
    assert!(count >= 12, "{count}");
}
