//! `larm compact`, and the end of a crawl with `--keep-best`: the best pages stay, and the others go.

use std::path::Path;

use anyhow::Result;
use larm_crawl::compact::{Compact, Compacted};
use larm_crawl::{Plan, directory};
use larm_search::SearchSink;

use crate::cli::CompactArgs;
use crate::config::{Config, Settings, plan, save, secret};
use crate::exit::{Exit, shown, usage};
use crate::human;

/// Does it, and says what came of it.
pub fn compact(args: &CompactArgs) -> Result<Exit> {
    directory::identify(&args.dir)?;
    let dir = shown(&args.dir);
    if directory::in_use(&args.dir) {
        return Err(usage(format!("{dir} is being crawled; `larm stop {dir}` first")));
    }
    let config = save::read(&args.dir)?.ok_or_else(|| usage(format!("{dir} has no larm.toml")))?;
    let mut config = Config { settings: with_number(config.settings, args.keep_best), ..config };
    secret::forget(&mut config.settings);
    let plan = plan::build(&config, args.dir.clone())?;
    let Some(pages_max) = config.settings.keep_best else {
        return Err(usage(format!(
            "how many pages are to be kept? larm compact {dir} --keep-best N"
        )));
    };
    let done = super::block_on(keep_best(plan, &config, pages_max))?;
    match args.json {
        true => super::print(&serde_json::to_string_pretty(&done)?)?,
        false => super::print(&in_words(&done, &args.dir))?,
    }
    Ok(Exit::Done)
}

fn with_number(settings: Settings, keep_best: Option<u64>) -> Settings {
    let keep_best = keep_best.or(settings.keep_best);
    Settings { keep_best, ..settings }
}

/// Drops all but the best pages of a crawl that does not run.
pub async fn keep_best(plan: Plan, config: &Config, pages_max: u64) -> Result<Compacted> {
    let limits = plan.limits.clone();
    let mut compact = Compact::new(plan, pages_max);
    if config.settings.no_index != Some(true) {
        let index = SearchSink::new(&compact.stage(), &limits).rebuilding();
        compact = compact.sink(Box::new(index));
    }
    Ok(compact.run().await?)
}

/// `example.larm: kept the best 20 pages by pagerank, dropped 245 answers; the archive has 40 KB of 910 KB`.
pub fn in_words(done: &Compacted, dir: &Path) -> String {
    let kept = human::counted(done.kept, "page", "pages");
    let dropped = human::counted(done.dropped, "answer was", "answers were");
    format!(
        "{}: {kept} kept, the best by {}; {dropped} dropped; archive: {} of {}",
        shown(dir),
        done.by,
        human::bytes(done.bytes),
        human::bytes(done.bytes_before)
    )
}
