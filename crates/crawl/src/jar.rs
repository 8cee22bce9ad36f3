//! Where the cookies of a crawl are kept between runs: in its directory, and in a file of the user's.
//!
//! Both are private, and replaced as a whole.

use std::path::PathBuf;
use std::sync::Arc;

use larm_core::Limits;

use crate::error::{Error, Result};
use crate::fetch::Cookies;
use crate::plan::Plan;
use crate::store::durable;

/// Cookies with their files.
#[derive(Clone)]
pub struct Jar {
    /// The cookies themselves.
    pub cookies: Arc<Cookies>,
    files: Vec<PathBuf>,
}

impl Jar {
    /// The jar of a crawl that keeps cookies, with those of earlier runs in it. A file of the user's that
    /// is not there yet will be made.
    pub fn open(plan: &Plan, state: PathBuf, limits: &Limits) -> Result<Option<Self>> {
        if !plan.keeps_cookies() {
            return Ok(None);
        }
        let cookies = Cookies::new(limits);
        // The user's own file is the last word: it may have been changed since.
        let own = std::iter::once(state.join("cookies.txt"));
        let files: Vec<PathBuf> = own.chain(plan.cookie_jar.clone()).collect();
        for path in files.iter().filter(|path| path.exists()) {
            let bytes = std::fs::read(path).map_err(Error::io(path))?;
            cookies.load(&String::from_utf8_lossy(&bytes));
        }
        Ok(Some(Self { cookies: Arc::new(cookies), files }))
    }

    /// Writes what has changed.
    pub fn save(&self) -> Result<()> {
        let Some(text) = self.cookies.unsaved() else { return Ok(()) };
        self.files.iter().try_for_each(|path| durable::replace_private(path, text.as_bytes()))
    }
}
