//! Hostile text in the arguments of pages: nothing of it becomes markup. `tests/it/cli/ui/hostile_store.rs` has the stored text.

use serde_json::json;

use super::action::{Action, confirmation, done};
use super::workflows::{Query, workflows};
use super::{Links, View};
use ckpt_model::Timestamp;
use ckpt_model::stats::Analytics;
use ckpt_store::WorkflowRow;

/// Breaks out of text, attributes, comments, scripts and styles, if anything does not escape it.
const HOSTILE: &str =
    "\"'><script>alert(1)</script><svg/onload=alert(2)><img src=x onerror=alert(3)></style><!--javascript:alert(4)&lt;";

fn view() -> View {
    View {
        now: Timestamp::parse("2026-01-30T15:00:00Z").unwrap(),
        links: Links::Server,
        token: Some("0123".to_owned()),
    }
}

fn row(id: &str, text: &str) -> WorkflowRow {
    let header = json!({
        "version": "1.0", "workflow": id, "seq": 1, "saved_at": "2026-01-30T14:30:00Z", "trigger": "manual",
        "status": "in_progress", "title": text, "labels": [text], "note": text, "pipeline": text,
    });
    let newest = format!("{id}/1").parse().unwrap();
    WorkflowRow { newest, header: Ok(serde_json::from_value(header).unwrap()), live: None, archived: false }
}

fn analytics() -> Analytics {
    let spread = json!({"count": 2, "lower_quartile": 1, "median": 2, "upper_quartile": 3, "slowest": 4, "total": 6});
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
fn hostile_text_in_every_argument_becomes_no_markup() {
    let view = view();
    let text = || HOSTILE.to_owned();
    let asked = Query { status: text(), sort: text(), text: text(), ..Query::default() };
    let action = Action { name: text(), workflow: text(), head: text(), what: text(), plan: text() };
    let rows = [row("042", HOSTILE)];
    for page in [
        workflows(&view, &rows, &[], &Query::default()),
        workflows(&view, &rows, &[text()], &asked),
        super::analytics::analytics(&view, &analytics()),
        confirmation(&view, &action, HOSTILE, HOSTILE),
        done(&view, &action, HOSTILE),
        super::failure::failure(HOSTILE, HOSTILE, &[text(), format!("ckpt {HOSTILE}")]),
    ] {
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
    let rows: Vec<WorkflowRow> = (0..1000).map(|n| row(&format!("w{n}"), "t")).collect();
    let page = |page| workflows(&view(), &rows, &[], &Query { page, ..Query::default() }).into_string();
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
