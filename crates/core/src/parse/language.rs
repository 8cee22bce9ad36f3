//! The language that a text is written in, from a sample of it.
//!
//! `whatlang` compares trigrams, and for the Latin script with almost forty languages: that costs as much
//! as reading the whole page. So the small words that every sentence has are counted first, which names
//! one language, a few, or none; `whatlang` decides where there are a few. Other scripts have few
//! languages each and go to it at once.
//!
//! What cannot be told with some confidence is not told. What the page declares of itself is another
//! fact, and does not count here.

use std::ops::Range;
use std::sync::LazyLock;

use whatlang::{Detector, Lang};

use super::bytes::{self, EACH};
use super::marks::Span;

/// So much of a text is looked at, from its middle.
const SAMPLE_BYTES_MAX: usize = 512;
/// And so much of that is compared by trigrams, where a few languages are left: more tells no better.
const COMPARED_BYTES_MAX: usize = 384;
/// A text with fewer words of Latin script is too short to be told by them.
const WORDS_MIN: usize = 8;
/// How sure `whatlang` has to be, of 1.
const CONFIDENCE_MIN: f64 = 0.25;

/// The language of a text as an ISO 639-1 code: that of its main part, where there is one.
pub(super) fn language(text: &str, main: &[Span]) -> Option<&'static str> {
    let longest = main.iter().max_by_key(|span| span.len());
    let part = longest.and_then(|span| text.get(span.start as usize..span.end as usize));
    let sample = middle(part.unwrap_or(text), SAMPLE_BYTES_MAX);
    if is_latin(sample) { latin(sample) } else { detected(sample, &Detector::new()) }.map(code)
}

fn detected(sample: &str, detector: &Detector) -> Option<Lang> {
    let found = detector.detect(sample)?;
    (found.confidence() >= CONFIDENCE_MIN).then(|| found.lang())
}

/// The middle of a text: titles, dates and names of authors stand at its ends.
fn middle(text: &str, bytes_max: usize) -> &str {
    let spare = text.len().saturating_sub(bytes_max);
    let is_border = |at: &usize| text.is_char_boundary(*at);
    let start = (0..=spare / 2).rev().find(is_border).unwrap_or(0);
    let end = (start..=text.len().min(start + bytes_max)).rev().find(is_border);
    &text[start..end.unwrap_or(start)]
}

/// Whether most of it is in the Latin script: its letters take one byte, or two that begin alike.
fn is_latin(sample: &str) -> bool {
    let bytes = sample.as_bytes();
    if bytes.is_ascii() {
        return bytes.iter().any(u8::is_ascii_alphabetic);
    }
    // A few at a time, so that single bytes hold the counts and many are added together.
    let foreign = bytes.chunks(64).map(|some| {
        let foreign = some.iter().map(|&byte| u8::from((byte > 0xc9) & (byte != 0xe1)));
        usize::from(foreign.sum::<u8>())
    });
    let letters_min = foreign.sum::<usize>() * 2 + 1;
    bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).nth(letters_min - 1).is_some()
}

fn latin(sample: &str) -> Option<Lang> {
    let mut votes = [0_u16; LANGUAGES_MAX];
    let (mut words, small_words) = (0, &*SMALL_WORDS);
    each_word(sample, |word| {
        words += 1;
        count(&mut votes, word.map_or(0, |word| small_words.get(word)));
    });
    choose(sample, &votes, words)
}

/// Calls `each` with every word, or with none for those that are too long to be a small one.
fn each_word(sample: &str, mut each: impl FnMut(Option<Word>)) {
    let bytes = sample.as_bytes();
    let mut lower = String::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = bytes::letters_end(bytes, at);
        if bytes.get(end).is_none_or(u8::is_ascii) {
            if end > at {
                each(Word::plain(bytes, at..end));
            }
            at = end + 1;
            continue;
        }
        // Other letters than those of ASCII are in it, or behind it.
        let rest = &sample[at..];
        let word = &rest[..rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len())];
        if !word.is_empty() {
            lower.clear();
            lower.extend(word.chars().flat_map(char::to_lowercase));
            each(Word::new(lower.as_bytes()).filter(|_| word.len() <= COMMON_BYTES_MAX));
        }
        at += word.len() + rest[word.len()..].chars().next().map_or(0, char::len_utf8);
    }
}

fn count(votes: &mut [u16; LANGUAGES_MAX], mut languages: u64) {
    while languages != 0 {
        votes[languages.trailing_zeros() as usize] += 1;
        languages &= languages - 1;
    }
}

/// The one language that the votes name, or `whatlang`'s choice among several.
fn choose(sample: &str, votes: &[u16; LANGUAGES_MAX], words: usize) -> Option<Lang> {
    let most = usize::from(*votes.iter().max()?);
    if words < WORDS_MIN || most * 10 < words {
        return None;
    }
    let is_near = |votes: u16| usize::from(votes) * 2 > most;
    let near = votes.iter().zip(COMMON).filter(|(votes, _)| is_near(**votes));
    let near: Vec<Lang> = near.map(|(_, (lang, _))| *lang).collect();
    match near[..] {
        [one] => Some(one),
        _ => detected(middle(sample, COMPARED_BYTES_MAX), &Detector::with_allowlist(near)),
    }
}

/// A word of at most `COMMON_BYTES_MAX` bytes in small letters: its first eight bytes, and the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Word(u64, u8);

impl Word {
    fn new(lower: &[u8]) -> Option<Self> {
        let mut eight = [0; 8];
        let (first, rest) = lower.split_at(lower.len().min(8));
        eight[..first.len()].copy_from_slice(first);
        let ninth = rest.first().copied().unwrap_or(0);
        (rest.len() <= 1).then_some(Self(u64::from_le_bytes(eight), ninth))
    }

    /// Of letters of ASCII, of which one bit makes small ones.
    fn plain(bytes: &[u8], word: Range<usize>) -> Option<Self> {
        const LOWER: u64 = 0x20 * EACH;
        let (at, length) = (word.start, word.len());
        match bytes::eight(bytes, at) {
            _ if length > COMMON_BYTES_MAX => None,
            Some(eight) if length >= 8 => {
                Some(Self(eight | LOWER, if length == 8 { 0 } else { bytes[at + 8] | 0x20 }))
            }
            Some(eight) => Some(Self((eight | LOWER) & ((1 << (8 * length)) - 1), 0)),
            None => Self::new(&bytes[word].to_ascii_lowercase()),
        }
    }

    fn hash(self) -> usize {
        let number = self.0 ^ u64::from(self.1) << 29;
        (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize
    }
}

/// Which languages of `COMMON` have a word, a bit for each.
struct SmallWords([(Word, u64); PLACES]);

/// Several times as many as there are words, so that a search ends soon.
const PLACES: usize = 2_048;

impl SmallWords {
    fn get(&self, word: Word) -> u64 {
        self.0[self.place(word)].1
    }

    fn add(&mut self, word: Word, language: usize) {
        let entry = &mut self.0[self.place(word)];
        *entry = (word, entry.1 | 1 << language);
    }

    /// Where this word is, or would be.
    fn place(&self, word: Word) -> usize {
        let mut at = word.hash() % PLACES;
        while self.0[at].1 != 0 && self.0[at].0 != word {
            at = (at + 1) % PLACES;
        }
        at
    }
}

static SMALL_WORDS: LazyLock<Box<SmallWords>> = LazyLock::new(|| {
    let mut words = Box::new(SmallWords([(Word(0, 0), 0); PLACES]));
    for (at, (_, common)) in COMMON.iter().enumerate() {
        let small = common.split(' ').filter_map(|word| Word::new(word.as_bytes()));
        small.for_each(|word| words.add(word, at));
    }
    words
});

const LANGUAGES_MAX: usize = 64;
const _: () = assert!(COMMON.len() <= LANGUAGES_MAX, "one bit each");
/// No word of `COMMON` is longer.
const COMMON_BYTES_MAX: usize = 9;

/// Small words of the languages in Latin script.
const COMMON: &[(Lang, &str)] = &[
    (
        Lang::Eng,
        "the of and to in a is that for it with as was on are be this at by from or an have not you which",
    ),
    (
        Lang::Deu,
        "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus",
    ),
    (
        Lang::Fra,
        "de la le et les des en un du une que est dans qui par pour au sur il pas plus ne ce se avec sont",
    ),
    (
        Lang::Spa,
        "de la que el en y a los se del las un por con no una su para es al lo como más pero sus le",
    ),
    (
        Lang::Por,
        "de a que e do da em um para com não uma os no se na por mais as dos como mas ao das à são",
    ),
    (
        Lang::Ita,
        "di e il la che in a per un è del non una i le con si da dei della nel alla sono come al gli",
    ),
    (
        Lang::Nld,
        "de van het een en in is dat op te zijn met voor niet aan er die om als ook door bij naar maar uit",
    ),
    (
        Lang::Swe,
        "och i att det som en på är av för med till den har de inte om ett var jag men sig från vi",
    ),
    (
        Lang::Dan,
        "og i at det er en til af på for der med den som har de ikke et om var jeg men sig fra også blev",
    ),
    (
        Lang::Nob,
        "og i det er en til av på for som med at den har de ikke et om var jeg men seg fra også ble etter",
    ),
    (
        Lang::Fin,
        "ja on ei se että oli hän mutta ovat kuin myös joka niin mitä tai jos sen ole kun vain minä sitä olla",
    ),
    (
        Lang::Pol,
        "i w na z do się nie że to jest o jak od za po dla przez są ale co oraz był tym już może",
    ),
    (
        Lang::Ces,
        "a se v na je že s z do o i k to jako za by si pro ve jsou ale od po bylo který také",
    ),
    (Lang::Slk, "a sa v na je že s z do o i k to ako za by si pre vo sú ale od po bolo ktorý aj"),
    (
        Lang::Hun,
        "a az és hogy nem is egy ez meg de van csak volt ha már mint vagy még el ezt azt után",
    ),
    (
        Lang::Ron,
        "de și în a la cu o care pe nu din un să este că mai se pentru au fost sau ca prin după ale",
    ),
    (
        Lang::Tur,
        "ve bir bu da de için ile olarak çok daha olan gibi en ne sonra kadar var ama o her mi olduğu",
    ),
    (
        Lang::Ind,
        "yang dan di dengan untuk dari pada ini itu dalam tidak akan ke adalah oleh atau juga sebagai saya",
    ),
    (
        Lang::Vie,
        "và của là có trong cho được với các một không những để người này đã khi từ về như ở đến",
    ),
    (
        Lang::Cat,
        "de la i el que a en les els l d per un amb una és del no al es com més dels són ha",
    ),
    (Lang::Hrv, "i u je se na da za od su s a ne kao o koji što će iz bi ili to samo ali bio te"),
    (Lang::Slv, "in je v se na da za so ki pa z s tudi kot od po bi ne iz to do ali bil še pri"),
    (
        Lang::Est,
        "ja on ei et see oli ka kui ta oma aga mis siis või kes nii veel seda välja pole mitte",
    ),
    (Lang::Lit, "ir į kad yra su iš bet kaip to buvo tai tik jo už apie ar per nuo jau po dėl ne"),
    (Lang::Lav, "un ir ar no par uz kas ka tas arī bija pēc kā lai gan bet vai to es ja viņš"),
    (
        Lang::Afr,
        "die van en in het is nie wat vir met dat om te sy op ek aan ons was sal hulle ook",
    ),
    (Lang::Epo, "la de kaj en estas al ke ne por kun mi li oni ĝi pri sed pli tio kiel iu el"),
    (Lang::Lat, "et in est non ad cum ut qui quae sed ex quod per de aut enim sunt esse hoc eius"),
    (Lang::Tgl, "ang ng sa na mga ay at ni para hindi ito siya kung isang niya ko ako pa may"),
    (Lang::Cym, "y yn a i o ar yr mae ac am wedi oedd ei bod gan hyn eu un fel"),
    (Lang::Uzb, "va bu bilan uchun bir ham deb esa edi lekin u o bo kerak yoki shu"),
    (Lang::Aze, "və bu bir ilə üçün də ki edir olan daha kimi sonra çox var etmək olaraq"),
    (Lang::Tuk, "we bu bir üçin bilen hem da ol şol diýip soň ýaly edip bolan"),
    (Lang::Jav, "ing lan sing kang iku ora saka karo marang dadi wong iki ana"),
    (Lang::Zul, "ukuthi futhi kanye uma noma yini kodwa ngoba kakhulu le lo"),
    (Lang::Sna, "kuti uye kana asi ne mu ku pa izvi iyo vanhu zvakare"),
    (Lang::Aka, "na no a ne sɛ wɔ ho mu so ɛyɛ wo me nso"),
];

/// The codes of languages in ISO 639-1, which has one for all but one of them: Akan's dialects share `ak`.
const CODES: [(Lang, &str); 70] = [
    (Lang::Epo, "eo"),
    (Lang::Eng, "en"),
    (Lang::Rus, "ru"),
    (Lang::Cmn, "zh"),
    (Lang::Spa, "es"),
    (Lang::Por, "pt"),
    (Lang::Ita, "it"),
    (Lang::Ben, "bn"),
    (Lang::Fra, "fr"),
    (Lang::Deu, "de"),
    (Lang::Ukr, "uk"),
    (Lang::Kat, "ka"),
    (Lang::Ara, "ar"),
    (Lang::Hin, "hi"),
    (Lang::Jpn, "ja"),
    (Lang::Heb, "he"),
    (Lang::Yid, "yi"),
    (Lang::Pol, "pl"),
    (Lang::Amh, "am"),
    (Lang::Jav, "jv"),
    (Lang::Kor, "ko"),
    (Lang::Nob, "nb"),
    (Lang::Dan, "da"),
    (Lang::Swe, "sv"),
    (Lang::Fin, "fi"),
    (Lang::Tur, "tr"),
    (Lang::Nld, "nl"),
    (Lang::Hun, "hu"),
    (Lang::Ces, "cs"),
    (Lang::Ell, "el"),
    (Lang::Bul, "bg"),
    (Lang::Bel, "be"),
    (Lang::Mar, "mr"),
    (Lang::Kan, "kn"),
    (Lang::Ron, "ro"),
    (Lang::Slv, "sl"),
    (Lang::Hrv, "hr"),
    (Lang::Srp, "sr"),
    (Lang::Mkd, "mk"),
    (Lang::Lit, "lt"),
    (Lang::Lav, "lv"),
    (Lang::Est, "et"),
    (Lang::Tam, "ta"),
    (Lang::Vie, "vi"),
    (Lang::Urd, "ur"),
    (Lang::Tha, "th"),
    (Lang::Guj, "gu"),
    (Lang::Uzb, "uz"),
    (Lang::Pan, "pa"),
    (Lang::Aze, "az"),
    (Lang::Ind, "id"),
    (Lang::Tel, "te"),
    (Lang::Pes, "fa"),
    (Lang::Mal, "ml"),
    (Lang::Ori, "or"),
    (Lang::Mya, "my"),
    (Lang::Nep, "ne"),
    (Lang::Sin, "si"),
    (Lang::Khm, "km"),
    (Lang::Tuk, "tk"),
    (Lang::Aka, "ak"),
    (Lang::Zul, "zu"),
    (Lang::Sna, "sn"),
    (Lang::Afr, "af"),
    (Lang::Lat, "la"),
    (Lang::Slk, "sk"),
    (Lang::Cat, "ca"),
    (Lang::Tgl, "tl"),
    (Lang::Hye, "hy"),
    (Lang::Cym, "cy"),
];

fn code(lang: Lang) -> &'static str {
    let found = CODES.iter().find(|(known, _)| *known == lang);
    found.expect("every language has a code").1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sentence or two of the Universal Declaration of Human Rights, article 1, or of plain prose.
    const ROWS: &[(&str, &str)] = &[
        (
            "en",
            "All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience.",
        ),
        (
            "de",
            "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt.",
        ),
        (
            "fr",
            "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de conscience.",
        ),
        (
            "es",
            "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y conciencia.",
        ),
        (
            "pt",
            "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão e de consciência, devem agir.",
        ),
        (
            "it",
            "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Essi sono dotati di ragione e di coscienza.",
        ),
        (
            "nl",
            "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren. Zij zijn begiftigd met verstand en geweten.",
        ),
        (
            "sv",
            "Alla människor är födda fria och lika i värde och rättigheter. De har utrustats med förnuft och samvete och bör handla.",
        ),
        (
            "da",
            "Alle mennesker er født frie og lige i værdighed og rettigheder. De er udstyret med fornuft og samvittighed, og de bør handle.",
        ),
        (
            "fi",
            "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. Heille on annettu järki ja omatunto, ja se on niin.",
        ),
        (
            "pl",
            "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i sumieniem.",
        ),
        (
            "cs",
            "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a svědomím a mají spolu jednat.",
        ),
        (
            "hu",
            "Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel és lelkiismerettel bírván, egymással szemben.",
        ),
        (
            "tr",
            "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve birbirlerine karşı bu zihniyet ile.",
        ),
        (
            "vi",
            "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi. Mọi con người đều được tạo hóa ban cho lý trí và lương tâm.",
        ),
        (
            "ru",
            "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью.",
        ),
        (
            "uk",
            "Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом і совістю.",
        ),
        (
            "el",
            "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
        ),
        ("ar", "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا."),
        (
            "ja",
            "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
        ),
        (
            "zh",
            "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。",
        ),
        ("ko", "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다."),
    ];

    #[test]
    fn languages_are_told_from_two_sentences() {
        for (expected, text) in ROWS {
            assert_eq!(language(text, &[]), Some(*expected), "{text}");
        }
    }

    #[test]
    fn what_has_no_language_gets_none() {
        for text in ["", "1 2 3 4 5 6 7 8 9", "Home About Contact", "fn main() { let x = y; }"] {
            assert_eq!(language(text, &[]), None, "{text}");
        }
        let made_up = "gan hol jor ker lin mar nor per qua ring wick ".repeat(30);
        assert_eq!(language(&made_up, &[]), None);
    }

    #[test]
    fn the_main_part_counts_and_not_what_is_around_it() {
        let (frame, main) = (ROWS[0].1, ROWS[1].1);
        let text = format!("{frame}\n{main}\n{frame}");
        let start = frame.len() as u32 + 1;
        let span = start..start + main.len() as u32;
        assert_eq!(language(&text, std::slice::from_ref(&span)), Some("de"));
    }

    #[test]
    fn small_words_are_not_longer_than_is_looked_at() {
        let longest = COMMON.iter().flat_map(|(_, words)| words.split(' ')).map(str::len).max();
        assert!(longest <= Some(COMMON_BYTES_MAX), "{longest:?}");
        let taken = SMALL_WORDS.0.iter().filter(|(_, languages)| *languages != 0).count();
        assert!(taken * 2 < PLACES, "{taken} words");
    }

    proptest::proptest! {
        #[test]
        fn the_sample_is_a_bounded_part_of_any_text(text in "\\PC{0,2000}") {
            let sample = middle(&text, SAMPLE_BYTES_MAX);
            proptest::prop_assert!(sample.len() <= SAMPLE_BYTES_MAX && text.contains(sample));
            language(&text, &[]);
        }
    }
}
