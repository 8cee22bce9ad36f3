//! Gaps and waits, as tables.

use super::*;
use FailureClass::*;

fn failed(class: FailureClass) -> End {
    End::Failed { class, retry_after_ms: None }
}

/// Waits after failures of one class in a row, each asked again as soon as allowed.
fn waits(class: FailureClass, retry_after_ms: Option<u64>) -> (Vec<u64>, Vec<WaitRule>) {
    let (limits, pace) = (Limits::default(), Pace::default());
    let (mut host, mut waits, mut rules) = (HostPace::default(), Vec::new(), Vec::new());
    let mut now = Millis(1_000_000);
    let end = End::Failed { class, retry_after_ms };
    while host.end(end, now, &pace, &limits) == Health::Goes {
        waits.push(host.not_before.since(now) / 1_000);
        rules.push(host.rule);
        now = host.not_before;
    }
    (waits, rules)
}

#[test]
fn every_row_of_the_failure_table() {
    let nine = |waits: [u64; 3]| [&[1; 9][..], &waits].concat();
    let rows: [(FailureClass, Option<u64>, Vec<u64>); 17] = [
        (Dns, None, vec![2, 6, 18]),
        (Refused, None, vec![2, 6, 18]),
        (Unroutable, None, vec![5, 25, 125]),
        (ConnectTimeout, None, vec![30, 150, 750]),
        (Tls, None, vec![5, 15, 45]),
        (RobotsUnreachable, None, vec![15, 45, 135]),
        (FirstByteTimeout, None, nine([10, 30, 90])),
        (Reset, None, nine([5, 15, 45])),
        (Protocol, None, nine([5, 15, 45])),
        (BodyBroken, None, nine([5, 15, 45])),
        (ServerError, None, nine([5, 15, 45])),
        (TooManyRequests, None, [&[30, 90, 270][..], &[300; 9]].concat()),
        (Unavailable, None, [&[15, 45, 135][..], &[300; 9]].concat()),
        (Unavailable, Some(20_000), [&[20; 9][..], &[20, 45, 135]].concat()),
        (TooManyRequests, Some(u64::MAX), vec![24 * 3_600; 3]),
        (ForbiddenAddress, None, vec![]),
        (CrawlDelayTooLong, None, vec![]),
    ];
    for (class, retry_after_ms, expected) in rows {
        assert_eq!(waits(class, retry_after_ms).0, expected, "{class}, {retry_after_ms:?}");
    }
}

#[test]
fn failures_name_the_rule_that_makes_the_host_wait() {
    assert!(waits(Refused, None).1.iter().all(|&rule| rule == WaitRule::BackOff(Refused)));
    let (_, rules) = waits(ServerError, None);
    assert_eq!((rules[8], rules[9]), (WaitRule::Delay, WaitRule::Excluded(ServerError)));
    assert_eq!(waits(Unavailable, Some(5_000)).1[0], WaitRule::RetryAfter);
    assert_eq!(waits(Unavailable, None).1[0], WaitRule::BackOff(Unavailable));
}

#[test]
fn a_host_that_fails_for_too_long_is_given_up_at_the_next_failure() {
    let (limits, pace) = (Limits::default(), Pace::default());
    let mut host = HostPace::default();
    assert_eq!(host.end(failed(Reset), Millis(0), &pace, &limits), Health::Goes);
    let later = Millis(limits.host_chances_ms_max + 1);
    // The same page before and after a break is not the host's failure yet.
    assert_eq!(host.end(failed(Reset), later, &pace, &limits), Health::Goes);
    assert_eq!(host.end(failed(Reset), later, &pace, &limits), Health::Goes);
    assert_eq!(host.end(failed(Dns), later, &pace, &limits), Health::GivenUp(Dns));
}

#[test]
fn an_answer_restores_all_chances() {
    let (limits, pace) = (Limits::default(), Pace::default());
    let mut host = HostPace::default();
    for _ in 0..10 {
        for _ in 0..3 {
            assert_eq!(host.end(failed(Dns), Millis(0), &pace, &limits), Health::Goes);
        }
        host.end(End::Answered { response_ms: 5 }, Millis(0), &pace, &limits);
        assert_eq!((host.failures, host.chances, host.failing_since), (0, 0, None));
    }
}

#[test]
fn the_gap_is_the_longest_of_its_rules() {
    let rows = [
        // crawl's delay, host's, crawl-delay, response time → gap
        (1_000, None, None, 0, (1_000, WaitRule::Delay)),
        (1_000, Some(300), None, 0, (300, WaitRule::Delay)),
        (1_000, None, Some(10_000), 0, (10_000, WaitRule::CrawlDelay)),
        (1_000, None, Some(500), 0, (1_000, WaitRule::Delay)),
        (1_000, Some(0), Some(500), 9_000, (500, WaitRule::CrawlDelay)),
        (1_000, None, None, 600, (2_400, WaitRule::SlowResponses)),
        (1_000, None, Some(2_400), 600, (2_400, WaitRule::CrawlDelay)),
        (1_000, None, None, 90_000, (30_000, WaitRule::SlowResponses)),
        (1_000, None, Some(40_000), u64::MAX, (40_000, WaitRule::CrawlDelay)),
        (0, None, None, 600, (0, WaitRule::Delay)),
        (0, None, Some(2_000), 600, (2_000, WaitRule::CrawlDelay)),
    ];
    for (row, (delay_ms, own, crawl_delay_ms, response_ms, gap)) in rows.into_iter().enumerate() {
        let pace = Pace { delay_ms, ..Pace::default() };
        let host = HostPace { delay_ms: own, crawl_delay_ms, response_ms, ..HostPace::default() };
        assert_eq!(host.gap_ms(&pace), gap, "row {row}");
    }
}

#[test]
fn a_gap_shorter_than_that_of_the_address_does_not_set_the_time() {
    let rows = [
        (50, None, (250, WaitRule::AddressGap)),
        (250, None, (250, WaitRule::Delay)),
        (50, Some(300), (300, WaitRule::CrawlDelay)),
    ];
    for (delay_ms, crawl_delay_ms, spacing) in rows {
        let pace = Pace { delay_ms, address_gap_ms: 250, ..Pace::default() };
        let host = HostPace { crawl_delay_ms, ..HostPace::default() };
        assert_eq!(host.spacing_ms(&pace), spacing, "{delay_ms} ms");
    }
}

#[test]
fn one_slow_page_does_not_make_a_slow_host() {
    assert_eq!(smoothed(0, 800), 800);
    assert_eq!(smoothed(100, 500), 200);
    assert_eq!(smoothed(100, 100), 100);
    assert!(smoothed(u64::MAX, u64::MAX) > 0);
}

#[test]
fn after_a_restart_one_full_gap_passes_and_no_longer_wait_is_lost() {
    let pace = Pace { delay_ms: 0, ..Pace::default() };
    let mut host = HostPace::default();
    host.after_restart(Millis(5_000), &pace);
    assert_eq!(host.due(&pace), (Millis(5_250), WaitRule::AfterRestart));
    let asked = HostPace { not_before: Millis(9_000), rule: WaitRule::RetryAfter, ..host };
    let mut host = asked.clone();
    host.after_restart(Millis(6_000), &pace);
    assert_eq!(host.due(&pace), asked.due(&pace));
}

#[test]
fn a_pace_survives_being_written_down() {
    let mut host = HostPace { delay_ms: Some(7), ..HostPace::default() };
    host.end(failed(TooManyRequests), Millis(9), &Pace::default(), &Limits::default());
    let text = serde_json::to_string(&host).expect("plain data");
    assert_eq!(serde_json::from_str::<HostPace>(&text).expect("as written"), host);
    assert_eq!(serde_json::from_str::<HostPace>("{}").expect("all new"), HostPace::default());
}

#[test]
fn every_rule_is_told_in_plain_words() {
    let rows = [
        (WaitRule::Delay, "the delay between two requests"),
        (WaitRule::RetryAfter, "the server asked for a break (Retry-After)"),
        (WaitRule::BackOff(Dns), "time to recover after a failure (dns)"),
        (WaitRule::Excluded(Reset), "left alone after many failures (reset)"),
    ];
    for (rule, words) in rows {
        assert_eq!(rule.to_string(), words);
    }
}
