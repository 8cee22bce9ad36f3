//! Sites that ask who is there: passwords, tokens, cookies, a form; and a proxy in between.
//!
//! The server is written out here, since what it is told is what matters.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::thread::Builder;

use crate::larm::said;

/// One request, as it came.
#[derive(Debug, Clone)]
struct Asked {
    method: String,
    host: String,
    path: String,
    fields: HashMap<String, String>,
    body: String,
}

impl Asked {
    fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }
}

/// Answers made of requests, on one port of loopback.
struct Site {
    address: SocketAddr,
    log: Arc<Mutex<Vec<Asked>>>,
}

impl Site {
    fn start(answer: impl Fn(&Asked) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let log: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let kept = log.clone();
        let answer = Arc::new(answer);
        let serve = move || {
            for stream in listener.incoming().flatten() {
                let (answer, kept) = (answer.clone(), kept.clone());
                let one = move || {
                    let mut reader = BufReader::new(&stream);
                    let Some(asked) = read(&mut reader) else { return };
                    kept.lock().expect("no thread panicked").push(asked.clone());
                    // Whoever asked may have gone.
                    let _ = (&stream).write_all(answer(&asked).as_bytes());
                };
                Builder::new().spawn(one).expect("a thread");
            }
        };
        Builder::new().spawn(serve).expect("a thread");
        Self { address, log }
    }

    fn port(&self) -> u16 {
        self.address.port()
    }

    fn asked(&self) -> Vec<Asked> {
        let log = self.log.lock().expect("no thread panicked");
        log.iter().filter(|asked| asked.path != "/robots.txt").cloned().collect()
    }

    /// Runs larm from `place` into `dir`, with the names of both hosts at this server.
    fn crawl(&self, place: &str, dir: &Path, more: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
        command.current_dir(dir.parent().expect("a place"));
        command.args(["crawl", &format!("http://{place}"), "-o"]).arg(dir);
        command.args(["--delay", "0", "--no-progress", "--no-sitemap", "--scope", "any"]);
        for host in ["home.test", "evil.test"] {
            command.arg(format!("--resolve={host}:{}:127.0.0.1", self.port()));
        }
        command.env_remove("HTTP_PROXY").env_remove("http_proxy").env_remove("ALL_PROXY");
        command.env("SECRET_PASSWORD", "open sesame");
        command.args(more).output().expect("the binary starts")
    }
}

fn read(reader: &mut impl BufRead) -> Option<Asked> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut fields = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        fields.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = fields.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let host = fields.get("host").cloned().unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host.clone(), |(name, _)| name.to_owned());
    Some(Asked { method, host, path, fields, body: String::from_utf8(body).ok()? })
}

fn answer(status: &str, fields: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n{fields}\
         Connection: close\r\n\r\n{body}"
    )
}

fn page(text: &str, links: &[String]) -> String {
    let links: String = links.iter().map(|to| format!("<a href=\"{to}\">to</a>")).collect();
    answer("200 OK", "", &format!("<title>{text}</title><p>{text}</p>{links}"))
}

/// Every byte that the crawl has left behind where others may look, unpacked.
fn everything(dir: &Path) -> String {
    let mut found = String::new();
    for part in ["warc", "cdx", "pages", "logs", "larm.toml", "summary.json"] {
        let path = dir.join(part);
        let files: Vec<_> = match path.is_dir() {
            true => path.read_dir().expect("readable").flatten().map(|file| file.path()).collect(),
            false => vec![path],
        };
        for file in files {
            let bytes = std::fs::read(&file).unwrap_or_default();
            let text = match file.extension().and_then(|kind| kind.to_str()) {
                Some("gz") => {
                    let mut out = Vec::new();
                    let mut unpacked = flate2::read::MultiGzDecoder::new(&bytes[..]);
                    unpacked.read_to_end(&mut out).expect("whole gzip members");
                    out
                }
                _ => bytes,
            };
            found.push_str(&String::from_utf8_lossy(&text));
        }
    }
    // A crawl that was broken off early has no links yet.
    if dir.join("links").join("links.log").exists() {
        found.extend(crate::kept::links(dir).iter().map(ToString::to_string));
    }
    found
}

fn temp() -> (tempfile::TempDir, std::path::PathBuf) {
    let temp = tempfile::tempdir().expect("a temporary directory");
    let dir = temp.path().join("c.larm");
    (temp, dir)
}

#[test]
fn a_secret_goes_to_its_own_host_and_is_found_in_no_file() {
    let site = Site::start(|asked| {
        let port = asked.field("host").rsplit(':').next().unwrap_or_default().to_owned();
        match (asked.host.as_str(), asked.path.as_str()) {
            ("home.test", "/") => page(
                "home",
                &["/a".to_owned(), format!("http://evil.test:{port}/steal"), "/away".to_owned()],
            ),
            ("home.test", "/away") => {
                answer("302 Found", &format!("Location: http://evil.test:{port}/moved\r\n"), "")
            }
            (_, "/robots.txt") => answer("404 Not Found", "", ""),
            (host, path) => page(&format!("{host}{path}"), &[]),
        }
    });
    let (_temp, dir) = temp();
    let place = format!("home.test:{}/", site.port());
    let secrets = ["--header", "X-Api-Key: k3y-of-home", "--bearer", "t0ken-of-home"];
    let harmless = ["--header", "Accept-Language: fi"];
    let output = site.crawl(&place, &dir, &[&secrets[..], &harmless[..]].concat());
    assert!(output.status.success(), "{}", said(&output));
    let asked = site.asked();
    assert_eq!(asked.len(), 5, "{asked:?}");
    for asked in &asked {
        let told = asked.host == "home.test";
        assert_eq!(asked.field("x-api-key") == "k3y-of-home", told, "{asked:?}");
        assert_eq!(asked.field("authorization") == "Bearer t0ken-of-home", told, "{asked:?}");
        assert_eq!(asked.field("accept-language"), "fi");
    }
    let kept = everything(&dir);
    assert!(
        kept.contains("x-api-key: redacted") || kept.contains("X-Api-Key: redacted"),
        "kept as redacted"
    );
    for secret in ["k3y-of-home", "t0ken-of-home"] {
        assert!(!kept.contains(secret), "{secret} was written down");
        assert!(!said(&output).contains(secret), "{secret} was said");
    }
    let private = dir.join("secrets.toml");
    assert!(std::fs::read_to_string(&private).unwrap().contains("t0ken-of-home"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(private.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_password_is_shown_to_a_server_that_asks_for_it() {
    let site = Site::start(|asked| {
        let challenge = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n1\", qop=\"auth\"\r\n";
        let authorization = asked.field("authorization");
        match asked.path.as_str() {
            "/robots.txt" => answer("404 Not Found", "", ""),
            _ if !authorization.starts_with("Digest username=\"u\"") => {
                answer("401 Unauthorized", challenge, "who?")
            }
            "/" => page("in", &["/a".to_owned(), "/b".to_owned()]),
            path => page(path, &[]),
        }
    });
    let (_temp, dir) = temp();
    let place = format!("home.test:{}/", site.port());
    let output = site.crawl(&place, &dir, &["--basic-auth", "u:p4ssword"]);
    assert!(output.status.success(), "{}", said(&output));
    let asked: Vec<_> =
        site.asked().iter().map(|asked| asked.field("authorization").to_owned()).collect();
    assert_eq!(asked.len(), 4, "one is asked twice: {asked:?}");
    assert!(asked[0].is_empty() && asked[1..].iter().all(|text| text.contains("response=")));
    assert!(asked.iter().all(|text| !text.contains("p4ssword")), "{asked:?}");
    let kept = everything(&dir);
    assert!(!kept.contains("p4ssword") && !kept.contains("response=\\\""), "nothing is kept of it");
    assert_eq!(kept.matches("\"outcome\":\"fetched\",\"status\":200").count(), 3, "{kept}");
}

/// A shop for members: a form with a token, a session, links that end or change it.
fn members(asked: &Asked) -> String {
    let inside = asked.field("cookie").contains("session=s3ssion");
    match (asked.method.as_str(), asked.path.as_str()) {
        // Set before anybody is in, and perhaps the one that a login makes valid.
        (_, "/robots.txt") => answer(
            "200 OK",
            "Set-Cookie: early=t0k-of-a-guest; Path=/\r\n",
            "User-agent: *\nDisallow: /login\n",
        ),
        ("GET", "/login") => answer(
            "200 OK",
            "Set-Cookie: visit=v1; Path=/\r\n",
            "<form action=/search><input name=q></form><form method=post action=/enter>\
             <input type=hidden name=csrf value=t0k&amp;en><input name=user>\
             <input type=password name=password></form>",
        ),
        ("POST", "/enter") => {
            let right = asked.body == "csrf=t0k%26en&password=open+sesame&user=me"
                && asked.field("cookie").contains("visit=v1");
            let cookie = "Set-Cookie: session=s3ssion; Path=/; HttpOnly\r\nLocation: /welcome\r\n";
            match right {
                true => answer("303 See Other", cookie, ""),
                false => answer(
                    "200 OK",
                    "",
                    "<form method=post><input type=password name=password></form>",
                ),
            }
        }
        _ if !inside => {
            answer("302 Found", &format!("Location: /login?next={}\r\n", asked.path), "")
        }
        (_, "/") => page(
            "members",
            &["/one".to_owned(), "/logout".to_owned(), "/posts/7/delete".to_owned()],
        ),
        (_, path) => page(&format!("for members: {path}"), &["/two".to_owned()]),
    }
}

fn login_file(dir: &Path, port: u16, more: &str) -> String {
    let path = dir.with_file_name("login.toml");
    let text = format!(
        "filters = []\n[[login]]\nurl = \"http://home.test:{port}/login\"\n{more}\
         fields = {{ user = \"me\", password = \"env:SECRET_PASSWORD\" }}\n"
    );
    std::fs::write(&path, text).expect("a file");
    path.display().to_string()
}

#[test]
fn behind_a_form_everything_is_seen_and_nothing_is_undone() {
    let site = Site::start(members);
    let (_temp, dir) = temp();
    let file = login_file(&dir, site.port(), "");
    let place = format!("home.test:{}/", site.port());
    let output = site.crawl(&place, &dir, &["--config", &file]);
    assert!(output.status.success(), "{}", said(&output));
    let paths: Vec<_> =
        site.asked().iter().map(|asked| format!("{} {}", asked.method, asked.path)).collect();
    let expected = ["GET /login", "POST /enter", "GET /welcome", "GET /", "GET /one", "GET /two"];
    assert_eq!(paths, expected);
    let kept = everything(&dir);
    assert!(kept.contains("for members: /two"));
    for secret in ["open sesame", "open+sesame", "s3ssion", "t0k"] {
        assert!(!kept.contains(secret), "{secret} was written down");
    }
    let why = Command::new(env!("CARGO_BIN_EXE_larm"))
        .arg("why")
        .args([dir.as_os_str(), format!("http://{place}logout").as_ref()])
        .output()
        .expect("the binary starts");
    let why = String::from_utf8_lossy(&why.stdout).into_owned();
    assert!(why.contains("a link that"), "{why}");
}

/// The page with the form asks for a password of its own, and the form is to be sent again later.
#[test]
fn a_login_page_behind_a_password_and_a_busy_door_are_passed() {
    let busy = Arc::new(Mutex::new(true));
    let site = Site::start(move |asked| {
        let is_known = asked.field("authorization").starts_with("Basic ");
        match asked.path.as_str() {
            "/login" if !is_known => {
                answer("401 Unauthorized", "WWW-Authenticate: Basic realm=x\r\n", "who?")
            }
            "/enter" if std::mem::take(&mut *busy.lock().expect("no thread panicked")) => {
                answer("503 Service Unavailable", "Retry-After: 0\r\n", "later")
            }
            _ => members(asked),
        }
    });
    let (_temp, dir) = temp();
    let file = login_file(&dir, site.port(), "success-cookie = \"session\"\n");
    let place = format!("home.test:{}/", site.port());
    let more = ["--config", &file, "--basic-auth", "me:open", "--limit", "host_back_off_ms_max=1"];
    let output = site.crawl(&place, &dir, &more);
    assert!(output.status.success(), "{}", said(&output));
    let steps: Vec<String> = site
        .asked()
        .iter()
        .take(4)
        .map(|asked| format!("{} {}", asked.method, asked.path))
        .collect();
    assert_eq!(steps, ["GET /login", "GET /login", "POST /enter", "POST /enter"]);
    assert!(everything(&dir).contains("for members: /two"));
}

#[test]
fn a_login_that_fails_gives_up_its_host_and_says_why() {
    let site = Site::start(members);
    let (_temp, dir) = temp();
    let file = login_file(&dir, site.port(), "success-text = \"Hello, me\"\n");
    let place = format!("home.test:{}/", site.port());
    let output = site.crawl(&place, &dir, &["--config", &file]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(!site.asked().iter().any(|asked| asked.path == "/"), "not crawled as a guest");
    let log = std::fs::read_to_string(dir.join("logs/crawl.jsonl")).unwrap();
    assert!(log.contains("does not show `Hello, me`"), "{log}");
}

#[test]
fn cookies_are_kept_for_the_next_run_when_asked_for() {
    let site = Site::start(|asked| match asked.path.as_str() {
        "/robots.txt" => answer("404 Not Found", "", ""),
        "/" => answer("200 OK", "Set-Cookie: id=7; Path=/; Max-Age=1000\r\n", "<a href=/a>a</a>"),
        _ => page(&asked.path, &[]),
    });
    let (_temp, dir) = temp();
    let place = format!("home.test:{}/", site.port());
    let jar = dir.with_file_name("jar.txt");
    let jar = jar.to_str().unwrap();
    assert!(site.crawl(&place, &dir, &[]).status.success());
    assert!(site.asked().iter().all(|asked| asked.field("cookie").is_empty()), "not by default");
    let other = dir.with_file_name("d.larm");
    assert!(site.crawl(&place, &other, &["--cookie-jar", jar]).status.success());
    assert_eq!(site.asked().last().unwrap().field("cookie"), "id=7");
    assert!(std::fs::read_to_string(jar).unwrap().contains("home.test\tFALSE\t/\tFALSE\t"));
    let third = dir.with_file_name("e.larm");
    assert!(site.crawl(&place, &third, &["--cookie-jar", jar, "--depth", "0"]).status.success());
    assert_eq!(site.asked().last().unwrap().field("cookie"), "id=7");
}

/// An HTTP proxy that answers for hosts which only it knows.
#[test]
fn behind_a_proxy_names_are_its_own_affair_and_inner_ones_stay_closed() {
    let site = Site::start(|asked| match asked.path.as_str() {
        path if path.ends_with("/robots.txt") => answer("404 Not Found", "", ""),
        "http://nowhere.example/" => page(
            "outside",
            &[
                "/a".to_owned(),
                "http://router.lan/admin".to_owned(),
                "http://10.0.0.1/".to_owned(),
                "http://localhost/".to_owned(),
            ],
        ),
        path => page(path, &[]),
    });
    let (_temp, dir) = temp();
    let proxy = format!("http://u:p4ss@127.0.0.1:{}", site.port());
    let contact = ["--contact", "me@example.org", "--i-own-this-site"];
    let output =
        site.crawl("nowhere.example/", &dir, &[&["--proxy", &proxy], &contact[..]].concat());
    assert!(output.status.success(), "{}", said(&output));
    let paths: Vec<_> = site.asked().into_iter().map(|asked| asked.path).collect();
    let pages: Vec<_> = paths.iter().filter(|path| !path.ends_with("robots.txt")).collect();
    assert_eq!(pages, ["http://nowhere.example/", "http://nowhere.example/a"]);
    let log = std::fs::read_to_string(dir.join("logs/crawl.jsonl")).unwrap();
    assert!(log.contains("router.lan is a name of the proxy's own network"), "{log}");
    assert!(log.contains("10.0.0.1 is a private address"), "{log}");
    assert!(!everything(&dir).contains("p4ss"));
}

#[test]
fn a_proxy_that_does_not_know_us_is_no_page() {
    let site = Site::start(|_| answer("407 Proxy Authentication Required", "", "who?"));
    let (_temp, dir) = temp();
    let proxy = format!("http://u:wr0ng@127.0.0.1:{}", site.port());
    let contact = ["--contact", "me@example.org", "--i-own-this-site"];
    let all = [&["--proxy", &proxy], &contact[..]].concat();
    let output = site.crawl("nowhere.example/", &dir, &all);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("wants another user or password (407)"), "{}", said(&output));
    assert!(!everything(&dir).contains("wr0ng") && !said(&output).contains("wr0ng"));
}

#[test]
fn a_password_in_a_url_is_refused_and_not_repeated() {
    let site = Site::start(|_| answer("200 OK", "", ""));
    let (_temp, dir) = temp();
    let output = site.crawl("me:s3cret@home.test/", &dir, &[]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("--basic-auth") && !said(&output).contains("s3cret"));
}

/// The stream of a test's own connection, so that a listener that nobody asks is not waited for.
#[test]
fn a_proxy_that_is_not_there_is_named_as_the_one_at_fault() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(TcpStream::connect(gone).is_err());
    let site = Site::start(|_| answer("404 Not Found", "", ""));
    let (_temp, dir) = temp();
    let proxy = format!("socks5h://{gone}");
    let contact = ["--contact", "me@example.org", "--i-own-this-site"];
    let all = [&["--proxy", &proxy], &contact[..]].concat();
    let output = site.crawl("nowhere.example/", &dir, &all);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let words = format!("the proxy {proxy} cannot be used: connection refused");
    assert!(said(&output).contains(&words), "{}", said(&output));
    let hosts = Command::new(env!("CARGO_BIN_EXE_larm"))
        .args(["status".as_ref(), dir.as_os_str(), "--hosts".as_ref()])
        .output()
        .expect("the binary starts");
    let hosts = String::from_utf8_lossy(&hosts.stdout).into_owned();
    assert!(hosts.contains("nowhere.example"), "nothing is given up: {hosts}");
    assert!(!hosts.contains("given up"), "{hosts}");
}

/// What is held against one host is not held against the proxy.
#[test]
fn a_proxy_that_refuses_one_host_serves_the_others() {
    let site = Site::start(|asked| match asked.method.as_str() {
        "CONNECT" => answer("403 Forbidden", "", "not there"),
        _ if asked.path.ends_with("/robots.txt") => answer("404 Not Found", "", ""),
        _ => page("open", &["https://closed.example/".to_owned()]),
    });
    let (_temp, dir) = temp();
    let proxy = format!("http://127.0.0.1:{}", site.port());
    let limits = ["--limit", "host_chances_max=1", "--limit", "host_back_off_ms_max=1"];
    let contact = ["--contact", "me@example.org", "--i-own-this-site"];
    let all = [&["--proxy", &proxy], &contact[..], &limits[..]].concat();
    let output = site.crawl("open.example/", &dir, &all);
    assert!(output.status.success(), "{}", said(&output));
    let log = std::fs::read_to_string(dir.join("logs/crawl.jsonl")).unwrap();
    assert!(log.contains("does not connect us to closed.example:443 (403)"), "{log}");
}

#[test]
fn a_crawl_that_was_only_refused_had_nothing() {
    for (status, port_note) in [("401 Unauthorized", "401"), ("404 Not Found", "404")] {
        let site = Site::start(move |_| answer(status, "", "no"));
        let (_temp, dir) = temp();
        let place = format!("home.test:{}/", site.port());
        let output = site.crawl(&place, &dir, &[]);
        assert_eq!(output.status.code(), Some(3), "{}", said(&output));
        assert!(said(&output).contains("nothing could be fetched"), "{}", said(&output));
        assert!(said(&output).contains(&format!("answered {port_note}")), "{}", said(&output));
    }
}

#[test]
fn files_that_are_not_there_are_a_mistake_of_the_command() {
    let temp = tempfile::tempdir().expect("a directory");
    for flag in ["--block", "--ca-file", "--sign-key", "-i"] {
        for path in ["not-there", "."] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
            command.current_dir(temp.path());
            let output = command.args(["crawl", "http://localhost:1/", flag, path]).output();
            let output = output.expect("the binary starts");
            assert_eq!(output.status.code(), Some(2), "{flag} {path}: {}", said(&output));
            let text = said(&output);
            assert_eq!(text.matches("(os error").count(), 1, "{flag} {path}: {text}");
        }
    }
    assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 0, "nothing was begun");
}

#[test]
fn no_message_repeats_a_secret() {
    let temp = tempfile::tempdir().expect("a directory");
    std::fs::write(temp.path().join("seeds.txt"), "http://me:s3cret@h:bad/\n").unwrap();
    std::fs::write(temp.path().join("bad.toml"), "bearer = [\"s3cret\"]\n").unwrap();
    #[rustfmt::skip]
    let rows: &[&[&str]] = &[
        &["crawl", "-i", "seeds.txt"],
        &["crawl", "http://h/", "--header", "s3cret"],
        &["crawl", "http://h/", "--header", "s3cret token: x"],
        &["crawl", "http://h/", "--header", "X-Key: s3cret\u{1}"],
        &["crawl", "http://h/", "--config", "bad.toml"],
        &["crawl", "http://me:s3cret@h/"],
        &["crawl", "--sitemap", "http://me:s3cret@h:bad/"],
        &["crawl", "http://h/", "--proxy", "ftp://me:s3cret@h/"],
        &["crawl", "http://h/", "--basic-auth", "s3cret"],
        &["crawl", "http://h/", "--bearr=s3cret"],
        &["inspect", "page", "--url", "http://me:s3cret@h:bad/", "seeds.txt"],
    ];
    for arguments in rows {
        let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
        command.current_dir(temp.path()).args(*arguments);
        let output = command.output().expect("the binary starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", said(&output));
        assert!(!said(&output).contains("s3cret"), "{arguments:?}: {}", said(&output));
    }
}
