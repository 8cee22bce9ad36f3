//! The forms of a page, for a login to fill in.
//!
//! Not part of reading a page: it is done once per login, and knows no more of forms than a login
//! needs. A field stands in the form whose start tag came last and has not ended.

use super::attributes::read_attributes;
use super::name::Tag;
use super::reference::decode_attribute;
use super::scanner::{Dialect, Event, Scanner};
use crate::Limits;
use crate::parse::{Input, Kind};

/// Fields of one form that are kept.
const FIELDS_MAX: usize = 200;
/// Forms of one page that are kept.
const FORMS_MAX: usize = 50;

/// One form as the page has it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Form {
    /// Its `name` and its `id`.
    pub names: Vec<String>,
    /// Where it is sent, as written; empty for the page itself.
    pub action: String,
    /// Whether it is sent by POST.
    pub is_post: bool,
    /// Whether it asks for a password.
    pub has_password: bool,
    /// What a browser would send if nobody changed anything: name and value, in their order.
    pub fields: Vec<(String, String)>,
    /// Every name that can be filled in.
    pub inputs: Vec<String>,
}

/// The attributes of one tag, decoded.
struct Tagged(Vec<(String, String)>);

impl Tagged {
    /// Reads the tag that begins at `at`.
    fn read(source: &str, at: usize) -> Self {
        let name_end = source[at..].find(|c: char| c.is_ascii_whitespace() || c == '>' || c == '/');
        let mut found = Vec::new();
        let behind = at + name_end.unwrap_or(0);
        read_attributes(source, behind, |name, raw| {
            let mut value = String::new();
            decode_attribute(raw, &mut value);
            found.push((String::from_utf8_lossy(name).to_ascii_lowercase(), value));
        });
        Self(found)
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// The forms of an HTML page.
pub fn forms(input: &Input<'_>, limits: &Limits) -> Vec<Form> {
    let decoded = input.decode(Kind::Html, input.mime().as_ref());
    let source = &*decoded.text;
    let mut scanner = Scanner::new(source, Dialect::Html, limits.page_nesting_max);
    let mut forms = Vec::new();
    let mut open: Option<Form> = None;
    while let Some(event) = scanner.next() {
        match event {
            Event::Start { tag: Tag::Form, .. } => {
                forms.extend(open.take());
                open = Some(Form::begin(&Tagged::read(source, scanner.tag_at())));
            }
            Event::End { tag: Tag::Form, .. } => forms.extend(open.take()),
            Event::Start { tag, .. } => {
                let is_field =
                    matches!(tag, Tag::Input | Tag::Select | Tag::Textarea | Tag::Button);
                if let Some(form) = open.as_mut().filter(|_| is_field) {
                    form.add(tag, &Tagged::read(source, scanner.tag_at()));
                }
            }
            _ => {}
        }
        if forms.len() == FORMS_MAX {
            break;
        }
    }
    forms.extend(open);
    forms.truncate(FORMS_MAX);
    forms
}

impl Form {
    fn begin(tag: &Tagged) -> Self {
        let names = ["name", "id"].into_iter().filter_map(|name| tag.get(name));
        Self {
            names: names.map(str::to_owned).collect(),
            action: tag.get("action").unwrap_or_default().to_owned(),
            is_post: tag.get("method").is_some_and(|method| method.eq_ignore_ascii_case("post")),
            ..Self::default()
        }
    }

    fn add(&mut self, tag: Tag, tagged: &Tagged) {
        let kind = tagged.get("type").unwrap_or_default().to_ascii_lowercase();
        self.has_password |= kind == "password";
        let Some(name) = tagged.get("name").filter(|name| !name.is_empty()) else { return };
        if self.inputs.len() >= FIELDS_MAX {
            return;
        }
        self.inputs.push(name.to_owned());
        let silent = matches!(kind.as_str(), "submit" | "button" | "reset" | "image" | "file")
            || tag == Tag::Button
            || tagged.get("disabled").is_some();
        let unticked =
            matches!(kind.as_str(), "checkbox" | "radio") && tagged.get("checked").is_none();
        if !silent && !unticked {
            let ticked = if matches!(kind.as_str(), "checkbox" | "radio") { "on" } else { "" };
            let value = tagged.get("value").unwrap_or(ticked);
            self.fields.push((name.to_owned(), value.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Vec<Form> {
        let url = url::Url::parse("http://h/").unwrap();
        let body = body.as_bytes();
        let input = Input { url: &url, content_type: Some("text/html"), body, text: false };
        forms(&input, &Limits::default())
    }

    #[test]
    fn a_form_is_read_as_a_browser_would_send_it() {
        let page = r#"<form action=/search><input name=q value=x></form><!-- <form> -->
            <FORM id="login" name='l' METHOD=Post action="/in?a=1&amp;b=2">
            <input type=hidden name=csrf value="t&quot;k"><input name=user>
            <input type="password" name=pass><input type=checkbox name=keep value=1 checked>
            <input type=checkbox name=spam><input type=submit name=go value=Go>
            <input name=off disabled value=1><button name=b>x</button></form>"#;
        let forms = read(page);
        assert_eq!(forms.len(), 2);
        assert!(!forms[0].is_post && !forms[0].has_password);
        let login = &forms[1];
        assert_eq!(login.names, ["l", "login"]);
        assert_eq!((login.action.as_str(), login.is_post), ("/in?a=1&b=2", true));
        assert!(login.has_password);
        let fields: Vec<_> = login.fields.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(fields, [("csrf", "t\"k"), ("user", ""), ("pass", ""), ("keep", "1")]);
        assert_eq!(login.inputs, ["csrf", "user", "pass", "keep", "spam", "go", "off", "b"]);
    }

    #[test]
    fn floods_of_forms_and_fields_have_an_end() {
        assert_eq!(read(&"<form>".repeat(1_000)).len(), FORMS_MAX);
        let fields = format!("<form>{}", "<input name=a>".repeat(1_000));
        assert_eq!(read(&fields)[0].fields.len(), FIELDS_MAX);
        assert_eq!(read("<form"), []);
    }
}
