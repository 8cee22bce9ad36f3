//! What a block says of itself beside its name: words in `class` and `id`, its `role`, whether it is
//! hidden.
//!
//! Authors name what they build, so these words tell navigation from article more often than not. They
//! are hints and no proof: who judges a block weighs them against its text.

use std::collections::HashMap;
use std::sync::LazyLock;

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::dfa::DFA;
use xxhash_rust::xxh3::xxh3_64;

use super::attributes::Attributes;
use super::name::{Attr, Tag};

/// A set of hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Hints(u8);

impl Hints {
    /// Its name is that of an article, or of what holds one.
    pub const MAIN: Self = Self(1);
    /// Its name is that of a part of the frame: navigation, notices, advertisements.
    pub const FRAME: Self = Self(2);
    /// Its name is that of a small thing beside an article: shares, tags, bylines.
    pub const ASIDE: Self = Self(4);
    /// What readers wrote.
    pub const TALK: Self = Self(8);
    /// It is not shown.
    pub const HIDDEN: Self = Self(16);
    /// It says outright that it is the article's text.
    pub const BODY: Self = Self(32);
    /// It says outright that it is part of the frame.
    pub const ROLE: Self = Self(64);
    /// It says outright that it is the page's main part.
    pub const DECLARED: Self = Self(128);

    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// The hints of a start tag.
    #[inline(always)]
    pub fn of(tag: Tag, attributes: &Attributes<'_>, known: &mut Known) -> Self {
        let has_none = attributes.has_no_hint();
        if has_none { Self::default() } else { Self::read(tag, attributes, known) }
    }

    fn read(tag: Tag, attributes: &Attributes<'_>, known: &mut Known) -> Self {
        let mut hints = Self::default();
        if is_named(tag) {
            for name in [Attr::Class, Attr::Id] {
                if let Some(names) = attributes.get(name) {
                    hints.add(known.names(names));
                }
            }
        }
        if let Some(role) = attributes.get(Attr::Role) {
            hints.read_role(role.trim_ascii());
        }
        if attributes.get(Attr::Itemprop).is_some_and(has_body) {
            hints.add(Self::BODY);
        }
        let is_hidden = attributes.has(Attr::Hidden)
            || attributes.get(Attr::AriaHidden).is_some_and(|value| value == "true")
            || attributes.get(Attr::Style).is_some_and(hides);
        if is_hidden {
            hints.add(Self::HIDDEN);
        }
        hints
    }

    #[inline(never)]
    fn read_names(&mut self, names: &str) {
        let (words, names) = (&*WORDS, names.as_bytes());
        let mut state = 0;
        for (at, &byte) in names.iter().enumerate() {
            state = words.next[usize::from(state)][letter(byte)];
            if state & ENDS != 0 {
                state &= !ENDS;
                self.read_words(words, words.states[usize::from(state)], names, at + 1);
            }
        }
    }

    /// Takes the words that end at `end`. Out of line, so that the loop around it keeps all it has in registers.
    #[inline(never)]
    fn read_words(&mut self, words: &Words, state: StateID, names: &[u8], end: usize) {
        for found in 0..words.automaton.match_len(state) {
            let at = words.automaton.match_pattern(state, found).as_usize();
            match WHOLE.get(at) {
                Some((word, hint)) if is_word(names, end - word.len(), end) => self.add(*hint),
                Some(_) => {}
                None => self.add(PARTS[at - WHOLE.len()].1),
            }
        }
    }

    fn read_role(&mut self, role: &str) {
        const FRAME: &[&str] = &[
            "navigation",
            "banner",
            "contentinfo",
            "complementary",
            "search",
            "dialog",
            "alert",
            "alertdialog",
            "menu",
            "menubar",
            "toolbar",
            "tooltip",
        ];
        if FRAME.iter().any(|each| role.eq_ignore_ascii_case(each)) {
            self.add(Self::ROLE);
        } else if role.eq_ignore_ascii_case("main") {
            self.add(Self::MAIN);
            self.add(Self::DECLARED);
        } else if role.eq_ignore_ascii_case("article") {
            self.add(Self::MAIN);
        }
    }
}

/// The names that a page has used last: most come many times.
#[derive(Debug)]
pub(super) struct Known([(u64, Hints); KNOWN]);

const KNOWN: usize = 128;

impl Default for Known {
    fn default() -> Self {
        // The place of the empty name holds its hints, which are none.
        Self([(xxh3_64(b""), Hints::default()); KNOWN])
    }
}

impl Known {
    #[inline(never)]
    fn names(&mut self, names: &str) -> Hints {
        let hash = xxh3_64(names.as_bytes());
        let known = &mut self.0[hash as usize % KNOWN];
        if known.0 != hash {
            let mut hints = Hints::default();
            hints.read_names(names);
            *known = (hash, hints);
        }
        known.1
    }
}

/// Names of paragraphs, items and cells say how they look.
fn is_named(tag: Tag) -> bool {
    !matches!(tag, Tag::Tr | Tag::Option | Tag::Tbody | Tag::Thead)
}

fn has_body(value: &str) -> bool {
    value.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("articlebody"))
}

/// Whether an inline style hides its element.
fn hides(style: &str) -> bool {
    let mut declarations = style.split(';').filter_map(|each| each.split_once(':'));
    declarations.any(|(name, value)| {
        let is = |wanted_name: &str, wanted: &str| {
            name.trim_ascii().eq_ignore_ascii_case(wanted_name)
                && value
                    .trim_ascii()
                    .get(..wanted.len())
                    .is_some_and(|value| value.eq_ignore_ascii_case(wanted))
        };
        is("display", "none") || is("visibility", "hidden")
    })
}

/// Short words, which count where they stand alone: `nav-main`, but not `canavan`.
const WHOLE: &[(&str, Hints)] = &[
    ("article", Hints::MAIN),
    ("blog", Hints::MAIN),
    ("body", Hints::MAIN),
    ("column", Hints::MAIN),
    ("entry", Hints::MAIN),
    ("hentry", Hints::MAIN),
    ("main", Hints::MAIN),
    ("post", Hints::MAIN),
    ("prose", Hints::MAIN),
    ("story", Hints::MAIN),
    ("text", Hints::MAIN),
    ("ad", Hints::FRAME),
    ("ads", Hints::FRAME),
    ("menu", Hints::FRAME),
    ("modal", Hints::FRAME),
    ("nav", Hints::FRAME),
    ("navi", Hints::FRAME),
    ("pager", Hints::FRAME),
    ("popup", Hints::FRAME),
    ("promo", Hints::FRAME),
    ("rss", Hints::FRAME),
    ("share", Hints::FRAME),
    ("shares", Hints::FRAME),
    ("skip", Hints::FRAME),
    ("social", Hints::FRAME),
    ("author", Hints::ASIDE),
    ("byline", Hints::ASIDE),
    ("contact", Hints::ASIDE),
    ("date", Hints::ASIDE),
    ("meta", Hints::ASIDE),
    ("tags", Hints::ASIDE),
    ("tools", Hints::ASIDE),
    ("reply", Hints::TALK),
];

/// Words that count wherever they stand: `leftsidebar2`.
const PARTS: &[(&str, Hints)] = &[
    ("articlebody", Hints::MAIN),
    ("content", Hints::MAIN),
    ("maintext", Hints::MAIN),
    ("markdown", Hints::MAIN),
    ("advert", Hints::FRAME),
    ("banner", Hints::FRAME),
    ("breadcrumb", Hints::FRAME),
    ("consent", Hints::FRAME),
    ("cookie", Hints::FRAME),
    ("copyright", Hints::FRAME),
    ("footer", Hints::FRAME),
    ("gdpr", Hints::FRAME),
    ("header", Hints::FRAME),
    ("lightbox", Hints::FRAME),
    ("login", Hints::FRAME),
    ("masthead", Hints::FRAME),
    ("mostread", Hints::FRAME),
    ("most-read", Hints::FRAME),
    ("navbar", Hints::FRAME),
    ("navigation", Hints::FRAME),
    ("newsletter", Hints::FRAME),
    ("outbrain", Hints::FRAME),
    ("overlay", Hints::FRAME),
    ("pagination", Hints::FRAME),
    ("recommend", Hints::FRAME),
    ("related", Hints::FRAME),
    ("sharing", Hints::FRAME),
    ("sidebar", Hints::FRAME),
    ("signup", Hints::FRAME),
    ("sponsor", Hints::FRAME),
    ("subscri", Hints::FRAME),
    ("submenu", Hints::FRAME),
    ("taboola", Hints::FRAME),
    ("toolbar", Hints::FRAME),
    ("trending", Hints::FRAME),
    ("comment", Hints::TALK),
    ("disqus", Hints::TALK),
    ("replies", Hints::TALK),
];

/// What finds all of them at once.
struct Words {
    automaton: DFA,
    /// Its states, the first one first.
    states: Vec<StateID>,
    /// Where each letter leads from each of them, as a place among them. The automaton knows, but takes twice as
    /// many steps to tell.
    next: Vec<[u16; LETTERS]>,
}

/// Set where a word ends.
const ENDS: u16 = 1 << 15;

/// As many as words are made of, and one for all else; a power of two, so that no place is out of bounds.
const LETTERS: usize = 32;
const HYPHEN: usize = 27;

fn letter(byte: u8) -> usize {
    const OF_BYTES: [u8; 256] = {
        let mut letters = [0; 256];
        let mut at = 0;
        while at < 26 {
            letters[b'a' as usize + at] = at as u8 + 1;
            letters[b'A' as usize + at] = at as u8 + 1;
            at += 1;
        }
        letters[b'-' as usize] = HYPHEN as u8;
        letters
    };
    usize::from(OF_BYTES[usize::from(byte)]) % LETTERS
}

/// A byte that is this letter.
fn byte_of(letter: usize) -> u8 {
    match letter {
        1..=26 => b'`' + letter as u8,
        HYPHEN => b'-',
        _ => b' ',
    }
}

impl Words {
    fn new(automaton: DFA, start: StateID) -> Self {
        let (mut states, mut next) = (vec![start], Vec::new());
        let mut places = HashMap::from([(start, 0)]);
        while let Some(&state) = states.get(next.len()) {
            next.push(std::array::from_fn(|letter| {
                let state = automaton.next_state(Anchored::No, state, byte_of(letter));
                let place = *places.entry(state).or_insert_with(|| {
                    states.push(state);
                    states.len() as u16 - 1
                });
                place | if automaton.is_match(state) { ENDS } else { 0 }
            }));
        }
        assert!(states.len() <= usize::from(ENDS), "a few short words have few states");
        Self { automaton, states, next }
    }
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let words = WHOLE.iter().chain(PARTS).map(|(word, _)| word);
    let automaton = DFA::builder().ascii_case_insensitive(true).build(words);
    let automaton = automaton.expect("a few short words fit into any automaton");
    let start = automaton.start_state(Anchored::No).expect("it begins anywhere");
    Words::new(automaton, start)
});

/// Whether these bytes stand alone, or are set off by a capital: `postBody`.
fn is_word(names: &[u8], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).map(|at| names[at]);
    let is_begun = names[start].is_ascii_uppercase();
    let begins = before.is_none_or(|before| {
        !before.is_ascii_alphabetic() || (is_begun && before.is_ascii_lowercase())
    });
    let ends = names.get(end).is_none_or(|after| !after.is_ascii_lowercase());
    begins && ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_words_count_where_they_stand_alone_and_long_ones_anywhere() {
        let rows = [
            ("nav", Hints::FRAME.0),
            ("main-NAV", Hints::FRAME.0 | Hints::MAIN.0),
            ("topNav2", Hints::FRAME.0),
            ("canavan naval", 0),
            ("leftsidebar", Hints::FRAME.0),
            ("heads loads", 0),
            ("ad_slot", Hints::FRAME.0),
            ("commentList", Hints::TALK.0),
            ("post-meta", Hints::MAIN.0 | Hints::ASIDE.0),
            ("storyBody", Hints::MAIN.0),
            ("é", 0),
            ("", 0),
        ];
        for (names, expected) in rows {
            let mut hints = Hints::default();
            hints.read_names(names);
            assert_eq!(hints, Hints(expected), "{names}");
        }
    }

    proptest::proptest! {
        #[test]
        fn letters_lead_where_the_automaton_says(
            names in "([a-zA-Z]{0,3}|[é_ 0-9-]|nav|most-?Read|heAder|ads|content|post){0,12}",
        ) {
            let words = &*WORDS;
            let (mut state, mut place) = (words.states[0], 0);
            for byte in names.bytes() {
                state = words.automaton.next_state(Anchored::No, state, byte);
                let next = words.next[place][letter(byte)];
                place = usize::from(next & !ENDS);
                proptest::prop_assert_eq!(words.states[place], state);
                proptest::prop_assert_eq!(next & ENDS != 0, words.automaton.is_match(state));
            }
        }
    }

    #[test]
    fn styles_that_hide_are_told_from_others() {
        for style in ["display:none", " color:red;Display: NONE !important", "visibility:hidden"] {
            assert!(hides(style), "{style}");
        }
        for style in ["", "display", "display:block", "xdisplay:none", "display:é", ";:;"] {
            assert!(!hides(style), "{style}");
        }
    }
}
