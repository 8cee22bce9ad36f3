//! What a page brings (with step 9): prints of its text for the frontier, which knows what its host has shown
//! before; and whether it was made for search engines alone. Nothing is dropped for either.

use larm_core::Outcome;
use larm_core::parse::{Kind, Page};
use larm_core::worth::{Harvest, prints, spam};

use super::{Line, Read};
use crate::frontier::Lease;

impl Line {
    /// Takes note of what an answer brings. Of files there is an end; they are not weighed.
    pub(super) fn weigh(&self, lease: &Lease, read: &mut Read) {
        if !self.learns || !lease.errand().counts() || lease.url().is_file() {
            return;
        }
        let page = read.page.as_ref().filter(|page| is_prose(page));
        if let Some(spam) = page.and_then(spam::recognise) {
            read.facts.push(spam.fact());
            (read.is_spam, read.harvest) = (true, Some(Harvest::Nothing));
            return;
        }
        read.harvest = self.harvest(read);
    }

    /// Trouble of the server, and what is not for us to see, says nothing of pages like it.
    fn harvest(&self, read: &Read) -> Option<Harvest> {
        match (&read.outcome, &read.page) {
            (Outcome::Redirected { .. }, _) => Some(Harvest::Redirect),
            (Outcome::Fetched { status: 404 | 410 }, _) => Some(Harvest::Nothing),
            (Outcome::Fetched { status: 200..300 }, _) if read.digest.same_as.is_some() => {
                Some(Harvest::Nothing)
            }
            (Outcome::Fetched { status: 200..300 }, Some(page)) => Some(self.read_off(page)),
            // A page that is none: a soft 404.
            (Outcome::Fetched { status: 200..300 }, None) => Some(Harvest::Nothing),
            _ => None,
        }
    }

    /// A page without any text may show something to a browser.
    fn read_off(&self, page: &Page) -> Harvest {
        let prints = if is_prose(page) { prints(page, &self.limits) } else { Vec::new() };
        if prints.is_empty() { Harvest::Body } else { Harvest::Prints(prints) }
    }
}

fn is_prose(page: &Page) -> bool {
    matches!(page.kind, Kind::Html | Kind::Xhtml | Kind::Text | Kind::Pdf)
}
