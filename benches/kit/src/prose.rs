//! Pages that read, parse and compress like real ones, from a seed.
//!
//! Ranks of words are drawn so that the n-th word is n times rarer than the first (Zipf), from common
//! words and then from made-up ones. Some phrases come again, as they do on real pages.
//!
//! Most of a real page is not text. Of news a tenth to a quarter of the bytes are text, of documentation and
//! home pages half; 28 KB have 500 to 2,500 words and 300 to 800 tags, and libdeflate's level 1 packs them to one in
//! 2.5 to 4.8, most to one in 3 to 4. Tokens, hashes and addresses see to that as much as words. So it is here: a
//! quarter is text, with 1,150 words and 750 tags, packed to one in 4.

/// The most common words; made-up ones follow.
const COMMON: &str = "the of and to in a is that for it as was with be by on not he his but at are \
    this have from or had an they which one you were all her she there would their we him been has \
    when who will no more if out so up said what its about than into them can only other time new \
    some could these two may first then do any like my now over such our man me even most made after \
    also did many off before must well back through years much where your way down should because \
    long each just state those people how too little good world make very year still see work life \
    others day against between";
const SYLLABLES: [&str; 24] = [
    "ab", "ber", "con", "der", "el", "fer", "gan", "hol", "in", "jor", "ker", "lin", "mar", "nor",
    "op", "per", "qua", "ring", "st", "tion", "un", "ver", "wick", "ly",
];
const WORDS: usize = 4_000;
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Letters of what a script is told.
const TOKEN_LETTERS: usize = 120;

/// A small and quick source of numbers (SplitMix64); the same seed gives the same numbers.
#[derive(Clone)]
pub struct Dice(u64);

impl Dice {
    /// Numbers for this seed and these two coordinates.
    pub fn new(seed: u64, a: u64, b: u64) -> Self {
        let mut dice = Self(seed ^ a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.rotate_left(32));
        dice.draw();
        dice
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.draw()) * n as u128) >> 64) as usize
    }

    fn unit(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A vocabulary.
pub struct Prose {
    words: Vec<String>,
}

impl Prose {
    /// The vocabulary of this seed.
    pub fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed, 0, 0);
        let mut words: Vec<String> = COMMON.split_whitespace().map(str::to_owned).collect();
        while words.len() < WORDS {
            let syllables = 2 + dice.below(3);
            words.push((0..syllables).map(|_| SYLLABLES[dice.below(SYLLABLES.len())]).collect());
        }
        Self { words }
    }

    /// One word, by Zipf's law.
    pub fn word(&self, dice: &mut Dice) -> &str {
        let rank = (self.words.len() as f64).powf(dice.unit()) as usize;
        &self.words[rank - 1]
    }

    /// Some words with spaces between them.
    pub fn phrase(&self, words: usize, dice: &mut Dice, out: &mut String) {
        for number in 0..words {
            if number > 0 {
                out.push(' ');
            }
            out.push_str(self.word(dice));
        }
    }

    /// About so many bytes of sections with headings, paragraphs, and what stands around them.
    pub fn sections(&self, bytes: usize, dice: &mut Dice) -> String {
        let mut out = String::with_capacity(bytes + 4_096);
        while out.len() < bytes {
            let id = dice.draw();
            out.extend([
                "<section class=\"story__section story__section--wide js-section\" ",
                &format!("id=\"s-{:08x}\" data-analytics=\"section:{}\">\n", id >> 32, id % 100),
                "<h2 class=\"story__heading heading heading--2\"><span class=\"heading__text\">",
            ]);
            self.phrase(4, dice, &mut out);
            out.push_str("</span></h2>\n");
            for _ in 0..2 + dice.below(3) {
                self.paragraph(dice, &mut out);
                furniture(dice, &mut out);
            }
            script(dice, &mut out);
            out.push_str("</section>\n");
        }
        out
    }

    fn paragraph(&self, dice: &mut Dice, out: &mut String) {
        let mut topic = String::new();
        self.phrase(4, dice, &mut topic);
        out.push_str("<div class=\"story__row\"><p class=\"story__text text text--body\">");
        for _ in 0..2 + dice.below(3) {
            self.phrase(3 + dice.below(8), dice, out);
            match dice.below(3) {
                0 => out.extend([" <em class=\"text__emphasis\">", &topic, "</em>. "]),
                1 => out.extend([" <span class=\"text__term\">", &topic, "</span>, "]),
                _ => out.push_str(". "),
            }
        }
        out.push_str("</p></div>\n");
    }
}

/// Markup without a word in it.
fn furniture(dice: &mut Dice, out: &mut String) {
    for _ in 0..1 + dice.below(2) {
        let [place, name, version] = [dice.draw(), dice.draw() >> 24, dice.draw() >> 44];
        out.push_str(&format!(
            "<div class=\"media media--inline js-lazy\" data-src=\"/media/{place:016x}/{name:010x}-{}.jpg\" \
             data-version=\"{version}\"><i class=\"media__shade\"></i></div>\n",
            160 * (1 + version % 8),
        ));
    }
}

/// What scripts of real pages are fed with: numbers, and tokens that cannot be packed.
fn script(dice: &mut Dice, out: &mut String) {
    let [id, token, time] = [dice.draw(), dice.draw(), dice.draw() >> 30];
    out.push_str(&format!(
        "<script>window.dataLayer=window.dataLayer||[];dataLayer.push(\
         {{\"event\":\"section\",\"id\":\"{id:016x}\",\"time\":{time},\"depth\":{},\"state\":\"",
        id % 9,
    ));
    let letters = (0..TOKEN_LETTERS).map(|_| BASE64[dice.below(BASE64.len())] as char);
    out.extend(letters);
    out.push_str(&format!(
        "\",\"experiments\":[\"a{}\",\"b{}\"]}});</script>\n",
        token % 1_000,
        time % 1_000
    ));
}
