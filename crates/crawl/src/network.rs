//! Our own network as the crawl knows it: what the line hears and does not hear becomes evidence, and
//! failures wait here until it is clear whose they are.
//!
//! What counts as an outage is decided in [`larm_core::outage`]. The engine asks whether the network is
//! there before it leases.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use larm_core::outage::{Decision, Doubt, Evidence, Outage};
use larm_core::workbench::HostKey;
use larm_core::{Failure, FailureClass, Limits, Millis};
use tokio::sync::Notify;
use tokio::time::timeout_at;

use crate::clock::Clock;

/// The network, shared by all who use it.
pub struct Network {
    outage: Mutex<Outage>,
    /// Something was noted that may decide what is in doubt.
    noted: Notify,
    /// What is wrong with the proxy in the way, since somebody was heard of last.
    proxy: Mutex<Option<String>>,
    hosts: AtomicU64,
    hosts_min: u64,
    clock: Clock,
}

impl Network {
    /// A network that is taken to be there.
    pub fn new(limits: &Limits, clock: Clock) -> Self {
        Self {
            outage: Mutex::new(Outage::new(limits)),
            noted: Notify::new(),
            proxy: Mutex::default(),
            hosts: AtomicU64::new(0),
            hosts_min: limits.outage_hosts_min,
            clock,
        }
    }

    /// How many hosts the crawl has. Of few, silence says nothing about the network.
    pub fn know_hosts(&self, hosts: u64) {
        self.hosts.store(hosts, Ordering::Relaxed);
    }

    /// Somebody out there was heard of.
    pub fn heard_of(&self, host: HostKey) {
        *self.proxy() = None;
        self.note(host, Evidence::Life);
    }

    /// A failure as it is to be held: against the host, or, if our network was down, against nobody.
    /// Waits as long as that is in doubt.
    pub async fn judge(&self, host: HostKey, failure: Failure) -> Failure {
        if failure.class == FailureClass::Proxy {
            *self.proxy() = Some(failure.detail.clone());
        }
        let evidence = Evidence::of(failure.class);
        let Some(doubt) = evidence.and_then(|evidence| self.note(host, evidence)) else {
            return blamed(failure);
        };
        if self.is_spared(doubt).await {
            return Failure { class: FailureClass::Offline, ..failure };
        }
        blamed(failure)
    }

    /// Since when the network is down.
    pub fn offline_since(&self) -> Option<Millis> {
        self.lock().offline_since()
    }

    /// Why it is down, where that is known: what is wrong with the proxy.
    pub fn offline_reason(&self) -> Option<String> {
        self.offline_since().and_then(|_| self.proxy().clone())
    }

    /// Since when it is down, if that is too long to go on waiting. For a proxy that never let us through
    /// it is from the start: what is wrong is what was said of it.
    pub fn gone_since(&self, now: Millis) -> Option<Millis> {
        let is_shut_out = self.proxy().is_some();
        let outage = self.lock();
        let patience_ms = match is_shut_out && !outage.has_heard() {
            true => 0,
            false => outage.patience_ms(),
        };
        outage.offline_since().filter(|since| now.since(*since) >= patience_ms)
    }

    /// When to try whether it is back.
    pub fn next_probe(&self) -> Option<Millis> {
        self.lock().next_probe()
    }

    /// A host is being tried to see whether it is back.
    pub fn probe(&self, host: HostKey, now: Millis) {
        self.lock().probe(host.0, now);
    }

    /// Nothing is under way: whatever was tried is over, even if it came to nothing.
    pub fn idle(&self) {
        self.lock().idle();
    }

    fn note(&self, host: HostKey, evidence: Evidence) -> Option<Doubt> {
        let few = self.hosts.load(Ordering::Relaxed) < self.hosts_min;
        let mut outage = self.lock();
        if few && evidence == Evidence::Silence && outage.offline_since().is_none() {
            return None;
        }
        let doubt = outage.note(host.0, evidence, self.clock.now());
        drop(outage);
        self.noted.notify_waiters();
        doubt
    }

    async fn is_spared(&self, doubt: Doubt) -> bool {
        loop {
            let noted = self.noted.notified();
            let decision = self.lock().decide(doubt, self.clock.now());
            match decision {
                Decision::Blame => return false,
                Decision::Spare => return true,
                Decision::Open(until) => {
                    // Whichever comes first: in both cases there is a new decision to ask for.
                    let _ = timeout_at(self.clock.instant_of(until).into(), noted).await;
                }
            }
        }
    }

    fn proxy(&self) -> MutexGuard<'_, Option<String>> {
        self.proxy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Outage> {
        self.outage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// That there is no way to this host alone is its own trouble.
fn blamed(failure: Failure) -> Failure {
    match failure.class {
        FailureClass::Offline => Failure { class: FailureClass::Unroutable, ..failure },
        _ => failure,
    }
}
