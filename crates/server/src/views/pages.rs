//! Pages of lists: how many entries, and from where on.
//!
//! Lists that are made as a whole are paged by number: the place of the next entry is the cursor.

use larm_core::Limits;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::problem::Problem;

/// Entries of a page, if nobody says how many.
const ENTRIES: u64 = 50;

/// Which part of a list is asked for.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct PageText {
    /// How many entries: 50 if nothing is said, at most 1000.
    #[param(required = false, value_type = u64, minimum = 1)]
    pub limit: String,
    /// Where to go on: `next` of the page before.
    #[param(required = false)]
    pub after: String,
}

impl PageText {
    /// How many entries.
    pub fn limit(&self, limits: &Limits) -> Result<usize, Problem> {
        let most = limits.server_page_entries_max;
        let wanted = match self.limit.trim() {
            "" => Some(ENTRIES.min(most)),
            text => text.parse().ok().filter(|wanted| (1..=most).contains(wanted)),
        };
        let wanted = wanted.and_then(|wanted| usize::try_from(wanted).ok());
        wanted.ok_or_else(|| {
            Problem::invalid("limit", format!("`limit` is a number from 1 to {most}."))
        })
    }

    /// The first entry, in a list that is paged by number.
    pub fn begin(&self) -> Result<usize, Problem> {
        let text = self.after.as_str();
        let plain = text.len() < 12 && text.bytes().all(|byte| byte.is_ascii_digit());
        match text {
            "" => Some(0),
            text => text.parse().ok().filter(|_| plain),
        }
        .ok_or_else(|| {
            Problem::invalid("after", "`after` is not a place that this server has given.")
                .hint("Take it from `next` of the page before, or leave it out.")
        })
    }

    /// The part of a list that is asked for, and the cursor of the next one.
    pub fn part<'a, T>(
        &self,
        list: &'a [T],
        limits: &Limits,
    ) -> Result<(&'a [T], Option<String>), Problem> {
        let (begin, limit) = (self.begin()?.min(list.len()), self.limit(limits)?);
        let end = begin.saturating_add(limit).min(list.len());
        Ok((&list[begin..end], (end < list.len()).then(|| end.to_string())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(limit: &str, after: &str) -> PageText {
        PageText { limit: limit.to_owned(), after: after.to_owned() }
    }

    #[test]
    fn pages_follow_each_other_to_the_end() {
        let limits = Limits::default();
        let list = [1, 2, 3, 4, 5];
        let (first, next) = ask("2", "").part(&list, &limits).unwrap();
        assert_eq!((first, next.as_deref()), (&list[..2], Some("2")));
        let (last, next) = ask("9", "2").part(&list, &limits).unwrap();
        assert_eq!((last, next), (&list[2..], None));
        assert_eq!(ask("", "99").part(&list, &limits).unwrap().0, &[] as &[i32]);
    }

    #[test]
    fn garbage_is_refused() {
        let limits = Limits::default();
        for (limit, after) in [
            ("0", ""),
            ("1001", ""),
            ("-1", ""),
            ("x", ""),
            ("", "-1"),
            ("", "+1"),
            ("", "999999999999999999999"),
        ] {
            assert!(ask(limit, after).part(&[0], &limits).is_err(), "{limit} {after}");
        }
    }
}
