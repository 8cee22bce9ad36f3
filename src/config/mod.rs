//! From what was typed to what it means, in two steps: raw settings (flags over file), then the plan.
//!
//! Nothing here starts anything or prints anything. Every error names the flag or key, the value that is
//! wrong and what would be right.

pub mod consent;
pub mod examples;
pub mod file;
pub mod local;
pub mod merge;
pub mod plan;
pub mod proxies;
pub mod raw;
pub mod save;
pub mod secret;
pub mod seeds;
pub mod value;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use anyhow::Result;
use larm_core::url::CrawlUrl;

pub use raw::Settings;
pub use seeds::Seeds;

/// The file that is used when no other is named.
pub const FILE_NAME: &str = "larm.toml";

/// Settings with their seeds, defaults filled in.
#[derive(Debug, Clone)]
pub struct Config {
    /// Every setting that has a value, the defaults included; seeds and input are empty.
    pub settings: Settings,
    /// Where to begin.
    pub seeds: Seeds,
}

impl Config {
    /// Lays flags over a file's settings, fills in the defaults and reads the seeds of both.
    pub fn new(flags: Settings, file: Settings) -> Result<Self> {
        let mut layers = [flags, file];
        for settings in &mut layers {
            merge::fold_limits(settings)?;
        }
        let [mut flags, mut file] = layers;
        let begin = [seeds::take(&mut flags), seeds::take(&mut file)];
        let mut settings = merge::fill_in(merge::overlay(flags, file)?);
        // A crawl may go on from another place.
        let paths = [
            &mut settings.block,
            &mut settings.ca_file,
            &mut settings.cookie_jar,
            &mut settings.sign_key,
        ];
        for path in paths.into_iter().flatten() {
            *path = std::path::absolute(&*path)?;
        }
        let rules = plan::url_rules(&settings)?;
        let limits = plan::limits(&settings)?;
        let seeds = seeds::read(begin, &rules, &limits)?;
        Ok(Self { settings, seeds })
    }

    /// The settings with their seeds, as they are written down.
    pub fn written(&self) -> Settings {
        Settings {
            seeds: self.seeds.pages.iter().map(ToString::to_string).collect(),
            sitemap: self.seeds.sitemaps.iter().map(ToString::to_string).collect(),
            ..self.settings.clone()
        }
    }

    /// Where the crawl is kept, if nobody said: beside us, under the name of the first seed's host or
    /// directory.
    pub fn directory(&self) -> Option<PathBuf> {
        let first = || self.seeds.all().next();
        let named = || first().map(|seed| PathBuf::from(format!("{}.larm", word_of(seed))));
        self.settings.output.clone().or_else(named)
    }
}

/// The configuration file in force: the one named, else `./larm.toml` if it is there.
pub fn file_in_force(named: Option<&Path>) -> Option<PathBuf> {
    let here = || Some(PathBuf::from(FILE_NAME)).filter(|path| path.is_file());
    named.map(Path::to_owned).or_else(here)
}

fn word_of(seed: &CrawlUrl) -> String {
    let Some(path) = local::path_of(seed) else { return file_word(seed.host()) };
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
    name.filter(|name| !name.starts_with('-')).unwrap_or_else(|| "files".to_owned())
}

/// A host as a file name: IPv6 addresses have colons and brackets, which some systems refuse.
fn file_word(host: &str) -> String {
    let name = host.trim_matches(['[', ']']).replace(':', "-");
    // A name that begins with a dash would be taken for a flag.
    if name.starts_with('-') { format!("ipv6{name}") } else { name }
}
