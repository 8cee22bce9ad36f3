//! `larm doctor`: is this machine fit for a crawl? One line per question, with what to do if not.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use larm_crawl::clock::Clock;
use larm_crawl::housekeeping::disk_space;

use crate::exit::Exit;
use crate::human::{self, Paint};

/// Every fetch holds a connection; files and names come on top.
const OPEN_FILES_WANTED: u64 = 1_024;
const FREE_BYTES_WANTED: u64 = 4_000_000_000;
const MEMORY_WANTED: u64 = 500_000_000;
const SYNCS: u64 = 8;
const SYNC_MS_WANTED: u64 = 100;

/// The answer to one question.
struct Finding {
    what: &'static str,
    found: String,
    /// What to do, if something is to be done.
    advice: Option<&'static str>,
}

impl Finding {
    fn new(what: &'static str, found: String, fine: bool, advice: &'static str) -> Self {
        Self { what, found, advice: (!fine).then_some(advice) }
    }
}

/// Prints all of them.
pub fn doctor() -> Result<Exit> {
    let paint = Paint::for_stdout();
    let mut out = std::io::stdout().lock();
    let questions =
        [version, processor, memory, open_files, disk, sync, names, certificates, self_test];
    let mut fine = true;
    for question in questions {
        let Finding { what, found, advice } = question();
        let mark = if advice.is_none() { paint.good("ok  ") } else { paint.warn("warn") };
        writeln!(out, "{mark}  {what:<13} {found}")?;
        if let Some(advice) = advice {
            writeln!(out, "      {:<13} {advice}", "")?;
        }
        out.flush()?;
        fine &= advice.is_none();
    }
    let verdict = if fine { "All is well." } else { "larm works here; see the warnings above." };
    writeln!(out, "{verdict}")?;
    Ok(Exit::Done)
}

fn version() -> Finding {
    let system = format!("{} on {}", std::env::consts::ARCH, std::env::consts::OS);
    let found = format!("larm {}, {system}", env!("CARGO_PKG_VERSION"));
    Finding::new("version", found, true, "")
}

fn processor() -> Finding {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    Finding::new("processor", human::counted(cores, "core", "cores"), true, "")
}

fn memory() -> Finding {
    let free = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| free_memory(&text));
    let Some(free) = free else {
        return Finding::new("memory", "not known on this system".to_owned(), true, "");
    };
    let found = format!("{} free", human::bytes(free));
    Finding::new(
        "memory",
        found,
        free >= MEMORY_WANTED,
        "close other programs, or set lower [limits]",
    )
}

fn free_memory(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1_024)
}

#[cfg(unix)]
fn open_files() -> Finding {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let found = limit.map_or("no limit".to_owned(), |limit| format!("at most {limit}"));
    let fine = limit.is_none_or(|limit| limit >= OPEN_FILES_WANTED);
    Finding::new("open files", found, fine, "raise it with: ulimit -n 4096")
}

#[cfg(not(unix))]
fn open_files() -> Finding {
    Finding::new("open files", "no limit to speak of".to_owned(), OPEN_FILES_WANTED > 0, "")
}

fn disk() -> Finding {
    let Some((free, total)) = disk_space(Path::new(".")) else {
        return Finding::new("disk", "not known on this system".to_owned(), true, "");
    };
    let found = format!("{} free of {} here", human::bytes(free), human::bytes(total));
    let fine = free >= FREE_BYTES_WANTED;
    Finding::new(
        "disk",
        found,
        fine,
        "a crawl pauses when the disk is nearly full; use another with -o",
    )
}

/// How long it takes until a few bytes are safe: each commit waits for that.
fn sync() -> Finding {
    match sync_ms() {
        Ok(ms) => Finding::new(
            "disk sync",
            format!("{ms} ms"),
            ms <= SYNC_MS_WANTED,
            "this disk is slow to make data safe; a local one will crawl faster",
        ),
        Err(error) => {
            let found = format!("cannot write here: {error}");
            Finding::new("disk sync", found, false, "go to a directory of yours, or use -o")
        }
    }
}

fn sync_ms() -> std::io::Result<u64> {
    let path = std::path::PathBuf::from(format!(".larm-doctor-{}", std::process::id()));
    let mut file = File::create_new(&path)?;
    let clock = Clock::start();
    let begin = clock.now();
    let written = (0..SYNCS).try_for_each(|_| {
        file.write_all(&[0; 4_096])?;
        file.sync_data()
    });
    let ms = clock.now().since(begin) / SYNCS;
    std::fs::remove_file(&path)?;
    written.map(|()| ms)
}

fn names() -> Finding {
    let text = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let servers: Vec<&str> = name_servers(&text);
    let found = match servers.as_slice() {
        [] => "no name server in /etc/resolv.conf".to_owned(),
        servers => format!("asks {}", servers.join(", ")),
    };
    let fine = !servers.is_empty() || cfg!(not(unix));
    Finding::new("names", found, fine, "names cannot be looked up; addresses and --resolve work")
}

fn name_servers(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::split_whitespace);
    lines.filter_map(|mut words| (words.next()? == "nameserver").then(|| words.next())?).collect()
}

fn certificates() -> Finding {
    let system = rustls_native_certs::load_native_certs().certs.len() as u64;
    let found = match system {
        0 => "none of the system's; larm brings those of Mozilla".to_owned(),
        count => format!("{} of the system, and those of Mozilla", human::count(count)),
    };
    Finding::new("certificates", found, true, "")
}

fn self_test() -> Finding {
    let clock = Clock::start();
    let begin = clock.now();
    let (found, fine) = match super::demo::self_test() {
        Ok(summary) => {
            let pages = human::counted(summary.fetched, "page", "pages");
            let found = format!(
                "{pages} of a web on loopback in {}",
                human::time(clock.now().since(begin))
            );
            (found, summary.fetched > 0)
        }
        Err(error) => (format!("failed: {error:#}"), false),
    };
    Finding::new("self-test", found, fine, "a firewall or sandbox may forbid loopback connections")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_own_words_are_understood() {
        let meminfo = "MemTotal:       100 kB\nMemAvailable:   2048 kB\n";
        assert_eq!(free_memory(meminfo), Some(2_048 * 1_024));
        assert_eq!(free_memory("nonsense"), None);
        let servers = "# comment\nnameserver 127.0.0.53\nsearch x\nnameserver ::1 # two\n";
        assert_eq!(name_servers(servers), ["127.0.0.53", "::1"]);
    }
}
