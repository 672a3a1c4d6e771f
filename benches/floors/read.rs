//! The least that showing something can be: start, read one file, write one line.
//!
//! Usage: `read FILE`

use std::io::{self, Write};

fn main() -> io::Result<()> {
    let path = std::env::args_os().nth(1).unwrap_or_default();
    let bytes = std::fs::read(path)?;
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    io::stdout().write_all(line)?;
    io::stdout().write_all(b"\n")
}
