//! In which order waiting pages are fetched: what the crawl learns, told to a score, and what that says, put on
//! the frontier's board.
//!
//! The line tells where each page leads ([`Told`]), the writer sends that on with what began to wait, once
//! the page is settled ([`News`]), and the [`Ranker`], on a thread of its own, works out what pages are worth
//! by now ([`larm_core::order`]) and keeps the [`Board`](crate::frontier::Board) up to date. By links alone, nobody waits for
//! it: who leases in the meantime goes by what the board says. Where it falls far behind, the crawl does wait
//! (`order_news_max`); and sooner where pages are chosen by what others said ([`unread`](mod@unread)).
//!
//! Breadth-first is the order of the frontier's own places, and needs nothing of this: nothing of it is
//! there then.
//!
//! What is learnt lives in memory alone. A run that goes on learns it anew from the link log ([`recall`]).

pub mod focus;
pub mod hints;
mod ranker;
pub mod recall;
#[cfg(test)]
mod tests;
pub mod unread;

use std::sync::Arc;

use larm_core::Limits;
use larm_core::order::Hint;
use larm_core::order::focus::Topic;
use larm_core::order::{Name, Order, Score, Tuning};
use larm_core::url::Fingerprint;
use larm_graph::LinkFact;
use tokio::sync::{Notify, mpsc};

use crate::error::{Error, Result};
use crate::frontier::Waits;

use self::focus::{PageText, Promises, Reader};
use self::unread::{Mark, Unread};

pub use ranker::Ranker;

/// A page that was fetched, and where it leads.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The page.
    pub page: Fingerprint,
    /// Where its links lead, as far as that may be followed, each once.
    pub links: Vec<Fingerprint>,
    /// To how many pages it leads in all.
    pub degree: u32,
    /// Whether it says something that no other page does.
    pub is_new: bool,
    /// How relevant it was, if an earlier run has read it.
    pub relevance: Option<f32>,
    /// Whether it is a page, and no list of pages that was asked for as such.
    pub is_page: bool,
    /// What it says of pages that it lists, for orders by dates.
    pub hints: Vec<(Fingerprint, Hint)>,
    /// What it says, for orders by text.
    pub text: Option<Box<PageText>>,
}

impl Told {
    /// What a page says. What counts as a link is what counts as one in the graph.
    pub fn of<'a>(page: Fingerprint, facts: impl Iterator<Item = LinkFact<'a>>) -> Self {
        let arcs = facts.filter(LinkFact::is_arc);
        let mut arcs: Vec<(Fingerprint, bool)> =
            arcs.map(|fact| (Fingerprint::of(fact.to), fact.is_rejected())).collect();
        arcs.sort_unstable();
        arcs.dedup_by_key(|(to, _)| *to);
        let degree = u32::try_from(arcs.len()).unwrap_or(u32::MAX);
        let followed = arcs.into_iter().filter(|(_, is_rejected)| !is_rejected);
        let links = followed.map(|(to, _)| to).collect();
        let (hints, is_page) = (Vec::new(), true);
        Self { page, links, degree, is_new: false, relevance: None, is_page, hints, text: None }
    }
}

/// What has happened since the last news.
#[derive(Debug, Default)]
pub struct News {
    /// What began to wait, or waits elsewhere.
    pub waits: Vec<Waits>,
    /// Pages that were settled.
    pub told: Vec<Told>,
    /// Whatever was settled, until this is heard.
    pub unread: Vec<Mark>,
}

impl News {
    fn is_empty(&self) -> bool {
        self.waits.is_empty() && self.told.is_empty() && self.unread.is_empty()
    }

    /// The same, no more than one page at a time. What waits is told first: pages lead to it.
    fn by_page(self) -> Vec<Self> {
        let mut pages: Vec<Self> = self
            .told
            .into_iter()
            .map(|told| Self { told: vec![told], ..Self::default() })
            .collect();
        if pages.is_empty() {
            pages.push(Self::default());
        }
        if let Some(first) = pages.first_mut() {
            first.waits = self.waits;
        }
        // All is heard once the last of it is.
        if let Some(last) = pages.last_mut() {
            last.unread = self.unread;
        }
        pages
    }
}

/// Where news go; nowhere, if nobody wants them.
#[derive(Debug, Default)]
pub struct NewsDesk(Option<mpsc::Sender<News>>);

impl NewsDesk {
    /// A desk, and the inbox of the ranker behind it.
    pub fn new(news_max: u64) -> (Self, mpsc::Receiver<News>) {
        let (sender, inbox) = mpsc::channel(usize::try_from(news_max).unwrap_or(usize::MAX));
        (Self(Some(sender)), inbox)
    }

    /// Hands news over, page by page, and waits where too many pages are not heard of yet.
    pub async fn hand_over(&self, news: News) -> Result<()> {
        let Some(sender) = self.0.as_ref().filter(|_| !news.is_empty()) else { return Ok(()) };
        for news in news.by_page() {
            let gone = |_| Error::Stopped("larm has a bug: the ranker panicked".to_owned());
            sender.send(news).await.map_err(gone)?;
        }
        Ok(())
    }
}

/// What an order is made of.
pub struct Scoring {
    /// What pages are worth.
    pub score: Box<dyn Score>,
    /// Who reads them, for orders by text.
    pub reader: Option<Reader>,
}

/// An order that reads nothing.
impl<S: Score + 'static> From<Box<S>> for Scoring {
    fn from(score: Box<S>) -> Self {
        Self { score, reader: None }
    }
}

/// The score of an order; none where pages come as the frontier has them.
pub fn score(
    order: &Order,
    topic: &Topic,
    tuning: &Tuning,
    limits: &Limits,
) -> Result<Option<Scoring>> {
    // Where something is looked for, somebody has to read the pages, in whatever order they come.
    if *order == Order::by(Name::Breadth) && topic.is_empty() {
        return Ok(None);
    }
    if needs_text(order) && topic.is_empty() {
        let why = format!(
            "the order `{order}` needs something to look for: a query (--query), or examples (--like)"
        );
        return Err(Error::Plan(why));
    }
    let promises = Promises::default();
    let mut by_text = |name| -> Option<Box<dyn Score>> {
        let reads = matches!(name, Name::Query | Name::Like);
        reads.then(|| Box::new(promises.clone()) as Box<dyn Score>)
    };
    let unknown = |name| Error::Plan(format!("a crawl has no order `{name}` yet"));
    let score = order.score(tuning, &mut by_text).map_err(unknown)?;
    let reader = (!topic.is_empty()).then(|| Reader::new(topic, promises, limits));
    Ok(Some(Scoring { score, reader }))
}

/// The pages that an order waits for; none where it does not judge by what pages say.
pub fn unread(order: &Order, wake: &Arc<Notify>) -> Unread {
    if needs_text(order) { Unread::new(wake.clone()) } else { Unread::default() }
}

/// Whether an order judges by URLs.
pub fn needs_urls(order: &Order) -> bool {
    order.parts().iter().any(|(name, _)| name.needs_urls())
}

/// Whether an order judges by what sitemaps and feeds say of pages.
pub fn needs_hints(order: &Order) -> bool {
    order.parts().iter().any(|(name, _)| name.needs_hints())
}

fn needs_text(order: &Order) -> bool {
    order.parts().iter().any(|(name, _)| name.needs_text())
}
