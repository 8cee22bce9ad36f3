//! Examples that are pages of the web (`--like URL`): fetched first, politely, by a small crawl of their own.
//!
//! It lies in `like/` of the crawl directory, and is a crawl directory like any other: `larm why` says what
//! became of an example that could not be had.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use larm_core::order::focus::Topic;
use larm_core::order::{Name, Order};
use larm_core::url::CrawlUrl;
use larm_crawl::{Crawl, Plan, Visit};

use crate::config::examples::{self, Example};
use crate::config::{Config, local, plan};
use crate::console::Console;
use crate::exit::{shown, usage};
use crate::human;

/// Below the crawl's directory.
const DIR: &str = "like";

/// Has all examples in the crawl directory.
pub fn gather(config: &Config, before: &Plan, console: &Console) -> Result<()> {
    let Plan { dir, limits, .. } = before;
    let missing = examples::missing(&config.settings, dir)?;
    let fetched = match missing.as_slice() {
        [] => Vec::new(),
        some => {
            let count = human::counted(some.len() as u64, "example", "examples");
            console.say(format!("{count} to be fetched first"));
            fetch(config, dir, some)?
        }
    };
    examples::keep(&config.settings, dir, fetched, limits)?;
    match examples::missing(&config.settings, dir)?.first() {
        None => Ok(()),
        Some(source) => {
            let place = shown(&dir.join(DIR));
            Err(usage(format!(
                "--like {source}: there is no page, or none with text; ask: larm why {place} {source}"
            )))
        }
    }
}

fn fetch(config: &Config, dir: &Path, sources: &[String]) -> Result<Vec<Example>> {
    let mut plan = plan::build(config, dir.join(DIR))?;
    let seed = |source: &String| {
        let (url, _) = local::seed(source, &plan.url_rules).map_err(usage)?;
        Ok((source.clone(), url))
    };
    let wanted: Vec<(String, CrawlUrl)> = sources.iter().map(seed).collect::<Result<_>>()?;
    narrow(&mut plan, wanted.iter().map(|(_, url)| url.clone()).collect());
    let found: Arc<Mutex<Vec<Example>>> = Arc::default();
    let inbox = found.clone();
    let crawl = Crawl::new(plan).on_page(move |visit| {
        let examples = wanted.iter().filter_map(|(source, url)| example(source, url, visit));
        inbox.lock().unwrap_or_else(PoisonError::into_inner).extend(examples);
        Box::pin(async {})
    });
    super::block_on(async { Ok(crawl.run().await?) })?;
    let found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(found)
}

/// These pages, and nothing else.
fn narrow(plan: &mut Plan, seeds: Vec<CrawlUrl>) {
    plan.seeds = seeds;
    plan.sitemaps.clear();
    plan.selection.depth_max = 0;
    plan.selection.assets = false;
    (plan.usual_sitemap, plan.probe, plan.path_ascending) = (false, false, false);
    (plan.order, plan.topic) = (Order::by(Name::Breadth), Topic::default());
    plan.budgets = Default::default();
}

/// What a visit says for an example, also where a redirect led to it.
fn example(source: &str, url: &CrawlUrl, visit: &Visit) -> Option<Example> {
    let page = visit.page.as_ref().filter(|page| !page.text.trim().is_empty())?;
    let is_it = visit.url == *url || visit.parent.as_deref() == Some(url.as_str());
    let (title, text) = (page.title.clone(), page.text.clone());
    is_it.then(|| Example { source: source.to_owned(), title, text })
}
