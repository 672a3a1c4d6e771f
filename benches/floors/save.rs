//! The least that a durable save can be: read one file, write as much under the next name, so that it survives a power
//! loss and never replaces what is there. Everything happens in the working directory.
//!
//! Usage: `save NEWEST NEXT`

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};

const STAGED: &str = ".tmp";

fn main() -> io::Result<()> {
    let mut args = std::env::args_os().skip(1);
    let (newest, next) = (args.next().unwrap_or_default(), args.next().unwrap_or_default());

    let bytes = fs::read(newest)?;
    let mut file = OpenOptions::new().write(true).create_new(true).open(STAGED)?;
    file.write_all(&bytes)?;
    file.sync_all()?;
    fs::hard_link(STAGED, next)?;
    fs::remove_file(STAGED)?;
    File::open(".")?.sync_all()
}
