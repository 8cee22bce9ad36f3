//! Crawl logs, read before somebody asks: the first look at a large crawl is then as quick as the next.

use std::fs;
use std::time::SystemTime;

use super::pass_over;
use crate::app::Shared;
use crate::crawls;
use crate::settings::Settings;

/// Reads the logs of the crawls that changed last, as long as they fit into memory, one after the other.
pub async fn warm(app: &Shared) {
    // The public face shows no logs.
    if app.settings.public_search {
        return;
    }
    for id in newest_that_fit(&app.settings) {
        // Whoever asks for it is told what is wrong with it.
        let _ = pass_over(app, move |app| app.looked(&id)?.table(|_| Ok(()))).await;
    }
}

/// What a table takes is less than its log does.
fn newest_that_fit(settings: &Settings) -> Vec<String> {
    let log = |(id, dir): (String, std::path::PathBuf)| {
        let meta = fs::metadata(dir.join("logs").join("crawl.jsonl")).ok()?;
        Some((meta.modified().unwrap_or(SystemTime::UNIX_EPOCH), meta.len(), id))
    };
    let mut logs: Vec<_> = crawls::list(settings).into_iter().filter_map(log).collect();
    logs.sort_by(|one, other| other.cmp(one));
    let mut room = settings.limits.server_tables_bytes_max;
    let fits = logs.into_iter().map_while(|(_, bytes, id)| {
        room = room.checked_sub(bytes)?;
        Some(id)
    });
    fits.collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use larm_core::Limits;

    use super::*;

    #[test]
    fn the_newest_logs_are_read_as_far_as_there_is_memory() {
        let dir = tempfile::tempdir().unwrap();
        for (name, bytes, age) in
            [("old", 10, 300), ("middle", 50, 200), ("new", 40, 100), ("empty", 0, 0)]
        {
            let logs = dir.path().join(format!("{name}.larm")).join("logs");
            fs::create_dir_all(&logs).unwrap();
            if bytes > 0 {
                let path = logs.join("crawl.jsonl");
                fs::write(&path, vec![b'\n'; bytes]).unwrap();
                let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000 - age);
                fs::File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
            }
        }
        let dirs =
            ["old", "middle", "new", "empty"].map(|name| dir.path().join(format!("{name}.larm")));
        let with = |server_tables_bytes_max| {
            let limits = Limits { server_tables_bytes_max, ..Limits::default() };
            newest_that_fit(&Settings { dirs: dirs.to_vec(), limits, ..Settings::default() })
        };
        assert_eq!(with(1_000), ["new", "middle", "old"]);
        assert_eq!(with(90), ["new", "middle"]);
        assert_eq!(with(40), ["new"]);
        assert!(with(39).is_empty());
    }
}
