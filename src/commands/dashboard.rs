//! `larm crawl --dashboard`: the page for one crawl, as long as it runs, within its process.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, Result};
use larm_server::access::token;
use larm_server::{App, Settings, Shared, app};
use tokio::net::TcpListener;

use super::serve::{link, refuse_open_door};
use crate::cli::Dashboard;
use crate::console::Console;
use crate::server::policy::Policy;
use crate::server::{Program, TOKEN_VARIABLE};

/// Listens there. Where another crawl shows its page at the usual address, any free port is as good.
async fn listen(at: SocketAddr) -> Result<TcpListener> {
    match TcpListener::bind(at).await {
        Err(error) if at == Dashboard::USUAL && error.kind() == ErrorKind::AddrInUse => {
            TcpListener::bind((at.ip(), 0)).await.context("cannot listen for the dashboard")
        }
        listener => {
            let hint = "name another address with --dashboard=ADDRESS";
            listener.with_context(|| format!("cannot listen on {at}; {hint}"))
        }
    }
}

/// The page of a crawl, ready to be served.
pub struct Page(Option<(Shared, TcpListener)>);

impl Page {
    /// Listens, if that is wanted, and says where.
    pub async fn open(wanted: Option<Dashboard>, dir: &Path, console: &Console) -> Result<Self> {
        let Some(Dashboard(Some(at))) = wanted else { return Ok(Self(None)) };
        let given = std::env::var(TOKEN_VARIABLE).ok().filter(|token| !token.is_empty());
        refuse_open_door(at, given.as_deref())?;
        let token = given.clone().unwrap_or_else(token::random);
        let listener = listen(at).await?;
        let at: SocketAddr = listener.local_addr()?;
        let settings = Settings {
            dirs: vec![dir.canonicalize()?],
            token: Some(token.clone()),
            listen: Some(at),
            ..Settings::default()
        };
        let program = Program { policy: Policy::default(), targets: Vec::new() };
        let shown = Some(token.as_str()).filter(|_| given.is_none());
        console.say(format!("watch it at {}", link(at, shown)));
        let app = App::new(settings, Some(Box::new(program)));
        Ok(Self(Some((app, listener))))
    }

    /// Serves it for good, or does nothing for good.
    pub async fn serve(self) {
        if let Some((app, listener)) = self.0 {
            app::run(&app, listener, std::future::pending()).await;
        }
        std::future::pending().await
    }
}
