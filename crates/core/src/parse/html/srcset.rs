//! `srcset`: the URLs of an image in several sizes, by HTML section 4.8.4.3.11 ("parse a srcset
//! attribute").
//!
//! A candidate whose descriptors are malformed is no candidate. Each byte is looked at a fixed number
//! of times.

/// Calls `each` with every candidate of a `srcset`: its URL and its descriptors.
pub fn each_candidate(srcset: &str, mut each: impl FnMut(&str, &str)) {
    let mut rest = srcset;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        if rest.is_empty() {
            return;
        }
        let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (url, after) = rest.split_at(end);
        let bare = url.trim_end_matches(',');
        let (descriptors, after) = if bare.len() < url.len() { ("", after) } else { split(after) };
        if are_valid(descriptors) {
            each(bare, descriptors.trim_ascii());
        }
        rest = after;
    }
}

/// Descriptors up to the comma that ends them, one in parentheses aside; and what follows it.
fn split(text: &str) -> (&str, &str) {
    let mut in_parentheses = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => in_parentheses = true,
            b')' => in_parentheses = false,
            b',' if !in_parentheses => return (&text[..at], &text[at + 1..]),
            _ => {}
        }
    }
    (text, "")
}

/// At most one density, or one width with at most one height; each a sensible number.
fn are_valid(descriptors: &str) -> bool {
    let (mut width, mut density, mut height) = (false, false, false);
    for descriptor in descriptors.split_ascii_whitespace() {
        let valid = match descriptor.split_at_checked(descriptor.len() - 1) {
            Some((number, "w")) => {
                !density && !std::mem::replace(&mut width, true) && is_size(number)
            }
            Some((number, "h")) => {
                !density && !std::mem::replace(&mut height, true) && is_size(number)
            }
            Some((number, "x")) => {
                !width && !height && !std::mem::replace(&mut density, true) && is_factor(number)
            }
            _ => false,
        };
        if !valid {
            return false;
        }
    }
    width || !height
}

/// A valid non-negative integer above zero.
fn is_size(number: &str) -> bool {
    number.bytes().all(|byte| byte.is_ascii_digit()) && number.bytes().any(|byte| byte != b'0')
}

/// A valid floating-point number (section 2.3.4.3), not below zero.
fn is_factor(number: &str) -> bool {
    let plain =
        number.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'-' | b'+'));
    let starts = number.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'));
    plain
        && starts
        && !number.ends_with('.')
        && number.parse::<f64>().is_ok_and(|value| value >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_valid_candidate_is_a_url() {
        let rows: &[(&str, &[&str])] = &[
            ("a.png 1x, b.png 2x", &["a.png", "b.png"]),
            ("a.png", &["a.png"]),
            (" , a.png 100w ,, b.png 200w 50h", &["a.png", "b.png"]),
            ("a.png,b.png 2x", &["a.png,b.png"]),
            ("a.png, b.png", &["a.png", "b.png"]),
            ("a.png,, b.png", &["a.png", "b.png"]),
            ("data:,a 1x, b 2x", &["data:,a", "b"]),
            ("a 1x 2x, b 100w 1x, c 10h, d 0w, e -1x, f 1y", &[]),
            ("a 1.5x, b 1e2x, c .5x, d 1.x, e +1x", &["a", "b", "c"]),
            ("a (1x, b) 2x, c", &["c"]),
            ("a é, b", &["b"]),
            ("", &[]),
            (",", &[]),
        ];
        for (srcset, expected) in rows {
            let mut urls = Vec::new();
            each_candidate(srcset, |url, _| urls.push(url.to_owned()));
            assert_eq!(urls, *expected, "{srcset:?}");
        }
    }
}
