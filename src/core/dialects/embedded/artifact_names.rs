//! The names of artifacts, for a document that has only their paths.

use std::collections::{BTreeMap, HashSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::core::change::MAX_TITLE_BYTES;
use crate::core::checkpoint::{Artifact, Checkpoint};
use crate::core::dialects::draft::Draft;

/// The name and the path of an artifact.
#[derive(Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct ArtifactName {
    name: String,
    path: String,
}

/// Returns the artifacts whose files have other names in `read_back`.
pub(super) fn collect(source: &Checkpoint, read_back: &Checkpoint) -> Vec<ArtifactName> {
    let artifacts = &read_back.content.artifacts;
    let named: HashSet<_> = artifacts.iter().map(|artifact| (&artifact.name, &artifact.path)).collect();
    let paths: HashSet<_> = artifacts.iter().map(|artifact| &artifact.path).collect();
    let is_renamed = |artifact: &&Artifact| {
        artifact.name != artifact.path
            && paths.contains(&artifact.path)
            && !named.contains(&(&artifact.name, &artifact.path))
    };
    let renamed = source.content.artifacts.iter().filter(is_renamed);
    renamed
        .map(|artifact| ArtifactName { name: artifact.name.clone(), path: artifact.path.clone() })
        .collect()
}

/// Restores the names of artifacts that are named by their paths. Files that the document does not have any more are
/// ignored.
pub(super) fn apply(names: Vec<ArtifactName>, draft: &mut Draft) {
    let artifacts = &mut draft.content.artifacts;
    let mut used: HashSet<String> = artifacts.iter().map(|artifact| artifact.name.clone()).collect();
    let mut names_by_path: BTreeMap<String, VecDeque<String>> = BTreeMap::new();
    for ArtifactName { name, path } in names {
        if !name.is_empty() && name.len() <= MAX_TITLE_BYTES && used.insert(name.clone()) {
            names_by_path.entry(path).or_default().push_back(name);
        }
    }
    for artifact in artifacts.iter_mut().filter(|artifact| artifact.name == artifact.path) {
        if let Some(name) = names_by_path.get_mut(&artifact.path).and_then(VecDeque::pop_front) {
            artifact.name = name;
        }
    }
    // A file may be several artifacts.
    let paths: HashSet<String> = artifacts.iter().map(|artifact| artifact.path.clone()).collect();
    for (path, names) in names_by_path {
        if paths.contains(&path) {
            artifacts.extend(names.into_iter().map(|name| Artifact::new(name, path.clone())));
        }
    }
}
