//! The sources of the workspace as text, and the little that tidy has to understand of Rust.
//!
//! rustfmt has run over every file, so indentation can be trusted: an item ends with the first closing
//! brace at its own depth.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Directories that hold nothing of ours.
const STRANGE: [&str; 3] = ["target", "out", ".git"];

/// One file.
pub struct Source {
    /// From the root, with `/`.
    pub path: String,
    pub text: String,
    /// Whether it is compiled for tests only.
    pub is_test: bool,
}

/// A function: its name, the number of its first line, and how many lines it has.
pub struct Function<'a> {
    pub name: &'a str,
    pub line: usize,
    pub lines: usize,
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of a file of the repository.
pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every file of the repository whose name ends so, by path from the root.
pub fn files(endings: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut dirs = vec![PathBuf::from(root())];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
            if entry.file_type().unwrap().is_dir() {
                let ours = !STRANGE.contains(&name.as_str()) && !name.ends_with(".larm");
                dirs.extend(ours.then_some(path));
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                let path = path.strip_prefix(root()).unwrap().to_str().unwrap();
                found.push(path.replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

/// All Rust files.
pub fn sources() -> Vec<Source> {
    let all: Vec<(String, String)> =
        files(&[".rs"]).into_iter().map(|path| (path.clone(), read(&path))).collect();
    let for_tests: BTreeSet<String> =
        all.iter().flat_map(|(path, text)| test_modules(path, text)).collect();
    let is_test = |path: &str| {
        let below = |module: &String| {
            path == format!("{module}.rs") || path.starts_with(&format!("{module}/"))
        };
        path.starts_with("tests/") || path.contains("/tests/") || for_tests.iter().any(below)
    };
    all.into_iter().map(|(path, text)| Source { is_test: is_test(&path), path, text }).collect()
}

/// The modules that a file declares under `#[cfg(test)]`, as paths without `.rs`.
fn test_modules(path: &str, text: &str) -> Vec<String> {
    let (dir, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.trim_end_matches(".rs");
    let own = ["mod", "lib", "main"].contains(&stem);
    let inside = if own { dir.to_owned() } else { format!("{dir}/{stem}") };
    let lines: Vec<&str> = text.lines().collect();
    let declared = lines.windows(2).filter(|pair| pair[0] == "#[cfg(test)]");
    let names = declared.filter_map(|pair| pair[1].strip_suffix(';')?.split("mod ").nth(1));
    names.map(|name| format!("{inside}/{name}")).collect()
}

impl Source {
    /// The lines that are not tests.
    pub fn code(&self) -> Vec<&str> {
        let lines: Vec<&str> = self.text.lines().collect();
        let is_tests = |pair: &[&str]| {
            pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{')
        };
        let end = lines.windows(2).position(is_tests).unwrap_or(lines.len());
        lines[..end].to_vec()
    }

    /// The functions of the whole file, tests included.
    pub fn functions(&self) -> Vec<Function<'_>> {
        let lines: Vec<&str> = self.text.lines().collect();
        let begins = (0..lines.len()).filter_map(|at| Some((at, function_name(lines[at])?)));
        let measured = begins.filter_map(|(at, name)| {
            let lines = body_end(&lines, at)? - at + 1;
            Some(Function { name, line: at + 1, lines })
        });
        measured.collect()
    }

    /// What the code names of other modules and crates: the paths of its `use`s, each spelled out,
    /// and every other path that begins with `crate`, a crate's name or `std`.
    pub fn paths(&self) -> BTreeSet<String> {
        let code = self.code();
        let code = code.iter().map(|line| line.split("//").next().unwrap_or_default());
        let code: String = code.collect::<Vec<_>>().join("\n");
        let mut paths = BTreeSet::new();
        for statement in code.split(';') {
            let words = statement.rsplit_once("use ").filter(|(before, _)| ends_word(before));
            if let Some((_, tree)) = words {
                spell_out("", &tree.split_whitespace().collect::<String>(), &mut paths);
            }
        }
        let word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        paths.extend(code.split(|c| !word(c)).filter(|w| w.contains("::")).map(str::to_owned));
        paths
    }
}

fn ends_word(before: &str) -> bool {
    before.is_empty() || before.ends_with([' ', '\n', ')'])
}

/// `a::{b, c::d}` → `a::b`, `a::c::d`. The tree has no blanks.
fn spell_out(prefix: &str, tree: &str, paths: &mut BTreeSet<String>) {
    let Some((head, rest)) = tree.split_once('{') else {
        paths.insert(format!("{prefix}{tree}"));
        return;
    };
    let prefix = format!("{prefix}{head}");
    let (mut depth, mut begin) = (0, 0);
    for (at, c) in rest.char_indices() {
        let is_end = depth == 0 && (c == ',' || c == '}');
        if is_end && at > begin {
            spell_out(&prefix, &rest[begin..at], paths);
        }
        begin = if is_end { at + 1 } else { begin };
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return,
            '}' => depth -= 1,
            _ => {}
        }
    }
}

fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let words = before.split_whitespace();
    let is_item = words.into_iter().all(|word| {
        word.starts_with("pub") || ["async", "const", "unsafe", "extern", "in"].contains(&word)
    });
    let name = after.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (is_item && !name.is_empty()).then_some(name)
}

/// The line on which the function that begins at `at` ends; `None` for one without a body.
fn body_end(lines: &[&str], at: usize) -> Option<usize> {
    let indent = &lines[at][..lines[at].len() - lines[at].trim_start().len()];
    let own = |line: &&str| line.strip_prefix(indent).is_some_and(|rest| !rest.starts_with(' '));
    for (i, line) in lines.iter().enumerate().skip(at).filter(|(_, line)| own(line)) {
        if line.ends_with(';') {
            return None;
        }
        if line.ends_with('}') {
            return Some(i);
        }
    }
    None
}

#[test]
fn uses_are_spelled_out() {
    let mut paths = BTreeSet::new();
    spell_out("", "crate::{a::B,c::{d,E},f}", &mut paths);
    assert_eq!(
        paths.into_iter().collect::<Vec<_>>(),
        ["crate::a::B", "crate::c::E", "crate::c::d", "crate::f"]
    );
}

#[test]
fn functions_are_measured_to_their_last_brace() {
    let text = "trait T {\n    fn a(&self);\n}\n\npub(crate) async fn b(\n    x: u8,\n) -> u8 {\n    \
                if x > 0 {\n    }\n    x\n}\n\nfn c() {}\n";
    let source = Source { path: String::new(), text: text.to_owned(), is_test: false };
    let found: Vec<_> = source.functions().iter().map(|f| (f.name, f.line, f.lines)).collect();
    assert_eq!(found, [("b", 5, 7), ("c", 13, 1)]);
}
