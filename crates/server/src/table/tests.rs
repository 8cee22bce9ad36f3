//! The table against a naive one, and against logs that were cut, damaged or grow.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const BOUNDS: Bounds = Bounds { rows_max: 1_000_000, bytes_max: 1 << 30, line_bytes_max: 1 << 16 };

fn line(number: usize, more: Value) -> Value {
    let mut line = json!({
        "at": larm_core::Millis(1_800_000_000_000 + number as u64).to_string(),
        "url": format!("http://h{}.test/{number}", number % 3),
        "outcome": "fetched", "status": 200, "depth": 1, "via": "anchor", "tries": 1,
    });
    let (line_map, more) = (line.as_object_mut().unwrap(), more.as_object().unwrap().clone());
    line_map.extend(more);
    line
}

fn write(dir: &Path, lines: &[Value]) {
    fs::create_dir_all(dir.join("logs")).unwrap();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(dir.join("logs/crawl.jsonl"), text).unwrap();
}

fn append(dir: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).open(dir.join("logs/crawl.jsonl")).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn table_of(dir: &Path) -> Table {
    let mut table = Table::new(dir);
    table.refresh(&BOUNDS).unwrap();
    table
}

fn numbers(table: &Table, filter: &FilterText, sort: &str) -> Vec<u64> {
    let rows = table.all(&Filter::parse(filter).unwrap(), Sort::parse(sort).unwrap());
    rows.into_iter().map(|row| table.number(row)).collect()
}

fn urls(table: &Table) -> Vec<String> {
    (0..table.len()).map(|row| table.url(row).to_owned()).collect()
}

/// All pages of a list, one behind the other.
fn paged(table: &Table, filter: &FilterText, sort: &str, limit: usize) -> (Vec<u64>, u64) {
    let (filter, sort) = (Filter::parse(filter).unwrap(), Sort::parse(sort).unwrap());
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let ask = PageAsk { filter: filter.clone(), sort, limit, after };
        let page = table.page(&ask).unwrap();
        assert!(page.rows.len() <= limit);
        all.extend(page.rows.iter().map(|&row| table.number(row)));
        match page.next {
            Some(next) => after = Cursor::parse(&next.text()).unwrap(),
            None => return (all, page.total),
        }
    }
}

/// What the filters mean, said once more and slowly.
fn naive_fits(line: &Value, filter: &FilterText) -> bool {
    let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
    let status = line["status"].as_u64().unwrap_or(0);
    let statuses = match filter.status.as_str() {
        "" => true,
        "4xx" => status / 100 == 4,
        exact => exact == status.to_string(),
    };
    let media = text("type").split(';').next().unwrap_or_default().trim().to_lowercase();
    let medias = match filter.media.as_str() {
        "" => true,
        "image/*" => media.starts_with("image/"),
        exact => media == exact,
    };
    let host =
        text("url").trim_start_matches("http://").split('/').next().unwrap_or_default().to_owned();
    let copies =
        filter.duplicate.is_empty() || (filter.duplicate == "true") == line["same_as"].is_string();
    statuses
        && medias
        && copies
        && (filter.outcome.is_empty()
            || filter.outcome.split(',').any(|word| word == text("outcome")))
        && (filter.host.is_empty() || host == filter.host)
        && (filter.depth.is_empty() || filter.depth.parse().ok() == line["depth"].as_u64())
        && text("url").to_ascii_lowercase().contains(&filter.q.to_ascii_lowercase())
}

fn naive(lines: &[Value], filter: &FilterText, sort: &str) -> Vec<u64> {
    let name = sort.trim_start_matches('-');
    let key = |line: &Value| match name {
        "at" | "url" => (0, line[name].as_str().unwrap().to_owned()),
        "type" => {
            let media = line["type"].as_str().unwrap_or_default();
            (0, media.split(';').next().unwrap().trim().to_lowercase())
        }
        _ => (line[name].as_u64().unwrap_or(0), String::new()),
    };
    let fitting = (0..).zip(lines).filter(|(_, line)| naive_fits(line, filter));
    let mut rows: Vec<_> = fitting.map(|(number, line)| (key(line), number)).collect();
    rows.sort();
    if sort.starts_with('-') {
        rows.reverse();
    }
    rows.into_iter().map(|(_, number)| number).collect()
}

fn some_line() -> impl Strategy<Value = Value> {
    let url = "http://h[0-2]\\.test/[a-cA-C]{0,6}(\\?x=[0-9])?";
    let outcome = prop::sample::select(Outcome::ALL.map(Outcome::word).to_vec());
    let status =
        prop::sample::select(vec![None, Some(200), Some(301), Some(404), Some(410), Some(503)]);
    let media = prop::sample::select(vec![
        None,
        Some("text/html"),
        Some("Text/HTML; charset=x"),
        Some("image/png"),
        Some("image/gif"),
    ]);
    (url, outcome, status, media, 0..4u64, 0..50u64, 0..9u64, any::<bool>()).prop_map(
        |(url, outcome, status, media, depth, bytes, at, copy)| {
            let mut line = line(at as usize, json!({ "url": url, "outcome": outcome, "depth": depth, "bytes": bytes, "ms": bytes % 7 }));
            line["status"] = json!(status);
            line["type"] = json!(media);
            if copy {
                line["same_as"] = json!("http://h0.test/");
            }
            line
        },
    )
}

fn some_filter() -> impl Strategy<Value = FilterText> {
    let one_of = |words: &[&str]| {
        prop::sample::select(words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    };
    (
        one_of(&["", "fetched", "failed,denied"]),
        one_of(&["", "4xx", "404", "0"]),
        one_of(&["", "text/html", "image/*", "none/such"]),
        one_of(&["", "h1.test", "h9.test"]),
        one_of(&["", "a", "AB", "test/", "x=3", ".", "nowhere"]),
        (one_of(&["", "2"]), one_of(&["", "true", "false"])),
    )
        .prop_map(|(outcome, status, media, host, q, (depth, duplicate))| FilterText {
            outcome,
            status,
            media,
            host,
            q,
            depth,
            duplicate,
            ..FilterText::default()
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn filtering_sorting_and_paging_agree_with_doing_it_slowly(
        lines in prop::collection::vec(some_line(), 0..60),
        filter in some_filter(),
        sort in prop::sample::select(vec!["at", "-at", "url", "-url", "status", "-bytes", "depth", "-ms", "type", "-type"]),
        limit in 1..20usize,
    ) {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &lines);
        let table = table_of(dir.path());
        let expected = naive(&lines, &filter, sort);
        prop_assert_eq!(&numbers(&table, &filter, sort), &expected);
        let (rows, total) = paged(&table, &filter, sort, limit);
        prop_assert_eq!(total, expected.len() as u64);
        prop_assert_eq!(rows, expected);
    }

    #[test]
    fn any_bytes_are_a_log(bytes in prop::collection::vec(prop::sample::select(b"{}\"at:url,\n\\u0041x1".to_vec()), 0..400)) {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &[]);
        fs::write(dir.path().join("logs/crawl.jsonl"), &bytes).unwrap();
        let table = table_of(dir.path());
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        prop_assert_eq!(table.damaged() + table.len() as u64, lines);
    }
}

#[test]
fn many_stretches_of_rows_give_each_row_once_whatever_their_order() {
    let dir = tempfile::tempdir().unwrap();
    let lines: Vec<_> = (0..20_000)
        .map(|number| line(number, json!({ "url": format!("http://h/{:06}", 99_999 - number) })))
        .collect();
    write(dir.path(), &lines);
    let table = table_of(dir.path());
    let all = FilterText::default();
    assert_eq!(numbers(&table, &all, "url"), (0..20_000).rev().collect::<Vec<_>>());
    assert_eq!(paged(&table, &all, "-at", 999).0, (0..20_000).rev().collect::<Vec<_>>());
    let some = FilterText { q: "/0999".to_owned(), ..all };
    assert_eq!(numbers(&table, &some, "at").len(), 100);
}

#[test]
fn a_log_that_grows_is_read_on_and_a_line_that_is_not_whole_waits() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[line(0, json!({}))]);
    let mut table = table_of(dir.path());
    let next = line(1, json!({})).to_string();
    append(dir.path(), &next[..20]);
    table.refresh(&BOUNDS).unwrap();
    assert_eq!((table.len(), table.damaged()), (1, 0));
    append(dir.path(), &format!("{}\n", &next[20..]));
    assert!(table.is_behind());
    table.refresh(&BOUNDS).unwrap();
    assert_eq!(urls(&table), ["http://h0.test/0", "http://h1.test/1"]);
    assert!(!table.is_behind());
}

#[test]
fn a_log_that_was_cut_back_is_read_anew_also_when_it_is_longer_by_now() {
    let dir = tempfile::tempdir().unwrap();
    let lines: Vec<_> = (0..9).map(|number| line(number, json!({}))).collect();
    write(dir.path(), &lines);
    let mut table = table_of(dir.path());
    write(dir.path(), &lines[..5]);
    table.refresh(&BOUNDS).unwrap();
    assert_eq!(table.len(), 5);
    let others: Vec<_> = (0..40).map(|number| line(number + 100, json!({}))).collect();
    write(dir.path(), &[&lines[..3], &others].concat());
    table.refresh(&BOUNDS).unwrap();
    assert_eq!(table.len(), 43);
    assert_eq!(table.url(3), "http://h1.test/100");
    fs::remove_file(dir.path().join("logs/crawl.jsonl")).unwrap();
    assert!(table.rows(&[0, 1]).unwrap().is_empty());
    table.refresh(&BOUNDS).unwrap();
    assert!(table.is_empty());
}

#[test]
fn damaged_lines_are_counted_and_what_is_behind_them_is_read() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[line(0, json!({}))]);
    append(dir.path(), "not json\n{\"at\":1}\n\n{\"url\":\"http://h/\\ud800\"}\n");
    append(dir.path(), &format!("{{\"at\":\"{}\"\n", "x".repeat(1 << 17)));
    append(dir.path(), &format!("{}\n", line(1, json!({}))));
    let table = table_of(dir.path());
    assert_eq!((table.len(), table.damaged()), (2, 5));
    let rows = table.rows(&[0, 1]).unwrap();
    assert_eq!(
        rows.iter().map(|whole| whole.row.url.as_str()).collect::<Vec<_>>(),
        ["http://h0.test/0", "http://h1.test/1"]
    );
}

#[test]
fn beyond_the_maximum_the_newest_rows_stay_and_keep_their_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let lines: Vec<_> = (0..1_000).map(|number| line(number, json!({}))).collect();
    write(dir.path(), &lines);
    for bounds in [Bounds { rows_max: 100, ..BOUNDS }, Bounds { bytes_max: 10_000, ..BOUNDS }] {
        let mut table = Table::new(dir.path());
        table.refresh(&bounds).unwrap();
        assert!((50..=200).contains(&table.len()), "{}", table.len());
        assert_eq!(table.left_out() + table.len() as u64, 1_000);
        let last = table.len() - 1;
        assert_eq!((table.number(last), table.url(last)), (999, "http://h0.test/999"));
        assert_eq!(table.rows(&[0]).unwrap()[0].row.url, table.url(0));
        assert_eq!(
            (table.index(0), table.index(999), table.index(1_000)),
            (None, Some(last), None)
        );
    }
}

#[test]
fn hostile_texts_are_shown_as_they_are_and_chosen_by_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let hostile = "http://h/\"},{\"near-duplicate\":\"x\",\"warc\":\"y";
    let lines = [
        line(0, json!({ "url": hostile, "reason": "<script>alert(1)</script>" })),
        line(
            1,
            json!({ "url": "http://h/\u{202e}\u{e000}=1+1", "type": "x".repeat(5_000), "facts": { "near-duplicate": "http://h/" } }),
        ),
    ];
    write(dir.path(), &lines);
    let table = table_of(dir.path());
    let near = FilterText { near: "true".to_owned(), ..FilterText::default() };
    assert_eq!(numbers(&table, &near, "at"), [1]);
    let kept = FilterText { archived: "true".to_owned(), ..FilterText::default() };
    assert_eq!(numbers(&table, &kept, "at"), [] as [u64; 0]);
    let rows = table.rows(&[0]).unwrap();
    assert_eq!(
        (rows[0].row.url.as_str(), rows[0].row.reason.as_deref()),
        (hostile, Some("<script>alert(1)</script>"))
    );
}

#[test]
fn filters_that_mean_nothing_are_refused_by_name() {
    let text = FilterText::default();
    let rows = [
        ("outcome", FilterText { outcome: "nice".into(), ..text.clone() }),
        ("status", FilterText { status: "4".repeat(9), ..text.clone() }),
        ("status", FilterText { status: "+44".into(), ..text.clone() }),
        ("status", FilterText { status: "xx".into(), ..text.clone() }),
        ("depth", FilterText { depth: "-1".into(), ..text.clone() }),
        ("duplicate", FilterText { duplicate: "yes".into(), ..text.clone() }),
        ("q", FilterText { q: "x".repeat(5_000), ..text.clone() }),
    ];
    for (key, text) in rows {
        assert_eq!(Filter::parse(&text).unwrap_err().key.as_deref(), Some(key), "{text:?}");
    }
    for q in ["(", "[", "\\", "ü", ".*", "%", "\u{0}"] {
        assert!(Filter::parse(&FilterText { q: q.into(), ..text.clone() }).is_ok(), "{q}");
    }
    assert!(Sort::parse("color").is_err() && Sort::parse("--at").is_err());
}

#[test]
fn tables_that_nobody_looked_at_for_longest_are_forgotten() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let lines: Vec<_> = (0..100).map(|number| line(number, json!({}))).collect();
    write(a.path(), &lines);
    write(b.path(), &lines);
    let tables = Tables::default();
    let bounds = Bounds { bytes_max: 15_000, ..BOUNDS };
    let count = |dir: &Path| tables.with(dir, &bounds, |table| Ok(table.len())).unwrap();
    assert_eq!((count(a.path()), count(b.path()), count(a.path())), (100, 100, 100));
}
