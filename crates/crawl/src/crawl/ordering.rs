//! The order of a crawl's pages, put together: score, board, ranker and its thread.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::error::Result;
use crate::frontier::Board;
use crate::handle::Shared;
use crate::order::hints::Hints;
use crate::order::{self, News, NewsDesk, Ranker, recall};
use crate::plan::Plan;
use crate::readings::Readings;

/// What there is before the ranker begins to listen.
pub(super) struct Ordering {
    desk: NewsDesk,
    inbox: mpsc::Receiver<News>,
    ranker: Ranker,
}

impl Ordering {
    /// Nothing, for the order that the frontier has by itself.
    pub(super) fn new(
        plan: &Plan,
        state: &Path,
        readings: Option<Arc<Readings>>,
    ) -> Result<Option<Self>> {
        let Plan { order, topic, limits, .. } = plan;
        let Some(scoring) = order::score(order, topic, &plan.tuning(), limits)? else {
            return Ok(None);
        };
        let board = Arc::new(Board::new(limits, order.to_string(), order::needs_urls(order)));
        let (desk, inbox) = NewsDesk::new(limits.order_news_max);
        let hints = order::needs_hints(order).then(|| Hints::open(state)).transpose()?;
        let ranker = Ranker::new(scoring, board).noting(readings).heeding(hints);
        Ok(Some(Self { desk, inbox, ranker }))
    }

    /// Where its news go, for the one who has them.
    pub(super) fn take_desk(&mut self) -> NewsDesk {
        std::mem::take(&mut self.desk)
    }

    /// Learns what is known already, has the frontier follow the board, and listens on a thread of its own
    /// until the writer is gone.
    pub(super) fn begin(mut self, shared: &Shared, plan: &Plan) -> Result<JoinHandle<()>> {
        let mut frontier = shared.frontier.hold()?;
        frontier.follow(self.ranker.board().clone());
        recall::recall(&mut self.ranker, &**frontier, &plan.dir, &plan.limits)?;
        drop(frontier);
        let Self { inbox, ranker, .. } = self;
        Ok(spawn_blocking(move || ranker.run(inbox)))
    }
}
