//! Which attributes of a tag stay, and in which form.

use larm_core::parse::each_candidate;

use super::css;
use super::place::{Mapper, Use};

/// Whose value is a URL that is part of the page, or that somebody may follow.
const PARTS: [&str; 4] = ["src", "poster", "background", "lowsrc"];
/// What presents a drawing, and may name a URL.
const PRESENTED: [&str; 10] = [
    "fill",
    "stroke",
    "filter",
    "clip-path",
    "mask",
    "marker",
    "marker-start",
    "marker-mid",
    "marker-end",
    "cursor",
];
/// What asks for something, sends something, or makes sense for live pages only.
const DROPPED: [&str; 36] = [
    "action",
    "formaction",
    "formtarget",
    "ping",
    "target",
    "integrity",
    "crossorigin",
    "nonce",
    "manifest",
    "srcdoc",
    "download",
    "autoplay",
    "autofocus",
    "is",
    "shadowrootmode",
    "csp",
    "allow",
    "allowfullscreen",
    "sandbox",
    "referrerpolicy",
    "attributionsrc",
    "longdesc",
    "cite",
    "profile",
    "classid",
    "codebase",
    "archive",
    "data",
    "code",
    "object",
    "dynsrc",
    "xml:base",
    "http-equiv",
    "imagesrcset",
    "blocking",
    "credentialless",
];

/// What a value becomes: `None` if the attribute goes. `value` has its character references decoded.
pub fn kept(tag: &str, name: &str, value: &str, mapper: &Mapper) -> Option<String> {
    if !is_plain(name) || name.starts_with("on") || DROPPED.contains(&name) {
        return None;
    }
    match name {
        "href" | "xlink:href" => {
            mapper.map(value, if is_clicked(tag) { Use::Link } else { Use::Part })
        }
        "srcset" => Some(srcset(value, mapper)),
        "style" => Some(css::rewrite(value, mapper)),
        name if PARTS.contains(&name) => {
            mapper.map(value, if is_frame(tag) { Use::Link } else { Use::Part })
        }
        name if PRESENTED.contains(&name) => Some(css::rewrite(value, mapper)),
        _ => Some(value.to_owned()),
    }
}

/// Letters, digits and a few marks: nothing that could end a name or begin something else.
fn is_plain(name: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.');
    !name.is_empty() && name.len() <= 100 && name.bytes().all(plain)
}

fn is_clicked(tag: &str) -> bool {
    matches!(tag, "a" | "area")
}

fn is_frame(tag: &str) -> bool {
    matches!(tag, "iframe" | "frame")
}

/// Candidates of a `srcset`, each mapped; those that have to go are left out.
fn srcset(value: &str, mapper: &Mapper) -> String {
    let mut out = Vec::new();
    each_candidate(value, |url, descriptors| {
        if let Some(path) = mapper.map(url, Use::Part) {
            out.push(format!("{path} {descriptors}").trim_end().to_owned());
        }
    });
    out.join(", ")
}
