//! What every request can reach: the settings, the crawls, the launcher; and the layers around all handlers.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::access::{self, Access};
use crate::answers::{self, Places};
use crate::keeper::Keeper;
use crate::launch::Launcher;
use crate::live::Live;
use crate::problem::Problem;
use crate::settings::Settings;
use crate::views::Views;
use crate::{api, crawls, headers, listen, make, metrics, page, share};

/// A server.
pub struct App {
    /// How it is to behave.
    pub settings: Settings,
    /// Starts crawls; `None` if only what is there can be looked at.
    pub launcher: Option<Box<dyn Launcher>>,
    /// What is kept for looking at crawls.
    pub views: Views,
    /// Who may ask.
    pub(crate) access: Access,
    /// How many may ask at a time.
    pub(crate) places: Places,
    /// What should be running.
    pub(crate) keeper: Keeper,
    /// Who listens to what.
    pub(crate) live: Live,
    /// Whether the server is about to end.
    pub(crate) closing: watch::Sender<bool>,
}

/// The server as its handlers see it.
pub type Shared = Arc<App>;

impl App {
    /// A server that does not listen yet.
    pub fn new(settings: Settings, launcher: Option<Box<dyn Launcher>>) -> Shared {
        let limits = &settings.limits;
        Arc::new(Self {
            access: Access::new(&settings),
            places: Places::new(limits.server_requests_max, limits.server_request_ms_max),
            keeper: Keeper::new(&settings),
            live: Live::new(limits.server_events_max, limits.server_events_waiting_max),
            closing: watch::Sender::new(false),
            views: Views::new(limits),
            settings,
            launcher,
        })
    }

    /// The directory of the crawl with this id.
    pub fn dir(&self, id: &str) -> Result<PathBuf, Problem> {
        crawls::find(&self.settings, id)
    }

    /// What starts crawls, if anything does.
    pub(crate) fn launcher(&self) -> Result<&dyn Launcher, Problem> {
        self.launcher.as_deref().ok_or_else(|| {
            Problem::conflict("This server only shows crawls.")
                .hint("`larm serve --root DIR` makes and starts them.")
        })
    }
}

/// Everything that is answered. From the outside in: headers, bounds, access, handlers.
pub fn router(app: &Shared) -> Router {
    let (api, document) = api::router().split_for_parts();
    let body_max = usize::try_from(app.settings.limits.server_body_bytes_max).unwrap_or(usize::MAX);
    api.merge(api::document(document))
        .merge(metrics::router())
        .merge(api::replay::pages())
        .merge(page::router())
        .layer(DefaultBodyLimit::max(body_max))
        .layer(from_fn_with_state(app.clone(), access::guard))
        .layer(from_fn_with_state(app.clone(), answers::bound))
        .layer(from_fn(headers::add))
        .with_state(app.clone())
}

/// Answers until `end` comes, and looks after crawls meanwhile.
pub async fn run(app: &Shared, listener: TcpListener, end: impl Future<Output = ()>) {
    let limits = &app.settings.limits;
    make::empty_bin(app);
    let keeping = app.keeper.keep(app);
    let serving = listen::serve(listener, router(app), limits, &app.closing, end);
    tokio::select! {
        () = serving => {}
        () = keeping => {}
        () = share::keep_sharing(app) => {}
    }
}

/// Tells the crawls that this server started to stop, and waits for that; they go on with the next server. Says how
/// many there were.
pub async fn farewell(app: &Shared) -> usize {
    app.keeper.farewell().await
}
