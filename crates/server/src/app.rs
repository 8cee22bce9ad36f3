//! What every request can reach: the settings, the crawls, the launcher; and the layers around all handlers.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use larm_crawl::directory::in_use;
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
use crate::{api, crawls, headers, listen, make, page, share, views};

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
    /// Held while a crawl is made, so that no two take the same name.
    pub(crate) making: Mutex<()>,
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
            making: Mutex::default(),
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

/// Has the launcher do something that may wait for files, where no other request waits with it.
pub(crate) async fn with_launcher<T: Send + 'static>(
    app: &Shared,
    work: impl FnOnce(&dyn Launcher) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let app = app.clone();
    let done = tokio::task::spawn_blocking(move || work(app.launcher()?));
    done.await.map_err(Problem::internal)?
}

/// Has the launcher write into a crawl that does not run. `false` if it runs, maybe since this moment: then it is to be told.
pub(crate) async fn written(
    app: &Shared,
    dir: &Path,
    write: impl FnOnce(&dyn Launcher) -> Result<(), Problem> + Send + 'static,
) -> Result<bool, Problem> {
    if in_use(dir) {
        return Ok(false);
    }
    match with_launcher(app, write).await {
        Err(problem) if problem.status == 409 && in_use(dir) => Ok(false),
        done => done.map(|()| true),
    }
}

/// Everything that is answered. From the outside in: headers, bounds, access, handlers.
pub fn router(app: &Shared) -> Router {
    let (api, document) = api::router().split_for_parts();
    let body_max = usize::try_from(app.settings.limits.server_body_bytes_max).unwrap_or(usize::MAX);
    api.merge(api::document(document))
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
        () = warmed(app) => {}
    }
}

async fn warmed(app: &Shared) {
    views::warm(app).await;
    std::future::pending().await
}

/// Tells the crawls that this server started to stop, and waits for that; they go on with the next server. Says how
/// many there were.
pub async fn farewell(app: &Shared) -> usize {
    app.keeper.farewell().await
}
