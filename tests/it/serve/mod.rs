//! `larm serve`: the real binary, asked over real sockets, crawling the test web.

mod attacks;
mod bounds;
mod http;
mod lifecycle;
mod page;
mod steering;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use larm_testsite::{Features, WebPlan};
use serde_json::{Value, json};

use self::http::{Answer, PATIENCE, Request};
use crate::larm::listen_to;
use crate::world::World;

/// What opens every server of these tests.
const TOKEN: &str = "a-token-for-tests-0123456789";

/// A server, ended with the test.
struct Server {
    child: Child,
    at: SocketAddr,
    /// What it printed on standard output at the start.
    link: String,
    /// Gets what it said on standard error when it has ended.
    ended: Receiver<String>,
}

impl Server {
    /// Starts it over `root` with the token of these tests, trusting whoever has it.
    fn start(root: &Path) -> Self {
        Self::with(root, &["--trusted", "--token", TOKEN])
    }

    fn with(root: &Path, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--root"]).arg(root).args(more);
        Self::of(command.env_remove("LARM_TOKEN"))
    }

    fn of(command: &mut Command) -> Self {
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let ended = listen_to(&mut child);
        let mut link = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut link).expect("a link");
        let at =
            link.trim_start_matches("http://").split('/').next().and_then(|at| at.parse().ok());
        let Some(at) = at else { panic!("no link: {link:?} {:?}", ended.recv_timeout(PATIENCE)) };
        Self { child, at, link, ended }
    }

    fn request(&self, method: &'static str, path: &str) -> Request {
        Request::new(method, &format!("/api/v1{path}"))
            .header("Authorization", &format!("Bearer {TOKEN}"))
    }

    #[track_caller]
    fn get(&self, path: &str) -> Answer {
        self.request("GET", path).send(self.at)
    }

    #[track_caller]
    fn post(&self, path: &str, body: &Value) -> Answer {
        self.request("POST", path).json(body).send(self.at)
    }

    #[track_caller]
    fn patch(&self, path: &str, body: &Value) -> Answer {
        self.request("PATCH", path).json(body).send(self.at)
    }

    #[track_caller]
    fn delete(&self, path: &str) -> Answer {
        self.request("DELETE", path).send(self.at)
    }

    /// Makes and starts a crawl of the world, and says its id.
    #[track_caller]
    fn crawl(&self, world: &World, more: Value) -> String {
        let answer =
            self.post("/crawls", &json!({"name": "web", "settings": settings(world, more)}));
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()["id"].as_str().expect("an id").to_owned()
    }

    /// Asks for a crawl until it is as wanted.
    #[track_caller]
    fn wait_for(&self, id: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let started = now();
        loop {
            let answer = self.get(&format!("/crawls/{id}"));
            let crawl = answer.json();
            if is_so(&crawl) {
                return crawl;
            }
            assert!(started.elapsed() < PATIENCE, "not {what} in time: {crawl:#}");
            self.pause();
        }
    }

    #[track_caller]
    fn wait_for_state(&self, id: &str, state: &str) -> Value {
        self.wait_for(id, state, |crawl| crawl["state"] == state)
    }

    /// A moment, unless the server has ended.
    #[track_caller]
    fn pause(&self) {
        if let Ok(said) = self.ended.recv_timeout(Duration::from_millis(50)) {
            panic!("the server has ended: {said}");
        }
    }

    /// Ends it as a service manager does, and says what it said.
    fn end(mut self) -> String {
        let pid = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status().expect("kill");
        let said = self.ended.recv_timeout(PATIENCE).expect("it ends");
        self.child.wait().expect("a child can be waited for");
        said
    }

    /// Ends it as a crash does.
    fn kill(mut self) {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a child can be waited for");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Most have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A place for crawls; those that still run there are stopped with the test.
struct Root(tempfile::TempDir);

impl Root {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn crawls(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path()).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.join("larm.toml").exists()).collect()
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        for dir in self.crawls() {
            let mut stop = Command::new(env!("CARGO_BIN_EXE_larm"));
            let _ = stop.arg("stop").arg(&dir).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a test has to end, too")]
fn now() -> Instant {
    Instant::now()
}

/// A web that takes a while, unless its crawl is told to hurry.
fn world() -> World {
    let features = Features { redirects: true, dead_links: true, ..Features::none() };
    World::new(WebPlan { hosts: 3, pages_per_host: 30, features, ..WebPlan::default() })
}

/// Settings for all of it.
fn settings(world: &World, more: Value) -> Value {
    let mut all = json!({
        "seeds": world.site.seeds(),
        "scope": "any",
        "delay": "0s",
        "resolve": world.resolve_flags(),
        "allow-private": ["127.0.0.0/8"],
        "no-probe": true,
        "no-sitemap": true,
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        all[key] = value.clone();
    }
    all
}
