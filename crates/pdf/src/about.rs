//! What a document says of itself: title, language, dates, and what its links are relative to.

use larm_core::parse::pdf::About;
use lopdf::{Dictionary, Document, Object, decode_text_string};

/// Reads the information dictionary and the catalogue; where there is no title, the metadata.
pub fn about(document: &Document, stream_bytes_max: usize) -> About {
    let info = document.trailer.get_deref(b"Info", document).and_then(Object::as_dict).ok();
    let catalog = document.catalog().ok();
    let said = |key: &[u8]| info.and_then(|info| text(document, info, key));
    let title = said(b"Title").filter(|title| !title.trim().is_empty());
    let base = catalog.and_then(|catalog| {
        let uri = catalog.get_deref(b"URI", document).ok()?.as_dict().ok()?;
        text(document, uri, b"Base")
    });
    About {
        title: title.or_else(|| title_in_metadata(document, catalog?, stream_bytes_max)),
        lang: catalog.and_then(|catalog| text(document, catalog, b"Lang")),
        base,
        created: said(b"CreationDate").and_then(|date| iso_date(&date)),
        modified: said(b"ModDate").and_then(|date| iso_date(&date)),
    }
}

fn text(document: &Document, dict: &Dictionary, key: &[u8]) -> Option<String> {
    decode_text_string(dict.get_deref(key, document).ok()?).ok()
}

/// `dc:title` of the document's XMP: the first entry of its list.
fn title_in_metadata(
    document: &Document,
    catalog: &Dictionary,
    stream_bytes_max: usize,
) -> Option<String> {
    let stream = catalog.get_deref(b"Metadata", document).ok()?.as_stream().ok()?;
    let bytes = stream.get_plain_content_with_limit(stream_bytes_max).ok()?;
    let xmp = String::from_utf8_lossy(&bytes);
    let title = xmp.split_once("<dc:title>")?.1.split_once("</dc:title>")?.0;
    let item = title.split_once("<rdf:li")?.1.split_once('>')?.1.split_once("</rdf:li>")?.0;
    let plain = item.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    Some(plain.replace("&apos;", "'").replace("&amp;", "&")).filter(|title| !title.is_empty())
}

/// `D:20240131120000+02'00'` → `2024-01-31T12:00:00+02:00`, as far as it goes (section 7.9.4).
fn iso_date(date: &str) -> Option<String> {
    let rest = date.strip_prefix("D:").unwrap_or(date);
    let digits: String = rest.chars().take_while(char::is_ascii_digit).take(14).collect();
    let zone = zone(rest.get(digits.len()..).unwrap_or_default());
    let part = |from: usize, to: usize| digits.get(from..to);
    let mut iso = part(0, 4)?.to_owned();
    for (mark, from) in [('-', 4), ('-', 6), ('T', 8), (':', 10), (':', 12)] {
        let Some(two) = part(from, from + 2) else { return Some(iso).filter(|_| from != 10) };
        iso.push(mark);
        iso.push_str(two);
    }
    Some(iso + &zone)
}

fn zone(text: &str) -> String {
    let Some(sign) = text.chars().next().filter(|sign| matches!(sign, '+' | '-')) else {
        return if text.starts_with('Z') { "Z".to_owned() } else { String::new() };
    };
    let digits: String = text.chars().filter(char::is_ascii_digit).take(4).collect();
    let part = |at: usize| digits.get(at..at + 2).unwrap_or("00");
    format!("{sign}{}:{}", part(0), part(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_brought_into_the_usual_form() {
        let rows = [
            ("D:20240131120000+02'00'", Some("2024-01-31T12:00:00+02:00")),
            ("D:20240131120000Z", Some("2024-01-31T12:00:00Z")),
            ("D:20240131120000-0830", Some("2024-01-31T12:00:00-08:30")),
            ("D:20240131", Some("2024-01-31")),
            ("1999", Some("1999")),
            ("20240131120000", Some("2024-01-31T12:00:00")),
            ("Monday", None),
            ("", None),
        ];
        for (date, expected) in rows {
            assert_eq!(iso_date(date).as_deref(), expected, "{date}");
        }
    }
}
