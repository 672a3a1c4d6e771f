//! The answer of `ckpt diff`.

use serde::Serialize;
use serde_json::Value;

use super::parts::{branch_and_commit, diff_line};
use crate::cli::answer::Report;
use crate::cli::style::Style;
use crate::cli::text_page::TextPage;
use ckpt_model::checkpoint::{Content, GitContext};
use ckpt_model::diff::{ChangeKind, Changed, ContentDiff, Difference};
use ckpt_model::span::humane;
use ckpt_model::{Checkpoint, Handle};

/// How much of a long value is shown without `--verbose`.
const MOST_CHARACTERS: usize = 120;
/// How many lines of a content are shown without `--verbose`.
const MOST_LINES: usize = 40;

#[derive(Debug, Serialize)]
pub(crate) struct DiffReport {
    pub(crate) from: Handle,
    pub(crate) to: Handle,
    pub(crate) equal: bool,
    changes: json_patch::Patch,
    pub(crate) summary: Vec<Changed>,
    /// The lines that differ in artifacts whose contents were kept.
    pub(crate) contents: Vec<ContentDiff>,
    /// From the first save to the second; negative if the second was earlier.
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
            contents: Vec::new(),
            // Rounded towards zero in both directions.
            elapsed_seconds: if to.saved_at >= from.saved_at {
                to.saved_at.seconds_since(from.saved_at)
            } else {
                -from.saved_at.seconds_since(to.saved_at)
            },
            git: GitReport { from: from.context.git.clone(), to: to.context.git.clone() },
            warnings: Vec::new(),
        }
    }

    /// Adds what differs in the contents of artifacts.
    pub(crate) fn with_contents(self, contents: Vec<ContentDiff>) -> Self {
        Self { contents, ..self }
    }

    /// Returns the changes to show. Times, attempts and sizes follow from other changes, so they are shown only where
    /// nothing else changed.
    fn lines(&self, verbose: bool) -> Vec<&Changed> {
        let shown: Vec<_> = self.summary.iter().filter(|changed| !is_consequence(changed)).collect();
        if verbose || shown.is_empty() { self.summary.iter().collect() } else { shown }
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

    fn answer(&self, page: &mut TextPage) {
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
            let line = format!("  {:<10}  {}", page.escape(field), sentence(page, changed));
            page.line(line.trim_end());
            before = &changed.field;
        }
        let [from, to] = [&self.git.from, &self.git.to].map(|git| git.as_ref().map(branch_and_commit));
        if from != to {
            let shown = |place: Option<String>| page.escape(place.as_deref().unwrap_or("none"));
            page.line(format!("  {:<10}  {} -> {}", "git", shown(from), shown(to)));
        }
        for ContentDiff { path, diff, .. } in &self.contents {
            let most = if page.verbose { usize::MAX } else { MOST_LINES };
            page.line("");
            page.line(format!("  {}", page.paint(Style::Bold, &page.escape(path))));
            for line in diff.lines.iter().take(most) {
                page.line(format!("  {}", diff_line(page, line)));
            }
            match diff.lines.len().saturating_sub(most) + diff.left_out {
                0 => {}
                more => page.line(format!("  ({more} more lines)")),
            }
        }
    }
}

/// `build status: pending -> complete`
fn sentence(page: &TextPage, changed: &Changed) -> String {
    let free = is_free_form(changed);
    let pointer =
        if free { changed.pointer.clone() } else { changed.pointer.trim_start_matches('/').replace('/', " ") };
    let label = [changed.name.as_deref().unwrap_or_default(), &pointer].join(" ");
    let label = page.escape(label.trim());
    let [before, after] = [&changed.before, &changed.after].map(|value| shown(page, value, free));
    let (old, new) = (page.paint(Style::Bad, &before), page.paint(Style::Good, &after));
    let what = match changed.change {
        _ if changed.field == "artifacts" && changed.pointer == "/sha256" => "other content".to_owned(),
        ChangeKind::Changed => format!("{old} -> {new}"),
        ChangeKind::Reordered => format!("in another order: {after}"),
        ChangeKind::Added if after == label => page.paint(Style::Good, "added"),
        ChangeKind::Removed if before == label => page.paint(Style::Bad, "removed"),
        ChangeKind::Added => format!("{} {after}", page.paint(Style::Good, "added")),
        ChangeKind::Removed => format!("{} {before}", page.paint(Style::Bad, "removed")),
    };
    if label.is_empty() { what } else { format!("{label}: {what}") }
}

/// True for a value with members of the caller's own, false for a field of the format.
fn is_free_form(changed: &Changed) -> bool {
    match changed.field.as_str() {
        "phases" => changed.pointer.starts_with("/data"),
        field => field == "state" || !Content::FIELDS.contains(&field),
    }
}

/// Returns a value for a line: words of the format as they are, everything else as JSON.
fn shown(page: &TextPage, value: &Value, free: bool) -> String {
    let text = match value {
        Value::String(word) if !free => word.clone(),
        Value::Object(members) if !free && !page.verbose => {
            let main = main_members(members);
            if main.is_empty() { value.to_string() } else { main }
        }
        value => value.to_string(),
    };
    let length = text.chars().count();
    if page.verbose || length <= MOST_CHARACTERS {
        return page.escape(&text);
    }
    let beginning: String = text.chars().take(MOST_CHARACTERS * 2 / 3).collect();
    format!("{}... ({length} characters)", page.escape(&beginning))
}

/// Returns the main members of an added or removed entry.
fn main_members(members: &serde_json::Map<String, Value>) -> String {
    // A file is known by its path.
    let names: &[&str] = match members.get("path") {
        Some(_) => &["path"],
        None => &["status", "phase", "action", "message", "reason"],
    };
    let words = names.iter().filter_map(|name| members.get(*name).and_then(Value::as_str));
    words.collect::<Vec<_>>().join(", ")
}
