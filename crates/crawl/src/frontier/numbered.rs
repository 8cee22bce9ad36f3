//! Files of a folder that are named by numbers: runs of the seen set, piles of arrivals.
//!
//! A name is a type of its own, so that nobody takes the one for the other. The state on disk holds it
//! as a number.

/// Makes the type of the names that end in `.$suffix`.
macro_rules! numbered_files {
    ($(#[$about:meta])* $name:ident, $suffix:literal) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize)]
        pub struct $name(pub u64);

        impl $name {
            /// The name that comes after this one.
            pub(super) fn next(self) -> Self {
                Self(self.0 + 1)
            }

            /// The file in its folder.
            pub(super) fn path(self, dir: &std::path::Path) -> std::path::PathBuf {
                dir.join(self.to_string())
            }

            /// All that have a file in `dir`, needed or not.
            pub(super) fn all_in(
                disk: &dyn crate::disk::Disk,
                dir: &std::path::Path,
            ) -> crate::Result<Vec<Self>> {
                Ok(disk.list(dir)?.iter().filter_map(|name| Self::parse(name)).collect())
            }

            fn parse(file_name: &str) -> Option<Self> {
                let number = file_name.strip_suffix(concat!(".", $suffix))?;
                let name = Self(number.parse().ok()?);
                (name.to_string() == file_name).then_some(name)
            }
        }

        /// The file name.
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!("{:010}.", $suffix), self.0)
            }
        }
    };
}

pub(super) use numbered_files;
