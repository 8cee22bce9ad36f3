//! What the first word means: a command, or a URL to crawl.
//!
//! `larm example.com` is `larm crawl example.com`, and so is `larm -i seeds.txt`. A word with a dot, a
//! colon or a slash, or `localhost`, is a URL; any other word that is no command is a mistake, and is
//! told so rather than looked up as a host.

use std::ffi::OsString;

use clap::CommandFactory;

use crate::cli::Cli;
use crate::near::nearest;

/// Commands that are planned and not there yet.
const PLANNED: [&str; 14] = [
    "search", "links", "graph", "check", "report", "diff", "export", "refresh", "rebuild",
    "replay", "simulate", "serve", "node", "dev",
];

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
    if for_larm.contains(&first.as_str()) || is_command(&first) {
        return Meant::Arguments(arguments);
    }
    if first.starts_with('-') || is_url(&first) {
        arguments.insert(1, "crawl".into());
        return Meant::Arguments(arguments);
    }
    Meant::Mistake(mistake(&first))
}

/// Whether a word is meant as a URL.
fn is_url(word: &str) -> bool {
    word.contains(['.', ':', '/']) || word == "localhost"
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
    let near = nearest(word, commands.iter().map(String::as_str));
    let what = match near {
        _ if PLANNED.contains(&word) => format!("`{word}` is not part of this version of larm."),
        Some(near) => format!("`{word}` is no command. Did you mean `larm {near}`?"),
        None => format!("`{word}` is neither a command nor a URL."),
    };
    format!(
        "{what}\nCommands: {}\nTo crawl a host of that name: larm http://{word}/ or larm {word}.com",
        commands.join(", ")
    )
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
        ];
        for (typed, expected) in rows {
            assert_eq!(meant(words(typed)), Meant::Arguments(words(expected)), "{typed}");
        }
        assert_eq!(meant(words("larm")), Meant::Nothing);
    }

    #[test]
    fn a_word_that_is_neither_gets_help() {
        let rows = [
            ("exmaple", "neither a command nor a URL"),
            ("crwal", "Did you mean `larm crawl`?"),
            ("search", "not part of this version"),
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
