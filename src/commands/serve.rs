//! `larm serve`: the server, from arguments to its end.

use std::fs::{File, TryLockError};
use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use larm_core::scope::Target;
use larm_crawl::store::durable;
use larm_crawl::{directory, files};
use larm_server::access::token;
use larm_server::wanted::OWN_DIR;
use larm_server::{App, Settings, Shared, app};
use tokio::net::TcpListener;

use super::drive::Signals;
use crate::cli::{RunArgs, ServeArgs};
use crate::config::{self, merge, plan};
use crate::console::Console;
use crate::exit::{Exit, shown, usage};
use crate::human;
use crate::server::Program;
use crate::server::policy::Policy;

/// Where the server's own token is kept, below the root.
const TOKEN_FILE: &str = "token";

/// Held by the server that looks after a root.
const LOCK_FILE: &str = "lock";

/// Serves until it is told to end.
pub fn serve(args: ServeArgs) -> Result<Exit> {
    let run = RunArgs::default();
    let console = Console::new(&run);
    console.start_log(&run);
    let settings = settings(&args)?;
    let _lock = settings.root.as_deref().map(lock_root).transpose()?;
    let program = program(&args)?;
    files::raise_limit();
    super::block_on(async move {
        let listener = TcpListener::bind(args.listen.0).await;
        let listener = listener.with_context(|| cannot_listen(args.listen.0))?;
        let at = listener.local_addr()?;
        let settings = Settings { listen: Some(at), ..settings };
        tell_start(&settings, at, args.token.is_some())?;
        let app = App::new(settings, Some(Box::new(program)));
        run_until_told(&app, listener, &console).await;
        Ok(Exit::Done)
    })
}

async fn run_until_told(app: &Shared, listener: TcpListener, console: &Console) {
    let mut signals = Signals::new();
    app::run(app, listener, signals.next()).await;
    if app.settings.leave_running {
        console.say("the server has ended; crawls that run go on by themselves");
        return;
    }
    console.say("ending: crawls are being stopped; they go on when the server does");
    let stopped = tokio::select! {
        stopped = app::farewell(app) => stopped,
        () = signals.next() => return console.say("leaving at once; crawls that run go on by themselves"),
    };
    if stopped > 0 {
        let crawls = human::counted(stopped as u64, "crawl was stopped", "crawls were stopped");
        console.say(format!("{crawls}, with everything kept"));
    }
}

/// What to say if an address is taken.
fn cannot_listen(at: SocketAddr) -> String {
    format!("cannot listen on {at}; name another address with --listen")
}

fn program(args: &ServeArgs) -> Result<Program> {
    let read = |text: &String| {
        text.parse::<Target>().map_err(|error| usage(format!("--allow-target: {error}")))
    };
    let targets = args.allow_target.iter().map(read).collect::<Result<_>>()?;
    let policy = Policy { trusted: args.trusted, targets };
    Ok(Program { policy, targets: args.allow_target.clone() })
}

/// What was typed → what the server is told.
fn settings(args: &ServeArgs) -> Result<Settings> {
    let root = root_of(args)?;
    let dirs = args.dirs.iter().map(|dir| whole(dir)).collect::<Result<Vec<_>>>()?;
    dirs.iter().try_for_each(|dir| directory::identify(dir).map(drop))?;
    if !args.public_search {
        refuse_blank(args.token.as_deref())?;
        refuse_open_door(args.listen.0, args.token.as_deref())?;
    }
    let token = match (&args.token, args.public_search) {
        (_, true) => None,
        (Some(token), _) => Some(token.clone()),
        (None, _) => Some(own_token(root.as_deref())?),
    };
    Ok(Settings {
        dirs,
        root,
        public_search: args.public_search,
        token,
        listen: Some(args.listen.0),
        hosts: args.host.clone(),
        confined_to: args.allow_target.clone(),
        concurrency_max: args.concurrency_max,
        bandwidth_max: args.bandwidth_max.map(|size| size.0),
        leave_running: args.leave_running,
        limits: limits(args)?,
    })
}

fn limits(args: &ServeArgs) -> Result<larm_core::Limits> {
    let mut settings = config::Settings { limit: args.limit.clone(), ..Default::default() };
    merge::fold_limits(&mut settings)?;
    plan::limits(&settings)
}

/// With no directory named, the one that we are in is the root; one that holds crawls, or nothing else to harm.
fn root_of(args: &ServeArgs) -> Result<Option<PathBuf>> {
    let here = || PathBuf::from(".");
    let named = args.root.clone().or_else(|| args.dirs.is_empty().then(here));
    let Some(root) = named else { return Ok(None) };
    durable::create_dir(&root)?;
    Ok(Some(whole(&root)?))
}

fn whole(path: &Path) -> Result<PathBuf> {
    path.canonicalize().with_context(|| format!("{}", path.display()))
}

/// One server looks after a root: two would start and stop each other's crawls.
fn lock_root(root: &Path) -> Result<File> {
    let own = root.join(OWN_DIR);
    durable::create_dir(&own)?;
    let path = own.join(LOCK_FILE);
    let file = File::create(&path).with_context(|| format!("{}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(usage(format!(
            "another `larm serve` looks after the crawls in {}: open its page, or name another --root",
            shown(root)
        ))),
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("{}", path.display()))
        }
    }
}

/// A variable that is empty by mistake must not open the door to everybody.
fn refuse_blank(given: Option<&str>) -> Result<()> {
    match given.is_some_and(|token| token.trim().is_empty()) {
        true => Err(usage(
            "the token is empty: give one with LARM_TOKEN or --token, or leave both out, and a random one is made",
        )),
        false => Ok(()),
    }
}

/// Other machines get in with a token that somebody chose to give them, or not at all.
pub fn refuse_open_door(at: SocketAddr, given: Option<&str>) -> Result<()> {
    match given {
        _ if at.ip().is_loopback() => Ok(()),
        None => Err(usage(format!(
            "{at} can be reached from other machines, so the token must be yours: set LARM_TOKEN, or use \
             --token. Better: stay on 127.0.0.1 with a proxy in front that speaks TLS (docs/server.md)"
        ))),
        Some(text) if !token::is_long(text) => Err(usage(
            "a token that other machines can try needs 16 characters at least, random ones: \
             `openssl rand -hex 32` makes some",
        )),
        Some(_) => Ok(()),
    }
}

/// A random token. Where there is a root it is kept there, for its owner's eyes alone, so that links stay good.
fn own_token(root: Option<&Path>) -> Result<String> {
    let Some(root) = root else { return Ok(token::random()) };
    let path = root.join(OWN_DIR).join(TOKEN_FILE);
    if let Some(kept) =
        std::fs::read_to_string(&path).ok().filter(|kept| token::is_long(kept.trim()))
    {
        return Ok(kept.trim().to_owned());
    }
    let new = token::random();
    durable::create_dir(&root.join(OWN_DIR))?;
    durable::replace_private(&path, new.as_bytes())?;
    Ok(new)
}

/// The link goes to standard output, and nowhere else: it is the key.
fn tell_start(settings: &Settings, at: SocketAddr, is_given: bool) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let token = settings.token.as_deref().filter(|_| !is_given);
    writeln!(out, "{}", link(at, token))?;
    out.flush()?;
    if !std::io::stderr().is_terminal() {
        return Ok(());
    }
    let crawls = settings.root.as_deref().map(|root| format!("crawls in {}", shown(root)));
    let crawls =
        crawls.unwrap_or_else(|| human::counted(settings.dirs.len() as u64, "crawl", "crawls"));
    writeln!(std::io::stderr(), "serving {crawls}; open the link above, Ctrl-C ends it")?;
    Ok(())
}

/// Where to open the page. A token that was given is known already, and not repeated.
pub fn link(at: SocketAddr, token: Option<&str>) -> String {
    let at = match at.ip().is_unspecified() {
        true => SocketAddr::new(std::net::Ipv4Addr::LOCALHOST.into(), at.port()),
        false => at,
    };
    match token {
        Some(token) => format!("http://{at}/?token={token}"),
        None => format!("http://{at}/"),
    }
}
