//! Steering a running crawl from another terminal: one line of JSON each way, over loopback.
//!
//! The running crawl listens on a free port of 127.0.0.1 and leaves the port and a token in
//! `state/control.json`, readable by its owner only. Whoever can read that file may steer the crawl.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use larm_core::scope::FilterSpec;
use larm_core::url::seed;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{interval, timeout};

use crate::change::Change;
use crate::error::{Error, Result};
use crate::frontier::HostsAsked;
use crate::handle::Handle;
use crate::store::durable;

/// Longest request, in bytes.
const CONTROL_BYTES_MAX: u64 = 64 * 1024;

/// Most hosts that are told of at a time.
const HOSTS_MAX: usize = 10_000;

/// How long one exchange may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait until a crawl that was just started listens, and how often to look.
const LISTEN_TICK: Duration = Duration::from_millis(50);
const LISTEN_TICKS_MAX: u32 = 100;

/// Where a running crawl listens.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Address {
    /// Port on 127.0.0.1.
    pub port: u16,
    /// To be sent with each request.
    pub token: String,
    /// Process of the crawl.
    pub pid: u32,
}

/// What can be asked of a running crawl.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum Request {
    /// How it stands.
    Status {
        /// How many hosts in detail.
        hosts: usize,
    },
    /// What each host is doing.
    Hosts(HostsAsked),
    /// What became of a URL.
    Why {
        /// The URL.
        url: String,
    },
    /// Stop leasing.
    Pause,
    /// Go on.
    Resume,
    /// End it.
    Stop,
    /// Settings that were changed while it ran.
    Changes,
    /// How many waiting URLs a rule would remove.
    Preview {
        /// The rule.
        rule: FilterSpec,
        /// How many URLs are looked at.
        urls_max: u64,
    },
    /// Have no more than this, as long as it runs.
    Share {
        /// Fetches at a time.
        places: Option<u64>,
        /// Bytes.
        bytes_per_second: Option<u64>,
    },
    /// Change settings: all of them, or none if one cannot be changed so.
    Set {
        /// Names of settings, and their values.
        changes: Vec<(String, String)>,
    },
}

impl Request {
    /// To change settings.
    pub fn set(changes: &[Change]) -> Self {
        let pair = |change: &Change| (change.key().to_owned(), change.value());
        Self::Set { changes: changes.iter().map(pair).collect() }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Envelope {
    token: String,
    #[serde(flatten)]
    request: Request,
}

/// A crawl's control socket, open as long as this lives.
pub struct Control {
    path: PathBuf,
    /// Ends the task when it is dropped.
    end: Option<oneshot::Sender<()>>,
    task: tokio::task::JoinHandle<()>,
}

impl Control {
    /// Listens for the crawl in `dir`.
    #[expect(clippy::disallowed_methods, reason = "one task per crawl, ended on drop")]
    pub async fn open(dir: &Path, handle: Handle, connections_max: usize) -> Result<Self> {
        let path = dir.join("state").join("control.json");
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(Error::io(&path))?;
        let port = listener.local_addr().map_err(Error::io(&path))?.port();
        let token = uuid::Uuid::new_v4().simple().to_string();
        let address = Address { port, token: token.clone(), pid: std::process::id() };
        write_private(&path, &address)?;
        let (end, ended) = oneshot::channel();
        let task = tokio::spawn(serve(listener, handle, token, connections_max, ended));
        Ok(Self { path, end: Some(end), task })
    }

    /// Closes it, and returns when nobody holds the crawl any more who came this way.
    pub async fn close(mut self) {
        drop(self.end.take());
        let _ended = (&mut self.task).await;
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        // Best effort: a file left behind leads to a refused connection, which is understood.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Asks the crawl that runs in `dir`; `None` if none does.
pub async fn ask(dir: &Path, request: Request) -> Result<Option<Value>> {
    if !crate::directory::in_use(dir) {
        return Ok(None);
    }
    let path = dir.join("state").join("control.json");
    let Ok(bytes) = std::fs::read(&path) else { return Ok(None) };
    let address: Address = serde_json::from_slice(&bytes).map_err(|error| Error::Damaged {
        path: path.clone(),
        offset: 0,
        what: error.to_string(),
    })?;
    let silent = || Error::Stopped("the running crawl does not answer; try again".to_owned());
    let exchange = timeout(PATIENCE, exchange(&address, request)).await.map_err(|_| silent())?;
    // One that ended under way left its lock, too.
    if exchange.is_err() && !crate::directory::in_use(dir) {
        return Ok(None);
    }
    let answer = exchange.map_err(Error::io(&path))?;
    match answer.get("error").and_then(Value::as_str) {
        Some(error) => Err(Error::Plan(error.to_owned())),
        None => Ok(Some(answer)),
    }
}

/// The same, and waits for a crawl that has only just been started, and does not listen yet.
pub async fn ask_patiently(dir: &Path, request: Request) -> Result<Option<Value>> {
    let mut tick = interval(LISTEN_TICK);
    for _ in 0..LISTEN_TICKS_MAX {
        let answer = ask(dir, request.clone()).await?;
        if answer.is_some() || !crate::directory::in_use(dir) {
            return Ok(answer);
        }
        tick.tick().await;
    }
    Ok(None)
}

async fn exchange(address: &Address, request: Request) -> std::io::Result<Value> {
    let mut stream = TcpStream::connect(("127.0.0.1", address.port)).await?;
    let envelope = Envelope { token: address.token.clone(), request };
    let mut line = serde_json::to_vec(&envelope)?;
    line.push(b'\n');
    stream.write_all(&line).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(serde_json::from_slice(&answer)?)
}

async fn serve(
    listener: TcpListener,
    handle: Handle,
    token: String,
    connections_max: usize,
    mut ended: oneshot::Receiver<()>,
) {
    let places = Arc::new(Semaphore::new(connections_max));
    let mut tasks = tokio::task::JoinSet::new();
    let next = async || {
        let place = places.clone().acquire_owned().await.ok()?;
        Some((place, listener.accept().await.ok()?.0))
    };
    loop {
        let next = tokio::select! {
            _ = &mut ended => break,
            next = next() => next,
        };
        let Some((place, stream)) = next else { continue };
        let (handle, token) = (handle.clone(), token.clone());
        tasks.spawn(async move {
            // A caller that goes away in mid-sentence is no concern of the crawl.
            let _ = timeout(PATIENCE, answer(stream, &handle, &token)).await;
            drop(place);
        });
        while tasks.try_join_next().is_some() {}
    }
    tasks.shutdown().await;
}

async fn answer(mut stream: TcpStream, handle: &Handle, token: &str) -> std::io::Result<()> {
    let (read, mut write) = stream.split();
    let mut line = Vec::new();
    let bytes_max = CONTROL_BYTES_MAX;
    BufReader::new(read.take(bytes_max)).read_until(b'\n', &mut line).await?;
    let reply = match serde_json::from_slice::<Envelope>(&line) {
        Ok(envelope) if envelope.token == token => carry_out(handle, envelope.request).await,
        Ok(_) => json!({"error": "wrong token"}),
        Err(error) => json!({"error": format!("not understood: {error}")}),
    };
    write.write_all(&serde_json::to_vec(&reply)?).await?;
    write.shutdown().await
}

async fn carry_out(handle: &Handle, request: Request) -> Value {
    let result = match request {
        Request::Status { hosts } => serde_json::to_value(handle.status(hosts.min(HOSTS_MAX)))
            .map_err(|error| error.to_string()),
        Request::Hosts(asked) => {
            let asked = HostsAsked { most: asked.most.min(HOSTS_MAX), ..asked };
            serde_json::to_value(handle.hosts(&asked)).map_err(|e| e.to_string())
        }
        Request::Why { url } => why(handle, &url),
        Request::Pause => steer(handle, Handle::pause),
        Request::Resume => steer(handle, Handle::resume),
        Request::Stop => steer(handle, Handle::stop),
        Request::Share { places, bytes_per_second } => {
            steer(handle, |handle| handle.share(places, bytes_per_second))
        }
        Request::Changes => Ok(handle.changes()),
        Request::Preview { rule, urls_max } => preview(handle.clone(), rule, urls_max).await,
        Request::Set { changes } => set(handle, &changes).await,
    };
    result.unwrap_or_else(|error| json!({ "error": error }))
}

fn steer(handle: &Handle, command: impl FnOnce(&Handle)) -> Result<Value, String> {
    command(handle);
    Ok(json!({"ok": true}))
}

fn why(handle: &Handle, url: &str) -> Result<Value, String> {
    let rules = handle.shared.rules.read();
    let url = seed(url, rules.url_rules()).map_err(|error| error.to_string())?;
    let explanation = handle.explain(&url).map_err(|error| error.to_string())?;
    serde_json::to_value(explanation).map_err(|error| error.to_string())
}

/// Patterns may be slow, and many URLs wait: not on a thread that others need.
async fn preview(handle: Handle, rule: FilterSpec, urls_max: u64) -> Result<Value, String> {
    let looked = tokio::task::spawn_blocking(move || handle.preview(&rule, urls_max)).await;
    let preview = looked.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    serde_json::to_value(preview).map_err(|error| error.to_string())
}

async fn set(handle: &Handle, changes: &[(String, String)]) -> Result<Value, String> {
    let parsed = changes.iter().map(|(key, value)| Change::parse(key, value));
    let parsed = parsed.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    handle.change_all(parsed).await.map_err(|error| error.to_string())?;
    Ok(json!({"ok": true}))
}

/// Writes the address so that nobody else can read it, not even for a moment.
fn write_private(path: &Path, address: &Address) -> Result<()> {
    let json = serde_json::to_vec(address).expect("three plain fields are JSON");
    durable::replace_private(path, &json)
}
