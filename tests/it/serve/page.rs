//! The page in a real browser, and the API under a tool that reads its description and tries everything.
//!
//! The tools come from the environment that `scripts/test` makes: `LARM_VENV` with Playwright and Schemathesis,
//! and `LARM_CHROMIUM`. Screenshots are left in the target directory, to be looked at.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Server, TOKEN};
use crate::archive::tool;
use crate::hand::{Hand, with_body};

/// So many that a crawl at the pace of the test is busy for longer than the test takes.
const PAGES: usize = 2_000;

/// A site on loopback with titles that would like to be more than text, a broken link and a redirect.
fn site() -> Hand {
    let page = |n: usize| {
        let links: String = (1..=9)
            .map(|k| format!("<a href=\"/p{}\">page {k}</a> ", (n * 9 + k) % PAGES))
            .collect();
        let title = format!("Page {n} <img src=x onerror=alert(1)> \u{202e}txt");
        let title = title.replace('<', "&lt;");
        // Words of its own, so that no page is taken for a copy of another.
        let own = (1..=80_u64).map(|k| (n as u64 * 80 + k).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let own: String = own.map(|word| format!("w{:x} ", word >> 40)).collect();
        let text = format!("This page is number {n}. It tells of owls, barns and {own}.");
        let more = "<a href=/gone>broken</a> <a href=/moved>moved</a>";
        let script = "<script>fetch('http://leak.example/')</script><img src=//leak.example/x.png>";
        let body = format!("<title>{title}</title><h1>Owls</h1><p>{text}<p>{links}{more}{script}");
        with_body("text/html; charset=utf-8", &body)
    };
    Hand::serve(|_| {
        let mut answers: Vec<_> =
            (0..PAGES).map(|n| (format!("127.0.0.1/p{n}"), page(n))).collect();
        answers.push(("127.0.0.1/".to_owned(), page(0)));
        answers.push(("127.0.0.1/moved".to_owned(), crate::hand::redirect("/p1")));
        answers
    })
}

/// Where screenshots are kept: beside the binary.
fn shots() -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_larm"));
    binary.parent().expect("a directory").join("screenshots")
}

#[test]
fn a_browser_starts_watches_steers_and_searches_a_crawl() {
    let Some(python) = tool("python") else { return };
    if std::env::var_os("LARM_CHROMIUM").is_none() {
        println!("skipped: LARM_CHROMIUM names no browser");
        return;
    }
    let has_playwright = Command::new(&python).args(["-c", "import playwright"]).output();
    if !has_playwright.is_ok_and(|output| output.status.success()) {
        println!("skipped: no playwright in LARM_VENV");
        return;
    }
    let (web, root) = (site(), tempfile::tempdir().expect("a temporary directory"));
    let server = Server::start(root.path());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page/e2e.py");
    let mut command = Command::new(python);
    command
        .arg(script)
        .arg(format!("http://{}/?token={TOKEN}", server.at))
        .arg(web.url("127.0.0.1/"))
        .arg(shots())
        .arg("owls");
    let tried = command.output().expect("python starts");
    let said = String::from_utf8_lossy(&tried.stderr).into_owned();
    assert!(tried.status.success(), "{}\n{said}", String::from_utf8_lossy(&tried.stdout));
    server.end();
}

/// Every path of the description is asked for with values that the tool makes up: no answer may be a
/// server's error, and each must be what the description says.
#[test]
fn the_api_keeps_to_its_description() {
    let Some(schemathesis) = tool("schemathesis") else { return };
    let (web, root) = (site(), tempfile::tempdir().expect("a temporary directory"));
    let server = Server::start(root.path());
    let settings =
        serde_json::json!({"seeds": [web.url("127.0.0.1/")], "max-pages": 20, "delay": "0s"});
    let made = server.post("/crawls", &serde_json::json!({"name": "web", "settings": settings}));
    assert_eq!(made.status, 201, "{}", made.text());
    server.wait_for_state("web", "limit");
    let mut command = Command::new(schemathesis);
    command.arg("run").arg(format!("http://{}/api/v1/openapi.json", server.at));
    command.args(["--header", &format!("Authorization: Bearer {TOKEN}")]);
    command
        .args(["--checks", "not_a_server_error,status_code_conformance,content_type_conformance"]);
    command.args(["--checks", "response_schema_conformance"]);
    command.args(["--phases", "examples,coverage", "--generation-deterministic", "--no-color"]);
    // Answers that do not end are tried elsewhere.
    command.args(["--exclude-path-regex", "/events$", "--request-timeout", "20"]);
    let tried = command.current_dir(root.path()).output().expect("it starts");
    let said = String::from_utf8_lossy(&tried.stdout).into_owned();
    assert!(tried.status.success(), "{said}\n{}", String::from_utf8_lossy(&tried.stderr));
    server.end();
}
