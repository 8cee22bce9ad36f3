//! `docs/config.md`, made from the definitions that the program itself uses.

use std::fmt::Write as _;
use std::io::Write;

use anyhow::Result;
use clap::{Arg, CommandFactory};
use larm_core::scope::{KnownList, default_specs};
use larm_core::{Blame, FailureClass, Limits};
use larm_crawl::change;

use crate::cli::Cli;
use crate::config::Settings;
use crate::config::merge::to_table;
use crate::exit::Exit;
use crate::human;

/// Flags that are about a run and no keys of the file.
const RUN_ONLY: &str = "This run";

/// Prints it.
pub fn print() -> Result<Exit> {
    std::io::stdout().write_all(document()?.as_bytes())?;
    Ok(Exit::Done)
}

fn document() -> Result<String> {
    let mut out = String::from(INTRODUCTION);
    flags(&mut out)?;
    out.push_str(FILE);
    filters(&mut out)?;
    limits(&mut out)?;
    retries(&mut out)?;
    exits(&mut out)?;
    Ok(out)
}

const INTRODUCTION: &str = "\
# Configuration

Made by `larm config-doc`; do not edit.

Settings come from flags, from a file (`--config FILE`, else `./larm.toml`), and from the defaults, in
this order. `larm crawl --dry-run …` prints what they come to. A crawl keeps its settings in
`DIR/larm.toml`: `larm resume DIR` uses them, and the same `larm crawl` command on the same directory
compares them and says what changed. `drop-params` and `sort-query` cannot be changed later.

";

const FILE: &str = "\
## The file

Every flag above that is not under “This run” is a key of the same name, without the dashes in front.
Repeatable flags are lists. Relative paths are taken from where the file is. A key that does not exist is
an error. Beside the flags there are

```toml
seeds = [\"example.com\"]              # the URLs of the command line

[host.\"slow.example.com\"]
delay = \"10s\"                         # in place of the crawl's
header = [\"X-Key: env:KEY\"]           # for this host alone, over https (http if a seed says http)
basic-auth = \"env:USER_PASSWORD\"     # USER:PASSWORD, or bearer = \"TOKEN\"

[[login]]                             # before anything else of this host is fetched
url = \"https://example.com/login\"     # the page with the form
fields = { user = \"me\", password = \"env:PASSWORD\" }
form = \"signin\"                       # its name or id; else the first that asks for a password
success-text = \"Log out\"              # what those see who are in; or success-cookie = \"session\"

[limits]
redirects_max = 3                     # any row of the table below

[[filters]]                           # in place of the default ones, in this order
filter = \"known-paths\"
lists = [\"directory-index\", \"actions\"]
extra = [\"^/print/\"]
```

Times are written `500ms`, `2s`, `10m`, `3h`, `1d`; sizes `500MB`, `10GB`, `64KiB`. A bare number is
seconds, or bytes. Passwords, tokens and values of headers can be written `env:NAME` or `file:PATH`; those
that are written out are kept in `DIR/secrets.toml`, which only you can read. Yes-or-no flags take `=false` to undo what a file says.

";

fn flags(out: &mut String) -> Result<()> {
    let mut command = Cli::command();
    command.build();
    let crawl = command.find_subcommand("crawl").expect("there is a command to crawl");
    let args: Vec<&Arg> = crawl.get_arguments().filter(|arg| arg.get_id() != "help").collect();
    writeln!(out, "## Flags of `larm crawl`\n")?;
    for heading in ["What to crawl", "How much", "How fast", "How to ask", "What to keep", RUN_ONLY]
    {
        writeln!(out, "### {heading}\n\n| flag | meaning |\n|---|---|")?;
        for arg in args.iter().filter(|arg| arg.get_help_heading() == Some(heading)) {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            writeln!(out, "| `{}` | {} |", cell(&spelled(arg)), cell(&help))?;
        }
        out.push('\n');
    }
    Ok(writeln!(out, "`larm set DIR KEY=VALUE` changes a running crawl: {}.\n", change::KEYS)?)
}

/// The flag as it is typed.
fn spelled(arg: &Arg) -> String {
    let value = arg.get_value_names().and_then(<[_]>::first).map(ToString::to_string);
    let Some(long) = arg.get_long() else { return format!("{}…", value.unwrap_or_default()) };
    let short = arg.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    let takes = arg.get_action().takes_values().then_some(value).flatten();
    let optional = arg.get_num_args().is_some_and(|range| range.min_values() == 0);
    let value = match takes {
        Some(value) if arg.is_require_equals_set() => format!("[={value}]"),
        Some(value) if optional => format!(" [{value}]"),
        Some(value) => format!(" {value}"),
        None => String::new(),
    };
    format!("{short}--{long}{value}")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn filters(out: &mut String) -> Result<()> {
    let settings = Settings { filters: Some(default_specs()), ..Settings::default() };
    let defaults = toml::to_string(&to_table(&settings)?)?;
    let lists = KnownList::ALL.map(|list| format!("`{}`", list.word())).join(", ");
    writeln!(
        out,
        "## Filters\n\nThe first filter that says no decides. These are the default ones; the lists of \
         known paths are {lists}. `scheme` takes `allow`, `blocklist` takes `hosts`, `include` and \
         `exclude` take `patterns`, `known-paths` takes `lists` and `extra`, `traps` takes `year_min` \
         and `year_max`.\n\n```toml\n{}\n```\n",
        defaults.trim_end()
    )?;
    Ok(())
}

fn limits(out: &mut String) -> Result<()> {
    writeln!(
        out,
        "## Limits\n\nEvery maximum has a default and a ceiling. 0 is refused, and nothing is \
         unlimited. Set them under `[limits]` or with `--limit NAME=VALUE`.\n\n\
         | limit | default | ceiling | what it bounds | when reached |\n\
         |---|---:|---:|---|---|"
    )?;
    for info in Limits::TABLE {
        writeln!(
            out,
            "| `{}` | {} | {} | {} | {} |",
            info.name,
            human::count(info.default),
            human::count(info.ceiling),
            cell(info.about.trim()),
            cell(info.when_reached)
        )?;
    }
    out.push('\n');
    Ok(())
}

fn retries(out: &mut String) -> Result<()> {
    writeln!(
        out,
        "## Failures and tries\n\nWhat fails is tried again after a wait that grows. A failure is held \
         against the URL alone, or against its host, whose other URLs wait, too.\n\n\
         | failure | held against | first wait | each further wait | hint |\n|---|---|---|---|---|"
    )?;
    for class in FailureClass::ALL {
        let rule = class.retry();
        let (against, again) = match rule.blame {
            Blame::Url => ("the URL", true),
            Blame::Host => ("the host", true),
            Blame::HostForGood => ("the host, for good", false),
            Blame::UrlForGood => ("the URL, for good", false),
            Blame::Nobody => ("nobody: the URL waits as before", false),
        };
        let first = if again { human::time(rule.first_delay_ms) } else { "none".to_owned() };
        let growth = if again { format!("× {}", rule.growth) } else { "none".to_owned() };
        let hint = crate::summary::hint(class);
        writeln!(out, "| `{class}` | {against} | {first} | {growth} | {} |", cell(hint))?;
    }
    out.push('\n');
    Ok(())
}

fn exits(out: &mut String) -> Result<()> {
    writeln!(out, "## Exit codes\n\n| code | meaning |\n|---:|---|")?;
    for exit in Exit::ALL {
        writeln!(out, "| {} | {} |", exit.code(), exit.meaning())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_page_is_fresh() {
        let committed = include_str!("../../docs/config.md");
        assert!(committed == document().unwrap(), "run: larm config-doc > docs/config.md");
    }

    #[test]
    fn every_flag_of_a_crawl_is_described() {
        let text = document().unwrap();
        let mut command = Cli::command();
        command.build();
        for arg in command.find_subcommand("crawl").unwrap().get_arguments() {
            if let Some(long) = arg.get_long().filter(|long| *long != "help") {
                assert!(text.contains(&format!("--{long}")), "{long}");
            }
        }
    }
}
