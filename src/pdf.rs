//! PDFs on the command line: this program reads them, too, started anew for each (`larm read-pdf`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use larm_core::Limits;
use larm_core::parse::{Input, Kind, Page, parse};
use larm_crawl::pdf::{PdfProgram, PdfReaders};

use crate::commands::block_on;
use crate::exit::Exit;

/// What reads PDFs: this very program, even where its file has been replaced since it was started.
pub fn program() -> Option<PdfProgram> {
    let itself = Path::new("/proc/self/exe");
    let path: Option<PathBuf> =
        if itself.exists() { Some(itself.to_owned()) } else { std::env::current_exe().ok() };
    Some(PdfProgram { path: path?, args: vec!["read-pdf".to_owned()] })
}

/// Makes a page of any body, PDFs included.
pub fn parse_any(input: &Input<'_>, limits: &Limits) -> Page {
    let page = parse(input, limits);
    if page.kind != Kind::Pdf {
        return page;
    }
    let readers = PdfReaders::new(program(), Arc::new(limits.clone()));
    let read = block_on(async { Ok(readers.read(page, input.body).await) });
    read.unwrap_or_else(|_| parse(input, limits))
}

/// `larm read-pdf`: one PDF, as the process that asks for it says.
pub fn serve() -> Result<Exit> {
    larm_pdf::serve()?;
    Ok(Exit::Done)
}
