//! How the program ends: one number, and for failures one message that says what to do next.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The ends of larm. The numbers are part of its interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// Something on our side failed.
    Failed,
    /// It was asked for in a way that cannot be carried out.
    Usage,
    /// Nothing could be fetched.
    NothingFetched,
    /// A limit that the user set ended it.
    Limit,
    /// Interrupted; the state is saved.
    Interrupted,
}

impl Exit {
    /// Every end, in the order of the manual.
    pub const ALL: [Self; 6] = [
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::NothingFetched,
        Self::Limit,
        Self::Interrupted,
    ];

    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NothingFetched => 3,
            Self::Limit => 4,
            Self::Interrupted => 130,
        }
    }

    /// What it means.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed, on our side: disk, memory, network, proxy, a bug",
            Self::Usage => "wrong flags or configuration",
            Self::NothingFetched => "nothing could be fetched",
            Self::Limit => "a limit that you set ended it",
            Self::Interrupted => "interrupted, the state is saved",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// An error of whoever typed the command: ends with [`Exit::Usage`].
#[derive(Debug)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// A usage error as anyhow wants it.
pub fn usage(message: impl Into<String>) -> anyhow::Error {
    Usage(message.into()).into()
}

/// A crawl that failed on our side, and where its state is.
#[derive(Debug)]
pub struct CrawlFailed {
    /// The crawl directory.
    pub dir: PathBuf,
    /// What happened.
    pub error: larm_crawl::Error,
}

impl fmt::Display for CrawlFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.error)?;
        let resume = format!("larm resume {}", shown(&self.dir));
        match &self.error {
            error if error.is_disk_full() => {
                write!(f, "\nThe disk is full. Free some space, then: {resume}")
            }
            larm_crawl::Error::Io { path, .. } => write!(
                f,
                "\nlarm cannot use {}. Check that disk and its permissions, then: {resume}",
                path.display()
            ),
            larm_crawl::Error::Store { .. } | larm_crawl::Error::Stopped(_) => {
                write!(f, "\nEverything settled so far is safe. To go on: {resume}")
            }
            larm_crawl::Error::Damaged { path, .. } => write!(
                f,
                "\n{} was changed by something else, or the disk is failing. The archive in {} is \
                 not touched by this; --fresh starts anew beside it.",
                path.display(),
                shown(&self.dir.join("warc"))
            ),
            larm_crawl::Error::Plan(_) | larm_crawl::Error::Directory(_) => Ok(()),
        }
    }
}

impl std::error::Error for CrawlFailed {}

/// A path as it can be pasted into a shell.
pub fn shown(path: &Path) -> String {
    shell_word(&path.display().to_string())
}

/// A word as it can be pasted into a shell.
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:@%+,=~".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// An error with its causes. Some say themselves what caused them; that is not said twice.
pub fn in_words(error: &anyhow::Error) -> String {
    let causes = error.chain().map(ToString::to_string);
    let add = |line: String, cause: String| match line.contains(&cause) {
        true => line,
        false => format!("{line}: {cause}"),
    };
    causes.reduce(add).unwrap_or_default()
}

/// How an error ends the program.
pub fn of(error: &anyhow::Error) -> Exit {
    if is_closed_pipe(error) {
        return Exit::Done;
    }
    let library = error.chain().find_map(|cause| {
        let failed = cause.downcast_ref::<CrawlFailed>().map(|failed| &failed.error);
        failed.or_else(|| cause.downcast_ref::<larm_crawl::Error>())
    });
    match library {
        Some(larm_crawl::Error::Plan(_) | larm_crawl::Error::Directory(_)) => Exit::Usage,
        _ if error.chain().any(|cause| cause.is::<Usage>()) => Exit::Usage,
        _ => Exit::Failed,
    }
}

/// Whether whoever read our output has gone, as `head` does: no failure.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let broken = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(broken))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_end_with_the_number_of_their_kind() {
        let io = |kind| larm_crawl::Error::Io { path: "x".into(), source: io::Error::from(kind) };
        let failed = |error| CrawlFailed { dir: "d.larm".into(), error };
        assert_eq!(of(&usage("no")), Exit::Usage);
        assert_eq!(of(&larm_crawl::Error::Plan("no".into()).into()), Exit::Usage);
        assert_eq!(of(&failed(io(io::ErrorKind::StorageFull)).into()), Exit::Failed);
        assert_eq!(of(&io::Error::from(io::ErrorKind::BrokenPipe).into()), Exit::Done);
        assert_eq!(of(&anyhow::anyhow!("bug")), Exit::Failed);
    }

    #[test]
    fn what_the_system_said_is_said_once() {
        let source = io::Error::from(io::ErrorKind::NotFound);
        let error = larm_crawl::Error::Io { path: "hosts.txt".into(), source };
        let text = in_words(&anyhow::Error::from(error).context("in larm.toml"));
        assert_eq!(text, "in larm.toml: hosts.txt: entity not found");
        assert_eq!(in_words(&usage("no").context("outer")), "outer: no");
    }

    #[test]
    fn a_full_disk_says_what_to_do_next() {
        let source = io::Error::from(io::ErrorKind::StorageFull);
        let error = larm_crawl::Error::Io { path: "d.larm/warc".into(), source };
        let text = CrawlFailed { dir: "my crawl".into(), error }.to_string();
        assert!(text.contains("d.larm/warc"), "{text}");
        assert!(text.contains("Free some space, then: larm resume 'my crawl'"), "{text}");
    }
}
