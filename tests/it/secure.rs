//! TLS that fails, in every way: refused, with a reason that names it, and without harm to other hosts.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use larm_core::scope::ScopeMode;
use larm_core::workbench::Pace;
use larm_crawl::Plan;
use larm_crawl::store::summary::State;
use larm_testsite::secure::{SecureSite, Tls, Trouble};
use tempfile::TempDir;

use crate::kept::{Kept, story};
use crate::world::{assert_none, crawl, patient_plan, url};

/// What is wrong, what becomes of the host's start page, and words of the reason or of the notes.
type Row = (Tls, &'static str, &'static str);

const ROWS: &[Row] = &[
    (Tls::Fine, "fetched", ""),
    (Tls::Expired, "host-unreachable", "tls: the host was given up"),
    (Tls::Expired, "host-unreachable", "the certificate has expired"),
    (Tls::NotYetValid, "host-unreachable", "the certificate is not valid yet"),
    (Tls::WrongName, "host-unreachable", "the certificate is for another name"),
    (Tls::SelfSigned, "host-unreachable", "signed by an authority that is not trusted here"),
    (Tls::UnknownAuthority, "host-unreachable", "signed by an authority that is not trusted here"),
    (Tls::Garbage, "host-unreachable", "what came is no TLS"),
    (Tls::PlainHttp, "host-unreachable", "what came is no TLS"),
    (Tls::Closes, "host-unreachable", "connection closed during the TLS handshake"),
    (Tls::Resets, "host-unreachable", "connection closed during the TLS handshake"),
    (Tls::Silent, "host-unreachable", "connect-timeout: the host was given up"),
    (Tls::Silent, "host-unreachable", "no connection within 3000 ms"),
    (Tls::OldVersion, "host-unreachable", "the server speaks no version of TLS that is in use"),
    (Tls::WantsCertificate, "host-unreachable", "the server wants a certificate of ours"),
    (Tls::BreaksLater, "host-unreachable", "what came is no TLS"),
    (Tls::NoFarewell, "fetched", "hung up without ending TLS"),
];

/// Hosts behind TLS, and a place to crawl them into.
pub struct Secured {
    pub site: SecureSite,
    temp: TempDir,
}

impl Secured {
    pub fn new(troubles: &[Trouble]) -> Self {
        let site = SecureSite::start(troubles).expect("the site starts");
        let secured = Self { site, temp: tempfile::tempdir().expect("a temporary directory") };
        std::fs::write(secured.ca_file(), secured.site.authority_pem()).expect("a file");
        secured
    }

    fn ca_file(&self) -> PathBuf {
        self.temp.path().join("authority.pem")
    }

    pub fn dir(&self) -> PathBuf {
        self.temp.path().join("secure.larm")
    }

    /// All hosts, whose authority is trusted; none is waited for long.
    pub fn plan(&self) -> Plan {
        let seeds = std::iter::once(url(&self.site.seed()));
        let mut plan = patient_plan(self.dir(), seeds);
        let rules = self.site.resolve_rules().into_iter();
        let rules = rules.map(|(name, port, address)| format!("{name}:{port}:{address}"));
        plan.resolve = rules.map(|rule| rule.parse().expect("a rule")).collect();
        plan.selection.scope = ScopeMode::Any;
        plan.allow_private = vec!["127.0.0.0/8".parse().expect("a network")];
        plan.pace =
            Pace { delay_ms: 0, address_gap_ms: 0, address_connections_max: 64, ..plan.pace };
        plan.fetch.ca_file = Some(self.ca_file());
        plan.limits.connect_ms_max = 3_000;
        plan.limits.host_chances_max = 1;
        plan.limits.host_chances_ms_max = 200;
        plan
    }
}

fn all() -> Vec<Trouble> {
    Tls::ALL.iter().filter(|tls| **tls != Tls::Fine).map(|tls| Trouble::Tls(*tls)).collect()
}

#[test]
fn every_way_in_which_tls_fails_has_its_reason() {
    let secured = Secured::new(&all());
    let summary = crawl(secured.plan());
    assert_eq!((summary.state, summary.queued), (State::Finished, 0), "{summary:?}");
    let kept = Kept::of(&secured.dir());
    kept.assert_sound();
    let wrong = ROWS.iter().filter_map(|(tls, outcome, words)| {
        let line = kept.line(&secured.site.url(Trouble::Tls(*tls), "/")?);
        let right = line["outcome"] == *outcome && story(line).contains(words);
        (!right).then(|| format!("{}: not {outcome} with `{words}`: {line}", tls.word()))
    });
    assert_none("rows that do not hold", wrong);
    assert!(Tls::ALL.iter().all(|tls| ROWS.iter().any(|(row, ..)| row == tls)));
    for fine in [Tls::Fine, Tls::NoFarewell] {
        let pages = (1..=4).filter_map(|n| secured.site.url(Trouble::Tls(fine), &format!("/{n}")));
        let missing = pages.filter(|page| kept.line(page)["outcome"] != "fetched");
        assert_none("pages of a host that is well, and were not fetched", missing);
    }
}

#[test]
fn whoever_takes_any_certificate_gets_what_is_behind_it() {
    let secured = Secured::new(&all());
    let mut plan = secured.plan();
    plan.fetch.insecure = true;
    crawl(plan);
    let kept = Kept::of(&secured.dir());
    let proves_nothing =
        [Tls::Expired, Tls::NotYetValid, Tls::WrongName, Tls::SelfSigned, Tls::UnknownAuthority];
    let start = |tls: Tls| secured.site.url(Trouble::Tls(tls), "/").expect("a host");
    let refused = proves_nothing.map(start).into_iter();
    let refused = refused.filter(|url| kept.line(url)["outcome"] != "fetched");
    assert_none("hosts whose certificate was refused all the same", refused);
    assert_eq!(kept.line(&start(Tls::Garbage))["outcome"], "host-unreachable");
}

/// The binary on its own: which authorities a system has is for the whole process to say.
#[test]
fn the_systems_authorities_vouch_for_whom_no_other_does() {
    let secured = Secured::new(&[]);
    let none = secured.temp.path().join("none.pem");
    std::fs::write(&none, "").expect("a file");
    for (authorities, outcome, code) in
        [(secured.ca_file(), "fetched", 0), (none, "host-unreachable", 3)]
    {
        let dir = secured.temp.path().join(format!("{outcome}.larm"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
        command.arg("crawl").arg(secured.site.seed()).arg("-o").arg(&dir);
        command.args(["--delay", "0", "--allow-private", "127.0.0.0/8", "--no-progress", "-q"]);
        command.args(["--limit=host_chances_max=1", "--limit=host_chances_ms_max=200"]);
        for (name, port, address) in secured.site.resolve_rules() {
            command.arg(format!("--resolve={name}:{port}:{address}"));
        }
        command.env("SSL_CERT_FILE", &authorities).env_remove("SSL_CERT_DIR");
        let status = command.stdin(Stdio::null()).status().expect("the binary starts");
        let line = Kept::of(&dir).line(&secured.site.seed()).clone();
        assert_eq!((status.code(), &line["outcome"]), (Some(code), &outcome.into()), "{line}");
    }
}
