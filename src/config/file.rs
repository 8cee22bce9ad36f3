//! Reads `larm.toml`. An unknown key is an error with its line, and a proposal where one is close.

use std::path::Path;

use anyhow::{Context, Result};
use clap::{Args, Command};
use larm_core::Limits;

use super::raw::Settings;
use super::secret;
use crate::exit::usage;
use crate::near::nearest;

/// The settings in a file. Paths in it are taken from where the file is.
pub fn read(path: &Path) -> Result<Settings> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| usage(format!("{}: {error}", path.display())))?;
    let mut settings = parse(&text).with_context(|| format!("in {}", path.display()))?;
    let base = path.parent().unwrap_or(Path::new(""));
    anchor(&mut settings, base);
    Ok(settings)
}

/// The settings in a text. Errors begin with the line.
pub fn parse(text: &str) -> Result<Settings> {
    let settings: Settings = toml::from_str(text).map_err(|error| usage(explain(text, &error)))?;
    for name in settings.limits.keys() {
        if Limits::default().get(name).is_none() {
            let line = line_of_key(text, name);
            return Err(usage(format!("line {line}: {}", unknown_limit(name))));
        }
    }
    Ok(settings)
}

/// What to say about a limit that does not exist.
pub fn unknown_limit(name: &str) -> String {
    let known = Limits::TABLE.iter().map(|info| info.name);
    let hint = nearest(name, known).map(|near| format!("; did you mean `{near}`?"));
    let hint = hint.unwrap_or_else(|| "; docs/config.md lists them".to_owned());
    format!("there is no limit named `{name}`{hint}")
}

fn anchor(settings: &mut Settings, base: &Path) {
    let paths = [
        &mut settings.output,
        &mut settings.input,
        &mut settings.block,
        &mut settings.ca_file,
        &mut settings.sign_key,
        &mut settings.cookie_jar,
        &mut settings.jsonl,
    ];
    for path in paths.into_iter().flatten().filter(|path| !is_dash(path)) {
        *path = base.join(&*path);
    }
}

/// Whether a path stands for standard input or output.
pub fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Says what is wrong, and repeats the line unless it may hold a secret.
fn explain(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map_or(1, |span| line_at(text, span.start));
    let may_be_shown = is_harmless(text, line);
    let message = unknown_key(error.message()).unwrap_or_else(|| match may_be_shown {
        true => error.message().to_owned(),
        false => without_values(error.message()),
    });
    let shown = text.lines().nth(line - 1).filter(|_| may_be_shown);
    let shown = shown.map_or("(the line is not shown: it may hold a secret)", str::trim);
    format!("line {line}: {message}\n    {shown}")
}

/// Whether a line is known to hold no secret: it sets a key that never does.
fn is_harmless(text: &str, line: usize) -> bool {
    let before = || text.lines().take(line);
    let section = before().filter(|line| line.trim_start().starts_with('[')).last();
    let key = before().last().and_then(|line| line.split_once('=')).map(|(key, _)| key.trim());
    let known = |key: &str| {
        let flags = Settings::augment_args(Command::new("crawl"));
        flags.get_arguments().any(|flag| flag.get_long() == Some(key))
            || Limits::default().get(key).is_some()
    };
    let is_in = |name: &str| section.is_some_and(|section| section.contains(name));
    let may_be_told = |key: &str| known(key) && !secret::KEYS.contains(&key);
    is_in("[[filters]]") || (!is_in("login") && key.is_some_and(may_be_told))
}

/// A message of the parser without what stands in quotes: that is what it found.
fn without_values(message: &str) -> String {
    let parts = message.split(['`', '"']).enumerate();
    parts.map(|(index, part)| if index % 2 == 0 { part } else { "…" }).collect()
}

/// serde says "unknown field `x`, expected one of `a`, `b`, …": too long for a person.
fn unknown_key(message: &str) -> Option<String> {
    let mut quoted = message.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    let key = quoted.next()?;
    let near = nearest(key, quoted).map(|near| format!("; did you mean `{near}`?"));
    let hint = near.unwrap_or_else(|| "; docs/config.md lists the keys".to_owned());
    Some(format!("there is no key `{key}`{hint}"))
}

fn line_at(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|&&byte| byte == b'\n').count() + 1
}

fn line_of_key(text: &str, key: &str) -> usize {
    let is_key = |line: &str| {
        let rest = line.trim_start().strip_prefix(key);
        rest.is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    text.lines().position(is_key).map_or(1, |index| index + 1)
}
