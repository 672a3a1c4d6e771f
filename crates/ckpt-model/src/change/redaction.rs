//! Replacing secrets in a change before anything is written.

use serde_json::Value;

use super::{Change, ChangeError, Edit};
use crate::json::{Json, below};
use crate::merge::Resolution;
use crate::redact::{redact_text, redact_value};

impl Change {
    /// Replaces every secret by `[REDACTED:rule]` and returns the JSON pointers of what was replaced.
    ///
    /// # Errors
    /// A name looks like a secret. It is not replaced, because it would be another name then.
    pub fn redact(&mut self) -> Result<Vec<String>, ChangeError> {
        self.refuse_secret_names()?;
        let mut found = Vec::new();
        let texts = [
            ("/title", &mut self.title),
            ("/next/action", &mut self.next_action),
            ("/error", &mut self.error),
            ("/note", &mut self.note),
        ];
        for (pointer, text) in texts {
            if let Some(text) = text {
                redact(text, || pointer.to_owned(), &mut found);
            }
        }
        if let Some(by) = self.approve.as_mut().and_then(|approve| approve.by.as_mut()) {
            redact(by, || "/by".to_owned(), &mut found);
        }
        if let Some(reason) = self.reopen.as_mut().and_then(|reopen| reopen.reason.as_mut()) {
            redact(reason, || "/reason".to_owned(), &mut found);
        }
        for (pointer, edits) in [("/data", &mut self.data), ("/state", &mut self.state)] {
            for edit in edits {
                match edit {
                    Edit::Merge(value) | Edit::Overlay(value) => redact_value(value, pointer, &mut found),
                    Edit::Set(key, value) | Edit::Add(key, value) => {
                        redact(key, || pointer.to_owned(), &mut found);
                        let place = if key.starts_with('/') { format!("{pointer}{key}") } else { below(pointer, key) };
                        redact_value(value, &place, &mut found);
                    }
                }
            }
        }
        for (index, item) in self.plan.iter_mut().flat_map(|plan| &mut plan.items).enumerate() {
            if let Some(text) = &mut item.text {
                redact(text, || format!("/plan/{index}"), &mut found);
            }
        }
        // The name of a file is stored as it is, so one that looks like a secret is not stored.
        self.touched.retain(|file| redact_text(&file.path).is_none());
        for (index, label) in self.labels.iter_mut().enumerate() {
            redact(label, || format!("/labels/{index}"), &mut found);
        }
        for fact in &mut self.facts {
            let unreadable = |source| ChangeError::Unreadable { what: "external fact", source };
            let mut document = fact.document.to_value().map_err(unreadable)?;
            redact_value(&mut document, &below("/facts", &fact.name), &mut found);
            fact.document = Json::Given(document);
        }
        for (index, task) in self.tasks.iter_mut().enumerate() {
            for (name, text) in [("output", &mut task.output), ("error", &mut task.error)] {
                if let Some(text) = text {
                    redact(text, || format!("/tasks/{index}/{name}"), &mut found);
                }
            }
        }
        if !self.extra.is_empty() {
            let mut extra = Value::Object(std::mem::take(&mut self.extra));
            redact_value(&mut extra, "", &mut found);
            if let Value::Object(members) = extra {
                self.extra = members;
            }
        }
        for (pointer, resolution) in self.merge.iter_mut().flat_map(|merge| &mut merge.resolutions.each) {
            if let Resolution::Set(value) = resolution {
                redact_value(value, pointer, &mut found);
            }
        }
        self.redact_replacement(&mut found)?;
        Ok(found)
    }

    fn redact_replacement(&mut self, found: &mut Vec<String>) -> Result<(), ChangeError> {
        let Some(content) = &mut self.replace else { return Ok(()) };
        let unreadable = |_| ChangeError::SecretName { what: "a name in the document" };
        let mut value = serde_json::to_value(&**content).map_err(unreadable)?;
        let before = found.len();
        redact_value(&mut value, "", found);
        if found.len() > before {
            **content = serde_json::from_value(value).map_err(unreadable)?;
        }
        Ok(())
    }

    /// Checks that no name looks like a secret.
    ///
    /// # Errors
    /// [`ChangeError::SecretName`] if one does.
    pub fn refuse_secret_names(&self) -> Result<(), ChangeError> {
        for phase in self.pipeline.iter().flat_map(|pipeline| &pipeline.phases) {
            refuse_secret("the id of a phase", phase.id.as_str())?;
        }
        let several = self.phases.iter().map(|change| &change.id);
        for phase in [&self.phase, &self.next_phase].into_iter().flatten().chain(several) {
            refuse_secret("the id of a phase", phase.as_str())?;
        }
        for task in &self.tasks {
            for id in task.after.iter().flatten().chain([&task.id]) {
                refuse_secret("the id of a task", id.as_str())?;
            }
        }
        for fact in &self.facts {
            refuse_secret("the name of an external fact", &fact.name)?;
        }
        let mut artifacts = self.artifacts.iter().collect::<Vec<_>>();
        if let Some(content) = &self.replace {
            for phase in &content.phases {
                refuse_secret("the id of a phase", phase.id.as_str())?;
            }
            for task in &content.tasks {
                refuse_secret("the id of a task", task.id.as_str())?;
            }
            artifacts.extend(&content.artifacts);
        }
        for artifact in artifacts {
            refuse_secret("the name of an artifact", &artifact.name)?;
            refuse_secret("the name of an artifact", &artifact.path)?;
        }
        Ok(())
    }
}

/// Checks that a name does not look like a secret.
///
/// # Errors
/// [`ChangeError::SecretName`] if it does.
pub fn refuse_secret(what: &'static str, name: &str) -> Result<(), ChangeError> {
    match redact_text(name) {
        Some(_) => Err(ChangeError::SecretName { what }),
        None => Ok(()),
    }
}

fn redact(text: &mut String, pointer: impl FnOnce() -> String, found: &mut Vec<String>) {
    if let Some(clean) = redact_text(text) {
        *text = clean;
        found.push(pointer());
    }
}
