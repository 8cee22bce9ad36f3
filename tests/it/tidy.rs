//! Style that matters, as a test: reads the sources and the pages beside them.
//!
//! Sizes and a few lists are ratchets: what was above the line when the rule came is named here with
//! its present size, and may only shrink.

mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use source::{Source, files, read, root, sources};

/// Lines of a file without its tests, and lines of a function.
const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;

/// Larger files, and how large. A row that is no longer needed, or has become too generous, fails.
const LARGE_FILES: &[(&str, usize)] = &[];
const LARGE_FUNCTIONS: &[(&str, usize)] = &[(
    "crates/crawl/src/fetch/guard/tests.rs: \
     special_addresses_are_known_by_kind_at_both_ends_of_their_ranges",
    83,
)];
/// How far below its row a size may be.
const SLACK_LINES: usize = 20;

/// Tests that begin without a header.
const HEADERLESS: &[&str] = &[
    "crates/crawl/src/fetch/decode/tests.rs",
    "crates/crawl/src/fetch/guard/tests.rs",
    "src/config/tests.rs",
];

/// What `clippy.toml` forbids, and the files outside tests that may do it all the same, each with a
/// reason at the place.
const BANNED: [&str; 8] = [
    "std::time::Instant::now",
    "std::time::SystemTime::now",
    "std::thread::sleep",
    "tokio::time::sleep",
    "std::thread::spawn",
    "tokio::spawn",
    "tokio::sync::mpsc::unbounded_channel",
    "std::sync::mpsc::channel",
];
const MAY_DO_BANNED: &[&str] = &[
    "crates/crawl/benches/frontier/main.rs",
    "crates/crawl/benches/near.rs",
    "crates/crawl/benches/order.rs",
    "crates/crawl/benches/sieve.rs",
    "crates/crawl/src/clock.rs",
    "crates/crawl/src/control.rs",
    "crates/crawl/src/crawl.rs",
    "crates/crawl/src/directory.rs",
    "crates/server/benches/table.rs",
    "crates/server/src/live.rs",
    "crates/testsite/src/answer.rs",
    "crates/testsite/src/log.rs",
    "crates/testsite/src/server.rs",
];

/// Fails with all complaints at once.
fn assert_tidy(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn every_file_opens_with_a_header() {
    let mut complaints = Vec::new();
    for Source { path, text, .. } in sources() {
        match (text.starts_with("//!"), HEADERLESS.contains(&path.as_str())) {
            (false, false) => complaints.push(format!("{path}: has no `//!` header")),
            (true, true) => complaints.push(format!("{path}: take it off the list")),
            _ => {}
        }
    }
    assert_tidy(complaints);
}

#[test]
fn nothing_is_left_for_later() {
    // Written in two pieces, so that this file does not find itself.
    let words = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("to", "do!("),
        concat!("unimplemented", "!("),
        concat!("#[ig", "nore"),
        concat!("should", "_panic"),
    ];
    let mut complaints = Vec::new();
    for Source { path, text, .. } in sources() {
        for (number, line) in text.lines().enumerate() {
            let found = words.iter().filter(|word| line.contains(**word));
            complaints.extend(found.map(|word| format!("{path}:{}: {word}", number + 1)));
        }
    }
    assert_tidy(complaints);
}

#[test]
fn files_are_of_a_size_that_can_be_read() {
    let sizes = sources().into_iter().filter(|source| !source.is_test);
    let sizes = sizes.map(|source| (source.path.clone(), source.code().len()));
    assert_tidy(against_ratchet(sizes.collect(), FILE_LINES_MAX, LARGE_FILES));
}

#[test]
fn functions_fit_on_a_screen() {
    let mut sizes = BTreeMap::new();
    for source in sources() {
        for function in source.functions() {
            let name = format!("{}: {}", source.path, function.name);
            let lines: &mut usize = sizes.entry(name).or_default();
            *lines = function.lines.max(*lines);
        }
    }
    assert!(sizes.len() > 1_000, "only {} functions were found", sizes.len());
    assert_tidy(against_ratchet(sizes, FUNCTION_LINES_MAX, LARGE_FUNCTIONS));
}

fn against_ratchet(
    sizes: BTreeMap<String, usize>,
    max: usize,
    exceptions: &[(&str, usize)],
) -> Vec<String> {
    let allowed: BTreeMap<&str, usize> = exceptions.iter().copied().collect();
    let mut complaints = Vec::new();
    for (name, &lines) in &sizes {
        match allowed.get(name.as_str()) {
            None if lines > max => complaints.push(format!("{name}: {lines} lines, above {max}")),
            Some(&row) if lines > row => {
                complaints.push(format!("{name}: grew from {row} to {lines} lines"));
            }
            Some(_) if lines <= max => {
                complaints.push(format!("{name}: has {lines} lines; take it off the list"));
            }
            Some(&row) if lines + SLACK_LINES < row => {
                complaints.push(format!("{name}: shrank to {lines} lines; lower its row"));
            }
            _ => {}
        }
    }
    let gone = allowed.keys().filter(|name| !sizes.contains_key(**name));
    complaints.extend(gone.map(|name| format!("{name}: is gone; take it off the list")));
    complaints
}

/// The table "Who may use whom" of ARCHITECTURE.md is the rule itself: first cell a path, last cell
/// what the code below it never names.
#[test]
fn modules_use_only_what_they_may() {
    let rules = rules_of_use();
    assert!(rules.len() >= 15, "only {} rows of the table were understood", rules.len());
    let sources = sources();
    let mut complaints = Vec::new();
    for (place, never) in &rules {
        let below = |source: &&Source| !source.is_test && source.path.starts_with(place.as_str());
        let mut found = sources.iter().filter(below).peekable();
        assert!(found.peek().is_some(), "{place}: no source is there");
        for source in found {
            let paths = source.paths();
            let used = paths.iter().filter(|path| never.iter().any(|never| is_below(path, never)));
            complaints.extend(used.map(|path| format!("{}: uses {path}", source.path)));
        }
    }
    assert_tidy(complaints);
}

fn is_below(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn rules_of_use() -> Vec<(String, Vec<String>)> {
    let page = read("ARCHITECTURE.md");
    let (_, section) = page.split_once("## Who may use whom").expect("the section is there");
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let rule = |row: &str| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        let place = in_backticks(cells[0]).next().expect("a path in the first cell").to_owned();
        (place, in_backticks(cells[cells.len() - 1]).map(str::to_owned).collect())
    };
    rows.map(rule).collect()
}

fn in_backticks(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn the_bans_are_in_force() {
    let (clippy, workspace) = (read("clippy.toml"), read("Cargo.toml"));
    let mut complaints = Vec::new();
    let missing = BANNED.iter().filter(|path| !clippy.contains(&format!("path = \"{path}\"")));
    complaints.extend(missing.map(|path| format!("clippy.toml: does not forbid {path}")));
    for lint in ["disallowed_methods", "unwrap_used", "print_stdout", "print_stderr"] {
        if !workspace.contains(&format!("{lint} = \"deny\"")) {
            complaints.push(format!("Cargo.toml: {lint} is not denied"));
        }
    }
    for manifest in files(&["Cargo.toml"]).iter().filter(|path| path.starts_with("crates/")) {
        if !read(manifest).contains("[lints]\nworkspace = true") {
            complaints.push(format!("{manifest}: does not take the lints of the workspace"));
        }
    }
    let lint = concat!("clippy::", "disallowed_methods");
    let doers = sources().into_iter().filter(|source| !source.is_test);
    let doers = doers.filter(|source| source.code().iter().any(|line| line.contains(lint)));
    let doers: BTreeSet<String> = doers.map(|source| source.path).collect();
    let strangers = doers.iter().filter(|path| !MAY_DO_BANNED.contains(&path.as_str()));
    complaints.extend(strangers.map(|path| format!("{path}: does what clippy.toml forbids")));
    assert_tidy(complaints);
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut complaints = Vec::new();
    for page in files(&[".md"]) {
        let text = read(&page);
        let dir = page.rsplit_once('/').map_or("", |(dir, _)| dir);
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        let targets = targets.map(|(target, _)| target.split('#').next().unwrap_or_default());
        for target in targets.filter(|target| !target.is_empty() && !target.contains("://")) {
            if !root().join(dir).join(target).exists() {
                complaints.push(format!("{page}: {target} is not there"));
            }
        }
        let paths = in_backticks(&text).filter(|word| is_path(word));
        let gone = paths.filter(|path| !root().join(path).exists());
        complaints.extend(gone.map(|path| format!("{page}: {path} is not there")));
    }
    assert_tidy(complaints);
}

/// What README.md shows of the library is its doc test, which is compiled.
#[test]
fn the_code_of_the_readme_is_a_doc_test() {
    let (page, library) = (read("README.md"), read("crates/crawl/src/lib.rs"));
    let lines: BTreeSet<&str> =
        library.lines().filter_map(|line| line.strip_prefix("//! ")).collect();
    let blocks = page.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next());
    let shown: Vec<&str> = blocks.flat_map(str::lines).filter(|line| !line.is_empty()).collect();
    assert!(!shown.is_empty(), "README.md shows no code");
    let strange = shown.iter().filter(|line| !lines.contains(**line));
    assert_tidy(strange.map(|line| format!("README.md: no doc test has `{line}`")).collect());
}

/// Whether a word in a page is a path from the root of the repository.
fn is_path(word: &str) -> bool {
    let tops = ["crates/", "src/", "tests/", "docs/", "examples/", "scripts/"];
    tops.iter().any(|top| word.starts_with(top)) && !word.contains([' ', '*', '…', '<'])
}

/// ARCHITECTURE.md has a line for every module, one level deep.
#[test]
fn the_map_is_complete() {
    let map = read("ARCHITECTURE.md");
    let mut modules = BTreeSet::new();
    for source in sources().iter().filter(|source| !source.is_test) {
        let Some((package, module)) = source.path.split_once("src/") else { continue };
        let module = module.split_once('/').map_or(module, |(dir, _)| dir);
        let named = !["lib.rs", "main.rs"].contains(&module);
        modules.extend(named.then(|| format!("{package}src/{module}")));
    }
    let missing = modules.iter().filter(|path| !map.contains(&format!("]({path}")));
    assert_tidy(missing.map(|path| format!("ARCHITECTURE.md: no line for {path}")).collect());
}

/// A name such as PACE-1 that stands in a file's header stands in ARCHITECTURE.md, and the other way.
#[test]
fn invariants_have_the_same_names_everywhere() {
    let mut claimed = BTreeSet::new();
    for source in sources().iter().filter(|source| !source.is_test) {
        let header = source.text.lines().take_while(|line| line.starts_with("//!"));
        header.for_each(|line| claimed.extend(invariants(line)));
    }
    let map = read("ARCHITECTURE.md");
    let (_, section) = map.split_once("## Invariants").expect("the section is there");
    let section = section.split("\n## ").next().unwrap_or_default();
    let listed: BTreeSet<String> =
        section.lines().filter(|line| line.starts_with('|')).flat_map(invariants).collect();
    assert!(claimed.len() > 15, "{claimed:?}");
    assert_eq!(claimed, listed, "left: headers of files; right: ARCHITECTURE.md");
}

/// The words of a line that look like `PACE-1`.
fn invariants(line: &str) -> Vec<String> {
    let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let named = words.filter(|word| {
        let Some((name, number)) = word.split_once('-') else { return false };
        let strange = ["UTF", "RFC", "SHA", "CRC", "UTC", "ISO"];
        name.len() >= 3
            && name.bytes().all(|byte| byte.is_ascii_uppercase())
            && number.len() == 1
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && !strange.contains(&name)
    });
    named.map(str::to_owned).collect()
}

#[test]
fn the_page_of_settings_is_fresh() {
    let larm = env!("CARGO_BIN_EXE_larm");
    let output = Command::new(larm).arg("config-doc").output().expect("larm can be started");
    if !output.status.success() || output.stdout.is_empty() {
        println!("skipped: this larm has no config-doc");
        return;
    }
    let made = String::from_utf8(output.stdout).expect("the page is text");
    assert!(read("docs/config.md") == made, "run: larm config-doc > docs/config.md");
}

#[test]
fn no_machine_is_named() {
    let places = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];
    let mut complaints = Vec::new();
    let endings = [".rs", ".md", ".toml", ".py", ".json", ".lock"];
    for path in files(&endings).into_iter().chain(["scripts/test".into(), ".ci/run".into()]) {
        let text = read(&path);
        let lines = text.lines().enumerate();
        let found = lines.filter(|(_, line)| places.iter().any(|place| line.contains(place)));
        complaints.extend(found.map(|(number, line)| format!("{path}:{}: {line}", number + 1)));
    }
    assert_tidy(complaints);
}

/// Of two shapes with one name, the description of the API would keep one and say it of both.
#[test]
fn shapes_of_the_api_have_names_of_their_own() {
    let mut known = std::collections::HashSet::new();
    let mut complaints = Vec::new();
    for source in sources().iter().filter(|source| source.path.starts_with("crates/server/src/")) {
        for described in source.text.split("ToSchema").skip(1) {
            let item =
                described.lines().find(|line| line.trim_start().starts_with(['p', 's', 'e']));
            let words = item.unwrap_or_default().split([' ', '<', '(', '{']);
            let Some(name) = words.skip_while(|word| !matches!(*word, "struct" | "enum")).nth(1)
            else {
                continue;
            };
            if !known.insert(name.to_owned()) {
                complaints.push(format!("{}: there is another {name}", source.path));
            }
        }
    }
    assert!(known.len() > 20, "shapes are found: {known:?}");
    assert_tidy(complaints);
}

#[test]
fn the_changelog_knows_this_version() {
    let heading = format!("\n## {}", env!("CARGO_PKG_VERSION"));
    assert!(read("CHANGELOG.md").contains(&heading), "CHANGELOG.md has no `{}`", heading.trim());
}
