//! The readers and writers of foreign files, tried on files: `tests/fixtures/dialects/FORMAT/CASE.*`. [`cases`] tells which
//! files lie beside a case. To add one, add the file and run with `UPDATE_FIXTURES=1`; then read what was written.

mod cases;
mod mutations;
mod round_trips;
mod scoreboard;
mod support;
mod writing;
