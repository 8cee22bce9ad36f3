//! What a page brings, as a handful of numbers: one print for each of its longest lines and of its pictures.
//!
//! Whether a page says anything new is asked of the host that it belongs to, which remembers the prints of
//! its other pages. So prints must be few, as they go into the log, and must not depend on what a trap
//! changes from page to page: digits do not count, and of the lines only the longest do, since menus and
//! counters are short and what somebody wrote is not.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::parse::Page;
use crate::{Limits, Via};

/// Letters that a picture counts for: as much as the least text that is worth a page.
pub const PICTURE_LETTERS: u8 = 64;
/// Pictures of a page that are looked at.
const PICTURES_MAX: usize = 8;
/// Lines and links of a page that are looked at.
const LINES_MAX: usize = 1_000;
const LINKS_MAX: usize = 500;
/// How the names of pictures end.
const PICTURES: [&str; 6] = ["jpg", "jpeg", "png", "webp", "avif", "svg"];

/// One line or picture of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Print {
    /// What stands there.
    pub hash: u32,
    /// How many letters it has, 255 at most.
    pub letters: u8,
}

/// The prints of a page, at most `page_prints_max`.
pub fn prints(page: &Page, limits: &Limits) -> Vec<Print> {
    let prints_max = usize::try_from(limits.page_prints_max).unwrap_or(usize::MAX);
    let mut prints: Vec<Print> = pictures(page).take(prints_max).collect();
    let lines = page.substance().flat_map(lines_of).take(LINES_MAX);
    let mut lines: Vec<&str> = lines.collect();
    let lines_max = prints_max - prints.len();
    // Only those that count are looked into.
    if lines.len() > lines_max {
        lines.select_nth_unstable_by_key(lines_max, |line| std::cmp::Reverse(line.len()));
        lines.truncate(lines_max);
    }
    prints.extend(lines.into_iter().filter_map(line_print));
    prints
}

/// The lines of a text that knows no other ends than one.
fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    let mut left = Some(text).filter(|text| !text.is_empty());
    std::iter::from_fn(move || {
        let text = left.take()?;
        let end = memchr::memchr(b'\n', text.as_bytes()).unwrap_or(text.len());
        left = text.get(end + 1..).filter(|rest| !rest.is_empty());
        Some(&text[..end])
    })
}

fn line_print(line: &str) -> Option<Print> {
    let digits = digits(line.as_bytes());
    let letters = line.len() - digits;
    let hash = match digits {
        0 => xxh3_64(line.as_bytes()),
        _ => {
            let mut kept = line.as_bytes().to_vec();
            kept.retain(|byte| !byte.is_ascii_digit());
            xxh3_64(&kept)
        }
    };
    let print = Print { hash: hash as u32, letters: u8::try_from(letters).unwrap_or(u8::MAX) };
    (letters > 0).then_some(print)
}

/// How many digits there are. Sums that fit into a byte are made of many bytes together.
fn digits(line: &[u8]) -> usize {
    let sum = |bytes: &[u8]| bytes.iter().map(|byte| u8::from(byte.is_ascii_digit())).sum::<u8>();
    line.chunks(usize::from(u8::MAX)).map(|bytes| usize::from(sum(bytes))).sum()
}

/// A page may be there for its picture alone. Those with a query are made for whoever asks, and small ones
/// that only count visitors are GIF files as a rule.
fn pictures(page: &Page) -> impl Iterator<Item = Print> {
    let embeds = page.links().take(LINKS_MAX).filter(|link| link.via == Via::Embed);
    let pictures = embeds.map(|link| link.target).filter(|target| is_picture(target));
    pictures
        .take(PICTURES_MAX)
        .map(|target| Print { hash: xxh3_64(target.as_bytes()) as u32, letters: PICTURE_LETTERS })
}

fn is_picture(target: &str) -> bool {
    let ending = target.rsplit_once('.').map_or("", |(_, ending)| ending);
    PICTURES.iter().any(|known| ending.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Input, parse};

    fn page(html: &str) -> Page {
        let url = url::Url::parse("http://h.test/").unwrap();
        let input =
            Input { url: &url, content_type: Some("text/html"), body: html.as_bytes(), text: true };
        parse(&input, &Limits::default())
    }

    fn of(html: &str) -> Vec<Print> {
        prints(&page(html), &Limits::default())
    }

    #[test]
    fn numbers_make_no_other_text() {
        assert_eq!(of("<p>Week 17 of 2024<p>Nothing"), of("<p>Week 3 of 1999<p>Nothing"));
        assert_ne!(of("<p>Week 17 of 2024"), of("<p>Month 17 of 2024"));
        assert!(of("<p>2024<p>17").is_empty());
    }

    #[test]
    fn the_longest_lines_stand_for_a_page() {
        let menu: String = (0..100).map(|n| format!("<li>item {}", "x".repeat(n % 5))).collect();
        let limits = Limits { page_prints_max: 2, ..Limits::default() };
        let long =
            "<p>What somebody wrote about something.<p>And more of the same, a little longer.";
        let found = prints(&page(&format!("<ul>{menu}</ul>{long}")), &limits);
        assert!(found.len() == 2 && found.iter().all(|print| print.letters > 30), "{found:?}");
    }

    #[test]
    fn a_picture_is_worth_something_and_a_counter_is_not() {
        assert_eq!(of("<img src=/p/17.JPG>").len(), 1);
        assert_ne!(of("<img src=/p/17.jpg>"), of("<img src=/p/18.jpg>"));
        assert!(
            of("<img src=/c.gif><img src='/x.png?r=0.7'><script src=/a.js></script>").is_empty()
        );
    }
}
