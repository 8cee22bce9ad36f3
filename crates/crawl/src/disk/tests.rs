//! Both disks keep the same promises; the faulty one also breaks what it may.

use std::io;
use std::path::Path;

use super::faulty::{Dice, Fault, FaultyDisk};
use super::{Disk, RealDisk};

fn behaves_like_a_disk(disk: &dyn Disk, dir: &Path) {
    disk.create_dir(dir).unwrap();
    let mut file = disk.create(&dir.join("b")).unwrap();
    file.append(b"hello ").unwrap();
    file.append(b"world").unwrap();
    file.sync().unwrap();
    file.truncate(8).unwrap();
    file.append(b"!").unwrap();
    assert_eq!(file.size(), 9);
    disk.rename(&dir.join("b"), &dir.join("a")).unwrap();
    disk.create(&dir.join("c")).unwrap();
    assert_eq!(disk.list(dir).unwrap(), ["a", "c"]);
    disk.remove(&dir.join("c")).unwrap();
    disk.sync_dir(dir).unwrap();
    assert_eq!(disk.list(dir).unwrap(), ["a"]);

    let file = disk.open(&dir.join("a")).unwrap();
    let mut read = [0; 4];
    file.read_at(5, &mut read).unwrap();
    assert_eq!(&read, b" wo!");
    assert!(file.read_at(6, &mut read).is_err(), "past the end is an error");
    assert!(disk.open(&dir.join("b")).is_err());
    assert_eq!(disk.create(&dir.join("a")).unwrap().size(), 0, "create empties");
}

#[test]
fn both_disks_behave_alike() {
    let temp = tempfile::tempdir().unwrap();
    behaves_like_a_disk(&RealDisk, &temp.path().join("some/where"));
    behaves_like_a_disk(&FaultyDisk::default(), Path::new("some/where"));
}

#[test]
fn power_loss_keeps_what_was_synced_and_chance_decides_the_rest() {
    let path = Path::new("d/f");
    let mut sizes = std::collections::BTreeSet::new();
    let mut vanished = 0;
    for seed in 0..64 {
        let disk = FaultyDisk::default();
        let mut file = disk.create(path).unwrap();
        file.append(b"kept").unwrap();
        file.sync().unwrap();
        if seed % 2 == 0 {
            disk.sync_dir(Path::new("d")).unwrap();
        }
        file.append(b" or lost").unwrap();
        disk.restart(&mut Dice(seed));
        match disk.open(path) {
            Ok(file) => {
                assert!(disk.content(path).starts_with(b"kept"));
                sizes.insert(file.size());
            }
            Err(_) => vanished += 1,
        }
    }
    assert!(sizes.len() > 5, "any prefix may survive: {sizes:?}");
    assert!((1..32).contains(&vanished), "only a name that was not synced may vanish: {vanished}");
}

#[test]
fn a_fault_strikes_once_or_for_good() {
    let disk = FaultyDisk::default();
    let mut file = disk.create(Path::new("d/f")).unwrap();
    disk.fail_at(0, Fault::Once(io::ErrorKind::StorageFull));
    assert!(file.append(b"1234").unwrap_err().is_disk_full());
    assert_eq!(disk.content(Path::new("d/f")), b"12", "a short write");
    file.append(b"5").unwrap();
    disk.fail_at(0, Fault::PowerOff);
    assert!(file.sync().is_err());
    assert!(file.append(b"6").is_err() && disk.sync_dir(Path::new("d")).is_err());
    disk.restart(&mut Dice(1));
    disk.sync_dir(Path::new("d")).unwrap();
}
