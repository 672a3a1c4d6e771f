//! Turning what somebody typed into a workflow or a checkpoint.

use std::io;

use super::disk::Disk;
use super::error::{Error, Result};
use super::open::Store;
use super::read::Stored;
use crate::core::selector::{Handle, Selector, Which};
use crate::core::workflow_id::WorkflowId;

const MOST_SIMILAR: usize = 3;

impl<D: Disk> Store<D> {
    /// The workflow that is meant: the exact name, or the only one that is the same number. Never a prefix.
    ///
    /// The number is looked up name by name, not by listing the store, so it costs the same in a large one.
    ///
    /// # Errors
    /// There is none, or several are the same number.
    pub fn resolve_workflow(&self, given: &WorkflowId) -> Result<WorkflowId> {
        match self.find_workflow(given)? {
            Some(found) => Ok(found),
            None => Err(Error::NoSuchWorkflow { given: given.clone(), similar: self.similar(given) }),
        }
    }

    /// The same, where a workflow that does not exist yet is no error.
    ///
    /// # Errors
    /// Several are the same number.
    pub fn find_workflow(&self, given: &WorkflowId) -> Result<Option<WorkflowId>> {
        if self.has_checkpoints(given)? {
            return Ok(Some(given.clone()));
        }
        let homes: Vec<D::Dir> =
            [self.open_workflows()?, self.open_archives()?].into_iter().flatten().collect();
        let is_known = |candidate: &WorkflowId| {
            let name = candidate.directory();
            let missing = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
            !homes.iter().all(|home| self.disk().stat(home, &name).is_err_and(missing))
        };
        let mut candidates = Vec::new();
        for candidate in given.same_number().filter(is_known) {
            if self.has_checkpoints(&candidate)? {
                candidates.push(candidate);
            }
        }
        match candidates.len() {
            0 | 1 => Ok(candidates.pop()),
            _ => Err(Error::Ambiguous { given: given.clone(), candidates }),
        }
    }

    /// The checkpoint that is meant.
    ///
    /// # Errors
    /// There is none, or several workflows are meant.
    pub fn resolve(&self, selector: &Selector) -> Result<Handle> {
        self.resolve_in(self.open_workflow(&selector.workflow)?.as_ref(), selector)
    }

    /// The checkpoint that is meant, and what is in it.
    ///
    /// # Errors
    /// There is none, or several workflows are meant. One that cannot be read is an error of its own.
    pub fn find(&self, selector: &Selector) -> Result<(Handle, Result<Stored>)> {
        let dir = self.open_workflow(&selector.workflow)?;
        let handle = self.resolve_in(dir.as_ref(), selector)?;
        let stored = if handle.workflow == selector.workflow {
            self.load_in(dir.as_ref(), &handle)
        } else {
            self.load(&handle)
        };
        Ok((handle, stored))
    }

    fn resolve_in(&self, dir: Option<&D::Dir>, selector: &Selector) -> Result<Handle> {
        let (workflow, newest) = match self.newest_known(dir, &selector.workflow)? {
            // It has numbers, so it is the exact name.
            Some(newest) => (selector.workflow.clone(), newest),
            None => {
                let workflow = self.resolve_workflow(&selector.workflow)?;
                let newest = self.newest_number(&workflow)?.unwrap_or_default();
                (workflow, newest)
            }
        };
        let seq = match selector.which {
            Which::Newest => Some(newest),
            Which::Number(seq) => Some(seq).filter(|seq| (1..=newest).contains(seq)),
            Which::Before(back) => newest.checked_sub(back).filter(|seq| *seq > 0),
        };
        match seq {
            Some(seq) => Ok(Handle { workflow, seq }),
            None => {
                let asked = Selector { workflow: workflow.clone(), which: selector.which }.to_string();
                Err(Error::NoSuchCheckpoint { asked, newest: Handle { workflow, seq: newest } })
            }
        }
    }

    /// Workflows whose names are easily mistaken for `given`. Only asked when a name was not found.
    fn similar(&self, given: &WorkflowId) -> Vec<WorkflowId> {
        let limit = given.as_str().len().max(3) / 3;
        let mut similar: Vec<(usize, WorkflowId)> = self
            .workflow_ids()
            .unwrap_or_default()
            .into_iter()
            .filter_map(|id| {
                let distance = distance(given.as_str(), id.as_str());
                let contained = id.as_str().contains(given.as_str()) || given.as_str().contains(id.as_str());
                (distance <= limit || (contained && given.as_str().len() > 1)).then_some((distance, id))
            })
            .collect();
        similar.sort();
        similar.into_iter().take(MOST_SIMILAR).map(|(_, id)| id).collect()
    }
}

/// How many letters must be changed, added, removed or swapped with their neighbour, ignoring case.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_ascii_lowercase(), b.to_ascii_lowercase());
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut rows = [Vec::new(), (0..=b.len()).collect::<Vec<usize>>(), vec![0; b.len() + 1]];
    for (i, x) in a.iter().enumerate() {
        rows[2][0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = rows[1][j] + usize::from(x != y);
            let mut best = change.min(rows[1][j + 1] + 1).min(rows[2][j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(rows[0][j - 1] + 1);
            }
            rows[2][j + 1] = best;
        }
        rows.rotate_left(1);
        rows[2] = vec![0; b.len() + 1];
    }
    rows[1][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_a_typist() {
        for (a, b, expected) in
            [("auth", "auth", 0), ("auth", "Auht", 1), ("042", "0042", 1), ("abc", "", 3), ("", "", 0)]
        {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }
}
