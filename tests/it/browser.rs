//! The pages in a real browser: `tests/browser/` drives a headless Chromium. CI has one; elsewhere it may be missing. The
//! one that is made for this, without windows, takes less time than the one for people.
//!
//! Tests begin in the order of their names. This one takes longest, so it is not in `ui`, which comes last.

use std::path::Path;
use std::process::Command;

use crate::support::program::CKPT;
use crate::support::project::{find_program, skip};

#[test]
fn the_pages_work_in_a_browser() {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
    let chromium = find_program("chromium-headless-shell").or_else(|| find_program("chromium"));
    let (Some(chromium), Some(node)) = (chromium, find_program("node")) else {
        return skip("there is no Chromium or no Node");
    };
    if !scripts.join("node_modules/playwright-core").exists() {
        return skip("`npm ci` has not been run in tests/browser");
    }
    let output = Command::new(node).arg(scripts.join("run.mjs")).arg(CKPT.as_str()).arg(chromium).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
}
