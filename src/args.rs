//! What the first word means: a command, or a URL to crawl.
//!
//! `larm example.com` is `larm crawl example.com`, and so is `larm -i seeds.txt`. A word with a dot, a
//! colon or a slash, or `localhost`, is a URL; any other word that is no command is a mistake, and is
//! told so rather than looked up as a host.

use std::ffi::OsString;
use std::path::Path;

use clap::CommandFactory;

use crate::cli::Cli;
use crate::exit::shell_word;
use crate::near::nearest;

/// Commands that are planned and not there yet.
const PLANNED: [&str; 10] =
    ["check", "report", "diff", "export", "refresh", "replay", "simulate", "serve", "node", "dev"];

/// What the arguments come to.
#[derive(Debug, PartialEq, Eq)]
pub enum Meant {
    /// Nothing was said.
    Nothing,
    /// These arguments, for the parser.
    Arguments(Vec<OsString>),
    /// A mistake, with what to say about it.
    Mistake(String),
}

/// Understands the first word.
pub fn meant(mut arguments: Vec<OsString>) -> Meant {
    let Some(first) = arguments.get(1).map(|word| word.to_string_lossy().into_owned()) else {
        return Meant::Nothing;
    };
    let for_larm = ["-h", "--help", "-V", "--version", "help"];
    if first == "search" {
        return Meant::Arguments(with_query_last(arguments));
    }
    if for_larm.contains(&first.as_str()) || is_command(&first) {
        return Meant::Arguments(arguments);
    }
    if is_crawl(Path::new(&first)) {
        return Meant::Mistake(about_directory(&first));
    }
    if first.starts_with('-') || is_url(&first) {
        arguments.insert(1, "crawl".into());
        return Meant::Arguments(arguments);
    }
    Meant::Mistake(mistake(&first))
}

/// `-word` belongs to a query, though it looks like flags: it goes to the end, behind `--`.
fn with_query_last(arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.iter().any(|word| word == "--") {
        return arguments;
    }
    let excludes = |word: &OsString| {
        let text = word.to_string_lossy();
        text.len() > 1 && text.starts_with('-') && !text.starts_with("--") && text != "-h"
    };
    let (words, mut all): (Vec<_>, Vec<_>) = arguments.into_iter().partition(excludes);
    if !words.is_empty() {
        all.push("--".into());
        all.extend(words);
    }
    all
}

/// Whether a word is meant as a URL.
fn is_url(word: &str) -> bool {
    word.contains(['.', ':', '/']) || word == "localhost"
}

/// Whether there is a crawl directory of that name.
fn is_crawl(path: &Path) -> bool {
    path.is_dir() && larm_crawl::directory::identify(path).is_ok()
}

fn about_directory(dir: &str) -> String {
    let dir = shell_word(dir);
    format!(
        "{dir} is a crawl directory, not a URL. To go on with it: larm resume {dir}\n\
         To see how it stands: larm status {dir}"
    )
}

fn commands() -> Vec<String> {
    let command = Cli::command();
    let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
    visible.map(|command| command.get_name().to_owned()).collect()
}

fn is_command(word: &str) -> bool {
    Cli::command().find_subcommand(word).is_some()
}

fn mistake(word: &str) -> String {
    let commands = commands();
    let what = if PLANNED.contains(&word) {
        format!("`{word}` is not part of this version of larm.")
    } else if let Some(near) = nearest(word, commands.iter().map(String::as_str)) {
        format!("`{word}` is no command. Did you mean `larm {near}`?")
    } else if Path::new(word).exists() {
        format!("`{word}` could be a host or the files here; for the files: larm ./{word}")
    } else {
        let crawl = format!("To crawl a host of that name: larm http://{word}/ or larm {word}.com");
        format!("`{word}` is neither a command nor a URL.\n{crawl}")
    };
    format!("{what}\nCommands: {}", commands.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn urls_need_no_command() {
        let rows = [
            ("larm example.com", "larm crawl example.com"),
            ("larm localhost --depth 1", "larm crawl localhost --depth 1"),
            ("larm localhost:8080/x", "larm crawl localhost:8080/x"),
            ("larm https://a/", "larm crawl https://a/"),
            ("larm [::1]:80", "larm crawl [::1]:80"),
            ("larm -i seeds.txt", "larm crawl -i seeds.txt"),
            ("larm --depth 2 example.com", "larm crawl --depth 2 example.com"),
            ("larm crawl example", "larm crawl example"),
            ("larm status x.larm", "larm status x.larm"),
            ("larm help crawl", "larm help crawl"),
            ("larm --version", "larm --version"),
            ("larm config-doc", "larm config-doc"),
            ("larm search d a --json", "larm search d a --json"),
            ("larm search d -a b --json -c", "larm search d b --json -- -a -c"),
            ("larm search d --json -- -a", "larm search d --json -- -a"),
            ("larm search -h", "larm search -h"),
        ];
        for (typed, expected) in rows {
            assert_eq!(meant(words(typed)), Meant::Arguments(words(expected)), "{typed}");
        }
        assert_eq!(meant(words("larm")), Meant::Nothing);
    }

    #[test]
    fn a_crawl_directory_is_not_taken_for_a_host() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("example.com.larm");
        drop(larm_crawl::directory::Directory::open(&dir).unwrap());
        let arguments = vec!["larm".into(), dir.into_os_string()];
        let Meant::Mistake(text) = meant(arguments) else { panic!("taken for a URL") };
        assert!(text.contains("larm resume"), "{text}");
    }

    #[test]
    fn a_word_that_is_neither_gets_help() {
        let rows = [
            ("exmaple", "neither a command nor a URL"),
            ("crwal", "Did you mean `larm crawl`?"),
            ("replay", "not part of this version"),
        ];
        for (word, expected) in rows {
            let Meant::Mistake(text) = meant(words(&format!("larm {word}"))) else {
                panic!("{word} was understood");
            };
            assert!(text.contains(expected), "{text}");
            assert!(text.contains("resume") && !text.contains("config-doc"), "{text}");
        }
    }
}
