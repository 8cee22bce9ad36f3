//! The scanner by itself: outside tokenizer cases, and what each kind of element gives.

use std::collections::BTreeMap;

use serde_json::Value;
use url::Url;

use super::attributes::read_attributes;
use super::name::Tag;
use super::reference::{decode_attribute, decode_text};
use super::token::Token;
use super::tokenizer::{Mode, Tokenizer};
use crate::parse::{Input, Note, Page, parse, testdata};
use crate::{Limits, Via};

/// A token as html5lib writes it; comments and doctypes are left out, as the scanner leaves them out.
#[derive(Debug, PartialEq)]
enum Plain {
    Text(String),
    Start(String, BTreeMap<String, String>, bool),
    End(String),
}

fn plain_name(name: &str) -> String {
    name.to_ascii_lowercase().replace('\0', "\u{fffd}")
}

fn plain_attributes(source: &str, name: &str) -> BTreeMap<String, String> {
    let at = name.as_ptr() as usize - source.as_ptr() as usize + name.len();
    let mut attributes = BTreeMap::new();
    read_attributes(source, at, |name, value| {
        let mut decoded = String::new();
        decode_attribute(value, &mut decoded);
        let name = std::str::from_utf8(name).unwrap();
        attributes.entry(plain_name(name)).or_insert(decoded);
    });
    attributes
}

fn push_text(tokens: &mut Vec<Plain>, text: &str) {
    match tokens.last_mut() {
        Some(Plain::Text(last)) => last.push_str(text),
        _ => tokens.push(Plain::Text(text.to_owned())),
    }
}

fn tokens_of(source: &str, mode: Mode, cdata: bool) -> Vec<Plain> {
    let mut tokenizer = Tokenizer::new(source);
    tokenizer.set_mode(mode);
    let mut tokens = Vec::new();
    while let Some(token) = tokenizer.next(cdata) {
        match token {
            Token::Blank(text) | Token::Text(text) => {
                let mut decoded = String::new();
                decode_text(text, &mut decoded);
                push_text(&mut tokens, &decoded);
            }
            Token::Raw(text) => {
                push_text(&mut tokens, &text.replace("\r\n", "\n").replace('\r', "\n"))
            }
            Token::Start { name, self_closing } => {
                let attributes = plain_attributes(source, name.as_str());
                tokens.push(Plain::Start(plain_name(name.as_str()), attributes, self_closing));
            }
            Token::End { name } => tokens.push(Plain::End(plain_name(name.as_str()))),
        }
    }
    tokens
}

fn expected_tokens(output: &Value) -> Vec<Plain> {
    let mut tokens = Vec::new();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    for token in output.as_array().unwrap() {
        match token[0].as_str().unwrap() {
            "Character" => push_text(&mut tokens, &text(&token[1])),
            "StartTag" => {
                let attributes = token[2].as_object().unwrap();
                let attributes = attributes.iter().map(|(name, value)| (name.clone(), text(value)));
                let self_closing = token.get(3) == Some(&Value::Bool(true));
                tokens.push(Plain::Start(text(&token[1]), attributes.collect(), self_closing));
            }
            "EndTag" => tokens.push(Plain::End(text(&token[1]))),
            _ => {}
        }
    }
    tokens
}

/// NUL in text is the tree's business: dropped or replaced by where it stands.
fn without_nul(tokens: Vec<Plain>) -> Vec<Plain> {
    let clean = |token| match token {
        Plain::Text(text) => Plain::Text(text.replace(['\0', '\u{fffd}'], "")),
        other => other,
    };
    tokens.into_iter().map(clean).filter(|token| *token != Plain::Text(String::new())).collect()
}

fn mode(state: &str, last_start_tag: Option<&str>) -> Option<Mode> {
    // Without a start tag before it no end tag is the right one; no case has this name.
    let tag = last_start_tag.map_or(Tag::Malignmark, |name| Tag::of(name.as_bytes()));
    match state {
        "Data state" | "CDATA section state" => Some(Mode::Data),
        "RCDATA state" => Some(Mode::Rcdata(tag)),
        "RAWTEXT state" => Some(Mode::Rawtext(tag)),
        // No document has a script that another element's end tag ends.
        "Script data state" if last_start_tag.is_none_or(|tag| tag == "script") => {
            Some(Mode::Script)
        }
        "PLAINTEXT state" => Some(Mode::Plaintext),
        _ => None,
    }
}

/// Undoes the second escaping that some cases have; `None` for lone surrogates, which are no text.
fn unescaped(text: &str) -> Option<String> {
    serde_json::from_str(&format!("\"{}\"", text.replace('"', "\\\""))).ok()
}

fn unescape_all(value: &Value) -> Option<Value> {
    Some(match value {
        Value::String(text) => Value::String(unescaped(text)?),
        Value::Array(items) => Value::Array(items.iter().map(unescape_all).collect::<Option<_>>()?),
        Value::Object(fields) => {
            let fields =
                fields.iter().map(|(name, value)| Some((unescaped(name)?, unescape_all(value)?)));
            Value::Object(fields.collect::<Option<_>>()?)
        }
        other => other.clone(),
    })
}

/// The cases of html5lib: source and test object, second escaping undone.
pub(super) fn html5lib_cases() -> Vec<(String, String, Value)> {
    let Some(files) = testdata::archive("html/html5lib-tests.tar.gz") else {
        return Vec::new();
    };
    let mut cases = Vec::new();
    for (file, bytes) in files.iter().filter(|(name, _)| name.ends_with(".test")) {
        let json: Value = serde_json::from_slice(bytes).unwrap();
        for case in json["tests"].as_array().into_iter().flatten() {
            let double = case["doubleEscaped"] == true;
            let Some(case) = (if double { unescape_all(case) } else { Some(case.clone()) }) else {
                continue;
            };
            let source = case["input"].as_str().unwrap().to_owned();
            cases.push((file.clone(), source, case));
        }
    }
    cases
}

#[test]
fn html5lib_tokenizer_cases_pass() {
    let cases = html5lib_cases();
    let mut passed = 0;
    for (file, source, case) in &cases {
        let states = case["initialStates"].as_array();
        let states = states.map_or(vec!["Data state"], |states| {
            states.iter().map(|state| state.as_str().unwrap()).collect()
        });
        for state in states {
            let Some(mode) = mode(state, case["lastStartTag"].as_str()) else {
                continue;
            };
            let cdata = state.starts_with("CDATA");
            let start = if cdata { "<![CDATA[" } else { "" };
            let actual = without_nul(tokens_of(&format!("{start}{source}"), mode, cdata));
            let expected = without_nul(expected_tokens(&case["output"]));
            assert_eq!(actual, expected, "{file}: {} in {state}: {source:?}", case["description"]);
            passed += 1;
        }
    }
    assert!(cases.is_empty() || passed > 6_800, "{passed}");
}

fn page(source: &str) -> Page {
    page_within(source, &Limits::default())
}

fn page_within(source: &str, limits: &Limits) -> Page {
    let url = Url::parse("http://h/dir/page").unwrap();
    let content_type = Some("text/html; charset=utf-8");
    parse(&Input { url: &url, content_type, body: source.as_bytes(), text: true }, limits)
}

fn links(source: &str) -> Vec<(Via, String)> {
    page(source).links().map(|link| (link.via, link.target.to_owned())).collect()
}

#[test]
fn every_attribute_that_carries_a_link_gives_one() {
    use Via::{Alternate, Anchor, Canonical, Embed, Frame, Link, Refresh};
    let rows: &[(&str, &[(Via, &str)])] = &[
        ("<a href=x>", &[(Anchor, "x")]),
        ("<A HREF = ' x y\n'>", &[(Anchor, "x y")]),
        ("<a href>", &[(Anchor, "")]),
        ("<area href=x>", &[(Anchor, "x")]),
        ("<a href='?a=1&amp;b=2&copy=3'>", &[(Anchor, "?a=1&b=2&copy=3")]),
        ("<a href=x href=y>", &[(Anchor, "x")]),
        ("<a href=x/>", &[(Anchor, "x/")]),
        ("<a name=n>", &[]),
        ("<link rel=stylesheet href=x>", &[(Embed, "x")]),
        ("<link rel='alternate stylesheet' href=x>", &[(Embed, "x")]),
        ("<link rel='SHORTCUT ICON' href=x>", &[(Embed, "x")]),
        ("<link rel=canonical href=x>", &[(Canonical, "x")]),
        ("<link rel=alternate hreflang=de href=x>", &[(Alternate, "x")]),
        ("<link rel=next href=x>", &[(Link, "x")]),
        ("<link rel='dns-prefetch preconnect' href=x>", &[]),
        ("<link href=x>", &[]),
        ("<link rel=preload as=image imagesrcset='a 1x, b 2x'>", &[(Embed, "a"), (Embed, "b")]),
        ("<iframe src=x longdesc=y></iframe>", &[(Frame, "x"), (Link, "y")]),
        ("<frameset><frame src=x></frameset>", &[(Frame, "x")]),
        ("<p>text<frameset><frame src=x></frameset>", &[]),
        ("<img src=x srcset='a 1x' alt=t>", &[(Embed, "x"), (Embed, "a")]),
        ("<image src=x>", &[(Embed, "x")]),
        ("<img src='data:image/png;base64,AA'>", &[]),
        ("<picture><source srcset='a, b'></picture>", &[(Embed, "a"), (Embed, "b")]),
        (
            "<video src=x poster=y><track src=z></video>",
            &[(Embed, "x"), (Embed, "y"), (Embed, "z")],
        ),
        ("<audio src=x></audio><embed src=y>", &[(Embed, "x"), (Embed, "y")]),
        ("<script src=x></script>", &[(Embed, "x")]),
        ("<input type=IMAGE src=x><input src=y>", &[(Embed, "x")]),
        ("<object data=x></object>", &[(Embed, "x")]),
        ("<body background=x>", &[(Embed, "x")]),
        ("<q cite=x></q><ins cite=y>", &[(Link, "x"), (Link, "y")]),
        ("<meta http-equiv=Refresh content='0; url=x'>", &[(Refresh, "x")]),
        ("<meta property=og:image content=x>", &[]),
        ("<form action=x><button formaction=y>", &[]),
        ("<a ping=x>", &[]),
        ("<p style=\"background:url('x')\">", &[(Embed, "x")]),
        ("<style>@import 'x'; a{b:url(y)}</style>", &[(Embed, "x"), (Embed, "y")]),
        (
            "<svg><a xlink:href=x><image href=y><use href=z></svg>",
            &[(Anchor, "x"), (Embed, "y"), (Embed, "z")],
        ),
        ("<svg><title><a href=x></title></svg>", &[(Anchor, "x")]),
        ("<title><a href=x></title>", &[]),
        ("<textarea><a href=x></textarea><a href=y>", &[(Anchor, "y")]),
        ("<noscript><img src=x></noscript>", &[(Embed, "x")]),
        ("<template><a href=x></template>", &[(Anchor, "x")]),
        ("<!-- <a href=x> --><a href=y>", &[(Anchor, "y")]),
        ("<script>'<a href=x>'</script><a href=y>", &[(Anchor, "y")]),
        ("<script><!--<script></script><a href=x>--></script><a href=y>", &[(Anchor, "y")]),
        ("<plaintext><a href=x>", &[]),
        ("<![CDATA[<a href=x>]]>", &[]),
        ("<svg><![CDATA[<a href=x>]]></svg>", &[]),
        ("<a href=\"x", &[]),
    ];
    for (source, expected) in rows {
        let expected: Vec<_> =
            expected.iter().map(|(via, target)| (*via, (*target).to_owned())).collect();
        assert_eq!(links(source), expected, "{source}");
    }
}

#[test]
fn a_link_has_the_text_that_a_reader_sees() {
    let rows = [
        ("<a href=x> one\n <b>two</b> </a> three", "one two"),
        ("<a href=x><img src=i alt='a picture'></a>", "a picture"),
        ("<a href=x>see<img src=i alt=this>now</a>", "see this now"),
        ("<a href=x>one<br>two</a>", "one two"),
        ("<a href=x>&lt;b&gt; &amp; co</a>", "<b> & co"),
        ("<a href=x>one<a href=y>two", "one"),
        ("<a href=x><script>no</script><style>no</style>yes</a>", "yes"),
        ("<a href=x>to the end", "to the end"),
        ("<area href=x alt=' map '>", "map"),
    ];
    for (source, expected) in rows {
        let page = page(source);
        let link = page.links().find(|link| link.target == "x").unwrap();
        assert_eq!(link.text, expected, "{source}");
    }
}

#[test]
fn rel_is_kept_and_nofollow_is_a_word_of_it() {
    let page = page("<a rel='noopener NoFollow' href=x></a><a rel=nofollowing href=y></a>");
    let found: Vec<_> = page.links().map(|link| (link.rel, link.nofollow)).collect();
    assert_eq!(found, [("noopener NoFollow", true), ("nofollowing", false)]);
}

#[test]
fn what_the_head_says_of_the_page() {
    let page = page(
        "<!doctype html><html lang=en-GB><head><title> A &amp; B\n C </title><title>no</title>\
         <base target=x><base href=/b/><base href=/no/><link rel=canonical href=/c>\
         <meta name=Description content=' about  it '><meta name=ROBOTS content='noindex, follow'>\
         <meta name=larm content='max-snippet:5'><meta name=author content='A. Body'>",
    );
    assert_eq!(page.title.as_deref(), Some("A & B C"));
    assert_eq!(page.lang.as_deref(), Some("en-GB"));
    assert_eq!(page.base.as_ref().map(Url::as_str), Some("http://h/b/"));
    assert_eq!(page.canonical.as_deref(), Some("/c"));
    assert_eq!(page.description.as_deref(), Some("about it"));
    let robots: Vec<_> = page.robots_meta.iter().map(|(n, c)| (n.as_str(), c.as_str())).collect();
    assert_eq!(robots, [("robots", "noindex, follow"), ("larm", "max-snippet:5")]);
    assert_eq!(page.text, "");
    assert_eq!(page.notes, []);
}

#[test]
fn a_base_that_cannot_be_one_is_none() {
    for source in [
        "<base href='data:,x'>",
        "<base href='http://['><base href=/x>",
        "<template><base href=/x>",
    ] {
        assert_eq!(page(source).base, None, "{source}");
    }
}

#[test]
fn text_is_what_a_reader_sees_in_lines() {
    let rows = [
        ("<p>one <b>two</b>three<p>four", "one twothree\nfour"),
        ("a<br>b<hr>c", "a\nb\nc"),
        ("<ul><li>a<li>b</ul>c", "a\nb\nc"),
        ("<table><tr><td>a<td>b<tr><td>c</table>", "a b\nc"),
        ("<style>x</style><script>x</script><template>x</template><iframe>x</iframe>y", "y"),
        ("<noscript>shown</noscript>", "shown"),
        ("<svg><title>x</title><text>x</text></svg><math><mi>y</mi></math>", "y"),
        ("a &amp; b&nbsp;c &lt;", "a & b\u{a0}c <"),
        ("1 < 2 <3", "1 < 2 <3"),
        ("a<!-- x -->b", "ab"),
        ("a\0b", "ab"),
        ("<xmp><b></xmp>", "<b>"),
    ];
    for (source, expected) in rows {
        assert_eq!(page(source).text, expected, "{source}");
    }
}

#[test]
fn xhtml_is_read_as_such() {
    let url = Url::parse("http://h/").unwrap();
    let source = "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml' xml:lang='fr'>\
                  <head><script src='s'/><title>t</title></head><body><a href='x'/><![CDATA[<b>]]></body></html>";
    for content_type in ["application/xhtml+xml", "text/xml"] {
        let input = Input {
            url: &url,
            content_type: Some(content_type),
            body: source.as_bytes(),
            text: true,
        };
        let page = parse(&input, &Limits::default());
        assert_eq!(page.link_count(), 2, "{content_type}");
        assert_eq!(page.title.as_deref(), Some("t"));
        assert_eq!(page.lang.as_deref(), Some("fr"));
        assert_eq!(page.text, "<b>");
    }
}

#[test]
fn what_is_too_much_is_left_out_with_a_note() {
    let limits = Limits {
        page_links_max: 2,
        link_text_bytes_max: 4,
        page_text_bytes_max: 8,
        page_meta_bytes_max: 3,
        page_nesting_max: 2,
        url_bytes_max: 5,
        ..Limits::default()
    };
    let rows: &[(&str, Note, usize)] = &[
        ("<a href=1><a href=2><a href=3>", Note::LinksTruncated, 2),
        ("<a href=123456><a href=12345#6789>", Note::LinkTooLong, 1),
        ("<a href=1>12345</a>", Note::AnchorTruncated, 1),
        ("<p>123456789", Note::TextTruncated, 0),
        ("<title>1234</title>", Note::MetaTruncated, 0),
        ("<svg><g><g><a href=1>", Note::NestingTruncated, 1),
    ];
    for (source, note, links) in rows {
        let page = page_within(source, &limits);
        assert_eq!(page.notes, [*note], "{source}");
        assert_eq!(page.link_count(), *links, "{source}");
        assert!(page.text.len() <= 8 && page.title.is_none_or(|title| title.len() <= 3));
    }
}

#[test]
fn the_text_beside_a_link_is_known() {
    let page = page(
        "<p>Läse mehr über <a href=1>Honig</a> und <a href=2>Bienen</a>.<link rel=next href=3>",
    );
    assert_eq!(page.beside(0, 100), ("Läse mehr über ", " und Bienen."));
    assert_eq!(page.beside(1, 5), (" und ", "."));
    assert_eq!(page.beside(0, 6), ("über ", " und B"), "whole characters only");
    assert_eq!(page.beside(2, 100), ("", ""), "a link that stands in no text");
    assert_eq!(page.beside(9, 100), ("", ""), "no link");
}
