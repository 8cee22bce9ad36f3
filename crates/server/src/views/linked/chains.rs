//! Where redirects lead in the end.

use std::collections::{HashMap, HashSet};

use larm_core::url::Fingerprint;

use crate::problem::Problem;
use crate::table::{Outcome, Table};
use crate::views::detail::rows;

/// Redirects in a row that are followed.
const HOPS_MAX: u32 = 20;

/// Where a redirect leads in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// The last URL; `None` where redirects lead in a circle, or on and on.
    pub url: Option<String>,
    /// Its status, if it was asked for and answered.
    pub status: Option<u16>,
    /// Redirects on the way.
    pub hops: u32,
}

/// A redirect that is being followed.
struct Walk {
    at: String,
    hops: u32,
    seen: HashSet<u64>,
    end: Option<End>,
}

/// Where each of these URLs leads, to which a redirect leads: all of them at a time, one pass over the table for
/// each hop.
pub fn ends(table: &Table, targets: &[String]) -> Result<Vec<End>, Problem> {
    let walk = |url: &String| Walk { at: url.clone(), hops: 1, seen: HashSet::new(), end: None };
    let mut walks: Vec<Walk> = targets.iter().map(walk).collect();
    for _ in 0..HOPS_MAX {
        let open = walks.iter().filter(|walk| walk.end.is_none());
        let prints: HashSet<u64> = open.map(|walk| Fingerprint::of(&walk.at).0).collect();
        if prints.is_empty() {
            break;
        }
        let next = step(table, &prints)?;
        walks.iter_mut().filter(|walk| walk.end.is_none()).for_each(|walk| walk.go_on(&next));
    }
    let lost = |walk: &Walk| End { url: None, status: None, hops: walk.hops };
    Ok(walks.iter().map(|walk| walk.end.clone().unwrap_or_else(|| lost(walk))).collect())
}

/// What became of a URL on the way.
enum Next {
    Redirect(String),
    Status(u16),
}

fn step(table: &Table, prints: &HashSet<u64>) -> Result<HashMap<u64, Next>, Problem> {
    let found = table.find_all(prints);
    let mut next = HashMap::with_capacity(found.len());
    for (print, row) in found {
        let (outcome, status) = table.ended(row);
        let redirect = match outcome {
            Outcome::Redirected => rows(table, &[row])?.pop().and_then(|whole| whole.row.redirect),
            _ => None,
        };
        next.insert(print, redirect.map_or(Next::Status(status), Next::Redirect));
    }
    Ok(next)
}

impl Walk {
    fn go_on(&mut self, next: &HashMap<u64, Next>) {
        let print = Fingerprint::of(&self.at).0;
        if !self.seen.insert(print) {
            self.end = Some(End { url: None, status: None, hops: self.hops });
            return;
        }
        match next.get(&print) {
            Some(Next::Redirect(to)) => {
                self.at = to.clone();
                self.hops += 1;
            }
            Some(Next::Status(status)) => {
                let status = Some(*status).filter(|status| *status > 0);
                self.end = Some(End { url: Some(self.at.clone()), status, hops: self.hops });
            }
            None => {
                self.end = Some(End { url: Some(self.at.clone()), status: None, hops: self.hops })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Bounds;

    #[test]
    fn redirects_are_followed_to_their_end_and_circles_are_seen() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("logs")).unwrap();
        let lines = [
            r#"{"at":"2026-11-15T20:00:01.042Z","url":"http://h/b","outcome":"redirected","status":302,"reason":"http://h/c"}"#,
            r#"{"at":"2026-11-15T20:00:01.042Z","url":"http://h/c","outcome":"fetched","status":404}"#,
            r#"{"at":"2026-11-15T20:00:01.042Z","url":"http://h/x","outcome":"redirected","status":302,"reason":"http://h/y"}"#,
            r#"{"at":"2026-11-15T20:00:01.042Z","url":"http://h/y","outcome":"redirected","status":302,"reason":"http://h/x"}"#,
        ];
        std::fs::write(dir.path().join("logs/crawl.jsonl"), lines.join("\n") + "\n").unwrap();
        let mut table = Table::new(dir.path());
        table.refresh(&Bounds::of(&larm_core::Limits::default())).unwrap();
        let urls =
            ["http://h/b", "http://h/c", "http://h/x", "http://elsewhere/"].map(str::to_owned);
        let end =
            |url: Option<&str>, status, hops| End { url: url.map(str::to_owned), status, hops };
        let expected = [
            end(Some("http://h/c"), Some(404), 2),
            end(Some("http://h/c"), Some(404), 1),
            end(None, None, 3),
            end(Some("http://elsewhere/"), None, 1),
        ];
        assert_eq!(ends(&table, &urls).unwrap(), expected);
    }
}
