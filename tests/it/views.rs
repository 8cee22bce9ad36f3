//! What the server shows of a crawl: asked over a socket, as a browser or a stranger's curl would.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::thread::Builder;

use larm_crawl::Crawl;
use larm_search::SearchSink;
use larm_server::{App, Settings, app};
use larm_testsite::WebPlan;
use serde_json::Value;

use crate::hand::{Hand, redirect, with_body};
use crate::world::{World, crawl, run, runtime};

const HTML: &str = "text/html; charset=utf-8";
const TOKEN: &str = "a-token-for-tests-that-is-long-enough";

/// A server over some crawls. Its thread ends with the test binary.
struct Shown {
    address: SocketAddr,
}

/// An answer, taken apart.
struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    fn field(&self, name: &str) -> String {
        let named = |line: &&str| line.to_lowercase().starts_with(&format!("{name}:"));
        let line = self.head.lines().find(named).unwrap_or_default();
        line.split_once(':').map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
    }
}

impl Shown {
    fn of(dirs: Vec<PathBuf>) -> Self {
        let (tell, told) = std::sync::mpsc::sync_channel(1);
        let serve = move || {
            runtime().block_on(async {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
                let address = listener.local_addr().expect("an address");
                let token = Some(TOKEN.to_owned());
                let settings =
                    Settings { dirs, token, listen: Some(address), ..Settings::default() };
                tell.send(address).expect("somebody waits");
                app::run(&App::new(settings, None), listener, std::future::pending()).await;
            });
        };
        Builder::new().name("server".to_owned()).spawn(serve).expect("a thread");
        Self { address: told.recv().expect("an address") }
    }

    fn ask(&self, method: &str, path: &str, fields: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{fields}\r\n",
            self.address
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("it answers");
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head") + 4;
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status =
            head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let body = bytes[end..].to_vec();
        let body = if head.to_lowercase().contains("transfer-encoding: chunked") {
            unchunked(&body)
        } else {
            body
        };
        Answer { status, head, body }
    }

    fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &format!("Authorization: Bearer {TOKEN}\r\n"))
    }

    fn found(&self, path: &str) -> Value {
        let answer = self.get(&format!("/api/v1{path}"));
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    }

    /// Without a token: what a frame asks for.
    fn plain(&self, path: &str) -> Answer {
        self.ask("GET", path, "")
    }
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|two| two == b"\r\n") {
        let bytes = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap(), 16).unwrap();
        whole.extend_from_slice(&body[end + 2..end + 2 + bytes]);
        body = &body[end + 4 + bytes..];
    }
    whole
}

/// A small site with everything that goes wrong with sites.
fn site() -> Hand {
    let links = "<title>Home =1+1 <script>alert(1)</script></title>\
        <link rel=stylesheet href=/s.css><script src=/x.js></script>\
        <a href=/gone>Gone page</a> <a href=/old>Old page</a> <a href=/circle>Round</a> <a href=/private/x>Private</a>\
        <a href=/page>Page about eggs</a> <a href=/copy>Copy</a> <a href=//other.test/>Elsewhere</a>\
        <img src=/i.png onerror=alert(1)>";
    let page = "<title>Eggs</title><p>All about eggs. <a href=/gone>Gone, too</a>";
    Hand::serve(|_| {
        vec![
            (
                "h.test/robots.txt".into(),
                with_body("text/plain", "User-agent: *\nDisallow: /private/\n"),
            ),
            ("h.test/".into(), with_body(HTML, links)),
            ("h.test/page".into(), with_body(HTML, page)),
            ("h.test/copy".into(), with_body(HTML, page)),
            ("h.test/old".into(), redirect("/older")),
            ("h.test/older".into(), redirect("/page")),
            ("h.test/circle".into(), redirect("/circle2")),
            ("h.test/circle2".into(), redirect("/circle")),
            ("h.test/s.css".into(), with_body("text/css", "body{background:url(i.png)}")),
            ("h.test/i.png".into(), with_body("image/png", "no picture")),
        ]
    })
}

fn crawled() -> (Hand, Shown) {
    let hand = site();
    let mut plan = hand.plan("h.test/", &["h.test"]);
    (plan.probe, plan.selection.assets) = (false, true);
    let sink = SearchSink::new(&plan.dir, &plan.limits);
    run(Crawl::new(plan).sink(sink)).expect("the crawl ends well");
    let shown = Shown::of(vec![hand.dir()]);
    (hand, shown)
}

fn escaped(url: &str) -> String {
    url.replace(':', "%3A").replace('/', "%2F")
}

fn texts<'a>(list: &'a Value, key: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().map(|entry| entry[key].as_str().unwrap_or_default()).collect()
}

#[test]
fn urls_are_listed_filtered_and_paged_through() {
    let (hand, shown) = crawled();
    let all = shown.found("/crawls/hand/urls?limit=1000");
    let count = all["rows"].as_array().unwrap().len() as u64;
    assert_eq!(
        (all["total"].as_u64(), all["all"].as_u64(), &all["next"]),
        (Some(count), Some(count), &Value::Null)
    );
    let gone = shown.found("/crawls/hand/urls?status=4xx&q=GONE");
    assert_eq!(texts(&gone["rows"], "url"), [hand.url("h.test/gone")]);
    let home = shown.found("/crawls/hand/urls?type=text/html&q=/&sort=depth&limit=1");
    assert_eq!(home["rows"][0]["title"], "Home =1+1 <script>alert(1)</script>");
    let (mut paged, mut after) = (Vec::new(), String::new());
    loop {
        let page = shown.found(&format!("/crawls/hand/urls?sort=-url&limit=2&after={after}"));
        paged.extend(texts(&page["rows"], "url").into_iter().map(str::to_owned));
        match page["next"].as_str() {
            Some(next) => after = next.to_owned(),
            None => break,
        }
    }
    let mut sorted = texts(&all["rows"], "url");
    sorted.sort_unstable();
    sorted.reverse();
    assert_eq!(paged, sorted);
    let csv = shown.get("/api/v1/crawls/hand/urls.csv?q=gone");
    assert_eq!(csv.field("content-type"), "text/csv; charset=utf-8");
    assert!(
        csv.text().lines().count() == 2 && csv.text().contains("/gone,fetched,404"),
        "{}",
        csv.text()
    );
}

#[test]
fn one_url_is_shown_with_all_that_is_known_of_it() {
    let (hand, shown) = crawled();
    let page = hand.url("h.test/page");
    let detail = shown.found(&format!("/crawls/hand/url?url={}", escaped(&page)));
    assert_eq!(detail["row"]["title"], "Eggs");
    assert_eq!(detail["request"]["line"], "GET /page HTTP/1.1");
    assert_eq!(detail["response"]["line"], "HTTP/1.1 200 OK");
    assert!(detail["text"].as_str().unwrap().contains("All about eggs"), "{detail}");
    assert_eq!(
        texts(&detail["in"]["links"], "url"),
        [hand.url("h.test/"), hand.url("h.test/older")]
    );
    assert_eq!(detail["in"]["links"][0]["text"], "Page about eggs");
    assert_eq!(texts(&detail["out"]["links"], "url"), [hand.url("h.test/gone")]);
    let why =
        shown.found(&format!("/crawls/hand/why?url={}", escaped(&hand.url("h.test/private/x"))));
    assert_eq!(
        (why["verdict"].as_str(), &why["robots"]["allowed"], why["robots"]["line"].as_u64()),
        (Some("denied"), &Value::Bool(false), Some(2))
    );
    let why = shown.found("/crawls/hand/why?url=http%3A%2F%2Fother.test%2F");
    assert_eq!(why["verdict"], "rejected");
    assert!(why["words"][0].as_str().unwrap().contains("scope: host other.test"), "{why}");
    let why = shown.found("/crawls/hand/why?url=never.test");
    assert_eq!(why["verdict"], "unknown");
    let links = shown.found(&format!(
        "/crawls/hand/links?direction=out&limit=2&url={}",
        escaped(&hand.url("h.test/"))
    ));
    assert_eq!((links["links"].as_array().unwrap().len(), links["next"].as_str()), (2, Some("2")));
}

#[test]
fn what_is_broken_redirected_or_left_out_is_told_with_who_links_there() {
    let (hand, shown) = crawled();
    let broken = shown.found("/crawls/hand/broken");
    let gone = broken["groups"]
        .as_array()
        .unwrap()
        .iter()
        .find(|group| group["url"] == hand.url("h.test/gone"))
        .unwrap();
    assert_eq!(
        (gone["status"].as_u64(), gone["from_total"].as_u64()),
        (Some(404), Some(3)),
        "{broken}"
    );
    assert_eq!(texts(&gone["from"], "text")[0], "Gone page");
    let csv = shown.get("/api/v1/crawls/hand/broken.csv").text();
    assert_eq!(csv.lines().filter(|line| line.contains("/gone,")).count(), 3, "{csv}");
    let redirects = shown.found("/crawls/hand/redirects");
    let of = |path: &str| {
        let groups = redirects["groups"].as_array().unwrap();
        groups
            .iter()
            .find(|group| group["url"] == hand.url(path))
            .unwrap_or_else(|| panic!("{path}: {redirects}"))
    };
    let old = of("h.test/old");
    assert_eq!(
        (old["final"].as_str(), old["final_status"].as_u64(), old["hops"].as_u64()),
        (Some(&*hand.url("h.test/page")), Some(200), Some(2))
    );
    assert_eq!(of("h.test/circle")["final"], Value::Null);
    let skipped = shown.found("/crawls/hand/skipped");
    let filters = texts(&skipped["groups"], "filter");
    assert!(filters.contains(&"robots") && filters.contains(&"scope"), "{skipped}");
}

#[test]
fn archived_pages_are_shown_without_what_runs_or_leaks() {
    let (hand, shown) = crawled();
    let asked_before = hand.all_asked().len();
    let home = hand.url("h.test/");
    let copy = shown.found(&format!("/crawls/hand/replay?url={}", escaped(&home)));
    assert!(copy["at"].as_u64() > Some(1_700_000_000_000), "{copy}");
    let frame = copy["frame"].as_str().unwrap().to_owned();
    let page = shown.plain(&frame);
    assert_eq!((page.status, page.field("content-type")), (200, HTML.to_owned()));
    let policy = page.field("content-security-policy");
    assert!(
        policy.starts_with("sandbox; default-src 'none'") && !policy.contains("allow-scripts"),
        "{policy}"
    );
    let may_be_framed =
        !policy.contains("frame-ancestors") && page.field("x-frame-options").is_empty();
    assert!(may_be_framed, "an archived page stands in the frame of another one: {policy}");
    let text = page.text();
    assert!(
        !text.contains("<script") && !text.contains("onerror") && !text.contains("src=\"http"),
        "{text}"
    );
    let sheet = text.split("href=\"").nth(1).unwrap().split('"').next().unwrap();
    let css = shown.plain(sheet);
    assert!(css.text().contains("url(\"/replay/"), "{}", css.text());
    let image = css.text().split("url(\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert_eq!(
        (shown.plain(&image).field("content-type"), shown.plain(&image).text()),
        ("image/png".to_owned(), "no picture".to_owned())
    );
    let begin = frame.strip_suffix(&home).unwrap();
    let copy = shown.plain(&format!("{begin}{}", hand.url("h.test/copy")));
    assert!(
        copy.text().contains("All about eggs"),
        "a copy is shown as its original: {}",
        copy.text()
    );
    let moved = shown.plain(&format!("{begin}{}", hand.url("h.test/old")));
    assert_eq!(
        (moved.status, moved.field("location")),
        (302, format!("{begin}{}", hand.url("h.test/older")))
    );
    let missing = shown.plain(&format!("{begin}http://other.test/&%22?x=%3Cscript%3E"));
    assert!(
        missing.status == 404
            && missing.text().contains("other.test/&amp;%22")
            && !missing.text().contains("<script"),
        "{}",
        missing.text()
    );
    for wrong in [
        "/replay/x/hand/0/http://h.test/",
        &frame.replace("/hand/", "/other/"),
        "/replay/",
        "/replay/../api/v1/crawls",
    ] {
        assert!(shown.plain(wrong).status >= 400, "{wrong}");
    }
    assert_eq!(hand.all_asked().len(), asked_before, "nothing live is asked for");
}

#[test]
fn archive_files_are_listed_and_sent_whole_or_in_part() {
    let (hand, shown) = crawled();
    let archive = shown.found("/crawls/hand/archive");
    let names = texts(&archive["files"], "name");
    let name = names.iter().find(|name| name.ends_with(".warc.gz")).unwrap();
    let bytes = std::fs::read(hand.dir().join("warc").join(name)).unwrap();
    let path = format!("/api/v1/crawls/hand/archive/{name}");
    assert_eq!(shown.get(&path).body, bytes);
    let ask = |range: &str| {
        shown.ask("GET", &path, &format!("Authorization: Bearer {TOKEN}\r\nRange: {range}\r\n"))
    };
    let part = ask("bytes=5-9");
    assert_eq!((part.status, part.body.as_slice()), (206, &bytes[5..10]));
    assert_eq!(part.field("content-range"), format!("bytes 5-9/{}", bytes.len()));
    let none = ask("bytes=999999999-");
    assert_eq!(
        (none.status, none.field("content-range")),
        (416, format!("bytes */{}", bytes.len()))
    );
    for wrong in ["..%2F..%2Fstate%2Fcontrol.json", "%2Fetc%2Fpasswd", "..", "larm.toml", "%00"] {
        let answer = shown.get(&format!("/api/v1/crawls/hand/archive/{wrong}"));
        assert!(
            answer.status >= 400 && answer.field("content-type").contains("problem+json"),
            "{wrong}: {}",
            answer.status
        );
    }
}

#[test]
fn search_graph_runs_and_comparison_answer() {
    let (hand, shown) = crawled();
    let found = shown.found("/crawls/hand/search?q=eggs");
    assert_eq!(found["hits"][0]["url"], hand.url("h.test/page"));
    assert!(
        found["hits"][0]["snippet"].as_str().unwrap().contains("\u{e000}eggs\u{e001}"),
        "{found}"
    );
    assert!(
        shown.found("/search?q=eggs")["hits"][0]["replay"]
            .as_str()
            .unwrap()
            .starts_with("/replay/")
    );
    let token = format!("Authorization: Bearer {TOKEN}\r\n");
    assert_eq!(shown.get("/api/v1/crawls/hand/graph").status, 404);
    let made =
        shown.ask("POST", "/api/v1/crawls/hand/graph", &format!("{token}Content-Length: 0\r\n"));
    assert_eq!(made.status, 202, "{}", made.text());
    let graph = loop {
        let answer = shown.get("/api/v1/crawls/hand/graph");
        if answer.status == 200 {
            break answer.json();
        }
        assert!(answer.text().contains("being made"), "{}", answer.text());
    };
    assert!(!texts(&graph["by_pagerank"], "url").is_empty(), "{graph}");
    assert_eq!(
        (&graph["stale"], &graph["depths"][0]["pages"]),
        (&Value::Bool(false), &Value::from(1))
    );
    let runs = shown.found("/crawls/hand/runs");
    assert_eq!(
        (runs["runs"].as_array().unwrap().len(), runs["runs"][0]["state"].as_str()),
        (1, Some("finished"))
    );
    assert!(runs["runs"][0]["pages"].as_u64().unwrap() > 5, "{runs}");
    let same = shown.found("/compare?a=hand&b=hand");
    assert_eq!(
        (&same["only_a"]["total"], &same["changed"]["total"], same["a"]["id"].as_str()),
        (&Value::from(0), &Value::from(0), Some("hand"))
    );
}

#[test]
fn a_whole_web_is_shown_as_its_log_has_it() {
    let world = World::new(WebPlan::demo());
    let summary = crawl(world.plan());
    let shown = Shown::of(vec![world.dir()]);
    let id = shown.found("/crawls")["crawls"][0]["id"].as_str().unwrap().to_owned();
    let fetched = shown.found(&format!(
        "/crawls/{id}/urls?outcome=fetched,redirected,denied,rejected,failed,host-unreachable"
    ));
    assert!(
        fetched["total"].as_u64().unwrap() >= summary.urls,
        "{} of {}",
        fetched["total"],
        summary.urls
    );
    let broken = shown.found(&format!("/crawls/{id}/broken?limit=1000"));
    assert!(
        broken["groups"]
            .as_array()
            .unwrap()
            .iter()
            .all(|group| group["status"].as_u64().unwrap_or(500) >= 400),
        "{broken}"
    );
    for (key, value) in [
        ("limit", "0"),
        ("limit", "x"),
        ("after", "garbage"),
        ("status", "abc"),
        ("sort", "color"),
        ("depth", "-1"),
    ] {
        let answer = shown.get(&format!("/api/v1/crawls/{id}/urls?{key}={value}"));
        assert_eq!(
            (answer.status, answer.json()["key"].as_str()),
            (422, Some(key)),
            "{}",
            answer.text()
        );
    }
    assert_eq!(shown.plain(&format!("/api/v1/crawls/{id}/urls")).status, 401);
    assert_eq!(shown.get("/api/v1/crawls/nobody/urls").status, 404);
}
