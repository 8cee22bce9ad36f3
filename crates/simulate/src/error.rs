//! Why an experiment cannot be made.

use std::path::PathBuf;

/// What is wrong with a graph, a list of URLs, or with what was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The graph cannot be read.
    #[error(transparent)]
    Graph(#[from] larm_graph::Error),
    /// A list of URLs or pages cannot be read.
    #[error("{}: {what}", path.display())]
    List {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// What was asked for makes no sense on this graph.
    #[error("{0}")]
    Asked(String),
}

impl Error {
    pub(crate) fn asked(what: impl Into<String>) -> Self {
        Self::Asked(what.into())
    }
}

/// Result of everything that can fail here.
pub type Result<T, E = Error> = std::result::Result<T, E>;
