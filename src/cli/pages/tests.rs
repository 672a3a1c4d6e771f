//! Hostile text in every field of every document: nothing of it becomes markup.

use maud::Markup;
use serde_json::{Value, json};

use super::action::{Action, confirmation, done};
use super::workflow::Documents;
use super::workflows::Query;
use super::{Doc, Links, View};
use crate::core::Timestamp;
use crate::core::stats::Analytics;

/// Breaks out of text, attributes, comments, scripts and styles, if anything does not escape it.
const HOSTILE: &str = "\"'><script>alert(1)</script><svg/onload=alert(2)><img src=x onerror=alert(3)></style><!--javascript:alert(4)&lt;";

fn view() -> View {
    View {
        now: Timestamp::parse("2026-01-30T15:00:00Z").unwrap(),
        links: Links::Server,
        token: Some("0123".to_owned()),
    }
}

/// Replaces every text except times, and adds the same text as a name of a member.
fn hostile(value: &Value) -> Value {
    match value {
        Value::String(text) if Timestamp::parse(text).is_some() => value.clone(),
        Value::String(_) => json!(HOSTILE),
        Value::Array(elements) => elements.iter().map(hostile).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), hostile(value))).collect()
        }
        other => other.clone(),
    }
}

fn checkpoint() -> Value {
    json!({
        "workflow": "042", "seq": 3, "saved_at": "2026-01-30T14:30:00Z", "status": "in_progress", "note": "n",
        "title": "t", "parent": {"seq": 2}, "state": {"a": ["b", {"c": "d"}], "url": "https://example.org/x"},
        "phases": [
            {"id": "plan", "status": "complete", "started_at": "2026-01-30T14:00:00Z", "attempts": 2,
             "completed_at": "2026-01-30T14:10:00Z", "data": {"k": "v"}, "approval": {"approved_by": "kim"}},
            {"id": "build", "status": "failed", "started_at": "2026-01-30T14:10:00Z", "attempts": 1, "error": "e"}],
        "tasks": [{"id": "lexer", "status": "complete", "phase": "build", "output": "o"},
                  {"id": "parser", "status": "failed", "depends_on": ["lexer"], "error": "e"}],
    })
}

fn documents() -> [Value; 6] {
    let resume = json!({
        "workflow": "042", "verdict": "blocked", "phase": "build", "action": "a", "saved_at": "2026-01-30T14:30:00Z",
        "findings": [{"severity": "blocker", "message": "m", "help": ["ckpt save 042"]}], "awaiting_approval": ["plan"],
        "artifacts": [{"name": "n", "path": "p", "phase": "plan", "condition": "missing"}], "warnings": ["w"],
    });
    let status = json!({
        "workflow": "042", "handle": "042/3", "title": "t", "status": "in_progress", "archived_as": null,
        "elapsed_seconds": 60, "estimate": {"low_seconds": 1, "high_seconds": 2, "samples": 3},
        "phases": [{"id": "plan", "name": "n", "status": "complete", "duration_seconds": 5, "current": true,
                    "tasks": [{"id": "lexer", "status": "complete"}]}],
    });
    let show = json!({"handle": "042/3", "checkpoint": checkpoint(), "path": "/p", "violations": ["v"], "warnings": ["w"]});
    let log = json!({"entries": [
        {"handle": "042/4", "kind": "checkpoint", "parents": ["042/3", "043/1"], "merged": "043/1", "changes": []},
        {"handle": "042/3", "kind": "checkpoint", "parents": ["042/2", "042/1"], "copy_of": "042/1", "note": "n",
         "saved_at": "2026-01-30T14:30:00Z", "error": "e", "changes": [{"field": "phases", "name": "n", "status": "failed"}]},
        {"handle": "042/2", "kind": "seal", "parents": ["042/1"], "archived_as": "failed", "changes": []}]});
    let list = json!({
        "workflows": [{"workflow": "042", "title": "t", "status": "in_progress", "phase": "p", "done": 1, "total": 3,
                       "saved_at": "2026-01-30T14:30:00Z", "labels": ["l"], "pipeline": "p", "failed": ["build"]}],
        "damaged": [{"handle": "043/1", "message": "m"}], "warnings": ["w"],
    });
    let diff = json!({"from": "042/1", "to": "042/2", "equal": false, "warnings": ["w"],
        "summary": [{"field": "f", "name": "n", "pointer": "/p", "change": "changed", "before": "b", "after": {"x": "y"}}],
        "contents": [{"name": "n", "path": "p", "lines": ["@@ -1,1 +1,1 @@", "-l", "+l"], "left_out": 2}]});
    [resume, status, show, log, list, diff]
}

fn analytics() -> Analytics {
    let spread =
        json!({"count": 2, "lower_quartile": 1, "median": 2, "upper_quartile": 3, "slowest": 4, "total": 6});
    serde_json::from_value(json!({
        "since": null, "runs": {"in_progress": 1, "complete": 2, "failed": 3, "abandoned": 4}, "runs_left_out": 1,
        "resumes": 2, "successful_resumes": 1, "resume_success_percent": 50,
        "pipelines": [{"pipeline": HOSTILE, "runs": {"in_progress": 1, "complete": 2, "failed": 3, "abandoned": 4},
            "seconds": spread, "bottleneck": {"phase": "<b>\"'", "share_percent": 60, "waiting_percent": 5},
            "phases": [{"id": "<b>\"'", "runs": 2, "seconds": spread, "slowest_in": "042", "waiting_seconds": 4,
                "share_percent": 60, "failed_percent": 1, "retried_percent": 2, "replanned_percent": 3}]}],
        "weeks": [{"starts_on": HOSTILE, "complete": 3, "given_up": 1, "median_seconds": 60}],
    }))
    .unwrap()
}

/// Renders every page from these documents.
fn pages(view: &View, [resume, status, show, log, list, diff]: &[Value; 6]) -> Vec<Markup> {
    let documents = Documents { resume: Doc(resume), status: Doc(status), show: Doc(show), log: Doc(log) };
    let board = Query { board: true, text: String::new(), ..Query::default() };
    let asked =
        Query { text: HOSTILE.into(), status: HOSTILE.into(), sort: HOSTILE.into(), ..Query::default() };
    let figures = analytics();
    let document = serde_json::to_value(&figures).unwrap();
    let text = || HOSTILE.to_owned();
    let action = Action { name: text(), workflow: text(), head: text(), what: text(), plan: text() };
    vec![
        super::workflows::workflows(view, Doc(list), &Query::default()),
        super::workflows::workflows(view, Doc(list), &board),
        super::workflows::workflows(view, Doc(list), &asked),
        super::workflow::workflow(view, documents),
        super::checkpoint::checkpoint(view, Doc(show)),
        super::diff::diff(view, Doc(diff)),
        super::analytics::analytics(view, &figures, Doc(&document)),
        confirmation(view, &action, HOSTILE, HOSTILE, false),
        done(view, &action, HOSTILE),
        super::failure::failure(HOSTILE, HOSTILE, &[text(), format!("ckpt {HOSTILE}")]),
    ]
}

/// The tags of a page that text could have made, and the addresses of its links.
fn assert_harmless(html: &str) {
    let lower = html.to_lowercase();
    for hazard in ["<script>alert", "<svg/", "<img", "</style><!--", "onload=alert(2)>", "\"'>"] {
        assert!(!lower.contains(hazard), "{hazard} in {html}");
    }
    for address in lower.split("href=\"").skip(1) {
        let address = address.split('"').next().unwrap();
        let known = ["/", "#", "https://", "data:,"].iter().any(|start| address.starts_with(start));
        assert!(known && !address.starts_with("//"), "a link to {address}");
    }
    for tag in lower.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap();
        let outside: String = tag.split('"').step_by(2).collect();
        assert!(!outside.contains(" on"), "an event handler in <{tag}>");
        assert!(!outside.contains(" style"), "the policy forbids a style in <{tag}>");
    }
}

#[test]
fn hostile_text_in_every_field_becomes_no_markup() {
    let view = view();
    let documents = documents().map(|document| hostile(&document));
    for page in pages(&view, &documents) {
        let html = super::layout::document(&view, HOSTILE, HOSTILE, &page);
        let body = html.split("<body").nth(1).unwrap().split("<script>\"use strict\"").next().unwrap();
        assert_harmless(body);
        assert!(body.contains("&lt;script&gt;"), "the text itself is shown: {body}");
    }
}

#[test]
fn only_a_whole_https_address_is_a_link() {
    let linked = |text: &str| super::tree::string(text).into_string().contains("<a ");
    assert!(linked("https://example.org/a?b=c&d"));
    for text in [
        "http://example.org",
        "javascript:alert(1)",
        "see https://example.org",
        "https://",
        "https://a b",
        "HTTPS://x",
        "https://x\"onclick=1",
        "https://x\n",
        "data:text/html,x",
        "//example.org",
        "https://x\u{202e}y",
    ] {
        assert!(!linked(text), "{text:?}");
    }
}

#[test]
fn the_same_pages_in_a_file_link_only_to_what_is_in_it() {
    let links = Links::File(["workflow-042".to_owned()].into());
    let view = View { links, token: None, ..view() };
    // A report has no pages of actions and failures.
    for page in pages(&view, &documents()).into_iter().take(7) {
        let html = page.into_string();
        for address in html.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            let known = address.starts_with("https://") || address == "#workflow%2D042";
            assert!(known, "{address}");
        }
        assert!(!html.contains("token"), "a report has no secret");
    }
}

#[test]
fn a_large_document_is_cut_and_says_so() {
    let many: Vec<_> = (0..10_000).map(|n| json!({"n": n, "text": "x".repeat(10)})).collect();
    let html = super::tree::tree(&json!(many)).into_string();
    assert!(html.len() < 1_000_000 && html.contains("Only the first"), "{}", html.len());
    let html = super::parts::cut(&"x".repeat(100_000)).into_string();
    assert!(html.len() < 10_000 && html.contains("100000 bytes in all"));
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    assert!(super::tree::tree(&deep).into_string().contains("nested deeper"));
}

#[test]
fn a_thousand_workflows_are_shown_in_pages() {
    let rows: Vec<_> =
        (0..1000).map(|n| json!({"workflow": format!("w{n}"), "status": "in_progress"})).collect();
    let list = json!({"workflows": rows});
    let page = |page| {
        super::workflows::workflows(&view(), Doc(&list), &Query { page, ..Query::default() }).into_string()
    };
    assert_eq!(page(1).matches("<tr>").count(), 51, "fifty rows and the head");
    assert!(page(1).contains("Page 1 of 20") && page(99).contains("Page 20 of 20"));
    assert!(page(1).len() < 60_000, "{}", page(1).len());
}

#[test]
fn the_policy_allows_this_style_and_this_script_only() {
    let policy = super::layout::policy(true);
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"), "{policy}");
}
