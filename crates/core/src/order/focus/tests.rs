//! A small web about bees and taxes, words in many scripts, and bytes that are no state.

use proptest::prelude::*;

use super::*;

const BEES: &str = "Bees gather nectar from flowers and make honey in the hive. The beekeeper \
                    inspects each hive, and the colony swarms in early summer.";
const TAXES: &str = "The tax return is due in spring. Deductions lower taxable income, and the \
                     revenue office refunds what was withheld.";

fn limits() -> Limits {
    Limits::default()
}

fn url(text: &str) -> CrawlUrl {
    CrawlUrl::from_canonical(text).unwrap()
}

fn link<'a>(url: &'a CrawlUrl, text: &'a str) -> Link<'a> {
    Link { url, text, beside: ("", "") }
}

fn features(text: &str) -> Vec<u32> {
    let mut features = Vec::new();
    words::each(text, |feature| features.push(feature));
    features
}

/// Reads so many pages of both kinds, each with a link to one more page of its kind.
fn read_some(focus: &mut Focus, count: usize) -> (f32, f32) {
    let (mut bees, mut taxes) = (0.0, 0.0);
    for number in 0..count {
        for (kind, text, sum) in [("bees", BEES, &mut bees), ("tax", TAXES, &mut taxes)] {
            let page = url(&format!("http://h/{kind}/{number}.html"));
            let next = url(&format!("http://h/{kind}/{}.html", number + 1));
            let reading =
                focus.read(&page, kind, &format!("{text} {number}"), &[link(&next, kind)]);
            *sum += reading.relevance / count as f32;
        }
    }
    (bees, taxes)
}

#[test]
fn words_of_one_stem_are_one_feature() {
    for (one, other) in [
        ("course", "Courses"),
        ("HONEY", "honey"),
        ("Äpfel", "äpfel"),
        ("beekeeper", "beekeeping"),
        ("naïve", "NAÏVE"),
    ] {
        assert_eq!(features(one), features(other), "{one} {other}");
    }
    assert_ne!(features("class"), features("clas"));
    assert_ne!(features("tax"), features("taxi"));
}

#[test]
fn plurals_are_told_from_words_that_only_end_like_them() {
    for (text, plural) in [("All Courses", "courses"), ("graduate students", "student")] {
        assert_eq!(words::distinct_forms(text).1, features(plural), "{text}");
    }
    for text in ["class", "its", "course", "student", "S", ""] {
        assert!(words::distinct_forms(text).1.is_empty(), "{text}");
    }
    assert_eq!(words::distinct_forms("two hives").0, words::distinct("two hives"));
}

#[test]
fn a_word_with_a_number_is_also_one_of_its_kind() {
    let [one, other] = ["cs101", "cs202"].map(features);
    assert_eq!((one.len(), other.len()), (2, 2));
    assert_ne!(one[0], other[0]);
    assert_eq!(one[1], other[1]);
    assert_eq!(features("1996").len(), 1, "a number alone has no kind");
}

#[test]
fn scripts_without_spaces_give_pairs() {
    assert_eq!(features("東京都").len(), 2);
    assert_eq!(features("東京")[0], features("東京都")[0]);
    assert!(features("x").is_empty(), "a letter is no word");
}

#[test]
fn a_page_that_is_recalled_speaks_for_its_links_by_how_relevant_it_was() {
    let mut focus = Focus::new(Topic::query("honey hive", &limits()), &limits());
    let of = |focus: &mut Focus, kind: &str, relevance, number: u32| {
        let page = url(&format!("http://h/{kind}/{number}"));
        let next = url(&format!("http://h/{kind}/{}", number + 1));
        focus.recall(&page, relevance, &[link(&next, "next")])[0]
    };
    let promises = (0..12)
        .map(|number| (of(&mut focus, "bees", 0.9, number), of(&mut focus, "tax", 0.0, number)));
    let (bees, tax) = promises.last().unwrap();
    assert!(bees > 2.0 * tax, "{bees} {tax}");
    // Without it, both lists would be as good as the pages of the crawl are on average.
    let mut focus = Focus::new(Topic::query("honey hive", &limits()), &limits());
    let list = |focus: &mut Focus, kind: &str| {
        let next = url(&format!("http://h/{kind}/1"));
        focus.list(&url(&format!("http://h/{kind}/0")), &[link(&next, "next")])[0]
    };
    assert_eq!(list(&mut focus, "bees"), list(&mut focus, "tax"));
}

#[test]
fn a_query_tells_pages_that_answer_it() {
    let mut focus = Focus::new(Topic::query("honey hive", &limits()), &limits());
    let (bees, taxes) = read_some(&mut focus, 20);
    assert!(bees > 0.6 && taxes < 0.2, "{bees} {taxes}");
}

#[test]
fn examples_tell_pages_that_are_like_them() {
    let mut topic = Topic::default();
    for text in ["A hive of bees makes honey.", "The beekeeper has bees in a hive.", BEES] {
        assert!(topic.like("", text, &limits()));
    }
    let mut focus = Focus::new(topic, &limits());
    let (bees, taxes) = read_some(&mut focus, 20);
    assert!(bees > 0.6 && taxes < 0.2, "{bees} {taxes}");
}

#[test]
fn what_is_not_wanted_counts_against_a_page() {
    let texts = ["bees and honey in summer", "bees and honey in the garden"];
    let relevance = |unwanted: &[&str]| {
        let mut topic = Topic::default();
        texts.iter().for_each(|text| assert!(topic.like("", text, &limits())));
        unwanted.iter().for_each(|text| assert!(topic.unlike("", text, &limits())));
        let mut focus = Focus::new(topic, &limits());
        read_some(&mut focus, 10);
        focus.read(&url("http://h/shop"), "", "honey for sale, honey in jars", &[]).relevance
    };
    assert!(relevance(&["honey for sale", "honey in jars for sale"]) < relevance(&[]));
}

#[test]
fn an_example_without_words_or_room_is_refused() {
    let mut topic = Topic::default();
    assert!(!topic.like("", " . ", &limits()));
    let one = Limits { focus_examples_max: 1, ..limits() };
    assert!(topic.like("", BEES, &one) && !topic.like("", TAXES, &one));
    assert!(Topic::query("?", &limits()).is_empty());
}

#[test]
fn a_link_with_the_words_of_the_query_promises_more() {
    let mut focus = Focus::new(Topic::query("honey", &limits()), &limits());
    let [page, good, other] = ["http://h/", "http://h/a", "http://h/b"].map(url);
    let links = [link(&good, "all about honey"), link(&other, "contact")];
    let reading = focus.read(&page, "", "A page of links", &links);
    assert!(reading.links[0] > reading.links[1] + 0.05, "{reading:?}");
    let beside = Link { url: &url("http://h/c"), text: "more", beside: ("read on honey", "") };
    let reading =
        focus.read(&url("http://h/2"), "", "x", &[beside, link(&url("http://h/d"), "more")]);
    assert!(reading.links[0] > reading.links[1], "the text beside it counts, too");
}

#[test]
fn a_link_that_names_many_of_what_is_looked_for_promises_more_than_one_that_names_one() {
    let mut focus = Focus::new(Topic::query("hive queen", &limits()), &limits());
    let [many, one] = ["http://h/a", "http://h/b"].map(url);
    let links = [link(&many, "Hives"), link(&one, "A hive")];
    let reading = focus.read(&url("http://h/"), "", "x", &links);
    assert!(reading.links[0] > reading.links[1] + 0.05, "{reading:?}");
}

#[test]
fn what_examples_speak_of_names_their_lists_although_the_crawl_speaks_of_it_too() {
    let mut topic = Topic::default();
    for name in ["Ann", "Bob", "Cid"] {
        let text = format!("{name} is a beekeeper with a hive and likes honey, chess and hiking");
        topic.like(name, &text, &limits());
    }
    let mut focus = Focus::new(topic, &limits());
    for number in 0..50 {
        let page = url(&format!("http://h/{number}"));
        let who = if number % 2 == 0 { "beekeeper" } else { "fisherman" };
        focus.read(&page, "News", &format!("Each {who} will pay a tax of {number}"), &[]);
    }
    let targets = ["http://h/a", "http://h/b"].map(url);
    let links = [link(&targets[0], "Beekeepers"), link(&targets[1], "Contact")];
    let reading = focus.read(&url("http://h/"), "", "x", &links);
    assert!(reading.links[0] > 1.5 * reading.links[1], "{reading:?}");
}

#[test]
fn neighbours_of_good_pages_promise_more_and_a_score_moves_with_what_is_found() {
    let mut focus = Focus::new(Topic::query("honey hive", &limits()), &limits());
    let [page, good, bad] = ["http://h/", "http://h/bees/x", "http://h/tax/x"].map(url);
    let at_first = focus.read(&page, "", "", &[link(&good, ""), link(&bad, "")]).links;
    assert!((at_first[0] - at_first[1]).abs() < 1e-6);
    read_some(&mut focus, 10);
    let [good, bad] = [&good, &bad].map(|url| focus.score(url.fingerprint()).unwrap());
    assert!(good > at_first[0] && good > bad + 0.2, "{good} {bad}");
}

#[test]
fn what_leads_to_nothing_is_learnt_too() {
    let mut focus = Focus::new(Topic::query("honey", &limits()), &limits());
    let page = url("http://h/");
    let dead: Vec<CrawlUrl> = (0..20).map(|n| url(&format!("http://h/old/{n}"))).collect();
    let links: Vec<Link<'_>> = dead.iter().map(|url| link(url, "archive")).collect();
    let before = focus.read(&page, "", BEES, &links).links[19];
    dead[..19].iter().for_each(|url| focus.lost(url));
    let after = focus.score(dead[19].fingerprint()).unwrap();
    assert!(after < before / 2.0, "{before} {after}");
}

#[test]
fn what_spoke_for_a_url_speaks_for_where_it_was_moved() {
    let mut focus = Focus::new(Topic::query("honey", &limits()), &limits());
    let [page, from, to] = ["http://h/", "http://h/from", "http://h/to"].map(url);
    focus.read(&page, "", "", &[link(&from, "honey")]);
    let promised = focus.score(from.fingerprint()).unwrap();
    let moved = focus.moved(&from, &to).unwrap();
    assert!((moved - promised).abs() < 0.1);
    assert_eq!(focus.score(from.fingerprint()), None);
    assert_eq!(focus.moved(&from, &to), None, "nothing is known of it any more");
}

#[test]
fn focus_1_what_waits_is_bounded_and_the_better_half_stays() {
    let small = Limits { focus_links_max: 100, ..limits() };
    let mut focus = Focus::new(Topic::query("honey", &small), &small);
    let good = url("http://h/good");
    focus.read(&url("http://h/"), "", "", &[link(&good, "honey")]);
    for number in 0..300 {
        let other = url(&format!("http://h/{number}"));
        focus.list(&url("http://h/sitemap.xml"), &[link(&other, "")]);
        assert!(focus.waiting() <= 100);
    }
    assert!(focus.score(good.fingerprint()).is_some(), "it promises most");
}

#[test]
fn a_link_on_a_page_whose_title_has_the_words_of_the_query_promises_more() {
    let mut focus = Focus::new(Topic::query("honey", &limits()), &limits());
    let [good, other] = ["http://h/a", "http://h/b"].map(url);
    let promise = |focus: &Focus, title, target| {
        let mut focus = focus.clone();
        focus.read(&url("http://h/list"), title, "", &[link(target, "x")]).links[0]
    };
    read_some(&mut focus, 3);
    let [titled, plain] =
        [("Honey", &good), ("Taxes", &other)].map(|(title, target)| promise(&focus, title, target));
    assert!(titled > plain, "{titled} {plain}");
}

#[test]
fn links_that_lead_to_no_page_do_not_move_the_weights_of_figures() {
    let mut focus = Focus::new(Topic::query("honey", &limits()), &limits());
    let target = url("http://h/gone");
    focus.read(&url("http://h/"), "", BEES, &[link(&target, "honey")]);
    let (fit, places) = (focus.predictor.fit.clone(), focus.places.used());
    focus.lost(&target);
    assert_eq!(focus.predictor.fit, fit);
    assert_ne!(focus.places.used(), places, "where it lay is remembered");
    assert_ne!(focus.predictor.used(), [], "and so are its words");
}

#[test]
fn focus_2_a_restored_state_goes_on_as_the_saved_one_would_have() {
    let mut topic = Topic::query("honey", &limits());
    assert!(topic.like("", BEES, &limits()) && topic.unlike("", TAXES, &limits()));
    let mut focus = Focus::new(topic, &limits());
    read_some(&mut focus, 13);
    let bytes = focus.to_bytes();
    let mut restored = Focus::from_bytes(&bytes, &limits()).unwrap();
    assert_eq!(restored.to_bytes(), bytes);
    assert_eq!(read_some(&mut restored, 30), read_some(&mut focus, 30));
    assert_eq!(restored.to_bytes(), focus.to_bytes());
}

#[test]
fn a_state_can_be_restored_with_other_limits() {
    let mut focus = Focus::new(Topic::query("honey", &limits()), &limits());
    read_some(&mut focus, 50);
    let small = Limits { focus_links_max: 1, focus_places_max: 1, ..limits() };
    let restored = Focus::from_bytes(&focus.to_bytes(), &small).unwrap();
    assert!(restored.waiting() <= 1);
}

#[test]
fn focus_3_damaged_bytes_are_an_error() {
    let focus = Focus::new(Topic::query("honey", &limits()), &limits());
    let bytes = focus.to_bytes();
    let read = |bytes: &[u8]| Focus::from_bytes(bytes, &limits()).map(|_| ());
    assert_eq!(read(&bytes), Ok(()));
    assert_eq!(read(b""), Err(StateError::NotOurs));
    for end in NAME_END..bytes.len() {
        assert_eq!(read(&bytes[..end]), Err(StateError::Damaged), "cut at {end}");
    }
    for at in NAME_END + 1..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        assert_eq!(read(&changed), Err(StateError::Damaged), "changed at {at}");
    }
    let mut newer = bytes;
    newer[NAME_END] = 9;
    assert_eq!(read(&newer), Err(StateError::Version(9)));
}

/// Bytes of the name that a state begins with.
const NAME_END: usize = 9;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn focus_3_bytes_with_a_right_sum_are_read_or_refused(body in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = [b"larmfocus\x03".as_slice(), &body].concat();
        bytes.extend(xxhash_rust::xxh3::xxh3_64(&bytes).to_le_bytes());
        if let Ok(mut focus) = Focus::from_bytes(&bytes, &limits()) {
            focus.read(&url("http://h/"), "", BEES, &[]);
        }
    }

    #[test]
    fn any_text_has_a_relevance_between_0_and_1(title in "\\PC{0,40}", text in "\\PC{0,400}", query in "\\PC{0,40}") {
        let mut topic = Topic::query(&query, &limits());
        topic.like(&title, &text, &limits());
        let mut focus = Focus::new(topic, &limits());
        let target = url("http://h/a");
        for _ in 0..3 {
            let found = Link { url: &target, text: &title, beside: (&text, &text) };
            let reading = focus.read(&url("http://h/"), &title, &text, &[found]);
            prop_assert!((0.0..=1.0).contains(&reading.relevance));
            prop_assert!((0.0..=1.0).contains(&reading.links[0]));
        }
    }
}
