//! `larm crawl` and `larm resume`: from arguments to a crawl that runs.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use larm_crawl::change::Change;
use larm_crawl::directory::{self, Directory};
use larm_crawl::{Plan, files};

use super::drive::{self, Job};
use super::{examples, steer};
use crate::cli::{CrawlArgs, ResumeArgs, RunArgs};
use crate::config::{Config, Settings, consent, file, file_in_force, plan, proxies, save};
use crate::console::Console;
use crate::exit::{Exit, shown, usage};
use crate::human;

/// `larm crawl`: starts, or goes on where the directory is there already.
pub fn crawl(args: CrawlArgs) -> Result<Exit> {
    let console = Console::new(&args.run);
    let (fresh, dry_run) = (args.fresh, args.dry_run);
    let told = told(&args.settings);
    let mut config = gather(&args, &console)?;
    config.seeds.taken.iter().for_each(|taken| console.say(taken));
    tell_skipped(&config, &console);
    let dir = directory_of(&config)?;
    if !dry_run {
        refuse_if_in_use(&dir)?;
    }
    if fresh && !dry_run {
        plan::build(&config, dir.clone())?.check()?;
        consent::check(&config)?;
        set_aside(&dir, &console)?;
    }
    // Nobody changes the settings between here, where they are read, and where they are written.
    let held = if dir.exists() && !dry_run { Some(Directory::open(&dir)?) } else { None };
    if let Some(earlier) = save::read(&dir)?.filter(|_| !fresh) {
        go_on_from(&mut config, earlier, &dir, &console)?;
    }
    if config.seeds.is_empty() {
        return Err(nothing_to_crawl(&config));
    }
    consent::check(&config)?;
    if dry_run {
        return print_settings(config, dir);
    }
    launch(Launch { config, dir, held, told, run: args.run, console })
}

/// `larm resume`: goes on with the settings that the directory has. One that runs is woken up.
pub fn resume(args: ResumeArgs) -> Result<Exit> {
    directory::identify(&args.dir)?;
    if directory::in_use(&args.dir) && !steer::is_over_soon(&args.dir)? {
        refuse_what_must_wait(&args)?;
        return steer::wake(&args.dir, &told(&args.settings));
    }
    let console = Console::new(&args.run);
    let held = Some(Directory::open(&args.dir)?);
    let saved =
        save::settings_of(&args.dir).context("the settings of this crawl cannot be read")?;
    let earlier = Config::new(Settings::default(), saved.clone())?;
    let told = told(&args.settings);
    let config = Config::new(args.settings, saved)?;
    plan::build(&config, args.dir.clone())?.check()?;
    tell_skipped(&config, &console);
    tell_changes(&earlier, &config, &args.dir, &console)?;
    consent::check(&config)?;
    launch(Launch { config, dir: args.dir, held, told, run: args.run, console })
}

/// A crawl that runs takes a few changes. Others are not dropped without a word.
fn refuse_what_must_wait(args: &ResumeArgs) -> Result<()> {
    let taken = Settings {
        delay: None,
        rate: None,
        max_pages: None,
        concurrency: None,
        host_budget: None,
        site_budget: None,
        pattern_budget: None,
        exclude: Vec::new(),
        ..args.settings.clone()
    };
    if taken == Settings::default() {
        return Ok(());
    }
    let dir = shown(&args.dir);
    Err(usage(format!(
        "{dir} is running, and of the flags it takes only these now: {}. For the others: larm stop {dir}, then the \
         same command again",
        LIVE.join(", ")
    )))
}

/// Settings that a crawl takes while it runs.
pub const LIVE: [&str; 8] = [
    "delay",
    "rate",
    "max-pages",
    "concurrency",
    "host-budget",
    "site-budget",
    "pattern-budget",
    "exclude",
];

/// What settings say of those that can be changed while a crawl runs, too: the latest word counts.
pub fn told(flags: &Settings) -> Vec<Change> {
    let delay = flags.delay.map(|time| Change::Delay(time.0));
    let rate = flags.rate.map(|rate| Change::Rate(rate.0));
    let max_pages = flags.max_pages.map(|pages| Change::MaxPages(pages.0));
    let concurrency = flags.concurrency.map(|number| Change::Concurrency(number.0));
    let host = flags.host_budget.map(|pages| Change::HostBudget(pages.0));
    let site = flags.site_budget.map(|pages| Change::SiteBudget(pages.0));
    let pattern = flags.pattern_budget.map(|pages| Change::PatternBudget(pages.0));
    let all = [delay, rate, max_pages, concurrency, host, site, pattern];
    let exclude = flags.exclude.iter().cloned().map(Change::Exclude);
    all.into_iter().flatten().chain(exclude).collect()
}

/// A crawl that is ready to go.
pub struct Launch {
    /// Its settings.
    pub config: Config,
    /// Its directory.
    pub dir: PathBuf,
    /// The same, if it is held already.
    pub held: Option<Directory>,
    /// What the command line says against earlier changes.
    pub told: Vec<Change>,
    /// About this run.
    pub run: RunArgs,
    /// The terminal.
    pub console: Console,
}

fn gather(args: &CrawlArgs, console: &Console) -> Result<Config> {
    let path = file_in_force(args.config.as_deref());
    let settings = match &path {
        Some(path) => file::read(path)?,
        None => Settings::default(),
    };
    if let Some(path) = path {
        console.say(format!("settings from {}", shown(&path)));
    }
    Config::new(args.settings.clone(), settings)
}

fn directory_of(config: &Config) -> Result<PathBuf> {
    config.directory().ok_or_else(|| nothing_to_crawl(config))
}

/// `--jsonl example.com` takes the URL for its file: easy to type, hard to see.
fn nothing_to_crawl(config: &Config) -> anyhow::Error {
    let taken = config.settings.jsonl.as_deref().filter(|path| !file::is_dash(path));
    let hint = taken.map(|path| {
        let path = path.display();
        format!(
            " (`{path}` was taken for the file of --jsonl; put the URL first, or write --jsonl=-)"
        )
    });
    let hint = hint.unwrap_or_default();
    usage(format!("nothing to crawl: name a URL, or a file of them with -i{hint}"))
}

fn tell_skipped(config: &Config, console: &Console) {
    let skipped = &config.seeds.skipped;
    if skipped.count == 0 {
        return;
    }
    for line in &skipped.shown {
        console.warn(format!("skipped {line}"));
    }
    let lines = human::counted(skipped.count, "line", "lines");
    console.warn(format!("{lines} of the seed file skipped in all"));
}

/// Keeps the seeds of the earlier run and says what is different now.
fn go_on_from(config: &mut Config, earlier: Config, dir: &Path, console: &Console) -> Result<()> {
    tell_changes(&earlier, config, dir, console)?;
    let new = config.seeds.go_on_from(earlier.seeds);
    if new > 0 {
        console.say(format!("{} added", human::counted(new as u64, "new seed", "new seeds")));
    }
    Ok(())
}

fn tell_changes(earlier: &Config, config: &Config, dir: &Path, console: &Console) -> Result<()> {
    let changes = save::differences(earlier, config)?;
    save::refuse_new_identity(&changes, dir)?;
    for change in changes {
        let [old, new] =
            [change.old, change.new].map(|value| value.unwrap_or("not set".to_owned()));
        tracing::info!(key = change.key, old, new, "setting changed since the last run");
        console.say(format!("changed: {} was {old}, is {new}", change.key));
    }
    Ok(())
}

/// Whoever runs there has the say.
fn refuse_if_in_use(dir: &Path) -> Result<()> {
    if !directory::in_use(dir) {
        return Ok(());
    }
    let dir = shown(dir);
    Err(usage(format!(
        "{dir} is in use by another larm; `larm status {dir}` shows it, `larm stop {dir}` ends it"
    )))
}

/// Renames an existing crawl directory, so that nothing is ever deleted.
fn set_aside(dir: &Path, console: &Console) -> Result<()> {
    if !dir.exists() {
        return Ok(());
    }
    directory::identify(dir)?;
    let name = |number: u32| PathBuf::from(format!("{}.old-{number}", dir.display()));
    let aside = (1..).map(name).find(|path| !path.exists()).expect("numbers do not run out");
    std::fs::rename(dir, &aside)
        .with_context(|| format!("cannot rename {} to {}", dir.display(), aside.display()))?;
    console.say(format!("the earlier crawl is now {}", shown(&aside)));
    Ok(())
}

fn print_settings(mut config: Config, dir: PathBuf) -> Result<Exit> {
    plan::build(&config, dir.clone())?;
    config.settings.output = Some(dir);
    std::io::stdout().write_all(save::to_toml(&config)?.as_bytes())?;
    Ok(Exit::Done)
}

/// The plan with what its examples say.
fn with_examples(before: Plan, config: &Config, console: &Console) -> Result<Plan> {
    examples::gather(config, &before, console)?;
    let plan = Plan { changes: before.changes, ..plan::build(config, before.dir)? };
    plan.check()?;
    Ok(plan)
}

/// Writes the settings down and runs the crawl.
pub fn launch(launch: Launch) -> Result<Exit> {
    let Launch { config, dir, held, told, run, console } = launch;
    console.start_log(&run);
    let mut plan = plan::build(&config, dir.clone())?;
    plan.changes = told;
    // What cannot be used is refused before anything is written.
    plan.check()?;
    let directory = match held {
        Some(directory) => directory,
        None => Directory::open(&dir)?,
    };
    save::write(&config, &dir)?;
    let plan = match config.settings.like.is_empty() {
        true => plan,
        false => with_examples(plan, &config, &console)?,
    };
    if let Some(proxy) = proxies::from_outside(&config.settings)? {
        console
            .say(format!("by way of {proxy}, as the environment says; --proxy none for without"));
    }
    files::raise_limit();
    super::block_on_this_thread(drive::drive(Job { config, plan, directory, run, console }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::value::PageLimit;

    #[test]
    fn what_is_said_again_supersedes_what_was_changed_meanwhile() {
        let exclude = vec!["/a/".to_owned(), "/b/".to_owned()];
        let flags =
            Settings { exclude, max_pages: Some(PageLimit(Some(7))), ..Settings::default() };
        let names: Vec<String> = told(&flags).iter().map(Change::name).collect();
        assert_eq!(names, ["max-pages", "exclude=/a/", "exclude=/b/"]);
    }
}
