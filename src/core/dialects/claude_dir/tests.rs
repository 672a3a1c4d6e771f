use std::path::Path;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::core::change::{Change, Reopen, Stamp};
use crate::core::checkpoint::{Artifact, Checkpoint, LastError, Replan, WorkflowStatus};
use crate::core::dialects::testing::{
    codes, done, imported, nested_values, phases, round_trip, with, without,
};
use crate::core::dialects::{Dialect, Draft, Reading};
use crate::core::finding::{Code, Severity};
use crate::core::phase::{Phase, PhaseStatus};
use crate::core::resume::{Facts, Limits, Resume, evaluate};
use crate::core::time::Timestamp;

const DIR: Dialect = Dialect::ClaudeDir;

fn first_version() -> Value {
    json!({
        "checkpoint_id": "orchestrate_payment_flow_20260203_091500",
        "workflow_type": "orchestrate",
        "workflow_description": "Add the payment flow",
        "created_at": "2026-02-03T09:15:00Z",
        "updated_at": "2026-02-03T10:20:30Z",
        "status": "in_progress",
        "current_phase": 2,
        "total_phases": 4,
        "completed_phases": [1],
        "workflow_state": {
            "project_name": "payment_flow",
            "artifact_registry": {"report": "docs/report.md", "plan": {"path": "docs/plan.md", "kind": "plan"}},
            "research_results": ["a", {"b": 1.50}],
            "plan_path": "docs/plan.md"
        },
        "last_error": null
    })
}

fn newest_version() -> Value {
    json!({
        "schema_version": "2.1",
        "checkpoint_id": "implement_search_20260301_120000",
        "workflow_type": "implement",
        "project_name": "search",
        "workflow_description": "Build the search",
        "created_at": "2026-03-01T12:00:00Z",
        "updated_at": "2026-03-01T13:00:00Z",
        "status": "in_progress",
        "current_phase": 1,
        "total_phases": 5,
        "completed_phases": [0, 1],
        "state_machine": {
            "current_state": "explore",
            "completed_states": ["setup", "explore"],
            "transition_table": {"setup": "explore", "explore": "design,complete", "design": "build,audit"},
            "workflow_config": {"scope": "all"}
        },
        "workflow_state": {
            "state_machine": {
                "current_state": "explore",
                "completed_states": ["setup", "explore"],
                "transition_table": {"setup": "explore"}
            },
            "current_phase": 1,
            "total_phases": 5,
            "completed_phases": [0, 1],
            "status": "in_progress",
            "tests_passing": true,
            "plan_path": null
        },
        "phase_data": {"1": {"found": 3}},
        "supervisor_state": {},
        "error_state": {"last_error": null, "retry_count": 0, "failed_state": null},
        "metadata": {"checkpoint_id": "implement_search_20260301_120000", "updated_at": "2026-03-01T13:00:00Z"},
        "last_error": null,
        "tests_passing": true,
        "plan_modification_time": null,
        "replanning_count": 1,
        "last_replan_reason": "too large",
        "replan_phase_counts": {"phase_1": 1},
        "replan_history": [{"phase": 1, "timestamp": "2026-03-01T12:30:00Z", "reason": "too large", "by": "me"}],
        "topic_directory": null,
        "context_preservation": {"pruning_log": []}
    })
}

fn read(document: &Value) -> Reading {
    assert_eq!(Dialect::detect(document), DIR);
    crate::core::dialects::testing::read(DIR, document, None)
}

fn open(draft: &Draft) -> Vec<&str> {
    draft
        .content
        .phases
        .iter()
        .filter(|phase| !phase.status.is_done())
        .map(|phase| phase.id.as_str())
        .collect()
}

fn judged(document: &Value) -> Resume {
    let checkpoint = imported(DIR, document, None);
    evaluate(&checkpoint, &Facts::default(), &Limits::default(), checkpoint.saved_at)
}

fn resumes_at(document: &Value) -> Option<String> {
    judged(document).phase.map(|id| id.to_string())
}

fn written(checkpoint: &Checkpoint) -> Value {
    DIR.write(checkpoint, Path::new("/project")).unwrap().main
}

fn severity(reading: &Reading, code: Code) -> Option<Severity> {
    reading.findings.iter().find(|finding| finding.code == code).map(|finding| finding.severity)
}

mod reading {
    use super::*;

    #[test]
    fn the_first_version_resumes_at_the_first_phase_that_is_not_complete() {
        let reading = read(&first_version());
        let draft = &reading.draft;
        assert_eq!(draft.workflow.as_deref(), Some("orchestrate_payment_flow"));
        assert_eq!(draft.content.title.as_deref(), Some("Add the payment flow"));
        assert_eq!(draft.recorded_at.unwrap().to_string(), "2026-02-03T10:20:30.000Z");
        assert_eq!(draft.content.pipeline.as_deref(), Some("claude-dir"));
        assert_eq!(phases(draft), [("1", "complete"), ("2", "pending"), ("3", "pending"), ("4", "pending")]);
        assert_eq!(
            draft.content.artifacts,
            [Artifact::new("report", "docs/report.md"), Artifact::new("plan", "docs/plan.md")]
        );
        assert_eq!((draft.watched[0].path.as_str(), draft.watched[0].modified_at), ("docs/plan.md", None));
        assert!(codes(&reading).is_empty());
        assert_eq!(resumes_at(&first_version()).as_deref(), Some("2"));
        let from = |fact: &str| reading.origins.iter().find(|o| o.fact == fact).unwrap().from.clone();
        assert_eq!(from("phases/1/status"), "/completed_phases/0");
        assert_eq!(from("artifact"), "/workflow_state/artifact_registry/report");
    }

    #[test]
    fn a_current_phase_that_is_completed_already_is_not_where_it_resumes() {
        let document = with(first_version(), json!({"completed_phases": [1, 2]}));
        let resume = judged(&document);
        assert_eq!(resume.phase.unwrap().as_str(), "3");
        assert!(resume.findings.iter().any(|finding| finding.code == Code::NextDisagrees));
    }

    #[test]
    fn a_gap_is_resumed_first_and_reported() {
        let document = with(
            first_version(),
            json!({"completed_phases": [1, 2, 4], "current_phase": 5, "total_phases": 5}),
        );
        let resume = judged(&document);
        assert_eq!(resume.phase.unwrap().as_str(), "3");
        assert!(resume.findings.iter().any(|finding| finding.code == Code::Gap));
    }

    #[test]
    fn all_phases_done_is_complete_even_if_the_counter_has_moved_on() {
        let all = json!({"completed_phases": [1, 2, 3, 4], "current_phase": 5, "status": "completed"});
        let document = with(first_version(), all);
        let resume = judged(&document);
        assert_eq!((resume.phase, resume.verdict.word()), (None, "complete"));
        assert!(codes(&read(&document)).is_empty());
        assert_eq!(read(&document).draft.content.next, None);
    }

    #[test]
    fn complete_with_phases_left_is_reported_and_the_phases_count() {
        let resume = judged(&with(first_version(), json!({"status": "completed"})));
        assert_eq!(resume.phase.unwrap().as_str(), "2");
        assert!(resume.findings.iter().any(|finding| finding.code == Code::StatusDisagrees));
    }

    #[test]
    fn numbering_starts_at_zero_where_zero_is_mentioned() {
        let zero =
            with(first_version(), json!({"completed_phases": [0, 1], "total_phases": 3, "current_phase": 1}));
        assert_eq!(phases(&read(&zero).draft), [("0", "complete"), ("1", "complete"), ("2", "pending")]);
        let untouched =
            with(first_version(), json!({"completed_phases": [], "total_phases": 3, "current_phase": 0}));
        assert_eq!(open(&read(&untouched).draft), ["0", "1", "2"]);
        // All three are done, so this 0 is no phase.
        let reset = with(
            first_version(),
            json!({"completed_phases": [1, 2, 3], "total_phases": 3, "current_phase": 0}),
        );
        assert_eq!(done(&read(&reset).draft), ["1", "2", "3"]);
        assert_eq!(resumes_at(&reset), None);
        assert_eq!(codes(&read(&reset)), ["records_disagree"]);
    }

    #[test]
    fn without_a_total_the_list_is_not_complete() {
        for document in [
            without(first_version(), "total_phases"),
            with(first_version(), json!({"total_phases": 0})),
            with(first_version(), json!({"total_phases": "many"})),
            with(first_version(), json!({"total_phases": 4_000_000_000_u64})),
        ] {
            let draft = read(&document).draft;
            assert_eq!(draft.content.pipeline, None);
            assert_eq!(phases(&draft), [("1", "complete"), ("2", "pending")]);
            round_trip(DIR, &document, None);
        }
    }

    #[test]
    fn completed_phases_are_understood_in_every_spelling() {
        for spelled in [
            json!([1, 2]),
            json!(["1", "2"]),
            json!(["phase_1", "Phase 2"]),
            json!([{"phase": 1, "completed_at": "2026-02-03T09:30:00Z"}, {"id": "phase-2", "status": "done"}]),
            json!({"1": true, "2": {"status": "completed"}, "3": false}),
            json!([1, 2, 2, null]),
            json!(2),
        ] {
            let document = with(first_version(), json!({"completed_phases": spelled, "total_phases": "4"}));
            let draft = read(&document).draft;
            assert_eq!(done(&draft), ["1", "2"], "{spelled}");
            assert_eq!(open(&draft), ["3", "4"], "{spelled}");
            round_trip(DIR, &document, None);
        }
    }

    #[test]
    fn a_number_of_completed_phases_implies_which() {
        let reading = read(&with(first_version(), json!({"completed_phases": 2})));
        assert_eq!(codes(&reading), ["phases_implied"]);
    }

    #[test]
    fn phases_may_have_names_instead_of_numbers() {
        let named = json!({"completed_phases": ["draft"], "current_phase": "review", "total_phases": 2});
        let draft = read(&with(without(first_version(), "completed_phases"), named)).draft;
        assert_eq!(phases(&draft), [("draft", "complete"), ("review", "pending")]);
        assert_eq!(draft.content.pipeline.as_deref(), Some("claude-dir"));
        let some = json!({"completed_phases": ["draft"], "current_phase": "review", "total_phases": 6});
        assert_eq!(read(&with(first_version(), some)).draft.content.pipeline, None);
    }

    #[test]
    fn status_words_are_understood_and_an_unknown_one_is_a_finding() {
        for (word, status) in [
            ("in_progress", WorkflowStatus::InProgress),
            ("not started", WorkflowStatus::InProgress),
            ("SUCCESS", WorkflowStatus::Complete),
            ("error", WorkflowStatus::Failed),
            ("abandoned", WorkflowStatus::Abandoned),
            ("superseded", WorkflowStatus::Abandoned),
        ] {
            let reading = read(&with(first_version(), json!({"status": word})));
            assert_eq!(reading.draft.content.status, status, "{word}");
            assert!(codes(&reading).is_empty(), "{word}");
        }
        let reading = read(&with(first_version(), json!({"status": "escalated"})));
        assert_eq!(
            (reading.draft.content.status, codes(&reading)),
            (WorkflowStatus::InProgress, vec!["status_unknown"])
        );
    }

    #[test]
    fn the_workflow_is_the_id_without_its_time() {
        for (id, workflow) in [
            (json!("test-all_api_20260101_000000"), "test-all_api"),
            (json!("run_001"), "run_001"),
            (json!("20260101_000000"), "20260101_000000"),
            (json!("a_2026x101_000000"), "a_2026x101_000000"),
            (
                json!("gr\u{fc}n\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}"),
                "gr\u{fc}n\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}",
            ),
            (json!(17), "17"),
        ] {
            let document = with(first_version(), json!({"checkpoint_id": id}));
            assert_eq!(read(&document).draft.workflow.as_deref(), Some(workflow));
            round_trip(DIR, &document, None);
        }
    }

    #[test]
    fn the_time_is_the_newest_that_is_recorded() {
        let recorded = |document: &Value| read(document).draft.recorded_at.map(|at| at.to_string());
        let created = without(first_version(), "updated_at");
        assert_eq!(recorded(&created).as_deref(), Some("2026-02-03T09:15:00.000Z"));
        let named = with(created, json!({"created_at": "soon"}));
        assert_eq!(recorded(&named).as_deref(), Some("2026-02-03T09:15:00.000Z"));
        assert_eq!(codes(&read(&named)), ["time_unreadable"]);
        let none = with(named, json!({"checkpoint_id": "x", "created_at": null}));
        assert_eq!(recorded(&none), None);
        let assumed = with(first_version(), json!({"updated_at": "2026-02-03 10:20:30"}));
        assert_eq!(codes(&read(&assumed)), ["time_assumed"]);
    }

    #[test]
    fn failed_tests_need_confirmation() {
        for changes in [json!({"tests_passing": false}), json!({"workflow_state": {"tests_passing": false}})]
        {
            let reading = read(&with(first_version(), changes));
            assert_eq!(severity(&reading, Code::TestsFailing), Some(Severity::Confirm));
        }
        assert_eq!(severity(&read(&newest_version()), Code::TestsFailing), None);
    }

    #[test]
    fn the_plan_is_watched_with_the_time_it_was_changed() {
        let document = with(first_version(), json!({"plan_modification_time": 1_770_000_000}));
        let watched = read(&document).draft.watched;
        assert_eq!(watched[0].modified_at.unwrap().to_string(), "2026-02-02T02:40:00.000Z");
        let top = with(without(first_version(), "workflow_state"), json!({"plan_path": "p.md"}));
        assert_eq!(read(&top).draft.watched[0].path, "p.md");
    }

    #[test]
    fn a_newer_schema_is_not_resumed() {
        for version in [json!("2.2"), json!("3.0"), json!(4)] {
            let document = with(first_version(), json!({"schema_version": version}));
            assert_eq!(severity(&read(&document), Code::FormatNewer), Some(Severity::Blocker), "{version}");
            round_trip(DIR, &document, None);
        }
        for version in [json!("1.1"), json!("1.3"), json!("2.0"), json!(2.1), json!(null)] {
            assert!(codes(&read(&with(first_version(), json!({"schema_version": version})))).is_empty());
        }
        let odd = read(&with(first_version(), json!({"schema_version": "beta"})));
        assert_eq!(severity(&odd, Code::FormatNewer), Some(Severity::Advice));
    }

    #[test]
    fn a_copy_that_differs_is_a_finding_and_the_top_level_takes_precedence() {
        let document =
            with(first_version(), json!({"workflow_state": {"current_phase": 3, "completed_phases": ["1"]}}));
        let reading = read(&document);
        assert_eq!(codes(&reading), ["records_disagree"]);
        assert_eq!(reading.draft.content.next.unwrap().phase.unwrap().as_str(), "2");
        round_trip(DIR, &document, None);
    }

    #[test]
    fn members_are_read_from_workflow_state_if_the_top_level_lacks_them() {
        let document = with(
            without(without(first_version(), "completed_phases"), "total_phases"),
            json!({"workflow_state": {"completed_phases": [1, 2], "total_phases": 3}}),
        );
        assert_eq!(open(&read(&document).draft), ["3"]);
        round_trip(DIR, &document, None);
    }

    #[test]
    fn other_documents_are_not_recognised() {
        for other in [
            json!({"checkpoint_id": "x", "workflow_state": {}}),
            json!({"workflow_type": "x", "current_phase": 1}),
            json!({"checkpoint_id": "x", "workflow_type": "y"}),
            json!({"checkpoint_id": ["x"], "workflow_type": "y", "current_phase": 1}),
            json!([first_version()]),
            json!(null),
        ] {
            assert_ne!(Dialect::detect(&other), DIR, "{other}");
        }
    }
}

mod errors {
    use super::*;

    #[test]
    fn the_last_error_belongs_to_the_phase_that_was_worked_on() {
        let reading = read(&with(first_version(), json!({"last_error": "the disk is full"})));
        let error = reading.draft.content.last_error.unwrap();
        assert_eq!((error.message.as_str(), error.phase.unwrap().as_str()), ("the disk is full", "2"));
        let told =
            json!({"last_error": {"message": "no network", "phase": 3, "timestamp": "2026-02-03T10:00:00Z"}});
        let error = read(&with(first_version(), told)).draft.content.last_error.unwrap();
        assert_eq!(
            (error.phase.unwrap().as_str(), error.at.to_string().as_str()),
            ("3", "2026-02-03T10:00:00.000Z")
        );
        let deep = read(&with(newest_version(), json!({"error_state": {"last_error": "exit 1"}})));
        assert_eq!(deep.draft.content.last_error.unwrap().message, "exit 1");
    }

    #[test]
    fn an_error_without_any_time_is_kept() {
        let timeless = with(
            without(without(first_version(), "updated_at"), "created_at"),
            json!({"checkpoint_id": "x", "last_error": "lost"}),
        );
        let draft = read(&timeless).draft;
        assert_eq!((draft.content.last_error, draft.undated_error.as_deref()), (None, Some("lost")));
        round_trip(DIR, &timeless, None);
    }

    #[test]
    fn a_failed_run_failed_in_its_current_phase() {
        let document = with(first_version(), json!({"status": "failed", "last_error": "exit 1"}));
        let draft = read(&document).draft;
        assert_eq!(
            (draft.content.phases[1].status, draft.content.phases[1].error.as_deref()),
            (PhaseStatus::Failed, Some("exit 1"))
        );
        assert_eq!(done(&draft), ["1"]);
        round_trip(DIR, &document, None);
    }

    #[test]
    fn a_failed_state_is_never_complete() {
        for failed in [json!("explore"), json!(1), json!("1"), json!("phase_1")] {
            let document = with(newest_version(), json!({"error_state": {"failed_state": failed}}));
            let reading = read(&document);
            assert_eq!(done(&reading.draft), ["0"], "{failed}");
            assert_eq!(reading.draft.content.phases[1].status, PhaseStatus::Failed);
            assert_eq!(codes(&reading), ["records_disagree"]);
            assert_eq!(resumes_at(&document).as_deref(), Some("1"));
            round_trip(DIR, &document, None);
        }
    }

    #[test]
    fn a_failed_state_that_is_no_phase_is_the_current_one_or_a_finding() {
        let current = json!({"current_phase": 3, "error_state": {"failed_state": "somewhere"}});
        assert_eq!(
            read(&with(newest_version(), current)).draft.content.phases[3].status,
            PhaseStatus::Failed
        );
        let unknown = read(&with(newest_version(), json!({"error_state": {"failed_state": "somewhere"}})));
        assert_eq!(codes(&unknown), ["records_disagree"]);
    }

    #[test]
    fn a_status_recorded_for_a_phase_beats_the_list() {
        let data = json!({"phase_data": {"1": {"status": "failed"}, "phase_2": {"status": "done", "n": 1}}});
        let document = with(newest_version(), data);
        let reading = read(&document);
        assert_eq!(done(&reading.draft), ["0", "2"]);
        assert_eq!(reading.draft.content.phases[1].status, PhaseStatus::Failed);
        assert_eq!(codes(&reading).iter().filter(|code| **code == "records_disagree").count(), 2);
        round_trip(DIR, &document, None);
    }
}

mod states {
    use super::*;

    fn names(draft: &Draft) -> Vec<Option<&str>> {
        draft.content.phases.iter().map(|phase| phase.name.as_deref()).collect()
    }

    #[test]
    fn states_that_agree_with_the_counter_name_its_phases() {
        let reading = read(&newest_version());
        assert_eq!(done(&reading.draft), ["0", "1"]);
        assert_eq!(open(&reading.draft), ["2", "3", "4"]);
        // What follows `explore` can only be `design`, unless it is the end; behind that there is a choice.
        assert_eq!(names(&reading.draft), [Some("setup"), Some("explore"), Some("design"), None, None]);
        assert!(codes(&reading).is_empty());
        assert_eq!(resumes_at(&newest_version()).as_deref(), Some("2"));
    }

    #[test]
    fn states_that_contradict_the_counter_take_precedence() {
        let document = with(newest_version(), json!({"state_machine": {"completed_states": ["setup"]}}));
        let reading = read(&document);
        assert_eq!(codes(&reading), ["records_disagree"]);
        assert_eq!(phases(&reading.draft), [("setup", "complete"), ("explore", "pending")]);
        assert_eq!(reading.draft.content.pipeline, None);
        assert_eq!(resumes_at(&document).as_deref(), Some("explore"));
        round_trip(DIR, &document, None);
    }

    #[test]
    fn a_table_without_a_choice_gives_all_phases_in_order() {
        let table = json!({"ship": "complete", "build": "ship", "setup": "build", "complete": ""});
        let machine =
            json!({"current_state": "build", "completed_states": ["setup"], "transition_table": table});
        let mut document = newest_version();
        document["state_machine"] = machine;
        let reading = read(&document);
        assert_eq!(
            phases(&reading.draft),
            [("setup", "complete"), ("build", "pending"), ("ship", "pending")]
        );
        assert_eq!(reading.draft.content.pipeline.as_deref(), Some("claude-dir"));
        document["state_machine"]["completed_states"] = json!(["setup", "build", "ship"]);
        document["state_machine"]["current_state"] = json!("complete");
        let draft = read(&document).draft;
        assert_eq!(
            (open(&draft).len(), draft.content.status, draft.content.next.is_none()),
            (0, WorkflowStatus::Complete, true)
        );
        assert_eq!(judged(&document).verdict.word(), "complete");
        // The status still says that it is in progress.
        assert_eq!(codes(&read(&document)), ["records_disagree", "records_disagree"]);
        round_trip(DIR, &document, None);
    }

    #[test]
    fn a_table_that_runs_in_circles_gives_no_order() {
        for table in [
            json!({"a": "b", "b": "a"}),
            json!({"s": "a", "a": "b", "b": "a"}),
            json!({"a": "c", "b": "c"}),
            json!({"a": "a"}),
            json!({"a": "b", "x": "y"}),
            json!({}),
            json!("a -> b"),
        ] {
            let mut document = newest_version();
            document["state_machine"] =
                json!({"current_state": "b", "completed_states": ["a"], "transition_table": table});
            let draft = read(&document).draft;
            assert_eq!((draft.content.pipeline.as_deref(), done(&draft)), (None, vec!["a"]), "{table}");
            round_trip(DIR, &document, None);
        }
    }

    #[test]
    fn the_only_state_that_can_follow_is_next() {
        let mut document = newest_version();
        document["state_machine"] = json!({"current_state": "a", "completed_states": ["a"],
            "transition_table": {"a": ["b"], "b": "c,d"}});
        assert_eq!(resumes_at(&document).as_deref(), Some("b"));
        document["state_machine"]["transition_table"] = json!({"a": "b,c"});
        assert_eq!(resumes_at(&document), None);
    }

    #[test]
    fn states_are_the_phases_if_there_is_no_counter() {
        let document = without(
            without(with(newest_version(), json!({"workflow_state": null})), "completed_phases"),
            "current_phase",
        );
        let reading = read(&document);
        assert_eq!(done(&reading.draft), ["setup", "explore"]);
        assert!(codes(&reading).is_empty());
    }

    #[test]
    fn an_empty_state_machine_is_ignored() {
        for machine in
            [json!(null), json!({}), json!({"completed_states": [], "current_state": ""}), json!([1])]
        {
            let mut document = newest_version();
            document["state_machine"] = machine;
            document["workflow_state"]["state_machine"] = json!(null);
            assert_eq!(done(&read(&document).draft), ["0", "1"]);
            round_trip(DIR, &document, None);
        }
    }
}

mod replans {
    use super::*;

    fn of(draft: &Draft, phase: &str) -> usize {
        draft.content.replans.iter().filter(|replan| replan.phase.as_str() == phase).count()
    }

    #[test]
    fn the_history_is_read() {
        let draft = read(&newest_version()).draft;
        assert_eq!(
            (draft.content.replans.len(), draft.content.replans[0].reason.as_deref()),
            (1, Some("too large"))
        );
    }

    #[test]
    fn counters_add_replans_that_the_history_lacks() {
        let counts = json!({"replan_phase_counts": {"phase_1": 3, "2": 1}, "replanning_count": 4});
        let document = with(newest_version(), counts);
        let reading = read(&document);
        assert_eq!((of(&reading.draft, "1"), of(&reading.draft, "2")), (3, 1));
        assert_eq!(codes(&reading), ["records_disagree", "records_disagree"]);
        assert_eq!(severity(&reading, Code::RecordsDisagree), Some(Severity::Info));
        round_trip(DIR, &document, None);

        let mut checkpoint = imported(DIR, &document, None);
        checkpoint.content.replans.push(Replan {
            phase: "2".parse().unwrap(),
            reason: Some("again".to_owned()),
            at: checkpoint.saved_at,
            extra: Default::default(),
        });
        let written = written(&checkpoint);
        assert_eq!(written["replan_phase_counts"], json!({"phase_1": 3, "2": 2}));
        assert_eq!(written["replan_history"].as_array().unwrap().len(), 2);
        assert_eq!(written["replan_history"][0]["by"], json!("me"));
        assert_eq!(
            (&written["replanning_count"], &written["last_replan_reason"]),
            (&json!(5), &json!("again"))
        );
        assert_eq!(of(&read(&written).draft, "2"), 2);
    }

    #[test]
    fn a_third_replan_of_one_phase_is_refused_even_if_others_are_only_counted() {
        let document = with(newest_version(), json!({"replan_phase_counts": {"phase_1": 2}}));
        let checkpoint = imported(DIR, &document, None);
        let stamp = Stamp {
            now: checkpoint.saved_at,
            save_id: String::new(),
            writer: Default::default(),
            git: None,
            watched: Vec::new(),
        };
        let reopen = |from: &str| Reopen { from: from.parse().unwrap(), reason: None, limit: Some(2) };
        let revise = |from: &str| Change { reopen: Some(reopen(from)), ..Change::default() };
        let id = checkpoint.workflow.clone();
        assert!(revise("1").apply(&id, Some(Box::new(checkpoint.clone())), &stamp).is_err());
        assert!(revise("0").apply(&id, Some(Box::new(checkpoint)), &stamp).is_ok());
    }

    #[test]
    fn a_longer_history_takes_precedence_over_a_counter() {
        for counts in [json!({"phase_1": 0}), json!({"phase_7": 0})] {
            let mut document = newest_version();
            document["replan_phase_counts"] = counts;
            let reading = read(&document);
            assert_eq!((of(&reading.draft, "1"), codes(&reading)), (1, vec!["records_disagree"]));
            round_trip(DIR, &document, None);
        }
    }

    #[test]
    fn a_huge_counter_adds_few_replans() {
        for count in [json!(u64::MAX), json!(1_000_000), json!("99999")] {
            let document = with(newest_version(), json!({"replan_phase_counts": {"phase_1": count}}));
            assert_eq!(of(&read(&document).draft, "1"), 20);
            round_trip(DIR, &document, None);
        }
    }

    #[test]
    fn a_total_that_does_not_match_is_a_finding() {
        let reading = read(&with(first_version(), json!({"replanning_count": 2})));
        assert_eq!(codes(&reading), ["records_disagree"]);
    }
}

mod writing {
    use super::*;

    #[test]
    fn an_import_without_changes_is_written_back_unchanged() {
        round_trip(DIR, &first_version(), None);
        round_trip(DIR, &newest_version(), None);
        let odd = json!({
            "completed_phases": [1, "2", {"x": 1}, true],
            "current_phase": {"n": 1},
            "phase_data": {"9": "later", "x": {"status": 7}},
            "workflow_state": {"artifact_registry": {"r": ["a.md", {"path": "b.md"}, null, 1], "n": {"kind": 1}}},
            "replan_history": [{"phase": null}, 3, {"phase": 2, "timestamp": "?"}],
            "metadata": 5,
            "error_state": "none",
            "mine": {"deep": [null, 0, "", false, 0.10]}
        });
        round_trip(DIR, &with(newest_version(), odd.clone()), None);
        round_trip(DIR, &with(first_version(), odd), None);
        let listed =
            json!({"workflow_state": {"artifact_registry": ["a.md", {"name": "b", "path": "b.md"}]}});
        round_trip(DIR, &with(newest_version(), listed), None);
    }

    #[test]
    fn a_later_save_updates_a_document_of_the_first_version() {
        let mut checkpoint = imported(DIR, &first_version(), None);
        let later = Timestamp::parse("2026-02-04T00:00:00Z").unwrap();
        checkpoint.saved_at = later;
        checkpoint.content.phases[1].enter(PhaseStatus::Complete, later);
        checkpoint.content.next.as_mut().unwrap().phase = Some("3".parse().unwrap());
        checkpoint.content.artifacts[1].path = "docs/plan_2.md".to_owned();
        let expected = with(
            first_version(),
            json!({"updated_at": "2026-02-04T00:00:00.000Z", "current_phase": 3, "completed_phases": [1, 2],
                "workflow_state": {"artifact_registry": {"plan": {"path": "docs/plan_2.md"}}}}),
        );
        // Nothing else has moved, and no member of a later version has been added.
        assert_eq!(written(&checkpoint), expected);
    }

    #[test]
    fn a_later_save_updates_all_copies_in_the_newest_version() {
        let mut checkpoint = imported(DIR, &newest_version(), None);
        let later = Timestamp::parse("2026-03-02T00:00:00Z").unwrap();
        checkpoint.saved_at = later;
        checkpoint.content.phases[2].enter(PhaseStatus::Complete, later);
        checkpoint.content.next.as_mut().unwrap().phase = Some("3".parse().unwrap());
        let machine = json!({"current_state": "3", "completed_states": ["setup", "explore", "design"]});
        let expected = with(
            newest_version(),
            json!({"updated_at": "2026-03-02T00:00:00.000Z", "current_phase": 3, "completed_phases": [0, 1, 2],
                "metadata": {"updated_at": "2026-03-02T00:00:00.000Z"}, "state_machine": machine,
                "workflow_state": {"current_phase": 3, "completed_phases": [0, 1, 2], "state_machine": machine}}),
        );
        assert_eq!(written(&checkpoint), expected);
        let again = read(&expected);
        assert_eq!((open(&again.draft), codes(&again)), (vec!["3", "4"], vec![]));
    }

    #[test]
    fn a_later_failure_is_written_and_so_is_its_repair() {
        for document in [first_version(), newest_version()] {
            let mut checkpoint = imported(DIR, &document, None);
            checkpoint.content.phases[2].enter(PhaseStatus::Failed, checkpoint.saved_at);
            checkpoint.content.next.as_mut().unwrap().phase = Some(checkpoint.content.phases[2].id.clone());
            checkpoint.content.last_error = Some(LastError {
                message: "exit 2".to_owned(),
                phase: Some(checkpoint.content.phases[2].id.clone()),
                at: checkpoint.saved_at,
                extra: Default::default(),
            });
            let failed = written(&checkpoint);
            assert_eq!(
                (&failed["last_error"], &failed["error_state"]["last_error"]),
                (&json!("exit 2"), &json!("exit 2"))
            );
            let draft = read(&failed).draft;
            assert_eq!(
                (draft.content.phases[2].status, draft.content.last_error.unwrap().message.as_str()),
                (PhaseStatus::Failed, "exit 2")
            );

            let mut checkpoint = imported(DIR, &failed, None);
            checkpoint.content.phases[2].enter(PhaseStatus::Complete, checkpoint.saved_at);
            checkpoint.content.last_error = None;
            let mended = read(&written(&checkpoint)).draft;
            assert_eq!(
                (mended.content.phases[2].status, mended.content.last_error),
                (PhaseStatus::Complete, None)
            );
        }
    }

    #[test]
    fn a_status_in_the_data_of_a_phase_is_updated() {
        let document =
            with(newest_version(), json!({"phase_data": {"phase_2": {"status": "running", "n": 1}}}));
        let mut checkpoint = imported(DIR, &document, None);
        checkpoint.content.phases[2].enter(PhaseStatus::Complete, checkpoint.saved_at);
        let written = written(&checkpoint);
        assert_eq!(written["phase_data"]["phase_2"], json!({"status": "completed", "n": 1}));
        assert_eq!(done(&read(&written).draft), ["0", "1", "2"]);
    }

    #[test]
    fn a_new_document_has_all_members_of_the_dialect() {
        let mut checkpoint = imported(DIR, &newest_version(), None);
        checkpoint.content.state = Default::default();
        let fresh = written(&checkpoint);
        assert_eq!(fresh["schema_version"], json!("2.1"));
        // The earliest time that is known of the work.
        assert_eq!(fresh["checkpoint_id"], json!("implement_search_20260301_123000"));
        assert_eq!(
            (&fresh["workflow_type"], &fresh["project_name"]),
            (&json!("implement"), &json!("search"))
        );
        let (before, after) = (read(&newest_version()).draft, read(&fresh).draft);
        assert_eq!(phases(&after), phases(&before));
        assert_eq!(
            (after.workflow, after.content.title, after.content.replans),
            (before.workflow, before.content.title, before.content.replans)
        );
        assert_eq!(after.recorded_at, before.recorded_at);
    }

    #[test]
    fn phases_of_any_name_survive_a_new_document() {
        for (ids, finished) in
            [(&["0", "0.5", "3A", "4"][..], 2), (&["0", "0.5"], 0), (&["PLAN", "BUILD"], 0)]
        {
            let mut checkpoint = imported(DIR, &first_version(), None);
            checkpoint.content.state = Default::default();
            checkpoint.content.pipeline = Some("custom".to_owned());
            checkpoint.content.phases = ids.iter().map(|id| Phase::pending(id.parse().unwrap())).collect();
            for phase in &mut checkpoint.content.phases[..finished] {
                phase.enter(PhaseStatus::Complete, checkpoint.saved_at);
            }
            checkpoint.content.next.as_mut().unwrap().phase =
                Some(checkpoint.content.phases[finished].id.clone());
            let draft = read(&written(&checkpoint)).draft;
            let expected: Vec<_> = checkpoint
                .content
                .phases
                .iter()
                .map(|phase| (phase.id.as_str(), phase.status.word()))
                .collect();
            assert_eq!(phases(&draft), expected);
            assert!(draft.content.pipeline.is_some());
        }
    }
}

fn values() -> BoxedStrategy<Value> {
    const WORDS: [&str; 6] =
        ["failed", "completed", "in_progress", "SUCCESS", "later", "2026-01-01T00:00:00Z"];
    const KEYS: [&str; 16] = [
        "phase",
        "status",
        "timestamp",
        "reason",
        "path",
        "1",
        "2",
        "phase_2",
        "phase_data",
        "last_error",
        "failed_state",
        "completed_states",
        "current_state",
        "transition_table",
        "current_phase",
        "build",
    ];
    nested_values(&WORDS, &KEYS)
}

prop_compose! {
    fn document()(
        members in prop::collection::vec((prop::sample::select(vec![
            "schema_version", "checkpoint_id", "workflow_type", "project_name", "workflow_description", "created_at",
            "updated_at", "status", "current_phase", "total_phases", "completed_phases", "state_machine",
            "workflow_state", "phase_data", "error_state", "metadata", "last_error", "tests_passing", "plan_path",
            "plan_modification_time", "replanning_count", "replan_phase_counts", "replan_history", "artifact_registry",
            "mine",
        ]), values()), 0..12),
        completed in prop::collection::vec(0..6_u64, 0..5),
        states in prop::collection::vec("[a-c]", 0..4),
        failed in prop::option::of(prop_oneof![Just(json!("a")), Just(json!(1)), Just(json!("zzz"))]),
        newest in any::<bool>(),
        removed in prop::collection::vec(0..20_usize, 0..6),
    ) -> Value {
        let mut document = if newest { newest_version() } else { first_version() };
        document["completed_phases"] = json!(completed);
        if newest {
            document["state_machine"]["completed_states"] = json!(states);
            document["error_state"]["failed_state"] = json!(failed);
        }
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
    fn any_document_is_read_and_written_back(document in document()) {
        let draft = crate::core::dialects::testing::read(DIR, &document, None).draft;
        round_trip(DIR, &document, None);
        let failed = document.pointer("/error_state/failed_state").and_then(Value::as_str);
        for phase in draft.content.phases.iter().filter(|phase| failed == Some(phase.id.as_str())) {
            prop_assert_eq!(phase.status, PhaseStatus::Failed);
        }
        for (key, value) in document.get("phase_data").and_then(Value::as_object).into_iter().flatten() {
            let phase = draft.content.phases.iter().find(|phase| phase.id.as_str() == key);
            if value.get("status") == Some(&json!("failed")) {
                prop_assert!(phase.is_none_or(|phase| phase.status == PhaseStatus::Failed));
            }
        }
        let mut ids: Vec<_> = draft.content.phases.iter().map(|phase| phase.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), draft.content.phases.len());
    }

    #[test]
    fn a_save_on_any_document_is_read_back(document in document(), phase in 0..6_usize) {
        let mut checkpoint = imported(DIR, &document, None);
        if let Some(phase) = checkpoint.content.phases.get_mut(phase).filter(|phase| !phase.status.is_done()) {
            let id = phase.id.clone();
            phase.enter(PhaseStatus::Complete, checkpoint.saved_at);
            checkpoint.content.status = WorkflowStatus::InProgress;
            let written = written(&checkpoint);
            let draft = crate::core::dialects::testing::read(DIR, &written, None).draft;
            let again = draft.content.phases.iter().find(|phase| phase.id == id);
            prop_assert!(again.is_some_and(|phase| phase.status.is_done()), "{} in {:#}", id, written);
        }
    }
}
