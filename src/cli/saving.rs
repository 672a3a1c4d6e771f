//! The path of every command that saves: redact, save, clean up.

use super::auto_cleanup::{clean_up_after_save, is_due};
use super::error::Failure;
use super::session::{Session, Workspace};
use super::share::{Sharing, is_end, not_shared};
use super::views::save::SaveReport;
use super::words;
use ckpt_model::change::{Change, Stamp};
use ckpt_model::config::PushMode;
use ckpt_model::next_phase::RunState;
use ckpt_model::task::Task;
use ckpt_model::text::shell_word;
use ckpt_model::{Checkpoint, Handle, PhaseStatus, WorkflowId, WorkflowStatus};
use ckpt_store::Store;
use ckpt_store::save::{Outcome, Prepared, Request, Save};

/// The cleanup of a workflow with at most this many checkpoints takes no time to speak of.
const SHORT: u64 = 64;

/// The conditions of a save, which ordinary saves leave at their defaults.
#[derive(Debug, Default)]
pub(crate) struct SaveOptions<'a> {
    /// The number that must be the newest one; 0 if there must be none.
    pub(crate) expect: Option<u64>,
    /// The key of the save.
    pub(crate) key: Option<&'a str>,
    /// Write nothing if the content stays the same.
    pub(crate) if_changed: bool,
    /// Archive what there is, and begin another run.
    pub(crate) fresh: bool,
    /// Keep secrets instead of replacing them.
    pub(crate) allow_secrets: bool,
    /// Keep the contents of artifacts, whatever the settings say.
    pub(crate) capture: bool,
    /// Write nothing, and report what would be saved.
    pub(crate) dry_run: bool,
    /// Leave the remote alone, whatever the settings say, and clean up only if that takes no time.
    pub(crate) quick: bool,
}

impl Session {
    /// Saves a change to a workflow. Once it is written, a cleanup that fails is only a warning.
    pub(crate) fn save(
        &self,
        workspace: &Workspace,
        workflow: &WorkflowId,
        mut change: Change,
        options: &SaveOptions<'_>,
    ) -> Result<SaveReport, Failure> {
        let Workspace { place, store, config, .. } = workspace;
        let request = Request {
            workflow,
            key: options.key,
            base: &place.cwd,
            allow_secrets: options.allow_secrets,
            capture: options.capture,
        };
        change.resumed_from = self.env.var("CKPT_HANDLE").and_then(|handle| handle.parse().ok());
        if change.resumed_from.is_none() && change.begins_task() {
            change.resumed_from = self.noted_orphans(store);
        }
        let Prepared { redactions, captured } = request.prepare::<_, Failure>(store, &mut change, config)?;
        let stamp = self.stamp(place, config)?;
        let save = Save::new(workflow, &change, &stamp, config)
            .expect(options.expect)
            .key(options.key)
            .if_changed(options.if_changed)
            .fresh(options.fresh)
            .contents(&captured.contents);
        let before = if options.fresh { last_content(store, workflow) } else { None };
        let mut sharing_warnings = Vec::new();
        let is_local = options.dry_run || options.quick;
        let sharing = if is_local { None } else { self.sharing(workspace, &mut sharing_warnings)? };
        let (outcome, not_on_remote) = match &sharing {
            _ if options.dry_run => (save.preview(store)?, None),
            Some(sharing) if sharing.mode == PushMode::Always => {
                self.save_claimed(workspace, sharing, save, workflow, &stamp)?
            }
            _ => (save.to(store)?, None),
        };

        let saved = Saved { session: self, workspace, workflow, options, outcome: &outcome };
        let mut report = saved.report();
        report.redactions = redactions;
        report.warnings.extend(captured.left_out.iter().map(ToString::to_string));
        if options.capture && change.artifacts.is_empty() {
            report.warnings.push("--capture kept nothing: this save records no file".to_owned());
        }
        report.warnings.extend(sharing_warnings);
        if let Some(checkpoint) = outcome.written() {
            report.restarted_from = before;
            if !options.dry_run {
                store.write_seen(&captured.seen, &stamp.save_id);
                report.warnings.extend(open_work(&change, checkpoint));
            }
        }
        if options.dry_run {
            return Ok(report.planned());
        }
        saved.clean_up(&stamp, &mut report);
        if let (Some(checkpoint), Some(why)) = (outcome.written(), not_on_remote) {
            return Err(not_shared(&checkpoint.handle(), &why));
        }
        report.warnings.extend(saved.share(&change, sharing.as_ref())?);
        Ok(report)
    }
}

/// A save that was made, for the steps after it.
struct Saved<'a> {
    session: &'a Session,
    workspace: &'a Workspace,
    workflow: &'a WorkflowId,
    options: &'a SaveOptions<'a>,
    outcome: &'a Outcome,
}

impl Saved<'_> {
    fn report(&self) -> SaveReport {
        let store = &self.workspace.store;
        let kept;
        let checkpoint = if let Some(written) = self.outcome.written() {
            Some(written)
        } else {
            let handle = self.outcome.seq().map(|seq| Handle::new(self.workflow, seq));
            // An archived checkpoint may be unreadable; its number is enough of an answer.
            kept = handle.and_then(|handle| store.load(&handle).ok());
            kept.as_ref().map(|stored| &*stored.checkpoint)
        };
        let mut report = SaveReport::new(store, self.workflow, self.outcome, checkpoint);
        report.store_flag = self.session.store_flag();
        if report.new_workflow {
            report.similar = store.near_miss(self.workflow);
        }
        report
    }

    /// Cleans up if that is due.
    fn clean_up(&self, stamp: &Stamp, report: &mut SaveReport) {
        let Workspace { store, config, .. } = self.workspace;
        let Some(checkpoint) = self.outcome.written() else { return };
        if !is_due(checkpoint, config) || (self.options.quick && checkpoint.seq > SHORT) {
            return;
        }
        match clean_up_after_save(store, config, stamp, self.workflow) {
            Ok(cleanup) => report.cleanup = cleanup.map(|line| line + &self.session.store_flag()),
            Err(warning) => report.warnings.push(warning),
        }
    }

    /// Pushes at the end of a phase, if the settings say so, and looks for other heads. Returns warnings.
    fn share(&self, change: &Change, sharing: Option<&Sharing>) -> Result<Vec<String>, Failure> {
        let Self { session, workspace, workflow, .. } = self;
        let mut warnings = Vec::new();
        let Some(checkpoint) = self.outcome.written() else { return Ok(warnings) };
        if sharing.is_some_and(|sharing| sharing.mode == PushMode::End) && is_end(change, checkpoint) {
            warnings.extend(session.push_at_end(workspace, workflow));
        }
        // Without a remote nothing is looked for, so that a save costs nothing more.
        if session.find_remote(workspace)?.is_some()
            && workspace.store.other_heads(workflow).is_ok_and(|heads| !heads.is_empty())
        {
            warnings.push(format!(
                "{workflow} was continued in another place too, and this continues the head of this store; `ckpt merge {workflow}`"
            ));
        }
        Ok(warnings)
    }
}

/// Returns the last checkpoint that a workflow can go back to.
pub(crate) fn last_content(store: &Store, workflow: &WorkflowId) -> Option<Handle> {
    let (_, content) = store.continued(workflow).ok()??;
    Some(Handle::new(workflow, content))
}

/// Returns the warnings about a phase or a workflow that was recorded as complete while parts of it are open.
fn open_work(change: &Change, checkpoint: &Checkpoint) -> Vec<String> {
    const MOST_NAMED: usize = 5;
    let Checkpoint { workflow, content, .. } = checkpoint;
    let completes_workflow = change.workflow_status == Some(WorkflowStatus::Complete);
    let is_completed = change.phase.is_some() && change.phase_status() == PhaseStatus::Complete;
    let completed = if is_completed { content.phase.as_ref() } else { None };
    let mut warnings = Vec::new();
    let left: Vec<String> = RunState::recorded(content).left().map(|phase| phase.id.to_string()).collect();
    if completes_workflow
        && content.is_declared()
        && let Some(first) = left.first()
    {
        let open = words::first_few(&left, MOST_NAMED);
        let phase = shell_word(first);
        warnings.push(format!(
            "{workflow} is complete, but not its phases {open}; for a phase alone: `ckpt done {workflow} --phase {phase}`"
        ));
    }
    let all_phases_done = completed.is_some() && content.is_declared() && left.is_empty();
    let is_concerned = |task: &&Task| {
        completes_workflow || all_phases_done || completed.is_some_and(|id| task.phase.as_ref() == Some(id))
    };
    let tasks: Vec<String> = content.open_tasks().filter(is_concerned).map(|task| task.id.to_string()).collect();
    if let Some(first) = tasks.first() {
        let what = match completed {
            _ if completes_workflow => format!("{workflow} is complete"),
            Some(phase) if !all_phases_done => format!("phase {phase} is complete"),
            _ => format!("all phases of {workflow} are complete"),
        };
        let open = words::first_few(&tasks, MOST_NAMED);
        let task = shell_word(format!("{first}=complete"));
        warnings.push(format!("{what}, but not its tasks {open}; once they are: `ckpt save {workflow} --task {task}`"));
    }
    warnings
}
