//! `DIR/larm.toml`: what a crawl was told, so that it can go on, and be read by people.
//!
//! Written as a whole or not at all, before the crawl starts. Many seeds go to `DIR/seeds.txt`, which the
//! file then names as its `input`.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use larm_core::url::CrawlUrl;
use larm_crawl::Error;
use larm_crawl::store::durable;
use toml::{Table, Value};

use super::merge::{overlay, to_table};
use super::raw::Settings;
use super::{Config, FILE_NAME, file, plan, secret};
use crate::exit::usage;

/// Beyond this many, seeds have a file of their own.
const SEEDS_INLINE_MAX: usize = 1_000;
const SEEDS_NAME: &str = "seeds.txt";

/// Settings that make two URLs one: changing them would make the seen set a lie.
const IDENTITY: [&str; 2] = ["drop-params", "sort-query"];
/// Settings that are about this run, or are compared elsewhere.
const APART: [&str; 5] = ["seeds", "sitemap", "input", "output", "jsonl"];

/// One setting that differs between two runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The key, with its section.
    pub key: String,
    /// The earlier value, if there was one.
    pub old: Option<String>,
    /// The new one, if there is one.
    pub new: Option<String>,
}

/// The resolved configuration as TOML that larm reads back.
pub fn to_toml(config: &Config) -> Result<String> {
    let (settings, _) = secret::part(config.written());
    let agent = plan::user_agent(&settings)?;
    let body = toml::to_string(&settings).map_err(|error| usage(error.to_string()))?;
    Ok(format!(
        "# Settings of a crawl by {}, defaults included. Limits that are not here have the defaults of\n\
         # `larm config-doc`. Sent as user agent: {agent}\n\n{body}",
        plan::PRODUCT
    ))
}

/// Writes the configuration into the crawl directory, durably.
pub fn write(config: &Config, dir: &Path) -> Result<()> {
    let mut config = config.clone();
    config.settings.output = None;
    config.settings.jsonl = None;
    if config.seeds.pages.len() > SEEDS_INLINE_MAX {
        write_seeds(&config.seeds.pages, &dir.join(SEEDS_NAME))?;
        config.seeds.pages.clear();
        config.settings.input = Some(SEEDS_NAME.into());
    }
    secret::write(&secret::part(config.settings.clone()).1, dir)?;
    let text = to_toml(&config)?;
    let path = dir.join(FILE_NAME);
    durable::replace(&path, |out| out.write_all(text.as_bytes()).map_err(Error::io(&path)))?;
    Ok(())
}

fn write_seeds(seeds: &[CrawlUrl], path: &Path) -> Result<()> {
    durable::replace(path, |out: &mut dyn Write| {
        seeds.iter().try_for_each(|seed| writeln!(out, "{seed}")).map_err(Error::io(path))
    })?;
    Ok(())
}

/// The settings that a crawl directory was last run with, if it was.
pub fn read(dir: &Path) -> Result<Option<Config>> {
    let path = dir.join(FILE_NAME);
    if !path.is_file() {
        return Ok(None);
    }
    Config::new(Settings::default(), settings_of(dir)?).map(Some)
}

/// The same for whoever only looks, who may not be allowed to see the secrets.
pub fn read_public(dir: &Path) -> Result<Option<Config>> {
    let secrets = std::fs::File::open(dir.join(secret::FILE_NAME));
    if !secrets.is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied) {
        return read(dir);
    }
    let public = file::read(&dir.join(FILE_NAME))?;
    Config::new(Settings::default(), public).map(Some)
}

/// The settings of a crawl directory, its secrets included.
pub fn settings_of(dir: &Path) -> Result<Settings> {
    let public = file::read(&dir.join(FILE_NAME))?;
    let secrets = dir.join(secret::FILE_NAME);
    match secrets.is_file() {
        true => overlay(file::read(&secrets)?, public),
        false => Ok(public),
    }
}

/// What differs between an earlier run and this one.
pub fn differences(old: &Config, new: &Config) -> Result<Vec<Difference>> {
    let (mut before, mut after) = (Table::new(), Table::new());
    flatten("", to_table(&old.settings)?, &mut before);
    flatten("", to_table(&new.settings)?, &mut after);
    let keys: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let changed = keys.into_iter().filter(|key| before.get(*key) != after.get(*key));
    let wanted = changed.filter(|key| !APART.contains(&key.as_str()));
    let shown = |table: &Table, key: &str| table.get(key).map(|value| shown(key, value));
    let differences = wanted.map(|key| Difference {
        key: key.clone(),
        old: shown(&before, key),
        new: shown(&after, key),
    });
    Ok(differences.collect())
}

/// The settings for the list of runs, by key; secrets are not told.
pub fn told(settings: &Settings) -> Result<BTreeMap<String, String>> {
    let mut table = Table::new();
    flatten("", to_table(settings)?, &mut table);
    table.retain(|key, _| !APART.contains(&key));
    let told = |key: &str, value: &Value| {
        let shown = shown(key, value);
        // A text needs its quotes in a file only.
        value
            .as_str()
            .filter(|text| shown == Value::from(*text).to_string())
            .map_or(shown.clone(), str::to_owned)
    };
    Ok(table.iter().map(|(key, value)| (key.clone(), told(key, value))).collect())
}

/// A value as it is told; secrets are not.
fn shown(key: &str, value: &Value) -> String {
    // A secret may have names below it, as fields of a header have.
    match key.split('.').any(|name| secret::KEYS.contains(&name) || name == "login") {
        true => "(not shown)".to_owned(),
        false => value.to_string(),
    }
}

/// Refuses changes after which known URLs would no longer be recognised.
pub fn refuse_new_identity(differences: &[Difference], dir: &Path) -> Result<()> {
    let Some(change) = differences.iter().find(|change| IDENTITY.contains(&change.key.as_str()))
    else {
        return Ok(());
    };
    Err(usage(format!(
        "`{}` cannot be changed for {}: it decides which URLs are the same, and those known so far would \
         be fetched again. Leave it as it was ({}), or start anew with --fresh or another -o",
        change.key,
        dir.display(),
        change.old.as_deref().unwrap_or("not set"),
    )))
}

fn flatten(prefix: &str, table: Table, into: &mut Table) {
    for (key, value) in table {
        match value {
            Value::Table(inner) => flatten(&format!("{prefix}{key}."), inner, into),
            value => {
                into.insert(format!("{prefix}{key}"), value);
            }
        }
    }
}
