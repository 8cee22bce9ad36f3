use std::path::Path;

use clap::Parser;
use larm_core::scope::ScopeMode;

use super::value::{Rate, Size, Time};
use super::*;
use crate::cli::{Cli, Command};
use crate::exit::{self, Exit};

fn flags(text: &str) -> Settings {
    let words = ["larm", "crawl"].into_iter().chain(text.split_whitespace());
    match Cli::try_parse_from(words).unwrap_or_else(|error| panic!("{text}: {error}")).command {
        Command::Crawl(args) => args.settings,
        other => panic!("{other:?}"),
    }
}

fn config(text: &str) -> Config {
    Config::new(flags(text), Settings::default()).unwrap()
}

fn refusal(config: &Config) -> String {
    let error = consent::check(config).expect_err("must be refused");
    assert_eq!(exit::of(&error), Exit::Usage);
    error.to_string()
}

fn toml_error(text: &str) -> String {
    let error = file::parse(text).expect_err(text);
    assert_eq!(exit::of(&error), Exit::Usage);
    error.to_string()
}

#[test]
fn flags_go_over_the_file_and_lists_replace_each_other() {
    let file = file::parse(
        "depth = 3\nscope = 'domain'\nexclude = ['a', 'b']\nassets = true\nmax-size = '1GB'\n\
         [limits]\nredirects_max = 3\nurl_bytes_max = 1000",
    );
    let flags = flags("example.com --depth 5 --exclude c --assets=false --limit redirects_max=4");
    let config = Config::new(flags, file.unwrap()).unwrap();
    let settings = &config.settings;
    assert_eq!(settings.depth, Some(5));
    assert_eq!(settings.scope, Some(ScopeMode::Domain));
    assert_eq!(settings.exclude, ["c"]);
    assert_eq!(settings.assets, Some(false));
    assert_eq!(settings.max_size, Some(Size(1_000_000_000)));
    let plan = plan::build(&config, "x".into()).unwrap();
    assert_eq!(plan.limits.redirects_max, 4);
    assert_eq!(plan.limits.url_bytes_max, 1_000);
    assert_eq!(plan.url_rules.bytes_max, 1_000);
}

#[test]
fn a_pattern_that_is_written_twice_is_kept_once() {
    let file = file::parse("exclude = ['b', 'a', 'b']").unwrap();
    let config = Config::new(flags("example.com --include c --include c"), file).unwrap();
    assert_eq!(config.settings.exclude, ["b", "a"]);
    assert_eq!(config.settings.include, ["c"]);
}

#[test]
fn restrict_to_is_the_only_include() {
    let file = file::parse("include = ['a']").unwrap();
    let config = Config::new(flags("example.com --restrict-to b"), file).unwrap();
    assert_eq!(config.settings.include, ["b"]);
    assert_eq!(config.settings.restrict_to, None);
    let file = file::parse("restrict-to = 'a'").unwrap();
    let config = Config::new(flags("example.com --include b --include c"), file).unwrap();
    assert_eq!(config.settings.include, ["b", "c"]);
}

#[test]
fn a_plan_says_what_the_flags_mean() {
    let config = config(
        "example.com other.example --delay 2s --rate 5/s --concurrency 9 --max-pages 10 --per-host 4 \
         --max-time 1h --accept text/html,audio/* --contact bot@example.com --warc none --no-links --no-pages=false \
         --resolve a.example:80:127.0.0.1 --allow-private 10.0.0.0/8 --ignore-robots \
         --max-page-size 50MB --header X-A:1",
    );
    let plan = plan::build(&config, "x".into()).unwrap();
    assert_eq!((plan.pace.delay_ms, plan.pace.rate), (2_000, Some(5)));
    assert_eq!(plan.concurrency, Some(9));
    assert_eq!((plan.budgets.pages_max, plan.budgets.host_pages_max), (Some(10), Some(4)));
    assert_eq!(plan.time_ms_max, Some(3_600_000));
    assert_eq!(plan.selection.accept, ["text/html", "audio/*"]);
    assert_eq!(plan.fetch.user_agent, format!("{} (+bot@example.com)", plan::PRODUCT));
    assert_eq!(plan.agent, "larm");
    assert_eq!(plan.fetch.headers, [("X-A".to_owned(), "1".to_owned())]);
    assert!(!plan.keep.warc && !plan.keep.links && plan.keep.pages && !plan.obey_robots);
    assert_eq!(plan.limits.body_bytes_max, 50_000_000);
    assert_eq!(plan.limits.validate(), Ok(()));
    assert_eq!(plan.seeds.len(), 2);
}

#[test]
fn the_agent_is_name_and_version_unless_told_otherwise() {
    assert_eq!(plan::user_agent(&Settings::default()).unwrap(), plan::PRODUCT);
    let own = Settings { user_agent: Some("mybot/2 (+x)".to_owned()), ..Settings::default() };
    assert_eq!(plan::user_agent(&own).unwrap(), "mybot/2 (+x)");
    for contact in ["me", "", "a@", "x@y\nEvil: 1", "https://x/ (y)"] {
        let settings = Settings { contact: Some(contact.to_owned()), ..Settings::default() };
        assert!(plan::user_agent(&settings).is_err(), "{contact:?}");
    }
}

#[test]
fn delay_zero_drops_every_gap() {
    let plan = plan::build(&config("localhost --delay 0"), "x".into()).unwrap();
    let pace = plan.pace;
    assert_eq!((pace.delay_ms, pace.address_gap_ms, pace.response_factor), (0, 0, 0));
}

#[test]
fn values_that_make_no_sense_name_the_flag_and_what_would_be_right() {
    let rows = [
        ("x.example --accept html", "--accept `html`"),
        ("x.example --resolve x:y", "--resolve: `x:y`"),
        ("x.example --allow-private ten", "--allow-private: `ten`"),
        ("x.example --header nocolon", "--header, number 1,"),
        ("x.example --per-host 0", "--per-host 0"),
        ("x.example --concurrency 999999", "--limit fetches_max=999999"),
        ("x.example --threads 0", "one per core"),
        ("x.example --contact me", "--contact `me`"),
    ];
    for (text, expected) in rows {
        let error = plan::build(&config(text), "x".into()).expect_err(text);
        assert_eq!(exit::of(&error), Exit::Usage, "{text}");
        assert!(error.to_string().contains(expected), "{error}");
    }
    let bad_limits = [
        ("redirects_max=0", "cannot be 0"),
        ("redirect_max=3", "`redirects_max`"),
        ("redirects_max", "NAME=NUMBER"),
        ("redirects_max=x", "`x`"),
    ];
    for (limit, expected) in bad_limits {
        let error = Config::new(flags(&format!("x.example --limit {limit}")), Settings::default());
        let error = error.expect_err(limit).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn toml_errors_name_the_line_and_what_was_meant() {
    let rows = [
        ("depth = 1\ndealy = '1s'", "line 2: there is no key `dealy`; did you mean `delay`?"),
        ("colour = 'red'", "line 1: there is no key `colour`; docs/config.md"),
        ("\n\ndelay = 'soon'", "line 3: `soon` is not a time"),
        ("scope = 'galaxy'", "line 1: "),
        ("depth = 'deep'", "line 1: "),
        ("depth = ", "line 1: "),
        (
            "[limits]\nredirect_max = 1",
            "line 2: there is no limit named `redirect_max`; did you mean",
        ),
        ("[host.'a']\ndeley = '1s'", "line 2: there is no key `deley`; did you mean `delay`?"),
    ];
    for (text, expected) in rows {
        let error = toml_error(text);
        assert!(error.starts_with(expected), "{error}");
    }
    assert!(toml_error("[[filters]]\nfilter = 'nope'").contains("nope"));
}

#[test]
fn numbers_may_stand_bare_in_the_file() {
    let settings = file::parse("delay = 2\nrate = 3\nmax-size = 1000\nconcurrency = 4").unwrap();
    assert_eq!(settings.delay, Some(Time(2_000)));
    assert_eq!(settings.rate, Some(Rate(Some(3))));
    assert_eq!(settings.max_size, Some(Size(1_000)));
}

#[test]
fn what_a_dry_run_prints_can_be_fed_back() {
    let config = config(
        "example.com http://b.example/x?utm_id=1 --sitemap c.example/s.xml --depth 3 --delay 1500ms \
         --exclude a.b --header Accept-Language:fi --limit redirects_max=3 --resolve a:80:127.0.0.1 --insecure",
    );
    let text = save::to_toml(&config).unwrap();
    let again = Config::new(Settings::default(), file::parse(&text).unwrap()).unwrap();
    assert_eq!(again.written(), config.written(), "{text}");
    assert_eq!(save::to_toml(&again).unwrap(), text);
    assert!(save::differences(&config, &again).unwrap().is_empty());
}

#[test]
fn saved_settings_come_back_and_many_seeds_have_their_own_file() {
    let temp = tempfile::tempdir().unwrap();
    let mut config = config("example.com --depth 3 -o elsewhere");
    save::write(&config, temp.path()).unwrap();
    let back = save::read(temp.path()).unwrap().unwrap();
    assert_eq!(back.seeds.pages, config.seeds.pages);
    assert_eq!(back.settings.output, None);
    assert!(save::differences(&back, &config).unwrap().is_empty());

    let many = (0..1_500).map(|n| format!("http://h{n}.example/"));
    let many: Vec<String> = many.collect();
    config =
        Config::new(Settings { seeds: many, ..Settings::default() }, Settings::default()).unwrap();
    save::write(&config, temp.path()).unwrap();
    assert!(temp.path().join("seeds.txt").is_file());
    let back = save::read(temp.path()).unwrap().unwrap();
    assert_eq!(back.seeds.pages, config.seeds.pages);
    assert!(save::read(Path::new("/nonexistent")).unwrap().is_none());
}

#[test]
fn changes_are_told_and_those_of_identity_refused() {
    let old = config("example.com --depth 3 --limit redirects_max=3");
    let new = config("other.example --depth 4 --max-pages 9");
    let changes = save::differences(&old, &new).unwrap();
    let keys: Vec<&str> = changes.iter().map(|change| change.key.as_str()).collect();
    assert_eq!(keys, ["depth", "limits.redirects_max", "max-pages"]);
    assert_eq!(changes[0].old.as_deref(), Some("3"));
    assert!(save::refuse_new_identity(&changes, Path::new("d")).is_ok());

    for flag in ["--drop-params sid", "--sort-query"] {
        let new = config(&format!("example.com --depth 3 --limit redirects_max=3 {flag}"));
        let changes = save::differences(&old, &new).unwrap();
        let error = save::refuse_new_identity(&changes, Path::new("d")).unwrap_err();
        assert!(error.to_string().contains("cannot be changed"), "{error}");
    }
}

#[test]
fn crawls_that_are_nobodys_or_rude_are_refused() {
    assert!(refusal(&config("example.com --scope any")).contains("--contact"));
    assert!(refusal(&config("example.com --ignore-robots")).contains("--i-own-this-site"));
    assert!(refusal(&config("example.com --delay 0")).contains("--i-own-this-site"));
    assert!(refusal(&config("localhost example.com --delay 0")).contains("--i-own-this-site"));
    let many: Vec<String> = (0..101).map(|n| format!("h{n}.example")).collect();
    assert!(refusal(&config(&many.join(" "))).contains("101 hosts"));
    let host = file::parse("seeds = ['example.com']\n[host.'example.com']\ndelay = 0").unwrap();
    let host = Config::new(Settings::default(), host).unwrap();
    assert!(refusal(&host).contains("example.com"));

    let fine = [
        "example.com",
        "example.com --scope any --contact https://example.com/bot",
        "example.com --ignore-robots --delay 0 --i-own-this-site",
        "localhost:8080 127.0.0.1 [::1]:80 10.1.2.3 --scope any --delay 0 --ignore-robots",
        "http://a.test:81/ --resolve a.test:81:127.0.0.1 --delay 0 --scope any",
    ];
    for text in fine {
        assert!(consent::check(&config(text)).is_ok(), "{text}");
    }
    let other_port = "http://a.test:82/ --resolve a.test:81:127.0.0.1 --delay 0";
    assert!(consent::check(&config(other_port)).is_err());
}

#[test]
fn the_directory_is_named_after_the_first_host() {
    let rows = [
        ("https://www.example.com/a b.example", "www.example.com.larm"),
        ("http://[::1]:8080/", "ipv6--1.larm"),
        ("--sitemap c.example/s.xml", "c.example.larm"),
        ("a.example -o elsewhere", "elsewhere"),
    ];
    for (text, expected) in rows {
        assert_eq!(config(text).directory().unwrap(), Path::new(expected), "{text}");
    }
    assert_eq!(config("").directory(), None);
}

#[test]
fn an_error_in_a_file_repeats_no_secret() {
    #[rustfmt::skip]
    let rows = [
        "bearer = 5353535353",
        "bearr = \"5353535353\"",
        "basic-auth = [\"me:5353535353\"]",
        "header = [\n  5353535353,\n]",
        "header = \"X-Key: 5353535353\"",
        "proxy = 5353535353",
        "bearer = \"5353535353",
        "[host.\"h\"]\nbearer = 5353535353",
        "[[login]]\nurl = \"https://h/\"\nfields = { password = 5353535353 }",
        "[[login]]\nurl = \"https://h/\"\n[login.fields]\ndelay = 5353535353",
    ];
    for text in rows {
        let error = format!("{:#}", file::parse(text).unwrap_err());
        assert!(error.contains("line ") && !error.contains("53535"), "{text}: {error}");
    }
    let error = format!("{:#}", file::parse("delay = \"soon\"").unwrap_err());
    assert!(error.contains("delay = \"soon\""), "{error}");
}

#[test]
fn a_header_that_cannot_be_read_is_not_repeated() {
    let settings = Settings {
        seeds: vec!["example.com".to_owned()],
        header: vec!["Accept: */*".to_owned(), "sesame".to_owned()],
        ..Settings::default()
    };
    let config = Config::new(settings, Settings::default()).unwrap();
    let error = plan::build(&config, "d".into()).unwrap_err().to_string();
    assert!(error.contains("number 2") && !error.contains("sesame"), "{error}");
}
