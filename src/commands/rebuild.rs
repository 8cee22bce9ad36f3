//! `larm rebuild`: everything that is made from the archive, made anew from it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use larm_crawl::directory;
use larm_crawl::rebuild::{Rebuild, Rebuilt, is_archive, list};
use larm_graph::StoredGraph;
use larm_search::SearchSink;

use crate::cli::RebuildArgs;
use crate::config::{Config, Settings, plan, save, secret};
use crate::exit::{Exit, shown, usage};
use crate::human;

/// Does it, and says what came of it.
pub fn rebuild(args: &RebuildArgs) -> Result<Exit> {
    if directory::in_use(&args.dir) {
        let dir = shown(&args.dir);
        return Err(usage(format!("{dir} is being crawled; `larm stop {dir}` first")));
    }
    let archives = archives_of(args)?;
    bring_in(&archives, &args.dir)?;
    let mut config = config_of(&args.dir)?;
    secret::forget(&mut config.settings);
    let plan = plan::build(&config, args.dir.clone())?;
    let limits = plan.limits.clone();
    let mut rebuild = Rebuild::new(plan).from_archive_alone(args.state);
    if config.settings.no_index != Some(true) {
        let index = SearchSink::new(&rebuild.stage(), &limits).rebuilding();
        rebuild = rebuild.sink(Box::new(index));
    }
    let rebuilt = super::block_on(async { Ok(rebuild.run().await?) })?;
    // Where no answer was read, there are no links.
    if rebuilt.restored > 0 {
        StoredGraph::open_fresh(&args.dir, &limits, &mut |_| {})?;
    }
    if args.json {
        super::print(&serde_json::to_string_pretty(&rebuilt)?)?;
    } else {
        super::print(&in_words(&rebuilt, &args.dir))?;
    }
    Ok(if rebuilt.restored > 0 { Exit::Done } else { Exit::NothingFetched })
}

/// The archive files that are to be brought in: those named, and those that lie in the directory itself.
fn archives_of(args: &RebuildArgs) -> Result<Vec<PathBuf>> {
    if let Some(other) = args.archives.iter().find(|path| !path.is_file() || !is_archive(path)) {
        let other = shown(other);
        return Err(usage(format!("{other} is no archive: a .warc.gz or .warc file is needed")));
    }
    let there = ["", "archive"].map(|part| list(&args.dir.join(part)));
    let there = there.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(args.archives.iter().cloned().chain(there.into_iter().flatten()).collect())
}

/// Archives from elsewhere get a second name below `warc/`, or are copied where that cannot be.
fn bring_in(archives: &[PathBuf], dir: &Path) -> Result<()> {
    let warc = dir.join("warc");
    if !archives.is_empty() {
        fs::create_dir_all(&warc).with_context(|| shown(&warc))?;
    }
    for archive in archives {
        let name = archive.file_name().expect("a file has a name");
        let place = warc.join(name);
        if let (Ok(there), Ok(new)) = (fs::metadata(&place), fs::metadata(archive)) {
            if there.len() != new.len() {
                let (archive, place) = (shown(archive), shown(&place));
                return Err(usage(format!(
                    "{archive} needs another name: {place} is another file"
                )));
            }
            continue;
        }
        fs::hard_link(archive, &place)
            .or_else(|_| fs::copy(archive, &place).map(drop))
            .with_context(|| {
                format!("{} cannot be brought into {}", shown(archive), shown(&warc))
            })?;
    }
    Ok(())
}

/// The settings that the crawl had. An archive from elsewhere had none, and nothing of the
/// web belongs to it but what it holds.
fn config_of(dir: &Path) -> Result<Config> {
    if let Some(config) = save::read(dir)? {
        return Ok(config);
    }
    if list(&dir.join("warc"))?.is_empty() {
        let dir = shown(dir);
        return Err(usage(format!(
            "{dir} holds no archive; for one from elsewhere: larm rebuild NEW.larm FILE.warc.gz…"
        )));
    }
    let config = Config::new(Settings::default(), Settings::default())?;
    save::write(&config, dir)?;
    Ok(config)
}

fn in_words(rebuilt: &Rebuilt, dir: &Path) -> String {
    let files = human::counted(rebuilt.files, "archive file", "archive files");
    let answers = human::counted(rebuilt.restored, "answer", "answers");
    let mut lines = vec![format!("rebuilt {} from {files}: {answers}", shown(dir))];
    for (why, count) in &rebuilt.skipped {
        lines.push(format!("  left out  {} ({why})", human::count(*count)));
    }
    for damage in &rebuilt.damaged {
        lines.push(format!("  damaged   {damage}"));
    }
    match &rebuilt.state_reason {
        Some(reason) => lines.push(format!(
            "  state     made anew ({reason}): what failed, was refused or excluded is not in the \
             archive; {} from its pages wait",
            human::counted(rebuilt.waiting, "URL", "URLs")
        )),
        None => lines.push("  state     kept as it was".to_owned()),
    }
    lines.join("\n")
}
