//! The pipeline as a whole, and what the tests of the single filters share.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::url::UrlRules;

/// A canonical URL, length aside.
pub(super) fn url(text: &str) -> CrawlUrl {
    let rules = UrlRules { bytes_max: usize::MAX, ..UrlRules::default() };
    crate::url::seed(text, &rules).unwrap()
}

/// An ordinary link, one hop from a seed. The URL is never freed, as tests are short.
pub(super) fn link(text: &str) -> Subject<'static> {
    let url = Box::leak(Box::new(url(text)));
    Subject { url, depth: 1, via: Via::Anchor, from: None, redirects: 0 }
}

pub(super) fn embed(text: &str) -> Subject<'static> {
    Subject { via: Via::Embed, ..link(text) }
}

pub(super) fn seed(text: &str) -> Subject<'static> {
    Subject { via: Via::Seed, depth: 0, ..link(text) }
}

#[track_caller]
pub(super) fn assert_passes(filter: &dyn Filter, subject: Subject<'_>) {
    assert_eq!(filter.judge(&subject), Verdict::Pass, "{}", subject.url);
}

/// The reason, as a person reads it, contains the text; a filter speaks in its own name.
#[track_caller]
pub(super) fn assert_rejects(filter: &dyn Filter, subject: Subject<'_>, text: &str) {
    match filter.judge(&subject) {
        Verdict::Pass => panic!("{} passes, not {text}", subject.url),
        Verdict::Reject(reason) => {
            assert!(reason.to_string().contains(text), "{}: {reason}, not {text}", subject.url);
            assert_eq!(reason.filter, filter.name());
        }
    }
}

/// The name of the filter that rejects, or nothing.
fn rejected_by(filters: &Filters, subject: Subject<'_>) -> String {
    match filters.judge(&subject) {
        Verdict::Pass => String::new(),
        Verdict::Reject(reason) => reason.filter.into_owned(),
    }
}

fn input(seeds: &[CrawlUrl]) -> ScopeInput<'_> {
    ScopeInput {
        seeds,
        depth_max: Some(3),
        exclude: vec!["/private/".to_owned()],
        accept: vec!["text/html".to_owned()],
        blocked_hosts: vec!["blocked.h.example".to_owned()],
        mode: ScopeMode::Subdomains,
        ..ScopeInput::default()
    }
}

#[test]
fn the_first_objection_decides() {
    let seeds = [url("http://h.example/")];
    let filters = Filters::build(&default_specs(), &input(&seeds)).unwrap();
    let rows = [
        ("http://h.example/page", ""),
        ("https://www.h.example:8443/page", ""),
        ("http://blocked.h.example/private/", "blocklist"),
        ("http://other.example/private/", "scope"),
        ("http://h.example/private/a.jpg", "exclude"),
        ("http://h.example/a/b/a/b/a/b", "traps"),
        ("http://h.example/logout", "known-paths"),
        ("http://h.example/a.jpg", "types"),
    ];
    for (text, filter) in rows {
        assert_eq!(rejected_by(&filters, link(text)), filter, "{text}");
    }
    let page = link("http://h.example/page");
    assert_eq!(rejected_by(&filters, Subject { depth: 4, ..page }), "depth");
    assert_eq!(rejected_by(&filters, Subject { redirects: 6, ..page }), "redirects");
    assert_eq!(rejected_by(&filters, Subject { via: Via::Embed, ..page }), "assets");
    let long = format!("http://h.example/{}", "a".repeat(3_000));
    assert_eq!(rejected_by(&filters, link(&long)), "length");
}

#[test]
fn every_filter_has_its_name_from_the_configuration() {
    let filters = Filters::build(&default_specs(), &ScopeInput::default()).unwrap();
    let written = default_specs().into_iter().map(|spec| serde_json::to_value(spec).unwrap());
    let written: Vec<String> =
        written.map(|spec| spec["filter"].as_str().unwrap().to_owned()).collect();
    // The first one cannot be written down, and so not be left out.
    assert_eq!(filters.names().next(), Some("files"));
    assert_eq!(filters.names().skip(1).collect::<Vec<_>>(), written);
    assert_eq!(written.len(), 13);
}

#[test]
fn specs_are_read_as_they_are_written() {
    for spec in default_specs() {
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<FilterSpec>(&text).unwrap(), spec, "{text}");
    }
    let rows = [
        (r#"{"filter":"known-paths"}"#, default_specs()[11].clone()),
        (r#"{"filter":"traps"}"#, default_specs()[10].clone()),
        (
            r#"{"filter":"known-paths","lists":["actions"],"extra":["x"]}"#,
            FilterSpec::KnownPaths { lists: vec![KnownList::Actions], extra: vec!["x".to_owned()] },
        ),
    ];
    for (text, spec) in rows {
        assert_eq!(serde_json::from_str::<FilterSpec>(text).unwrap(), spec, "{text}");
    }
}

#[test]
fn a_mistyped_filter_key_or_list_is_an_error() {
    let texts = [
        r#"{"filter":"dept"}"#,
        r#"{"filter":"depth","max":3}"#,
        r#"{"filter":"include","pattern":["x"]}"#,
        r#"{"filter":"known-paths","lists":["action"]}"#,
    ];
    for text in texts {
        assert!(serde_json::from_str::<FilterSpec>(text).is_err(), "{text}");
    }
}

#[test]
fn a_bad_pattern_is_named_when_the_filters_are_built() {
    let input = ScopeInput { include: vec!["[a-".to_owned()], ..ScopeInput::default() };
    let error = Filters::build(&default_specs(), &input).unwrap_err();
    assert!(error.to_string().starts_with("cannot use the pattern `[a-`: "), "{error}");
}

#[test]
fn a_filter_of_ones_own_can_be_added() {
    struct OnlyEven;
    impl Filter for OnlyEven {
        fn name(&self) -> &str {
            "only-even"
        }
        fn judge(&self, subject: &Subject<'_>) -> Verdict {
            match subject.url.path().len() % 2 {
                0 => Verdict::Pass,
                _ => Verdict::reject("only-even", "odd path".to_owned()),
            }
        }
    }
    let mut filters = Filters::from(Vec::new());
    filters.push(Box::new(OnlyEven));
    assert_eq!(rejected_by(&filters, link("http://h/a")), "");
    assert_eq!(rejected_by(&filters, link("http://h/ab")), "only-even");
}

/// Built once: compiling the patterns takes longer than a thousand verdicts.
static PREFIX_FILTERS: LazyLock<Filters> = LazyLock::new(|| {
    let seeds = [url("http://h.example/a/")];
    let input = ScopeInput { mode: ScopeMode::Prefix, ..input(&seeds) };
    Filters::build(&default_specs(), &input).unwrap()
});

proptest! {
    #[test]
    fn any_url_gets_a_verdict_and_a_reason_in_words(
        path in "(/[a-z0-9.~%:();=-]{0,9}|/\\PC{0,5}){0,12}",
        query in "([a-z]{0,5}=?[a-z0-9-]{0,8}&?){0,9}",
        via in proptest::sample::select(&Via::ALL[..]),
    ) {
        let filters = &*PREFIX_FILTERS;
        let subject = Subject { via, ..link(&format!("http://h.example/{path}?{query}")) };
        let verdict = filters.judge(&subject);
        prop_assert_eq!(&verdict, &filters.judge(&subject));
        if let Verdict::Reject(reason) = verdict {
            prop_assert!(!reason.detail.is_empty());
            prop_assert!(filters.names().any(|name| name == reason.filter));
        }
    }
}
