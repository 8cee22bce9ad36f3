//! How the URLs of two pages differ, and what a link of the one would be on the other.
//!
//! A copy under another name, in another directory or with another session links to copies: every one of
//! its links is new as it stands, and none is if the difference is undone.

/// One piece of a URL that stands for another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translation {
    from: String,
    to: String,
}

impl Translation {
    /// What makes `url` of `original`: the part between what they share at both ends, in whole words.
    pub fn between(url: &str, original: &str) -> Option<Self> {
        let pairs = url.bytes().zip(original.bytes());
        let shared = pairs.take_while(|(one, other)| one == other).count();
        let before = shared - part_of_word(url, original, shared);
        let (one, other) = (url.get(before..)?, original.get(before..)?);
        let pairs = one.bytes().rev().zip(other.bytes().rev());
        let shared = pairs.take_while(|(one, other)| one == other).count();
        let (from, to) = (one.len() - shared, other.len() - shared);
        let more = word_after(one, other, from, to);
        let (from, to) = (one.get(..from + more)?, other.get(..to + more)?);
        (!from.is_empty()).then(|| Self { from: from.to_owned(), to: to.to_owned() })
    }

    /// A link of the page as the original would have it; `None` where there is nothing to translate.
    pub fn of(&self, link: &str) -> Option<String> {
        let places = link.match_indices(&self.from).map(|(at, _)| at);
        let at = places.into_iter().find(|at| self.is_whole(link, *at))?;
        Some(format!("{}{}{}", &link[..at], self.to, &link[at + self.from.len()..]))
    }

    fn is_whole(&self, link: &str, at: usize) -> bool {
        let bytes = link.as_bytes();
        let is_inside = |at: usize| {
            let before = at.checked_sub(1).and_then(|before| bytes.get(before));
            before.is_some_and(is_word) && bytes.get(at).is_some_and(is_word)
        };
        !is_inside(at) && !is_inside(at + self.from.len())
    }
}

fn is_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// How many bytes at the end of what two texts share belong to a word that goes on differently.
fn part_of_word(one: &str, other: &str, shared: usize) -> usize {
    let goes_on = |text: &str| text.as_bytes().get(shared).is_some_and(is_word);
    let word = one.as_bytes().iter().take(shared).rev().take_while(|byte| is_word(byte));
    if goes_on(one) || goes_on(other) { word.count() } else { 0 }
}

/// How many bytes at the beginning of what two texts share at their ends, which is behind these places,
/// belong to a word that begins differently.
fn word_after(one: &str, other: &str, from: usize, to: usize) -> usize {
    let begins = |text: &str, at: usize| {
        at.checked_sub(1).and_then(|before| text.as_bytes().get(before)).is_some_and(is_word)
    };
    let word = one.as_bytes().iter().skip(from).take_while(|byte| is_word(byte));
    if begins(one, from) || begins(other, to) { word.count() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_translated_as_their_pages_differ() {
        #[rustfmt::skip]
        let rows = [
            ("another host", "http://b.test/x/p", "http://a.test/x/p", "http://b.test/y", Some("http://a.test/y")),
            ("https", "https://h/p", "http://h/p", "https://h/q", Some("http://h/q")),
            ("another directory", "http://h/v2/api/p", "http://h/v1/api/p", "http://h/v2/q", Some("http://h/v1/q")),
            ("one directory more", "http://h/print/p", "http://h/p", "http://h/print/q", Some("http://h/q")),
            ("another session", "http://h/p?sid=77&a=1", "http://h/p?sid=12&a=1", "http://h/q?sid=77", Some("http://h/q?sid=12")),
            ("numbers that share digits", "http://h/l?page=12", "http://h/l?page=11", "http://h/i/125", None),
            ("nothing to translate", "http://h/l?page=2", "http://h/l?page=1", "http://h/item", None),
            ("less than the original", "http://h/p", "http://h/p?a=1", "http://h/q", None),
        ];
        for (name, url, original, link, expected) in rows {
            let translated = Translation::between(url, original).and_then(|turn| turn.of(link));
            assert_eq!(translated.as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn any_two_texts_can_be_compared() {
        let texts = ["", "ä", "äö", "öä", "http://h/ä", "http://h/ö", "a/a", "a/a/a", "//", "a"];
        for (one, other) in texts.iter().flat_map(|one| texts.map(|other| (*one, other))) {
            for link in texts {
                let _ = Translation::between(one, other).and_then(|turn| turn.of(link));
            }
        }
    }
}
