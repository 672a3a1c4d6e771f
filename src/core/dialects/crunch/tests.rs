use std::path::Path;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::core::checkpoint::{Artifact, Checkpoint, LastError, WorkflowStatus};
use crate::core::dialects::testing::{
    codes, imported, nested_values, phases, read as read_as, round_trip, with,
};
use crate::core::dialects::{Dialect, DialectFiles, Document, Notation, Reading, to_yaml};
use crate::core::finding::{Code, Severity};
use crate::core::phase::PhaseStatus;
use crate::core::resume::{Facts, GitFact, Limits, Resume, evaluate};
use crate::core::task::{Task, TaskStatus};
use crate::core::time::Timestamp;
use crate::core::trigger::Trigger;

const CRUNCH: Dialect = Dialect::Crunch;

fn checkpoint() -> Value {
    json!({
        "checkpoint_id": "CP-implementing-20260204-9b1c",
        "version": "1.0",
        "created_at": "2026-02-04T08:00:00Z",
        "issue_number": 318,
        "session_id": "0a1b",
        "workflow_state": {
            "current_phase": "implementing",
            "current_state_label": "state:implementing",
            "phase_started_at": "2026-02-04T07:30:00Z",
            "phase_attempt": 2
        },
        "issue_snapshot": {
            "title": "Cache the thumbnails",
            "body": "They are slow.\nAll of them.",
            "labels": ["state:implementing", "type:feature", "a, b"],
            "assignees": [],
            "branch": "feature/issue-318-thumbnails"
        },
        "team_state": {"team_id": "TEAM-1", "members": [{"agent": "builder", "status": "active"}]},
        "execution_graph": {
            "graph_id": "GRAPH-1",
            "completed_batches": [1],
            "current_batch": 2,
            "node_states": {
                "design": {"status": "completed", "result": "fine", "completed_at": "2026-02-04T07:40:00Z", "x": 1},
                "cache": {"status": "running", "started_at": "2026-02-04T07:45:00Z", "depends_on": ["design"]},
                "evict": {"status": "pending", "depends_on": ["cache"]}
            }
        },
        "agent_outputs": {
            "architect": {
                "write_spec": {"output_summary": "A spec", "output_location": ".claude/crunch/318/spec.md"},
                "ask": {"output_summary": "Two questions"}
            }
        },
        "acp_state": {"pending_messages": ["MSG-1"]},
        "knowledge_context": {"pending_captures": []},
        "files_modified": [
            {"path": "src/cache.rs", "status": "modified", "staged": true},
            {"path": "src/old.rs", "status": "deleted", "staged": true}
        ],
        "recovery_info": {
            "can_resume": true,
            "resume_from": "batch_2_task_1",
            "prerequisites_met": true,
            "warnings": []
        }
    })
}

fn entry() -> Value {
    json!({
        "checkpoint_id": "CP-implementing-20260204-9b1c",
        "created_at": "2026-02-04T08:00:00Z",
        "trigger": "batch_complete",
        "phase": "implementing",
        "can_resume": true
    })
}

fn read(document: &Value) -> Reading {
    assert_eq!(Dialect::detect(document), CRUNCH);
    read_as(CRUNCH, document, Some(&entry()))
}

/// Returns the codes of the findings but that of implied phases, which nearly every reading has.
fn other_codes(reading: &Reading) -> Vec<&'static str> {
    codes(reading).into_iter().filter(|code| *code != "phases_implied").collect()
}

fn finding(reading: &Reading, code: Code) -> (Severity, &str) {
    let found = reading.findings.iter().find(|finding| finding.code == code).unwrap();
    (found.severity, found.message.as_str())
}

fn judged(document: &Value, facts: &Facts) -> Resume {
    let checkpoint = imported(CRUNCH, document, Some(&entry()));
    evaluate(&checkpoint, facts, &Limits::default(), checkpoint.saved_at)
}

fn written(checkpoint: &Checkpoint) -> DialectFiles {
    CRUNCH.write(checkpoint, Path::new("/project")).unwrap()
}

mod reading {
    use super::*;

    #[test]
    fn the_id_of_a_checkpoint_names_its_phase_or_none() {
        let mut document = checkpoint();
        document["workflow_state"] = json!({});
        let phase = |id: &str| {
            let document = with(document.clone(), json!({"checkpoint_id": id}));
            read_as(CRUNCH, &document, None).draft.content.phase
        };
        assert_eq!(phase("CP-docs-20260204080000-0000").unwrap().as_str(), "docs");
        assert_eq!(phase("CP-none-20260204080000-0000"), None);
    }

    #[test]
    fn the_current_phase_is_resumed_and_those_before_it_are_complete() {
        let reading = read(&checkpoint());
        let draft = &reading.draft;
        assert_eq!(draft.workflow.as_deref(), Some("318"));
        assert_eq!(draft.content.title.as_deref(), Some("Cache the thumbnails"));
        assert_eq!(draft.recorded_at.unwrap().to_string(), "2026-02-04T08:00:00.000Z");
        assert_eq!(draft.content.pipeline.as_deref(), Some("crunch"));
        assert_eq!(draft.trigger, Some(Trigger::BatchComplete));
        assert_eq!(
            phases(draft),
            [
                ("enrich", "complete"),
                ("ready", "complete"),
                ("implementing", "in_progress"),
                ("validation", "pending"),
                ("docs", "pending")
            ]
        );
        let current = &draft.content.phases[2];
        assert_eq!((current.attempts, current.name.as_deref()), (2, Some("Implementing")));
        assert_eq!(current.started_at.unwrap().to_string(), "2026-02-04T07:30:00.000Z");
        let next = draft.content.next.as_ref().unwrap();
        assert_eq!(next.phase.as_ref().unwrap().as_str(), "implementing");
        assert_eq!(next.action.as_deref(), Some("batch_2_task_1"));
        assert_eq!(codes(&reading), ["phases_implied"]);
        assert_eq!(finding(&reading, Code::PhasesImplied).0, Severity::Info);
    }

    #[test]
    fn nodes_are_the_tasks_of_the_current_phase() {
        let draft = read(&checkpoint()).draft;
        let tasks: Vec<_> =
            draft.content.tasks.iter().map(|task| (task.id.as_str(), task.status.word())).collect();
        assert_eq!(tasks, [("design", "complete"), ("cache", "running"), ("evict", "pending")]);
        assert!(draft.content.tasks.iter().all(|task| task.phase == draft.content.phase));
        assert_eq!(draft.content.tasks[1].depends_on[0].as_str(), "design");
        assert_eq!(draft.content.tasks[0].completed_at.unwrap().to_string(), "2026-02-04T07:40:00.000Z");
        let odd = json!({"execution_graph": {"node_states": {
            "a,b": "completed", "": {"status": "done"}, "c": {"status": "failed", "result": "no disk", "attempts": 3},
            "d": {"status": "blue"}, "e": 7, "a;b": "pending"}}});
        let document = with(checkpoint(), odd);
        let reading = read(&document);
        let of = |id: &str| reading.draft.content.tasks.iter().find(|task| task.id.as_str() == id).unwrap();
        assert_eq!(of("a;b").status, TaskStatus::Complete);
        assert_eq!((of("c").error.as_deref(), of("c").attempts), (Some("no disk"), 3));
        assert_eq!((of("d").status, of("e").status), (TaskStatus::Pending, TaskStatus::Pending));
        assert_eq!(other_codes(&reading), ["phase_unreadable", "status_unknown", "phase_unreadable"]);
        round_trip(CRUNCH, &document, Some(&entry()));
    }

    #[test]
    fn outputs_and_modified_files_are_artifacts_but_not_deleted_ones() {
        let draft = read(&checkpoint()).draft;
        assert_eq!(
            draft.content.artifacts,
            [
                Artifact::new("architect/write_spec", ".claude/crunch/318/spec.md"),
                Artifact::new("src/cache.rs", "src/cache.rs")
            ]
        );
        let data = draft.content.phases[2].data.as_ref().unwrap().to_value().unwrap();
        assert_eq!(data, checkpoint()["agent_outputs"]);
    }

    #[test]
    fn labels_that_fit_are_labels_and_the_branch_is_the_branch() {
        let draft = read(&checkpoint()).draft;
        assert_eq!(draft.content.labels, ["state:implementing", "type:feature"]);
        assert_eq!(draft.git.unwrap().branch.as_deref(), Some("feature/issue-318-thumbnails"));
    }

    #[test]
    fn a_branch_that_is_gone_blocks_whatever_else_has_changed() {
        let git = GitFact { branch: Some("main".to_owned()), recorded_branch_exists: Some(false) };
        let facts = Facts { git: Some(git), ..Facts::default() };
        let resume = judged(&checkpoint(), &facts);
        assert!(
            resume.findings.iter().any(|finding| finding.code == Code::BranchMissing),
            "{:?}",
            resume.findings
        );
        assert_eq!(resume.verdict.word(), "blocked");
    }

    #[test]
    fn what_cannot_be_resumed_is_blocked_with_the_reasons() {
        let told = json!({"recovery_info": {"can_resume": false, "warnings": ["Branch deleted", {"n": 1}]}});
        let reading = read(&with(checkpoint(), told));
        let (severity, message) = finding(&reading, Code::CannotResume);
        assert_eq!(severity, Severity::Blocker);
        assert!(message.ends_with("Branch deleted; {\"n\":1}"), "{message}");
    }

    #[test]
    fn warnings_are_advice_and_missing_prerequisites_need_confirmation() {
        let told = json!({"recovery_info": {"warnings": ["Labels changed"], "prerequisites_met": false}});
        let reading = read(&with(checkpoint(), told));
        let told: Vec<_> =
            reading.findings.iter().filter(|f| f.code == Code::Imported).map(|f| f.severity).collect();
        assert_eq!(told, [Severity::Advice, Severity::Confirm]);
        let one = read(&with(checkpoint(), json!({"recovery_info": {"warnings": "Slow"}})));
        assert!(finding(&one, Code::Imported).1.ends_with("Slow"));
    }

    #[test]
    fn the_index_fills_in_what_the_checkpoint_lacks() {
        let mut document = checkpoint();
        document["workflow_state"] = json!({});
        document["created_at"] = json!(null);
        document["recovery_info"] = json!({});
        let mut entry = entry();
        entry["can_resume"] = json!(false);
        let reading = read_as(CRUNCH, &document, Some(&entry));
        assert_eq!(reading.draft.content.phase.as_ref().unwrap().as_str(), "implementing");
        assert!(reading.draft.recorded_at.is_some());
        assert_eq!(other_codes(&reading), ["cannot_resume"]);
        round_trip(CRUNCH, &document, Some(&entry));
    }

    #[test]
    fn the_checkpoint_takes_precedence_over_the_index() {
        let other = with(entry(), json!({"phase": "docs", "can_resume": false}));
        let reading = read_as(CRUNCH, &checkpoint(), Some(&other));
        assert_eq!(other_codes(&reading), ["records_disagree", "records_disagree"]);
        assert_eq!(reading.draft.content.phase.unwrap().as_str(), "implementing");
        round_trip(CRUNCH, &checkpoint(), Some(&other));
    }

    #[test]
    fn the_trigger_may_be_in_the_checkpoint() {
        let document = with(checkpoint(), json!({"trigger": "user-interrupt"}));
        let reading = read_as(CRUNCH, &document, None);
        assert_eq!(reading.draft.trigger, Some(Trigger::UserInterrupt));
        round_trip(CRUNCH, &document, None);
    }

    #[test]
    fn the_phase_is_read_from_every_place_it_may_be_in() {
        for state in [
            json!({"current_phase": "Validation"}),
            json!({"current_phase": "state:validation"}),
            json!({"current_state_label": "state:validation"}),
        ] {
            let mut document = checkpoint();
            document["workflow_state"] = state;
            let draft = read_as(CRUNCH, &document, None).draft;
            assert_eq!(draft.content.phase.unwrap().as_str(), "validation");
            round_trip(CRUNCH, &document, None);
        }
        let mut named = checkpoint();
        named["workflow_state"] = json!({});
        assert_eq!(read_as(CRUNCH, &named, None).draft.content.phase.unwrap().as_str(), "implementing");
        named["checkpoint_id"] = json!("x");
        let reading = read_as(CRUNCH, &named, None);
        assert_eq!(
            (reading.draft.content.phase, reading.draft.content.pipeline, reading.draft.content.phases.len()),
            (None, None, 0)
        );
        round_trip(CRUNCH, &named, None);
    }

    #[test]
    fn an_unknown_phase_is_resumed_without_a_guess_about_the_others() {
        let document = with(checkpoint(), json!({"workflow_state": {"current_phase": "deploying"}}));
        let reading = read_as(CRUNCH, &document, None);
        assert_eq!(phases(&reading.draft), [("deploying", "in_progress")]);
        assert_eq!(
            (reading.draft.content.pipeline.as_deref(), other_codes(&reading)),
            (None, vec!["records_disagree", "phases_unknown"])
        );
        round_trip(CRUNCH, &document, None);
    }

    #[test]
    fn it_is_complete_only_if_the_checkpoint_is() {
        let docs = json!({"workflow_state": {"current_phase": "docs", "current_state_label": "state:docs"},
            "recovery_info": {"resume_from": null}});
        let last = with(checkpoint(), docs);
        let draft = read_as(CRUNCH, &last, None).draft;
        assert_eq!(
            (draft.content.status, draft.content.phases[4].status),
            (WorkflowStatus::InProgress, PhaseStatus::InProgress)
        );
        for told in [
            json!({"workflow_state": {"status": "done"}}),
            json!({"workflow_state": {"current_phase": "complete"}}),
        ] {
            let document = with(last.clone(), told);
            let draft = read_as(CRUNCH, &document, None).draft;
            assert_eq!(
                (draft.content.status, draft.content.phases[4].status),
                (WorkflowStatus::Complete, PhaseStatus::Complete)
            );
            assert_eq!(judged(&document, &Facts::default()).verdict.word(), "complete");
            round_trip(CRUNCH, &document, None);
        }
        let early = with(checkpoint(), json!({"status": "completed"}));
        let resume = judged(&early, &Facts::default());
        assert_eq!(resume.phase.unwrap().as_str(), "implementing");
        assert!(resume.findings.iter().any(|finding| finding.code == Code::StatusDisagrees));
    }

    #[test]
    fn a_phase_recorded_as_failed_is_not_done() {
        let document = with(checkpoint(), json!({"workflow_state": {"status": "failed"}}));
        assert_eq!(read(&document).draft.content.phases[2].status, PhaseStatus::Failed);
        round_trip(CRUNCH, &document, Some(&entry()));
    }

    #[test]
    fn a_newer_version_is_not_resumed() {
        for version in [json!("1.1"), json!("2.0"), json!(2)] {
            let reading = read(&with(checkpoint(), json!({"version": version})));
            assert_eq!(finding(&reading, Code::FormatNewer).0, Severity::Blocker);
        }
        assert!(other_codes(&read(&with(checkpoint(), json!({"version": 1.0})))).is_empty());
    }

    #[test]
    fn issues_may_be_numbers_or_texts() {
        for (number, workflow) in [(json!(7), "7"), (json!("#42"), "42"), (json!("PROJ-9"), "PROJ-9")] {
            let document = with(checkpoint(), json!({"issue_number": number}));
            assert_eq!(read(&document).draft.workflow.as_deref(), Some(workflow));
            round_trip(CRUNCH, &document, Some(&entry()));
        }
    }

    #[test]
    fn other_documents_are_not_recognised() {
        for other in [
            json!({"issue_number": 1, "workflow_state": {}}),
            json!({"issue_number": 1, "recovery_info": {}}),
            json!({"workflow_state": {}, "recovery_info": {}}),
            json!({"issue_number": 1, "workflow_state": "x", "recovery_info": {}}),
            json!("issue_number"),
        ] {
            assert_ne!(Dialect::detect(&other), CRUNCH, "{other}");
        }
    }
}

mod writing {
    use super::*;

    #[test]
    fn an_import_without_changes_is_written_back_unchanged() {
        round_trip(CRUNCH, &checkpoint(), Some(&entry()));
        round_trip(CRUNCH, &checkpoint(), None);
        let odd = json!({
            "workflow_state": {"phase_attempt": "two", "phase_started_at": "ISO-8601", "status": "blue"},
            "issue_snapshot": {"labels": [1, "type:feature", "type:feature", null], "branch": null},
            "execution_graph": {"node_states": {"n": "done"}},
            "agent_outputs": {"x": 5, "y": {"z": "text"}, "a/b": {"c": {"output_location": null}}},
            "files_modified": ["a.rs", {"path": ""}, 3, "a.rs"],
            "recovery_info": {"warnings": null, "can_resume": "yes"},
            "mine": [null, 0, "", false, 0.10]
        });
        round_trip(CRUNCH, &with(checkpoint(), odd), Some(&json!({"phase": 3})));
    }

    #[test]
    fn yaml_and_json_are_the_same() {
        let text = to_yaml(&checkpoint());
        let document = Document::parse(text.as_bytes()).unwrap();
        assert_eq!((document.notation, &document.value), (Notation::Yaml, &checkpoint()));
    }

    #[test]
    fn many_files_and_labels_survive_a_later_save() {
        let names = |letter: &str| (0..40_000).map(|n| json!(format!("{letter}{n}"))).collect::<Value>();
        let mut large = checkpoint();
        large["files_modified"] = names("f");
        large["issue_snapshot"]["labels"] = names("l");
        let mut saved = imported(CRUNCH, &large, None);
        saved.content.labels.push("urgent".to_owned());
        let labels = written(&saved).main["issue_snapshot"]["labels"].as_array().map(Vec::len);
        assert_eq!(labels, Some(40_001));
    }

    #[test]
    fn a_later_save_is_written() {
        let mut saved = imported(CRUNCH, &checkpoint(), Some(&entry()));
        let later = Timestamp::parse("2026-02-05T10:11:12Z").unwrap();
        saved.saved_at = later;
        saved.trigger = Trigger::PhaseTransition;
        saved.save_id = "77ffeedd".to_owned();
        saved.content.phases[2].enter(PhaseStatus::Complete, later);
        saved.content.tasks[1].enter(TaskStatus::Complete, later);
        saved.content.tasks.push(Task::pending("measure".parse().unwrap(), saved.content.phase.clone()));
        let next = saved.content.next.as_mut().unwrap();
        (next.phase, next.action) = (Some("validation".parse().unwrap()), Some("run the checks".to_owned()));
        saved.content.artifacts.push(Artifact {
            name: "bench".to_owned(),
            path: "bench.txt".to_owned(),
            size: None,
            sha256: None,
            phase: None,
            extra: Default::default(),
        });
        saved.content.labels.push("urgent".to_owned());
        saved.context.git = None;
        let id = "CP-validation-20260205101112-77ff";
        let mut expected = with(
            checkpoint(),
            json!({
                "checkpoint_id": id,
                "created_at": "2026-02-05T10:11:12.000Z",
                "workflow_state": {"current_phase": "validation", "current_state_label": "state:validation",
                    "phase_started_at": null, "phase_attempt": 1},
                "issue_snapshot": {"labels": ["state:implementing", "type:feature", "a, b", "urgent"]},
                "execution_graph": {"node_states": {
                    "cache": {"status": "completed", "completed_at": "2026-02-05T10:11:12.000Z"},
                    "measure": {"status": "pending"}}},
                "recovery_info": {"resume_from": "run the checks"}
            }),
        );
        let new = json!({"path": "bench.txt", "status": "modified", "staged": false});
        expected["files_modified"].as_array_mut().unwrap().push(new);
        let of = json!({"design": "implementing", "cache": "implementing", "evict": "implementing",
            "measure": "implementing"});
        expected["knowledge_context"]["ckpt"] = json!({"saved_at": "2026-02-05T10:11:12.000Z",
            "artifacts": [{"name": "bench", "path": "bench.txt"}],
            "phase_of": {"tasks": of, "data": {"architect": ["implementing"]}}});
        let files = written(&saved);
        assert_eq!(files.main, expected);
        assert_eq!(
            files.companion.unwrap(),
            with(
                entry(),
                json!({"checkpoint_id": id, "created_at": "2026-02-05T10:11:12.000Z", "trigger": "phase_transition",
                    "phase": "validation"})
            )
        );
    }

    #[test]
    fn a_failure_and_the_end_are_written() {
        let mut saved = imported(CRUNCH, &checkpoint(), None);
        saved.content.phases[2].enter(PhaseStatus::Failed, saved.saved_at);
        saved.content.last_error = Some(LastError {
            message: "out of memory".to_owned(),
            phase: saved.content.phase.clone(),
            at: saved.saved_at,
            extra: Default::default(),
        });
        let failed = read_as(CRUNCH, &written(&saved).main, None);
        assert_eq!(failed.draft.content.phases[2].status, PhaseStatus::Failed);
        assert!(finding(&failed, Code::Imported).1.ends_with("out of memory"));

        for phase in &mut saved.content.phases {
            phase.enter(PhaseStatus::Complete, saved.saved_at);
        }
        (saved.content.status, saved.content.next, saved.content.last_error) =
            (WorkflowStatus::Complete, None, None);
        let over = read_as(CRUNCH, &written(&saved).main, None).draft;
        assert_eq!((over.content.status, over.content.next), (WorkflowStatus::Complete, None));
        assert_eq!(over.content.artifacts.len(), 2);
    }

    #[test]
    fn a_moved_output_is_written_where_it_was_named() {
        let mut saved = imported(CRUNCH, &checkpoint(), None);
        saved.content.artifacts[0].path = "docs/spec.md".to_owned();
        saved.content.artifacts[1].path = "src/store/cache.rs".to_owned();
        let main = written(&saved).main;
        assert_eq!(
            main["agent_outputs"]["architect"]["write_spec"]["output_location"],
            json!("docs/spec.md")
        );
        let moved = json!({"path": "src/store/cache.rs", "status": "modified", "staged": true});
        assert_eq!(main["files_modified"][0], moved);
    }

    #[test]
    fn a_new_document_has_all_members_of_the_dialect() {
        let mut saved = imported(CRUNCH, &checkpoint(), Some(&entry()));
        saved.content.state = Default::default();
        let files = written(&saved);
        assert_eq!(files.main["issue_number"], json!(318));
        assert_eq!(files.main["checkpoint_id"], json!("CP-implementing-20260204080000-0000"));
        let (before, after) =
            (read(&checkpoint()).draft, read_as(CRUNCH, &files.main, files.companion.as_ref()).draft);
        assert_eq!(after, before);
    }
}

fn values() -> BoxedStrategy<Value> {
    const WORDS: [&str; 9] =
        ["failed", "completed", "running", "later", "docs", "ready", "state:validation", "a/b", "2026-01-01"];
    const KEYS: [&str; 22] = [
        "current_phase",
        "current_state_label",
        "phase_attempt",
        "status",
        "labels",
        "branch",
        "title",
        "node_states",
        "depends_on",
        "a",
        "a/b",
        "b",
        "output_location",
        "path",
        "can_resume",
        "resume_from",
        "warnings",
        "prerequisites_met",
        "phase",
        "trigger",
        "created_at",
        "error",
    ];
    nested_values(&WORDS, &KEYS)
}

prop_compose! {
    fn document()(
        members in prop::collection::vec((prop::sample::select(vec![
            "checkpoint_id", "version", "created_at", "issue_number", "workflow_state", "issue_snapshot",
            "execution_graph", "agent_outputs", "files_modified", "recovery_info", "status", "trigger", "mine",
        ]), values()), 0..6),
        phase in prop::sample::select(vec!["enrich", "ready", "implementing", "validation", "docs", "odd", "done"]),
        status in prop::option::of(prop::sample::select(vec!["failed", "done", "active", "blue"])),
        nodes in prop::collection::vec(("[a-c,=]{0,2}", values()), 0..4),
        outputs in values(),
        removed in prop::collection::vec(0..16_usize, 0..4),
    ) -> Value {
        let mut document = checkpoint();
        document["workflow_state"]["current_phase"] = json!(phase);
        document["workflow_state"]["status"] = json!(status);
        document["execution_graph"]["node_states"] = Value::Object(nodes.into_iter().collect::<Map<_, _>>());
        document["agent_outputs"]["b"] = outputs;
        let page = document.as_object_mut().unwrap();
        for index in removed {
            let key = page.keys().nth(index).cloned();
            key.and_then(|key| page.shift_remove(&key));
        }
        page.extend(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>());
        document
    }
}

proptest! {
    #[test]
    fn any_document_is_read_and_written_back(
        document in document(),
        companion in prop::option::of(prop_oneof![Just(entry()), values()]),
    ) {
        let draft = read_as(CRUNCH, &document, companion.as_ref()).draft;
        round_trip(CRUNCH, &document, companion.as_ref());
        let over = document.pointer("/workflow_state/current_phase") == Some(&json!("done"));
        if document.pointer("/workflow_state/status") == Some(&json!("failed")) && !over {
            let current = draft.content.phases.iter().find(|phase| Some(&phase.id) == draft.content.phase.as_ref());
            prop_assert!(current.is_none_or(|phase| phase.status == PhaseStatus::Failed));
        }
        let mut ids: Vec<_> = draft.content.tasks.iter().map(|task| task.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), draft.content.tasks.len());
    }

    #[test]
    fn a_save_on_any_document_is_read_back(document in document()) {
        let mut saved = imported(CRUNCH, &document, None);
        if let Some(phase) = saved.content.phases.iter_mut().find(|phase| !phase.status.is_done()) {
            phase.enter(PhaseStatus::Complete, saved.saved_at);
        }
        for task in &mut saved.content.tasks {
            task.enter(TaskStatus::Complete, saved.saved_at);
        }
        let main = written(&saved).main;
        let draft = read_as(CRUNCH, &main, None).draft;
        let done = |phases: &[crate::core::phase::Phase]| phases.iter().filter(|p| p.status.is_done()).count();
        prop_assert_eq!(done(&draft.content.phases), done(&saved.content.phases), "{:#}", main);
        prop_assert!(draft.content.tasks.iter().all(|task| task.status == TaskStatus::Complete), "{:#}", main);
    }
}
