//! What to fetch first: scores for pages, and for links that nobody has followed yet.

pub mod focus;
