//! Artifacts that cannot be recorded: refused with a reason, without hanging and without reading for ever.

use std::os::unix::fs::symlink;
use std::process::Command;

use crate::support::project::World;

#[test]
fn each_is_refused_with_its_reason() {
    let world = World::with_checkpoints(1);
    world.configure("[save]\nmax_artifact_size = \"1KiB\"\n");
    std::fs::write(world.temp().join("secret.txt"), "outside").unwrap();
    symlink("../secret.txt", world.project().join("way-out")).unwrap();
    symlink("nowhere", world.project().join("dangling")).unwrap();
    symlink("loop", world.project().join("loop")).unwrap();
    std::fs::create_dir(world.project().join("directory")).unwrap();
    assert!(Command::new("mkfifo").arg(world.project().join("pipe")).status().unwrap().success());
    world.write("large.txt", vec![b'x'; 1025]);
    world.write("fits.txt", vec![b'x'; 1024]);
    let cases = [
        ("missing.txt", 2, "artifact_missing"),
        ("fits.txt/below", 2, "artifact_missing"),
        ("dangling", 2, "artifact_missing"),
        ("directory", 2, "artifact_not_a_file"),
        (".", 2, "artifact_not_a_file"),
        ("pipe", 2, "artifact_not_a_file"),
        ("/dev/zero", 2, "artifact_outside"),
        ("../secret.txt", 2, "artifact_outside"),
        ("directory/../../secret.txt", 2, "artifact_outside"),
        ("way-out", 2, "artifact_outside"),
        ("/etc/passwd", 2, "artifact_outside"),
        ("large.txt", 9, "artifact_too_large"),
    ];
    for (path, exit, code) in cases {
        let failure = world.refuses(&["save", "042", "--artifact", path], exit, code);
        assert!(failure["message"].as_str().unwrap().contains(&format!("`{path}`")), "{failure}");
        let named = format!("name={path}");
        world.refuses(&["save", "042", "--artifact", "fits.txt", "--artifact", &named], exit, code);
    }
    world.refuses(&["save", "042", "--artifact", "loop"], 2, "artifact_not_a_file");
    world.run(&["save", "042", "--artifact", "fits.txt"]).succeeds();
}

#[test]
fn a_huge_file_is_refused_by_its_size_and_not_read() {
    let world = World::new();
    let huge = std::fs::File::create(world.project().join("huge.bin")).unwrap();
    huge.set_len(10 << 30).unwrap();
    let failure = world.refuses(&["save", "042", "--artifact", "huge.bin"], 9, "artifact_too_large");
    assert!(failure["message"].as_str().unwrap().contains("larger than 1.07 GB"), "{failure}");
}

#[test]
fn a_name_that_is_no_text_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = World::new();
    let name = std::ffi::OsStr::from_bytes(b"bad\xff.txt");
    std::fs::write(world.project().join(name), "x").unwrap();
    symlink(name, world.project().join("good.txt")).unwrap();
    world.refuses(&["save", "042", "--artifact", "good.txt"], 2, "artifact_name");
}
