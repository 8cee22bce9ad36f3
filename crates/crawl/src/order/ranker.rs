//! Hears what the crawl learns, and keeps the board up to date.

use std::sync::Arc;

use larm_core::order::Hint;
use larm_core::order::{Facts, Leads, Score};
use larm_core::url::Fingerprint;
use tokio::sync::mpsc;

use super::focus::Reader;
use super::hints::Hints;
use super::{News, Scoring, Told};
use crate::frontier::{Board, KeyMap, Waits};
use crate::readings::Readings;

/// News that are heard before what is computed over all pages is looked after.
const BATCH: usize = 64;

/// A score, and the board that shows what it says. The only one who puts URLs there.
pub struct Ranker {
    score: Box<dyn Score>,
    reader: Option<Reader>,
    board: Arc<Board>,
    /// Where it is noted how relevant pages are.
    readings: Option<Arc<Readings>>,
    /// Where it is kept what lists say of pages.
    hints: Option<Hints>,
    /// Room for the numbers of a page's links, and of pages whose worth has changed.
    links: Vec<u32>,
    changed: Vec<u32>,
}

impl Ranker {
    /// Nothing is known yet.
    pub fn new(scoring: impl Into<Scoring>, board: Arc<Board>) -> Self {
        let Scoring { score, reader } = scoring.into();
        Self {
            score,
            reader,
            board,
            readings: None,
            hints: None,
            links: Vec::new(),
            changed: Vec::new(),
        }
    }

    /// The same, which takes note of how relevant the pages are that it hears of.
    pub fn noting(self, readings: Option<Arc<Readings>>) -> Self {
        Self { readings, ..self }
    }

    /// The same, which knows what lists have said, and takes note of what they say.
    pub fn heeding(self, hints: Option<Hints>) -> Self {
        Self { hints, ..self }
    }

    /// The board that it keeps.
    pub fn board(&self) -> &Arc<Board> {
        &self.board
    }

    /// Listens until nobody has news any more. For a thread of its own.
    pub fn run(mut self, mut inbox: mpsc::Receiver<News>) {
        let mut unread = Vec::new();
        while let Some(news) = inbox.blocking_recv() {
            self.hear(&news);
            unread.extend(news.unread);
            for _ in 0..BATCH {
                let Ok(more) = inbox.try_recv() else { break };
                self.hear(&more);
                unread.extend(more.unread);
            }
            self.catch_up();
            unread.clear();
        }
    }

    /// Takes note of news.
    pub fn hear(&mut self, news: &News) {
        news.waits.iter().for_each(|waits| self.hear_of(waits));
        for told in &news.told {
            self.heed(&told.hints);
            if !told.is_page {
                continue;
            }
            let relevance = self.learn(told);
            self.note(told, relevance);
        }
    }

    /// A URL waits.
    pub fn hear_of(&mut self, waits: &Waits) {
        let facts = Facts { depth: waits.depth, url: waits.text.as_deref() };
        let score = &mut self.score;
        let number = self.board.meet(waits.url, |number| score.found(number, &facts));
        self.board.put(number, waits, self.score.worth(number));
    }

    /// A URL of which is known what it is called and how far from a seed it is.
    pub fn introduce(&mut self, url: &str, depth: u32) {
        let (score, facts) = (&mut self.score, Facts { depth, url: Some(url) });
        self.board.meet(Fingerprint::of(url), |number| score.found(number, &facts));
    }

    /// What a URL is worth by now; nothing, if it is not known, or was forgotten.
    pub fn worth(&self, url: Fingerprint) -> f32 {
        self.board.number(url).map_or(0.0, |number| self.score.worth(number))
    }

    /// A page was fetched. How relevant it is, from 0 to 1.
    pub fn learn(&mut self, told: &Told) -> f32 {
        let (score, board) = (&mut self.score, &self.board);
        let mut meet = |url| board.meet(url, |number| score.found(number, &Facts::default()));
        let page = meet(told.page);
        self.links.clear();
        self.links.extend(told.links.iter().map(|to| meet(*to)));
        // Where numbers are scarce, one may have gone to another link of the same page.
        self.links.sort_unstable();
        self.links.dedup();
        self.board.leave(told.page);
        self.changed.clear();
        let relevance = self.read(told);
        if let Some(reader) = &self.reader {
            reader.keep_promise(page, relevance);
        }
        let leads = Leads { page, links: &self.links, degree: told.degree, relevance };
        self.score.fetched(&leads, &mut self.changed);
        self.changed.push(page);
        self.board.update(&self.changed, |number| self.score.worth(number));
        relevance
    }

    /// Lists say something of pages.
    fn heed(&mut self, hints: &[(Fingerprint, Hint)]) {
        self.changed.clear();
        for &(url, hint) in hints {
            let score = &mut self.score;
            let page = self.board.meet(url, |number| score.found(number, &Facts::default()));
            score.hinted(page, hint);
            self.changed.push(page);
            if let Some(kept) = &mut self.hints {
                kept.note(url, hint);
            }
        }
        self.board.update(&self.changed, |number| self.score.worth(number));
    }

    /// Hears again what lists have said of pages that wait.
    pub fn recall_hints(&mut self, hints_max: u64) {
        let Some(hints) = &self.hints else { return };
        hints.last(hints_max, |url, hint| {
            if let Some(page) = self.board.number(url) {
                self.score.hinted(page, hint);
                self.board.update(&[page], |number| self.score.worth(number));
            }
        });
    }

    /// What is not new comes to nothing, however relevant it is.
    fn note(&self, told: &Told, relevance: f32) {
        if let (Some(readings), Some(_)) = (&self.readings, &self.reader) {
            readings.note(told.page, if told.is_new { relevance } else { 0.0 });
        }
    }

    /// How relevant a page is. Where nothing is looked for, all are.
    fn read(&mut self, told: &Told) -> f32 {
        match (&mut self.reader, &told.text) {
            (None, _) => 1.0,
            (Some(reader), Some(page)) => reader.read(page, &self.board),
            (Some(_), None) => told.relevance.unwrap_or_default(),
        }
    }

    /// How relevant the last pages of earlier runs were, where that matters.
    pub fn earlier_readings(&self, pages_max: u64) -> KeyMap<Fingerprint, f32> {
        let readings = self.readings.as_ref().filter(|_| self.reader.is_some());
        readings.map(|readings| readings.last(pages_max)).unwrap_or_default()
    }

    /// Who reads pages, if anybody does, and the board.
    pub fn reader(&mut self) -> Option<(&mut Reader, &Board)> {
        self.reader.as_mut().map(|reader| (reader, &*self.board))
    }

    /// Computes anew what is computed over all pages.
    pub fn work_out(&mut self) {
        self.score.refresh();
    }

    /// Computes anew what is computed over all pages, if that is due.
    pub fn catch_up(&mut self) {
        let is_due = self.score.is_due();
        if is_due {
            self.score.refresh();
        }
        let looked_up = self.reader.as_mut().is_some_and(|reader| reader.look_up(&self.board));
        if is_due || looked_up {
            self.board.update_all(|number| self.score.worth(number));
        }
    }
}
