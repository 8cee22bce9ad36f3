//! Guesses, evidence and rules about names of the same pages.

use super::*;

const APEX: &str = "http://example.com";
const WWW: &str = "http://www.example.com";
const COPY: &str = "http://copy.test";

fn url(text: &str) -> CrawlUrl {
    CrawlUrl::from_canonical(text).unwrap()
}

fn content(number: u64) -> Content {
    let digest = Some(BodyDigest::of(&number.to_le_bytes()));
    Content { digest, simhash: Some(Simhash(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))) }
}

fn mirror(one: &str, other: &str) -> Alias {
    Alias::suggested_by(&url(&format!("{one}/a")), &url(&format!("{other}/a"))).unwrap()
}

fn sighting(alias: &Alias, says: Says) -> Sighting {
    let pair = [Fingerprint(0), Fingerprint(0)];
    Sighting { alias: alias.clone(), says, first: APEX.into(), pair }
}

/// So many pages with contents of their own that are alike.
fn alike(alias: &Alias, pages: u64) -> Aliases {
    let mut aliases = Aliases::default();
    (0..pages).for_each(|page| aliases.note(&sighting(alias, Says::Alike(page))));
    aliases
}

fn conclude(aliases: &Aliases, alias: &Alias) -> Option<Ruling> {
    aliases.conclude(&sighting(alias, Says::Nothing), |_| false)
}

fn rules(alias: &Alias, pages: u64) -> Rules {
    let mut aliases = alike(alias, pages);
    let ruling = conclude(&aliases, alias).expect("that is enough");
    aliases.rule(alias, ruling);
    aliases.rules().clone()
}

#[test]
fn the_same_page_at_the_same_path_suggests_a_mirror() {
    let suggests = |one: &str, other: &str| Alias::suggested_by(&url(one), &url(other));
    let guess = Some(Alias::Mirror(APEX.into(), WWW.into()));
    assert_eq!(suggests("http://example.com/a?b=1", "http://www.example.com/a?b=1"), guess);
    assert_eq!(suggests("http://www.example.com/", "http://example.com/"), guess, "either way");
    assert_eq!(suggests("http://example.com/a", "http://www.example.com/b"), None);
    assert_eq!(suggests("http://example.com/a", "http://example.com/b"), None);
}

#[test]
fn the_same_page_as_directory_and_as_file_suggests_an_index() {
    let suggests = |one: &str, other: &str| Alias::suggested_by(&url(one), &url(other));
    let guess = Some(Alias::Index(APEX.into(), "index.php".into()));
    assert_eq!(suggests("http://example.com/d/", "http://example.com/d/index.php"), guess);
    assert_eq!(suggests("http://example.com/index.php?a=1", "http://example.com/?a=1"), guess);
    assert_eq!(suggests("http://example.com/index.php?a=1", "http://example.com/"), None);
    assert_eq!(suggests("http://example.com/e/", "http://example.com/d/index.php"), None);
    assert_eq!(suggests("http://example.com/d/", "http://example.com/d/story.html"), None);
}

#[test]
fn a_twin_is_where_the_guess_says() {
    let twin = |alias: &Alias, text: &str| alias.twin_of(&url(text)).map(|twin| twin.to_string());
    let guess = mirror(WWW, APEX);
    assert_eq!(
        twin(&guess, "http://example.com/a?b").as_deref(),
        Some("http://www.example.com/a?b")
    );
    assert_eq!(twin(&guess, "http://www.example.com/").as_deref(), Some("http://example.com/"));
    assert_eq!(twin(&guess, "https://example.com/a"), None);
    let guess = Alias::Index(APEX.into(), "index.htm".into());
    assert_eq!(
        twin(&guess, "http://example.com/d/?x").as_deref(),
        Some("http://example.com/d/index.htm?x")
    );
    assert_eq!(
        twin(&guess, "http://example.com/d/index.htm").as_deref(),
        Some("http://example.com/d/")
    );
    assert_eq!(twin(&guess, "http://example.com/d/page.htm"), None);
}

#[test]
fn names_of_one_site_need_less_evidence_than_strangers() {
    assert_eq!(conclude(&alike(&mirror(APEX, WWW), 3), &mirror(APEX, WWW)), None);
    assert!(conclude(&alike(&mirror(APEX, WWW), 4), &mirror(APEX, WWW)).is_some());
    assert_eq!(conclude(&alike(&mirror(APEX, COPY), 7), &mirror(APEX, COPY)), None);
    assert!(conclude(&alike(&mirror(APEX, COPY), 8), &mirror(APEX, COPY)).is_some());
}

#[test]
fn one_content_under_many_paths_is_evidence_once() {
    let alias = mirror(APEX, WWW);
    let mut aliases = Aliases::default();
    (0..100).for_each(|_| aliases.note(&sighting(&alias, Says::Alike(7))));
    assert_eq!(conclude(&aliases, &alias), None);
}

#[test]
fn a_page_that_differs_outweighs_many_that_are_alike() {
    let alias = mirror(APEX, WWW);
    let mut aliases = alike(&alias, 15);
    aliases.note(&sighting(&alias, Says::Differs));
    assert_eq!(conclude(&aliases, &alias), None);
    aliases.note(&sighting(&alias, Says::Alike(100)));
    assert!(conclude(&aliases, &alias).is_some());
}

#[test]
fn a_case_that_was_refuted_stays_so() {
    let alias = mirror(APEX, WWW);
    let mut aliases = alike(&alias, 3);
    (0..3).for_each(|_| aliases.note(&sighting(&alias, Says::Differs)));
    assert!(aliases.twins(&url("http://example.com/x")).is_empty(), "nobody looks any more");
    assert_eq!(conclude(&aliases, &alias), None);
}

#[test]
fn what_was_asked_for_must_be_answered_first() {
    let alias = mirror(APEX, WWW);
    let mut aliases = alike(&alias, 4);
    let [page, twin, other] = [1, 2, 3].map(Fingerprint);
    aliases.note(&Sighting { pair: [page, twin], ..sighting(&alias, Says::Asks) });
    let case = aliases.case(&alias).unwrap();
    assert!(case.waits_for([twin, page]) && !case.waits_for([other, other]));
    assert_eq!(conclude(&aliases, &alias), None);
    aliases.note(&Sighting { pair: [twin, page], ..sighting(&alias, Says::Nothing) });
    assert!(conclude(&aliases, &alias).is_some());
}

#[test]
fn only_so_many_twins_are_asked_for() {
    let alias = mirror(APEX, WWW);
    assert!(!alike(&alias, 1).case(&alias).unwrap().may_ask(&alias), "one page is no reason");
    let mut aliases = alike(&alias, 2);
    let mut asked = 0;
    while aliases.case(&alias).unwrap().may_ask(&alias) {
        aliases.note(&sighting(&alias, Says::Asks));
        asked += 1;
        assert!(asked < 100, "there is an end to it");
    }
}

#[test]
fn who_was_there_first_stays_unless_the_other_is_a_seed() {
    let alias = mirror(APEX, WWW);
    let aliases = alike(&alias, 4);
    let of = |is_seed: &dyn Fn(&str) -> bool| match aliases
        .conclude(&sighting(&alias, Says::Nothing), is_seed)
    {
        Some(Ruling::Mirror { of, .. }) => of.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(of(&|_| false), APEX);
    assert_eq!(of(&|_| true), APEX);
    assert_eq!(of(&|origin| origin == WWW), WWW);
}

#[test]
fn urls_of_a_mirror_are_asked_elsewhere() {
    let rules = rules(&mirror(APEX, WWW), 4);
    let instead = rules.instead_of(&url("http://www.example.com/a?b=1")).unwrap();
    assert_eq!((instead.url.as_str(), instead.rule), ("http://example.com/a?b=1", "mirror"));
    assert!(instead.why.contains("4 pages are the same"), "{}", instead.why);
    assert_eq!(rules.instead_of(&url("http://example.com/a")), None);
    assert_eq!(rules.instead_of(&url("https://www.example.com/a")), None);
    assert_eq!(rules.names_of(&instead.url), [url("http://www.example.com/a?b=1")]);
    assert_eq!(rules.names_of(&url("http://www.example.com/a")), []);
    assert_eq!(rules.host_mirror_of("www.example.com").as_deref(), Some("example.com"));
    assert_eq!(rules.host_mirror_of("example.com"), None);
}

#[test]
fn index_files_are_their_directories_where_that_was_shown() {
    let rules = rules(&Alias::Index(APEX.into(), "index.php".into()), 3);
    let instead = |text: &str| rules.instead_of(&url(text)).map(|instead| instead.url.to_string());
    assert_eq!(
        instead("http://example.com/index.php?id=1").as_deref(),
        Some("http://example.com/?id=1")
    );
    assert_eq!(instead("http://example.com/index.html"), None);
    assert_eq!(instead("http://www.example.com/index.php"), None);
}

#[test]
fn index_files_must_be_alike_to_the_byte_and_always() {
    let alias = Alias::Index(APEX.into(), "index.php".into());
    let mut aliases = alike(&alias, 50);
    aliases.note(&sighting(&alias, Says::Differs));
    assert_eq!(conclude(&aliases, &alias), None);
    let other_body = Content { digest: content(2).digest, ..content(1) };
    assert_eq!(content(1).is_like(&other_body, &alias), Some(false));
}

#[test]
fn contents_are_alike_by_body_or_by_words() {
    let alias = mirror(APEX, WWW);
    let one = content(1);
    let like = |other: Content| one.is_like(&other, &alias);
    assert_eq!(like(Content { simhash: None, ..one }), Some(true));
    assert_eq!(
        like(Content { simhash: one.simhash.map(|s| Simhash(s.0 ^ 5)), ..content(2) }),
        Some(true)
    );
    assert_eq!(
        like(Content { simhash: one.simhash.map(|s| Simhash(s.0 ^ 0xff)), ..content(2) }),
        None
    );
    assert_eq!(
        like(Content { simhash: one.simhash.map(|s| Simhash(!s.0)), ..content(2) }),
        Some(false)
    );
    assert_eq!(like(Content { simhash: None, ..content(2) }), None);
}

#[test]
fn a_mirror_of_a_mirror_is_one_of_the_original_and_nobody_mirrors_itself() {
    let (first, second) = (mirror(APEX, WWW), mirror(WWW, COPY));
    let mut aliases = alike(&first, 8);
    (0..8).for_each(|page| {
        aliases.note(&Sighting { first: WWW.into(), ..sighting(&second, Says::Alike(page)) });
    });
    for alias in [&second, &first] {
        let ruling = conclude(&aliases, alias).expect("that is enough");
        aliases.rule(alias, ruling);
    }
    assert_eq!(aliases.rules().mirror_of(COPY), Some(APEX));
    assert_eq!(aliases.rules().mirror_of(WWW), Some(APEX));
    let third = mirror(APEX, COPY);
    (0..8).for_each(|page| {
        aliases.note(&Sighting { first: COPY.into(), ..sighting(&third, Says::Alike(page)) });
    });
    assert_eq!(conclude(&aliases, &third), None, "that is known already");
}
