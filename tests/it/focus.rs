//! A crawl that looks for something: pages about it come first, by a query and by examples.

use std::fmt::Write as _;
use std::process::Command;

use larm_core::Limits;
use larm_core::order::focus::Topic;
use larm_core::order::{Name, Order};
use larm_crawl::Duplicates;

use crate::hand::{Hand, with_body};
use crate::kept::Kept;
use crate::world::crawl;

const HOST: &str = "h.test";
const BRANCHES: usize = 24;
const LEAVES: usize = 10;
/// One branch in so many is about tea.
const TEA_EVERY: usize = 6;

fn is_about_tea(branch: usize) -> bool {
    branch % TEA_EVERY == TEA_EVERY - 1
}

/// Some sentences: of tea, or of anything else.
fn prose(branch: usize, leaf: usize) -> String {
    let words: &[&str] = match is_about_tea(branch) {
        true => &["green", "tea", "leaves", "steeped", "oolong", "harvest", "teapot", "brewing"],
        false => &["engine", "gearbox", "brake", "wheel", "diesel", "clutch", "tyre", "axle"],
    };
    let mut text = String::new();
    for n in 0..60 {
        let word = words[(n * 7 + leaf * 3 + n / 5) % words.len()];
        let _ = write!(text, "{word} number{} of{} ", (n * leaf) % 13, (n + branch) % 11);
    }
    text
}

fn html(title: &str, text: &str, links: &[(String, String)]) -> Vec<u8> {
    let links: String =
        links.iter().map(|(to, say)| format!("<a href=\"{to}\">{say}</a>\n")).collect();
    let body = format!("<title>{title}</title><p>{text}</p>\n{links}");
    with_body("text/html", &body)
}

/// `/` leads to the branches, which say nothing of themselves there; each branch leads to its leaves.
fn site() -> Hand {
    Hand::serve(|_| {
        let branches: Vec<(String, String)> =
            (0..BRANCHES).map(|b| (format!("/b{b}/"), format!("part {b}"))).collect();
        let mut answers = vec![(format!("{HOST}/"), html("Start", "all parts", &branches))];
        for b in 0..BRANCHES {
            let leaves: Vec<(String, String)> =
                (0..LEAVES).map(|l| (format!("/b{b}/{l}"), format!("more {l}"))).collect();
            answers.push((format!("{HOST}/b{b}/"), html("Part", &prose(b, 0), &leaves)));
            for l in 0..LEAVES {
                answers.push((format!("{HOST}/b{b}/{l}"), html("Leaf", &prose(b, l + 1), &[])));
            }
        }
        answers
    })
}

/// Of the first 70 pages, those that are about tea.
fn harvest(order: Name, topic: Topic) -> usize {
    let web = site();
    let mut plan = web.plan(&format!("{HOST}/"), &[HOST]);
    (plan.order, plan.topic) = (Order::by(order), topic);
    plan.budgets.pages_max = Some(70);
    plan.budgets.cut_at = None;
    plan.duplicates = Duplicates::Off;
    crawl(plan);
    let kept = Kept::of(&web.dir());
    let urls = kept.pages.iter().filter_map(|page| page["url"].as_str());
    let branch = |url: &str| url.split("/b").nth(1)?.split('/').next()?.parse().ok();
    urls.filter_map(branch).filter(|branch| is_about_tea(*branch)).count()
}

#[test]
fn a_query_and_examples_bring_more_than_twice_what_breadth_first_brings() {
    let limits = Limits::default();
    let breadth = harvest(Name::Breadth, Topic::default());
    let by_query = harvest(Name::Query, Topic::query("green tea", &limits));
    let mut examples = Topic::default();
    assert!(examples.like("Oolong", &prose(TEA_EVERY - 1, 99), &limits));
    let by_example = harvest(Name::Like, examples);
    // 44 pages are about tea. Breadth-first sees all branches first, then the leaves of other ones.
    assert!(breadth > 0, "there is something to compare with");
    assert!(by_query >= 2 * breadth, "{by_query} by query, {breadth} breadth first");
    assert!(by_example >= 2 * breadth, "{by_example} by example, {breadth} breadth first");
}

#[test]
fn examples_may_be_files_and_pages_and_are_kept_with_the_crawl() {
    let web = site();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("oolong.txt");
    std::fs::write(&file, prose(TEA_EVERY - 1, 99)).unwrap();
    let out = dir.path().join("out");
    let site = web.url(&format!("{HOST}/b{}/3", TEA_EVERY - 1));
    let here = format!("{HOST}:{}:127.0.0.1", web.port());
    let run = |like: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
        command.args(["crawl", &web.url(&format!("{HOST}/b0/")), "-o"]).arg(&out);
        command.args(["--delay", "0", "--no-progress", "--max-pages", "3", "--no-sitemap"]);
        command.args(["--resolve", &here, "--allow-private", "127.0.0.0/8", "--i-own-this-site"]);
        like.iter().for_each(|example| {
            command.args(["--like", example]);
        });
        command.output().unwrap()
    };
    let nothing = run(&["/no/such/file"]);
    assert_eq!(nothing.status.code(), Some(2), "{nothing:?}");
    let both = run(&[file.to_str().unwrap(), &site]);
    let said = String::from_utf8_lossy(&both.stderr).into_owned();
    assert!(said.contains("1 example to be fetched first"), "{said}");
    let kept = std::fs::read_to_string(out.join("examples.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 2, "{kept}");
    assert!(kept.contains("teapot") && kept.contains(&site), "{kept}");
    // The file may go: what it said is known.
    std::fs::remove_file(&file).unwrap();
    let again = run(&[file.to_str().unwrap(), &site]);
    assert_ne!(again.status.code(), Some(2), "{again:?}");
}
