//! Links out of HTML, naively but by the standard's rules as far as this web uses them.

/// Something that a tag links to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub href: String,
    pub nofollow: bool,
}

/// What a page says about links.
#[derive(Debug, Default)]
pub struct Scan {
    pub links: Vec<Found>,
    pub base: Option<String>,
    pub nofollow: bool,
    pub title: String,
}

/// Reads a page.
pub fn scan(text: &str) -> Scan {
    let mut scan = Scan::default();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
        } else if rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            rest = tag(rest, &mut scan);
        }
    }
    scan
}

/// Reads one tag and gives what follows it, raw text elements skipped.
fn tag<'t>(text: &'t str, scan: &mut Scan) -> &'t str {
    let name_end =
        text.find(|c: char| c.is_whitespace() || c == '>' || c == '/').unwrap_or(text.len());
    let name = text[..name_end].to_ascii_lowercase();
    let (attributes, rest) = attributes(&text[name_end..]);
    let value = |wanted: &str| {
        attributes.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    };
    note(&name, &value, scan);
    if !["script", "style", "textarea", "title"].contains(&name.as_str()) {
        return rest;
    }
    let (inside, after) = rest.split_once(&format!("</{name}")).unwrap_or(("", ""));
    if name == "title" {
        scan.title = unescaped(inside);
    }
    after
}

fn note<'a>(name: &str, value: &impl Fn(&str) -> Option<&'a str>, scan: &mut Scan) {
    let rel = value("rel").unwrap_or_default().to_ascii_lowercase();
    let nofollow = rel.split_whitespace().any(|word| word == "nofollow");
    let mut link = |href: &str| scan.links.push(Found { href: href.trim().to_owned(), nofollow });
    match name {
        "a" | "area" | "link" => value("href").into_iter().for_each(&mut link),
        "img" | "script" => {
            value("src").into_iter().for_each(&mut link);
            let sets = value("srcset").into_iter().filter_map(|set| set.split_whitespace().next());
            sets.for_each(&mut link);
        }
        "base" => scan.base = value("href").map(str::to_owned),
        "meta" if value("http-equiv").is_some_and(|v| v.eq_ignore_ascii_case("refresh")) => {
            let content = value("content").unwrap_or_default();
            let url = content.split_once("URL=").map(|(_, url)| url.trim_matches('\''));
            url.into_iter().for_each(link);
        }
        "meta" if value("name").is_some_and(|v| v.eq_ignore_ascii_case("robots")) => {
            let content = value("content").unwrap_or_default();
            scan.nofollow |= content.to_ascii_lowercase().contains("nofollow");
        }
        _ => {}
    }
}

/// The attributes up to the end of a tag, and what follows. The first of a name counts.
fn attributes(text: &str) -> (Vec<(String, String)>, &str) {
    let (mut found, mut rest) = (Vec::new(), text.trim_start());
    while !rest.is_empty() && !rest.starts_with('>') {
        let end = rest.find(|c: char| c.is_whitespace() || "=>".contains(c)).unwrap_or(rest.len());
        let name = rest[..end].to_ascii_lowercase();
        rest = rest[end..].trim_start();
        let mut value = "";
        if let Some(after) = rest.strip_prefix('=') {
            (value, rest) = attribute_value(after.trim_start());
        } else if end == 0 {
            rest = &rest[1..];
        }
        found.push((name, unescaped(value)));
        rest = rest.trim_start();
    }
    (found, rest.strip_prefix('>').unwrap_or(rest))
}

fn attribute_value(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(quoted) = text.strip_prefix(quote) {
            return quoted.split_once(quote).unwrap_or((quoted, ""));
        }
    }
    text.split_at(text.find(|c: char| c.is_whitespace() || c == '>').unwrap_or(text.len()))
}

fn unescaped(text: &str) -> String {
    let text = text.replace("&#x2F;", "/").replace("&lt;", "<").replace("&quot;", "\"");
    text.replace("&amp;", "&")
}

#[test]
fn only_real_links_are_found() {
    let page = "<!-- <a href=/no> --><script>'<a href=/no>'</script><A HREF=/a>x</A>\
                <a title='>' href='&#x2F;b?c&amp;d'>y<p title='<a href=/no>'>";
    let found: Vec<_> = scan(page).links.into_iter().map(|found| found.href).collect();
    assert_eq!(found, ["/a", "/b?c&d"]);
}
