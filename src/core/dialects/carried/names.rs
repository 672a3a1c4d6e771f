//! What artifacts are called, where a document knows files by their paths only.

use std::collections::{BTreeMap, HashSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::core::change::MAX_TITLE_BYTES;
use crate::core::checkpoint::{Artifact, Checkpoint};
use crate::core::dialects::reading::Draft;

/// An artifact, without a look at the file.
#[derive(Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Named {
    name: String,
    path: String,
}

/// The artifacts whose files `said` knows by other names.
pub(super) fn collect(meant: &Checkpoint, said: &Checkpoint) -> Vec<Named> {
    let known: HashSet<_> =
        said.content.artifacts.iter().map(|artifact| (&artifact.name, &artifact.path)).collect();
    let paths: HashSet<_> = said.content.artifacts.iter().map(|artifact| &artifact.path).collect();
    let renamed = |artifact: &&Artifact| {
        artifact.name != artifact.path
            && paths.contains(&artifact.path)
            && !known.contains(&(&artifact.name, &artifact.path))
    };
    let named = |artifact: &Artifact| Named { name: artifact.name.clone(), path: artifact.path.clone() };
    meant.content.artifacts.iter().filter(renamed).map(named).collect()
}

/// Gives the files of a draft that go by their paths the names they had. Files that the document does not name any more
/// do not come back.
pub(super) fn settle(names: Vec<Named>, draft: &mut Draft) {
    let mut used: HashSet<String> = draft.content.artifacts.iter().map(|file| file.name.clone()).collect();
    let mut waiting: BTreeMap<String, VecDeque<String>> = BTreeMap::new();
    for Named { name, path } in names {
        if !name.is_empty() && name.len() <= MAX_TITLE_BYTES && used.insert(name.clone()) {
            waiting.entry(path).or_default().push_back(name);
        }
    }
    let by_path = draft.content.artifacts.iter_mut().filter(|file| file.name == file.path);
    for file in by_path {
        file.name = waiting.get_mut(&file.path).and_then(VecDeque::pop_front).unwrap_or(file.path.clone());
    }
    let there: HashSet<String> = draft.content.artifacts.iter().map(|file| file.path.clone()).collect();
    let more = waiting.into_iter().filter(|(path, _)| there.contains(path));
    let more =
        more.flat_map(|(path, names)| names.into_iter().map(move |name| Artifact::new(name, path.clone())));
    draft.content.artifacts.extend(more);
}
