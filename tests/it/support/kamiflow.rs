//! The phases of kamiflow, and what each of them has found out when it is complete.

use serde_json::{Value, json};

/// The data of a finished phase.
pub(crate) fn data(phase: &str) -> Value {
    match phase {
        "0" => json!({"requirementGroups": [{"category": "FEATURE", "requirements": ["Export as CSV"]}],
            "conflictsDetected": false, "projectContext": {"goal": "Reports", "techStack": "Rust"}}),
        "0.5" => json!({"filesVerified": ["src/report.rs"],
            "functionsVerified": [{"name": "render", "location": "report.rs:12"}],
            "dependenciesVerified": [{"name": "csv", "version": "1.3"}], "hallucinationRisks": "None",
            "status": "CLEAR_TO_PROCEED"}),
        "1" => json!({"questions": ["Who reads it?"], "answers": ["Accounting"],
            "diagnosticInsights": ["Semicolons are expected"]}),
        "2" => json!({"options": [{"id": "A", "name": "Plain", "ratings": {"marketPain": 4}},
            {"id": "B", "name": "Streaming", "ratings": {"marketPain": 5}},
            {"id": "C", "name": "Server", "ratings": {"marketPain": 2}}],
            "selectedOption": "B", "selectionReason": "No memory limit"}),
        "3A" => {
            json!({"spec": {"userStories": 2}, "build": {"totalTasks": 6, "phases": 2, "tddRequired": true},
            "handoff": {"constraints": ["No new dependency"], "documentation": ["README.md"]}})
        }
        "3B" => {
            json!({"validationReport": {"phaseA": "PASS", "phaseB": "PASS_WITH_NOTES", "warnings": ["slow"]},
            "gateDecision": "PASS", "retryCount": 0})
        }
        _ => {
            json!({"reflection": {"valueDelivered": "Less typing", "techDebt": "Minor", "followupTasks": ["052"]},
            "archivePath": "archive/051/", "commitHash": "a7f3d9c", "roadmapUpdated": true})
        }
    }
}
