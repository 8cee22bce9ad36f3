//! Each attack by its name, tried against the real server.

use std::io::{BufRead, Read};
use std::process::Command;

use serde_json::{Value, json};

use super::http::{Answer, PATIENCE, Request, exchange, head};
use super::{Root, Server, TOKEN, settings, world};

/// A browser that has opened the link: its cookie.
fn log_in(server: &Server) -> (Answer, String) {
    let answer = Request::new("GET", &format!("/?token={TOKEN}")).send(server.at);
    let cookie = answer.header("set-cookie").expect("a cookie");
    let pair = cookie.split(';').next().expect("a pair").to_owned();
    (answer, pair)
}

fn with_cookie(method: &'static str, path: &str, cookie: &str) -> Request {
    Request::new(method, path).header("Cookie", cookie)
}

#[test]
fn nothing_private_is_told_without_the_token() {
    let root = Root::new();
    let server = Server::start(root.path());
    let document = Request::new("GET", "/api/v1/openapi.json").send(server.at).json();
    let paths = document["paths"].as_object().expect("paths");
    let mut tried = 0;
    for (path, methods) in paths {
        for method in methods.as_object().unwrap().keys() {
            let path = path.replace("{id}", "x").replace("{host}", "h").replace("{name}", "n");
            let method = ["GET", "POST", "PATCH", "DELETE"]
                .into_iter()
                .find(|m| m.eq_ignore_ascii_case(method));
            let answer = Request::new(method.unwrap(), &path).send(server.at);
            let expected = if path == "/api/v1/health" { 200 } else { 401 };
            assert_eq!(answer.status, expected, "{path}");
            tried += 1;
        }
    }
    assert!(tried > 15, "{tried}");
    for authorization in ["", "Bearer", "Bearer ", "Bearer wrong", "Basic YTpi", TOKEN] {
        let request = Request::new("GET", "/api/v1/crawls").header("Authorization", authorization);
        let answer = request.send(server.at);
        assert_eq!(answer.status, 401, "{authorization}");
        assert!(answer.json()["hint"].as_str().is_some());
    }
    assert_eq!(Request::new("GET", "/metrics").send(server.at).status, 401);
}

#[test]
fn the_link_becomes_a_cookie_that_no_script_and_no_other_site_can_use() {
    let root = Root::new();
    let server = Server::start(root.path());
    let (answer, cookie) = log_in(&server);
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")));
    let set = answer.header("set-cookie").unwrap();
    for flag in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(set.contains(flag), "{set}");
    }
    assert!(!set.contains(TOKEN), "the cookie is not the token");
    assert_eq!(with_cookie("GET", "/api/v1/crawls", &cookie).send(server.at).status, 200);
    let name = format!("larm_session_{}=", server.at.port());
    assert!(cookie.starts_with(&name), "servers of one machine have a cookie each: {cookie}");
    let guess = with_cookie("GET", "/api/v1/crawls", &format!("{name}guess")).send(server.at);
    assert_eq!((guess.status, guess.header("www-authenticate")), (401, Some("Bearer")));
    let wrong = Request::new("GET", "/?token=wrong").send(server.at);
    assert!(wrong.status == 401 && wrong.header("set-cookie").is_none());
    let browser = Request::new("GET", "/?token=wrong").header("Accept", "text/html,*/*");
    let sent = browser.send(server.at);
    assert_eq!((sent.status, sent.header("location")), (303, Some("/?wrong-token")));
    assert!(sent.header("set-cookie").is_none());
    let elsewhere = Request::new("GET", &format!("//evil.example/?token={TOKEN}")).send(server.at);
    assert_eq!(elsewhere.header("location"), Some("/"), "the link leads nowhere else");
}

#[test]
fn who_logs_out_is_not_let_in_any_more() {
    let root = Root::new();
    let server = Server::start(root.path());
    let (_, cookie) = log_in(&server);
    let own = format!("http://{}", server.at);
    let out = with_cookie("POST", "/api/v1/logout", &cookie).header("Origin", &own).send(server.at);
    assert_eq!(out.status, 204, "{}", out.text());
    assert!(out.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!(with_cookie("GET", "/api/v1/crawls", &cookie).send(server.at).status, 401);
}

#[test]
fn who_logs_out_hears_and_sees_nothing_more() {
    let (world, root) = (world(), Root::new());
    let server = Server::start(root.path());
    let id = server.crawl(&world, json!({"delay": "300ms"}));
    server.wait_for(&id, "under way", |crawl| crawl["counts"]["fetched"].as_u64() > Some(2));
    let sessions = [log_in(&server).1, log_in(&server).1];
    let seed = &world.site.seeds()[0];
    let frames = sessions.each_ref().map(|cookie| {
        let path = format!("/api/v1/crawls/{id}/replay?url={seed}");
        let answer = with_cookie("GET", &path, cookie).send(server.at).json();
        answer["frame"].as_str().expect("a path").to_owned()
    });
    let opens = || frames.each_ref().map(|path| Request::new("GET", path).send(server.at).status);
    assert_eq!(opens(), [200, 200]);
    let paths = [format!("/api/v1/crawls/{id}/events"), "/api/v1/events".to_owned()];
    let streams = paths.map(|path| {
        let mut stream = with_cookie("GET", &path, &sessions[0]).open(server.at).unwrap();
        assert_eq!(head(&mut stream).unwrap().0, 200);
        stream
    });
    let other = with_cookie("GET", "/api/v1/events", &sessions[1]).open(server.at).unwrap();
    let own = format!("http://{}", server.at);
    let out = with_cookie("POST", "/api/v1/logout", &sessions[0]).header("Origin", &own);
    assert_eq!(out.send(server.at).status, 204);
    for mut stream in streams {
        let mut rest = Vec::new();
        // A stream that goes on is not read to its end in time.
        stream.read_to_end(&mut rest).expect("the stream has ended");
    }
    assert_eq!(opens(), [404, 200], "the other session stays");
    let events = other.lines().map_while(Result::ok).filter(|line| line.starts_with("data: "));
    assert!(events.take(2).count() == 2, "its stream goes on");
}

#[test]
fn an_empty_token_opens_nothing() {
    let root = Root::new();
    for (token, variable) in [(Some(""), None), (Some("  "), None), (None, Some(""))] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
        command.args(["serve", "--listen", "0", "--root"]).arg(root.path());
        command.args(token.iter().flat_map(|token| ["--token", token]));
        command.env_remove("LARM_TOKEN").envs(variable.map(|value| ("LARM_TOKEN", value)));
        let said = command.output().unwrap();
        let text = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.code() == Some(2) && text.contains("token is empty"), "{text}");
    }
}

#[test]
fn cross_site_requests_change_nothing() {
    let root = Root::new();
    let server = Server::start(root.path());
    let (_, cookie) = log_in(&server);
    let body = json!({"start": false, "settings": {"seeds": ["http://a.example/"]}});
    let send = |headers: &[(&str, &str)]| {
        let request = with_cookie("POST", "/api/v1/crawls", &cookie).json(&body);
        headers
            .iter()
            .fold(request, |request, (name, value)| request.header(name, value))
            .send(server.at)
    };
    let ours = format!("http://{}", server.at);
    let rows: &[&[(&str, &str)]] = &[
        &[],
        &[("Origin", "http://evil.example")],
        &[("Origin", "null")],
        &[("Origin", "http://127.0.0.1:1")],
        &[("Sec-Fetch-Site", "cross-site")],
        &[("Sec-Fetch-Site", "same-site")],
        &[("Origin", "http://evil.example"), ("Sec-Fetch-Site", "same-origin")],
    ];
    for headers in rows {
        assert_eq!(send(headers).status, 403, "{headers:?}");
    }
    assert!(root.crawls().is_empty());
    let form = with_cookie("POST", "/api/v1/crawls", &cookie)
        .header("Origin", &ours)
        .header("Content-Type", "text/plain")
        .body(body.to_string().as_bytes());
    assert_eq!(form.send(server.at).status, 415, "what a form can send is not JSON");
    let read = with_cookie("GET", "/api/v1/crawls", &cookie).header("Sec-Fetch-Site", "cross-site");
    assert_eq!(read.send(server.at).status, 403);
    let preflight =
        Request::new("OPTIONS", "/api/v1/crawls").header("Origin", "http://evil.example");
    assert!(preflight.send(server.at).header("access-control-allow-origin").is_none());
    assert_eq!(send(&[("Origin", &ours)]).status, 201);
}

#[test]
fn a_name_that_was_made_to_lead_here_is_refused() {
    let root = Root::new();
    let server =
        Server::with(root.path(), &["--trusted", "--token", TOKEN, "--host", "crawl.example"]);
    let ask = |host: &str| {
        let request = server.request("GET", "/crawls").header("Host", host);
        request.send(server.at).status
    };
    for host in ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.nip.io"] {
        assert_eq!(ask(host), 421, "{host}");
    }
    for host in ["localhost", "crawl.example", "crawl.example:443", "127.0.0.1"] {
        assert_eq!(ask(host), 200, "{host}");
    }
    let twice = "GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert_ne!(exchange(server.at, twice.as_bytes()).unwrap().status, 200);
    let whole = "GET http://evil.example/api/v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(exchange(server.at, whole.as_bytes()).unwrap().status, 421);
}

#[test]
fn nothing_can_be_framed_sniffed_or_cached() {
    let root = Root::new();
    let server = Server::start(root.path());
    let answers = [
        Request::new("GET", "/").send(server.at),
        Request::new("GET", "/no/such/page").send(server.at),
        Request::new("GET", "/api/v1/crawls").send(server.at),
        server.get("/crawls"),
        server.get("/crawls/%3Cscript%3E"),
        Request::new("GET", "/page/main.js").send(server.at),
    ];
    for answer in answers {
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("default-src 'none'"));
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"));
        let kind = answer.header("content-type").expect("a type");
        let is_page = kind.starts_with("text/html") || kind.starts_with("text/javascript");
        assert!(is_page || kind.contains("json"), "{kind}");
        assert_eq!(answer.header("cache-control") == Some("no-store"), !is_page);
    }
}

#[test]
fn hostile_words_come_back_as_json_and_never_as_a_page() {
    let root = Root::new();
    let server = Server::start(root.path());
    let name = "<img src=x onerror=alert(1)>\"'\u{2028}";
    let settings =
        json!({"seeds": ["http://a.example/<script>alert(1)</script>"], "exclude": ["</script>"]});
    let answer =
        server.post("/crawls", &json!({"name": name, "start": false, "settings": settings}));
    assert_eq!(answer.status, 201, "{}", answer.text());
    let id = answer.json()["id"].as_str().unwrap().to_owned();
    assert!(
        id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c)),
        "{id}"
    );
    assert!(answer.header("content-type").unwrap().starts_with("application/json"));
    let metrics =
        Request::new("GET", "/metrics").header("Authorization", &format!("Bearer {TOKEN}"));
    assert!(metrics.send(server.at).header("content-type").unwrap().starts_with("text/plain"));
}

#[test]
fn no_path_leads_out_of_the_root() {
    let (root, outside) = (Root::new(), tempfile::tempdir().unwrap());
    let secret = outside.path().join("secret.larm");
    drop(larm_crawl::directory::Directory::open(&secret).unwrap());
    #[cfg(unix)]
    std::os::unix::fs::symlink(&secret, root.path().join("linked.larm")).unwrap();
    let server = Server::start(root.path());
    let up = [
        "..",
        "%2e%2e",
        "..%2f..%2fetc",
        "%2e%2e%2f",
        "a%2f..%2f..",
        "%00",
        ".larm-server",
        "..%5c",
    ];
    for id in up {
        for path in ["", "/settings", "/status", "/stats"] {
            let answer = server.get(&format!("/crawls/{id}{path}"));
            assert!([404, 400, 405].contains(&answer.status), "{id}{path}: {}", answer.status);
        }
        let answer = server.request("DELETE", &format!("/crawls/{id}")).send(server.at);
        assert!(answer.status >= 400, "{id}: {}", answer.status);
    }
    for path in ["/page/../Cargo.toml", "/page/..%2f..%2fetc%2fpasswd", "/page/%2e%2e/x"] {
        let answer = Request::new("GET", path).send(server.at);
        assert!(answer.status == 404 || answer.text().contains("<html"), "{path}");
    }
    for name in ["../../evil", "/etc/evil", "..", "a/../../b", "\u{0}"] {
        let body =
            json!({"name": name, "start": false, "settings": {"seeds": ["http://a.example/"]}});
        let answer = server.post("/crawls", &body);
        assert_eq!(answer.status, 201, "{name}: {}", answer.text());
        let dir = answer.json()["dir"].as_str().unwrap().to_owned();
        let parent = std::path::Path::new(&dir).parent().unwrap().canonicalize().unwrap();
        assert_eq!(parent, root.path().canonicalize().unwrap(), "{name}");
    }
    let linked = server.get("/crawls/linked").json();
    assert_eq!(linked["deletable"], false, "what a link leads to is not ours: {linked:#}");
    assert_eq!(server.request("DELETE", "/crawls/linked").send(server.at).status, 409);
    assert!(secret.join("state").exists());
}

#[test]
fn headers_cannot_be_smuggled_in() {
    let root = Root::new();
    let server = Server::start(root.path());
    for path in ["/%0d%0aSet-Cookie:%20x=1", &format!("/%0d%0aX-Evil:%201?token={TOKEN}")] {
        let answer = Request::new("GET", path).send(server.at);
        assert!(answer.header("x-evil").is_none());
        let cookie = answer.header("set-cookie").unwrap_or("larm_session_");
        assert!(cookie.starts_with("larm_session_"), "{cookie}");
    }
    let settings = json!({"seeds": ["http://a.example/"], "user-agent": "x\r\nX-Evil: 1"});
    let answer = server.post("/crawls/preview", &json!({"settings": settings}));
    assert_eq!(answer.status, 422, "{}", answer.text());
}

#[test]
fn guesses_are_counted_and_stop_being_heard() {
    let root = Root::new();
    let server = Server::with(root.path(), &["--token", "short"]);
    let ask = |token: &str| {
        let request = Request::new("GET", "/api/v1/crawls");
        request.header("Authorization", &format!("Bearer {token}")).send(server.at)
    };
    assert_eq!(ask("short").status, 200);
    let wrong: Vec<u16> = (0..12).map(|guess| ask(&guess.to_string()).status).collect();
    assert_eq!(wrong.iter().filter(|status| **status == 401).count(), 10, "{wrong:?}");
    let refused = ask("short");
    assert_eq!(refused.status, 429, "a token that can be guessed is not confirmed");
    assert!(refused.header("retry-after").is_some());
}

#[test]
fn a_second_machine_gets_in_with_a_token_that_was_given_or_not_at_all() {
    let root = Root::new();
    let serve = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
        command.env_remove("LARM_TOKEN").args(["serve", "--listen", "0.0.0.0:0", "--root"]);
        command.arg(root.path()).args(more).output().expect("the binary starts")
    };
    for more in [&[] as &[&str], &["--token", "short"]] {
        let output = serve(more);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("other machines"), "{said}");
    }
}

#[test]
fn the_token_is_in_no_log_and_in_no_process_that_is_started() {
    let (world, root) = (world(), Root::new());
    let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
    command.args(["serve", "--trusted", "--listen", "127.0.0.1:0", "--root"]).arg(root.path());
    // A variable that a child would have, too, if it were let.
    let server = Server::of(command.env("LARM_TOKEN", TOKEN).env("LARM_LOG", "debug"));
    assert!(!server.link.contains(TOKEN), "who gave the token knows it: {}", server.link);
    log_in(&server);
    let id = server.crawl(&world, json!({"delay": "300ms"}));
    server.wait_for(&id, "running", |crawl| crawl["rates"].is_object());
    let bytes = std::fs::read(root.path().join("web.larm/state/control.json")).unwrap();
    let pid = serde_json::from_slice::<Value>(&bytes).unwrap()["pid"].as_u64().unwrap();
    for file in ["environ", "cmdline"] {
        let text = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&text).contains(TOKEN), "{file}");
    }
    let log = std::fs::read_to_string(root.path().join("web.larm/logs/server.log")).unwrap();
    assert!(!log.contains(TOKEN));
    assert!(!server.end().contains(TOKEN));
}

#[test]
fn a_random_token_is_kept_for_its_owner_alone_and_opens_the_server_again() {
    let root = Root::new();
    let server = Server::with(root.path(), &[]);
    let (link, path) = (server.link.trim().to_owned(), root.path().join(".larm-server/token"));
    let token = link.split("token=").nth(1).expect("a token").to_owned();
    assert!(token.len() >= 32);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), token);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    server.end();
    let again = Server::with(root.path(), &[]);
    assert!(again.link.contains(&token));
}

#[test]
fn crawls_cannot_be_sent_into_this_machine_or_its_network() {
    let (world, root) = (world(), Root::new());
    let server = Server::with(root.path(), &["--token", TOKEN]);
    for seed in [
        "http://127.0.0.1/",
        "http://localhost:80/",
        "file:///etc/",
        "/etc/passwd",
        "http://10.0.0.1/",
    ] {
        let answer = server.post("/crawls", &json!({"settings": {"seeds": [seed]}}));
        assert_eq!((answer.status, &answer.json()["key"]), (422, &json!("seeds")), "{seed}");
    }
    let reach = settings(&world, json!({}));
    assert_eq!(server.post("/crawls", &json!({"settings": reach})).status, 422);
    assert!(root.crawls().is_empty());
    let asked =
        server.post("/crawls/preview", &json!({"settings": {"seeds": ["https://a.example/"]}}));
    assert_eq!(asked.json()["settings"]["public-only"], true, "{}", asked.text());
}

#[test]
fn a_confined_server_asks_nobody_else_whatever_pages_link_to() {
    let (world, root) = (world(), Root::new());
    let seeds = world.site.seeds();
    let host = seeds[0].trim_start_matches("http://").split([':', '/']).next().unwrap().to_owned();
    let server =
        Server::with(root.path(), &["--trusted", "--token", TOKEN, "--allow-target", &host]);
    let all = server.post("/crawls", &json!({"settings": settings(&world, json!({}))}));
    let id = match seeds.len() {
        1 => all.json()["id"].as_str().unwrap().to_owned(),
        _ => {
            assert_eq!((all.status, &all.json()["key"]), (422, &json!("seeds")), "{}", all.text());
            server.crawl(&world, json!({"seeds": [seeds[0]]}))
        }
    };
    server.wait_for_state(&id, "finished");
    let asked = world.site.requests();
    assert!(!asked.is_empty());
    assert!(
        asked.iter().all(|request| request.host.split(':').next() == Some(&host)),
        "only {host}"
    );
    let again = server.patch(&format!("/crawls/{id}/settings"), &json!({"allow-target": []}));
    assert_eq!(again.status, 422, "{}", again.text());
}

#[test]
fn public_search_shows_nothing_but_search() {
    let root = Root::new();
    let dir = root.path().join("x.larm");
    drop(larm_crawl::directory::Directory::open(&dir).unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
    command.args(["serve", "--public-search", "--listen", "127.0.0.1:0"]).arg(&dir);
    let server = Server::of(&mut command);
    for path in ["/", "/page/main.js", "/api/v1/health"] {
        assert_eq!(Request::new("GET", path).send(server.at).status, 200, "{path}");
    }
    let page = Request::new("GET", "/").send(server.at).text();
    assert!(page.contains("<meta name=\"larm-mode\" content=\"public-search\">"), "{page}");
    for path in
        ["/api/v1/crawls", "/api/v1/server", "/api/v1/crawls/x", "/metrics", "/crawls/x/now"]
    {
        assert_eq!(Request::new("GET", path).send(server.at).status, 404, "{path}");
    }
    assert!(server.ended.recv_timeout(PATIENCE / 1_000).is_err(), "it runs on");
}
