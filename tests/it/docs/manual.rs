//! The manual pages: every command that they offer is understood.

use crate::support::offered::{assert_understood, commands};
use crate::support::project::World;

/// The text of a page as a reader sees it, without the synopsis, which is a grammar.
fn rendered(page: &str) -> String {
    let replacements = [
        (r"\fB", ""),
        (r"\fI", ""),
        (r"\fR", ""),
        (r"\&", ""),
        (r"\-", "-"),
        (r"\(aq", "'"),
        (r"\*(Aq", "'"),
        (r"\e", r"\"),
    ];
    let (before, synopsis) = page.split_once(".SH SYNOPSIS").expect("a synopsis");
    let (_, after) = synopsis.split_once(".SH").expect("a section after it");
    let mut text = format!("{before}{after}");
    for (roff, plain) in replacements {
        text = text.replace(roff, plain);
    }
    text
}

#[test]
fn every_command_that_a_manual_page_offers_is_understood() {
    let world = World::new();
    let mut pages = vec![world.run(&["man"]).succeeds().stdout];
    for command in ckpt::cli::command_tree().get_subcommands() {
        pages.push(world.run(&["man", command.get_name()]).succeeds().stdout);
    }
    let mut offered = 0;
    for page in pages {
        let text = rendered(&page);
        assert_understood(&text);
        offered += commands(&text).len();
    }
    assert!(offered > 60, "only {offered} commands were found");
}
