//! The order of what was found: text and links together, near-duplicates behind the best of them.

use std::collections::HashMap;

use tantivy::DocAddress;

/// How much links can add to a score, at the most: a share of it.
pub(crate) const LINKS_SHARE: f32 = 0.3;

/// A page that was found.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub doc: DocAddress,
    pub url_key: u64,
    /// The page that it is nearly the same as.
    pub near: Option<u64>,
    /// What its text is worth.
    pub text: f32,
    pub links: Links,
    /// Near-duplicates behind it.
    pub similar: usize,
}

/// What links say of a page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Links {
    /// 1 is the average page.
    pub importance: f32,
    /// Links that were counted, where no graph says more.
    pub counted: Option<u64>,
}

impl Links {
    /// What a score is multiplied by, from 1 to 1.3: an average page gets half of what there is, and no
    /// number of links makes up for a page that says something else.
    pub fn factor(self) -> f32 {
        1.0 + LINKS_SHARE * self.importance / (1.0 + self.importance)
    }
}

impl Candidate {
    /// Its place is decided by this.
    pub fn score(&self) -> f32 {
        self.text * self.links.factor()
    }
}

/// Candidates in order.
pub(crate) struct Ranked {
    pub shown: Vec<Candidate>,
    /// How many are behind others.
    pub similar: usize,
}

/// Puts candidates in order, and those that are nearly the same behind the best of them.
pub(crate) fn rank(mut found: Vec<Candidate>) -> Ranked {
    found.sort_by(|a, b| b.score().total_cmp(&a.score()).then(a.url_key.cmp(&b.url_key)));
    let mut kinds = Kinds::of(&found);
    let mut places: HashMap<u64, usize> = HashMap::new();
    let mut ranked = Ranked { shown: Vec::new(), similar: 0 };
    for candidate in found {
        let kind = kinds.of_page(candidate.url_key);
        match places.get(&kind) {
            Some(place) => {
                ranked.shown[*place].similar += 1;
                ranked.similar += 1;
            }
            None => {
                places.insert(kind, ranked.shown.len());
                ranked.shown.push(candidate);
            }
        }
    }
    ranked
}

/// Which pages are nearly the same: a page may be like one that is like a third.
struct Kinds(HashMap<u64, u64>);

impl Kinds {
    fn of(found: &[Candidate]) -> Self {
        let mut kinds = Self(HashMap::new());
        let pairs = found.iter().filter_map(|page| Some((page.url_key, page.near?)));
        for (page, near) in pairs {
            let (page, near) = (kinds.of_page(page), kinds.of_page(near));
            if page != near {
                kinds.0.insert(page.max(near), page.min(near));
            }
        }
        kinds
    }

    /// The smallest number of its kind; towards it they only get smaller, so this ends.
    fn of_page(&mut self, mut page: u64) -> u64 {
        while let Some(next) = self.0.get(&page) {
            page = *next;
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(url_key: u64, near: Option<u64>, text: f32, importance: f32) -> Candidate {
        let links = Links { importance, counted: None };
        let doc = DocAddress { segment_ord: 0, doc_id: 0 };
        Candidate { doc, url_key, near, text, links, similar: 0 }
    }

    fn order(found: Vec<Candidate>) -> Vec<(u64, usize)> {
        let ranked = rank(found);
        ranked.shown.iter().map(|page| (page.url_key, page.similar)).collect()
    }

    #[test]
    fn links_decide_between_pages_that_say_the_same_and_no_more() {
        let found =
            vec![page(1, None, 10.0, 0.0), page(2, None, 10.0, 5.0), page(3, None, 5.0, 1e9)];
        assert_eq!(order(found), [(2, 0), (1, 0), (3, 0)]);
    }

    #[test]
    fn near_duplicates_stand_behind_the_best_of_them() {
        let found = vec![
            page(1, None, 5.0, 0.0),
            page(2, Some(1), 9.0, 0.0),
            page(3, Some(2), 4.0, 0.0),
            page(4, Some(99), 3.0, 0.0),
            page(5, Some(99), 2.0, 0.0),
            page(6, None, 1.0, 0.0),
        ];
        assert_eq!(order(found), [(2, 2), (4, 1), (6, 0)]);
    }
}
