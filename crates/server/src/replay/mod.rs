//! Archived pages, shown as they were, and safe to look at.
//!
//! What strangers wrote is shown here, so nothing of it is trusted. Three walls stand behind each other:
//!
//! - REPLAY-1: no script runs. The policy of every answer is a sandbox without scripts, and scripts, handlers and
//!   whatever else could run are taken out before.
//! - REPLAY-2: nothing is asked for outside of the archive. Every URL that a browser would follow by itself is
//!   rewritten to a path here or taken out, and the policy allows no other.
//! - REPLAY-3: whoever may look at one crawl may look at that one: the path holds a capability, a keyed hash of the
//!   crawl's id and the session under a secret that lives as long as the server. It opens nothing when the session has
//!   ended. A frame without an origin has no cookie to show.
//!
//! Pages are not patched but written anew from their tags, so that what a browser reads is what was meant here:
//! where both would read some bytes differently, there are no such bytes left.

pub mod answer;
mod attributes;
mod capability;
mod css;
mod escape;
mod html;
mod place;

#[cfg(test)]
mod tests;

pub use capability::Capabilities;
pub use css::rewrite as rewrite_sheet;
pub use html::rewrite as rewrite_page;
pub use place::{Mapper, Place};
