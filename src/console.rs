//! Standard error: messages, log lines and progress, without one writing over the other.

use std::io::{self, IsTerminal, Write};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::cli::{LogFormat, RunArgs};
use crate::human::Paint;

/// The one way to standard error while a crawl runs. Cheap to clone.
#[derive(Clone)]
pub struct Console {
    quiet: bool,
    bars: Option<MultiProgress>,
    /// How to emphasise.
    pub paint: Paint,
}

impl Console {
    /// A console for a run: bars on a terminal, unless they are not wanted.
    pub fn new(run: &RunArgs) -> Self {
        let live = io::stderr().is_terminal() && !run.quiet && !run.no_progress;
        let bars = live.then(MultiProgress::new);
        Self { quiet: run.quiet, bars, paint: Paint::for_stderr() }
    }

    /// Prints a line, unless larm was asked to be quiet.
    pub fn say(&self, line: impl AsRef<str>) {
        if !self.quiet {
            self.print(line.as_ref());
        }
    }

    /// Prints a line that matters even then.
    pub fn warn(&self, line: impl AsRef<str>) {
        self.print(&format!("{} {}", self.paint.warn("warning:"), line.as_ref()));
    }

    fn print(&self, line: &str) {
        self.write(format!("{line}\n").as_bytes());
    }

    /// Nobody is left to tell when standard error cannot be written.
    fn write(&self, bytes: &[u8]) {
        let print = || drop(io::stderr().lock().write_all(bytes));
        match &self.bars {
            Some(bars) => bars.suspend(print),
            None => print(),
        }
    }

    /// A line of progress at the foot of the screen, if there is a screen.
    pub fn live_line(&self) -> Option<ProgressBar> {
        let style = ProgressStyle::with_template("{wide_msg}").expect("a plain template");
        let bars = self.bars.as_ref()?;
        Some(bars.add(ProgressBar::new_spinner().with_style(style)))
    }

    /// Starts the log: warnings, and more with `-v`. `LARM_LOG` overrides, as in `LARM_LOG=debug`.
    pub fn start_log(&self, run: &RunArgs) {
        let level = match (run.quiet, run.verbose) {
            (true, _) => "error",
            (_, 0 | 1) => "warn",
            (_, 2) => "info",
            _ => "debug",
        };
        let filter = EnvFilter::try_from_env("LARM_LOG");
        let filter = filter.unwrap_or_else(|_| {
            EnvFilter::new(format!(
                "off,larm={level},larm_crawl={level},larm_search={level},larm_server={level}"
            ))
        });
        let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(self.clone());
        // A second log in the same process would be a bug of ours, and no reason to fail.
        let _ = match run.log_format {
            LogFormat::Json => log.json().try_init(),
            LogFormat::Text => log.with_target(false).with_ansi(self.bars.is_some()).try_init(),
        };
    }
}

/// One log line, printed as a whole.
pub struct Line(Console);

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Console {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line(self.clone())
    }
}
