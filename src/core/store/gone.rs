//! Numbers whose content is in no bundle any more, and where that is no surprise.
//!
//! A tombstone that no bundle covers is a loss, unless somebody decided on it: a bundle expired, a cleanup was told to
//! keep nothing, or a damaged file was moved to quarantine. Then a file beside the bundles says so:
//! `archive/042/00000001-00000006.gone`.

use std::io;

use super::disk::{Access, Disk};
use super::layout;
use super::open::Store;
use crate::core::error::Result;
use crate::core::workflow_id::WorkflowId;

const SUFFIX: &str = ".gone";

/// A range of numbers, first and last.
pub(super) type Range = (u64, u64);

/// Reads the name of such a file.
pub(super) fn parse(name: &str) -> Option<Range> {
    let (first, last) = name.strip_suffix(SUFFIX)?.split_once('-')?;
    let range = (first.parse().ok()?, last.parse().ok()?);
    (range.0 > 0 && range.0 <= range.1 && file(range) == name).then_some(range)
}

fn file((first, last): Range) -> String {
    format!("{first:08}-{last:08}{SUFFIX}")
}

impl<D: Disk> Store<D> {
    /// Notes that the content of these numbers, first to last, is in no bundle any more, and why. It is durable when
    /// this returns; to be called before the content goes.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn note_gone(
        &self,
        workflow: &WorkflowId,
        range: (u64, u64),
        why: &str,
        save_id: &str,
    ) -> Result<()> {
        let (dir, path) = (self.make_archive(workflow)?, self.archive_dir(workflow));
        let name = file(range);
        let staged = layout::staged_file(&format!("{save_id}-gone-{}", range.0), 0);
        let published = self
            .disk()
            .stage(&dir, &staged, format!("{why}\n").as_bytes(), Access::Sealed)
            .and_then(|_| self.disk().publish(&dir, &staged, &name));
        let _ = self.disk().discard(&dir, &staged);
        match published {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(self.failed("write", &path.join(&name), error))
            }
            _ => self.sync_archive(workflow),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_one_thing() {
        assert_eq!(parse(&file((1, 6))), Some((1, 6)));
        assert_eq!(parse(&file((7, 123_456_789))), Some((7, 123_456_789)));
        for other in ["1-6.gone", "00000006-00000001.gone", "00000000-00000001.gone", "x.gone", ".gone"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
