//! Nothing lost, nothing doubled: killed at any instant, or out of disk, and started again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use larm_core::url::CrawlUrl;
use larm_core::workbench::Pace;
use larm_testsite::{Audit, Features, WebPlan};

use crate::kept::Kept;
use crate::larm::{Larm, said};
use crate::politeness::{hasty, rushed};
use crate::world::{World, assert_harmless, assert_none, assert_perfect};

/// A small generator of instants: the same seed, the same kills.
struct Dice(u64);

impl Dice {
    /// A number below `end`, by xorshift.
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Every difficulty that is not an attack, and pages that take a while.
fn large_web(hosts: usize, pages_per_host: usize) -> WebPlan {
    let attacks = Features { hostile: false, failing: false, robots: false, ..Features::all() };
    let features = Features { walls: false, ..attacks };
    WebPlan {
        hosts,
        pages_per_host,
        features,
        page_bytes: 12_000,
        latency_ms: 40,
        named_hosts: true,
        ..WebPlan::default()
    }
}

/// Starts larm and kills it, `kills` times, at instants up to a second after its start.
fn kill_repeatedly(larm: &Larm<'_>, dir: &Path, kills: u64) {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for n in 1..=kills {
        let after = Duration::from_millis(60 + dice.below(700));
        if let Err(said) = larm.start(dir).kill(after) {
            panic!("larm ended before kill {n} of {kills}: {said}");
        }
    }
}

/// What the archive and the lists must hold, and hold once, for every page of the web.
fn assert_all_kept(world: &World, dir: &Path) {
    let kept = Kept::of(dir);
    kept.assert_sound();
    let answered = kept.answered();
    let truth = world.site.truth();
    let pages = truth
        .pages
        .iter()
        .filter_map(|(url, expect)| Some((CrawlUrl::from_canonical(url)?.to_string(), expect)));
    let pages: Vec<_> = pages.collect();
    let held = pages.iter().filter(|(url, _)| answered.contains(url));
    let contents: BTreeSet<u64> = held.map(|(_, expect)| expect.content).collect();
    // A page of a mirror may stand for its twin, and what cannot be had is not in the archive.
    let wanted = pages.iter().filter(|(_, expect)| expect.required && expect.status != 0);
    let missing = wanted.filter(|(_, expect)| !contents.contains(&expect.content));
    assert_none("pages that the archive lacks", missing);
}

#[test]
fn twenty_kills_at_random_instants_lose_nothing_and_double_nothing() {
    let hosts = 4;
    let kills = 20;
    let world = World::new(large_web(hosts, 110));
    let larm = Larm::new(&world, "0");
    kill_repeatedly(&larm, &world.dir(), kills);
    let last = larm.run(&world.dir());
    assert!(last.status.success(), "{}", said(&last));
    let audit = world.audit();
    let doubled: usize = audit.overlap.iter().map(|(_, times)| times - 1).sum();
    println!("{doubled} requests were made again after {kills} kills");
    assert_none("missing", &audit.coverage.missing);
    // An answer that was not yet committed is not known any more, and so is the wait that it asked
    // for: of all that is harmless, patience alone cannot be promised here.
    assert_harmless(&Audit { impatient: Vec::new(), ..audit });
    // In flight: one for each host. Within the commit window: a few more, as each takes 40 ms.
    let allowed = kills as usize * hosts * 6;
    assert!(doubled <= allowed, "{doubled} requests were made again, {allowed} can be explained");
    assert_all_kept(&world, &world.dir());
}

#[test]
fn across_kills_no_host_is_asked_before_its_delay_is_over() {
    let web = WebPlan { features: Features::none(), ..large_web(4, 14) };
    let world = World::new(web);
    // Longer than it takes to start again: what was in flight at a kill must be waited for, too.
    let larm = Larm::new(&world, "400ms");
    kill_repeatedly(&larm, &world.dir(), 6);
    let last = larm.run(&world.dir());
    assert!(last.status.success(), "{}", said(&last));
    let pace = Pace { delay_ms: 400, ..Pace::default() };
    assert_none("requests that came too soon", hasty(&world, pace));
    assert_none("addresses asked too fast", rushed(&world.site.requests(), pace));
    assert_none("missing", world.audit().coverage.missing);
    assert_all_kept(&world, &world.dir());
}

#[test]
fn a_kill_in_the_first_moments_leaves_a_directory_that_can_be_used() {
    let world = World::new(WebPlan { hosts: 1, pages_per_host: 3, ..WebPlan::default() });
    let larm = Larm::new(&world, "0");
    for n in 0..16 {
        let dir = world.dir_named(&format!("{n}.larm"));
        // The directory is made within the first few hundredths of a second.
        let _ = larm.start(&dir).kill(Duration::from_millis(3 * n));
        let next = larm.run(&dir);
        assert!(next.status.success(), "killed after {} ms: {}", 3 * n, said(&next));
        assert_eq!(Kept::of(&dir).answered().len(), 3);
    }
}

/// Fails unless a run ended as a run on a full disk should: with word of it, and a way to go on.
#[track_caller]
fn assert_said_disk_full(output: &std::process::Output) {
    let said = said(output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("The disk is full") && said.contains("larm resume"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn a_file_that_cannot_grow_ends_the_crawl_cleanly_and_it_goes_on_later() {
    let world = World::new(WebPlan { latency_ms: 5, ..large_web(4, 60) });
    let larm = Larm::new(&world, "0");
    // The store reserves room for its journal once, when it is made.
    let begun = larm.run_with(&["--max-pages", "5"], &world.dir());
    assert_eq!(begun.status.code(), Some(4), "{}", said(&begun));
    let starved = larm.run_with_files_up_to(400, &world.dir());
    assert_said_disk_full(&starved);
    let before = world.pages_asked();
    let last = larm.run(&world.dir());
    assert!(last.status.success(), "{}", said(&last));
    assert!(world.pages_asked() > before, "it ended before the disk was full");
    assert_none("missing", world.audit().coverage.missing);
    assert_all_kept(&world, &world.dir());
}

/// A disk of its own, if this process may make one. Taken away at the end.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: PathBuf, mib: u64) -> Option<Self> {
        std::fs::create_dir_all(&at).expect("a directory");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={mib}m"), "tmpfs"]).arg(&at);
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        mounted.then_some(Self(at))
    }

    fn grow(&self, mib: u64) {
        let mut mount = Command::new("mount");
        mount.args(["-o", &format!("remount,size={mib}m")]).arg(&self.0);
        assert!(mount.status().is_ok_and(|status| status.success()), "the disk can grow");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_ends_the_crawl_cleanly_and_it_goes_on_when_there_is_room() {
    let world = World::new(WebPlan { latency_ms: 2, ..large_web(6, 80) });
    let Some(disk) = SmallDisk::mount(world.dir_named("disk"), 4) else {
        println!("skipped: no right to mount a small disk");
        return;
    };
    let dir = disk.0.join("web.larm");
    let larm = Larm::new(&world, "0");
    let starved = larm.run(&dir);
    assert_said_disk_full(&starved);
    disk.grow(256);
    let last = larm.run(&dir);
    assert!(last.status.success(), "{}", said(&last));
    assert_none("missing", world.audit().coverage.missing);
    assert_all_kept(&world, &dir);
}

#[test]
fn the_binary_crawls_a_web_whole_and_says_nothing_more_is_to_do() {
    let world = World::new(WebPlan { named_hosts: true, ..WebPlan::default() });
    let larm = Larm::new(&world, "0");
    let first = larm.run(&world.dir());
    assert!(first.status.success(), "{}", said(&first));
    assert_perfect(&world.audit());
    let requests = world.site.requests().len();
    let again = larm.run(&world.dir());
    assert!(again.status.success(), "{}", said(&again));
    assert_eq!(world.site.requests().len(), requests, "requests by a finished crawl");
}
