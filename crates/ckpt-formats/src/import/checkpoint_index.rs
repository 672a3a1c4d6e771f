//! The index that crunch keeps of its checkpoints, and the doubts about it.

use std::collections::HashMap;

use serde_json::Value;

use ckpt_model::finding::{Code, Finding, Severity};

/// The most checkpoints of an index whose files are looked for.
const MAX_ENTRIES: usize = 10_000;

/// The most missing files that are named.
const MAX_NAMED: usize = 5;

/// An index: an entry for each checkpoint, by id.
#[derive(Debug)]
pub(super) struct CheckpointIndex {
    entries: HashMap<String, Value>,
    /// The id of the newest checkpoint that is there. The doubts concern that one.
    newest: Option<String>,
    findings: Vec<Finding>,
}

impl CheckpointIndex {
    /// Reads an index. `is_there` looks for the file of a checkpoint.
    pub(super) fn read(index: &Value, is_there: impl Fn(&str) -> bool) -> Option<Self> {
        let listed = index.as_object()?.get("checkpoints").and_then(Value::as_array);
        let id = |entry: &Value| entry.get("checkpoint_id").and_then(Value::as_str).map(str::to_owned);
        let listed: Vec<(String, &Value)> =
            listed.into_iter().flatten().take(MAX_ENTRIES).filter_map(|entry| Some((id(entry)?, entry))).collect();
        let mut entries = HashMap::new();
        let mut missing = Vec::new();
        let mut newest: Option<(&str, &String)> = None;
        for (id, entry) in &listed {
            if !is_there(id) {
                missing.push(id.as_str());
            } else {
                // The times of an index are of one form, and so compare as texts. Of equal ones, the later entry counts.
                let at = entry.get("created_at").and_then(Value::as_str).unwrap_or_default();
                if newest.is_none_or(|(newest, _)| at >= newest) {
                    newest = Some((at, id));
                }
            }
            entries.entry(id.clone()).or_insert_with(|| (*entry).clone());
        }
        let newest = newest.map(|(_, id)| id.clone());
        let mut findings = Vec::new();
        let latest = index.get("latest").and_then(Value::as_str).map(|latest| latest.trim_end_matches(".yaml"));
        if let (Some(latest), Some(newest)) = (latest, &newest)
            && latest != newest
        {
            let problem = if !entries.contains_key(latest) {
                "does not list it"
            } else if missing.contains(&latest) {
                "its file is missing"
            } else {
                "another one was saved later"
            };
            let message = format!("index: {latest} is said to be the latest, but {problem}; the newest is {newest}");
            findings.push(Finding::new(Severity::Confirm, Code::RecordsDisagree, message));
        }
        if !missing.is_empty() {
            let more = missing.len().saturating_sub(MAX_NAMED);
            missing.truncate(MAX_NAMED);
            let mut names = missing.join(", ");
            if more > 0 {
                names.push_str(&format!(" and {more} more"));
            }
            let message = format!("index: the files of these checkpoints are missing: {names}");
            findings.push(Finding::new(Severity::Advice, Code::RecordsDisagree, message));
        }
        Some(Self { entries, newest, findings })
    }

    /// Returns the entry of a checkpoint, and the doubts that concern it.
    pub(super) fn part_of(&self, id: &str) -> Option<(Value, Vec<Finding>)> {
        let entry = self.entries.get(id)?.clone();
        let is_newest = self.newest.as_deref() == Some(id);
        Some((entry, if is_newest { self.findings.clone() } else { Vec::new() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn findings(latest: &str, there: &[&str]) -> Vec<String> {
        let index = json!({"latest": latest, "checkpoints": [
            {"checkpoint_id": "CP-b", "created_at": "2026-01-02T00:00:00Z"},
            {"checkpoint_id": "CP-a", "created_at": "2026-01-01T00:00:00Z"},
            {"checkpoint_id": 7},
        ]});
        let index = CheckpointIndex::read(&index, |id| there.contains(&id)).unwrap();
        let newest = index.newest.clone().unwrap();
        let (entry, findings) = index.part_of(&newest).unwrap();
        assert_eq!(entry["checkpoint_id"], newest.as_str());
        findings.into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_wrong_latest_and_missing_files_are_findings() {
        assert_eq!(findings("CP-b", &["CP-a", "CP-b"]), [""; 0]);
        let stale = "index: CP-a is said to be the latest, but another one was saved later; the newest is CP-b";
        assert_eq!(findings("CP-a", &["CP-a", "CP-b"]), [stale]);
        let unknown = "index: CP-z is said to be the latest, but does not list it; the newest is CP-b";
        assert_eq!(findings("CP-z", &["CP-a", "CP-b"]), [unknown]);
        let gone = [
            "index: CP-b is said to be the latest, but its file is missing; the newest is CP-a",
            "index: the files of these checkpoints are missing: CP-b",
        ];
        assert_eq!(findings("CP-b", &["CP-a"]), gone);
    }
}
