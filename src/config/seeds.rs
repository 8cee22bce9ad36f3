//! Where a crawl begins: arguments, files and standard input, line by line.
//!
//! A bad argument is an error. A bad line of a file is skipped and reported with its number: one typo
//! must not cost a list of a million.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::Result;
use larm_core::Limits;
use larm_core::url::{CrawlUrl, UrlRules};

use super::file::is_dash;
use super::local::seed;
use super::raw::Settings;
use super::secret::{BEHIND_HOST, split_user};
use crate::exit::usage;

/// How many bad lines are shown.
const SHOWN_MAX: usize = 5;

/// Where a crawl begins, each URL once.
#[derive(Debug, Clone, Default)]
pub struct Seeds {
    /// Pages.
    pub pages: Vec<CrawlUrl>,
    /// Sitemaps.
    pub sitemaps: Vec<CrawlUrl>,
    /// Lines that were skipped.
    pub skipped: Skipped,
    /// How arguments were taken that could be meant in two ways.
    pub taken: Vec<String>,
}

/// Lines of a seed file that could not be used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped {
    /// How many.
    pub count: u64,
    /// What is wrong with the first of them.
    pub shown: Vec<String>,
}

impl Seeds {
    /// Pages, then sitemaps.
    pub fn all(&self) -> impl Iterator<Item = &CrawlUrl> {
        self.pages.iter().chain(&self.sitemaps)
    }

    /// Whether there is nowhere to begin.
    pub fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }

    /// Puts what an earlier run began with in front. Says how many are new.
    pub fn go_on_from(&mut self, earlier: Seeds) -> usize {
        let known = earlier.pages.len() + earlier.sitemaps.len();
        self.pages = distinct(earlier.pages.into_iter().chain(self.pages.drain(..)));
        self.sitemaps = distinct(earlier.sitemaps.into_iter().chain(self.sitemaps.drain(..)));
        (self.pages.len() + self.sitemaps.len()).saturating_sub(known)
    }
}

/// The part of the settings that says where to begin.
#[derive(Debug, Default)]
pub struct Begin {
    pages: Vec<String>,
    input: Option<PathBuf>,
    sitemaps: Vec<String>,
}

/// Takes that part out of the settings.
pub fn take(settings: &mut Settings) -> Begin {
    Begin {
        pages: std::mem::take(&mut settings.seeds),
        input: settings.input.take(),
        sitemaps: std::mem::take(&mut settings.sitemap),
    }
}

/// Reads the seeds of all layers.
pub fn read(begins: [Begin; 2], rules: &UrlRules, limits: &Limits) -> Result<Seeds> {
    let mut seeds = Seeds::default();
    for begin in begins {
        for text in &begin.pages {
            let (page, taken) = typed(text, "", rules)?;
            seeds.pages.push(page);
            seeds.taken.extend(taken);
        }
        for text in &begin.sitemaps {
            seeds.sitemaps.push(typed(text, "--sitemap ", rules)?.0);
        }
        if let Some(path) = &begin.input {
            let lines =
                open(path).map_err(|error| usage(format!("-i {}: {error}", path.display())))?;
            let read = read_lines(lines, rules, limits, &mut seeds);
            read.map_err(|error| usage(format!("-i {}: {error}", path.display())))?;
        }
    }
    seeds.pages = distinct(seeds.pages.into_iter());
    seeds.sitemaps = distinct(seeds.sitemaps.into_iter());
    Ok(seeds)
}

fn typed(text: &str, flag: &str, rules: &UrlRules) -> Result<(CrawlUrl, Option<String>)> {
    if let Some(why) = has_user(text) {
        return Err(usage(why));
    }
    seed(text, rules).map_err(|error| {
        usage(format!(
            "`{flag}{text}` cannot be crawled: {error}; write it like https://example.com/ or ./directory"
        ))
    })
}

/// What to say of a URL with a user in it: without the password.
fn has_user(text: &str) -> Option<String> {
    let (_, host) = split_user(text)?;
    let host = host.split(BEHIND_HOST).next().unwrap_or_default();
    Some(format!(
        "the URL of {host} has a user or password in it, which would not be sent; give it with \
         --basic-auth, as USER:PASSWORD or env:NAME"
    ))
}

fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    if is_dash(path) {
        return Ok(Box::new(io::stdin().lock()));
    }
    Ok(Box::new(BufReader::new(File::open(path)?)))
}

/// Reads one URL a line; empty lines and those that begin with `#` are passed over.
fn read_lines(
    mut lines: impl BufRead,
    rules: &UrlRules,
    limits: &Limits,
    seeds: &mut Seeds,
) -> io::Result<()> {
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let max = limits.seed_line_bytes_max;
        if lines.by_ref().take(max).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.len() as u64 == max && !line.ends_with(b"\n") {
            skip_line(&mut lines)?;
            seeds.skipped.note(number, "longer than the limit `seed_line_bytes_max`");
            continue;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        if seeds.pages.len() as u64 >= limits.seeds_max {
            seeds.skipped.note(number, "the limit `seeds_max` is reached");
            continue;
        }
        match (has_user(text), seed(text, rules)) {
            (Some(why), _) => seeds.skipped.note(number, &why),
            (None, Ok((url, _))) => seeds.pages.push(url),
            (None, Err(error)) => {
                seeds.skipped.note(number, &format!("`{}`: {error}", shown(text)));
            }
        }
    }
    Ok(())
}

impl Skipped {
    fn note(&mut self, line: u64, why: &str) {
        self.count += 1;
        if self.shown.len() < SHOWN_MAX {
            self.shown.push(format!("line {line}: {why}"));
        }
    }
}

fn shown(text: &str) -> String {
    crate::human::cut(text, 80)
}

fn skip_line(lines: &mut impl BufRead) -> io::Result<()> {
    lines.skip_until(b'\n').map(drop)
}

fn distinct(urls: impl Iterator<Item = CrawlUrl>) -> Vec<CrawlUrl> {
    let mut seen = HashSet::new();
    urls.filter(|url| seen.insert(url.fingerprint())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &[u8], limits: &Limits) -> Seeds {
        let mut seeds = Seeds::default();
        read_lines(text, &UrlRules::default(), limits, &mut seeds).unwrap();
        seeds
    }

    #[test]
    fn a_seed_file_may_have_comments_and_bad_lines() {
        let text = "\u{feff}# ours\nexample.com\n\n  http://b.example/x  \nhttp://\nmailto:a@b\n";
        let seeds = read_text(text.as_bytes(), &Limits::default());
        let pages: Vec<_> = seeds.pages.iter().map(CrawlUrl::as_str).collect();
        assert_eq!(pages, ["https://example.com/", "http://b.example/x"]);
        assert_eq!(seeds.skipped.count, 2);
        assert!(seeds.skipped.shown[0].starts_with("line 5: "), "{:?}", seeds.skipped);
        assert!(seeds.skipped.shown[1].contains("mailto"), "{:?}", seeds.skipped);
    }

    #[test]
    fn a_password_in_a_line_is_not_repeated() {
        let text =
            "http://me:sesame@h.example:bad/\nme:sesame@h.example\nhttps://me:sesame@h/x?q=@\n";
        let seeds = read_text(text.as_bytes(), &Limits::default());
        assert_eq!((seeds.pages.len(), seeds.skipped.count), (0, 3));
        for (why, host) in seeds.skipped.shown.iter().zip(["h.example:bad", "h.example", "h"]) {
            assert!(!why.contains("sesame"), "{why}");
            assert!(why.contains(&format!("the URL of {host} has a user")), "{why}");
        }
    }

    #[test]
    fn an_endless_line_costs_itself_alone() {
        let limits = Limits { seed_line_bytes_max: 20, ..Limits::default() };
        let text = [b"a.example\n".as_slice(), &[b'x'; 500], b"\nb.example"].concat();
        let seeds = read_text(&text, &limits);
        assert_eq!(seeds.pages.len(), 2);
        assert_eq!(seeds.skipped.count, 1);
    }

    #[test]
    fn going_on_keeps_the_old_seeds_and_counts_the_new_ones() {
        let of = |text: &str| read_text(text.as_bytes(), &Limits::default());
        let mut seeds = of("b.example\nc.example");
        assert_eq!(seeds.go_on_from(of("a.example\nb.example")), 1);
        let hosts: Vec<_> = seeds.pages.iter().map(CrawlUrl::host).collect();
        assert_eq!(hosts, ["a.example", "b.example", "c.example"]);
    }
}
