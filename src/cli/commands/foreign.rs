//! What `import`, `export` and `resume --file` share: foreign files, seen from the command line.

use std::path::Path;

use crate::cli::error::{ErrorCode, Failure};
use crate::cli::session::{Judgement, Session};
use crate::core::adopt::{Adoption, Collected, Opened, Shelf, SourceProblem, Terms};
use crate::core::dialects::{MAX_SOURCE_BYTES, Reading};
use crate::core::files::read_bounded;
use crate::core::{Config, Store};

/// The path that stands for standard input.
pub(super) const STDIN: &str = "-";

/// What comes in on standard input, which can be read only once. `command` is what reads it.
pub(super) fn read_stdin(command: &str) -> Result<Vec<u8>, Failure> {
    let bytes = read_bounded(std::io::stdin().lock(), MAX_SOURCE_BYTES)
        .map_err(|problem| SourceProblem::from(problem).of(STDIN))?;
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
    let name = file.display().to_string();
    let refused = |problem: SourceProblem| problem.of(&name);
    let piped = file == Path::new(STDIN);
    let bytes = if piped {
        read_stdin("resume --file -")?
    } else {
        Collected { path: file.to_owned(), named: true }.read().map_err(refused)?
    };
    let mut shelf = Shelf::default();
    let beside = |dialect, main: &_| {
        if piped { None } else { shelf.beside(file, dialect, main).map(|(_, content)| content) }
    };
    let opened = Opened::read(&name, &bytes, Terms::default(), beside).map_err(refused)?;
    let workflow = opened.workflow().map_err(refused)?;
    let place = session.place()?;
    let store = Store::at(place.located())?;
    let config = session.config(&store).unwrap_or_else(|_| Config::default());
    let stamp = session.stamp(&place, &Config::default())?;
    let adoption = Adoption {
        store: &store,
        project: &place.located().project,
        max_file: config.max_artifact(),
        stamp: &stamp,
    };
    let checkpoint = adoption.checkpoint(&opened, &workflow, None);
    let judgement = session.judge_at(&place, &config, checkpoint);
    Ok((judgement, opened.reading))
}
