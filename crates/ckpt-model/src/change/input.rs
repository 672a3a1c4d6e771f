//! The input of a save as one JSON document.
//!
//! There are two forms. A document with the names of the flags (`phase`, `status`, `data`, `state`, `tasks`, ...) is a
//! change. A document with a `version` is a whole checkpoint, such as `ckpt show --raw` prints: its content replaces
//! that of the newest one. In both, the members that only the program fills in (number, times, digests, writer) are
//! ignored, and unknown members are kept.

use std::collections::HashSet;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Approve, Change, Edit, PhaseChange, TaskChange};
use crate::checkpoint::{Artifact, CUSTOM_PIPELINE, Checkpoint, Content, Fact};
use crate::json::below;
use crate::phase::{MAX_PHASES, PhaseId, PhaseStatus};
use crate::pipeline::{PhaseSpec, Pipeline, PipelineError};
use crate::schema::{self, MAX_VIOLATIONS, Violation};
use crate::task::{TaskId, TaskStatus};
use crate::trigger::{Trigger, UnknownTrigger};
use crate::version::Version;
use crate::workflow_id::WorkflowId;

/// The input of a save: a JSON document, the flags of a command, or both.
#[derive(Debug, Clone, Default)]
pub struct SaveInput {
    /// The change. Its artifacts have no digests yet.
    pub change: Change,
    /// A pipeline that is yet to be looked up.
    pub pipeline: Option<NamedPipeline>,
    /// The workflow that the document names.
    pub workflow: Option<WorkflowId>,
    /// The members of the document that were ignored, because only the program fills them in.
    pub ignored: Vec<String>,
}

/// A pipeline by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPipeline {
    /// The name.
    pub name: String,
    /// The number of phases, for a pipeline with numbered phases.
    pub total: Option<u32>,
}

/// The reason why a document cannot be saved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// It has these violations of the form.
    #[error("the document is not a valid save")]
    Invalid(Vec<Violation>),
    /// It is a whole checkpoint of a newer format.
    #[error("the document has format {0}, which is newer than this program")]
    Newer(String),
    /// Its phases do not make a pipeline.
    #[error(transparent)]
    Phases(PipelineError),
}

/// The members of a whole checkpoint that are used besides its content. The others are filled in by the program.
const USED: [&str; 4] = ["workflow", "trigger", "note", "pinned"];

impl SaveInput {
    /// Reads a document.
    ///
    /// # Errors
    /// The document is not valid; the error has its violations.
    pub fn from_json(document: Value) -> Result<Self, DocumentError> {
        match document {
            Value::Object(members) if !members.contains_key("version") => Self::from_members(members),
            document => Self::from_checkpoint(&document),
        }
    }

    fn from_checkpoint(document: &Value) -> Result<Self, DocumentError> {
        let invalid = |message: String| {
            let violations = schema::violations(schema::CHECKPOINT, document);
            DocumentError::Invalid(if violations.is_empty() {
                vec![Violation { pointer: String::new(), message }]
            } else {
                violations
            })
        };
        let version = document.get("version").and_then(Value::as_str).and_then(Version::parse);
        let Some(version) = version else {
            return Err(invalid("there is no readable `version`".to_owned()));
        };
        if !version.is_writable() {
            return Err(DocumentError::Newer(version.to_string()));
        }
        let whole = Checkpoint::deserialize(document).map_err(|error| invalid(error.to_string()))?;
        if whole.sealed.is_some() {
            let message = "a seal closes a workflow and holds none of its content".to_owned();
            return Err(DocumentError::Invalid(vec![Violation { pointer: "/sealed".to_owned(), message }]));
        }
        let Content { phases, tasks, .. } = &whole.content;
        let twice = repeated("phases", phases.iter().map(|phase| phase.id.as_str()))
            .chain(repeated("tasks", tasks.iter().map(|task| task.id.as_str())))
            .take(MAX_VIOLATIONS)
            .collect::<Vec<_>>();
        if !twice.is_empty() {
            return Err(DocumentError::Invalid(twice));
        }
        let ignored = Checkpoint::FIELDS.iter().filter(|name| !USED.contains(name));
        let ignored = ignored.map(|name| (*name).to_owned()).collect();
        let change = Change {
            trigger: Some(whole.trigger),
            note: whole.note,
            pin: whole.pinned,
            replace: Some(Box::new(whole.content)),
            ..Change::default()
        };
        Ok(Self { change, workflow: Some(whole.workflow), ignored, ..Self::default() })
    }

    fn from_members(members: Map<String, Value>) -> Result<Self, DocumentError> {
        let mut fields = Fields { members, pointer: String::new(), violations: Vec::new() };
        let (pipeline, Phases { declared, changes }) = fields.pipeline();
        let artifacts = fields.list("artifacts", "path", artifact);
        let tasks = fields.list("tasks", "status", task);
        let (phase, status) = (fields.phase("phase"), fields.take("status"));
        if phase.is_none() && status.is_some() {
            fields.refuse("status", "is that of a phase, and no `phase` is named");
        }
        let (next_phase, next_action) = fields.next();
        let change = Change {
            phase,
            status,
            phases: changes,
            title: fields.take("title"),
            next_action,
            next_phase,
            data: fields.take_any("data").map(Edit::Overlay).into_iter().collect(),
            state: fields.state(),
            artifacts,
            forgotten: fields.take("forget_artifacts").unwrap_or_default(),
            tasks,
            error: fields.take("error"),
            note: fields.take("note"),
            trigger: fields.trigger(),
            workflow_status: fields.take("workflow_status"),
            pin: fields.take("pin").unwrap_or_default(),
            labels: fields.take("labels").unwrap_or_default(),
            unlabels: fields.take("unlabels").unwrap_or_default(),
            facts: fields.facts(),
            forgotten_facts: fields.take("forget_facts").unwrap_or_default(),
            approve: fields.take("approved_by").map(|by| Approve { phase: None, by: Some(by), recorded_by: None }),
            ..Change::default()
        };
        let mut input = Self { change, pipeline, workflow: fields.take("workflow"), ignored: Vec::new() };
        let Fields { members, mut violations, .. } = fields;
        if !violations.is_empty() {
            violations.sort_by(|a, b| a.pointer.cmp(&b.pointer));
            return Err(DocumentError::Invalid(violations));
        }
        for (name, value) in members {
            // A member of a checkpoint that is no member of a save would be in the file twice.
            if Checkpoint::FIELDS.contains(&&*name) || Content::FIELDS.contains(&&*name) {
                input.ignored.push(name);
            } else {
                input.change.extra.insert(name, value);
            }
        }
        if let Some(phases) = declared {
            let pipeline = Pipeline::new(CUSTOM_PIPELINE.to_owned(), phases);
            input.change.pipeline = Some(pipeline.map_err(DocumentError::Phases)?);
        }
        Ok(input)
    }
}

/// The phases of a document.
struct Phases {
    declared: Option<Vec<PhaseSpec>>,
    changes: Vec<PhaseChange>,
}

/// The members of an object that are yet to be read, and the violations so far.
struct Fields {
    members: Map<String, Value>,
    pointer: String,
    violations: Vec<Violation>,
}

impl Fields {
    fn refuse(&mut self, name: &str, message: impl Into<String>) {
        let pointer = below(&self.pointer, name);
        self.violations.push(Violation { pointer, message: message.into() });
    }

    /// Takes a member of any type; `null` is a value.
    fn take_any(&mut self, name: &str) -> Option<Value> {
        self.members.shift_remove(name)
    }

    /// Takes a member of a type; `null` is the same as leaving it out.
    fn take<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        let value = self.take_any(name).filter(|value| !value.is_null())?;
        serde_json::from_value(value).map_err(|error| self.refuse(name, error.to_string())).ok()
    }

    /// Takes the id of a phase, which may be a number.
    fn phase(&mut self, name: &str) -> Option<PhaseId> {
        let value = self.take_any(name).filter(|value| !value.is_null())?;
        phase_id(&value).map_err(|message| self.refuse(name, message)).ok()
    }

    /// Takes `state`, which is laid over the state, and `add`, which has the new elements of arrays by their names.
    fn state(&mut self) -> Vec<Edit> {
        let mut edits: Vec<Edit> = self.take_any("state").map(Edit::Overlay).into_iter().collect();
        for (name, elements) in self.take::<Map<String, Value>>("add").unwrap_or_default() {
            match elements {
                Value::Array(elements) => {
                    edits.extend(elements.into_iter().map(|element| Edit::Add(name.clone(), element)));
                }
                _ => self.refuse("add", format!("`{name}` must be the array of the elements to add")),
            }
        }
        edits
    }

    /// Takes `facts`, an object from names to documents, or the list that a whole checkpoint has.
    fn facts(&mut self) -> Vec<Fact> {
        match self.members.get("facts") {
            Some(Value::Array(_)) => self.take("facts").unwrap_or_default(),
            _ => {
                let facts = self.take::<Map<String, Value>>("facts").unwrap_or_default();
                facts.into_iter().map(|(name, document)| Fact::new(name, document)).collect()
            }
        }
    }

    fn trigger(&mut self) -> Option<Trigger> {
        let word: String = self.take("trigger")?;
        word.parse().map_err(|error: UnknownTrigger| self.refuse("trigger", error.to_string())).ok()
    }

    /// Takes `next`, an action or an object, and `next_phase`.
    fn next(&mut self) -> (Option<PhaseId>, Option<String>) {
        let given = self.phase("next_phase");
        match self.take_any("next") {
            None | Some(Value::Null) => (given, None),
            Some(Value::String(action)) => (given, Some(action)),
            Some(Value::Object(members)) => {
                let mut inner = Self { members, pointer: "/next".to_owned(), violations: Vec::new() };
                let (phase, action) = (inner.phase("phase"), inner.take("action"));
                self.violations.append(&mut inner.violations);
                (given.or(phase), action)
            }
            Some(_) => {
                self.refuse("next", "must be an action, or an object with `phase` and `action`");
                (given, None)
            }
        }
    }

    /// Takes `pipeline` with `total`, which is to be looked up, or else the phases that `phases` or `total` alone declares,
    /// and the changes that `phases` makes: an array declares phases, an object has the status of known ones.
    fn pipeline(&mut self) -> (Option<NamedPipeline>, Phases) {
        let total: Option<u32> = self.take("total");
        if total.is_some_and(|total| !(1..=MAX_PHASES).contains(&(total as usize))) {
            self.refuse("total", format!("must be a number from 1 to {MAX_PHASES}"));
        }
        let name: Option<String> = self.take("pipeline");
        let is_list = matches!(self.members.get("phases"), Some(Value::Array(_)));
        let phases: Vec<(PhaseSpec, Option<PhaseStatus>)> = self.list("phases", "status", phase);
        let changed = phases.iter().filter_map(|(phase, status)| Some((phase.id.clone(), (*status)?)));
        let changes = changed.map(|(id, status)| PhaseChange { id, status }).collect();
        if is_list {
            if name.is_some() || total.is_some() {
                self.refuse("pipeline", "`phases` is a list of its own; leave out `pipeline` and `total`");
            }
            let declared = Some(phases.into_iter().map(|(phase, _)| phase).collect());
            return (None, Phases { declared, changes });
        }
        match name {
            Some(name) => (Some(NamedPipeline { name, total }), Phases { declared: None, changes }),
            None => {
                let numbered = |total| PhaseId::numbered(total).map(PhaseSpec::bare).collect();
                (None, Phases { declared: total.map(numbered), changes })
            }
        }
    }

    /// Takes a list that may be written as an array of objects, or as an object from a name to the one thing that
    /// matters: `{"spec": "complete"}`.
    fn list<T>(&mut self, name: &str, short: &str, read: fn(&mut Self) -> Option<T>) -> Vec<T> {
        let entries: Vec<(String, Value)> = match self.take_any(name) {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Array(entries)) => {
                entries.into_iter().enumerate().map(|(index, entry)| (index.to_string(), entry)).collect()
            }
            Some(Value::Object(entries)) => {
                let named = entries.into_iter().map(|(key, value)| match value {
                    Value::Object(mut members) => {
                        members.entry("id").or_insert_with(|| key.clone().into());
                        (key, Value::Object(members))
                    }
                    value => {
                        let members = [("id".to_owned(), key.clone().into()), (short.to_owned(), value)];
                        (key, Value::Object(members.into_iter().collect()))
                    }
                });
                named.collect()
            }
            Some(_) => {
                self.refuse(name, "must be an array or an object");
                return Vec::new();
            }
        };
        let mut list = Vec::new();
        for (place, entry) in entries {
            if self.violations.len() >= MAX_VIOLATIONS {
                break;
            }
            let members = match entry {
                Value::Object(members) => members,
                // A phase is declared by its id alone.
                other if name == "phases" => [("id".to_owned(), other)].into_iter().collect(),
                other => [(short.to_owned(), other)].into_iter().collect(),
            };
            let pointer = below(&format!("/{name}"), &place);
            let mut fields = Self { members, pointer, violations: Vec::new() };
            list.extend(read(&mut fields));
            self.violations.append(&mut fields.violations);
        }
        list
    }
}

/// The violations of a list in which an id occurs twice. Of two phases with one id, one could be done and the other not.
fn repeated<'a>(list: &'a str, ids: impl Iterator<Item = &'a str>) -> impl Iterator<Item = Violation> {
    let mut seen = HashSet::new();
    ids.enumerate().filter(move |(_, id)| !seen.insert(*id)).map(move |(index, id)| Violation {
        pointer: format!("/{list}/{index}/id"),
        message: format!("`{}` is listed twice", id.escape_debug()),
    })
}

fn phase_id(value: &Value) -> Result<PhaseId, String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return Err("must be the id of a phase, a text or a number".to_owned()),
    };
    text.parse().map_err(|invalid: crate::name::InvalidName| invalid.to_string())
}

/// Reads a phase: its id, its name, its action, and what became of it.
fn phase(fields: &mut Fields) -> Option<(PhaseSpec, Option<PhaseStatus>)> {
    let id = fields.phase("id");
    if id.is_none() && fields.violations.is_empty() {
        fields.refuse("id", "is missing");
    }
    let (name, action, status) = (fields.take("name"), fields.take("action"), fields.take("status"));
    Some((PhaseSpec { name, action, ..PhaseSpec::bare(id?) }, status))
}

fn artifact(fields: &mut Fields) -> Option<Artifact> {
    let name: Option<String> = fields.take("name").or_else(|| fields.take("id"));
    let path: Option<String> = fields.take("path");
    if path.is_none() && fields.violations.is_empty() {
        fields.refuse("path", "is missing");
    }
    Some(Artifact::new(name.unwrap_or_default(), path?))
}

fn task(fields: &mut Fields) -> Option<TaskChange> {
    let id: Option<TaskId> = fields.take("id");
    let status: Option<TaskStatus> = fields.take("status");
    if id.is_none() && fields.violations.is_empty() {
        fields.refuse("id", "is missing");
    }
    if status.is_none() && fields.violations.is_empty() {
        fields.refuse("status", "is missing");
    }
    let after = fields.take("after").or_else(|| fields.take("depends_on"));
    let (output, error) = (fields.take("output"), fields.take("error"));
    Some(TaskChange { id: id?, status: status?, output, after, error })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn violations(document: Value) -> Vec<String> {
        match SaveInput::from_json(document) {
            Err(DocumentError::Invalid(violations)) => {
                violations.into_iter().map(|v| format!("{}: {}", v.pointer, v.message)).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn one_document_says_everything_the_flags_can() {
        let input = SaveInput::from_json(json!({
            "phase": 2, "status": "in_progress", "phases": ["1", 2, 3], "title": "t", "next": "go on",
            "next_phase": "3", "data": {"x": null}, "state": {"y": false}, "artifacts": {"s1": "a.md"},
            "tasks": [{"id": "a", "status": "running", "after": ["b"]}], "error": "e", "note": "n",
            "trigger": "batch_complete", "workflow_status": "failed", "pin": true, "labels": ["l"], "mine": [1.0]
        }))
        .unwrap();
        let change = &input.change;
        assert_eq!(change.phase.as_ref().unwrap().as_str(), "2");
        assert_eq!(change.next_phase.as_ref().unwrap().as_str(), "3");
        assert_eq!(change.data, [Edit::Overlay(json!({"x": null}))]);
        assert_eq!(change.tasks[0].after.as_ref().unwrap()[0].as_str(), "b");
        assert_eq!(change.extra.get("mine"), Some(&json!([1.0])));
        assert_eq!(input.change.artifacts[0].name, "s1");
        assert_eq!(input.change.pipeline, Some(Pipeline::custom(PhaseId::numbered(3)).unwrap()));
    }

    #[test]
    fn a_list_of_phases_declares_them_and_an_object_says_where_known_ones_stand() {
        let list = json!({"phases": ["plan", {"id": "build", "status": "in_progress", "name": "Build it"}, 3]});
        let change = SaveInput::from_json(list).unwrap().change;
        let declared = change.pipeline.unwrap().phases;
        let ids: Vec<_> = declared.iter().map(|phase| phase.id.as_str()).collect();
        assert_eq!(ids, ["plan", "build", "3"]);
        assert_eq!(declared[1].name.as_deref(), Some("Build it"));
        let build = PhaseChange { id: "build".parse().unwrap(), status: PhaseStatus::InProgress };
        assert_eq!(change.phases, std::slice::from_ref(&build));
        let object = json!({"phases": {"plan": "complete", "build": {"status": "in_progress"}}});
        let change = SaveInput::from_json(object).unwrap().change;
        assert_eq!(change.pipeline, None);
        let plan = PhaseChange { id: "plan".parse().unwrap(), status: PhaseStatus::Complete };
        assert_eq!(change.phases, [plan, build]);
        assert_eq!(violations(json!({"phases": [{"status": "complete"}, {"id": "a", "status": "odd"}, [1]]})).len(), 3);
    }

    #[test]
    fn what_only_the_tool_may_say_is_ignored() {
        let input = SaveInput::from_json(json!({"note": "n", "sha256": "x", "seq": 9, "save_id": 1})).unwrap();
        assert_eq!(input.ignored, ["sha256", "seq", "save_id"]);
        assert!(input.change.extra.is_empty());
    }

    #[test]
    fn no_field_of_a_checkpoint_gets_into_the_file_a_second_time() {
        for name in Checkpoint::FIELDS.iter().chain(Content::FIELDS) {
            let Ok(input) = SaveInput::from_json(json!({"note": "n", *name: {"x": 1}})) else { continue };
            assert_eq!(input.change.extra.get(*name), None, "{name}");
        }
        let input = SaveInput::from_json(json!({"last_error": null, "pinned": 1, "sealed": 2})).unwrap();
        assert_eq!(input.ignored, ["last_error", "pinned", "sealed"]);
        assert!(input.change.extra.is_empty());
    }

    #[test]
    fn every_violation_is_named_by_its_pointer() {
        let found = violations(json!({
            "phase": ["x"], "status": "finished", "tasks": [{"id": "a"}, {"id": "b,c", "status": "running"}],
            "artifacts": [{"name": "x"}], "trigger": "boredom", "labels": [1], "next": 4, "pipeline": "a", "phases": ["x"]
        }));
        let pointers: Vec<_> = found.iter().map(|line| line.split(':').next().unwrap()).collect();
        assert_eq!(
            pointers,
            [
                "/artifacts/0/path",
                "/labels",
                "/next",
                "/phase",
                "/pipeline",
                "/status",
                "/tasks/0/status",
                "/tasks/1/id",
                "/trigger"
            ]
        );
    }

    #[test]
    fn a_whole_checkpoint_lists_each_phase_and_each_task_once() {
        let mut whole: Value =
            serde_json::from_slice(include_bytes!("../../../tests/it/golden/checkpoint-1.0.json")).unwrap();
        whole["sealed"] = Value::Null;
        assert!(SaveInput::from_json(whole.clone()).is_ok());
        for list in ["phases", "tasks"] {
            let entries = whole[list].as_array_mut().unwrap();
            entries.push(entries[0].clone());
        }
        let found = violations(whole);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().all(|line| line.contains("/id: ") && line.ends_with("is listed twice")));
    }

    #[test]
    fn a_document_that_is_no_object_is_refused() {
        assert!(!violations(json!([1])).is_empty());
        assert!(!violations(json!({"version": "abc"})).is_empty());
        let newer = SaveInput::from_json(json!({"version": "2.0"}));
        assert_eq!(newer.unwrap_err(), DocumentError::Newer("2.0".to_owned()));
    }
}
