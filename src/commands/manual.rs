//! `larm man` and `larm completions`: both are made from the definitions of the command line.

use std::io::Write;

use anyhow::Result;
use clap::CommandFactory;
use clap_mangen::Man;

use crate::cli::Cli;
use crate::exit::Exit;

/// Prints completions for a shell.
pub fn completions(shell: clap_complete::Shell) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "larm", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(Exit::Done)
}

/// Prints one manual page, every command included.
pub fn man() -> Result<Exit> {
    std::io::stdout().write_all(&page()?)?;
    Ok(Exit::Done)
}

fn page() -> Result<Vec<u8>> {
    let mut command = Cli::command();
    command.build();
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        section(sub, "larm", &mut page)?;
    }
    exit_codes(&mut page)?;
    man.render_extra_section(&mut page)?;
    man.render_version_section(&mut page)?;
    Ok(page)
}

/// A command as a section of its own, and its commands below it.
fn section(command: &clap::Command, parent: &str, page: &mut Vec<u8>) -> Result<()> {
    if command.get_name() == "help" {
        return Ok(());
    }
    let name = format!("{parent} {}", command.get_name());
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    writeln!(page, ".SH \"{}\"\n{about}", name.to_uppercase())?;
    let man = Man::new(command.clone());
    let mut options = Vec::new();
    man.render_synopsis_section(&mut options)?;
    man.render_options_section(&mut options)?;
    // What is a section in a page of its own is a part of one here.
    let options = String::from_utf8_lossy(&options).replace(".SH ", ".SS ");
    page.write_all(options.as_bytes())?;
    for sub in command.get_subcommands() {
        section(sub, &name, page)?;
    }
    Ok(())
}

fn exit_codes(page: &mut Vec<u8>) -> Result<()> {
    writeln!(page, ".SH \"EXIT STATUS\"")?;
    for exit in Exit::ALL {
        writeln!(page, ".TP\n{}\n{}", exit.code(), exit.meaning())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_has_every_command_and_exit_code() {
        let page = String::from_utf8(page().unwrap()).unwrap();
        for part in ["LARM CRAWL", "LARM INSPECT URL", "max\\-pages", "EXIT STATUS", "130"] {
            assert!(page.contains(part), "{part} is missing");
        }
        assert!(!page.contains("CONFIG-DOC"));
    }

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
