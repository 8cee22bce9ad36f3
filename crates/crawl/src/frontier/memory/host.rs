//! A host of the model: plain lists, searched from end to end.

use std::net::IpAddr;

use larm_core::workbench::HostPace;
use larm_core::worth::{HostWorth, Purse};
use larm_core::{FailureClass, Millis};

use crate::frontier::item::{Item, Place};

#[derive(Debug, Clone, Default)]
pub(super) struct MemoryHost {
    pub(super) pace: HostPace,
    pub(super) address: Option<IpAddr>,
    pub(super) resolving: bool,
    /// In the order in which they were met.
    pub(super) origins: Vec<MemoryOrigin>,
    /// The origin, the time before which it was not to be tried, and the item.
    pub(super) leased: Option<(String, Option<Millis>, Item)>,
    pub(super) purse: Purse,
    pub(super) worth: HostWorth,
    pub(super) review: u64,
    pub(super) held_at: u32,
}

#[derive(Debug, Clone, Default)]
pub(super) struct MemoryOrigin {
    pub(super) text: String,
    pub(super) health: HostPace,
    /// Each with the time before which it must not be tried again.
    pub(super) items: Vec<(Option<Millis>, Item)>,
    pub(super) parked: bool,
    pub(super) given_up: Option<FailureClass>,
    pub(super) crawl_delay_ms: Option<u64>,
}

impl MemoryOrigin {
    /// What comes next at `now`, before a place: one whose waiting time is over, else the first in order.
    pub(super) fn next(&self, now: Millis, end: Place) -> Option<(Option<Millis>, Place)> {
        let wanted = self.items.iter().filter(|(_, i)| i.place < end);
        let places = || wanted.clone().map(|(after, item)| (*after, item.place));
        let due = places().filter(|(after, _)| after.is_some_and(|at| at <= now)).min();
        due.or_else(|| places().filter(|(after, _)| after.is_none()).min())
    }

    pub(super) fn take(&mut self, place: Place) -> (Option<Millis>, Item) {
        let i = self.items.iter().position(|(_, item)| item.place == place).expect("it waits");
        self.items.remove(i)
    }

    /// While its robots.txt is looked for, that errand alone may run.
    fn end(&self, end: Place) -> Place {
        if self.parked { Place::BEHIND_ERRANDS } else { end }
    }

    pub(super) fn is_deferred(&self, place: Place) -> bool {
        self.items.iter().any(|(after, item)| item.place == place && after.is_some())
    }

    pub(super) fn is_healthy(&self, now: Millis) -> bool {
        self.given_up.is_none() && (self.health.rule.is_gap() || self.health.not_before <= now)
    }
}

impl MemoryHost {
    pub(super) fn origin(&mut self, text: &str) -> &mut MemoryOrigin {
        if !self.origins.iter().any(|origin| origin.text == text) {
            self.origins.push(MemoryOrigin { text: text.to_owned(), ..MemoryOrigin::default() });
        }
        self.origins.iter_mut().find(|origin| origin.text == text).expect("it was just added")
    }

    pub(super) fn waiting(&self) -> u64 {
        let queued: usize = self.origins.iter().map(|origin| origin.items.len()).sum();
        queued as u64 + u64::from(self.leased.is_some())
    }

    pub(super) fn next(&self, now: Millis, end: Place) -> Option<(usize, Place)> {
        let origins = self.origins.iter().enumerate().filter(|(_, origin)| origin.is_healthy(now));
        let next = origins.filter_map(|(i, origin)| {
            origin.next(now, origin.end(end)).map(|(_, place)| (place, i))
        });
        next.min().map(|(place, i)| (i, place))
    }

    /// The origin where a page waits in order at a place, if it may be asked for now.
    pub(super) fn in_order(&self, place: Place, now: Millis, end: Place) -> Option<usize> {
        let is_there = |origin: &MemoryOrigin| {
            let mut items = origin.items.iter();
            items.any(|(after, item)| after.is_none() && item.place == place)
        };
        self.origins.iter().position(|origin| {
            origin.is_healthy(now) && place < origin.end(end) && is_there(origin)
        })
    }

    pub(super) fn given_up(&self) -> Option<(usize, FailureClass)> {
        let with_items =
            |origin: &MemoryOrigin| origin.given_up.filter(|_| !origin.items.is_empty());
        let origins = self.origins.iter().enumerate();
        origins.filter_map(|(i, origin)| Some((i, with_items(origin)?))).next()
    }

    /// Whether anything of it will ever be asked, if nothing else happens.
    pub(super) fn has_work(&self, end: Place) -> bool {
        let origins = self.origins.iter().filter(|origin| origin.given_up.is_none());
        let mut items = origins.flat_map(|o| o.items.iter().map(move |(_, item)| (o, item)));
        items.any(|(origin, item)| item.place < origin.end(end))
    }
}
