//! The links of the pages that were fetched, in the order of fetching.
//!
//! Four bytes a link and twelve a page. Where there is no more room, further pages are not taken: their
//! links are not known here, which whoever asked is told.

/// Stands for a page without a row, and for a row without a page.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone)]
pub(super) struct Arcs {
    rows: Vec<Row>,
    targets: Vec<u32>,
    /// The row of each page.
    row_of: Vec<u32>,
    /// Links in rows without a page.
    dead: usize,
    arcs_max: usize,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    page: u32,
    /// Links in all, those to pages without a number included.
    degree: u32,
    end: usize,
}

impl Arcs {
    pub(super) fn new(arcs_max: u64) -> Self {
        let arcs_max = usize::try_from(arcs_max).unwrap_or(usize::MAX);
        Self { rows: Vec::new(), targets: Vec::new(), row_of: Vec::new(), dead: 0, arcs_max }
    }

    /// Takes the links of a page; whether there was room. Of a page that is fetched again, the links
    /// stay that it had.
    pub(super) fn push(&mut self, leads: &super::Leads<'_>) -> bool {
        if *super::at(&mut self.row_of, leads.page, NONE) != NONE {
            return true;
        }
        if self.dead > self.arcs_max / 4 {
            self.compact();
        }
        if self.targets.len() + leads.links.len() > self.arcs_max {
            return false;
        }
        self.targets.extend_from_slice(leads.links);
        self.row_of[leads.page as usize] = self.rows.len() as u32;
        let degree = leads.degree.max(leads.links.len() as u32);
        self.rows.push(Row { page: leads.page, degree, end: self.targets.len() });
        true
    }

    /// Forgets the links of a page, whose number gets another.
    pub(super) fn forget(&mut self, page: u32) {
        let row = std::mem::replace(super::at(&mut self.row_of, page, NONE), NONE) as usize;
        if row == NONE as usize {
            return;
        }
        let begin = row.checked_sub(1).map_or(0, |before| self.rows[before].end);
        self.dead += self.rows[row].end - begin;
        self.rows[row].page = NONE;
    }

    /// Every page with its degree and its links.
    pub(super) fn rows(&self) -> impl Iterator<Item = (u32, u32, &[u32])> {
        let mut begin = 0;
        let rows = self.rows.iter().map(move |row| {
            let links = &self.targets[std::mem::replace(&mut begin, row.end)..row.end];
            (row.page, row.degree, links)
        });
        rows.filter(|(page, _, _)| *page != NONE)
    }

    fn compact(&mut self) {
        let kept: Vec<(u32, u32, Vec<u32>)> =
            self.rows().map(|(page, degree, links)| (page, degree, links.to_vec())).collect();
        (self.rows, self.targets, self.dead) = (Vec::new(), Vec::new(), 0);
        for (page, degree, links) in kept {
            self.row_of[page as usize] = self.rows.len() as u32;
            self.targets.extend(links);
            self.rows.push(Row { page, degree, end: self.targets.len() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Leads;

    fn pages(arcs: &Arcs) -> Vec<(u32, Vec<u32>)> {
        arcs.rows().map(|(page, _, links)| (page, links.to_vec())).collect()
    }

    #[test]
    fn what_is_beyond_the_room_is_not_taken_until_something_is_forgotten() {
        let mut arcs = Arcs::new(4);
        assert!(arcs.push(&Leads::new(0, &[1, 2])) && arcs.push(&Leads::new(1, &[0, 2])));
        assert!(!arcs.push(&Leads::new(2, &[0])), "there is no room");
        assert!(arcs.push(&Leads::new(0, &[2])), "its links are known");
        arcs.forget(0);
        assert!(arcs.push(&Leads::new(2, &[0])));
        assert_eq!(pages(&arcs), [(1, vec![0, 2]), (2, vec![0])]);
        arcs.forget(2);
        arcs.forget(2);
        assert_eq!(pages(&arcs), [(1, vec![0, 2])]);
    }
}
