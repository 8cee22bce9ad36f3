//! The driver: one frontier on disk and its model, through the same life.

use super::order::Moody;
use super::*;
use crate::disk::faulty::{Dice, FaultyDisk};
use crate::error::Result;
use crate::frontier::memory::MemoryFrontier;
use crate::frontier::{Board, Checkpoint, Located, Nameless, Positions, Totals};
use crate::order::{News, Ranker};
use crate::store::Position;

/// What may happen, and how closely is looked.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// Crashes of themselves, beside those that the disk brings about.
    pub(super) crashes: bool,
    /// Changes of the pace. Not together with crashes: the log is replayed under the pace of the day.
    pub(super) paces: bool,
    /// When the disk has nothing to lease, neither has the model.
    pub(super) exact: bool,
    /// Pages are taken by a worth that changes all the time.
    pub(super) ordered: bool,
}

pub(super) struct World {
    seed: u64,
    rules: Rules,
    web: Web,
    pub(super) disk: FaultyDisk,
    dir: tempfile::TempDir,
    limits: Arc<Limits>,
    pace: Pace,
    budgets: Budgets,
    now: Millis,
    frontier: Option<DiskFrontier>,
    model: MemoryFrontier,
    leases: Vec<(Lease, Lease)>,
    look_ups: Vec<Nameless>,
    /// The last that was synced, and those that were sealed since: one of them is what a crash leaves.
    commits: Vec<(MemoryFrontier, Positions)>,
    commit: u64,
    /// When each host's last request ended, crashes or not.
    asked: HashMap<String, Millis>,
    pub(super) crashes: u64,
    /// A checkpoint that was begun and is not written yet.
    under_way: Option<Checkpoint>,
    /// URLs that were dropped when their host came into memory.
    pub(super) sheds: u64,
    /// URLs that got another place, not being worth their turn.
    pub(super) moves: u64,
    /// Who says what pages are worth, if that matters.
    ranker: Option<Ranker>,
    /// Pages that were not first by their place when they were taken.
    pub(super) by_worth: u64,
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("seed {}, at {}", self.seed, self.now.0);
        }
    }
}

impl World {
    pub(super) fn new(seed: u64, limits: Limits, rules: Rules) -> Self {
        let limits = Arc::new(limits);
        let pace = Pace { address_gap_ms: 0, ..Pace::default() };
        let model = MemoryFrontier::new(&limits, pace);
        let mut world = Self {
            seed,
            rules,
            web: Web { dice: Dice(seed) },
            disk: FaultyDisk::default(),
            dir: tempfile::tempdir().unwrap(),
            limits,
            pace,
            budgets: Budgets { cut_at: Some(2), ..Budgets::default() },
            now: Millis(1_000_000_000),
            frontier: None,
            commits: vec![(model.clone(), Vec::new())],
            model,
            leases: Vec::new(),
            look_ups: Vec::new(),
            commit: 0,
            asked: HashMap::new(),
            crashes: 0,
            under_way: None,
            sheds: 0,
            moves: 0,
            ranker: None,
            by_worth: 0,
        };
        world.open();
        world
    }

    /// Something happens, to both.
    pub(super) fn step(&mut self) {
        match self.happen() {
            Ok(()) => {
                self.tell_ranker();
                self.compare();
            }
            Err(error) => self.crash(&error.to_string()),
        }
    }

    /// For a while all goes well, and more comes all the time.
    pub(super) fn prosper(&mut self) {
        for _ in 0..40 {
            let went = self.offer().and_then(|()| self.go_on_well());
            went.unwrap_or_else(|error| self.crash(&error.to_string()));
            self.compare();
        }
    }

    /// From here on all goes well, to the end: nothing waits any more.
    pub(super) fn finish(&mut self) {
        self.set_budgets(Budgets::default()).unwrap();
        for _ in 0..20_000 {
            if self.frontier().is_done() {
                break;
            }
            self.go_on_well().unwrap_or_else(|error| self.crash(&error.to_string()));
        }
        self.compare();
        assert!(self.frontier().is_done() && self.model.is_done(), "it never ends");
        let totals = self.frontier().totals().clone();
        assert_eq!(&totals, self.model.totals());
        assert_eq!((self.model.waiting_urls(), self.frontier().waiting()), (Vec::new(), 0));
        let settled = self.model.totals().settled();
        assert!(settled >= self.model.totals().known, "each URL is settled");
    }

    fn frontier(&mut self) -> &mut DiskFrontier {
        self.frontier.as_mut().expect("it is open")
    }

    fn happen(&mut self) -> Result<()> {
        match self.web.dice.below(100) {
            0..18 => self.offer(),
            18..40 => self.lease(4),
            40..72 => self.settle_one(),
            72..82 => self.name_one(),
            82..88 => self.wait(),
            88..92 => self.commit(true),
            92..93 => self.commit(false),
            93..95 => self.checkpoint(),
            95..96 if self.rules.paces => self.change_pace(),
            96..97 => self.frontier().changed("delay", "1s", Millis(0)),
            97..98 => self.change_budgets(),
            98..99 if self.rules.crashes => {
                self.crash("kill -9");
                Ok(())
            }
            _ if self.frontier.as_ref().is_some_and(|f| f.wants_checkpoint(self.now)) => {
                self.checkpoint()
            }
            _ => Ok(()),
        }
    }

    fn offer(&mut self) -> Result<()> {
        let candidates = self.web.candidates();
        let offered = self.frontier().offer(candidates.clone())?;
        self.tell_refused();
        assert_eq!(offered, self.model.offer(candidates)?);
        self.tell_shed();
        Ok(())
    }

    /// When memory is scarce, it depends on who is in memory when a URL without room is found out.
    fn tell_refused(&mut self) {
        let refused = std::mem::take(&mut self.frontier().refused);
        if !self.rules.exact {
            self.model.refused = Some(refused.into_iter().collect());
        }
    }

    fn tell_shed(&mut self) {
        let shed = std::mem::take(&mut self.frontier().shed);
        assert!(shed.is_empty() || !self.rules.exact, "all are in memory: nothing arrives");
        self.sheds += shed.len() as u64;
        self.model.shed(&shed);
    }

    /// Which host has its turn is for the bench to say, and what is not worth a turn is moved then.
    fn tell_moved(&mut self) {
        for moved in std::mem::take(&mut self.frontier().moved) {
            self.moves += moved.places.len() as u64;
            self.model.move_back(&moved);
        }
    }

    fn look_up_all(&mut self) {
        let now = self.now;
        while let Some(nameless) = self.frontier().nameless(now) {
            assert!(self.model.look_up(&nameless.name, now), "why {}?", nameless.name);
            self.look_ups.push(nameless);
        }
    }

    fn lease(&mut self, most: usize) -> Result<()> {
        self.look_up_all();
        let (now, enough) = (self.now, self.leases.len() + most);
        // A call that brings hosts in from disk may find nobody who can be asked at once.
        let mut calls_left = most + 10;
        while self.leases.len() < enough {
            let lease = self.frontier().lease(now)?;
            self.tell_shed();
            self.tell_moved();
            calls_left -= 1;
            let Some(lease) = lease else {
                self.look_up_all();
                if calls_left > 0 && self.frontier().next_due(now).is_some_and(|due| due <= now) {
                    continue;
                }
                return self.check_nothing_is_due();
            };
            self.check_lease(&lease);
            let twin = self.lease_twin(&lease);
            let twin = twin.unwrap_or_else(|| panic!("{} is not for now", lease.url()));
            assert_eq!((lease.item(), lease.turn()), (twin.item(), twin.turn()));
            self.leases.push((lease, twin));
        }
        Ok(())
    }

    /// By worth, any page may come next, unless something comes before all pages.
    fn lease_twin(&mut self, lease: &Lease) -> Option<Lease> {
        let (host, now) = (lease.url().host(), self.now);
        if self.ranker.is_none() {
            return self.model.lease_host(host, now);
        }
        let twin = self.model.lease_place(host, lease.item().place, now);
        self.by_worth += u64::from(self.model.was_out_of_turn);
        twin
    }

    /// News come to the ranker sooner or later; and what it thinks changes.
    fn tell_ranker(&mut self) {
        let Some(ranker) = &mut self.ranker else { return };
        if self.web.dice.below(3) > 0 {
            let waits = self.frontier.as_mut().map(Frontier::take_waits).unwrap_or_default();
            ranker.hear(&News { waits, ..News::default() });
            ranker.catch_up();
        }
    }

    fn follow_order(&mut self) {
        let frontier = self.frontier.as_mut().expect("it is open");
        let board = Arc::new(Board::new(&self.limits, "a test".to_owned(), false));
        frontier.follow(board.clone());
        let mut ranker = Ranker::new(Box::new(Moody::default()), board);
        frontier.each_waiting(1_000, &mut |waits| ranker.hear_of(waits)).expect("it can be read");
        self.ranker = Some(ranker);
    }

    /// Politeness, by its own books: whatever happened, a gap lies behind the last request.
    fn check_lease(&mut self, lease: &Lease) {
        if let Turn::Ask(_) = lease.turn() {
            let now = self.now;
            let before = self.asked.get(lease.url().host());
            let gap = before.map_or(u64::MAX, |end| now.since(*end));
            assert!(gap >= self.pace.delay_ms, "{} after {gap} ms", lease.url());
        }
    }

    fn check_nothing_is_due(&mut self) -> Result<()> {
        let now = self.now;
        if self.rules.exact {
            assert_eq!(self.model.ready_hosts(now), Vec::<String>::new());
        }
        let due = self.frontier().next_due(now);
        assert!(due.is_none_or(|due| due > now), "{due:?} would be a busy loop");
        Ok(())
    }

    fn settle_one(&mut self) -> Result<()> {
        if self.leases.is_empty() {
            return Ok(());
        }
        let i = self.web.dice.below(self.leases.len() as u64) as usize;
        let (lease, twin) = self.leases.swap_remove(i);
        let mut settlement = self.web.settlement(&lease, self.now);
        self.look_for_original(&mut settlement)?;
        self.settle(lease, twin, settlement)
    }

    fn look_for_original(&mut self, settlement: &mut Settlement) -> Result<()> {
        if let Fate::Done(row) = &mut settlement.fate
            && let Some(digest) = row.digest
        {
            row.same_as = self.frontier().original(&digest)?;
            assert_eq!(row.same_as, self.model.original(&digest)?);
        }
        Ok(())
    }

    fn settle(&mut self, lease: Lease, twin: Lease, settlement: Settlement) -> Result<()> {
        if settlement.end != End::Unused {
            let now = self.now;
            self.frontier().sent(lease.host(), now);
            self.asked.insert(lease.url().host().to_owned(), now);
        }
        let offered = self.frontier().settle(lease, clone_of(&settlement))?;
        self.tell_refused();
        assert_eq!(self.model.settle(twin, settlement)?, offered);
        self.tell_shed();
        Ok(())
    }

    fn name_one(&mut self) -> Result<()> {
        if self.look_ups.is_empty() {
            return Ok(());
        }
        let i = self.web.dice.below(self.look_ups.len() as u64) as usize;
        let nameless = self.look_ups.swap_remove(i);
        let ttl_ms = self.web.dice.below(30_000);
        let answer = match self.web.name_failure() {
            Some(failure) => Err(failure),
            None => Ok(Located::at(web::address(&nameless.name), ttl_ms)),
        };
        self.name(nameless, answer)
    }

    fn name(&mut self, nameless: Nameless, answer: Result<Located, Failure>) -> Result<()> {
        let now = self.now;
        self.model.named(nameless.host, answer.clone(), now)?;
        self.frontier().named(nameless.host, answer, now)
    }

    fn wait(&mut self) -> Result<()> {
        let now = self.now;
        let due = self.frontier().next_due(now).filter(|_| self.web.dice.below(2) == 0);
        let later = now.after(self.web.dice.below(2_500));
        self.now = due.unwrap_or(later).max(now);
        Ok(())
    }

    fn commit(&mut self, sync: bool) -> Result<()> {
        self.commit += 1;
        let position = Position { file: 0, offset: self.commit };
        let positions = vec![("warc".to_owned(), position)];
        self.model.worked(3)?;
        self.frontier().worked(3)?;
        self.commits.push((self.model.clone(), positions.clone()));
        let sealed = self.frontier().seal(positions)?.expect("there is a record of time");
        if !sync {
            return sealed.write();
        }
        sealed.sync()?;
        self.commits.drain(..self.commits.len() - 1);
        Ok(())
    }

    /// A checkpoint from beginning to end; or its beginning alone, and life goes on while it is written.
    fn checkpoint(&mut self) -> Result<()> {
        if self.under_way.is_some() {
            return self.end_checkpoint();
        }
        self.commit(true)?;
        let now = self.now;
        self.under_way = self.frontier().begin_checkpoint(now)?;
        if self.web.dice.below(2) == 0 { self.end_checkpoint() } else { Ok(()) }
    }

    fn end_checkpoint(&mut self) -> Result<()> {
        let Some(checkpoint) = self.under_way.take() else { return Ok(()) };
        let written = checkpoint.write()?;
        self.commits.drain(..self.commits.len() - 1);
        let now = self.now;
        self.frontier().end_checkpoint(written, now)?;
        assert_eq!(self.frontier().waiting_urls(), self.model.waiting_urls());
        Ok(())
    }

    fn change_pace(&mut self) -> Result<()> {
        self.pace.delay_ms = [0, 500, 1_000, 3_000][self.web.dice.below(4) as usize];
        let pace = self.pace;
        self.model.set_pace(pace);
        self.frontier().set_pace(pace);
        Ok(())
    }

    fn change_budgets(&mut self) -> Result<()> {
        let more = self.model.totals().answered + self.web.dice.below(30);
        let pages_max = (self.web.dice.below(3) == 0).then_some(more);
        let host_pages_max = (self.web.dice.below(3) == 0).then(|| 1 + self.web.dice.below(20));
        let host_base = (self.web.dice.below(3) == 0).then(|| 1 + self.web.dice.below(9));
        let site_base = (self.web.dice.below(3) == 0).then(|| 1 + self.web.dice.below(20));
        let cut_at = (self.web.dice.below(4) > 0).then(|| 1 + self.web.dice.below(4) as u32);
        self.set_budgets(Budgets { pages_max, host_pages_max, host_base, site_base, cut_at })
    }

    fn set_budgets(&mut self, budgets: Budgets) -> Result<()> {
        self.budgets = budgets;
        self.model.set_budgets(budgets)?;
        self.frontier().set_budgets(budgets)
    }

    fn crash(&mut self, _why: &str) {
        self.crashes += 1;
        self.leases.clear();
        self.look_ups.clear();
        self.under_way = None;
        drop(self.frontier.take());
        self.disk.restart(&mut self.web.dice);
        self.now = self.now.after(1 + self.web.dice.below(400));
        self.open();
    }

    fn open(&mut self) {
        let disk = Arc::new(self.disk.clone());
        let opened =
            DiskFrontier::open_on(disk, self.dir.path(), &self.limits, self.pace, self.now);
        let opened = match opened {
            Ok(opened) => opened,
            Err(error) => return self.crash(&error.to_string()),
        };
        let frontier = self.frontier.insert(opened.frontier);
        let found = self.commits.iter().rposition(|(model, positions)| {
            let mut model = model.clone();
            model.start(self.pace, self.now);
            model.shed(&frontier.shed);
            totals(&model, self.rules) == totals(frontier, self.rules)
                && *positions == opened.positions
                && model.waiting_urls() == frontier.waiting_urls()
        });
        let found = found.unwrap_or_else(|| {
            for (model, positions) in &self.commits {
                let mut model = model.clone();
                model.start(self.pace, self.now);
                println!("{positions:?} {:?} {:?}", model.totals(), model.waiting_urls());
            }
            println!("{:?} {:?}", frontier.totals(), frontier.waiting_urls());
            panic!("what is there was never committed: {:?}", opened.positions)
        });
        self.model = self.commits[found].0.clone();
        self.commits.drain(..found);
        self.commits.truncate(1);
        self.model.start(self.pace, self.now);
        self.tell_shed();
        let frontier = self.frontier.as_ref().expect("it is open");
        self.model.forget_refused(|url| frontier.knows(url).expect("the seen set can be read"));
        self.asked.values_mut().for_each(|end| *end = self.now);
        if self.rules.ordered {
            self.follow_order();
        }
        self.set_budgets(self.budgets).expect("nothing is written");
        self.compare_all();
    }

    fn compare(&mut self) {
        let frontier = self.frontier.as_ref().expect("it is open");
        assert_eq!(totals(frontier, self.rules), totals(&self.model, self.rules));
        assert_eq!(frontier.waiting(), self.model.waiting());
        let spent = self.budgets.pages_max.is_some_and(|max| frontier.totals().answered >= max);
        if self.rules.exact {
            assert_eq!(frontier.is_done(), self.model.is_done());
        } else if frontier.is_done() && !spent {
            assert!(self.model.is_done(), "it ends too early");
        }
    }

    /// Every URL that there can be: known or not, settled how.
    fn compare_all(&mut self) {
        self.compare();
        let frontier = self.frontier.as_ref().expect("it is open");
        let mut web = Web { dice: Dice(self.seed + 1) };
        for _ in 0..200 {
            let url = web.candidate().url;
            assert_eq!(frontier.knows(&url).unwrap(), self.model.knows(&url).unwrap(), "{url}");
            assert_eq!(frontier.page(&url).unwrap(), self.model.page(&url).unwrap(), "{url}");
            let origin = url.origin();
            assert_eq!(frontier.robots(origin).unwrap(), self.model.robots(origin).unwrap());
            if self.rules.exact {
                assert_eq!(frontier.worth_of(url.host()), self.model.worth_of(url.host()), "{url}");
            }
        }
    }

    fn go_on_well(&mut self) -> Result<()> {
        for nameless in std::mem::take(&mut self.look_ups) {
            let address = web::address(&nameless.name);
            self.name(nameless, Ok(Located::at(address, 3_600_000)))?;
        }
        self.lease(100)?;
        self.tell_ranker();
        for (lease, twin) in std::mem::take(&mut self.leases) {
            let settlement = match (lease.turn(), lease.errand()) {
                (Turn::Ask(_), Errand::Robots { origin, .. }) => Settlement {
                    end: End::Answered { response_ms: 1 },
                    robots: Some(web::rules(origin, None, self.now)),
                    ..Settlement::unused(self.now, Fate::Errand)
                },
                (Turn::Ask(_), _) => {
                    let harvest = self.web.harvest(&lease);
                    Settlement { harvest, ..done(&lease, self.now) }
                }
                _ => self.web.settlement(&lease, self.now),
            };
            self.settle(lease, twin, settlement)?;
        }
        self.look_up_all();
        self.go_on_in_time()
    }

    fn go_on_in_time(&mut self) -> Result<()> {
        let now = self.now;
        if self.frontier().wants_checkpoint(now) {
            return self.checkpoint();
        }
        if self.look_ups.is_empty() {
            self.now = self.frontier().next_due(now).unwrap_or(now.after(100)).max(now);
        }
        Ok(())
    }
}

/// The counts. Hosts that are not in memory are counted when somebody looks at them.
fn totals(frontier: &dyn Frontier, rules: Rules) -> Totals {
    let mut totals = frontier.totals().clone();
    totals.hosts *= u64::from(rules.exact);
    totals
}

fn clone_of(settlement: &Settlement) -> Settlement {
    Settlement {
        at: settlement.at,
        end: settlement.end,
        fate: settlement.fate.clone(),
        offers: settlement.offers.clone(),
        robots: settlement.robots.clone(),
        links: settlement.links,
        rejected: settlement.rejected.clone(),
        moved: None,
        sightings: settlement.sightings.clone(),
        harvest: settlement.harvest.clone(),
        is_spam: settlement.is_spam,
    }
}
