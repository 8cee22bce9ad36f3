//! PDFs, read in processes of their own (part of step 9 of the line).
//!
//! For each PDF a program is started, is given an order and the document, and answers with what it finds,
//! piece by piece (`larm_core::parse::pdf`). It confines itself to the memory and the time that the order
//! allows; here it is besides held to the clock and to a length of its answer, and killed when it is over
//! either. A reader that hangs, dies or talks nonsense costs its PDF some pages, and gives it a note; the
//! crawl goes on (`docs/adr/0014-pdf-in-a-process.md`).
//!
//! While a PDF waits for its turn or is read, its body counts among those in flight, and its lease is held:
//! PDFs cannot pile up.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use larm_core::Limits;
use larm_core::parse::Page;
use larm_core::parse::pdf::{Assembly, Fault, Order};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Semaphore;

/// A program that reads one PDF from its standard input, such as `larm read-pdf`, or one that calls
/// `larm_pdf::serve`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PdfProgram {
    /// Where it is.
    pub path: PathBuf,
    /// What it is told.
    pub args: Vec<String>,
}

/// The way to what PDFs say.
pub struct PdfReaders {
    program: Option<PdfProgram>,
    order: String,
    places: Semaphore,
    limits: Arc<Limits>,
}

impl PdfReaders {
    /// PDFs are read by this program; without one they are kept, and a note says that nobody read them.
    pub fn new(program: Option<PdfProgram>, limits: Arc<Limits>) -> Self {
        let order = serde_json::to_string(&Order::new(&limits)).expect("numbers become JSON");
        let places = usize::try_from(limits.pdf_readers_max).unwrap_or(Semaphore::MAX_PERMITS);
        Self { program, order, places: Semaphore::new(places), limits }
    }

    /// Adds to a page of kind [`Pdf`](larm_core::parse::Kind::Pdf) what its document says.
    pub async fn read(&self, page: Page, body: &[u8]) -> Page {
        let mut pdf = Assembly::new(page, &self.limits);
        let fault = match &self.program {
            Some(program) => {
                let _place = self.places.acquire().await;
                self.ask(program, body, &mut pdf).await
            }
            None => Fault::NoReader,
        };
        pdf.finish(Some(fault))
    }

    /// Has a process read the document. What comes back is what would be to blame if it had not said all.
    async fn ask(&self, program: &PdfProgram, body: &[u8], pdf: &mut Assembly<'_>) -> Fault {
        let Ok(mut process) = start(program) else { return Fault::NoReader };
        let pipes = process.stdin.take().zip(process.stdout.take());
        let (stdin, stdout) = pipes.expect("both were asked for");
        let talk = async { tokio::join!(self.tell(stdin, body), self.hear(stdout, pdf)) };
        let time = Duration::from_millis(self.limits.pdf_ms_max);
        let in_time = tokio::time::timeout(time, talk).await.is_ok();
        end(&mut process).await;
        if in_time { Fault::Died } else { Fault::Late }
    }

    /// A reader that has died or heard enough does not listen to the end.
    async fn tell(&self, mut stdin: ChildStdin, body: &[u8]) {
        let order = format!("{}\n", self.order);
        if stdin.write_all(order.as_bytes()).await.is_ok() {
            let _ = stdin.write_all(body).await;
        }
        let _ = stdin.shutdown().await;
    }

    async fn hear(&self, stdout: ChildStdout, pdf: &mut Assembly<'_>) {
        let mut lines = BufReader::new(stdout.take(self.limits.pdf_answer_bytes_max)).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let Ok(piece) = serde_json::from_str(&line) else { return };
            pdf.add(piece);
        }
    }
}

/// Starts a reader. It gets nothing of our environment, and an interrupt at the terminal is not for it.
fn start(program: &PdfProgram) -> io::Result<Child> {
    let mut command = Command::new(&program.path);
    command.args(&program.args).env_clear().kill_on_drop(true);
    // larm's allocator would reserve a GiB at the start, inside of which no limit is felt.
    command.env("MIMALLOC_ARENA_RESERVE", "0");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    #[cfg(unix)]
    command.process_group(0);
    command.spawn()
}

/// Whatever it still does, nobody listens.
async fn end(process: &mut Child) {
    // It may have ended by itself, which is as good.
    let _ = process.kill().await;
}
