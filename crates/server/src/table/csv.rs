//! Rows for spreadsheets.
//!
//! A cell that a spreadsheet would compute (`=`, `+`, `-`, `@`, a tab or a line end at its beginning) gets an
//! apostrophe before it: URLs and titles are written by strangers.

use super::row::Row;

/// The first line.
pub const CSV_HEADER: &str = "url,outcome,status,reason,type,depth,bytes,ms,at,redirect,same_as,near,from,via,tries,archived\r\n";

/// A row as a line.
pub fn csv_line(row: &Row) -> String {
    let text = |text: &Option<String>| quoted(text.as_deref().unwrap_or_default());
    let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    let cells = [
        quoted(&row.url),
        quoted(&row.outcome),
        number(row.status.map(u64::from)),
        text(&row.reason),
        text(&row.media),
        row.depth.to_string(),
        number(row.bytes),
        number(row.ms),
        larm_core::Millis(row.at).to_string(),
        text(&row.redirect),
        text(&row.same_as),
        text(&row.near),
        text(&row.from),
        quoted(&row.via),
        row.tries.to_string(),
        row.archived.to_string(),
    ];
    cells.join(",") + "\r\n"
}

/// A text as a cell (RFC 4180), which no spreadsheet takes for a formula.
pub fn quoted(text: &str) -> String {
    let is_formula =
        text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    let needs_quotes = text.contains(['"', ',', '\n', '\r', ';', '\t']);
    let guard = if is_formula { "'" } else { "" };
    match needs_quotes || is_formula {
        true => format!("\"{guard}{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_text_to_a_spreadsheet() {
        let rows = [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""),
            ("@sum", "\"'@sum\""),
            ("-1+1", "\"'-1+1\""),
            ("\tx", "\"'\tx\""),
            ("two\r\nlines", "\"two\r\nlines\""),
        ];
        for (text, cell) in rows {
            assert_eq!(quoted(text), cell, "{text}");
        }
    }
}
