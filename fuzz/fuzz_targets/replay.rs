//! Any page is shown without what runs or asks elsewhere, as a tree builder reads what is sent to the browser.
#![no_main]

use html5ever::tendril::TendrilSink;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{Attribute, ParseOpts, parse_document};
use larm_server::replay::{Mapper, rewrite_page, rewrite_sheet};
use libfuzzer_sys::fuzz_target;
use markup5ever_rcdom::{Handle, NodeData, RcDom};

const PREFIX: &str = "/replay/C/i/7/";
const BYTES_MAX: usize = 1 << 16;
/// Attributes that a browser follows, by itself or when clicked.
const FOLLOWED: [&str; 10] =
    ["src", "href", "poster", "background", "lowsrc", "action", "formaction", "data", "ping", "srcdoc"];
const RUN: [&str; 4] = ["script", "object", "embed", "base"];

fuzz_target!(|bytes: &[u8]| {
    let source = String::from_utf8_lossy(bytes);
    let base = url::Url::parse("https://h.test/dir/page?x=1").expect("a URL");
    let mapper = Mapper::new(PREFIX.to_owned(), base);
    let shown = rewrite_page(&source, mapper.clone(), BYTES_MAX);
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..Default::default() };
    let options = ParseOpts { tree_builder, ..Default::default() };
    let dom = parse_document(RcDom::default(), options).one(&*shown);
    let mut nodes = vec![dom.document.clone()];
    while let Some(node) = nodes.pop() {
        check(&node, &shown);
        nodes.extend(node.children.borrow().iter().cloned());
        if let NodeData::Element { template_contents, .. } = &node.data {
            nodes.extend(template_contents.borrow().iter().cloned());
        }
    }
    let _ = rewrite_sheet(&source, &mapper);
});

fn check(node: &Handle, shown: &str) {
    let NodeData::Element { name, attrs, .. } = &node.data else { return };
    assert!(!RUN.contains(&&*name.local), "{} in {shown}", name.local);
    for attribute in attrs.borrow().iter() {
        check_attribute(attribute, shown);
    }
}

fn check_attribute(attribute: &Attribute, shown: &str) {
    let name = attribute.name.local.to_ascii_lowercase();
    assert!(!name.starts_with("on"), "{name} in {shown}");
    if FOLLOWED.contains(&&*name) {
        let leads_home = [PREFIX, "#", "data:"].iter().any(|start| attribute.value.starts_with(start));
        assert!(leads_home, "{name}={} in {shown}", attribute.value);
    }
}
