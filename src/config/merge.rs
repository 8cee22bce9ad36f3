//! Flags over file, and the defaults under both.
//!
//! The layers are laid upon each other as TOML tables, so that a new setting cannot be forgotten here.
//! A list given as flags takes the place of the file's; limits and hosts are merged one by one.

use std::collections::HashSet;

use anyhow::Result;
use larm_core::scope::{ScopeMode, default_specs};
use larm_core::url::UrlRules;
use larm_core::{Limits, workbench::Pace};
use toml::{Table, Value};

use super::file::unknown_limit;
use super::raw::{Settings, Warc};
use super::value::{Concurrency, Time};
use crate::exit::usage;

/// Lays `flags` over `file`.
pub fn overlay(flags: Settings, mut file: Settings) -> Result<Settings> {
    // One says "only these", the other "only this": the later word counts.
    if flags.restrict_to.is_some() {
        file.include.clear();
    }
    if !flags.include.is_empty() {
        file.restrict_to = None;
    }
    let mut table = to_table(&file)?;
    lay_over(&mut table, to_table(&flags)?);
    Ok(table.try_into().expect("two valid layers are valid together"))
}

/// Settings as a table; fails only for paths that are not UTF-8.
pub fn to_table(settings: &Settings) -> Result<Table> {
    Table::try_from(settings).map_err(|error| usage(format!("cannot be written as TOML: {error}")))
}

fn lay_over(below: &mut Table, above: Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => lay_over(below, above),
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
}

/// Moves `--limit NAME=VALUE` to where the file has its limits.
pub fn fold_limits(settings: &mut Settings) -> Result<()> {
    for text in std::mem::take(&mut settings.limit) {
        let wrong = |why: String| usage(format!("--limit {text}: {why}"));
        let (name, value) =
            text.split_once('=').ok_or_else(|| wrong("write it as NAME=NUMBER".to_owned()))?;
        let (name, value) = (name.trim(), value.trim().replace('_', ""));
        if Limits::default().get(name).is_none() {
            return Err(wrong(unknown_limit(name)));
        }
        let value = value.parse().map_err(|_| wrong(format!("`{value}` is no whole number")))?;
        settings.limits.insert(name.to_owned(), value);
    }
    Ok(())
}

/// A pattern that is written twice says nothing more than once.
fn once_each(patterns: &mut Vec<String>) {
    let mut met = HashSet::new();
    patterns.retain(|pattern| met.insert(pattern.clone()));
}

/// Writes the defaults into what was left open, wherever there is one value that stands for it.
pub fn fill_in(mut settings: Settings) -> Settings {
    if let Some(pattern) = settings.restrict_to.take() {
        settings.include = vec![pattern];
    }
    [&mut settings.include, &mut settings.exclude].into_iter().for_each(once_each);
    let hops = settings.limits.get("depth_hops_max").copied();
    let hops = hops.unwrap_or(Limits::default().depth_hops_max);
    settings.depth.get_or_insert(u32::try_from(hops).unwrap_or(u32::MAX));
    settings.scope.get_or_insert(ScopeMode::default());
    settings.assets.get_or_insert(false);
    settings.drop_params.get_or_insert_with(|| UrlRules::default().drop_params);
    settings.sort_query.get_or_insert(false);
    settings.delay.get_or_insert(Time(Pace::default().delay_ms));
    settings.concurrency.get_or_insert(Concurrency(None));
    settings.ignore_robots.get_or_insert(false);
    settings.warc.get_or_insert(Warc::Gzip);
    settings.filters.get_or_insert_with(default_specs);
    settings
}
