//! `ckpt man`

use crate::support::project::World;

#[test]
fn there_is_a_page_for_the_program_and_for_each_command() {
    let world = World::new();
    let page = world.run(&["man"]).succeeds().stdout;
    assert!(page.contains(".TH ckpt 1") && page.contains(".SH SYNOPSIS"), "{page}");
    for command in ckpt::cli::command_tree().get_subcommands() {
        let page = world.run(&["man", command.get_name()]).succeeds().stdout;
        let title = format!(".TH ckpt-{} 1", command.get_name());
        assert!(page.contains(&title) && page.contains(".SH EXAMPLES\n.nf\n\\&"), "{page}");
        assert!(!page.contains("EXTRA"), "{page}");
    }
    world.refuses(&["man", "nothing"], 4, "no_such_command");
}
