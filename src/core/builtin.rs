//! The pipelines that come with the program: those of systems people already use.

use serde_json::Value;

use super::phase::PhaseId;
use super::pipeline::{OutputSpec, PhaseSpec, Pipeline};

/// A pipeline that comes with the program.
#[derive(Debug, Clone, Copy)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    phases: Phases,
}

#[derive(Debug, Clone, Copy)]
enum Phases {
    Fixed(&'static [Entry]),
    /// As many as `--total` says, named by their numbers.
    Numbered,
}

/// One phase: what a [`PhaseSpec`] holds, in a form that can be a constant.
#[derive(Debug, Clone, Copy)]
struct Entry {
    id: &'static str,
    name: &'static str,
    action: &'static str,
    approval: bool,
    drafts: Option<&'static str>,
    outputs: &'static [&'static str],
    data_schema: Option<&'static str>,
}

const fn phase(id: &'static str, name: &'static str, action: &'static str) -> Entry {
    Entry { id, name, action, approval: false, drafts: None, outputs: &[], data_schema: None }
}

impl Entry {
    const fn data(mut self, schema: &'static str) -> Self {
        self.data_schema = Some(schema);
        self
    }

    const fn approved(mut self) -> Self {
        self.approval = true;
        self
    }

    const fn approved_from(mut self, drafts: &'static str) -> Self {
        self.drafts = Some(drafts);
        self.approved()
    }

    const fn writes(mut self, outputs: &'static [&'static str]) -> Self {
        self.outputs = outputs;
        self
    }

    fn spec(&self) -> Option<PhaseSpec> {
        Some(PhaseSpec {
            name: Some(self.name.to_owned()),
            action: Some(self.action.to_owned()),
            approval: self.approval,
            approval_evidence: self.drafts.map(str::to_owned),
            outputs: self
                .outputs
                .iter()
                .map(|path| OutputSpec { path: (*path).to_owned(), schema: None })
                .collect(),
            data_schema: self.data_schema.and_then(|text| serde_json::from_str(text).ok()),
            ..PhaseSpec::bare(self.id.parse().ok()?)
        })
    }
}

/// All of them.
pub const ALL: [Builtin; 5] = [
    Builtin {
        name: "kamiflow",
        about: "seven phases from a logical guard to a strategic exit",
        phases: Phases::Fixed(&[
            phase("0", "Logical Guard", "Group the requirements and look for conflicts").data(GUARD),
            phase("0.5", "Assumption Verification", "Verify files, functions and dependencies")
                .data(VERIFICATION),
            phase("1", "Diagnostic Interview", "Ask the questions and record the answers").data(INTERVIEW),
            phase("2", "Strategic Synthesis", "Generate three options and have one chosen")
                .data(SYNTHESIS)
                .approved(),
            phase("3A", "Artifact Generation", "Generate S2-SPEC, S3-BUILD and S4-HANDOFF").data(ARTIFACTS),
            phase("3B", "Validation Loop", "Validate the artifacts and pass the gate").data(VALIDATION),
            phase("4", "Strategic Exit", "Reflect, commit and archive the task").data(EXIT),
        ]),
    },
    Builtin {
        name: "dotagent",
        about: "five phases with reports under memory/, an approval of the design",
        phases: Phases::Fixed(&[
            phase("REQUIREMENTS", "Requirements", "Write memory/reports/demand.json")
                .writes(&["memory/reports/demand.json"]),
            phase(
                "ARCHITECTURE",
                "Architecture",
                "Design, have a design chosen, write memory/reports/final_design.json",
            )
            .writes(&["memory/reports/final_design.json"])
            .approved_from("memory/reports/designs/"),
            phase("IMPLEMENTATION", "Implementation", "Work through the tasks"),
            phase("VERIFICATION", "Verification", "Write memory/reports/verification.json")
                .writes(&["memory/reports/verification.json"]),
            phase("REFLECTION", "Reflection", "Write memory/reports/reflection.json")
                .writes(&["memory/reports/reflection.json"]),
        ]),
    },
    Builtin {
        name: "crunch",
        about: "five phases of an issue",
        phases: Phases::Fixed(&[
            phase("enrich", "Enrich", "Complete the description of the issue"),
            phase("ready", "Ready", "Make the issue ready to be worked on"),
            phase("implementing", "Implementing", "Work through the batches"),
            phase("validation", "Validation", "Validate the result"),
            phase("docs", "Docs", "Bring the documentation up to date"),
        ]),
    },
    Builtin {
        name: "claude-dir",
        about: "numbered phases, as many as --total says",
        phases: Phases::Numbered,
    },
    Builtin {
        name: "claude-plan",
        about: "the numbered phases of a plan, as many as --total says",
        phases: Phases::Numbered,
    },
];

/// The one of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Builtin> {
    ALL.iter().find(|builtin| builtin.name == name)
}

impl Builtin {
    /// Whether it needs a number of phases.
    #[must_use]
    pub fn is_numbered(&self) -> bool {
        matches!(self.phases, Phases::Numbered)
    }

    /// The pipeline; for a numbered one, with `total` phases.
    #[must_use]
    pub fn pipeline(&self, total: u32) -> Pipeline {
        let phases = match self.phases {
            Phases::Fixed(entries) => entries.iter().filter_map(Entry::spec).collect(),
            Phases::Numbered => PhaseId::numbered(total).map(PhaseSpec::bare).collect(),
        };
        Pipeline { name: self.name.to_owned(), phases }
    }

    /// The schema of the data of one phase, without building the rest.
    #[must_use]
    pub fn data_schema(&self, phase: &PhaseId) -> Option<Value> {
        let Phases::Fixed(entries) = self.phases else { return None };
        let entry = entries.iter().find(|entry| entry.id == phase.as_str())?;
        entry.data_schema.and_then(|text| serde_json::from_str(text).ok())
    }
}

// What a phase records may grow while it is worked on, so nothing is required: known members have known types.

const GUARD: &str = r#"{"type":"object","properties":{
  "requirementGroups":{"type":"array","items":{"type":"object","properties":{
    "category":{"type":"string"},"requirements":{"type":"array","items":{"type":"string"}}}}},
  "conflictsDetected":{"type":"boolean"},
  "projectContext":{"type":"object"}}}"#;

const VERIFICATION: &str = r#"{"type":"object","properties":{
  "filesVerified":{"type":"array","items":{"type":"string"}},
  "functionsVerified":{"type":"array","items":{"type":"object"}},
  "dependenciesVerified":{"type":"array","items":{"type":"object"}},
  "hallucinationRisks":{"type":["string","array"]},
  "status":{"type":"string"}}}"#;

const INTERVIEW: &str = r#"{"type":"object","properties":{
  "questions":{"type":"array","items":{"type":"string"}},
  "answers":{"type":"array","items":{"type":"string"}},
  "diagnosticInsights":{"type":"array","items":{"type":"string"}}}}"#;

const SYNTHESIS: &str = r#"{"type":"object","properties":{
  "options":{"type":"array","items":{"type":"object","properties":{
    "id":{"type":"string"},"name":{"type":"string"},
    "ratings":{"type":"object","additionalProperties":{"type":"number"}}}}},
  "selectedOption":{"type":["string","null"]},
  "selectionReason":{"type":"string"}}}"#;

const ARTIFACTS: &str = r#"{"type":"object","properties":{
  "spec":{"type":"object"},
  "build":{"type":"object","properties":{
    "totalTasks":{"type":"integer"},"phases":{"type":"integer"},"tddRequired":{"type":"boolean"}}},
  "handoff":{"type":"object"}}}"#;

const VALIDATION: &str = r#"{"type":"object","properties":{
  "validationReport":{"type":"object"},
  "gateDecision":{"type":"string"},
  "retryCount":{"type":"integer","minimum":0}}}"#;

const EXIT: &str = r#"{"type":"object","properties":{
  "reflection":{"type":"object"},
  "archivePath":{"type":"string"},
  "commitHash":{"type":"string"},
  "roadmapUpdated":{"type":"boolean"}}}"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_is_a_pipeline_with_valid_schemas() {
        for builtin in ALL {
            let pipeline = builtin.pipeline(4);
            let checked = Pipeline::new(pipeline.name.clone(), pipeline.phases.clone()).unwrap();
            assert_eq!(checked.name, builtin.name);
            for phase in &checked.phases {
                assert_eq!(builtin.data_schema(&phase.id), phase.data_schema);
                if let Some(schema) = &phase.data_schema {
                    assert_eq!(crate::core::schema::validate(schema, &serde_json::json!({})), Ok(Vec::new()));
                }
            }
        }
        let count = |name: &str| find(name).unwrap().pipeline(6).phases.len();
        assert_eq!(
            (count("kamiflow"), count("dotagent"), count("crunch"), count("claude-plan")),
            (7, 5, 5, 6)
        );
    }

    #[test]
    fn every_schema_text_parses() {
        for text in [GUARD, VERIFICATION, INTERVIEW, SYNTHESIS, ARTIFACTS, VALIDATION, EXIT] {
            serde_json::from_str::<Value>(text).unwrap();
        }
    }
}
