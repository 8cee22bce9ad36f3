//! Any bytes may be said of the use of a page, and any answer may be a wall.
#![no_main]

use larm_core::Limits;
use larm_core::signals::{Reader, Signals, TdmRep, Use};
use larm_core::wall::{Sight, recognise};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&[u8], &str, u16)| {
    let (bytes, text, status) = input;
    let limits = Limits::default();
    let reader = Reader { agent: "larm", content_type: "image/png", limits: &limits };
    let mut signals = Signals::default();
    for name in ["content-usage", "content-signal", "tdm-reservation", "x-robots-tag"] {
        signals.read_field(name, bytes, &reader);
        signals.read_meta(name, text, &reader);
    }
    if let Some(rule) = TdmRep::parse(bytes, &limits).rule_for(text) {
        signals.read_rule(rule, &limits);
    }
    let reserved = signals.reserved(Use::ALL.into_iter().collect());
    assert!(reserved.is_none_or(|(of, _)| signals.preference(of).is_some()));
    assert!(signals.into_facts().count() as u64 <= limits.signals_max + 1);
    recognise(&Sight { status, header: &|_| Some(text), body: bytes }, &limits);
});
