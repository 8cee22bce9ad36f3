//! Pages written down as HTML.
//!
//! With variety, the same link is written in many ways, all of which the HTML standard reads as the
//! same URL, and there are links that are none: in comments, scripts, styles and text areas. Whoever
//! asks for something below `/fake/` has followed one of those.

use std::fmt::Write;

use crate::dice::Dice;
use crate::resource::{Carrier, Form, Link, Page};
use crate::web::Web;

/// The bytes of a page of a host, in the page's charset.
pub(crate) fn render(web: &Web, host: usize, path: &str, page: &Page) -> Vec<u8> {
    let base = page.base.as_deref().unwrap_or(path);
    let dice = Dice::of(&[page.text, 5]);
    let out = String::with_capacity(page.bytes + 2_048);
    let mut pen = Pen { web, host, base, page, dice, out };
    pen.head();
    pen.body();
    page.charset.encode(pen.out)
}

/// What a link takes up, about.
const LINK_BYTES: usize = 50;
/// Shorter paragraphs are not worth their tags.
const PARAGRAPH_BYTES: usize = 300;

struct Pen<'a> {
    web: &'a Web,
    host: usize,
    /// What relative links are relative to.
    base: &'a str,
    page: &'a Page,
    dice: Dice,
    out: String,
}

impl Pen<'_> {
    fn head(&mut self) {
        self.out.push_str("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n");
        if let Some(meta) = self.page.charset.meta() {
            self.line(meta);
        }
        let title = escaped(&self.page.title);
        self.line(&format!("<title>{title}</title>"));
        if let Some(base) = &self.page.base {
            self.line(&format!("<base href=\"{base}\">"));
        }
        if self.page.nofollow {
            self.line("<meta name=\"Robots\" content=\"noarchive, NOFOLLOW\">");
        }
        let in_head = |link: &&Link| link.carrier.stands_in_head();
        for link in self.page.links.iter().filter(in_head) {
            self.link(link);
        }
        self.out.push_str("</head>\n<body>\n");
        self.line(&format!("<h1>{title}</h1>"));
    }

    fn body(&mut self) {
        if self.page.varied {
            self.out.push_str(DECOYS);
        }
        if self.page.varied && self.page.base.is_none() {
            self.line(LINKS_TO_ITSELF);
        }
        if self.page.foreign {
            self.out.push_str(FOREIGN);
        }
        let in_body: Vec<_> =
            self.page.links.iter().filter(|link| !link.carrier.stands_in_head()).collect();
        let room = self.page.bytes.saturating_sub(self.out.len() + LINK_BYTES * in_body.len());
        let room = room.max(PARAGRAPH_BYTES / 2);
        // A paragraph, some links, a paragraph, …, with the room shared out evenly.
        let links_between = in_body.len().div_ceil((room / PARAGRAPH_BYTES).max(1)).max(1);
        let paragraphs = 1 + in_body.len() / links_between;
        self.paragraph(room / paragraphs);
        for (n, link) in in_body.into_iter().enumerate() {
            self.link(link);
            if (n + 1) % links_between == 0 {
                self.paragraph(room / paragraphs);
            }
        }
        self.out.push_str("</body>\n</html>\n");
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Text of about this many bytes: sentences are not cut, so aim half of one lower.
    fn paragraph(&mut self, bytes: usize) {
        let end = self.out.len() + bytes.saturating_sub(50);
        self.out.push_str("<p>");
        while self.out.len() < end {
            self.out.push_str(self.web.prose.sentence(self.host, &mut self.dice));
        }
        self.out.push_str("</p>\n");
    }

    fn link(&mut self, link: &Link) {
        let url = self.href(link);
        let text = self.web.prose.anchor(link.host, &link.path, &mut self.dice);
        let _ = match link.carrier {
            Carrier::Anchor => return self.anchor(&url, &text, link.nofollow),
            Carrier::Noscript => {
                writeln!(self.out, "<noscript><a href='{url}'>{text}</a></noscript>")
            }
            Carrier::Area => writeln!(
                self.out,
                "<map name=m><area shape=\"rect\" coords=\"0,0,9,9\" href=\"{url}\" alt=\"{text}\"></map>"
            ),
            Carrier::Refresh => {
                writeln!(self.out, "<meta http-equiv=\"Refresh\" content=\"30; URL='{url}'\">")
            }
            Carrier::Image => writeln!(self.out, "<img src=\"{url}\" alt=\"\">"),
            Carrier::Srcset => writeln!(self.out, "<img srcset=\"{url} 2x\" alt=\"\">"),
            Carrier::Stylesheet => writeln!(self.out, "<link rel=\"stylesheet\" href=\"{url}\">"),
            Carrier::Script => writeln!(self.out, "<script src=\"{url}\"></script>"),
        };
    }

    fn anchor(&mut self, url: &str, text: &str, nofollow: bool) {
        let rel = if nofollow { " rel=\"external nofollow\"" } else { "" };
        let style = if self.page.varied { self.dice.below(6) } else { 0 };
        // White space cannot stand without quotes.
        let style = if url.contains(char::is_whitespace) { 0 } else { style };
        let _ = match style {
            1 => writeln!(self.out, "<A HREF='{url}'{rel}>{text}</A>"),
            2 => writeln!(self.out, "<a{rel} href={url}>{text}</a>"),
            3 => writeln!(self.out, "<a\n  title=\"x > y\"\n  href = \"{url}\"{rel}\n>{text}</a>"),
            4 => writeln!(self.out, "<a class=b href=\"{url}\"{rel}><b>{text}</b></a>"),
            5 => writeln!(self.out, "<a hReF=\"{url}\"{rel} href=\"/fake/second-href\">{text}"),
            _ => writeln!(self.out, "<a href=\"{url}\"{rel}>{text}</a>"),
        };
    }

    /// The link as attribute text.
    fn href(&self, link: &Link) -> String {
        let (path, port) = (link.written(), self.web.port);
        let name = &self.web.hosts[link.host].name;
        let url = match link.form {
            Form::Absolute => format!("http://{name}:{port}{path}"),
            Form::Shouted => format!("HTTP://{}:{port}{path}", name.to_uppercase()),
            Form::Network => format!("//{name}:{port}{path}"),
            Form::Relative => relative(self.base, path),
            Form::Dotted => format!("/over/./there/../..{path}"),
            Form::Fragment => format!("{path}#part-2"),
            Form::Spaced => format!(" \n\t{path} "),
            Form::Root | Form::Entities => path.to_owned(),
        };
        let escaped = escaped(&url);
        if link.form == Form::Entities { escaped.replace('/', "&#x2F;") } else { escaped }
    }
}

impl Carrier {
    fn stands_in_head(self) -> bool {
        matches!(self, Self::Refresh | Self::Stylesheet | Self::Script)
    }
}

/// `path` as seen from the directory of `base`.
pub(crate) fn relative(base: &str, path: &str) -> String {
    let base = base.split('?').next().unwrap_or_default();
    let directory = &base[..=base.rfind('/').unwrap_or(0)];
    if let Some(rest) = path.strip_prefix(directory) {
        return format!("./{rest}");
    }
    let up = "../".repeat(directory.matches('/').count() - 1);
    format!("{up}{}", path.trim_start_matches('/'))
}

/// Text for attributes and elements.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(c),
        }
    }
    out
}

/// Looks like links; is none.
const DECOYS: &str = "<!-- <a href=\"/fake/comment\">old</a> -- > still <a href='/fake/comment-2'> -->\n\
    <script>var html = '<a href=\"/fake/script\">x<\\/a>'; // <a href=/fake/script-2>\n</script>\n\
    <style>/* <a href=\"/fake/style\"> */</style>\n\
    <textarea><a href=\"/fake/textarea\">typed</a></textarea>\n\
    <a name=\"top\">no link</a> <p title='<a href=\"/fake/attribute\">'>1 < 2 & 3 > 2</p>\n";

/// Where there is no base, these lead to the page that they stand on.
const LINKS_TO_ITSELF: &str = "<a href=\"#top\">top</a> <a href=\"\">here</a>";

/// Links that are real, and nobody's to fetch.
const FOREIGN: &str = "<a href=\"mailto:nobody@example.test\">mail</a>\n\
    <a href=\"javascript:void(0)\">script</a> <a href=\"tel:+123\">call</a>\n\
    <a href=\"ftp://127.0.0.1/file\">ftp</a> <a href=\"data:text/html,hello\">data</a>\n\
    <a href=\"file:///etc/hostname\">file</a> <a href=\"about:blank\">about</a>\n\
    <a href=\"http://10.0.0.1/\">private</a> <a href=\"http://192.168.1.1/admin\">router</a>\n\
    <a href=\"http://169.254.169.254/latest/meta-data/\">metadata</a>\n\
    <a href=\"http://[::1]:9/\">six</a> <a href=\"http://0x7f.1:9/\">hex</a>\n\
    <a href=\"http://\">nothing</a> <a href=\"http://[broken/\">broken</a>\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_links_lead_where_they_should() {
        let rows = [
            ("/", "/p/1.html", "./p/1.html"),
            ("/d/1/", "/p/1.html", "../../p/1.html"),
            ("/view?lang=a/b", "/x", "./x"),
            ("/s/item/3", "/s/item/4", "./4"),
            ("/s/item/3", "/", "../../"),
            ("/deep/a/", "/deep/a/a/", "./a/"),
        ];
        for (base, path, written) in rows {
            assert_eq!(relative(base, path), written, "{path} from {base}");
        }
    }
}
