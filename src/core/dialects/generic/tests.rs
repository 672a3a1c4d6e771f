//! The rules of the generic reader, one by one.

use std::path::Path;

use serde_json::{Value, json};

use crate::core::change::{Stamp, next_checkpoint};
use crate::core::checkpoint::Writer;
use crate::core::dialects::reading::Reading;
use crate::core::dialects::testing::{codes, read};
use crate::core::dialects::{Dialect, Document};
use crate::core::resume::{Facts, Limits, Resume, Verdict, evaluate};
use crate::core::time::Timestamp;

fn judge(reading: &Reading) -> Resume {
    let now = Timestamp::parse("2026-11-01T12:00:00Z").unwrap();
    let stamp =
        Stamp { now, save_id: "0".repeat(32), writer: Writer::default(), git: None, watched: Vec::new() };
    let blank = next_checkpoint(&"w".parse().unwrap(), None, &stamp);
    evaluate(
        &reading.draft.clone().assemble(*blank, Path::new("/project")),
        &Facts::default(),
        &Limits::default(),
        now,
    )
}

/// Returns where to resume and what is done: `c < a b`, `complete < a b`, `? < a` if it is not decided.
fn answer(document: &Value) -> String {
    let resume = judge(&read(Dialect::Generic, document, None));
    let done: Vec<_> = resume.done.iter().map(ToString::to_string).collect();
    let on = match (resume.verdict, resume.phase) {
        (Verdict::Complete, _) => "complete".to_owned(),
        (_, Some(phase)) => phase.to_string(),
        (_, None) => "?".to_owned(),
    };
    format!("{on} < {}", done.join(" ")).trim_end().to_owned()
}

#[track_caller]
fn all_answer(cases: &[(Value, &str)]) {
    for (document, expected) in cases {
        assert_eq!(answer(document), *expected, "{document}");
    }
}

#[track_caller]
fn has(document: &Value, code: &str) {
    let found = codes(&read(Dialect::Generic, document, None));
    assert!(found.contains(&code), "{document}: {found:?}");
}

#[test]
fn a_record_of_a_phase_beats_a_list_and_the_contradiction_is_reported() {
    let document = json!({
        "phases": {"a": {"status": "done"}, "b": {"status": "pending"}, "c": {"status": "pending"}},
        "completed_phases": ["a", "b"],
    });
    all_answer(&[(document.clone(), "b < a")]);
    has(&document, "records_disagree");
}

#[test]
fn a_list_beats_a_counter_and_a_counter_beats_a_pointer() {
    let list = json!({"completed_phases": [1, 2], "phases_completed_count": 3, "total_phases": 5});
    all_answer(&[(list.clone(), "3 < 1 2")]);
    has(&list, "records_disagree");
    let counter = json!({"completed_phases": 3, "current_phase": 2, "total_phases": 5});
    all_answer(&[(counter, "4 < 1 2 3")]);
}

#[test]
fn a_failure_takes_precedence_over_everything_else() {
    for document in [
        json!({"phases": [{"id": "a", "status": "done"}, {"id": "b", "status": "failed"}],
            "completed_phases": ["a", "b"], "status": "completed", "current_phase": "b"}),
        json!({"phases": ["a", "b"], "completed_phases": ["a", "b"], "failed_phases": ["b"]}),
        json!({"phases": ["a", "b"], "completed_phases": ["a", "b"], "failed_phase": "b"}),
        json!({"phases": {"a": "done", "b": "done"}, "failed_phases": ["b"]}),
        json!({"phases": ["a", "b"], "completed_phases": [{"phase": "a"}, {"phase": "b", "status": "error"}]}),
        json!({"phases": ["a", "b"], "completed_phases": ["a", "b"], "current_phase": "b", "phase_status": "failed"}),
        json!({"phases": [{"id": "a", "done": true}, {"id": "b", "done": true, "failed": true}]}),
        json!({"phases": {"a": "\u{2705}", "b": "\u{274c}"}, "last_completed_phase": "b"}),
    ] {
        assert_eq!(answer(&document), "b < a", "{document}");
    }
}

#[test]
fn all_listed_phases_done_without_a_total_never_restarts_at_the_first() {
    all_answer(&[
        (json!({"completed_steps": ["a", "b"], "current_step": "b"}), "? < a b"),
        (json!({"completed_steps": ["a", "b"]}), "? < a b"),
        (json!({"completed_steps": ["a", "b"], "status": "completed"}), "complete < a b"),
        (json!({"completed_steps": [1, 2], "total_steps": 2}), "complete < 1 2"),
        (json!({"completed_steps": [1, 2], "total_steps": 2, "current_step": 3}), "complete < 1 2"),
    ]);
}

#[test]
fn an_explicit_place_to_resume_is_followed() {
    all_answer(&[
        (json!({"completed_phases": ["a"], "resume_from": "c"}), "c < a"),
        (json!({"steps": ["a", "b", "c"], "resume_from": "b"}), "b < a"),
        (json!({"recovery": {"resume_at": "b"}, "status": "in_progress"}), "b <"),
        (json!({"completed_phases": ["a"], "next_phase": "b"}), "b < a"),
    ]);
}

#[test]
fn an_unknown_status_decides_nothing() {
    let unknown = json!({"phases": {"a": {"status": "done"}, "b": {"status": "shelved", "completed_at": "2026-01-01T00:00:00Z"}}});
    all_answer(&[(unknown.clone(), "b < a")]);
    assert_eq!(judge(&read(Dialect::Generic, &unknown, None)).verdict, Verdict::Ready);
    has(&unknown, "status_unknown");
    // The findings of the reading weigh on what was imported: somebody has to look at it.
    let severities: Vec<_> =
        read(Dialect::Generic, &unknown, None).findings.iter().map(|f| f.severity).collect();
    assert!(severities.contains(&crate::core::finding::Severity::Confirm));
    all_answer(&[(json!({"phases": {"a": {"status": "x"}, "b": {"status": "y"}}}), "? <")]);
}

#[test]
fn the_current_phase_alone_does_not_decide_where_to_resume() {
    all_answer(&[
        (json!({"current_phase": "build"}), "? <"),
        (json!({"current_phase": 3}), "? <"),
        (json!({"phase": "build", "status": "done"}), "? < build"),
        (json!({"current_phase": "build", "progress": 43}), "? <"),
        (json!({"total_phases": 5}), "? <"),
        (json!({"phases": ["a", "b"]}), "? <"),
        (json!({"phases": [{"id": "a"}, {"id": "b"}]}), "? <"),
    ]);
}

#[test]
fn a_pointer_into_a_list_implies_that_the_phases_before_it_are_done() {
    let document = json!({"steps": ["a", "b", "c"], "current_step": "b"});
    all_answer(&[
        (document.clone(), "b < a"),
        (json!({"current_phase": 3, "total_phases": 5}), "3 < 1 2"),
        (json!({"current_phase": "Phase 3 of 5"}), "3 < 1 2"),
        (json!({"phase": "Phase 3", "total_phases": 5}), "3 < 1 2"),
        (
            json!({"phases": [{"id": 1, "name": "Plan"}, {"id": 2, "name": "Build"}], "current_phase": "Build"}),
            "2 < 1",
        ),
        (json!({"phases": [{"name": "plan"}, {"name": "build"}], "current": "build"}), "build < plan"),
    ]);
    has(&document, "phases_implied");
}

#[test]
fn an_index_is_followed_only_if_it_is_unambiguous() {
    all_answer(&[
        (json!({"steps": ["a", "b", "c"], "current_step_index": 0}), "a <"),
        (json!({"steps": ["a", "b", "c"], "current_step_index": 1}), "? <"),
        (json!({"steps": ["a", "b", "c"], "current_step_index": 3}), "? <"),
        (json!({"steps": ["a", "b", "c"], "current_step": 9}), "? <"),
        (json!({"steps": ["a", "b", "c"], "current_step": "x"}), "? <"),
        (json!({"current_step": 6, "total_steps": 5}), "? <"),
        (json!({"steps": ["a", "b", "c"], "current_step_index": 1, "completed_steps": ["a"]}), "b < a"),
    ]);
    has(&json!({"steps": ["a", "b", "c"], "current_step_index": 1}), "records_disagree");
}

#[test]
fn a_status_word_in_the_place_of_a_pointer_names_no_phase() {
    all_answer(&[
        (json!({"current_phase": "COMPLETE", "completed_phases": ["a"]}), "complete < a"),
        (json!({"phase": "failed", "phases_completed": ["a"], "phases": ["a", "b"]}), "b < a"),
        (json!({"current_phase": "not_started", "phases": ["a", "b"]}), "a <"),
        (json!({"current_phase": "done", "phases": ["a", "done"]}), "done < a"),
        (json!({"phase": "blocked", "phases_completed": ["a"], "blocked_reason": "no key"}), "? < a"),
    ]);
    let failed = read(
        Dialect::Generic,
        &json!({"phase": "failed", "phases_completed": ["a"], "phases": ["a", "b"]}),
        None,
    );
    assert_eq!(failed.draft.content.status.word(), "failed");
}

#[test]
fn tasks_are_taken_as_phases_if_there_are_none() {
    all_answer(&[
        (json!({"tasks": [{"id": "a", "status": "done"}, {"id": "b", "status": "todo"}]}), "b < a"),
        (
            json!({"todos": [{"content": "Write", "status": "completed"}, {"content": "Test", "status": "pending"}]}),
            "2 < 1",
        ),
        (json!({"todos": ["[x] write", "[ ] test"]}), "test < write"),
        (json!([{"task": "a", "done": true}, {"task": "b", "done": false}]), "2 < 1"),
        (json!({"milestones": [{"id": "m1", "status": "done"}, {"id": "m2", "status": "todo"}]}), "m2 < m1"),
        (json!({"completed_tasks": ["a"], "pending_tasks": ["b"]}), "? <"),
    ]);
}

#[test]
fn of_two_records_of_one_phase_the_more_cautious_is_taken() {
    for (first, second) in [("failed", "done"), ("done", "failed"), ("pending", "done")] {
        let document = json!({"phases": [{"id": "a", "status": first}, {"id": "a", "status": second}]});
        assert_eq!(answer(&document), "a <", "{document}");
        has(&document, "records_disagree");
    }
    // A history is written in order: the last word counts.
    let history = json!({"phase_history": [{"phase": "a", "status": "failed"}, {"phase": "a", "status": "done"}],
        "phases": ["a", "b"]});
    all_answer(&[(history, "b < a")]);
}

#[test]
fn counters_come_in_many_spellings() {
    all_answer(&[
        (json!({"progress": {"completed": 3, "total": 4}}), "4 < 1 2 3"),
        (json!({"progress": "3/4"}), "4 < 1 2 3"),
        (json!({"completed_steps": "3 of 4"}), "4 < 1 2 3"),
        (json!({"completed_steps": 3.0, "total_steps": 4}), "4 < 1 2 3"),
        (json!({"remaining_steps": 1, "total_steps": 4}), "4 < 1 2 3"),
        (json!({"phases": 4, "last_completed_phase": 3}), "4 < 1 2 3"),
        (json!({"last_completed_step": "none", "total_steps": 2}), "1 <"),
        (json!({"COMPLETED_STEPS": "a b c", "STEPS": "a b c d"}), "d < a b c"),
    ]);
}

#[test]
fn a_counter_beside_a_named_phase_does_not_make_that_phase_done() {
    all_answer(&[
        (json!({"progress": {"total": 3, "completed": 1, "current": "b"}, "status": "in_progress"}), "b <"),
        (json!({"progress": {"total": 100, "completed": 45, "current": "src/a.ts"}}), "src/a.ts <"),
        (json!({"currentPhase": "b", "totalPhases": 3, "completedPhases": ["a"]}), "b < a"),
        (
            json!({"step_states": [{"name": "a", "status": "succeeded"}, {"name": "b", "status": "queued"}]}),
            "b < a",
        ),
    ]);
}

#[test]
fn an_impossible_counter_does_not_restart_the_work() {
    for document in [
        json!({"completed_steps": 7, "total_steps": 5}),
        json!({"completed_steps": -1, "total_steps": 5}),
        json!({"completed_steps": 2.5, "total_steps": 5}),
        json!({"completed_steps": [null, {}], "total_steps": 5}),
        json!({"remaining_steps": 7, "total_steps": 5}),
        json!({"phases": ["a", "b"], "last_completed_phase": "z"}),
    ] {
        assert_eq!(answer(&document), "? <", "{document}");
    }
}

#[test]
fn the_overall_status_decides_if_the_phases_have_none() {
    all_answer(&[
        (json!({"status": "completed", "phases": ["a", "b"]}), "complete < a b"),
        (json!({"status": "pending", "phases": ["a", "b"]}), "a <"),
        (json!({"status": "failed", "last_completed_phase": 3, "total_phases": 5}), "4 < 1 2 3"),
        (json!({"is_complete": true, "phases": ["a", "b"]}), "complete < a b"),
        (json!({"git": {"status": "clean"}, "completed_phases": ["a"], "next_phase": "b"}), "b < a"),
    ]);
    let left = json!({"status": "complete", "phases": [{"id": "a", "status": "done"}, {"id": "b", "status": "pending"}]});
    assert_eq!(judge(&read(Dialect::Generic, &left, None)).verdict, Verdict::Confirm);
    all_answer(&[(left, "b < a")]);
}

#[test]
fn shapes_that_wrap_or_spell_the_same_facts_are_read_alike() {
    all_answer(&[
        (
            json!({"pipeline": {"stages": [{"name": "a", "status": "success"}, {"name": "b", "status": "pending"}]}}),
            "b < a",
        ),
        (
            json!({"data": {"workflow": {"phases": {"a": {"status": "done"}, "b": {"status": "todo"}}}}}),
            "b < a",
        ),
        (json!({"workflowState": {"completedPhases": ["a"], "remainingPhases": ["b"]}}), "b < a"),
        (json!({"completed-steps": ["a"], "pending-steps": ["b"]}), "b < a"),
        (json!({"steps": {"a": true, "b": false}}), "b < a"),
        (json!({"completed": {"a": true, "b": false}}), "b < a"),
        (json!({"completed_phases": {"a": {"at": 3}}, "phases": ["a", "b"]}), "b < a"),
        (json!({"phase_1_complete": true, "phase_2_complete": false}), "2 < 1"),
        (json!({"phase1": {"done": true}, "phase2": {"done": false}}), "phase2 < phase1"),
        (
            json!({"phases": {"phase_1": {}, "phase_2": {}, "phase_3": {}}, "completed_phases": [1]}),
            "phase_2 < phase_1",
        ),
        (
            json!({"phases": {"1": {"status": "done"}, "3": {"status": "done"}, "7": {"status": "todo"}}}),
            "7 < 1 3",
        ),
        (json!({"phases": {"phase_1_output": "a.md"}, "phase_1_output": "a.md"}), "? <"),
    ]);
}

#[test]
fn empty_and_meaningless_documents_decide_nothing() {
    for document in [
        json!({}),
        json!({"phases": null, "status": null, "current_phase": null, "completed_phases": null}),
        json!({"phases": [null, null], "current_phase": 1}),
        json!({"phases": [], "completed_phases": []}),
        json!({"phases": {}, "current_phase": {}}),
        json!({"current_phase": 99_999_999_999_999_999_999_999_999.0, "total_phases": 1e300}),
        json!({"phases": "all of them", "status": 7}),
    ] {
        assert_eq!(answer(&document), "? <", "{document}");
    }
}

#[test]
fn the_origin_in_key_value_lines_is_a_line_number() {
    let document =
        Document::parse(b"# run\nLAST_COMPLETED_STEP=2\nSTEP_1_STATUS=done\nSTEP_2_STATUS=failed\n").unwrap();
    let reading = Dialect::Generic.read(&document, None);
    assert_eq!(judge(&reading).phase.unwrap().as_str(), "2");
    assert!(reading.origins.iter().any(|origin| origin.fact == "phases/2/status" && origin.from == "line 4"));
    assert_eq!(codes(&reading), ["records_disagree"]);
}
