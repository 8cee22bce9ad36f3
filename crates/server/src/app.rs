//! What every request can reach: the settings, the crawls, the launcher.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;

use crate::launch::Launcher;
use crate::problem::Problem;
use crate::settings::Settings;
use crate::views::Views;
use crate::{api, crawls, page};

/// A server, before it listens.
pub struct App {
    /// How it is to behave.
    pub settings: Settings,
    /// Starts crawls; `None` if only what is there can be looked at.
    pub launcher: Option<Box<dyn Launcher>>,
    /// What is kept for looking at crawls.
    pub views: Views,
}

/// The server as its handlers see it.
pub type Shared = Arc<App>;

impl App {
    /// The directory of the crawl with this id.
    pub fn dir(&self, id: &str) -> Result<PathBuf, Problem> {
        crawls::find(&self.settings, id)
    }

    /// Everything that is answered.
    pub fn router(self) -> Router {
        let app: Shared = Arc::new(self);
        let (api, document) = api::router().split_for_parts();
        api.merge(api::document(document)).merge(page::router()).with_state(app)
    }
}
