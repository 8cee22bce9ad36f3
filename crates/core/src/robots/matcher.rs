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

use memchr::{memchr, memmem, memrchr};

/// Whether `pattern` matches `path` from its beginning and, if `anchored`, to its end. Both are in
/// the form for comparison; the `$` of an anchored pattern is not part of it.
pub(super) fn matches(pattern: &[u8], anchored: bool, path: &[u8]) -> bool {
    match memchr(b'*', pattern) {
        Some(star) => matches_wild(pattern.split_at(star), anchored, path),
        None if anchored => path == pattern,
        None => path.starts_with(pattern),
    }
}

/// The same for a pattern that is `head` and a rest beginning with a `*`.
fn matches_wild((head, rest): (&[u8], &[u8]), anchored: bool, path: &[u8]) -> bool {
    let Some(left) = path.strip_prefix(head) else {
        return false;
    };
    let last_star = memrchr(b'*', rest).unwrap_or_default();
    let (middle, tail) = rest.split_at(last_star);
    let Some(left) = middle.split(|&byte| byte == b'*').try_fold(left, behind) else {
        return false;
    };
    let tail = tail.strip_prefix(b"*").unwrap_or(tail);
    if anchored { left.ends_with(tail) } else { behind(left, tail).is_some() }
}

/// What follows the first occurrence of `piece`.
fn behind<'a>(text: &'a [u8], piece: &[u8]) -> Option<&'a [u8]> {
    if piece.is_empty() {
        return Some(text);
    }
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
