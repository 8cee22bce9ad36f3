//! This program as the server's launcher: settings in JSON become a crawl directory, and that a process.

mod changes;
pub mod policy;
mod words;

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use larm_core::scope::FilterSpec;
use larm_crawl::Plan;
use larm_crawl::change::Change;
use larm_crawl::directory::Directory;
use larm_crawl::frontier::{HostList, HostsAsked};
use larm_crawl::handle::RulePreview;
use larm_server::keeper::LOG;
use larm_server::launch::{InForce, Told};
use larm_server::{Launcher, Preview, Problem};
use serde_json::{Map, Value};

use self::policy::Policy;
use crate::commands::lookup::Lookup;
use crate::config::raw::Settings;
use crate::config::{Config, FILE_NAME, consent, file, merge, plan, save, secret};
use crate::exit::in_words;
use crate::near::nearest;

/// The token of the server is nothing for its crawls.
pub const TOKEN_VARIABLE: &str = "LARM_TOKEN";

/// Makes and starts crawls with this program.
pub struct Program {
    /// What is allowed to whoever makes crawls.
    pub policy: Policy,
    /// The only hosts that they may ask, as they were written.
    pub targets: Vec<String>,
}

impl Launcher for Program {
    fn preview(&self, settings: &Map<String, Value>) -> Result<Preview, Problem> {
        let (config, plan) = self.understand(settings)?;
        let name = config.directory().unwrap_or_default();
        let name = name.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let words = words::of(&config, &plan);
        Ok(Preview { words, settings: shown(&config.written())?, name })
    }

    fn make(&self, dir: &Path, settings: &Map<String, Value>) -> Result<(), Problem> {
        let (config, _) = self.understand(settings)?;
        let lock = Directory::borrow(dir).map_err(Problem::internal)?;
        save::write(&config, dir).map_err(|error| Problem::internal(in_words(&error)))?;
        drop(lock);
        Ok(())
    }

    fn start(&self, dir: &Path) -> Result<Child, Problem> {
        let log = OpenOptions::new().create(true).append(true).open(dir.join(LOG));
        let log = log.map_err(Problem::internal)?;
        let mut command = Command::new(itself().map_err(Problem::internal)?);
        command.arg("resume").arg(dir).arg("--no-progress");
        for target in &self.targets {
            command.arg(format!("--allow-target={target}"));
        }
        command.env_remove(TOKEN_VARIABLE).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        // What is meant for the server, such as Ctrl-C, does not reach the crawl.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().map_err(Problem::internal)
    }

    fn told(&self, dir: &Path, seeds_max: usize) -> Result<Told, Problem> {
        let settings = file::read(&dir.join(FILE_NAME));
        let settings = settings.map_err(|error| Problem::internal(in_words(&error)))?;
        let (mut seeds, mut seeds_total) = match &settings.input {
            Some(path) => first_lines(path, seeds_max),
            None => (Vec::new(), 0),
        };
        seeds_total += (settings.seeds.len() + settings.sitemap.len()) as u64;
        seeds.extend(settings.seeds.iter().chain(&settings.sitemap).cloned());
        seeds.truncate(seeds_max);
        Ok(Told { settings: shown(&settings)?, seeds, seeds_total })
    }

    fn hosts(&self, dir: &Path, asked: &HostsAsked) -> Result<HostList, Problem> {
        let hosts = Lookup::open(dir).and_then(|lookup| lookup.hosts(asked));
        hosts.map_err(|error| Problem::conflict(in_words(&error)))
    }

    fn change(&self, dir: &Path, changes: &Map<String, Value>) -> Result<(), Problem> {
        self.policy.check(changes)?;
        let flags = read(changes)?;
        let lock = changes::locked(dir)?;
        let internal = |error: anyhow::Error| Problem::internal(in_words(&error));
        let saved = save::settings_of(dir).map_err(internal)?;
        let earlier = Config::new(Settings::default(), saved.clone()).map_err(internal)?;
        let saved = changes::without_taken_back(saved, changes)?;
        let config = Config::new(flags, saved).map_err(told)?;
        let differences = save::differences(&earlier, &config).map_err(internal)?;
        save::refuse_new_identity(&differences, dir).map_err(told)?;
        self.policy.check_seeds(&config)?;
        consent::check(&config).map_err(told)?;
        checked(&config, dir)?;
        save::write(&config, dir).map_err(internal)?;
        let keys: Vec<&str> = changes.keys().map(String::as_str).collect();
        changes::forget(dir, &config, &keys)?;
        drop(lock);
        Ok(())
    }

    fn live(&self, dir: &Path, changes: &Map<String, Value>) -> Result<Vec<Change>, Problem> {
        changes::live(self, dir, changes)
    }

    fn changes(&self, dir: &Path) -> Result<Vec<Change>, Problem> {
        changes::kept(dir)
    }

    fn in_force(&self, dir: &Path, changes: &[Change]) -> Result<InForce, Problem> {
        changes::in_force(dir, changes)
    }

    fn keep(&self, dir: &Path, changes: &[Change]) -> Result<(), Problem> {
        changes::keep(dir, changes)
    }

    fn preview_rule(
        &self,
        dir: &Path,
        rule: &FilterSpec,
        urls_max: u64,
    ) -> Result<RulePreview, Problem> {
        let lookup = Lookup::open(dir).map_err(|error| Problem::conflict(in_words(&error)))?;
        let preview = lookup.preview(rule, urls_max);
        preview.map_err(|error| match error.downcast_ref::<larm_crawl::Error>() {
            Some(larm_crawl::Error::Plan(_)) => Problem::invalid("exclude", in_words(&error)),
            _ => Problem::conflict(in_words(&error)),
        })
    }
}

impl Program {
    /// Settings as they came → what they mean, if all of it is allowed.
    fn understand(&self, settings: &Map<String, Value>) -> Result<(Config, Plan), Problem> {
        self.take(settings).map_err(|problem| self.blame(settings, problem))
    }

    /// Not every error says which setting it is about: the one that is wrong by itself.
    fn blame(&self, settings: &Map<String, Value>, problem: Problem) -> Problem {
        let is_seed = |key: &str| key == "seeds";
        if !problem.key.as_deref().is_some_and(is_seed) {
            return problem;
        }
        let seeds = settings.get("seeds").cloned().unwrap_or_default();
        let is_wrong = |(key, value): (&String, &Value)| {
            let one = [("seeds".to_owned(), seeds.clone()), (key.clone(), value.clone())];
            self.take(&Map::from_iter(one)).is_err_and(|other| other.detail == problem.detail)
        };
        // Where the seeds are wrong, everything is.
        let guilty: Vec<&String> = settings
            .iter()
            .filter(|one| !is_seed(one.0) && is_wrong(*one))
            .map(|(key, _)| key)
            .take(2)
            .collect();
        match guilty[..] {
            [key] => Problem { key: Some(key.clone()), ..problem },
            _ => problem,
        }
    }

    fn take(&self, settings: &Map<String, Value>) -> Result<(Config, Plan), Problem> {
        self.policy.check(settings)?;
        let mut config = Config::new(read(settings)?, Settings::default()).map_err(told)?;
        if config.seeds.is_empty() {
            return Err(Problem::invalid("seeds", "Nothing to crawl: name a URL in `seeds`."));
        }
        self.policy.check_seeds(&config)?;
        config.settings.allow_target = self.targets.clone();
        config.settings.public_only = Some(self.policy.is_public_only(&config));
        consent::check(&config).map_err(told)?;
        let plan = checked(&config, Path::new(""))?;
        Ok((config, plan))
    }
}

fn checked(config: &Config, dir: &Path) -> Result<Plan, Problem> {
    let plan = plan::build(config, dir.to_owned()).map_err(told)?;
    plan.check().map_err(|error| told(error.into()))?;
    Ok(plan)
}

/// Reads settings key by key, so that what is wrong can be said with its key. A number or a yes may come as a text, as a
/// form has it, and a text as a number.
fn read(settings: &Map<String, Value>) -> Result<Settings, Problem> {
    if let Some((key, _)) = settings.iter().find(|(key, _)| policy::may(key).is_none()) {
        return Err(Problem::invalid(key, wrong(key, "")));
    }
    let mut given = Map::new();
    for (key, value) in settings.iter().filter(|(_, value)| !value.is_null()) {
        given.insert(key.clone(), understood(key, value)?);
    }
    let settings: Settings = serde_json::from_value(Value::Object(given))
        .map_err(|error| Problem::invalid("settings", error.to_string()))?;
    // A limit that does not exist would be dropped without a word.
    let unknown =
        settings.limits.keys().find(|name| larm_core::Limits::default().get(name).is_none());
    match unknown {
        Some(name) => Err(Problem::invalid("limits", file::unknown_limit(name))),
        None => Ok(settings),
    }
}

/// The value in the form that its key takes.
fn understood(key: &str, value: &Value) -> Result<Value, Problem> {
    let taken = |value: &Value| {
        let one = Map::from_iter([(key.to_owned(), value.clone())]);
        serde_json::from_value::<Settings>(Value::Object(one)).map(drop)
    };
    let Err(error) = taken(value) else { return Ok(value.clone()) };
    let other = match value {
        Value::String(text) => serde_json::from_str(text.trim()).ok(),
        Value::Number(number) => Some(Value::String(number.to_string())),
        _ => None,
    };
    let other = other.filter(|other: &Value| !other.is_array() && !other.is_object());
    match other.filter(|other| taken(other).is_ok()) {
        Some(other) => Ok(other),
        None => Err(Problem::invalid(key, wrong(key, &error.to_string()))),
    }
}

/// Secrets are not repeated.
fn wrong(key: &str, message: &str) -> String {
    if policy::may(key).is_none() {
        let known = policy::TABLE.iter().map(|(name, _)| *name);
        let hint = nearest(key, known).map(|near| format!("; did you mean `{near}`?"));
        return format!("There is no setting `{key}`{}", hint.unwrap_or(".".to_owned()));
    }
    match secret::KEYS.contains(&key) || key == "login" || key == "host" {
        true => format!("`{key}` is not understood; docs/config.md says how it is written."),
        false => format!("`{key}`: {message}."),
    }
}

/// An error of the program about settings, with the key that it names.
fn told(error: anyhow::Error) -> Problem {
    let words = in_words(&error);
    let mut keys = words.split("--").skip(1).map(|rest| {
        rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect::<String>()
    });
    let key = keys.find(|key| policy::may(key).is_some()).unwrap_or_else(|| "seeds".to_owned());
    Problem::invalid(&key, without_flags(&words))
}

/// What is a flag on the command line is a key here.
fn without_flags(words: &str) -> String {
    let mut pieces = words.split("--");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(piece.len());
        match policy::may(&piece[..end]) {
            Some(_) => out.push_str(&format!("`{}`{}", &piece[..end], &piece[end..])),
            None => out.push_str(&format!("--{piece}")),
        }
    }
    out.replace("``", "`")
}

/// Settings as JSON, without secrets.
fn shown(settings: &Settings) -> Result<Map<String, Value>, Problem> {
    let (public, hidden) = secret::part(settings.clone());
    let table = |settings: &Settings| {
        let table =
            merge::to_table(settings).map_err(|error| Problem::internal(in_words(&error)))?;
        match serde_json::to_value(table).map_err(Problem::internal)? {
            Value::Object(map) => Ok(map),
            _ => Ok(Map::new()),
        }
    };
    let mut map = table(&public)?;
    for (key, _) in table(&hidden)? {
        map.entry(key).or_insert_with(|| Value::String("(not shown)".to_owned()));
    }
    Ok(map)
}

fn first_lines(path: &Path, lines_max: usize) -> (Vec<String>, u64) {
    let Ok(file) = fs::File::open(path) else { return (Vec::new(), 0) };
    let mut lines = BufReader::new(file).lines().map_while(Result::ok);
    let first: Vec<String> = lines.by_ref().take(lines_max).collect();
    let total = (first.len() + lines.count()) as u64;
    (first, total)
}

/// This very program, even where its file has been replaced since it was started.
fn itself() -> std::io::Result<PathBuf> {
    let itself = PathBuf::from("/proc/self/exe");
    if itself.exists() { Ok(itself) } else { std::env::current_exe() }
}
