//! `larm simulate`: what is typed, what comes out, and that it comes out the same again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use larm_core::random::Random;
use larm_testsite::WebPlan;
use serde_json::Value;
use tempfile::TempDir;

use crate::larm::said;
use crate::world::{World, crawl};

fn simulate(graph: &Path, flags: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
    command.arg("simulate").arg(graph).args(flags).output().expect("larm runs")
}

fn json(graph: &Path, flags: &[&str]) -> Value {
    let output = simulate(graph, &[flags, &["--json", "-"]].concat());
    assert!(output.status.success(), "{}", said(&output));
    serde_json::from_slice(&output.stdout).expect("JSON on standard output, and nothing else")
}

/// What an order found after so many hundredths of all pages.
fn found(json: &Value, order: &str, hundredths: usize) -> f64 {
    let point = &json["orders"][order][hundredths - 1];
    assert_eq!(point["crawled"], hundredths as f64 / 100.0, "{order}");
    assert!(point["spread"].is_number(), "{order}");
    point["hot"].as_f64().expect("a number")
}

/// A web that grows: a new page is found by some that are there, and links to pages that many link to.
fn grown(dir: &TempDir, pages: u64) -> PathBuf {
    let mut random = Random(11);
    let (mut lines, mut chosen) = (String::new(), vec![0_u64]);
    for page in 1..pages {
        for _ in 0..4 {
            let to = chosen[random.below(chosen.len() as u64) as usize];
            lines += &format!("{page}\t{to}\n");
            chosen.push(to);
        }
        for _ in 0..random.within(1, 3) {
            lines += &format!("{}\t{page}\n", random.below(page));
        }
        chosen.push(page);
    }
    let path = dir.path().join("grown.tsv");
    fs::write(&path, lines).expect("a file");
    path
}

#[test]
fn pagerank_is_ahead_of_breadth_first_and_random_and_the_same_again() {
    let dir = TempDir::new().expect("a directory");
    let graph = grown(&dir, 3_000);
    let flags = [
        "--orders",
        "random,bfs,backlink,pagerank",
        "--starts",
        "10",
        "--hot",
        "10%",
        "--by",
        "pagerank",
    ];
    let result = json(&graph, &flags);
    assert_eq!(result["nodes"], 3_000);
    assert_eq!(result["starts"].as_array().map(Vec::len), Some(10));
    for hundredths in [10, 20, 30, 50] {
        let pagerank = found(&result, "pagerank", hundredths);
        for other in ["bfs", "random"] {
            let other_found = found(&result, other, hundredths);
            assert!(
                pagerank > other_found,
                "{other} after {hundredths} %: {other_found}, pagerank {pagerank}"
            );
        }
    }
    assert_eq!(found(&result, "backlink", 100), 1.0, "the key is the name as typed");
    let again = || simulate(&graph, &[&flags[..], &["--json", "-"]].concat()).stdout;
    assert_eq!(again(), again());
}

#[test]
fn a_picture_and_a_table_say_the_same_as_the_numbers() {
    let dir = TempDir::new().expect("a directory");
    let graph = grown(&dir, 500);
    let (svg, file) = (dir.path().join("plot.svg"), dir.path().join("result.json"));
    let paths = [svg.display().to_string(), file.display().to_string()];
    let flags = [
        "--orders",
        "opic,pagerank=2+breadth=1",
        "--start",
        "7,9",
        "--svg",
        &paths[0],
        "--json",
        &paths[1],
    ];
    let output = simulate(&graph, &flags);
    assert!(output.status.success(), "{}", said(&output));
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(table.contains("500 pages"), "{table}");
    let result: Value = serde_json::from_slice(&fs::read(&file).expect("a file")).expect("JSON");
    let opic = format!("{:.1} %", 100.0 * found(&result, "opic", 30));
    assert!(table.lines().any(|line| line.starts_with("opic") && line.contains(&opic)), "{table}");
    let svg = fs::read_to_string(&svg).expect("a picture");
    assert!(
        svg.starts_with("<svg") && svg.contains("pagerank=2+breadth=1") && svg.contains("ideal")
    );
    assert_eq!(result["starts"][0]["node"], 7);
}

#[test]
fn every_model_of_judging_has_its_numbers() {
    let dir = TempDir::new().expect("a directory");
    let graph = grown(&dir, 500);
    let orders = ["--orders", "pagerank", "--starts", "2"];
    let stop = json(&graph, &[&orders[..], &["--model", "stop"]].concat());
    assert_eq!(found(&stop, "pagerank", 100), 1.0);
    let hot = json(&graph, &[&orders[..], &["--model", "stop", "--hot", "10%"]].concat());
    let same = json(&graph, &[&orders[..], &["--model", "threshold", "--hot", "10%"]].concat());
    assert_eq!(hot["orders"], same["orders"], "with hot pages named, it is they that count");
    let buffer = json(&graph, &[&orders[..], &["--model", "buffer", "--buffer", "50"]].concat());
    assert_eq!(buffer["buffer"], 50);
    assert!(found(&buffer, "pagerank", 100) > 0.5);
    let linked = json(&graph, &[&orders[..], &["--hot", "backlinks>=5"]].concat());
    assert_eq!(
        (&linked["hot"]["by"], &linked["hot"]["at_least"]),
        (&"backlinks".into(), &5.0.into())
    );
}

#[test]
fn what_makes_no_sense_is_said_and_ends_with_2() {
    let dir = TempDir::new().expect("a directory");
    let graph = grown(&dir, 100);
    let rows: [(&[&str], &str); 12] = [
        (&["--orders", "rank"], "there are random"),
        (&["--orders", "location"], "--urls"),
        (&["--orders", "query"], "text"),
        (&["--orders", "pagerank=2,location=1"], "written with +"),
        (&["--orders", "bfs,breadth"], "twice"),
        (&["--starts", "0"], "nothing"),
        (&["--start", "100"], "0 to 99"),
        (&["--hot", "all"], "10%"),
        (&["--model", "best"], "threshold"),
        (&["--processes", "2"], "--partition url"),
        (
            &["--processes", "2", "--mode", "independent", "--partition", "url"],
            "nothing to independent",
        ),
        (&["--limit", "simulate_bytes_max=1000"], "simulate_bytes_max"),
    ];
    for (flags, word) in rows {
        let output = simulate(&graph, flags);
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {}", said(&output));
        assert!(said(&output).contains(word), "{flags:?}: {}", said(&output));
    }
}

#[test]
fn a_crawl_is_a_graph_with_urls() {
    let world = World::new(WebPlan::demo());
    crawl(world.plan());
    let result = json(&world.dir(), &["--orders", "bfs,location", "--starts", "2"]);
    let pages = result["nodes"].as_u64().expect("a number");
    assert!(pages > 50, "{pages}");
    let flags =
        ["--orders", "bfs", "--processes", "2", "--partition", "hierarchy", "--starts", "2"];
    let shared = json(&world.dir(), &flags);
    assert_eq!(shared["end"]["bfs"]["overlap"], 0.0);
    assert_eq!(shared["end"]["bfs"]["coverage"], 1.0);
    let owned = shared["pages_of_processes"].as_array().expect("a list");
    assert_eq!(owned.iter().filter_map(Value::as_u64).sum::<u64>(), pages);
}
