//! Hosts of several kinds, page after page: mazes are found, and what is worth reading is left alone.

use super::*;
use crate::random::Random;

const CUT_AT: u32 = 30;

/// A host as somebody would crawl it: what is fetched is noted, and what is cut off is not fetched.
#[derive(Default)]
struct Crawled {
    worth: HostWorth,
    fetched: usize,
    held: usize,
}

impl Crawled {
    /// Whether a URL is fetched; if so, it brings this text, and leads to one more of its like.
    fn meet(&mut self, path: &str, text: &str) -> bool {
        self.meet_leading_to(path, text, &[path])
    }

    fn meet_leading_to(&mut self, path: &str, text: &str, links: &[&str]) -> bool {
        let limits = Limits::default();
        if self.worth.judge(path, CUT_AT).0 == Verdict::Cut {
            self.worth.hold(path, CUT_AT);
            self.held += 1;
            return false;
        }
        self.fetched += 1;
        self.worth.note(path, &harvest(text), links.iter().copied(), &limits);
        true
    }

    fn verdict(&self, path: &str) -> Verdict {
        self.worth.judge(path, CUT_AT).0
    }
}

fn harvest(text: &str) -> Harvest {
    let line = |line: &str| {
        let letters = u8::try_from(line.len()).unwrap_or(u8::MAX);
        Print { hash: xxhash_rust::xxh3::xxh3_64(line.as_bytes()) as u32, letters }
    };
    Harvest::Prints(text.lines().map(line).collect())
}

/// Text that stands nowhere else.
fn new_text(n: usize) -> String {
    format!(
        "menu and footer as on every page\nThis is the only page that tells the story number {n}, at some length."
    )
}

const EMPTY: &str = "menu and footer as on every page\nThere are no events in this month.";

#[test]
fn a_shop_of_ten_thousand_products_is_never_slow() {
    let mut shop = Crawled::default();
    for n in 0..10_000 {
        assert!(shop.meet(&format!("/product/{n}"), &new_text(n)));
        assert_eq!(shop.verdict("/product/1"), Verdict::Good, "after {n}");
    }
    assert!(shop.worth.bytes() < 20_000, "{} bytes", shop.worth.bytes());
}

#[test]
fn an_endless_calendar_is_slow_then_cut_off_and_tried_ever_more_rarely() {
    let mut host = Crawled::default();
    let mut slow_at = None;
    for n in 0..100_000 {
        host.meet(&format!("/events/{}/{}", n / 12, n % 12), EMPTY);
        if host.verdict("/events/1/1") == Verdict::Slow {
            slow_at.get_or_insert(n);
        }
    }
    assert_eq!(slow_at, Some(10));
    assert!((30..60).contains(&host.fetched), "{} fetched", host.fetched);
    let (verdict, finding) = host.worth.judge("/events/1/1", CUT_AT);
    let finding = finding.unwrap();
    assert_eq!((verdict, &*finding.pattern), (Verdict::Cut, "/events/{n}/{n}"));
    assert_eq!(
        finding.tally.since as usize,
        host.fetched - 1,
        "but the first, all brought nothing"
    );
}

#[test]
fn what_is_told_of_a_host_is_told_once() {
    let mut host = Crawled::default();
    (0..50).for_each(|n| _ = host.meet(&format!("/events/{n}/1"), EMPTY));
    (0..50).for_each(|n| _ = host.meet(&format!("/story/{n}"), &new_text(n)));
    let told: Vec<_> = host.worth.findings(CUT_AT, 5).into_iter().map(|f| f.pattern).collect();
    assert_eq!(told, ["/events/{n}/{n}"]);
}

#[test]
fn good_pages_beside_a_maze_are_left_alone() {
    let mut host = Crawled::default();
    let mut stories = 0;
    for n in 0..5_000 {
        host.meet(&format!("/shop/list?c{}=1&d{}=2", n % 64, n % 7), EMPTY);
        stories += usize::from(host.meet(&format!("/shop/story/{n}"), &new_text(n)));
    }
    assert_eq!(stories, 5_000);
    assert!(host.fetched - stories < 150, "{} of the maze", host.fetched - stories);
}

#[test]
fn many_shapes_of_one_maze_are_judged_together() {
    let mazes: [(&str, &dyn Fn(u64) -> String); 4] = [
        ("parameters", &|r| {
            format!(
                "/find?{}",
                (0..8)
                    .filter(|b| r >> b & 1 == 1)
                    .map(|b| format!("f{}x={r}", char::from(b'a' + b)))
                    .collect::<Vec<_>>()
                    .join("&")
            )
        }),
        ("words", &|r| format!("/tag/{}/{}/x", word(r), word(r >> 8))),
        ("sessions", &|r| format!("/{r:016x}/page/{}", r % 8)),
        ("words in front", &|r| format!("/{}/page/{}", word(r), r % 8)),
    ];
    for (name, url) in mazes {
        let (mut host, mut random) = (Crawled::default(), Random(1));
        (0..20_000).for_each(|_| _ = host.meet(&url(random.next()), EMPTY));
        assert!(host.fetched < 250, "{name}: {} fetched", host.fetched);
    }
}

fn word(r: u64) -> String {
    (0..6).map(|i| char::from(b'a' + (r >> (4 * i) & 15) as u8)).collect()
}

#[test]
fn a_wrong_verdict_heals() {
    let mut host = Crawled::default();
    (0..200).for_each(|n| _ = host.meet(&format!("/a/{n}"), EMPTY));
    assert!(host.held > 100 && host.verdict("/a/1") != Verdict::Good);
    let mut healed = false;
    for n in 200..1_000 {
        if host.worth.judge("/a/1", CUT_AT).0 == Verdict::Cut {
            host.worth.hold("/a/1", CUT_AT);
            continue;
        }
        let noted =
            host.worth.note("/a/1", &harvest(&new_text(n)), std::iter::empty(), &Limits::default());
        healed |= noted.healed;
    }
    assert!(healed && host.verdict("/a/1") == Verdict::Good);
}

#[test]
fn lists_that_lead_to_good_pages_are_good_and_mazes_that_lead_to_each_other_are_not() {
    let mut shop = Crawled::default();
    for n in 0..500 {
        let product = format!("/product/{n}");
        shop.meet_leading_to(
            &format!("/list/{n}"),
            EMPTY,
            &[&product, &format!("/list/{}", n + 1)],
        );
        assert!(shop.meet(&product, &new_text(n)));
    }
    assert_eq!(shop.verdict("/list/7"), Verdict::Good);
    let mut calendar = Crawled::default();
    for n in 0..1_000 {
        calendar.meet_leading_to(&format!("/month/{n}"), EMPTY, &[&format!("/day/{n}/1")]);
        calendar.meet_leading_to(&format!("/day/{n}/1"), EMPTY, &[&format!("/month/{}", n + 1)]);
    }
    assert!(calendar.fetched < 120, "{} fetched", calendar.fetched);
}

#[test]
fn files_are_new_and_what_is_not_there_is_nothing() {
    let limits = Limits::default();
    let mut host = Crawled::default();
    for n in 0..300 {
        host.worth.note(&format!("/f/{n}.pdf"), &Harvest::Body, std::iter::empty(), &limits);
        host.worth.note(&format!("/gone/{n}"), &Harvest::Nothing, std::iter::empty(), &limits);
    }
    assert_eq!(host.verdict("/f/1.pdf"), Verdict::Good);
    assert_eq!(host.verdict("/gone/1"), Verdict::Cut);
}

#[test]
fn copies_that_lead_nowhere_come_last_and_are_fetched() {
    let mut manual = Crawled::default();
    (0..100).for_each(|n| _ = manual.meet(&format!("/en/{n}"), &new_text(n)));
    let untranslated = ["/da/", "/ko/"].map(|at| (0..200).map(move |n| format!("{at}page-{n}")));
    for page in untranslated.into_iter().flatten() {
        assert!(manual.meet_leading_to(&page, EMPTY, &[]), "{page} waits");
    }
    assert_eq!(manual.verdict("/da/page-1"), Verdict::Slow);
    let mut dead = Crawled::default();
    (0..100_000).for_each(|n| _ = dead.meet_leading_to(&format!("/gone/{n}"), EMPTY, &[]));
    assert!((300..330).contains(&dead.fetched), "{} fetched", dead.fetched);
}

#[test]
fn a_redirect_that_leads_on_says_nothing_and_one_that_does_not_is_fruitless() {
    let limits = Limits::default();
    let mut host = HostWorth::default();
    for n in 0..300 {
        let on = format!("/page/{n}");
        host.note("/go/1", &Harvest::Redirect, std::iter::once(&*on), &limits);
        host.note("/back/1", &Harvest::Redirect, std::iter::empty(), &limits);
    }
    assert_eq!(host.judge("/go/2", 3_000).0, Verdict::Good);
    assert_eq!(host.judge("/back/2", CUT_AT).0, Verdict::Cut);
}

#[test]
fn what_is_kept_of_a_host_is_bounded_whatever_it_does() {
    let (mut host, mut random) = (HostWorth::default(), Random(3));
    let limits = Limits::default();
    for n in 0..20_000 {
        let path =
            format!("/{}/{}?{}=1", word(random.next()), word(random.next()), word(random.next()));
        host.note(&path, &harvest(&new_text(n)), std::iter::empty(), &limits);
    }
    assert!(host.patterns.len() as u64 <= limits.host_patterns_max);
    assert!(host.bytes() < 40_000, "{}", host.bytes());
    assert_eq!(host.judge("/what/ever", CUT_AT).0, Verdict::Good);
}

#[test]
fn a_setting_that_allows_more_frees_what_was_cut_off() {
    let mut host = Crawled::default();
    (0..200).for_each(|n| _ = host.meet(&format!("/a/{n}"), EMPTY));
    assert_eq!(host.worth.judge("/a/1", CUT_AT).0, Verdict::Cut);
    assert_eq!(host.worth.judge("/a/1", 40 * CUT_AT).0, Verdict::Good);
}
