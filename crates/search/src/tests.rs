//! The sink and the searcher together: what was written is found, once, whatever happened between.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use larm_core::parse::{Input, parse};
use larm_core::url::{CrawlUrl, UrlRules, seed};
use larm_core::{Fact, Limits, Millis, Outcome, Protocol, Via};
use larm_crawl::store::{
    Exchange, Kept, LinkFact, LinkFacts, PageFacts, Position, SameAs, Sink, StorePlan, Timings,
    Visit, WarcSink, Wire,
};
use tempfile::TempDir;

use crate::{Found, Request, SearchIndex, SearchSink};

const NOON: u64 = 1_794_772_801_042;

/// A crawl directory with an index, driven as the writer drives it.
struct Desk {
    temp: TempDir,
    limits: Limits,
    sink: SearchSink,
    /// Where pages are archived, if they are.
    archive: Option<WarcSink>,
    /// Of the flushes so far, the last one last.
    positions: Vec<Position>,
}

impl Desk {
    fn new(limits: Limits) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let mut sink = SearchSink::new(temp.path(), &limits);
        sink.recover(None).unwrap();
        Self { temp, limits, sink, archive: None, positions: Vec::new() }
    }

    /// With an archive before it.
    fn with_archive(limits: Limits) -> Self {
        let mut desk = Self::new(limits);
        let mut archive = WarcSink::new(Arc::new(StorePlan {
            dir: desk.dir().to_owned(),
            crawl_id: "desk".to_owned(),
            title: String::new(),
            user_agent: String::new(),
            robots: "obey".to_owned(),
            operator: None,
            contact: None,
            accept: Vec::new(),
            limits: desk.limits.clone(),
        }));
        archive.as_mut().unwrap().recover(None).unwrap();
        desk.archive = archive.ok();
        desk
    }

    /// An index of these visits.
    fn of(visits: &[Visit]) -> Self {
        let mut desk = Self::new(Limits::default());
        desk.write(visits);
        desk.finish();
        desk
    }

    fn dir(&self) -> &Path {
        self.temp.path()
    }

    fn write(&mut self, visits: &[Visit]) {
        for visit in visits {
            let mut kept = Kept::default();
            if let Some(archive) = &mut self.archive {
                let encoded = (archive.encoder())(visit);
                archive.write(visit, encoded, &mut kept).unwrap();
            }
            let encoded = (self.sink.encoder())(visit);
            self.sink.write(visit, encoded, &mut kept).unwrap();
        }
        self.flush();
    }

    fn flush(&mut self) {
        self.archive.as_mut().map(|archive| archive.flush().unwrap());
        let flushed = self.sink.flush().unwrap();
        flushed.unsynced.iter().for_each(|file| file.sync().unwrap());
        self.positions.push(flushed.position);
    }

    fn finish(&mut self) {
        self.flush();
        self.sink.finish().unwrap();
    }

    /// Ends at once, and starts again at the position of a flush: 0 is the last one.
    fn crash(&mut self, flushes_lost: usize) {
        self.positions.truncate(self.positions.len().saturating_sub(flushes_lost));
        self.sink = SearchSink::new(self.temp.path(), &self.limits);
        self.sink.recover(self.positions.last().copied()).unwrap();
    }

    fn index(&self) -> SearchIndex {
        let limits = Limits { search_ranked_max: 100_000, ..self.limits.clone() };
        SearchIndex::open(self.dir(), &limits).unwrap()
    }

    fn search(&self, query: &str) -> Found {
        let request = Request {
            query: query.to_owned(),
            limit: 100_000,
            snippets: true,
            ..Request::default()
        };
        self.index().search(&request, &|_| None).unwrap()
    }

    /// Paths of the pages found, the best first.
    fn found(&self, query: &str) -> Vec<String> {
        let found = self.search(query);
        assert_eq!(found.total, found.hits.len() as u64, "{query}");
        found.hits.iter().map(|hit| hit.url.replace("http://h.org/", "/")).collect()
    }

    /// How often each page is in the index.
    fn everything(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for path in self.found("") {
            *counts.entry(path).or_default() += 1;
        }
        counts
    }

    fn search_files(&self, sub: &str) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.dir().join("search").join(sub)).unwrap();
        files.map(|file| file.unwrap().path()).collect()
    }
}

fn url(path: &str) -> CrawlUrl {
    let text = if path.contains("://") { path.to_owned() } else { format!("http://h.org{path}") };
    seed(&text, &UrlRules::default()).unwrap()
}

fn visit(path: &str, outcome: Outcome) -> Visit {
    Visit {
        url: url(path),
        depth: 1,
        via: Via::Anchor,
        parent: None,
        outcome,
        tries: 1,
        at: Millis(NOON),
        timings: Timings::default(),
        exchange: None,
        page: None,
        links: LinkFacts::default(),
        same_as: None,
        archived: None,
        facts: Vec::new(),
        notes: Vec::new(),
    }
}

fn page(path: &str, title: &str, text: &str) -> Visit {
    let body = format!("HTTP/1.1 200 OK\r\n\r\n{title}{text}");
    let wire = Wire {
        request: Bytes::new(),
        response: Bytes::from(body),
        head_bytes: 19,
        status: 200,
        content_type: Some("text/html".into()),
        protocol: Protocol::Http1,
        peer: None,
        truncated: None,
    };
    let facts = PageFacts {
        title: title.into(),
        text: text.into(),
        language: "en".into(),
        content_type: "text/html".into(),
        ..PageFacts::default()
    };
    let visit = visit(path, Outcome::Fetched { status: 200 });
    Visit { exchange: Some(Exchange::new(wire)), page: Some(Arc::new(facts)), ..visit }
}

fn with_facts(mut visit: Visit, change: impl FnOnce(&mut PageFacts)) -> Visit {
    change(Arc::get_mut(visit.page.as_mut().unwrap()).unwrap());
    visit
}

fn with_link(mut visit: Visit, to: &str, text: &str) -> Visit {
    let to = url(to);
    visit.links.push(LinkFact { text, ..LinkFact::new(to.as_str(), Via::Anchor) });
    visit
}

fn wings() -> Vec<Visit> {
    vec![
        page("/both", "Wings in slipstreams", "The lift of a wing in a slipstream of a propeller."),
        page("/wing", "A plate", "A wing is a plate that flies. Boundary layers are thin."),
        page("/layer", "Boundary layer", "The boundary layer of heated plates."),
        page("/other", "Cooking", "How to cook an egg. The layer at the boundary is hot."),
    ]
}

#[test]
fn words_are_alternatives_and_signs_restrict() {
    let desk = Desk::of(&wings());
    for (query, expected) in [
        ("wings slipstream", vec!["/both", "/wing"]),
        ("+wing slipstream", vec!["/both", "/wing"]),
        ("+wing +slipstream", vec!["/both"]),
        ("wing -slipstreams", vec!["/wing"]),
        ("\"boundary layer\"", vec!["/layer", "/wing"]),
        ("layer -\"boundary layer\"", vec!["/other"]),
        ("slip*", vec!["/both"]),
        ("title:wing", vec!["/both"]),
        ("title:\"boundary layer\"", vec!["/layer"]),
        ("url:both", vec!["/both"]),
        ("nothing says this word", vec![]),
        ("egg nosuchword", vec!["/other"]),
        ("EGG", vec!["/other"]),
        ("host:h.org egg", vec!["/other"]),
        ("-host:h.org egg", vec![]),
    ] {
        assert_eq!(desk.found(query), expected, "{query}");
    }
    assert_eq!(desk.search("egg nosuchword").missing, ["nosuchword"]);
}

#[test]
fn pages_are_stemmed_by_their_own_language() {
    let de = |visit| with_facts(visit, |facts| facts.language = "de".into());
    let none = |visit| with_facts(visit, |facts| facts.language = String::new());
    let declared = |visit| {
        with_facts(visit, |facts| {
            facts.language = String::new();
            facts.lang = "de-AT".into();
        })
    };
    let desk = Desk::of(&[
        page("/en", "Houses", "Many houses."),
        de(page("/de", "Häuser", "Viele Häuser und Gärten.")),
        declared(page("/at", "Gärten", "Schöne Gärten.")),
        none(page("/ja", "東京都庁", "東京都は日本の首都です。")),
    ]);
    assert_eq!(desk.found("house"), ["/en"]);
    assert_eq!(desk.found("Haus"), ["/de"]);
    assert_eq!(desk.found("garten").len(), 2, "without the dots, in the singular");
    assert_eq!(desk.found("首都"), ["/ja"]);
    assert_eq!(desk.found("lang:de").len(), 2);
    assert_eq!(desk.search("東京").hits[0].snippet.marks.len(), 1);
}

#[test]
fn what_links_say_of_a_page_finds_it_and_ranks_it() {
    let desk = Desk::of(&[
        page("/target", "Untitled", "Nothing of interest."),
        with_link(page("/from", "From", "A list."), "/target", "the famous airfoil"),
        with_link(page("/more", "More", "Another list."), "/target", "airfoil"),
        page("/says", "Says", "An airfoil, too, and a good deal of other things beside it."),
        with_link(page("/far", "Far", "Far."), "http://elsewhere.org/", "airfoil"),
    ]);
    assert_eq!(desk.found("airfoil"), ["/target", "/says"]);
    assert_eq!(desk.found("anchor:famous"), ["/target"]);
    let request =
        Request { query: "airfoil".into(), limit: 1, explain: true, ..Request::default() };
    let found = desk.index().search(&request, &|_| None).unwrap();
    let explanation = found.hits[0].explanation.clone().unwrap();
    assert_eq!(explanation.links, Some(2));
    assert_eq!(explanation.words[0].parts[0].0, "anchor");
    let sum: f32 = explanation.words.iter().map(|worth| worth.score).sum();
    assert!((sum - explanation.text).abs() < 1e-3, "{explanation:?}");
    assert!((explanation.text * explanation.factor - found.hits[0].score).abs() < 1e-3);
}

#[test]
fn pages_that_lack_a_part_of_the_query_are_explained_like_others() {
    let desk = Desk::of(&[
        page("/one", "One", "A slipstream, and much later in the same text, a wing."),
        page("/two", "Two", "A wing slipstream, which is another thing."),
    ]);
    for query in ["wing slipstream", "wing -another", "win*", "wing \"wing slipstream\""] {
        let request =
            Request { query: query.into(), limit: 9, explain: true, ..Request::default() };
        let found = desk.index().search(&request, &|_| None).unwrap();
        for hit in &found.hits {
            let told = hit.explanation.clone().unwrap();
            let sum: f32 = told.words.iter().map(|worth| worth.score).sum();
            assert!((sum - told.text).abs() < 1e-3, "{query}: {told:?}");
        }
    }
}

#[test]
fn what_is_shown_of_a_page_is_its_main_part_if_that_says_anything_of_the_kind() {
    let text = "Sorting, keys, lists\nA list is sorted in place, which takes no memory.";
    let desk = Desk::of(&[with_facts(page("/sort", "Sort", text), |facts| {
        facts.marks.main.push(21..text.len() as u32);
    })]);
    let shown = |query: &str| desk.search(query).hits[0].snippet.text.clone();
    assert_eq!(shown("sorting lists"), "A list is sorted in place, which takes no memory.");
    assert_eq!(shown("keys"), "Sorting, keys, lists");
}

#[test]
fn importance_from_outside_decides_between_equals() {
    let desk = Desk::of(&[page("/a", "Egg", "An egg."), page("/b", "Egg", "One egg.")]);
    for best in ["/a", "/b"] {
        let key = url(best).fingerprint();
        let request = Request { query: "egg".into(), limit: 9, ..Request::default() };
        let found = desk.index().search(&request, &|page| Some(f32::from(page == key))).unwrap();
        assert!(found.hits[0].url.ends_with(best));
        assert!(found.hits[0].score > found.hits[1].score);
    }
}

#[test]
fn copies_are_named_with_their_original_and_near_duplicates_stand_behind_it() {
    let original = page("/original", "Egg", "How to cook an egg.");
    let same_as = SameAs {
        url: original.url.to_string(),
        at: original.at,
        payload_digest: original.exchange.as_ref().unwrap().payload_digest(),
    };
    let copy = Visit { url: url("/copy"), same_as: Some(same_as), ..original.clone() };
    let mut near = page("/near", "Egg", "How to cook an egg, again.");
    near.facts.push(Fact::new("near-duplicate", "of http://h.org/original, 2 of 64 bits apart"));
    let mut unchanged = page("/original", "Egg", "How to cook an egg.");
    unchanged.same_as = copy.same_as.clone();
    let desk = Desk::of(&[original, copy, near, unchanged]);
    let request = Request { query: "egg".into(), limit: 9, similar: true, ..Request::default() };
    assert_eq!(desk.index().search(&request, &|_| None).unwrap().total, 2);
    let found = desk.search("egg");
    assert_eq!((found.total, found.hits.len()), (1, 1));
    assert_eq!(
        (found.hits[0].copies.as_slice(), found.hits[0].similar),
        (&["http://h.org/copy".to_owned()][..], 1)
    );
}

#[test]
fn a_page_that_is_fetched_again_replaces_itself_and_one_that_is_gone_goes() {
    let mut desk = Desk::new(Limits::default());
    desk.write(&[page("/a", "Old", "egg"), page("/b", "B", "egg"), page("/c", "C", "egg")]);
    let gone = visit("/b", Outcome::Fetched { status: 404 });
    let moved = visit("/c", Outcome::Redirected { status: 301, to: "http://h.org/a".into() });
    let failed = visit("/a", Outcome::Fetched { status: 503 });
    desk.write(&[page("/a", "New", "ham"), gone, moved, failed]);
    desk.finish();
    assert_eq!(desk.found("egg"), Vec::<String>::new());
    assert_eq!(desk.found("ham new"), ["/a"]);
}

#[test]
fn dates_and_types_can_be_filtered_by() {
    let dated = |visit, date: &str| with_facts(visit, |facts| facts.published = Some(date.into()));
    let pdf =
        with_facts(page("/pdf", "P", "egg"), |facts| facts.content_type = "application/pdf".into());
    let desk = Desk::of(&[
        dated(page("/2015", "A", "egg"), "2015-11-15T12:00:00Z"),
        dated(page("/2020", "B", "egg"), "2020-01-02"),
        dated(page("/lies", "C", "egg"), "2999-01-01"),
        pdf,
    ]);
    assert_eq!(desk.found("since:2015-11-15 until:2015-11-15"), ["/2015"]);
    assert_eq!(desk.found("egg until:2020").len(), 2);
    assert_eq!(desk.found("since:2026").len(), 2, "no date, or one to come: when it was fetched");
    assert_eq!(desk.found("type:pdf egg"), ["/pdf"]);
    assert_eq!(desk.found("type:text/html").len(), 3);
}

#[test]
fn what_is_no_page_is_not_indexed() {
    let mut robots = page("/robots.txt", "", "User-agent: egg");
    robots.via = Via::Robots;
    let style =
        with_facts(page("/a.css", "", "egg { }"), |facts| facts.content_type = "text/css".into());
    let desk = Desk::of(&[
        robots,
        style,
        page("/empty", "", "  "),
        visit("/x", Outcome::Fetched { status: 200 }),
    ]);
    assert_eq!(desk.everything().len(), 0);
}

/// Commits at every chance, into small files.
fn hasty() -> Limits {
    Limits { index_commit_ms_max: 1, index_journal_bytes_max: 2_000, ..Limits::default() }
}

fn numbered(n: usize) -> Visit {
    let text = format!("egg number {n} with a text of some length, so that files are filled");
    with_link(page(&format!("/{n}"), "Egg", &text), &format!("/{}", n + 1), "the next egg")
}

#[test]
fn after_crashes_every_page_is_there_once() {
    let mut desk = Desk::new(hasty());
    let mut next = 0;
    for round in 0..25 {
        for batch in 0..round % 5 + 1 {
            let visits: Vec<Visit> = (next..next + batch + 1).map(numbered).collect();
            desk.write(&visits);
            next += visits.len();
        }
        // What was flushed last may or may not have reached the log.
        let lost = round % 2;
        if lost == 1 {
            next -= round % 5 + 1;
        }
        desk.crash(lost);
    }
    desk.finish();
    let everything = desk.everything();
    assert!(everything.values().all(|count| *count == 1), "{everything:?}");
    assert_eq!(everything.len(), next);
    assert_eq!(desk.search("anchor:next").total as usize, next - 1);
    assert!(desk.index().why_incomplete().is_none());
    assert!(desk.search_files("journal").is_empty(), "all is in the index");
}

#[test]
fn an_index_that_is_behind_is_waited_for() {
    let mut desk = Desk::new(Limits { index_backlog_bytes_max: 1, ..Limits::default() });
    let mut waits = 0;
    for round in 0..20 {
        desk.write(&(round * 200..round * 200 + 200).map(numbered).collect::<Vec<_>>());
        if let Some(lag) = desk.sink.lag() {
            lag();
            waits += 1;
        }
        assert!(desk.sink.lag().is_none(), "there is still something to wait for");
    }
    assert!(waits > 0, "200 pages were read in no time, twenty times");
    desk.finish();
    assert_eq!(desk.everything().len(), 4_000);
}

#[test]
fn a_finished_index_goes_on_at_the_next_start() {
    let mut desk = Desk::new(hasty());
    for round in 0..4 {
        desk.write(&(round * 3..round * 3 + 3).map(numbered).collect::<Vec<_>>());
        desk.finish();
        desk.crash(0);
    }
    desk.finish();
    assert_eq!(desk.everything().len(), 12);
    assert!(desk.index().why_incomplete().is_none());
}

#[test]
fn a_kill_soon_after_a_start_that_followed_an_end_loses_nothing() {
    // Nothing is committed between the start and the kill.
    let mut desk = Desk::new(Limits::default());
    desk.write(&(0..5).map(numbered).collect::<Vec<_>>());
    desk.finish();
    desk.crash(0);
    desk.write(&(5..9).map(numbered).collect::<Vec<_>>());
    desk.flush();
    desk.crash(0);
    desk.finish();
    assert_eq!(desk.everything().len(), 9);
    assert!(desk.index().why_incomplete().is_none());
}

#[test]
fn an_index_that_is_ahead_of_the_log_keeps_each_page_once() {
    let mut desk = Desk::new(hasty());
    desk.write(&(0..5).map(numbered).collect::<Vec<_>>());
    desk.write(&(5..9).map(numbered).collect::<Vec<_>>());
    desk.finish();
    // The crawl's own state is an older copy: what came after is fetched again.
    desk.crash(2);
    desk.write(&(5..12).map(numbered).collect::<Vec<_>>());
    desk.finish();
    let everything = desk.everything();
    assert!(
        everything.len() == 12 && everything.values().all(|count| *count == 1),
        "{everything:?}"
    );
}

#[test]
fn whatever_is_damaged_the_crawl_goes_on_and_the_index_says_what_it_lacks() {
    type Damage = fn(&Desk);
    let damages: [(&str, Damage); 5] = [
        ("no meta", |desk| {
            std::fs::remove_file(desk.dir().join("search/index/meta.json")).unwrap()
        }),
        ("torn meta", |desk| {
            std::fs::write(desk.dir().join("search/index/meta.json"), "{").unwrap()
        }),
        ("no segments", |desk| {
            let files = desk.search_files("index");
            let stores =
                files.iter().filter(|file| file.extension().is_some_and(|ext| ext == "store"));
            stores.for_each(|file| std::fs::remove_file(file).unwrap());
        }),
        ("no journal", |desk| std::fs::remove_dir_all(desk.dir().join("search/journal")).unwrap()),
        ("torn journal", |desk| {
            for file in desk.search_files("journal") {
                let bytes = std::fs::read(&file).unwrap();
                std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
            }
        }),
    ];
    for (name, damage) in damages {
        let mut desk = Desk::new(hasty());
        desk.write(&(0..20).map(numbered).collect::<Vec<_>>());
        desk.finish();
        desk.crash(0);
        // Never read: the flush that would say that it is durable does not come.
        desk.write(&[numbered(20), numbered(21)]);
        damage(&desk);
        desk.crash(0);
        desk.write(&[numbered(22)]);
        desk.finish();
        let everything = desk.everything();
        assert!(everything.values().all(|count| *count == 1), "{name}: {everything:?}");
        assert_eq!(everything.get("/22"), Some(&1), "{name}");
        assert!(desk.index().why_incomplete().is_some(), "{name}");
    }
}

#[test]
fn an_index_that_begins_late_says_so_unless_it_is_given_everything() {
    let temp = tempfile::tempdir().unwrap();
    std::fs::create_dir(temp.path().join("logs")).unwrap();
    std::fs::write(temp.path().join("logs/crawl.jsonl"), "{}\n").unwrap();
    let limits = Limits::default();
    for (rebuilds, is_incomplete) in [(false, true), (true, false)] {
        let sink = SearchSink::new(temp.path(), &limits);
        let mut sink = if rebuilds { sink.rebuilding() } else { sink };
        sink.recover(None).unwrap();
        let index = SearchIndex::open(temp.path(), &limits).unwrap();
        assert_eq!(index.why_incomplete().is_some(), is_incomplete);
    }
}

#[test]
fn a_common_word_chooses_no_page_where_another_does() {
    let mut visits: Vec<Visit> =
        (0..150).map(|n| page(&format!("/{n}"), "larm", &format!("larm page {n}"))).collect();
    visits.push(page("/rare", "larm", "larm knows about slipstreams"));
    let desk = Desk::of(&visits);
    assert_eq!(desk.found("larm slipstream"), ["/rare"]);
    assert_eq!(desk.found("larm").len(), 151);
    assert_eq!(desk.found("+larm slipstream").len(), 151);
}

#[test]
fn pages_come_in_order_and_in_pages() {
    let desk = Desk::of(&(0..30).map(numbered).collect::<Vec<_>>());
    let all = desk.found("egg");
    let mut paged = Vec::new();
    for offset in (0..40).step_by(7) {
        let request = Request { query: "egg".into(), limit: 7, offset, ..Request::default() };
        let found = desk.index().search(&request, &|_| None).unwrap();
        assert_eq!(found.total, 30);
        paged.extend(found.hits.into_iter().map(|hit| hit.url.replace("http://h.org/", "/")));
    }
    assert_eq!(paged, all);
}

/// A page as a server sends it, and as it is read.
fn sent(path: &str, head: &str, body: &str) -> Visit {
    let head = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n");
    let content_type = larm_crawl::store::header(head.as_bytes(), "content-type");
    let input = Input { url: &url(path).to_url(), content_type, body: body.as_bytes(), text: true };
    let read = parse(&input, &Limits::default());
    let wire = Wire {
        request: Bytes::new(),
        response: Bytes::from(format!("{head}{body}")),
        head_bytes: head.len(),
        status: 200,
        content_type: content_type.map(str::to_owned),
        protocol: Protocol::Http1,
        peer: None,
        truncated: None,
    };
    let facts = PageFacts {
        title: read.title.unwrap_or_default(),
        text: read.text,
        marks: read.marks,
        language: "en".into(),
        content_type: content_type.unwrap_or_default().into(),
        ..PageFacts::default()
    };
    let visit = visit(path, Outcome::Fetched { status: 200 });
    Visit { exchange: Some(Exchange::new(wire)), page: Some(Arc::new(facts)), ..visit }
}

fn article(n: usize) -> Visit {
    let body = format!(
        "<title>Egg {n}</title><nav><a href=/>Home</a> <a href=/a>About eggs</a></nav>\
         <article><h1>Egg number {n}</h1><p>This is what is said of the egg with the number {n}, in a \
         sentence that is long enough to be one, and in another. It is boiled for {n} minutes.</p>\
         </article><footer>All rights reserved.</footer>"
    );
    sent(&format!("/{n}"), "Content-Type: text/html", &body)
}

/// Everything that is shown of a hit.
fn shown(desk: &Desk, query: &str) -> Vec<(String, String, String)> {
    let hits = desk.search(query).hits.into_iter();
    hits.map(|hit| (hit.url, hit.title, hit.snippet.text)).collect()
}

fn stored_bytes(desk: &Desk) -> u64 {
    let files = desk.search_files("index").into_iter();
    let stores = files.filter(|path| path.extension().is_some_and(|end| end == "store"));
    stores.map(|path| path.metadata().unwrap().len()).sum()
}

#[test]
fn texts_are_read_from_the_archive_and_shown_as_if_they_were_stored() {
    let visits: Vec<Visit> = (0..200).map(article).collect();
    let stored = Desk::of(&visits);
    // With room for all of them in memory, for some, and for none.
    for bytes in [1 << 20, 20_000, 1] {
        let limits = Limits { index_texts_bytes_max: bytes, ..Limits::default() };
        let mut desk = Desk::with_archive(limits);
        desk.write(&visits);
        desk.finish();
        for query in ["boiled minutes", "rights", "\"egg number 7\"", "headings:137", ""] {
            assert_eq!(shown(&desk, query), shown(&stored, query), "{query}");
        }
        assert!(stored_bytes(&desk) < stored_bytes(&stored), "{}", stored_bytes(&desk));
    }
}

#[test]
fn what_was_held_in_memory_is_read_from_the_archive_after_a_crash() {
    let mut desk = Desk::with_archive(hasty());
    let mut next = 0;
    for round in 0..12 {
        let visits: Vec<Visit> = (next..next + round % 4 + 1).map(article).collect();
        desk.write(&visits);
        next += visits.len();
        desk.flush();
        desk.crash(0);
    }
    desk.finish();
    let everything = desk.everything();
    assert!(everything.values().all(|count| *count == 1), "{everything:?}");
    assert_eq!(everything.len(), next);
    for n in 0..next {
        let found = shown(&desk, &format!("+\"egg number {n}\""));
        assert_eq!(found.len(), 1, "{n}");
        assert!(found[0].2.contains("boiled"), "{found:?}");
    }
    assert!(desk.index().why_incomplete().is_none());
}

#[test]
fn where_the_archive_is_gone_pages_are_found_all_the_same() {
    let mut desk = Desk::with_archive(Limits::default());
    desk.write(&(0..3).map(article).collect::<Vec<_>>());
    desk.finish();
    assert!(desk.search("boiled").hits.iter().all(|hit| !hit.is_unread));
    std::fs::remove_dir_all(desk.dir().join("warc")).unwrap();
    assert!(desk.search("boiled").hits.iter().all(|hit| hit.is_unread));
    let found = shown(&desk, "boiled");
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|(_, title, text)| title.starts_with("Egg") && text.is_empty()));
}

#[test]
fn a_page_that_the_archive_lost_before_it_was_indexed_is_said_to_be_missing() {
    let mut desk = Desk::with_archive(Limits::default());
    desk.write(&(0..3).map(article).collect::<Vec<_>>());
    desk.flush();
    std::fs::remove_dir_all(desk.dir().join("warc")).unwrap();
    desk.crash(0);
    desk.finish();
    let lacks = desk.index().why_incomplete().unwrap();
    assert!(lacks.contains("the archive does not have http://h.org/0"), "{lacks}");
    assert_eq!(desk.everything().len(), 0);
}

#[test]
fn what_the_archive_cannot_give_back_is_stored() {
    let mut desk = Desk::with_archive(Limits::default());
    let article = |n| article(n);
    let plain = sent("/plain", "Content-Type: text/plain", "An egg as plain text, boiled.");
    let again = SameAs {
        url: "http://h.org/9".to_owned(),
        at: Millis(NOON - 1),
        payload_digest: article(9).exchange.unwrap().payload_digest(),
    };
    let unchanged = Visit { same_as: Some(again), ..article(9) };
    desk.write(&[plain, unchanged]);
    desk.finish();
    std::fs::remove_dir_all(desk.dir().join("warc")).unwrap();
    let found = shown(&desk, "boiled");
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|(_, _, text)| text.contains("boiled")), "{found:?}");
}
