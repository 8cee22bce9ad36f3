//! `larm key`: the key by which a crawl signs its requests, and what to publish of it.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use larm_crawl::fetch::SignKey;

use crate::cli::Key;
use crate::exit::{Exit, shown};

/// Where a site looks for the public half.
const DIRECTORY_PATH: &str = "/.well-known/http-message-signatures-directory";

/// Makes or shows a key.
pub fn key(what: &Key) -> Result<Exit> {
    match what {
        Key::New(args) => {
            let key = SignKey::generate()?;
            key.write(&args.file)?;
            publish(&key, &args.file)?;
        }
        Key::Show(args) => publish(&SignKey::read(&args.file)?, &args.file)?,
    }
    Ok(Exit::Done)
}

/// The directory goes to standard output, so that it can be sent to a file; what to do with it does not.
fn publish(key: &SignKey, file: &Path) -> Result<()> {
    let directory = serde_json::to_string_pretty(&key.directory())?;
    writeln!(std::io::stdout(), "{directory}")?;
    let file = shown(file);
    writeln!(
        std::io::stderr(),
        "\nKeep {file} to yourself. Publish the lines above at https://YOUR-HOST{DIRECTORY_PATH}\n\
         as application/http-message-signatures-directory+json, and crawl with\n  \
         larm … --sign-key {file} --signature-agent https://YOUR-HOST"
    )?;
    Ok(())
}
