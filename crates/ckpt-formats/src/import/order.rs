//! Grouping foreign files by workflow, oldest first.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::error::SourceError;
use super::foreign_file::ForeignFile;
use ckpt_model::workflow_id::WorkflowId;

/// A file, and the workflow that it is imported into.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The workflow.
    pub workflow: WorkflowId,
    /// The file.
    pub file: ForeignFile,
}

/// The files of each workflow, the oldest first.
pub type Ordered = BTreeMap<WorkflowId, Vec<ForeignFile>>;

/// A file that cannot be imported with the others, and why.
pub type Rejected = (ForeignFile, SourceError);

/// Groups files by workflow and sorts each group by recorded time, then by the numbers in the names; never by mtime.
/// The files of a workflow must have the dialect of its first file; the others are rejected.
#[must_use]
pub fn order(files: Vec<Candidate>) -> (Ordered, Vec<Rejected>) {
    let mut workflows = Ordered::new();
    for Candidate { workflow, file } in files {
        workflows.entry(workflow).or_default().push(file);
    }
    let mut rejected = Vec::new();
    for (workflow, files) in &mut workflows {
        let recorded_at = |file: &ForeignFile| file.reading.draft.recorded_at;
        files.sort_by(|a, b| recorded_at(a).cmp(&recorded_at(b)).then_with(|| compare_names(&a.name, &b.name)));
        let first = files.first().map(|first| (first.reading.dialect, first.name.clone()));
        let Some((dialect, name)) = first else { continue };
        for other in files.extract_if(.., |file| file.reading.dialect != dialect) {
            let why = format!("and so does `{name}`, which is written in {dialect}");
            rejected.push((other, SourceError::Collision { workflow: workflow.clone(), why }));
        }
    }
    (workflows, rejected)
}

/// Compares names with runs of digits compared as numbers: `cp-9` comes before `cp-10`.
fn compare_names(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let (digits_a, digits_b) = (leading_digits(a), leading_digits(b));
        if !digits_a.is_empty() && !digits_b.is_empty() {
            let (x, y) = (digits_a.trim_start_matches('0'), digits_b.trim_start_matches('0'));
            let order = x.len().cmp(&y.len()).then_with(|| x.cmp(y));
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
    use crate::dialects::Dialect;
    use crate::import::ReadOptions;

    fn candidate(name: &str, workflow: &str, dialect: Dialect, at: Option<&str>) -> Candidate {
        let options = ReadOptions { dialect: Some(dialect), list: None, allow_secrets: false };
        let document = format!("{{\"saved_at\": \"{}\", \"timestamp\": \"{0}\"}}", at.unwrap_or_default());
        let file = ForeignFile::parse(name, document.as_bytes(), &options, |_, _| None).unwrap();
        Candidate { workflow: workflow.parse().unwrap(), file }
    }

    #[test]
    fn the_recorded_time_decides_then_the_counter_in_the_name() {
        let at = |name, time| candidate(name, "w", Dialect::Generic, time);
        let (workflows, _) = order(vec![
            at("cp-10.json", Some("2026-01-01T00:00:00Z")),
            at("cp-9.json", Some("2026-01-01T00:00:00Z")),
            at("cp-1.json", Some("2026-01-02T00:00:00Z")),
            at("cp-99.json", None),
        ]);
        let names: Vec<_> = workflows.into_values().flatten().map(|file| file.name).collect();
        assert_eq!(names, ["cp-99.json", "cp-9.json", "cp-10.json", "cp-1.json"]);
    }

    #[test]
    fn names_are_compared_as_people_do() {
        for (less, more) in
            [("a2", "a10"), ("a02", "a3"), ("a", "a1"), ("phase0.5", "phase1"), ("a1b", "a1c"), ("x", "y")]
        {
            assert_eq!(compare_names(less, more), Ordering::Less, "{less} {more}");
            assert_eq!(compare_names(more, less), Ordering::Greater, "{less} {more}");
        }
        assert_eq!(compare_names("\u{e9}1", "\u{e9}1"), Ordering::Equal);
    }

    #[test]
    fn one_workflow_has_one_dialect() {
        let (workflows, rejected) = order(vec![
            candidate("a", "w", Dialect::Kamiflow, Some("2026-01-01T00:00:00Z")),
            candidate("b", "w", Dialect::Generic, Some("2026-01-02T00:00:00Z")),
            candidate("c", "v", Dialect::Generic, None),
        ]);
        assert_eq!(workflows.len(), 2);
        assert_eq!(rejected.len(), 1);
        let (file, error) = &rejected[0];
        assert_eq!(file.name, "b");
        assert_eq!(error.to_string(), "belongs to `w`, and so does `a`, which is written in kamiflow");
    }
}
