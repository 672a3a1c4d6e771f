//! What `import`, `export` and `resume --file` share: foreign files, seen from the command line.

use std::path::Path;

use crate::cli::error::{ErrorCode, Failure};
use crate::cli::session::{Judgement, Session};
use crate::core::dialects::{MAX_SOURCE_BYTES, Reading};
use crate::core::files::read_bounded;
use crate::core::import::{Companions, ForeignFile, Importer, ReadOptions, Source, SourceError};
use crate::core::{Config, Store};

/// The path that stands for standard input.
pub(super) const STDIN: &str = "-";

/// What comes in on standard input, which can be read only once. `command` is what reads it.
pub(super) fn read_stdin(command: &str) -> Result<Vec<u8>, Failure> {
    let bytes = read_bounded(std::io::stdin().lock(), MAX_SOURCE_BYTES)
        .map_err(|error| SourceError::from(error).of(STDIN))?;
    if bytes.trim_ascii().is_empty() {
        return Err(Failure::new(ErrorCode::Damaged, "nothing came in on standard input")
            .help(format!("pipe a checkpoint file into it: `ckpt {command} < state.json`"))
            .context("source", STDIN));
    }
    Ok(bytes)
}

/// Judges a file, or what comes in on standard input, as if it had been imported. Nothing is written, and no store is
/// needed.
pub(super) fn judge(session: &Session, file: &Path) -> Result<(Judgement, Reading), Failure> {
    let source = if file == Path::new(STDIN) {
        Source::Stdin(read_stdin("resume --file -")?)
    } else {
        Source::Named(file.to_owned())
    };
    let fail = |error: SourceError| error.of(&source.name());
    let foreign = ForeignFile::open(&source, ReadOptions::default(), &mut Companions::default());
    let foreign = foreign.map_err(fail)?;
    let workflow = foreign.workflow().map_err(fail)?;
    let place = session.place()?;
    let store = Store::at(place.located())?;
    let config = session.config(&store).unwrap_or_else(|_| Config::default());
    let stamp = session.stamp(&place, &Config::default())?;
    let importer = Importer {
        store: &store,
        project: &place.located().project,
        max_file: config.max_artifact(),
        stamp: &stamp,
    };
    let checkpoint = importer.checkpoint(&foreign, &workflow, None);
    let judgement = session.judge_at(&place, &config, checkpoint);
    Ok((judgement, foreign.reading))
}
