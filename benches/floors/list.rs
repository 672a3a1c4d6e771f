//! The least that a list of workflows can be: open the directory of each, find its newest file, and read that.
//!
//! Usage: `list WORKFLOWS`

use std::io::{self, Write};
use std::path::PathBuf;

fn main() -> io::Result<()> {
    let workflows = PathBuf::from(std::env::args_os().nth(1).unwrap_or_default());
    let mut bytes = 0;
    for workflow in std::fs::read_dir(workflows)? {
        let directory = workflow?.path();
        let mut newest = None;
        for file in std::fs::read_dir(&directory)? {
            newest = newest.max(Some(file?.file_name()));
        }
        if let Some(newest) = newest {
            bytes += std::fs::read(directory.join(newest))?.len();
        }
    }
    writeln!(io::stdout(), "{bytes}")
}
