//! Hosts that answer every path with status 200: pages that say "not found" and do not mean it.
//!
//! A host is watched by what its pages look like at a glance: title, number of links, size. Only pages
//! that look alike are read for their words, and only when enough of them have the same ones is there a
//! suspicion. One request for a path that cannot be there then decides (the caller sends it): a host
//! that refuses it is honest, and is not watched any more; one that answers with such a page has shown
//! its [`Face`], and pages with that face are none.
//!
//! The aim is never to lose a page: a face must agree in title, in links, in size and in nearly all words.
//! Words that come from the URL, and numbers, do not count, since such pages like to repeat what was
//! asked for. What is kept of a host is bounded by `soft_pages_max`.

use std::collections::VecDeque;

use xxhash_rust::xxh3::xxh3_64;

use crate::near::Votes;

/// Pages with the same words that make a suspicion.
const ALIKE_MIN: usize = 3;
/// Bits in which the words of pages with the same face may differ, of 64: about two words in a hundred.
const BITS_MAX: u32 = 3;
/// Links by which their numbers may differ.
const LINKS_APART_MAX: u32 = 2;
/// Pages of a host that are read for their words before it is taken for honest.
const READ_MAX: u32 = 8;

/// A page at a glance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glance {
    title: u64,
    links: u32,
    bytes: u32,
}

impl Glance {
    /// Of a page at `path`.
    pub fn new(title: &str, links: usize, bytes: usize, path: &str) -> Self {
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let words = telling_words(title, path)
            .fold(0, |hash: u64, word| hash.rotate_left(5) ^ xxh3_64(word.as_bytes()));
        Self { title: words, links: narrow(links), bytes: narrow(bytes) }
    }

    fn is_like(&self, other: &Self) -> bool {
        let apart = self.bytes.abs_diff(other.bytes);
        self.title == other.title
            && self.links.abs_diff(other.links) <= LINKS_APART_MAX
            && apart <= self.bytes.max(other.bytes) / 8
    }
}

/// What a page looks like, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Face {
    glance: Glance,
    words: u64,
}

impl Face {
    /// Bytes of a face on disk.
    pub const BYTES: usize = 24;

    /// Of a page with this text at `path`.
    pub fn new(glance: Glance, text: &str, path: &str) -> Self {
        Self { glance, words: simhash(text, path) }
    }

    /// Whether pages with these faces say the same.
    pub fn is_like(&self, other: &Self) -> bool {
        self.glance.is_like(&other.glance) && (self.words ^ other.words).count_ones() <= BITS_MAX
    }

    /// Whether it is worth reading a page for its words.
    pub fn may_be(&self, glance: &Glance) -> bool {
        self.glance.is_like(glance)
    }

    /// As it is kept on disk: title, words, links and bytes, little endian.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let Glance { title, links, bytes } = self.glance;
        let numbers = u64::from(links) << 32 | u64::from(bytes);
        let mut out = [0; Self::BYTES];
        for (place, number) in out.chunks_exact_mut(8).zip([title, self.words, numbers]) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        out
    }

    /// As it was kept.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (numbers, []) = bytes.as_chunks::<8>() else { return None };
        let [title, words, numbers] = numbers else { return None };
        let numbers = u64::from_le_bytes(*numbers);
        let (links, bytes) = ((numbers >> 32) as u32, numbers as u32);
        let glance = Glance { title: u64::from_le_bytes(*title), links, bytes };
        Some(Self { glance, words: u64::from_le_bytes(*words) })
    }
}

/// What is known of a host.
#[derive(Debug, Clone)]
pub enum Standing {
    /// Its last pages are compared.
    Watched(Watch),
    /// A path that cannot be there is being asked for.
    Probed,
    /// It refuses what is not there, or never gave reason to doubt it.
    Honest,
    /// It does not, and this is what it answers instead.
    Soft(Face),
}

impl Default for Standing {
    fn default() -> Self {
        Self::Watched(Watch::default())
    }
}

/// The last pages of a host.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    /// At a glance, the oldest first.
    last: VecDeque<Glance>,
    /// Those that looked alike.
    faces: VecDeque<Face>,
    /// How many were read for their words.
    read: u32,
}

/// What to make of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Nothing is wrong with it, as far as is known.
    Page,
    /// It looks like others of its host: ask for a path that cannot be there.
    Suspicion,
    /// It is what the host answers to any path.
    Soft,
}

impl Standing {
    /// Looks at a page of the host. `face` reads its words, and is called only where that is needed.
    pub fn look(
        &mut self,
        glance: Glance,
        pages_max: usize,
        face: impl FnOnce() -> Face,
    ) -> Finding {
        let finding = match self {
            Self::Watched(watch) => watch.look(glance, pages_max, face),
            Self::Soft(known) if known.may_be(&glance) && known.is_like(&face()) => Finding::Soft,
            Self::Soft(_) | Self::Probed | Self::Honest => Finding::Page,
        };
        if matches!(self, Self::Watched(watch) if watch.read >= READ_MAX) {
            *self = Self::Honest;
        }
        finding
    }
}

impl Watch {
    fn look(&mut self, glance: Glance, pages_max: usize, face: impl FnOnce() -> Face) -> Finding {
        let looks_familiar = self.last.iter().any(|seen| seen.is_like(&glance));
        push(&mut self.last, glance, pages_max);
        if !looks_familiar {
            return Finding::Page;
        }
        self.read += 1;
        let face = face();
        // The first that looked so was seen at a glance only.
        let alike = 2 + self.faces.iter().filter(|seen| seen.is_like(&face)).count();
        push(&mut self.faces, face, pages_max);
        if alike >= ALIKE_MIN { Finding::Suspicion } else { Finding::Page }
    }
}

fn push<T>(ring: &mut VecDeque<T>, newest: T, max: usize) {
    if ring.len() >= max {
        ring.pop_front();
    }
    ring.push_back(newest);
}

/// 64 bits that are nearly the same for texts with nearly the same words (Charikar 2002).
fn simhash(text: &str, path: &str) -> u64 {
    let (mut votes, mut before) = (Votes::default(), 0);
    for word in telling_words(text, path) {
        let hash = xxh3_64(word.as_bytes());
        votes.add(hash);
        votes.add(hash.rotate_left(23) ^ before);
        before = hash;
    }
    votes.majority()
}

/// Words without those that have digits, a slash, or that stand in the URL.
fn telling_words<'a>(text: &'a str, path: &'a str) -> impl Iterator<Item = &'a str> {
    let starts = Starts::of(path);
    let is_telling = move |word: &&str| {
        if word.bytes().any(|byte| byte.is_ascii_digit() || byte == b'/') {
            return false;
        }
        let bare = bare(word);
        bare.len() <= 2 || !starts.may_have(bare) || !path.contains(bare)
    };
    text.split_whitespace().filter(is_telling)
}

/// A word without the signs around it.
fn bare(word: &str) -> &str {
    let is_letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    if is_letter(word.as_bytes().first()) && is_letter(word.as_bytes().last()) {
        return word;
    }
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Which three bytes stand in a path somewhere, as bits by chance: most words are told from it by their first
/// ones.
struct Starts([u64; 4]);

impl Starts {
    fn of(path: &str) -> Self {
        let mut starts = Self([0; 4]);
        for three in path.as_bytes().windows(3) {
            let (at, bit) = Self::place(three);
            starts.0[at] |= bit;
        }
        starts
    }

    fn may_have(&self, word: &str) -> bool {
        let (at, bit) = Self::place(word.as_bytes());
        self.0[at] & bit != 0
    }

    fn place(bytes: &[u8]) -> (usize, u64) {
        let number = bytes.iter().take(3).fold(0, |all: u32, byte| all << 8 | u32::from(*byte));
        let place = number.wrapping_mul(0x9e37_79b1) >> 24;
        (place as usize / 64, 1 << (place % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SORRY: &str = "We are sorry but the page that you were looking for does not exist any more. \
        Please use the search or go back to the start page of our shop, where all of it begins.";

    fn look(standing: &mut Standing, title: &str, text: &str, path: &str) -> Finding {
        let glance = Glance::new(title, 5, 1_000, path);
        standing.look(glance, 8, || Face::new(glance, text, path))
    }

    #[test]
    fn the_third_page_with_the_same_words_is_a_suspicion() {
        let mut standing = Standing::default();
        let found: Vec<Finding> = (0..3)
            .map(|n| {
                let path = format!("/shop/thing{n}");
                let text = format!("{SORRY} You asked for /shop/thing{n} which is no {n}th thing");
                look(&mut standing, &format!("thing{n} - not found"), &text, &path)
            })
            .collect();
        assert_eq!(found, [Finding::Page, Finding::Page, Finding::Suspicion]);
    }

    #[test]
    fn pages_with_words_of_their_own_are_no_suspicion() {
        let mut standing = Standing::default();
        let words = ["apples", "pears", "plums", "grapes", "figs", "dates", "limes", "nuts"];
        for (n, word) in words.into_iter().cycle().take(100).enumerate() {
            let text =
                format!("{SORRY} Today we have {word} {word}s and many {word}ish things {n}");
            let found = look(&mut standing, "The shop", &text, &format!("/{n}"));
            let repeats = n >= words.len();
            assert!(repeats || found == Finding::Page, "{n}");
            if found == Finding::Suspicion {
                return;
            }
        }
    }

    #[test]
    fn other_titles_are_never_read() {
        let mut standing = Standing::default();
        for title in ["one", "two", "three", "four"] {
            let glance = Glance::new(title, 5, 1_000, "/");
            let found = standing.look(glance, 8, || panic!("there is no need to read it"));
            assert_eq!(found, Finding::Page);
        }
    }

    #[test]
    fn a_host_that_showed_its_face_is_known_by_it() {
        let glance = Glance::new("not found", 5, 1_000, "/larm-probe");
        let face = Face::new(glance, SORRY, "/larm-probe");
        let mut standing = Standing::Soft(face);
        assert_eq!(look(&mut standing, "not found", SORRY, "/a"), Finding::Soft);
        let other = SORRY.replace("search", "map").replace("shop", "house");
        assert_eq!(look(&mut standing, "not found", &other, "/a"), Finding::Page);
        assert_eq!(look(&mut standing, "A page", SORRY, "/a"), Finding::Page);
        let longer = Glance::new("not found", 5, 1_300, "/a");
        assert_eq!(standing.look(longer, 8, || panic!("too long to be it")), Finding::Page);
    }

    #[test]
    fn a_face_is_kept_as_it_is() {
        let face = Face::new(Glance::new("a title", 7, 12_345, "/"), SORRY, "/");
        assert_eq!(Face::from_bytes(&face.to_bytes()), Some(face));
        assert_eq!(Face::from_bytes(b"short"), None);
        assert_eq!(Face::from_bytes(&[0; 32]), None);
    }

    #[test]
    fn faces_of_earlier_versions_are_known_again() {
        assert_eq!(simhash(SORRY, "/shop/thing"), 0x8a90_5157_7f63_2159);
        assert_eq!(simhash("", "/"), 0);
    }

    #[test]
    fn a_host_whose_pages_only_look_alike_is_left_in_peace_after_a_while() {
        let mut standing = Standing::default();
        for n in 0..200u32 {
            let text: String = (0..40).map(|w| format!("w{} ", letters(n * 40 + w))).collect();
            look(&mut standing, "The same title", &text, "/");
        }
        assert!(matches!(standing, Standing::Honest));
    }

    fn letters(n: u32) -> String {
        n.to_string().bytes().map(|digit| char::from(b'a' + digit - b'0')).collect()
    }
}
