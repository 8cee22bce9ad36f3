//! `meta http-equiv=refresh` and the HTTP field of that name: the URL in `5; url=/next`.
//!
//! Steps of HTML section 4.2.5.3, "shared declarative refresh steps".

/// The URL that a refresh leads to; `None` where it is malformed or only reloads the page.
pub(in crate::parse) fn target(content: &str) -> Option<&str> {
    let rest = skip_space(content);
    let after_seconds = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    if after_seconds.len() == rest.len() && !rest.starts_with('.') {
        return None;
    }
    let rest = after_seconds.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !rest.starts_with(|c: char| matches!(c, ';' | ',') || c.is_ascii_whitespace()) {
        return None;
    }
    let rest = skip_space(rest);
    let rest = skip_space(rest.strip_prefix([';', ',']).unwrap_or(rest));
    Some(url(rest)).filter(|url| !url.is_empty())
}

/// The URL with the `url=` before it and the quotes around it taken away.
fn url(text: &str) -> &str {
    if !text.starts_with(['u', 'U']) {
        return unquoted(text);
    }
    let is_url = text.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("url"));
    let value = text.get(3..).filter(|_| is_url).map(skip_space);
    match value.and_then(|value| value.strip_prefix('=')) {
        Some(value) => unquoted(skip_space(value)),
        None => text,
    }
}

fn unquoted(text: &str) -> &str {
    match text.chars().next() {
        Some(quote @ ('"' | '\'')) => text[1..].split(quote).next().unwrap_or_default(),
        _ => text,
    }
}

fn skip_space(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_of_a_refresh() {
        let rows = [
            ("5; url=/a", Some("/a")),
            (" 0;URL='/a b' x", Some("/a b")),
            ("0;url=\"/a", Some("/a")),
            ("0, /a", Some("/a")),
            ("0 /a", Some("/a")),
            ("1.5;url = /a", Some("/a")),
            (".5;/a", Some("/a")),
            ("0;'/a'", Some("/a")),
            ("0;url/a", Some("url/a")),
            ("0;up.html", Some("up.html")),
            ("0;ur=/a", Some("ur=/a")),
            ("0", None),
            ("0;", None),
            ("0;url=", None),
            ("url=/a", None),
            ("", None),
            ("0é;url=/a", None),
            ("0;ué", Some("ué")),
        ];
        for (content, expected) in rows {
            assert_eq!(target(content), expected, "{content:?}");
        }
    }
}
