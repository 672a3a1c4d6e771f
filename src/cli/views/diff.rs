//! The answer of `ckpt diff`.

use serde::Serialize;
use serde_json::Value;

use super::parts::branch_and_commit;
use crate::cli::page::Page;
use crate::cli::report::Report;
use crate::cli::style::Style;
use crate::core::checkpoint::{Content, GitContext};
use crate::core::diff::{Changed, Difference, Kind};
use crate::core::span::humane;
use crate::core::{Checkpoint, Handle};

/// How much of a long value is shown unless somebody wants more.
const MOST_CHARACTERS: usize = 120;

#[derive(Debug, Serialize)]
pub(crate) struct DiffReport {
    from: Handle,
    to: Handle,
    equal: bool,
    changes: json_patch::Patch,
    summary: Vec<Changed>,
    /// From when the first was saved to when the second was.
    elapsed_seconds: i64,
    git: GitReport,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct GitReport {
    from: Option<GitContext>,
    to: Option<GitContext>,
}

impl DiffReport {
    pub(crate) fn new(from: &Checkpoint, to: &Checkpoint, difference: Difference) -> Self {
        Self {
            from: from.handle(),
            to: to.handle(),
            equal: difference.is_empty(),
            changes: difference.changes,
            summary: difference.summary,
            // Whole seconds, whichever of them is the later one.
            elapsed_seconds: if to.saved_at >= from.saved_at {
                to.saved_at.seconds_since(from.saved_at)
            } else {
                -from.saved_at.seconds_since(to.saved_at)
            },
            git: GitReport { from: from.context.git.clone(), to: to.context.git.clone() },
            warnings: Vec::new(),
        }
    }

    /// What is worth a line. Times, attempts and digests follow from what else changed, and say something only where
    /// nothing else did.
    fn lines(&self, verbose: bool) -> Vec<&Changed> {
        let worth = |changed: &&Changed| verbose || !is_consequence(changed);
        let lines: Vec<_> = self.summary.iter().filter(worth).collect();
        if lines.is_empty() { self.summary.iter().collect() } else { lines }
    }
}

fn is_consequence(changed: &Changed) -> bool {
    let own = matches!(changed.field.as_str(), "phases" | "tasks" | "artifacts" | "last_error");
    let member = changed.pointer.strip_prefix('/').unwrap_or_default();
    own && (matches!(member, "attempts" | "size" | "at") || member.ends_with("_at"))
}

impl Report for DiffReport {
    const FORMAT: &'static str = "ckpt.diff.v1";

    fn essential(&self) -> String {
        if self.equal { "equal\n" } else { "different\n" }.to_owned()
    }

    fn answer(&self, page: &mut Page) {
        let later = match self.elapsed_seconds {
            0 => String::new(),
            seconds if seconds > 0 => format!(", {} later", humane(seconds.unsigned_abs())),
            seconds => format!(", {} earlier", humane(seconds.unsigned_abs())),
        };
        let [from, to] = [&self.from, &self.to].map(|handle| page.paint(Style::Bold, &handle.to_string()));
        page.line(format!("{from} -> {to}{later}"));
        page.line("");
        if self.equal {
            page.line("  no difference");
        }
        let mut before = "";
        for changed in self.lines(page.verbose) {
            let field = if changed.field == before { "" } else { changed.field.as_str() };
            let line = format!("  {:<10}  {}", page.foreign(field), sentence(page, changed));
            page.line(line.trim_end());
            before = &changed.field;
        }
        let [from, to] = [&self.git.from, &self.git.to].map(|git| git.as_ref().map(branch_and_commit));
        if from != to {
            let shown = |place: Option<String>| page.foreign(place.as_deref().unwrap_or("none"));
            page.line(format!("  {:<10}  {} -> {}", "git", shown(from), shown(to)));
        }
    }
}

/// `build status: pending -> complete`
fn sentence(page: &Page, changed: &Changed) -> String {
    let free = is_free_form(changed);
    let pointer = if free {
        changed.pointer.clone()
    } else {
        changed.pointer.trim_start_matches('/').replace('/', " ")
    };
    let label = [changed.name.as_deref().unwrap_or_default(), &pointer].join(" ");
    let label = page.foreign(label.trim());
    let [before, after] = [&changed.before, &changed.after].map(|value| shown(page, value, free));
    let (old, new) = (page.paint(Style::Bad, &before), page.paint(Style::Good, &after));
    let what = match changed.change {
        _ if changed.field == "artifacts" && changed.pointer == "/sha256" => "other content".to_owned(),
        Kind::Changed => format!("{old} -> {new}"),
        Kind::Reordered => format!("in another order: {after}"),
        Kind::Added if after == label => page.paint(Style::Good, "added"),
        Kind::Removed if before == label => page.paint(Style::Bad, "removed"),
        Kind::Added => format!("{} {after}", page.paint(Style::Good, "added")),
        Kind::Removed => format!("{} {before}", page.paint(Style::Bad, "removed")),
    };
    if label.is_empty() { what } else { format!("{label}: {what}") }
}

/// Returns true for a value that the work made up, false for a field of the format.
fn is_free_form(changed: &Changed) -> bool {
    match changed.field.as_str() {
        "phases" => changed.pointer.starts_with("/data"),
        field => field == "state" || !Content::FIELDS.contains(&field),
    }
}

/// A value in a line: words of ours as they are, everything else as JSON.
fn shown(page: &Page, value: &Value, free: bool) -> String {
    let text = match value {
        Value::String(word) if !free => word.clone(),
        Value::Object(members) if !free && !page.verbose && !words(members).is_empty() => words(members),
        value => value.to_string(),
    };
    let length = text.chars().count();
    if page.verbose || length <= MOST_CHARACTERS {
        return page.foreign(&text);
    }
    let beginning: String = text.chars().take(MOST_CHARACTERS * 2 / 3).collect();
    format!("{}... ({length} characters)", page.foreign(&beginning))
}

/// What is worth knowing of a new or lost entry: where it stands, where it is, what it says.
fn words(members: &serde_json::Map<String, Value>) -> String {
    let telling = ["status", "phase", "path", "action", "message", "reason"];
    let words = telling.iter().filter_map(|name| members.get(*name).and_then(Value::as_str));
    words.collect::<Vec<_>>().join(", ")
}
