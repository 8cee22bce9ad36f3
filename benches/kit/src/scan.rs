//! The least that finding links can cost: one pass over the tags for `href` and `src`.
//!
//! It knows no comments, scripts, entities or base: it is a floor, not a parser.

use memchr::{memchr, memchr2, memmem};
use xxhash_rust::xxh3::xxh3_64;

/// Gives every link of a page, as it is written.
pub fn links<'a>(page: &'a [u8], mut found: impl FnMut(&'a [u8])) {
    let mut rest = page;
    while let Some(start) = memchr(b'<', rest) {
        rest = &rest[start + 1..];
        if !rest.first().is_some_and(u8::is_ascii_alphabetic) {
            continue;
        }
        let end = memchr(b'>', rest).unwrap_or(rest.len());
        let (tag, behind) = rest.split_at(end);
        for name in [&b" href="[..], b" src="] {
            if let Some(value) = value_of(tag, name) {
                found(value);
            }
        }
        rest = behind;
    }
}

fn value_of<'a>(tag: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let start = memmem::find(tag, name)? + name.len();
    let value = &tag[start..];
    match value.first()? {
        quote @ (b'"' | b'\'') => {
            let value = &value[1..];
            Some(&value[..memchr(*quote, value)?])
        }
        _ => Some(&value[..memchr2(b' ', b'\n', value).unwrap_or(value.len())]),
    }
}

/// How many links a page has, and a mix of their fingerprints, so that none can be skipped.
pub fn digest(page: &[u8]) -> (u64, u64) {
    let (mut count, mut mix) = (0, 0);
    links(page, |link| {
        count += 1;
        mix ^= xxh3_64(link);
    });
    (count, mix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_in_all_quotes() {
        let page =
            b"<p>a < b <a class=x href=\"/1\">t</a><img src='/2'><a href=/3 id=q></a href=\"/4";
        let mut all = Vec::new();
        links(page, |link| all.push(String::from_utf8_lossy(link).into_owned()));
        assert_eq!(all, ["/1", "/2", "/3"]);
    }
}
