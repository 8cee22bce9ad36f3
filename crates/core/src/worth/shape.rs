//! The shape of a URL: what it has in common with others that the same program of its server makes.
//!
//! Numbers, dates, ids and speaking names stand for many, so they become placeholders; the short plain words
//! of directories stay. Of a query the names of the parameters stay, in the order of the alphabet, and none
//! of their values. `/cal/2024/05` and `/cal/1999/12` are both `/cal/{n}/{n}`.
//!
//! A server may hide that many URLs are one thing: by words in place of numbers, or by parameters that come
//! and go. So a URL has several shapes, from the finest to the coarsest: `/shop/list?colour&size`, then
//! `/shop/list?**` with any parameters, then `/shop/**`, the directory.
//!
//! Pure text in, text out. Any text has shapes, and they are no longer than it is, by and large.

use std::fmt::Write;

use xxhash_rust::xxh3::xxh3_64;

/// Parameter names that are told apart. What comes behind them is the same to us.
const NAMES_MAX: usize = 12;
/// Letters of a directory's name that may be a word.
const WORD_MAX: usize = 16;
/// Letters and digits in a row that are an id, and no word with a number.
const ID_MIN: usize = 8;

/// The shapes of one URL, the finest first: one to three of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shapes(Vec<String>);

impl Shapes {
    /// Of a URL's path and query.
    pub fn of(path_and_query: &str) -> Self {
        let (path, query) = match path_and_query.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (path_and_query, None),
        };
        let directory = path_shape(path);
        let mut shapes = Vec::with_capacity(3);
        if let Some(query) = query {
            shapes.push(format!("{directory}?{}", names(query)));
        }
        let top = top_directory(path);
        shapes.push(if query.is_some() { format!("{directory}?**") } else { directory });
        shapes.extend(top);
        Self(shapes)
    }

    /// Each with the key that it is looked up by.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &str)> {
        self.0.iter().map(|shape| (xxh3_64(shape.as_bytes()), shape.as_str()))
    }

    /// Whether both have a shape in common.
    pub fn is_kin_of(&self, other: &Self) -> bool {
        self.0.iter().any(|shape| other.0.contains(shape))
    }

    /// The finest.
    pub fn finest(&self) -> &str {
        self.0.first().map_or("/", String::as_str)
    }
}

fn path_shape(path: &str) -> String {
    let segments: Vec<&str> = path.strip_prefix('/').unwrap_or(path).split('/').collect();
    let last = segments.iter().rposition(|segment| !segment.is_empty()).unwrap_or_default();
    let mut shape = String::with_capacity(path.len() + 8);
    for (i, segment) in segments.iter().enumerate() {
        shape.push('/');
        push_segment(&mut shape, segment, i == last);
    }
    shape
}

/// `/shop/**`, for what lies at least one directory deep.
fn top_directory(path: &str) -> Option<String> {
    let (top, below) = path.strip_prefix('/')?.split_once('/')?;
    if below.is_empty() {
        return None;
    }
    let mut shape = "/".to_owned();
    push_segment(&mut shape, top, false);
    shape.push_str("/**");
    Some(shape)
}

/// One segment. What stands last is the name of a thing, and any word there is one of many.
fn push_segment(shape: &mut String, segment: &str, is_last: bool) {
    let (name, parameter) = match segment.split_once(';') {
        Some((name, parameter)) => (name, Some(parameter)),
        None => (segment, None),
    };
    match name.rsplit_once('.').filter(|(_, ending)| is_last && is_ending(ending)) {
        Some((stem, ending)) => {
            push_name(shape, stem, true);
            let _ = write!(shape, ".{ending}");
        }
        None => push_name(shape, name, is_last),
    }
    if let Some(parameter) = parameter {
        let _ = write!(shape, ";{}", parameter.split('=').next().unwrap_or_default());
    }
}

fn is_ending(text: &str) -> bool {
    let letters = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    letters && text.len() <= 5 && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn push_name(shape: &mut String, name: &str, is_last: bool) {
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    let letters = name.bytes().filter(u8::is_ascii_alphabetic).count();
    let others = name.len() - digits - letters;
    match (digits, letters, others) {
        (0, 0, 0) => {}
        (1.., 0, _) => shape.push_str("{n}"),
        (0, 1..=WORD_MAX, 0) if !is_last => shape.push_str(name),
        (0, ..) => shape.push_str("{w}"),
        (_, _, 0) if is_id(name, digits) => shape.push_str("{id}"),
        (_, _, 0) => push_numbered(shape, name),
        (_, _, 1..=4) if is_dashed_id(name) => shape.push_str("{id}"),
        _ => shape.push_str("{w}"),
    }
}

/// A hash, or another text that nobody would type.
fn is_id(name: &str, digits: usize) -> bool {
    let mixed = digits >= 2 && name.len() >= ID_MIN;
    mixed && (name.bytes().all(|byte| byte.is_ascii_hexdigit()) || name.len() >= 2 * ID_MIN)
}

/// As UUIDs are written.
fn is_dashed_id(name: &str) -> bool {
    name.len() >= 4 * ID_MIN && name.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// `item42` is `item{n}`.
fn push_numbered(shape: &mut String, name: &str) {
    let mut in_number = false;
    for c in name.chars() {
        match (c.is_ascii_digit(), in_number) {
            (true, false) => shape.push_str("{n}"),
            (true, true) => {}
            (false, _) => shape.push(c),
        }
        in_number = c.is_ascii_digit();
    }
}

/// The names of a query's parameters.
fn names(query: &str) -> String {
    let pairs = query.split(['&', ';']).filter(|pair| !pair.is_empty());
    let mut names: Vec<String> = pairs.take(4 * NAMES_MAX).map(name).collect();
    names.sort_unstable();
    names.dedup();
    names.truncate(NAMES_MAX);
    names.join("&")
}

fn name(pair: &str) -> String {
    let mut name = String::new();
    push_numbered(&mut name, pair.split('=').next().unwrap_or_default());
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_one_program_have_one_shape() {
        let rows = [
            ("/", "/"),
            ("/about", "/{w}"),
            ("/cal/2024/05", "/cal/{n}/{n}"),
            ("/cal/2024-05-01/", "/cal/{n}/"),
            ("/p/17.html", "/p/{n}.html"),
            ("/docs/guide/first-steps.html", "/docs/guide/{w}.html"),
            ("/s3/item/17", "/s{n}/item/{n}"),
            ("/product/blue-widget-42", "/product/{w}"),
            ("/files/d41d8cd98f00b204e9800998ecf8427e", "/files/{id}"),
            ("/o/123e4567-e89b-12d3-a456-426614174000/view", "/o/{id}/{w}"),
            ("/shop;jsessionid=8F3A/cart", "/shop;jsessionid/{w}"),
            ("/view?lang=en&id=4", "/{w}?id&lang"),
            ("/view?id=9&lang=de&id=3", "/{w}?id&lang"),
            ("/list?f[0]=a&f[12]=b", "/{w}?f[{n}]"),
            ("/w/%C3%A4pfel", "/w/{w}"),
        ];
        for (url, shape) in rows {
            assert_eq!(Shapes::of(url).finest(), shape, "{url}");
        }
    }

    #[test]
    fn coarser_shapes_take_in_what_the_finer_ones_tell_apart() {
        let all = |url| Shapes::of(url).0;
        assert_eq!(all("/shop/list?size=1"), ["/shop/{w}?size", "/shop/{w}?**", "/shop/**"]);
        assert_eq!(all("/shop/red/large/"), ["/shop/red/{w}/", "/shop/**"]);
        assert_eq!(all("/index.php?a=1&b"), ["/{w}.php?a&b", "/{w}.php?**"]);
        assert_eq!(all("/about/"), ["/{w}/"]);
        assert_eq!(all(""), ["/"]);
    }

    #[test]
    fn any_text_has_shapes() {
        for text in
            ["?", "/?", "//", "/;", "/a;b;c=", "/.", "/..x", "/?&&==", "/ü/ß?ö=1", "no/slash"]
        {
            assert!(!Shapes::of(text).0.is_empty(), "{text}");
        }
    }
}
