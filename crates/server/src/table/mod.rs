//! The crawl log as a table in memory: what can be filtered, sorted and paged through.
//!
//! A row is a line of `logs/crawl.jsonl`. In memory are its URL and the few numbers that people filter and sort
//! by, each in a column of its own, so that one pass over millions of rows takes milliseconds; whatever else a
//! line says is read back from the file, for the rows that are shown. The file is only read, never locked, and
//! may grow meanwhile.
//!
//! TABLE-1: rows are numbered from 0 in the order of the log, and a number keeps its row until the log is cut
//! back. TABLE-2: what is kept is bounded: beyond the maximum, the oldest rows are left out, and counted.

mod columns;
mod csv;
mod cursor;
mod filter;
mod line;
mod load;
mod names;
mod order;
mod row;
mod tables;

#[cfg(test)]
mod tests;

pub use columns::{Flags, Outcome};
pub use csv::{CSV_HEADER, csv_line, quoted};
pub use cursor::Cursor;
pub use filter::{Filter, FilterText};
pub use load::{Bounds, Table};
pub use order::{Direction, Page, PageAsk, Sort, SortBy};
pub use row::{Row, Whole};
pub use tables::Tables;
