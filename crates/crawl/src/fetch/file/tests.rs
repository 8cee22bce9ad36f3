//! Trees that are hostile on purpose, read from a real disk.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, Ipv6Addr};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use larm_core::parse::{Input, parse};
use larm_core::url::file::escaped_name;
use larm_core::url::{Base, UrlRules, seed};
use tempfile::TempDir;

use super::super::Resolve;
use super::super::schemes::LaneResolver;
use super::*;

/// A tree to crawl, with things beside it that it must not lead to.
struct World {
    temp: TempDir,
    limits: Limits,
    follow_symlinks: bool,
    accept: Vec<String>,
}

impl World {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("tree")).unwrap();
        fs::create_dir(temp.path().join("outside")).unwrap();
        fs::write(temp.path().join("outside/secret.txt"), "secret").unwrap();
        let limits = Limits::default();
        Self { temp, limits, follow_symlinks: false, accept: Vec::new() }
    }

    fn path(&self, rest: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(rest)
    }

    fn write(&self, rest: &str, bytes: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(rest).parent().unwrap()).unwrap();
        fs::write(self.path(rest), bytes).unwrap();
    }

    fn url(&self, rest: &str) -> CrawlUrl {
        let root = self.path("");
        let text = format!("file://{}{rest}", root.to_str().unwrap());
        seed(&text, &UrlRules::default()).unwrap()
    }

    fn fetcher(&self) -> FileFetch {
        let plan = FilePlan {
            seeds: vec![self.url("tree/")],
            follow_symlinks: self.follow_symlinks,
            own_dir: self.path("tree/own.larm"),
            accept: self.accept.clone(),
        };
        let budget = Arc::new(Budget::new(&self.limits));
        FileFetch::with_budget(&plan, self.limits.clone(), Clock::start(), budget)
    }

    async fn get(&self, rest: &str) -> Result<Fetched, Failure> {
        self.get_url(self.url(rest)).await
    }

    async fn get_url(&self, url: CrawlUrl) -> Result<Fetched, Failure> {
        let permit = Permit::for_test(url, IpAddr::V6(Ipv6Addr::UNSPECIFIED));
        self.fetcher().fetch(&permit, &|_| panic!("nothing is ever sent")).await
    }

    async fn reason(&self, rest: &str) -> String {
        let failure = self.get(rest).await.expect_err("not to be read");
        assert_eq!(failure.class, FailureClass::Unreadable);
        failure.detail
    }

    async fn target(&self, rest: &str) -> String {
        let fetched = self.get(rest).await.unwrap();
        assert_eq!((fetched.status, fetched.payload.len()), (301, 0), "{rest}");
        fetched.header("location").unwrap().to_owned()
    }

    /// The URLs that the parser finds in a listing.
    async fn links(&self, url: CrawlUrl) -> Vec<CrawlUrl> {
        let fetched = self.get_url(url.clone()).await.unwrap();
        let base = url.to_url();
        let input = Input {
            url: &base,
            content_type: fetched.content_type(),
            body: &fetched.payload,
            text: false,
        };
        let page = parse(&input, &self.limits);
        assert!(page.notes.is_empty(), "{:?}", page.notes);
        let rules = UrlRules::default();
        let base = Base::new(&base, page.encoding(), &rules);
        page.links().map(|link| base.link(link.target).unwrap()).collect()
    }
}

fn pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

#[tokio::test]
async fn a_file_is_its_bytes_with_type_size_and_time() {
    let world = World::new();
    world.write("tree/a/page.html", "<p>hi");
    let fetched = world.get("tree/a/page.html").await.unwrap();
    assert_eq!((fetched.status, fetched.content_type()), (200, Some("text/html")));
    assert_eq!(
        (&fetched.payload[..], fetched.header("content-length")),
        (&b"<p>hi"[..], Some("5"))
    );
    assert_eq!((fetched.protocol, fetched.peer, fetched.head_bytes), (Protocol::File, None, 0));
    assert_eq!(fetched.facts[0].name.as_ref(), "last-modified");
    assert!(fetched.header("last-modified").unwrap().ends_with("GMT"));
    assert!(fetched.truncated.is_none() && fetched.notes.is_empty());
}

#[tokio::test]
async fn a_file_without_a_telling_name_is_looked_into() {
    let world = World::new();
    world.write("tree/README", "words");
    world.write("tree/photo", b"\x89PNG\r\n\x1a\n....");
    world.write("tree/empty", "");
    for (name, kind) in [("README", "text/plain"), ("photo", "image/png"), ("empty", "text/plain")]
    {
        let fetched = world.get(&format!("tree/{name}")).await.unwrap();
        assert_eq!(fetched.content_type(), Some(kind), "{name}");
    }
}

#[tokio::test]
async fn types_that_nobody_asked_for_are_not_read() {
    let mut world = World::new();
    world.accept = vec!["audio/*".to_owned()];
    world.write("tree/song.mp3", "ID3");
    world.write("tree/notes", "words");
    world.write("tree/a.pdf", "%PDF-1");
    world.write("tree/page.html", "<p>");
    for name in ["notes", "a.pdf"] {
        let fetched = world.get(&format!("tree/{name}")).await.unwrap();
        assert_eq!(fetched.truncated, Some(Truncated::Unwanted), "{name}");
        assert!(fetched.payload.is_empty(), "{name}");
    }
    for name in ["song.mp3", "page.html", ""] {
        let fetched = world.get(&format!("tree/{name}")).await.unwrap();
        assert!(fetched.truncated.is_none() && !fetched.payload.is_empty(), "{name}");
    }
}

#[tokio::test]
async fn a_long_file_is_read_in_steps_and_cut_at_the_limit() {
    let mut world = World::new();
    let long: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
    world.write("tree/long.bin", &long);
    let whole = world.get("tree/long.bin").await.unwrap();
    assert_eq!((whole.truncated, &whole.payload[..] == long.as_slice()), (None, true));
    for (bytes_max, truncated) in [
        (long.len(), None),
        (long.len() - 1, Some(Truncated::Length)),
        (1, Some(Truncated::Length)),
    ] {
        world.limits.body_bytes_max = bytes_max as u64;
        let cut = world.get("tree/long.bin").await.unwrap();
        assert_eq!((cut.truncated, cut.payload.len()), (truncated, bytes_max));
        assert_eq!(&cut.payload[..], &long[..bytes_max]);
    }
}

#[tokio::test]
async fn a_file_that_shrinks_while_it_is_read_gives_what_is_there_and_a_note() {
    let world = World::new();
    world.write("tree/log.txt", vec![b'x'; 100_000]);
    let mut reading = {
        let file = File::open(world.path("tree/log.txt")).unwrap();
        let metadata = file.metadata().unwrap();
        Reading::new(file, metadata, Some("text/plain"))
    };
    reading.read_up_to(1_000).unwrap();
    assert!(!reading.is_at_end);
    File::options().write(true).open(world.path("tree/log.txt")).unwrap().set_len(5_000).unwrap();
    reading.read_up_to(50_000).unwrap();
    assert!(reading.is_at_end);
    let body = reading.finish(1_000_000);
    assert_eq!(body.bytes.len(), 5_000);
    assert_eq!(body.notes, ["the file changed while it was read"]);
}

#[tokio::test]
async fn a_symlink_out_of_the_tree_is_refused_and_says_where_it_leads() {
    let world = World::new();
    fs::create_dir(world.path("tree/sub")).unwrap();
    symlink(world.path("outside"), world.path("tree/out")).unwrap();
    symlink("../../outside/secret.txt", world.path("tree/sub/file")).unwrap();
    symlink("/etc/passwd", world.path("tree/passwd")).unwrap();
    for name in ["tree/out", "tree/out/", "tree/out/secret.txt", "tree/sub/file", "tree/passwd"] {
        let reason = world.reason(name).await;
        assert!(reason.starts_with("a symbolic link leads out of the tree, to /"), "{reason}");
    }
    assert!(world.reason("outside/secret.txt").await.contains("out of the tree"));
}

#[tokio::test]
async fn a_directory_swapped_for_a_symlink_is_caught_however_late() {
    let world = World::new();
    world.write("tree/dir/a.txt", "inside");
    let fetcher = world.fetcher();
    fs::rename(world.path("tree/dir"), world.path("tree/moved")).unwrap();
    symlink(world.path("outside"), world.path("tree/dir")).unwrap();
    let permit = Permit::for_test(world.url("tree/dir/secret.txt"), Ipv6Addr::LOCALHOST.into());
    let failure = fetcher.fetch(&permit, &|_| {}).await.expect_err("outside");
    assert!(failure.detail.contains("out of the tree"), "{}", failure.detail);
}

#[tokio::test]
async fn what_was_judged_is_what_is_read_even_if_its_path_is_exchanged_in_between() {
    let world = World::new();
    world.write("tree/a.txt", "inside");
    let trees = &world.fetcher().desk.trees;
    let Ok(Found::File { mut file, .. }) = trees.find(&world.url("tree/a.txt")) else {
        panic!("a file");
    };
    fs::remove_file(world.path("tree/a.txt")).unwrap();
    symlink(world.path("outside/secret.txt"), world.path("tree/a.txt")).unwrap();
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "inside");
}

#[tokio::test]
async fn links_inside_the_tree_are_redirects_and_circles_end() {
    let world = World::new();
    world.write("tree/sub/a.txt", "a");
    symlink(".", world.path("tree/loop")).unwrap();
    symlink(world.path("tree/sub"), world.path("tree/absolute")).unwrap();
    symlink("sub/a.txt", world.path("tree/file")).unwrap();
    symlink("round", world.path("tree/round")).unwrap();
    let rows = [
        ("tree/loop", "tree/"),
        ("tree/loop/", "tree/"),
        ("tree/loop/loop/sub/a.txt", "tree/sub/a.txt"),
        ("tree/absolute", "tree/sub/"),
        ("tree/absolute/a.txt", "tree/sub/a.txt"),
        ("tree/file", "tree/sub/a.txt"),
        ("tree/sub", "tree/sub/"),
    ];
    for (asked, real) in rows {
        assert_eq!(world.target(asked).await, world.url(real).as_str(), "{asked}");
    }
    assert!(world.reason("tree/round").await.contains("symbolic links"));
}

#[tokio::test]
async fn links_are_followed_out_of_the_tree_when_asked() {
    let mut world = World::new();
    world.follow_symlinks = true;
    symlink(world.path("outside"), world.path("tree/out")).unwrap();
    symlink(world.path("outside/secret.txt"), world.path("tree/file")).unwrap();
    assert_eq!(world.target("tree/out").await, world.url("outside/").as_str());
    let fetched = world.get("tree/file").await.unwrap();
    assert_eq!(&fetched.payload[..], b"secret");
    let real = fetched.facts.iter().find(|fact| fact.name.as_ref() == "real-path").unwrap();
    assert_eq!(Path::new(&*real.value), world.path("outside/secret.txt"));
}

#[tokio::test]
async fn a_tree_that_is_itself_reached_by_a_link_keeps_its_name() {
    let world = World::new();
    world.write("outside/sub/a.txt", "a");
    symlink(world.path("outside"), world.path("linked")).unwrap();
    let plan = FilePlan { seeds: vec![world.url("linked/")], ..FilePlan::default() };
    let budget = Arc::new(Budget::new(&world.limits));
    let fetcher = FileFetch::with_budget(&plan, world.limits.clone(), Clock::start(), budget);
    let permit = Permit::for_test(world.url("linked/sub/a.txt"), Ipv6Addr::LOCALHOST.into());
    let fetched = fetcher.fetch(&permit, &|_| {}).await.unwrap();
    assert_eq!((fetched.status, &fetched.payload[..]), (200, &b"a"[..]));
}

#[tokio::test]
async fn pipes_sockets_and_devices_are_named_and_never_opened() {
    let mut world = World::new();
    pipe(&world.path("tree/pipe"));
    let _listener = std::os::unix::net::UnixListener::bind(world.path("tree/socket")).unwrap();
    world.follow_symlinks = true;
    symlink("/dev/null", world.path("tree/null")).unwrap();
    // To open the pipe for reading would wait for a writer for ever.
    for (name, kind) in [("pipe", "a pipe"), ("socket", "a socket"), ("null", "a device")] {
        assert_eq!(world.reason(&format!("tree/{name}")).await, format!("not a file but {kind}"));
    }
}

#[tokio::test]
async fn what_cannot_be_read_says_why() {
    let world = World::new();
    world.write("tree/file.txt", "x");
    world.write("tree/locked.txt", "x");
    fs::set_permissions(world.path("tree/locked.txt"), fs::Permissions::from_mode(0o000)).unwrap();
    assert_eq!(world.reason("tree/none.txt").await, "there is no such file");
    assert_eq!(world.reason("tree/file.txt/").await, "a part of its path is no directory");
    assert_eq!(world.reason("tree/file.txt/x").await, "a part of its path is no directory");
    match File::open(world.path("tree/locked.txt")) {
        Ok(_) => println!("skipped: whoever runs this may read everything"),
        Err(_) => assert_eq!(world.reason("tree/locked.txt").await, "permission denied"),
    }
}

#[tokio::test]
async fn the_crawls_own_directory_is_no_part_of_the_tree() {
    let world = World::new();
    world.write("tree/own.larm/warc/a.warc.gz", "x");
    for name in ["tree/own.larm/", "tree/own.larm/warc/a.warc.gz"] {
        assert_eq!(world.reason(name).await, "the directory that this crawl is kept in");
    }
}

#[tokio::test]
async fn names_of_any_bytes_are_listed_and_found_again() {
    let world = World::new();
    let names: [&[u8]; 12] = [
        b"100%.txt",
        b"a&lt;b",
        b"a:b",
        b"c#",
        b"quote\"'<>",
        b"sp ace",
        b"two\nlines",
        b"what?",
        b"%2e%2e",
        b"%2fetc",
        b"back\\slash",
        b"\xff\xfe.html",
    ];
    for name in names {
        let path = world.path("tree").join(std::ffi::OsStr::from_bytes(name));
        fs::write(path, name).unwrap();
    }
    let links = world.links(world.url("tree/")).await;
    let expected: BTreeSet<String> =
        names.iter().map(|name| format!("{}{}", world.url("tree/"), escaped_name(name))).collect();
    assert_eq!(links.iter().map(ToString::to_string).collect::<BTreeSet<_>>(), expected);
    let mut read = BTreeSet::new();
    for link in links {
        read.insert(world.get_url(link).await.unwrap().payload.to_vec());
    }
    assert_eq!(read, names.iter().map(|name| name.to_vec()).collect());
}

#[tokio::test]
async fn an_empty_directory_is_an_empty_listing() {
    let world = World::new();
    assert!(world.links(world.url("tree/")).await.is_empty());
    let fetched = world.get("tree/").await.unwrap();
    assert_eq!(fetched.facts, [Fact::new("listing", "0 of 0 entries")]);
}

#[tokio::test]
async fn a_large_directory_is_walked_in_parts_and_nothing_is_lost() {
    let mut world = World::new();
    world.limits.listing_entries_max = 999;
    let names: Vec<String> = (0..5_000).map(|i| format!("file {i}")).collect();
    names.iter().for_each(|name| world.write(&format!("tree/{name}"), ""));
    fs::create_dir(world.path("tree/zz dir")).unwrap();
    let (mut found, mut next, mut parts) = (Vec::new(), Some(world.url("tree/")), 0);
    while let Some(part) = next.take() {
        let mut links = world.links(part).await;
        next = links.pop_if(|last| last.query().is_some());
        found.extend(links);
        parts += 1;
    }
    assert_eq!(parts, 6, "5,001 entries");
    assert_eq!(found.len(), 5_001);
    assert!(found.is_sorted());
    assert_eq!(found.last(), Some(&world.url("tree/zz%20dir/")));
    assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), 5_001);
}

#[test]
fn a_part_leaves_room_for_the_link_to_the_next_one() {
    let of = |entries, links| {
        let limits =
            Limits { listing_entries_max: entries, page_links_max: links, ..Limits::default() };
        listing::entries_max(&limits)
    };
    assert_eq!([of(4_999, 5_000), of(10, 5_000), of(4_999, 100), of(5, 1)], [4_999, 10, 99, 1]);
}

#[tokio::test]
async fn lanes_have_addresses_of_their_own_where_nobody_is() {
    struct Nobody;
    impl Resolve for Nobody {
        fn resolve<'a>(
            &'a self,
            _: &'a str,
            _: u16,
        ) -> BoxFuture<'a, Result<super::super::Resolved, Failure>> {
            Box::pin(async { Err(Failure::new(FailureClass::Dns, "asked")) })
        }
    }
    let resolver = LaneResolver(Arc::new(Nobody));
    let mut addresses = BTreeSet::new();
    for lane in larm_core::url::file::LANES {
        let resolved = resolver.resolve(lane, 0).await.unwrap();
        addresses.extend(resolved.addresses);
    }
    assert_eq!(addresses.len(), larm_core::url::file::LANES.len());
    let guard = super::super::Guard::new(std::iter::empty::<(&str, u16)>(), &[], &[]);
    assert!(addresses.iter().all(|address| guard.check("h", 80, *address).is_err()));
    assert!(resolver.resolve("files", 80).await.is_err(), "other names are asked for");
}
