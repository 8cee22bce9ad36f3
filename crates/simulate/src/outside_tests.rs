//! A real site from outside: PageRank order has to be ahead there, too.

use std::path::PathBuf;

use larm_core::Limits;
use larm_core::order::{Order, Tuning};

use crate::*;

fn testdata(name: &str) -> Option<PathBuf> {
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/testdata"));
    let root = std::env::var_os("LARM_TESTDATA").map_or(beside, PathBuf::from);
    let path = root.join("graph").join(name);
    if !path.exists() {
        println!("skipped: no testdata");
        return None;
    }
    Some(path)
}

#[test]
fn pagerank_is_ahead_of_breadth_first_and_random_on_a_real_site() {
    let Some(edges) = testdata("hollins.edges.txt.gz") else { return };
    let Some(urls) = testdata("hollins.urls.txt.gz") else { return };
    let limits = Limits::default();
    let mut web = Web::read(&edges, &limits).unwrap();
    web.name(&urls, &limits).unwrap();
    assert_eq!((web.nodes(), web.arcs(), web.label(0)), (6_012, 23_875, 1));
    assert_eq!(web.find("http://www.hollins.edu/").unwrap(), 1);
    let hot = Hot::of(&web, &"10%".parse().unwrap(), By::Pagerank, &limits).unwrap();
    let starts = starts::draw(&web, 10, 1).unwrap();
    let tuning = Tuning::new(&limits);
    let model = Model::Threshold;
    let experiment =
        Experiment { web: &web, hot: &hot, model, starts: &starts, tuning, threads: 2 };
    let orders = ["pagerank", "bfs", "random"].map(|name| name.parse::<Order>().unwrap());
    let outcomes = experiment.run(&orders, &limits).unwrap();
    for at in [10, 20, 30, 50] {
        let [pagerank, breadth, random] =
            [0, 1, 2].map(|order: usize| outcomes[order].points[at - 1].hot);
        assert!(pagerank > breadth.max(random) + 0.03, "{at} %: {pagerank} {breadth} {random}");
    }
}
