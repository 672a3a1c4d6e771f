//! Taking over what a system has changed in files that were written for it.
//!
//! Two merges: what the files say now and said when they were written are read as content, and the difference is applied
//! to the newest content. So nothing is lost that the dialect cannot express, and the newest content keeps what was saved
//! here since. And the files themselves are compared member by member, to name what both have changed.

use std::path::Path;

use serde_json::{Map, Value};

use super::dialect::Dialect;
use super::embedded;
use super::members::pointer;
use super::merge::three_way;
use super::reading::DialectFiles;
use super::times::ParsedTime;
use crate::core::checkpoint::{Checkpoint, Content};
use crate::core::json::{Json, below};

/// The lists of a content whose elements have a name.
const NAMED_LISTS: [(&str, &str); 3] = [("phases", "id"), ("tasks", "id"), ("artifacts", "name")];

impl Dialect {
    /// Returns `newest` with what its system has changed: `theirs` are its files, which were written as `base`. A companion
    /// that is missing counts as unchanged.
    #[must_use]
    pub fn reconcile(
        self,
        newest: &Checkpoint,
        base: &DialectFiles,
        theirs: &DialectFiles,
        project: &Path,
    ) -> Checkpoint {
        let companion = theirs.companion.clone().or_else(|| base.companion.clone());
        let theirs = DialectFiles { companion, ..theirs.clone() };
        let (_, before) = self.read_back(base, newest, project);
        let (recorded_at, now) = self.read_back(&theirs, newest, project);
        let mut content = merge_content(&newest.content, &before.content, &now.content)
            .unwrap_or_else(|| now.content.clone());
        // The files themselves are taken as they are: exporting updates them.
        let state = |content: &Content| match content.state.to_value() {
            Ok(Value::Object(mut members)) => {
                members.shift_remove(self.word());
                self.companion_key().map(|key| members.shift_remove(key));
                members.into()
            }
            _ => Value::Object(Map::new()),
        };
        let merged = three_way(state(&newest.content), &state(&before.content), &state(&now.content));
        content.state = self.imported_state(theirs, &Json::Given(merged));
        let saved_at = recorded_at.map_or(newest.saved_at, |at| at.max(newest.saved_at));
        Checkpoint { saved_at, content, ..newest.clone() }
    }

    /// Returns the JSON pointers of what both `ours` and `theirs` have changed in `base`, and not to the same value. Times
    /// are left out: every save changes them.
    #[must_use]
    pub fn conflicts(self, base: &DialectFiles, ours: &DialectFiles, theirs: &DialectFiles) -> Vec<String> {
        let mut pointers = Vec::new();
        let main = |files: &DialectFiles| {
            let mut main = files.main.clone();
            embedded::remove(self, &mut main);
            main
        };
        add_conflicts([&main(base), &main(ours), &main(theirs)], "", &mut pointers);
        if let (Some(key), Some(base), Some(ours), Some(theirs)) =
            (self.companion_key(), &base.companion, &ours.companion, &theirs.companion)
        {
            add_conflicts([base, ours, theirs], &pointer(&[key]), &mut pointers);
        }
        pointers
    }
}

/// Applies the difference between `before` and `now` to the newest content, without the state. Returns none if the result
/// is no content.
fn merge_content(newest: &Content, before: &Content, now: &Content) -> Option<Content> {
    let named = |content: &Content| {
        let mut value = serde_json::to_value(Content { state: Json::default(), ..content.clone() }).ok()?;
        for (list, key) in NAMED_LISTS {
            if let Some(list) = value.get_mut(list) {
                *list = by_name(list.take(), key);
            }
        }
        Some(value)
    };
    let mut merged = three_way(named(newest)?, &named(before)?, &named(now)?);
    for (list, _) in NAMED_LISTS {
        if let Some(Value::Object(members)) = merged.get_mut(list).map(Value::take) {
            merged[list] = members.into_iter().map(|(_, element)| element).collect();
        }
    }
    serde_json::from_str(&merged.to_string()).ok()
}

/// Returns a list as an object by the names of its elements.
fn by_name(list: Value, key: &str) -> Value {
    let Value::Array(elements) = list else { return list };
    let name = |element: &Value| element.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    elements.into_iter().map(|element| (name(&element), element)).collect::<Map<_, _>>().into()
}

fn add_conflicts([base, ours, theirs]: [&Value; 3], place: &str, pointers: &mut Vec<String>) {
    if base == ours || base == theirs || ours == theirs {
        return;
    }
    let is_time = |value: &Value| value.is_string() && ParsedTime::parse(value).timestamp().is_some();
    match [base, ours, theirs] {
        [Value::Object(base), Value::Object(ours), Value::Object(theirs)] => {
            for key in theirs.keys().chain(base.keys().filter(|key| !theirs.contains_key(*key))) {
                let member = |members: &'_ Map<String, Value>| members.get(key).cloned().unwrap_or_default();
                let members = [&member(base), &member(ours), &member(theirs)];
                add_conflicts(members, &below(place, key), pointers);
            }
        }
        _ if is_time(ours) && is_time(theirs) => {}
        _ => pointers.push(place.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::dialects::testing::{enter_phase, imported};
    use crate::core::phase::PhaseStatus;
    use serde_json::json;

    fn plan() -> Checkpoint {
        let main = json!({"workflow_id": "w", "current_phase": 2, "completed_phases": [1], "plan_path": "p.md",
            "phase_metadata": {"1": {"status": "completed", "timestamp": "2026-01-30T10:00:00Z"}}});
        let mut checkpoint = imported(Dialect::ClaudePlan, &main, None);
        checkpoint.content.state = Json::Given(json!({"k": 1}));
        checkpoint
    }

    fn write(checkpoint: &Checkpoint) -> DialectFiles {
        Dialect::ClaudePlan.write(checkpoint, Path::new("/project")).unwrap()
    }

    #[test]
    fn unchanged_files_change_nothing() {
        let checkpoint = plan();
        let files = write(&checkpoint);
        let merged = Dialect::ClaudePlan.reconcile(&checkpoint, &files, &files, Path::new("/project"));
        let mut state = merged.content.state.to_value().unwrap();
        state.as_object_mut().unwrap().shift_remove("claude-plan");
        assert_eq!(state, json!({"k": 1}));
        let without_state = |content: &Content| Content { state: Json::default(), ..content.clone() };
        assert_eq!(without_state(&merged.content), without_state(&checkpoint.content));
        assert_eq!(Dialect::ClaudePlan.conflicts(&files, &files, &files), [""; 0]);
    }

    #[test]
    fn both_changes_are_kept_unless_they_are_of_the_same_member() {
        let (base, mut ours, mut theirs) = (plan(), plan(), plan());
        ours.content.labels.push("urgent".to_owned());
        enter_phase(&mut theirs, "2", PhaseStatus::Complete);
        let files = [&base, &ours, &theirs].map(write);
        let merged = Dialect::ClaudePlan.reconcile(&ours, &files[0], &files[2], Path::new("/project"));
        assert_eq!(merged.content.labels, ["urgent"]);
        assert!(merged.content.phases[1].status.is_done());
        assert_eq!(Dialect::ClaudePlan.conflicts(&files[0], &files[1], &files[2]), [""; 0]);

        enter_phase(&mut ours, "2", PhaseStatus::Failed);
        let files = [&base, &ours, &theirs].map(write);
        let conflicts = Dialect::ClaudePlan.conflicts(&files[0], &files[1], &files[2]);
        assert!(conflicts.contains(&"/phase_metadata/2".to_owned()), "{conflicts:?}");
        let merged = Dialect::ClaudePlan.reconcile(&ours, &files[0], &files[2], Path::new("/project"));
        assert!(merged.content.phases[1].status.is_done(), "the file counts");
    }
}
