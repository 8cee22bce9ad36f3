//! The links of a crawl as a graph: what is there is what the web has.

use std::collections::BTreeSet;
use std::process::Output;

use larm_core::url::Fingerprint;
use larm_core::{Limits, Via};
use larm_graph::rank::{UNREACHED, depths, in_degrees};
use larm_graph::stored::Scope;
use larm_graph::{Graph, Ranks, StoredGraph};
use larm_testsite::{Kind, WebPlan};
use serde_json::Value;

use crate::hand::{Hand, page, redirect, with_body};
use crate::larm::{Larm, said};
use crate::world::{World, crawl};

fn graph_of(dir: &std::path::Path) -> StoredGraph {
    StoredGraph::open_fresh(dir, &Limits::default(), &mut |_| ()).expect("a graph")
}

/// The pages that no other page leads to.
fn orphans(graph: &StoredGraph) -> BTreeSet<String> {
    let view = graph.view(Scope::Pages).expect("the pages");
    let links = in_degrees(&view.graph);
    let alone = |&(node, _): &(usize, &u32)| {
        links[node] == u32::from(view.graph.successors(node as u32).contains(&(node as u32)))
    };
    let alone = view.stored.iter().enumerate().filter(alone);
    alone.map(|(_, &node)| graph.nodes().url(node).expect("a URL")).collect()
}

#[test]
fn orphans_are_the_pages_that_only_a_sitemap_names() {
    let world = World::new(WebPlan::demo());
    crawl(world.plan());
    let graph = graph_of(&world.dir());
    let truth = world.site.truth();
    let only_mapped = truth.pages.iter().filter(|(_, expect)| {
        expect.via == larm_testsite::Via::Sitemap && expect.kind == Kind::Page
    });
    let only_mapped: BTreeSet<String> = only_mapped.map(|(url, _)| url.clone()).collect();
    assert!(only_mapped.len() >= 4, "{only_mapped:?}");
    assert_eq!(orphans(&graph), only_mapped);
    let ranks = Ranks::open(&world.dir()).expect("ranks").expect("they were made");
    let pages = truth.pages.iter().filter(|(_, expect)| expect.kind == Kind::Page);
    for (url, _) in pages.filter(|(_, expect)| expect.required) {
        assert!(ranks.of(Fingerprint::of(url)).expect("a look-up").is_some(), "{url} has no rank");
    }
}

fn web() -> Hand {
    Hand::serve(|_| {
        let nofollow = r#"<a href="/left" rel="nofollow">x</a><a href="/deep">The deep</a>"#;
        vec![
            ("a.test/".to_owned(), page(&["/1", "/moved"])),
            ("a.test/1".to_owned(), with_body("text/html", nofollow)),
            ("a.test/moved".to_owned(), redirect("/behind")),
            ("a.test/behind".to_owned(), page(&["/1"])),
            ("a.test/deep".to_owned(), page(&["/"])),
        ]
    })
}

#[test]
fn depth_is_counted_in_links_and_links_not_to_follow_do_not_count() {
    let hand = web();
    crawl(hand.plan("a.test/", &["a.test"]));
    let graph = graph_of(&hand.dir());
    let view = graph.view(Scope::All).expect("all nodes");
    let facts = graph.nodes().facts();
    let seeds = (0..view.graph.nodes())
        .filter(|&node| facts[node as usize].is_some_and(|facts| facts.via == Via::Seed));
    let depths = depths(&view.graph, seeds);
    let depth = |path: &str| {
        let url = hand.url(&format!("a.test{path}"));
        let node = graph.nodes().find(Fingerprint::of(&url)).expect("a look-up");
        node.map(|node| depths[node as usize])
    };
    let found = ["/", "/1", "/moved", "/behind", "/deep", "/left"].map(depth);
    assert_eq!(found, [Some(0), Some(1), Some(1), Some(2), Some(2), None]);
    assert!(!depths.contains(&UNREACHED));
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", said(output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn the_command_line_tells_links_and_exports_the_graph() {
    let world = World::new(WebPlan::demo());
    let larm = Larm::new(&world, "0");
    let dir = world.dir();
    assert!(larm.run(&dir).status.success());
    let dir = dir.to_str().expect("a path");
    let seed = &world.site.seeds()[0];

    let links = json(&larm.ask(&["links", dir, seed, "--json"]));
    let out = links["out"].as_array().expect("links");
    let first = out.iter().find(|link| link["via"] == "anchor").expect("an anchor");
    assert_eq!((&first["outcome"], &first["verdict"]), (&"fetched".into(), &"ok".into()));
    let target = first["to"].as_str().expect("a URL");
    let back = json(&larm.ask(&["links", dir, target, "--in", "--json"]));
    let from = back["in"].as_array().expect("links");
    let same = from.iter().find(|link| link["from"] == *seed).expect("the seed links to it");
    assert_eq!((&same["text"], &same["position"]), (&first["text"], &first["position"]));

    let overview = json(&larm.ask(&["graph", dir, "--json"]));
    let arcs = overview["arcs"].as_u64().expect("a number");
    let name = world.dir_named("exported");
    let name = name.to_str().expect("a path");
    assert!(larm.ask(&["graph", dir, "--export", "webgraph", "-o", name]).status.success());
    let edges = world.dir_named("edges.tsv");
    let edges = edges.to_str().expect("a path");
    assert!(larm.ask(&["graph", dir, "--export", "edges", "-o", edges]).status.success());
    let read = |path: &str| Graph::read(path.as_ref(), &Limits::default()).expect("a graph");
    assert_eq!(read(name).arcs(), arcs);
    let listed = read(edges);
    assert!(listed.rows().all(|(node, row)| read(name).successors(node) == row));
    let urls = larm.ask(&["graph", dir, "--export", "urls"]);
    let lines = String::from_utf8(urls.stdout).expect("text");
    assert_eq!(lines.lines().count() as u64, arcs);
    assert!(lines.contains(&format!("{seed}\t{target}\n")));
    let graphml = larm.ask(&["graph", dir, "--export", "graphml"]).stdout;
    let edges = String::from_utf8(graphml).expect("text").matches("<edge ").count();
    assert_eq!(edges as u64, arcs);
}
