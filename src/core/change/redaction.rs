//! Taking secrets out of a change before anything is written.

use super::{Change, Edit};
use crate::core::json::below;
use crate::core::phase::PhaseId;
use crate::core::redact::{redact_text, redact_value};
use crate::core::task::TaskId;

impl Change {
    /// Replaces every secret by `[REDACTED:rule]` and returns the JSON pointers of what was replaced.
    ///
    /// Names are not touched, because they would be other names then; [`secret_name`](Self::secret_name) finds those.
    pub fn redact(&mut self) -> Vec<String> {
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
                    Edit::Set(key, value) => {
                        redact(key, || pointer.to_owned(), &mut found);
                        let place = if key.starts_with('/') {
                            format!("{pointer}{key}")
                        } else {
                            below(pointer, key)
                        };
                        redact_value(value, &place, &mut found);
                    }
                }
            }
        }
        for (index, label) in self.labels.iter_mut().enumerate() {
            redact(label, || format!("/labels/{index}"), &mut found);
        }
        for (index, task) in self.tasks.iter_mut().enumerate() {
            for (name, text) in [("output", &mut task.output), ("error", &mut task.error)] {
                if let Some(text) = text {
                    redact(text, || format!("/tasks/{index}/{name}"), &mut found);
                }
            }
        }
        found
    }

    /// What is called by something that looks like a secret, if anything is.
    #[must_use]
    pub fn secret_name(&self) -> Option<&'static str> {
        let phases =
            self.pipeline.iter().flat_map(|pipeline| pipeline.phases.iter().map(|phase| phase.id.as_str()));
        let phases = phases.chain([&self.phase, &self.next_phase].into_iter().flatten().map(PhaseId::as_str));
        let tasks = self.tasks.iter().flat_map(|task| task.after.iter().flatten().chain([&task.id]));
        let tasks = tasks.map(TaskId::as_str);
        let paths =
            self.artifacts.iter().flat_map(|artifact| [artifact.name.as_str(), artifact.path.as_str()]);
        let names = phases
            .map(|name| ("the id of a phase", name))
            .chain(tasks.map(|name| ("the id of a task", name)))
            .chain(paths.map(|name| ("the name of an artifact", name)));
        names.filter(|(_, name)| redact_text(name).is_some()).map(|(what, _)| what).next()
    }
}

fn redact(text: &mut String, pointer: impl FnOnce() -> String, found: &mut Vec<String>) {
    if let Some(clean) = redact_text(text) {
        *text = clean;
        found.push(pointer());
    }
}
