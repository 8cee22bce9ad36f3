//! The web itself: what stands at every path of every host, as a pure function of a seed.
//!
//! Host *i* is the address 127.1.x.y, so nobody needs DNS. Page 0 of a host is `/`, page *n* is `/p/n`, or a
//! file under its own name where files are served;
//! page *n* links to *3n+1* … *3n+3*, so every page can be reached from `/`. A page is a short beginning
//! that no other page has, a list of links that is made at the start for each number, and passages of
//! prose from a common stock. Nothing is allocated for an answer.
//!
//! Memory is about 10 KB × pages of one host × variants, whatever the number of hosts.

use std::collections::HashMap;
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use crate::Result;
use crate::block::{Block, begin_gzip, end_gzip};
use crate::prose::{Dice, Prose};

/// Passages in stock: as many as a processor's cache holds, and not too few or many. With few, pages of a large web are the
/// same by chance.
const STOCK_BYTES: usize = 2 << 20;
const PASSAGES_MIN: usize = 256;
const PASSAGES_MAX: usize = 4_096;
/// How many a page has.
const PASSAGES_OF_PAGE: usize = 3;
/// Link lists that are made in all, if the hosts have fewer pages: hosts then share them less.
const LISTS_MIN: usize = 1_600;
/// Of 100 links, so many go to other hosts, repeat a link of the page, or are images.
const OUTWARD: usize = 14;
const REPEATED: usize = 8;
const IMAGES: usize = 4;
const HOSTS_OF_NET: usize = 250;
/// Head, blocks, end.
pub const PARTS: usize = PASSAGES_OF_PAGE + 3;

/// How large a web.
#[derive(Clone, Debug, clap::Args)]
pub struct Spec {
    /// Hosts, from 127.1.0.1 on
    #[arg(long, default_value_t = 100)]
    pub hosts: usize,
    /// Pages of each host
    #[arg(long, default_value_t = 200)]
    pub pages: usize,
    /// Bytes of a page, about
    #[arg(long, default_value_t = 28_000)]
    pub bytes: usize,
    /// Links of a page
    #[arg(long, default_value_t = 71)]
    pub links: usize,
    /// Another web
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// One port for all hosts
    #[arg(long, default_value_t = 8_099)]
    pub port: u16,
    /// Send gzip to those who ask for it (`floor`: ask for it)
    #[arg(long)]
    pub gzip: bool,
    /// Serve the .html files below this directory instead, behind an index at `/`
    #[arg(long, value_name = "DIR")]
    pub files: Option<PathBuf>,
}

/// The address of a host.
pub fn address(host: usize) -> Ipv4Addr {
    let (net, number) = (host / HOSTS_OF_NET, host % HOSTS_OF_NET);
    Ipv4Addr::new(127, 1, u8::try_from(net).expect("at most 64,000 hosts"), number as u8 + 1)
}

/// The paths of all pages of a host, by number.
pub fn paths(spec: &Spec) -> Result<Vec<String>> {
    let Some(dir) = &spec.files else { return Ok((0..spec.pages).map(path).collect()) };
    let name = |file: &PathBuf| {
        let name = file.strip_prefix(dir)?.to_str().ok_or("a file's name is no text")?;
        Ok(format!("/{name}"))
    };
    std::iter::once(Ok("/".to_owned())).chain(files(dir)?.iter().map(name)).collect()
}

fn path(page: usize) -> String {
    if page == 0 { "/".to_owned() } else { format!("/p/{page}") }
}

/// What a path names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resource {
    /// A page by number.
    Page(usize),
    /// `/robots.txt`.
    Robots,
    /// A style sheet.
    Style,
    /// An image.
    Image,
    /// Nothing.
    Missing,
}

/// Where an answer is put together; kept from one answer to the next.
#[derive(Default)]
pub struct Scratch {
    head: Vec<u8>,
    beginning: Vec<u8>,
    end: [u8; 10],
}

/// All pages.
pub struct Web {
    spec: Spec,
    /// For each page `variants` lists in a row.
    lists: Vec<Block>,
    variants: usize,
    passages: Vec<Block>,
    files: Vec<Block>,
    /// Where files are served: which page each path is.
    pages: HashMap<Vec<u8>, usize>,
    empty: Block,
}

impl Web {
    /// Makes the blocks, or reads the files.
    pub fn new(mut spec: Spec) -> Result<Self> {
        let (mut files, mut pages) = (Vec::new(), HashMap::new());
        if let Some(dir) = &spec.files {
            files = read(dir, spec.gzip)?;
            let paths = paths(&spec)?;
            spec.pages = paths.len();
            pages = paths.into_iter().enumerate().map(|(page, path)| (path.into(), page)).collect();
        }
        let empty = Block::new(Vec::new(), spec.gzip);
        let variants = LISTS_MIN.div_ceil(spec.pages).min(spec.hosts);
        let [lists, passages] = Default::default();
        let mut web = Self { spec, lists, variants, passages, files, pages, empty };
        web.fill();
        Ok(web)
    }

    fn fill(&mut self) {
        let Spec { pages, bytes, seed, gzip, .. } = self.spec;
        let prose = Prose::new(seed);
        if !self.files.is_empty() {
            self.lists.push(Block::new(self.index(), gzip));
            return;
        }
        let pairs = (0..pages).flat_map(|page| (0..self.variants).map(move |v| (page, v)));
        let lists = pairs.map(|(page, v)| self.list(page, v, &prose).into_bytes());
        self.lists = lists.map(|list| Block::new(list, gzip)).collect();
        let left = bytes.saturating_sub(self.lists[0].plain.len()) / PASSAGES_OF_PAGE;
        let passage = |number| {
            let mut text = prose.sections(left, &mut Dice::new(seed, 1, number as u64));
            text.truncate(left);
            Block::new(text.into_bytes(), gzip)
        };
        let stock = (STOCK_BYTES / left.max(1)).clamp(PASSAGES_MIN, PASSAGES_MAX);
        self.passages = (0..stock).map(passage).collect();
    }

    /// The links of one page.
    fn list(&self, page: usize, variant: usize, prose: &Prose) -> String {
        let mut dice = Dice::new(self.spec.seed, 2 + page as u64, variant as u64);
        let mut out =
            String::from("<link rel=\"stylesheet\" href=\"/style.css\">\n<ul class=\"menu\">\n");
        let children = (3 * page + 1..=3 * page + 3).filter(|&to| to < self.spec.pages);
        let mut targets: Vec<String> = Vec::with_capacity(self.spec.links);
        let mut children = children.map(path);
        while targets.len() + 1 < self.spec.links {
            let target = children.next().unwrap_or_else(|| self.target(&targets, &mut dice));
            self.item(&target, prose, &mut out);
            targets.push(target);
        }
        out.push_str("</ul>\n");
        out
    }

    fn target(&self, before: &[String], dice: &mut Dice) -> String {
        let page = path(dice.below(self.spec.pages));
        match dice.below(100) {
            lot if lot < OUTWARD => {
                let host = address(dice.below(self.spec.hosts));
                format!("http://{host}:{}{page}", self.spec.port)
            }
            lot if lot < OUTWARD + REPEATED && !before.is_empty() => {
                before[dice.below(before.len())].clone()
            }
            lot if lot < OUTWARD + REPEATED + IMAGES => format!("/i/{}.png", dice.below(1_000)),
            _ => page,
        }
    }

    fn item(&self, target: &str, prose: &Prose, out: &mut String) {
        let image = target.ends_with(".png");
        out.push_str("<li class=\"menu__item\">");
        out.push_str(if image {
            "<img class=\"menu__image\" src=\""
        } else {
            "<a class=\"menu__link\" href=\""
        });
        out.push_str(target);
        out.push_str(if image { "\" alt=\"" } else { "\">" });
        self.name(target, prose, out);
        out.push_str(if image { "\"></li>\n" } else { "</a></li>\n" });
    }

    /// What links say of a target: mostly the same, as on any site.
    fn name(&self, target: &str, prose: &Prose, out: &mut String) {
        let number =
            target.bytes().fold(0, |number: u64, byte| number.wrapping_mul(31) + u64::from(byte));
        prose.phrase(4, &mut Dice::new(self.spec.seed, u64::MAX, number), out);
    }

    /// The page at `/` when files are served.
    fn index(&self) -> Vec<u8> {
        let mut paths: Vec<_> = self.pages.keys().collect();
        paths.sort_unstable();
        let mut out = b"<!doctype html><title>Index</title>\n".to_vec();
        for path in paths {
            out.extend_from_slice(&[b"<a href=\"", &path[..], b"\">", path, b"</a>\n"].concat());
        }
        out
    }

    /// How large it is.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The host at this address.
    pub fn host(&self, address: IpAddr) -> Option<usize> {
        let IpAddr::V4(address) = address else { return None };
        let [127, 1, net, number] = address.octets() else { return None };
        let host = usize::from(net) * HOSTS_OF_NET + usize::from(number).checked_sub(1)?;
        (host < self.spec.hosts).then_some(host)
    }

    /// What a path names; the same on every host.
    pub fn resource(&self, path: &[u8]) -> Resource {
        match path {
            b"/" => Resource::Page(0),
            b"/robots.txt" => Resource::Robots,
            _ if !self.files.is_empty() => {
                self.pages.get(path).map_or(Resource::Missing, |page| Resource::Page(*page))
            }
            b"/style.css" => Resource::Style,
            _ if path.starts_with(b"/i/") => Resource::Image,
            _ => path.strip_prefix(b"/p/").and_then(number).map_or(Resource::Missing, |page| {
                if (1..self.spec.pages).contains(&page) {
                    Resource::Page(page)
                } else {
                    Resource::Missing
                }
            }),
        }
    }

    /// The bytes of an answer, head first.
    pub fn answer<'a>(
        &'a self,
        (host, resource): (usize, Resource),
        gzip: bool,
        scratch: &'a mut Scratch,
    ) -> [&'a [u8]; PARTS] {
        scratch.head.clear();
        match resource {
            Resource::Page(page) => return self.page(host, page, gzip, scratch),
            Resource::Robots => {
                plain(scratch, "200 OK", "text/plain", b"User-agent: *\nDisallow: /private/\n");
            }
            Resource::Style => plain(scratch, "200 OK", "text/css", b"body { margin: 2em }\n"),
            Resource::Image => plain(scratch, "200 OK", "image/png", b"\x89PNG\r\n\x1a\n"),
            Resource::Missing => plain(scratch, "404 Not Found", "text/plain", b"Nothing here.\n"),
        }
        let mut parts = [&[][..]; PARTS];
        parts[0] = &scratch.head;
        parts
    }

    fn page<'a>(
        &'a self,
        host: usize,
        page: usize,
        gzip: bool,
        scratch: &'a mut Scratch,
    ) -> [&'a [u8]; PARTS] {
        let Scratch { head, beginning, end } = scratch;
        beginning.clear();
        self.begin(host, page, beginning);
        let blocks = self.blocks(host, page);
        let bytes = blocks.map(|block| if gzip { &block.deflated[..] } else { &block.plain });
        let around = if gzip { 25 } else { 0 } + beginning.len();
        let length = around + bytes.iter().map(|bytes| bytes.len()).sum::<usize>();
        let encoding = if gzip { "Content-Encoding: gzip\r\n" } else { "" };
        start(head, "200 OK", "text/html; charset=utf-8", encoding, length);
        let mut parts = [&[][..]; PARTS];
        if gzip {
            begin_gzip(beginning, head);
            *end = end_gzip(beginning, blocks.into_iter());
            parts[PARTS - 1] = end;
        } else {
            head.extend_from_slice(beginning);
        }
        parts[0] = head;
        parts[1..PARTS - 1].copy_from_slice(&bytes);
        parts
    }

    /// What no other page has.
    fn begin(&self, host: usize, page: usize, out: &mut Vec<u8>) {
        if self.files.is_empty() {
            write!(
                out,
                "<!doctype html>\n<html lang=\"en\">\n<head>\n<title>Page {page} of host {host}</title>\n\
                 <meta name=\"viewport\" content=\"width=device-width\">\n</head>\n<body>\n<h1>{page}</h1>\n"
            )
        } else {
            writeln!(out, "<!-- page {page} of host {host} -->")
        }
        .expect("memory is enough");
    }

    fn blocks(&self, host: usize, page: usize) -> [&Block; PASSAGES_OF_PAGE + 1] {
        let mut blocks = [&self.empty; PASSAGES_OF_PAGE + 1];
        if !self.files.is_empty() {
            blocks[0] = if page == 0 { &self.lists[0] } else { &self.files[page - 1] };
            return blocks;
        }
        let mut dice = Dice::new(!self.spec.seed, host as u64, page as u64);
        blocks[0] = &self.lists[page * self.variants + host % self.variants];
        blocks[1..].fill_with(|| &self.passages[dice.below(self.passages.len())]);
        blocks
    }
}

fn start(out: &mut Vec<u8>, status: &str, kind: &str, encoding: &str, length: usize) {
    write!(
        out,
        "HTTP/1.1 {status}\r\nServer: bench\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n\
         Content-Type: {kind}\r\n{encoding}Content-Length: {length}\r\n\
         Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT\r\nCache-Control: max-age=3600\r\n\r\n"
    )
    .expect("memory is enough");
}

fn plain(scratch: &mut Scratch, status: &str, kind: &str, body: &[u8]) {
    start(&mut scratch.head, status, kind, "", body.len());
    scratch.head.extend_from_slice(body);
}

fn number(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn read(dir: &Path, gzip: bool) -> Result<Vec<Block>> {
    files(dir)?.iter().map(|path| Ok(Block::new(std::fs::read(path)?, gzip))).collect()
}

/// The files in order of their names, so that every run serves the same.
fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let (mut dirs, mut paths) = (vec![dir.to_owned()], Vec::new());
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir)? {
            let path = entry?.path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|name| name == "html") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    (!paths.is_empty()).then_some(()).ok_or(format!("{}: no .html file", dir.display()))?;
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::io::Read;

    use super::*;
    use crate::scan::links;

    fn web() -> Web {
        let [hosts, pages, links] = [300, 50, 71];
        let (bytes, seed, port) = (28_000, 1, 80);
        Web::new(Spec { hosts, pages, bytes, links, seed, port, gzip: true, files: None }).unwrap()
    }

    /// The body of a page, as it goes over the wire.
    fn body(web: &Web, host: usize, page: usize, gzip: bool) -> Vec<u8> {
        let answer =
            web.answer((host, Resource::Page(page)), gzip, &mut Scratch::default()).concat();
        let end = memchr::memmem::find(&answer, b"\r\n\r\n").unwrap() + 4;
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        assert!(head.contains(&format!("Content-Length: {}\r\n", answer.len() - end)), "{head}");
        answer[end..].to_vec()
    }

    #[test]
    fn every_page_can_be_reached_from_the_first() {
        let web = web();
        let (mut known, mut waiting) = (BTreeSet::from([0]), vec![0]);
        while let Some(page) = waiting.pop() {
            links(&body(&web, 7, page, false), |link| match web.resource(link) {
                Resource::Page(to) if known.insert(to) => waiting.push(to),
                _ => {}
            });
        }
        assert_eq!(known.len(), 50);
    }

    #[test]
    fn no_two_pages_are_equal_and_gzip_holds_the_same() {
        let web = web();
        let mut bodies = BTreeSet::new();
        for (host, page) in [(0, 0), (0, 1), (0, 49), (8, 1), (299, 1)] {
            let (plain, gzip) = (body(&web, host, page, false), body(&web, host, page, true));
            let mut text = Vec::new();
            flate2::read::GzDecoder::new(&gzip[..]).read_to_end(&mut text).unwrap();
            assert_eq!(text, plain);
            assert!((24_000..32_000).contains(&plain.len()), "{} bytes", plain.len());
            let ratio = crate::block::ratio(&plain, 1);
            assert!((3.3..4.4).contains(&ratio), "packed to one in {ratio}");
            assert!(bodies.insert(plain));
        }
    }

    #[test]
    fn a_host_is_found_by_its_address() {
        let web = web();
        for host in [0, 1, 249, 250, 299] {
            assert_eq!(web.host(address(host).into()), Some(host));
        }
        for stranger in ["127.1.1.51", "127.0.0.1", "127.1.0.0"] {
            assert_eq!(web.host(stranger.parse().unwrap()), None);
        }
    }
}
