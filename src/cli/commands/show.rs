//! `ckpt show`

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCandidates;
use serde_json::Value;

use super::pull_flag::PullFlag;
use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::find::Query;
use crate::cli::session::Session;
use crate::cli::views::show::{CheckpointFile, ShowReport};
use ckpt_model::change::ChangeError;
use ckpt_model::checkpoint::Sealed;
use ckpt_model::format::Unusable;
use ckpt_model::phase_name::{PhaseMatch, find_phase};
use ckpt_model::selector::Which;
use ckpt_model::version::Version;
use ckpt_model::{Checkpoint, Handle, PhaseId, Selector};
use ckpt_store::Error;
use ckpt_store::Store;
use ckpt_store::Stored;

pub(crate) const COMMAND: CommandSpec = command!(ShowArgs, "show", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt show 042
  ckpt show 042~1 --state
  ckpt show 042/7 --data --phase build
  ckpt show 042 --pointer /context/git/branch
  ckpt show 042 --raw | jq .";

/// Show one checkpoint
///
/// `042` is the newest one of the workflow, `042/7` that one, `042~1` the one before the newest.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The checkpoint: `042` the newest one, `042/7`, or `042~1` the one before the newest
    #[arg(value_name = "SELECTOR", add = complete::selector())]
    selector: Query,
    /// Print the stored bytes
    #[arg(long, conflicts_with_all = ["state", "data", "pointer", "json"])]
    raw: bool,
    /// Print the state of the workflow
    #[arg(long, conflicts_with_all = ["data", "pointer"])]
    state: bool,
    /// Print the data of the phase the checkpoint is about, or of `--phase`
    #[arg(long, conflicts_with = "pointer")]
    data: bool,
    /// With `--data`: of this phase
    #[arg(long, value_name = "P", requires = "data", add = ArgValueCandidates::new(complete::phases))]
    phase: Option<String>,
    /// Print one value, by its JSON pointer, such as /context/git/branch
    #[arg(long, value_name = "/A/B")]
    pointer: Option<String>,
    #[command(flatten)]
    pull: PullFlag,
}

fn run(args: &ShowArgs, session: &Session) -> Result<Exit, Failure> {
    let warning = args.pull.warning(session)?;
    let store = session.store()?;
    let (handle, shown, sealed) = load(session, &store, &args.selector)?;
    if args.raw {
        if session.output.is_json() {
            return Err(Failure::new(ErrorCode::Usage, "`--raw` and `--json` cannot be used together")
                .help("`--raw` prints the stored bytes, which are JSON"));
        }
        if let Some(warning) = warning {
            session.output.say(&format!("warning: {warning}\n"));
        }
        session.output.answer_raw(&shown.bytes)?;
        return Ok(Exit::Ok);
    }
    let part = args.part(&handle, &shown)?;
    let report = report(&store, handle, shown, part, session.output.is_json())?;
    session.answer(&report.archived(sealed).warning(warning))
}

/// Shows a whole checkpoint, checked against its schema.
pub(crate) fn whole(session: &Session, query: &Query) -> Result<ShowReport, Failure> {
    let store = session.store()?;
    let (handle, shown, sealed) = load(session, &store, query)?;
    Ok(report(&store, handle, shown, None, true)?.archived(sealed))
}

/// Shows the whole checkpoint with a handle, checked against its schema.
pub(crate) fn at(store: &Store, handle: &Handle) -> Result<ShowReport, Failure> {
    let shown = shown(store, handle, store.load(handle))?;
    report(store, handle.clone(), shown, None, true)
}

/// Loads the checkpoint to show, and the seal of its workflow if that is archived.
fn load(session: &Session, store: &Store, query: &Query) -> Result<(Handle, Shown, Option<Sealed>), Failure> {
    let find = |selector: &Selector| Ok((selector.which, store.find(selector)?));
    let (which, (mut handle, mut stored)) = session.find(store, query, "show", find)?;
    let sealed = stored.as_ref().ok().and_then(|stored| stored.checkpoint.sealed.clone());
    // The newest checkpoint of an archived workflow is the last one before the seal, unless it was deleted.
    if let Some(sealed) = &sealed
        && which == Which::Newest
    {
        let last = Handle::new(&handle.workflow, sealed.last);
        if let Ok(loaded) = store.load(&last) {
            (handle, stored) = (last, Ok(loaded));
        }
    }
    let shown = shown(store, &handle, stored)?;
    Ok((handle, shown, sealed))
}

/// A checkpoint to show. Of a newer format only the document is known.
struct Shown {
    bytes: Vec<u8>,
    /// The bundle that holds it; none if it is live.
    bundle: Option<PathBuf>,
    checkpoint: Result<Box<Checkpoint>, Version>,
}

fn shown(store: &Store, handle: &Handle, stored: Result<Stored, Error>) -> Result<Shown, Failure> {
    match stored {
        Ok(Stored { checkpoint, bytes, bundle }) => Ok(Shown { bytes, bundle, checkpoint: Ok(checkpoint) }),
        Err(Error::Damaged { why: Unusable::Newer(version), .. }) => {
            let (bytes, bundle) = store.load_bytes(handle)?;
            Ok(Shown { bytes, bundle, checkpoint: Err(version) })
        }
        Err(error) => Err(error.into()),
    }
}

impl ShowArgs {
    /// Returns the JSON pointer of the part to show; none is the whole document.
    fn part(&self, handle: &Handle, shown: &Shown) -> Result<Option<String>, Failure> {
        if self.state {
            return Ok(Some("/state".to_owned()));
        }
        if !self.data {
            return Ok(self.pointer.clone());
        }
        let checkpoint = shown.checkpoint.as_ref().map_err(|version| {
            let message = format!("`{handle}` has format {version}, and where its data is, is not known");
            Failure::new(ErrorCode::FormatNewer, message).help("name the place with `--pointer /A/B`")
        })?;
        let wanted = match &self.phase {
            Some(phase) => Some(phase.as_str()),
            None => checkpoint.content.phase.as_ref().map(PhaseId::as_str),
        };
        let wanted = wanted.ok_or_else(|| {
            Failure::new(ErrorCode::NoData, format!("`{}` is about no phase", checkpoint.handle()))
                .help("name one with `--phase P`")
        })?;
        let phases = &checkpoint.content.phases;
        let index = match find_phase(phases, wanted) {
            PhaseMatch::One(index) => Some(index),
            PhaseMatch::Several(candidates) => {
                let given = wanted.parse()?;
                return Err(ChangeError::AmbiguousPhase { given, candidates }.into());
            }
            PhaseMatch::None => None,
        };
        let index = index.filter(|index| phases[*index].data.is_some()).ok_or_else(|| {
            let message = format!("phase `{wanted}` has no data in `{}`", checkpoint.handle());
            Failure::new(ErrorCode::NoData, message)
                .help(format!("`ckpt show {}` shows what there is", checkpoint.handle()))
        })?;
        Ok(Some(format!("/phases/{index}/data")))
    }
}

fn report(
    store: &Store,
    handle: Handle,
    shown: Shown,
    part: Option<String>,
    check: bool,
) -> Result<ShowReport, Failure> {
    let in_bundle = shown.bundle.is_some();
    let path = shown.bundle.unwrap_or_else(|| store.checkpoint_path(&handle));
    // Only `--json` reports violations: compiling the schema is slow.
    let document = if part.is_some() || check || shown.checkpoint.is_err() {
        serde_json::from_slice(&shown.bytes).map_err(|error| {
            Failure::new(ErrorCode::TooDeep, format!("`{}` cannot be shown: {error}", path.display()))
        })?
    } else {
        Value::Null
    };
    let violations =
        if check { ckpt_model::schema::violations(ckpt_model::schema::CHECKPOINT, &document) } else { Vec::new() };
    let value = match &part {
        None => document,
        Some(pointer) => document.pointer(pointer).cloned().ok_or_else(|| {
            Failure::new(ErrorCode::NoValue, format!("there is nothing at `{pointer}` in `{handle}`"))
                .help(format!("`ckpt show {handle} --raw` prints the whole document"))
        })?,
    };
    let file = CheckpointFile { path: path.display().to_string(), in_bundle };
    Ok(ShowReport::new(handle, shown.checkpoint, value, part, violations, file))
}
