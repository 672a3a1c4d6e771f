//! Taking over what a system has changed in files that were written for it.
//!
//! Two merges: what the files say now and said when they were written are read as content, and the difference is applied
//! to the newest content. So nothing is lost that the dialect cannot express, and the newest content keeps what was saved
//! here since. And the files themselves are compared member by member, to name what both have changed.

use std::path::Path;

use serde_json::{Map, Value};

use super::carried;
use super::dialect::Dialect;
use super::members::pointer;
use super::merge::three_way;
use super::native_state;
use super::reading::DialectFiles;
use super::times::ParsedTime;
use crate::core::checkpoint::{Checkpoint, Content};
use crate::core::json::Json;
use crate::core::three_way::{self, Settle, Sides};

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
        let before = self.read_back(base, newest, project);
        let now = self.read_back(&theirs, newest, project);
        let mut content = merge_content(&newest.content, &before.content, &now.content)
            .unwrap_or_else(|| now.content.clone());
        // The files themselves are taken as they are: exporting updates them.
        let mut state = match carried::state_without_files(self, newest) {
            Value::Object(members) => members,
            _ => Map::new(),
        };
        native_state::merge(self.format().native_members, &mut state, &base.main, &theirs.main);
        content.state = self.imported_state(theirs, &Json::Given(state.into()));
        Checkpoint { saved_at: now.saved_at.max(newest.saved_at), content, ..newest.clone() }
    }

    /// Returns the JSON pointers of what both `ours` and `theirs` have changed in `base`, and not to the same value. Times
    /// are left out: every save changes them.
    #[must_use]
    pub fn conflicts(self, base: &DialectFiles, ours: &DialectFiles, theirs: &DialectFiles) -> Vec<String> {
        let mut pointers = Vec::new();
        let main = |files: &DialectFiles| {
            let mut main = files.main.clone();
            carried::remove(self, &mut main);
            main
        };
        let files = [base, ours, theirs].map(main);
        three_way::three_way(&mut Conflicts(&mut pointers), "", files.each_ref().map(Some));
        if let (Some(key), Some(base), Some(ours), Some(theirs)) =
            (self.companion().map(|second| second.key), &base.companion, &ours.companion, &theirs.companion)
        {
            let sides = [base, ours, theirs].map(Some);
            three_way::three_way(&mut Conflicts(&mut pointers), &pointer(&[key]), sides);
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
    let mut merged = three_way(&named(newest)?, &named(before)?, &named(now)?);
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

/// Collects the JSON pointers of what both sides have changed.
struct Conflicts<'a>(&'a mut Vec<String>);

impl Settle for Conflicts<'_> {
    const MERGES_ADDED: bool = false;

    fn settle(&mut self, place: &str, sides: Sides<'_>) -> Option<Value> {
        let [base, ours, theirs] = sides.map(|side| side.unwrap_or(&Value::Null));
        let is_time = |value: &Value| value.is_string() && ParsedTime::parse(value).timestamp().is_some();
        // To these systems, a member that is null is a member that is missing.
        let differs = base != ours && base != theirs && ours != theirs;
        if differs && !(is_time(ours) && is_time(theirs)) {
            self.0.push(place.to_owned());
        }
        None
    }
}
