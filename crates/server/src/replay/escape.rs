//! Text → HTML.

use memchr::memchr3;

/// A text in which nothing can be taken for a tag.
pub fn push_text(out: &mut String, text: &str) {
    push_escaped(out, text, |byte| match byte {
        b'<' => Some("&lt;"),
        b'>' => Some("&gt;"),
        _ => None,
    });
}

/// A value between double quotes.
pub fn push_value(out: &mut String, value: &str) {
    push_escaped(out, value, |byte| match byte {
        b'"' => Some("&quot;"),
        b'<' => Some("&lt;"),
        b'>' => Some("&gt;"),
        _ => None,
    });
}

fn push_escaped(out: &mut String, text: &str, escape: impl Fn(u8) -> Option<&'static str>) {
    let mut rest = text;
    while let Some(at) = memchr3(b'"', b'<', b'>', rest.as_bytes()) {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        out.push_str(escape(behind.as_bytes()[0]).unwrap_or(&behind[..1]));
        rest = &behind[1..];
    }
    out.push_str(rest);
}
