//! What a checkpoint has to write, gathered in a moment while the frontier is held; it is encoded and put
//! into a batch when nobody waits for it.

use std::collections::HashMap;
use std::sync::Arc;

use larm_core::digest::BodyDigest;
use larm_core::url::Fingerprint;
use larm_core::workbench::HostKey;
use larm_core::worth::Purse;

use super::State;
use crate::frontier::encode::encode_behind;
use crate::frontier::keyed::KeyMap;
use crate::frontier::sites::SiteKey;
use crate::frontier::store::{Batch, BlockKey, Row, Store};

/// Everything that has changed since the last checkpoint.
#[derive(Default)]
pub struct Gathered {
    hosts: Vec<(u16, HostKey, Row)>,
    blocks: Vec<(BlockKey, Row)>,
    used_blocks: Vec<BlockKey>,
    pages: Arc<KeyMap<Fingerprint, (u16, Row)>>,
    digests: Arc<KeyMap<BodyDigest, Row>>,
    robots: Arc<HashMap<Box<str>, Row>>,
    sites: Vec<(u16, SiteKey, Purse)>,
}

impl State {
    /// Takes all that has changed. What is taken is kept in reach until [`State::checkpointed`].
    pub fn gather(&mut self) -> Gathered {
        let mut gathered = Gathered {
            pages: self.pages.save(),
            digests: self.originals.save(),
            robots: self.robots.save(),
            sites: self.sites.save(),
            ..Gathered::default()
        };
        self.gather_hosts(&mut gathered);
        self.changes = 0;
        self.change_bytes = 0;
        gathered
    }

    fn gather_hosts(&mut self, gathered: &mut Gathered) {
        let mut bytes = Vec::new();
        for (key, host) in self.hosts.iter_mut().filter(|(_, host)| host.changed) {
            let (partition, host_key) = (host.partition, *key);
            let at = |origin, block| BlockKey { partition, host: host_key, origin, block };
            let blocks = &mut gathered.blocks;
            let used = host.checkpoint(&self.limits, |origin, block, list| {
                blocks.push((at(origin, block), Row::from(list)));
            });
            gathered.used_blocks.extend(used.into_iter().map(|(o, block)| at(o, block)));
            let row = host.to_row(self.run_started, self.next_seq);
            bytes.clear();
            encode_behind(&row, &mut bytes);
            gathered.hosts.push((partition, host_key, Row::from(&*bytes)));
            host.changed = false;
        }
    }
}

impl Gathered {
    /// How many rows are written or removed, that of the crawl as a whole included.
    fn rows(&self) -> usize {
        let kept = self.hosts.len() + self.sites.len() + self.pages.len();
        let kept = kept + self.digests.len() + self.robots.len();
        kept + self.blocks.len() + self.used_blocks.len() + 1
    }

    /// Puts all of it into a batch, sorted, as the store likes it.
    pub fn into_batch(mut self, store: &Arc<Store>) -> Batch {
        let mut batch = store.batch(self.rows());
        self.hosts.sort_unstable_by_key(|(partition, key, _)| (*partition, *key));
        let hosts = self.hosts.into_iter();
        hosts.for_each(|(partition, key, row)| batch.put_host(partition, key, row));
        self.blocks.sort_unstable_by_key(|(key, _)| (key.partition, key.host, key.origin));
        self.blocks.into_iter().for_each(|(key, list)| batch.put_block(key, list));
        self.used_blocks.into_iter().for_each(|key| batch.remove_block(key));
        let mut pages: Vec<_> = self.pages.iter().collect();
        pages.sort_unstable_by_key(|(fingerprint, (partition, _))| (*partition, **fingerprint));
        for (fingerprint, (partition, row)) in pages {
            batch.put_page(*partition, *fingerprint, row.clone());
        }
        let mut digests: Vec<_> = self.digests.iter().collect();
        digests.sort_unstable_by_key(|(digest, _)| digest.as_bytes());
        digests.into_iter().for_each(|(digest, row)| batch.put_original(digest, row.clone()));
        self.robots.iter().for_each(|(origin, row)| batch.put_robots(origin, row.clone()));
        self.sites.iter().for_each(|(partition, site, row)| batch.put_site(*partition, *site, row));
        batch
    }
}
