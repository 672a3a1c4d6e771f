//! Sorting foreign files into workflows, each in the order its files were saved in.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::problem::SourceProblem;
use crate::core::dialects::Dialect;
use crate::core::digest::Digest;
use crate::core::time::Timestamp;
use crate::core::workflow_id::WorkflowId;

/// A file that waits for its turn. `F` is how the caller finds it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued<F> {
    /// How it is found again.
    pub file: F,
    /// The file, as it was named.
    pub source: String,
    /// Its digest.
    pub sha256: Digest,
    /// The dialect it is written in.
    pub dialect: Dialect,
    /// The workflow it belongs to.
    pub workflow: WorkflowId,
    /// When it says it was saved.
    pub recorded_at: Option<Timestamp>,
}

/// A file that has no place in the queue, and why.
pub type Refused<F> = (Queued<F>, SourceProblem);

/// The workflows, each with its files in order.
#[derive(Debug)]
pub struct Queue<F> {
    /// In the order of their names.
    pub workflows: BTreeMap<WorkflowId, Vec<Queued<F>>>,
    /// What is left out.
    pub refused: Vec<Refused<F>>,
}

impl<F> Queue<F> {
    /// Sorts the files: by the time they record, then by the counter in their name, never by the time of the file.
    /// The files of one workflow must all be of one dialect: that of its first.
    #[must_use]
    pub fn new(files: Vec<Queued<F>>) -> Self {
        let mut workflows: BTreeMap<WorkflowId, Vec<Queued<F>>> = BTreeMap::new();
        for file in files {
            workflows.entry(file.workflow.clone()).or_default().push(file);
        }
        let mut refused = Vec::new();
        for (workflow, files) in &mut workflows {
            files.sort_by(|a, b| {
                a.recorded_at.cmp(&b.recorded_at).then_with(|| natural(&a.source, &b.source))
            });
            let first = files.first().map(|file| (file.dialect, file.source.clone()));
            let Some((dialect, source)) = first else { continue };
            let (fitting, others): (Vec<_>, Vec<_>) =
                std::mem::take(files).into_iter().partition(|file| file.dialect == dialect);
            *files = fitting;
            refused.extend(others.into_iter().map(|other| {
                let why = format!("and so does `{source}`, which is written in {dialect}");
                (other, SourceProblem::Collision { workflow: workflow.clone(), why })
            }));
        }
        Self { workflows, refused }
    }
}

/// Compares names as people do: runs of digits by their number.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let (digits_a, digits_b) = (leading_digits(a), leading_digits(b));
        if !digits_a.is_empty() && !digits_b.is_empty() {
            let bare = |digits: &str| digits.trim_start_matches('0').to_owned();
            let (x, y) = (bare(digits_a), bare(digits_b));
            let order = x.len().cmp(&y.len()).then_with(|| x.cmp(&y));
            if order != Ordering::Equal {
                return order;
            }
            (a, b) = (&a[digits_a.len()..], &b[digits_b.len()..]);
            continue;
        }
        match (a.chars().next(), b.chars().next()) {
            (Some(x), Some(y)) if x == y => (a, b) = (&a[x.len_utf8()..], &b[y.len_utf8()..]),
            (x, y) => return x.cmp(&y),
        }
    }
}

fn leading_digits(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(source: &str, workflow: &str, dialect: Dialect, at: Option<&str>) -> Queued<()> {
        Queued {
            file: (),
            source: source.to_owned(),
            sha256: Digest::of(source.as_bytes()),
            dialect,
            workflow: workflow.parse().unwrap(),
            recorded_at: at.map(|at| Timestamp::parse(at).unwrap()),
        }
    }

    fn order(files: Vec<Queued<()>>) -> Vec<String> {
        let queue = Queue::new(files);
        queue.workflows.into_values().flatten().map(|file| file.source).collect()
    }

    #[test]
    fn the_recorded_time_decides_then_the_counter_in_the_name() {
        let at = |source, time| queued(source, "w", Dialect::Generic, time);
        let files = vec![
            at("cp-10.json", Some("2026-01-01T00:00:00Z")),
            at("cp-9.json", Some("2026-01-01T00:00:00Z")),
            at("cp-1.json", Some("2026-01-02T00:00:00Z")),
            at("cp-99.json", None),
        ];
        assert_eq!(order(files), ["cp-99.json", "cp-9.json", "cp-10.json", "cp-1.json"]);
    }

    #[test]
    fn names_are_compared_as_people_do() {
        for (less, more) in
            [("a2", "a10"), ("a02", "a3"), ("a", "a1"), ("phase0.5", "phase1"), ("a1b", "a1c"), ("x", "y")]
        {
            assert_eq!(natural(less, more), Ordering::Less, "{less} {more}");
            assert_eq!(natural(more, less), Ordering::Greater, "{less} {more}");
        }
        assert_eq!(natural("\u{e9}1", "\u{e9}1"), Ordering::Equal);
    }

    #[test]
    fn one_workflow_has_one_dialect() {
        let queue = Queue::new(vec![
            queued("a", "w", Dialect::Kamiflow, Some("2026-01-01T00:00:00Z")),
            queued("b", "w", Dialect::Generic, Some("2026-01-02T00:00:00Z")),
            queued("c", "v", Dialect::Generic, None),
        ]);
        assert_eq!(queue.workflows.len(), 2);
        assert_eq!(queue.refused.len(), 1);
        let (file, problem) = &queue.refused[0];
        assert_eq!(file.source, "b");
        assert_eq!(problem.to_string(), "belongs to `w`, and so does `a`, which is written in kamiflow");
    }
}
