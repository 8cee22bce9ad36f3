//! "Did you mean …?": the known word that is closest to a mistyped one.

/// The closest of the known words, if one is close enough to be meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (word.chars().count() / 3).clamp(1, 3);
    let scored = known.into_iter().map(|candidate| (distance(word, candidate), candidate));
    scored
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours between two words.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    (0..=a.len()).for_each(|i| rows[i][0] = i);
    (0..=b.len()).for_each(|j| rows[0][j] = j);
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_understood_and_nonsense_is_not() {
        let known = ["crawl", "resume", "status", "stop", "why", "delay", "max-pages"];
        let rows = [
            ("crwal", Some("crawl")),
            ("resme", Some("resume")),
            ("dealy", Some("delay")),
            ("max-page", Some("max-pages")),
            ("max_pages", Some("max-pages")),
            ("colour", None),
            ("example", None),
            ("x", None),
        ];
        for (word, expected) in rows {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
    }
}
