//! Graphs for other tools: edge lists with URLs, and GraphML.
//!
//! Everything is streamed: a node's URL is held while its lines are written, and no longer. WebGraph files
//! are written by [`bv`](crate::bv), lists of numbers by [`edges`](crate::edges).

use std::io::{self, Write};

use crate::graph::Graph;

/// Writes an edge list of URLs, two a line with a tab between them. `url` gives the URL of a node.
pub fn url_edges<E: From<io::Error>>(
    graph: &Graph,
    mut url: impl FnMut(u32) -> Result<String, E>,
    out: &mut dyn Write,
) -> Result<(), E> {
    for (from, row) in graph.rows().filter(|(_, row)| !row.is_empty()) {
        let from = url(from)?;
        for &to in row {
            writeln!(out, "{from}\t{}", url(to)?)?;
        }
    }
    Ok(())
}

/// What GraphML says of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeLabel {
    /// Its URL, or host.
    pub url: String,
    /// Its PageRank.
    pub pagerank: f64,
}

/// Writes GraphML 1.0: nodes `n0`, `n1`, … with URL and PageRank, then the arcs.
pub fn graphml<E: From<io::Error>>(
    graph: &Graph,
    mut label: impl FnMut(u32) -> Result<NodeLabel, E>,
    out: &mut dyn Write,
) -> Result<(), E> {
    out.write_all(GRAPHML_HEAD.as_bytes())?;
    for node in 0..graph.nodes() {
        let NodeLabel { url, pagerank } = label(node)?;
        let url = escaped(&url);
        writeln!(
            out,
            r#"<node id="n{node}"><data key="url">{url}</data><data key="pagerank">{pagerank:e}</data></node>"#
        )?;
    }
    for (from, row) in graph.rows() {
        for to in row {
            writeln!(out, r#"<edge source="n{from}" target="n{to}"/>"#)?;
        }
    }
    out.write_all(b"</graph>\n</graphml>\n")?;
    Ok(())
}

const GRAPHML_HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
<key id="url" for="node" attr.name="url" attr.type="string"/>
<key id="pagerank" for="node" attr.name="pagerank" attr.type="double"/>
<graph id="links" edgedefault="directed">
"#;

/// A text as XML 1.0 can hold it. Characters that it cannot hold at all become U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push_str(&format!("&#{};", u32::from(character))),
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use quick_xml::Reader;
    use quick_xml::events::Event;

    use super::*;

    /// Reads the texts and arcs of GraphML, as any reader of XML sees them.
    fn read(xml: &str) -> (Vec<String>, Vec<(String, String)>) {
        let mut reader = Reader::from_str(xml);
        let (mut urls, mut arcs, mut in_url) = (Vec::new(), Vec::new(), false);
        loop {
            match reader.read_event().unwrap() {
                Event::Start(tag) if tag.name().as_ref() == "data" => {
                    in_url = tag.try_get_attribute("key").unwrap().unwrap().value.as_ref() == "url";
                    if in_url {
                        urls.push(String::new());
                    }
                }
                Event::Text(text) if in_url => {
                    urls.last_mut().unwrap().push_str(&text);
                }
                Event::GeneralRef(name) if in_url => {
                    let piece = match &*name {
                        "amp" => '&',
                        "lt" => '<',
                        "gt" => '>',
                        "quot" => '"',
                        _ => name.resolve_char_ref().unwrap().unwrap(),
                    };
                    urls.last_mut().unwrap().push(piece);
                }
                Event::End(_) => in_url = false,
                Event::Empty(tag) if tag.name().as_ref() == "edge" => {
                    let end = |name: &str| {
                        let value = tag.try_get_attribute(name).unwrap().unwrap().value;
                        value.into_owned()
                    };
                    arcs.push((end("source"), end("target")));
                }
                Event::Eof => return (urls, arcs),
                _ => {}
            }
        }
    }

    #[test]
    fn graphml_is_well_formed_whatever_the_urls_hold() {
        let urls = ["http://h/?a=1&b=<x>", "http://h/\"'>]]>", "http://h/ü\u{1}\t", "&amp;"];
        let graph = Graph::of_arcs(4, vec![(0, 1), (1, 1), (3, 0)]);
        let label = |node: u32| {
            let url = urls[node as usize].to_owned();
            Ok::<_, io::Error>(NodeLabel { url, pagerank: 0.25 })
        };
        let mut out = Vec::new();
        graphml(&graph, label, &mut out).unwrap();
        let (read_urls, arcs) = read(std::str::from_utf8(&out).unwrap());
        let expected = ["http://h/?a=1&b=<x>", "http://h/\"'>]]>", "http://h/ü\u{fffd}\t", "&amp;"];
        assert_eq!(read_urls, expected);
        let expected = [("n0", "n1"), ("n1", "n1"), ("n3", "n0")];
        assert_eq!(arcs, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }

    #[test]
    fn edges_carry_urls() {
        let graph = Graph::of_arcs(3, vec![(0, 2), (2, 2)]);
        let mut out = Vec::new();
        url_edges(&graph, |node| Ok::<_, io::Error>(format!("u{node}")), &mut out).unwrap();
        assert_eq!(out, b"u0\tu2\nu2\tu2\n");
    }
}
