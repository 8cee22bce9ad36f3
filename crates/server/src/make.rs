//! Crawls are made below the root, and deleted there: nothing else is ever written or removed.
//!
//! A directory is deleted by moving it away first, with its lock held, so that no crawl can begin in it and a
//! server that dies in the middle leaves nothing half there. What was moved away is removed in the background,
//! and at the next start. Symbolic links are removed, never followed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use larm_crawl::directory::{Directory, in_use};
use larm_crawl::store::durable;
use serde_json::{Map, Value};

use crate::app::Shared;
use crate::crawl::{is_managed, is_symlink};
use crate::crawls;
use crate::problem::Problem;
use crate::wanted::OWN_DIR;

/// Characters of a name.
const NAME_CHARS_MAX: usize = 64;

/// What is being removed, below the server's own directory.
const BIN: &str = "bin";

/// Makes a crawl directory below the root.
pub fn make(
    app: &Shared,
    name: Option<&str>,
    settings: &Map<String, Value>,
) -> Result<PathBuf, Problem> {
    let launcher = app.launcher()?;
    let preview = launcher.preview(settings)?;
    if crawls::list(&app.settings).len() as u64 >= app.settings.limits.server_crawls_max {
        return Err(Problem::conflict("There are too many crawls here; delete some first."));
    }
    let _making = app.making.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = dir_for(app, name, &preview.name)?;
    launcher.make(&dir, settings)?;
    Ok(dir)
}

/// Where a crawl of this name would be, or one that is named after its first URL.
pub fn dir_for(app: &Shared, name: Option<&str>, proposed: &str) -> Result<PathBuf, Problem> {
    let root = app.settings.root.as_deref().ok_or_else(|| {
        Problem::conflict("This server has no place for new crawls.")
            .hint("Start it with `larm serve --root DIR`.")
    })?;
    let given = name.map(str::trim).filter(|name| !name.is_empty());
    if given.is_some_and(|name| name.chars().count() > NAME_CHARS_MAX) {
        let detail = format!("A name has at most {NAME_CHARS_MAX} characters.");
        return Err(Problem::invalid("name", detail));
    }
    let mut word = crawls::id_of(given.unwrap_or(proposed));
    word.truncate(NAME_CHARS_MAX);
    let numbered = |n: u32| match n {
        1 => root.join(format!("{word}.larm")),
        n => root.join(format!("{word}-{n}.larm")),
    };
    let is_free = |dir: &PathBuf| dir.symlink_metadata().is_err();
    Ok((1..).map(numbered).find(is_free).expect("numbers do not run out"))
}

/// The id of a crawl that was just made.
pub fn id_of(app: &Shared, dir: &Path) -> Result<String, Problem> {
    let known = crawls::list(&app.settings).into_iter().find(|(_, known)| known == dir);
    known.map(|(id, _)| id).ok_or_else(|| Problem::internal("the new crawl cannot be found"))
}

/// Deletes a crawl.
pub fn remove(app: &Shared, dir: &Path) -> Result<(), Problem> {
    if !is_managed(app, dir) || is_symlink(dir) {
        return Err(Problem::conflict("Only crawls below the server's root can be deleted here."));
    }
    let running = || Problem::conflict("This crawl runs.").hint("Stop it first.");
    if in_use(dir) || app.keeper.is_starting(dir) {
        return Err(running());
    }
    let lock = Directory::open(dir).map_err(|_| running())?;
    let gone = move_away(app, dir)?;
    drop(lock);
    app.keeper.forget(dir)?;
    // One that cannot be removed now is tried again at the next start.
    drop(tokio::task::spawn_blocking(move || fs::remove_dir_all(gone)));
    Ok(())
}

fn move_away(app: &Shared, dir: &Path) -> Result<PathBuf, Problem> {
    let bin = bin_of(app).ok_or_else(|| Problem::internal("there is no root"))?;
    durable::create_dir(&bin).map_err(Problem::internal)?;
    let gone = bin.join(uuid::Uuid::new_v4().simple().to_string());
    fs::rename(dir, &gone).map_err(Problem::internal)?;
    durable::sync_parent(dir).map_err(Problem::internal)?;
    Ok(gone)
}

fn bin_of(app: &Shared) -> Option<PathBuf> {
    app.settings.root.as_deref().map(|root| root.join(OWN_DIR).join(BIN))
}

/// Removes what an earlier server had moved away.
pub fn empty_bin(app: &Shared) {
    let Some(bin) = bin_of(app).filter(|bin| bin.is_dir() && !is_symlink(bin)) else { return };
    drop(tokio::task::spawn_blocking(move || fs::remove_dir_all(bin)));
}
