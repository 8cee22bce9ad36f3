//! All that is settled, told one by one; and pages whose answer lies elsewhere in the archive from now on, or
//! nowhere.

use larm_core::url::CrawlUrl;

use super::DiskFrontier;
use crate::error::Result;
use crate::frontier::record::Record;
use crate::frontier::row::PageRow;
use crate::store::WarcRef;

impl DiskFrontier {
    /// Tells of every URL that is settled, in no order that means anything.
    pub fn each_page(&self, tell: &mut dyn FnMut(PageRow) -> Result<()>) -> Result<()> {
        for row in self.store.pages() {
            let row = row?;
            if !self.state.has_changed(&row.url) {
                tell(row)?;
            }
        }
        self.state.changed_pages().try_for_each(|row| tell(row?))
    }

    pub(super) fn put_elsewhere(&mut self, url: &CrawlUrl, warc: Option<WarcRef>) -> Result<()> {
        self.record(Record::Relocated { url: url.as_str().into(), warc })
    }
}
