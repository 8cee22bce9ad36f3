//! Site → partition (step 3 of the line).
//!
//! A partition is a share of the sites, so that it can be moved to another node as a whole. The
//! number is part of keys on disk: the hash and the count are fixed when a crawl is created and must
//! give the same on every machine and in every version. Who owns a partition is not known here.

use xxhash_rust::xxh3::xxh3_64;

/// Partitions of a new crawl: plenty for any cluster, and small beside the sites of a large crawl.
pub const PARTITIONS: u16 = 1024;

/// The partition of a site (`CrawlUrl::site`): XXH3-64 of its bytes, modulo the count, below
/// `partitions`. With no partitions there is only number 0.
pub fn partition(site: &str, partitions: u16) -> u16 {
    let number = xxh3_64(site.as_bytes()).checked_rem(u64::from(partitions)).unwrap_or(0);
    u16::try_from(number).expect("a remainder is below its u16 divisor")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_on_disk_never_change() {
        let rows = [
            ("", 194),
            ("example.com", 883),
            ("example.co.uk", 107),
            ("127.0.0.1", 652),
            ("[::1]", 540),
        ];
        for (site, expected) in rows {
            assert_eq!(partition(site, PARTITIONS), expected, "{site}");
        }
    }

    #[test]
    fn every_partition_gets_a_fair_share_of_the_sites() {
        let mut sites = [0_u32; 16];
        for i in 0..16_000 {
            sites[usize::from(partition(&format!("site{i}.example"), 16))] += 1;
        }
        assert!(sites.iter().all(|count| (850..1150).contains(count)), "{sites:?}");
    }

    #[test]
    fn no_partitions_is_one_partition() {
        assert_eq!(partition("example.com", 0), 0);
        assert_eq!(partition("example.com", 1), 0);
    }
}
