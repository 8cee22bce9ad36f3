//! How much memory this process has, as the system says: for people who watch a crawl, and for nothing else.

/// Bytes that are resident, where the system tells.
#[cfg(target_os = "linux")]
pub fn resident() -> Option<u64> {
    // The second number is the resident ones, in pages (proc_pid_statm(5)).
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Not known here.
#[cfg(not(target_os = "linux"))]
pub fn resident() -> Option<u64> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_taken_is_resident() {
        const TAKEN: u64 = 64 << 20;
        let before = resident().unwrap();
        let taken = vec![1_u8; TAKEN as usize];
        let after = resident().unwrap();
        assert!(after >= before + TAKEN / 2, "{before} then {after} with {} more", taken.len());
    }
}
