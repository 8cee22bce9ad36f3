//! THE LINE: the way of one URL from its lease to its settlement, one call per step.
//!
//! ```text
//! Frontier::lease ─▶ Lease ─ rules ─▶ guard ─▶ robots ─▶ Permit ─ login ─ fetch ─▶ Fetched ─ wall? ─ digest ─▶ parse ─▶ Page
//!        ▲                                                                                                        │
//!        └───────── Frontier::settle ◀─ sinks ◀─ Visit ◀─ near-duplicate? ◀─ links judged (steps 1 and 2) ◀───────┘
//! ```
//!
//! All branching of the line is in [`process`]; each step is a function of [`Line`]. Nothing here spawns,
//! sleeps or holds a lock across a wait. The writer, at the end, writes to the sinks and only then settles
//! the lease, so a crash repeats work and never loses it.

use larm_core::scope::Verdict;
use larm_core::{Blame, Failure, FailureClass, Outcome};

use crate::error::Result;
use crate::fetch::Fetched;
use crate::frontier::{Lease, SIGNALS, Turn};
use crate::line::{Archived, Entry, Guarded, Line};
use crate::robots::{Answer, Permit};

/// Carries one lease through the line. An error is our own machine's; the web's are outcomes.
pub async fn process(line: &Line, lease: Lease) -> Result<()> {
    let address = match lease.turn() {
        Turn::Ask(address) => address,
        Turn::GivenUp(class) => return line.give_up(lease, class).await,
        Turn::Archived => unreachable!("LINE: what an archive holds is not waited for"),
    };
    if let Verdict::Reject(reason) = line.judge_again(&lease) {
        let outcome = Outcome::Rejected { filter: reason.filter.into(), detail: reason.detail };
        return line.settle_unasked(lease, outcome).await;
    }
    if let Some(page) = line.stands_for(&lease)? {
        let outcome = Outcome::Rejected { filter: page.rule.into(), detail: page.why };
        return line.settle_unasked(lease, outcome).await;
    }
    let lease = match line.guard(lease, address) {
        Guarded::Yes(lease) => lease,
        Guarded::Elsewhere(lease, address) => {
            return line.give_back(lease, &Failure::elsewhere(address)).await;
        }
        Guarded::No(lease, detail) => {
            let outcome = Outcome::Failed { class: FailureClass::ForbiddenAddress, detail };
            return line.settle_unasked(lease, outcome).await;
        }
    };
    let permit = match line.ask_robots(lease, address)? {
        Answer::Yes(permit) => permit,
        Answer::No(lease, rule) => {
            return line.settle_unasked(lease, Outcome::Denied { rule }).await;
        }
        Answer::Reserved(lease, detail) => {
            let outcome = Outcome::Rejected { filter: SIGNALS.to_owned(), detail };
            return line.settle_unasked(lease, outcome).await;
        }
        Answer::Ask(permit) => return run_errand(line, permit).await,
    };
    if permit.lease().errand().is_own() {
        return run_errand(line, permit).await;
    }
    let permit = match line.knock(permit) {
        Entry::Open(permit) => permit,
        Entry::Login(permit) => return log_in(line, permit).await,
        Entry::Shut(lease, detail) => {
            let outcome = Outcome::Failed { class: FailureClass::Login, detail };
            return line.settle_unasked(lease, outcome).await;
        }
    };
    let fetched = match line.fetch(&permit).await {
        Ok(fetched) => fetched,
        Err(failure) if is_ours(&failure) => {
            return line.give_back(permit.into_lease(), &failure).await;
        }
        Err(failure) => return line.fail(permit.into_lease(), failure).await,
    };
    let (lease, said) = permit.into_parts();
    if line.answers_challenge(&lease, &fetched) || line.has_lost_session(&lease, &fetched) {
        return line.ask_again(lease, &fetched).await;
    }
    let body = line.decode(&fetched);
    if let Some(failure) = line.wall(&fetched, &body) {
        return line.turn_back(lease, &fetched, failure).await;
    }
    if let Some(failure) = line.worth_another_try(&lease, &fetched) {
        return line.try_again(lease, &fetched, failure).await;
    }
    let mut read = line.read(&lease, &fetched, &body, said).await?;
    let mut links = line.judge_links(&lease, &fetched, read.page.as_ref())?;
    line.liken(&lease, &mut read, &mut links)?;
    line.look_for_twins(&lease, &mut read)?;
    line.keep(lease, fetched, read, links).await
}

/// The end of the line alone, for an answer that an archive holds: nobody is asked for anything.
pub async fn restore(line: &Line, lease: Lease, archived: Archived) -> Result<()> {
    let body = line.decode(&archived.fetched);
    let mut read = line.read_archived(&lease, &archived, &body).await?;
    let mut links = line.judge_links(&lease, &archived.fetched, read.page.as_ref())?;
    line.recall_likeness(&lease, &archived, &mut read, &mut links);
    drop(body);
    line.keep(lease, archived.fetched, read, links).await
}

/// robots.txt is fetched under the lease of the URL that needs it, or as an errand of its own, as the
/// crawl's other questions are.
async fn run_errand(line: &Line, permit: Permit) -> Result<()> {
    let answer: Result<Fetched, Failure> = line.fetch(&permit).await;
    if let Err(failure) = &answer
        && is_ours(failure)
    {
        return line.give_back(permit.into_lease(), failure).await;
    }
    if let Ok(fetched) = &answer
        && line.answers_challenge(permit.lease(), fetched)
    {
        return line.ask_again(permit.into_lease(), fetched).await;
    }
    line.settle_errand(permit, answer).await
}

/// One step of a host's login, under the lease of a URL that waits behind it.
async fn log_in(line: &Line, permit: Permit) -> Result<()> {
    let answer = line.fetch(&permit).await;
    if let Err(failure) = &answer
        && is_ours(failure)
    {
        return line.give_back(permit.into_lease(), failure).await;
    }
    if let Ok(fetched) = &answer {
        if line.answers_challenge(permit.lease(), fetched) {
            return line.ask_again(permit.into_lease(), fetched).await;
        }
        if let Some(failure) = line.asks_for_patience(permit.lease(), fetched) {
            return line.try_again(permit.into_lease(), fetched, failure).await;
        }
    }
    line.settle_login(permit, answer).await
}

/// Whether nobody out there failed: our own machine or network did, or the host is elsewhere.
fn is_ours(failure: &Failure) -> bool {
    failure.class.retry().blame == Blame::Nobody
}
