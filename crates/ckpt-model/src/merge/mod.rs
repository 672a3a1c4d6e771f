//! Merging two histories of one piece of work: a pure function of three contents.
//!
//! The origin is the newest checkpoint that both sides continue. What only one side has changed since is taken from that
//! side: phase by phase, task by task, artifact by artifact, and inside of state and data member by member. What both have
//! changed differently is a conflict, named by a JSON pointer in which entries of lists go by their names:
//! `/phases/build/status`. A merge with an open conflict has no result.
//!
//! Some differences are no conflict, because the answer follows from what they are about:
//!
//! - labels and replans: what either side added is there, what either side took away is not;
//! - the times and attempts of a phase or task: the later ones, the higher count;
//! - the last error: the later one; an approval that both sides have: the earlier one;
//! - the last reported phase: the one that was worked on last;
//! - the phase to continue with and the status of the workflow: derived from the merged phases, as a save does.
//!
//! Artifacts, external facts, errors and approvals are records of one observation, and are never put together from two.
//! Without conflicts it does not matter which side is `ours`, except for the order of the members of an object.

mod derive;
mod document;
mod order;
#[cfg(test)]
mod tests;

use serde::Serialize;
use serde_json::Value;

use super::checkpoint::Content;
use super::json::InvalidJson;
use super::three_way::{Settle, Sides, three_way};
use document::Document;

/// One of the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The side that is merged into.
    Ours,
    /// The other one.
    Theirs,
}

/// How one conflict is settled.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// By what one side has.
    Take(Side),
    /// By another value. Null in the place of a phase, task, artifact or fact leaves it out.
    Set(Value),
}

/// How conflicts are settled.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Resolutions {
    /// Single conflicts, by their pointers.
    pub each: Vec<(String, Resolution)>,
    /// All others; if none, they stay open.
    pub rest: Option<Side>,
}

/// A place that both sides have changed differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The place, as a JSON pointer; entries of lists go by their names.
    pub pointer: String,
    /// The value before both changes; none if there was none.
    pub origin: Option<Value>,
    /// The value of the side that is merged into; none if it has none.
    pub ours: Option<Value>,
    /// The value of the other side; none if it has none.
    pub theirs: Option<Value>,
}

/// The result of a merge.
#[derive(Debug, Clone)]
pub struct Merged {
    /// The merged content.
    pub content: Content,
    /// The conflicts that the resolutions settled.
    pub settled: Vec<Conflict>,
}

/// The reason why there is no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// Conflicts that no resolution settles.
    #[error("both sides have changed {}", conflicts(.0))]
    Conflicts(Vec<Conflict>),
    /// A resolution is about a place where there is no conflict.
    #[error("there is no conflict at `{pointer}`")]
    NoConflict {
        /// The place.
        pointer: String,
        /// The places that have one.
        conflicts: Vec<String>,
    },
    /// A side cannot be read, or a resolution makes no valid content.
    #[error("the merged content would not be valid: {0}")]
    Invalid(InvalidJson),
}

fn conflicts(conflicts: &[Conflict]) -> String {
    match conflicts {
        [one] => format!("`{}`", one.pointer),
        several => format!("{} places", several.len()),
    }
}

/// Merges `ours` and `theirs`, which both come from `origin`.
///
/// # Errors
/// There are conflicts that `resolutions` does not settle, or a resolution does not fit.
pub fn merge(
    origin: &Content,
    ours: &Content,
    theirs: &Content,
    resolutions: &Resolutions,
) -> Result<Merged, MergeError> {
    let mut settler = Settler { resolutions, used: vec![false; resolutions.each.len()], open: vec![], settled: vec![] };
    let content = if origin == theirs || ours == theirs {
        ours.clone()
    } else if origin == ours {
        theirs.clone()
    } else {
        let sides = [origin, ours, theirs];
        let mut merged = Document::merge(sides, &mut settler).map_err(MergeError::Invalid)?;
        derive::settle(&mut merged, sides, &mut settler);
        merged
    };
    if !settler.open.is_empty() {
        return Err(MergeError::Conflicts(settler.open));
    }
    let unused = settler.used.iter().position(|used| !used).map(|place| resolutions.each[place].0.clone());
    if let Some(pointer) = unused {
        let conflicts = settler.settled.into_iter().map(|conflict| conflict.pointer).collect();
        return Err(MergeError::NoConflict { pointer, conflicts });
    }
    Ok(Merged { content, settled: settler.settled })
}

/// Settles conflicts by what they are about, or else by the resolutions.
struct Settler<'r> {
    resolutions: &'r Resolutions,
    /// The resolutions for single conflicts that were used.
    used: Vec<bool>,
    open: Vec<Conflict>,
    settled: Vec<Conflict>,
}

impl Settler<'_> {
    /// Merges one value outside of the document.
    fn choose(&mut self, place: &str, sides: Sides<'_>) -> Option<Value> {
        three_way(self, place, sides)
    }

    /// Settles a conflict by a resolution, or records it as open.
    fn resolve(&mut self, place: &str, [origin, ours, theirs]: Sides<'_>) -> Option<Value> {
        let conflict = Conflict {
            pointer: place.to_owned(),
            origin: origin.cloned(),
            ours: ours.cloned(),
            theirs: theirs.cloned(),
        };
        let single = self.resolutions.each.iter().rposition(|(pointer, _)| pointer == place);
        let resolution = match single {
            Some(index) => Some(self.resolutions.each[index].1.clone()),
            None => self.resolutions.rest.map(Resolution::Take),
        };
        for (used, (pointer, _)) in self.used.iter_mut().zip(&self.resolutions.each) {
            *used |= pointer == place;
        }
        let Some(resolution) = resolution else {
            self.open.push(conflict);
            // Whichever side is ours, what depends on this value has the same conflicts.
            return [ours, theirs].into_iter().max_by_key(|side| side.map(Value::to_string)).flatten().cloned();
        };
        self.settled.push(conflict);
        match resolution {
            Resolution::Take(Side::Ours) => ours.cloned(),
            Resolution::Take(Side::Theirs) => theirs.cloned(),
            Resolution::Set(Value::Null) if document::is_entry(place) => None,
            Resolution::Set(mut value) => {
                // Only a side can tell that a content was kept.
                let has_kept = |side: &&Value| is_kept(side) && side["sha256"] == value["sha256"];
                if place.starts_with("/artifacts/") && is_kept(&value) && ![ours, theirs].iter().flatten().any(has_kept)
                {
                    value.as_object_mut()?.remove("captured");
                }
                Some(value)
            }
        }
    }
}

/// Returns true for an artifact whose content was kept.
fn is_kept(artifact: &Value) -> bool {
    artifact["captured"] == true
}

impl Settle for Settler<'_> {
    fn is_whole(&self, place: &str) -> bool {
        let steps: Vec<&str> = place.split('/').skip(1).collect();
        matches!(steps[..], ["artifacts" | "facts", _] | ["last_error"] | ["phases", _, "approval"])
    }

    fn settle(&mut self, place: &str, sides: Sides<'_>) -> Option<Value> {
        let steps: Vec<&str> = place.split('/').skip(1).collect();
        let [_, ours, theirs] = sides;
        let has_resolution = self.resolutions.each.iter().any(|(pointer, _)| pointer == place);
        let by_meaning = match (&steps[..], ours, theirs) {
            _ if has_resolution => None,
            (
                ["phases" | "tasks", _, "started_at" | "completed_at" | "attempts" | "recency"],
                Some(ours),
                Some(theirs),
            ) => Some(later(ours, theirs, |value| value)),
            (["last_error"], Some(ours), Some(theirs)) => Some(later(ours, theirs, |error| &error["at"])),
            (["artifacts", _], Some(ours), Some(theirs))
                if ["path", "sha256", "size"].iter().all(|key| ours[key] == theirs[key]) =>
            {
                let kept: Vec<&Value> = [ours, theirs].into_iter().filter(|side| is_kept(side)).collect();
                match kept[..] {
                    [one] => Some(one),
                    _ => Some(later(ours, theirs, |artifact| &artifact["phase"])),
                }
            }
            (["phases", _, "approval"], Some(ours), Some(theirs))
                if [ours, theirs].iter().all(|approval| approval["approved_at"].is_string()) =>
            {
                let last = later(ours, theirs, |approval| &approval["approved_at"]);
                Some(if last == ours { theirs } else { ours })
            }
            // A time that one side took away, because it has begun again.
            (["phases" | "tasks", _, "started_at" | "completed_at" | "recency"], one, other) => one.or(other),
            _ => None,
        };
        match by_meaning {
            Some(value) => Some(value.clone()),
            None => self.resolve(place, sides),
        }
    }
}

/// Returns the one with the later time or higher number; of equals, the one that sorts last as text.
fn later<'v>(ours: &'v Value, theirs: &'v Value, key: impl Fn(&Value) -> &Value) -> &'v Value {
    let rank = |value: &Value| {
        let key = key(value);
        (key.as_u64(), key.as_str().map(str::to_owned), value.to_string())
    };
    if rank(ours) >= rank(theirs) { ours } else { theirs }
}
