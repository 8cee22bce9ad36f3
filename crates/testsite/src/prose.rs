//! Titles and text: plain words for tests and benches, prose for a web that people look at.
//!
//! Sentences are made once and pages are put together from them, so that a page of 30 KB costs a few
//! hundred copies and no thought. Two pages share few sentences: they are no near-duplicates.

use crate::dice::Dice;
use crate::plan::WebPlan;
use crate::theme::{THEMES, Theme};

const PLAIN_SENTENCES: usize = 4_096;
const THEME_SENTENCES: usize = 512;

const WORDS: &str = "river stone window garden letter market winter engine copper silver morning \
    harbour island teacher village thunder candle ladder meadow orchard paper quarry railway saddle \
    timber valley wagon yellow anchor basket cellar desert eleven fabric gallery hammer insect \
    jacket kitchen lantern mirror number office parcel rabbit signal ticket umbrella velvet whistle \
    always behind careful distant early famous gentle hollow ancient junior likely modern narrow \
    open patient quiet rapid simple tender useful various wooden bright carries follows gathers \
    holds keeps leaves meets notices opens passes reaches settles turns visits wonders writes under \
    over between against toward without beside through after before while because although";

/// The words of a web.
#[derive(Debug)]
pub(crate) struct Prose {
    seed: u64,
    themed: bool,
    /// One pool per theme, or a single plain one.
    pools: Vec<Vec<String>>,
}

impl Prose {
    /// Makes the sentences of a plan.
    pub fn new(plan: &WebPlan) -> Self {
        let (seed, themed) = (plan.seed, plan.features.prose);
        let pools = if themed {
            THEMES.iter().map(|theme| themed_pool(theme, seed)).collect()
        } else {
            vec![plain_pool(seed)]
        };
        Self { seed, themed, pools }
    }

    /// Path of page `n` where pages have speaking ones.
    pub fn slug(&self, host: usize, n: usize) -> Option<String> {
        let theme = self.theme(host)?;
        let words = theme.title(n).to_lowercase();
        let words =
            words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let slug = words.collect::<Vec<_>>().join("-");
        Some(format!("/{}/{slug}-{n}", theme.sections[n % theme.sections.len()]))
    }

    /// Title of page `n` of a host.
    pub fn title(&self, host: usize, n: usize) -> String {
        if let Some(theme) = self.theme(host) {
            return if n == 0 { theme.name.to_owned() } else { theme.title(n).to_owned() };
        }
        let mut dice = Dice::of(&[self.seed, 2, host as u64, n as u64]);
        format!("{} {} {n}", plain_word(&mut dice), plain_word(&mut dice))
    }

    /// One sentence for a host.
    pub fn sentence(&self, host: usize, dice: &mut Dice) -> &str {
        let pool = &self.pools[host % self.pools.len()];
        &pool[dice.below(pool.len())]
    }

    /// The words of a link to a path of a host.
    pub fn anchor(&self, host: usize, path: &str, dice: &mut Dice) -> String {
        let Some(theme) = self.theme(host) else {
            return format!("{} {}", plain_word(dice), plain_word(dice));
        };
        let n = path.rsplit('-').next().and_then(|number| number.parse().ok());
        match n.filter(|n| self.slug(host, *n).as_deref() == Some(path)) {
            Some(n) => theme.title(n).to_owned(),
            None if path == "/" => theme.name.to_owned(),
            None => crate::feature::title_of(path),
        }
    }

    fn theme(&self, host: usize) -> Option<&'static Theme> {
        THEMES.get(host).filter(|_| self.themed)
    }
}

fn plain_word(dice: &mut Dice) -> &'static str {
    static SPLIT: std::sync::OnceLock<Vec<&'static str>> = std::sync::OnceLock::new();
    let words = SPLIT.get_or_init(|| WORDS.split_whitespace().collect());
    words[dice.below(words.len())]
}

fn plain_pool(seed: u64) -> Vec<String> {
    let mut dice = Dice::of(&[seed, 3]);
    let mut sentence = || {
        let length = 8 + dice.below(12);
        let words: Vec<_> = (0..length).map(|_| plain_word(&mut dice)).collect();
        format!("The {}. ", words.join(" "))
    };
    (0..PLAIN_SENTENCES).map(|_| sentence()).collect()
}

fn themed_pool(theme: &Theme, seed: u64) -> Vec<String> {
    let mut dice = Dice::of(&[seed, 4, theme.name.len() as u64]);
    let mut sentence = || {
        let year = 1_780 + dice.below(240);
        dice.pick(theme.sentences)
            .replace("{thing}", dice.pick(theme.things))
            .replace("{person}", dice.pick(theme.people))
            .replace("{year}", &year.to_string())
            + " "
    };
    (0..THEME_SENTENCES).map(|_| sentence()).collect()
}
