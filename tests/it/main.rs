//! One integration binary against the hostile test web: one module per promise of the README.

mod coverage;
mod tidy;
mod world;
