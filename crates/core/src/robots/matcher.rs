//! One pattern against one path (RFC 9309 section 2.2.3), in linear time.
//!
//! A pattern is a few literal pieces with `*` between them. The first piece must begin the path;
//! each further one is taken where it is first found behind the piece before; the last one must end
//! the path if the pattern does. Taking the first place leaves the most room for what follows, so
//! no choice is ever taken back, and `*a*a*a*a*…` costs no more than any other pattern of that
//! length.
//!
//! No byte of the path is looked at for two pieces, and finding a piece takes time linear in both
//! (`memchr::memmem` guarantees that): a pattern costs at most a constant times (its own bytes +
//! the bytes of the path).

use memchr::{memchr, memmem};

/// Whether `pattern` matches `path` from its beginning and, if `anchored`, to its end. Both are in
/// the form for comparison; the `$` of an anchored pattern is not part of it.
pub(crate) fn matches(pattern: &[u8], anchored: bool, path: &[u8]) -> bool {
    // Most rules part with a path at its second byte.
    let pairs = pattern.iter().zip(path);
    let same = pairs.take_while(|&(&ours, theirs)| ours == *theirs && ours != b'*').count();
    match pattern.get(same) {
        Some(b'*') => matches_wild(&pattern[same + 1..], anchored, &path[same..]),
        Some(_) => false,
        None => !anchored || same == path.len(),
    }
}

/// The same for a pattern that stands behind a `*`.
fn matches_wild(mut pattern: &[u8], anchored: bool, mut path: &[u8]) -> bool {
    while let Some(star) = memchr(b'*', pattern) {
        match behind(path, &pattern[..star]) {
            Some(left) => (path, pattern) = (left, &pattern[star + 1..]),
            None => return false,
        }
    }
    if anchored { path.ends_with(pattern) } else { behind(path, pattern).is_some() }
}

/// What follows the first occurrence of `piece`.
fn behind<'a>(text: &'a [u8], piece: &[u8]) -> Option<&'a [u8]> {
    let Some(first) = piece.first() else {
        return Some(text);
    };
    // Making a search ready costs more than finding that there is nothing to search.
    let text = text.get(memchr(*first, text)?..)?;
    text.get(memmem::find(text, piece)? + piece.len()..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything_and_a_dollar_for_the_end() {
        let rows: &[(&str, &str, bool)] = &[
            ("/fish", "/fish.html", true),
            ("/fish", "/Fish", false),
            ("/fish", "/catfish", false),
            ("/fish$", "/fish", true),
            ("/fish$", "/fishy", false),
            ("/*.php", "/a/b.php?c", true),
            ("/*.php$", "/a.php/b.php", true),
            ("/*.php$", "/a.php?b", false),
            ("*", "/", true),
            ("*$", "/anything", true),
            ("/**a**", "/ba", true),
            ("/a*b*c$", "/abcbc", true),
            ("/a*b*c$", "/acb", false),
            ("/a*aa$", "/aa", false),
            ("/a*aa$", "/aaa", true),
            ("/*ab*ab$", "/ab", false),
            ("/*ab*ab", "/abab", true),
            ("/a$b", "/a$bc", true),
            ("a", "/a", false),
            ("$", "/", false),
        ];
        for &(pattern, path, expected) in rows {
            let (bare, anchored) = match pattern.strip_suffix('$') {
                Some(bare) => (bare, true),
                None => (pattern, false),
            };
            let found = matches(bare.as_bytes(), anchored, path.as_bytes());
            assert_eq!(found, expected, "{pattern} on {path}");
        }
    }

    #[test]
    fn a_hostile_pattern_is_answered_at_once() {
        // Taking choices back would take more steps here than there are atoms.
        let pattern = "*a".repeat(100_000) + "*b";
        let path = "/".to_owned() + &"a".repeat(200_000);
        assert!(!matches(pattern.as_bytes(), true, path.as_bytes()));
        assert!(!matches(pattern.as_bytes(), false, path.as_bytes()));
        assert!(matches(pattern.as_bytes(), true, (path + "b").as_bytes()));
    }
}
