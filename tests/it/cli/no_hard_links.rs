//! A file system without hard links, such as FAT: a rename that does not replace publishes files instead. Without that
//! either, the store cannot keep its promises and says so.

use crate::support::project::{Invocation, World};
use crate::support::strace::strace;

/// Lets every call of these system calls fail.
fn failing<'a>(call: Invocation<'a>, faults: &[&str]) -> Option<Invocation<'a>> {
    let strace = strace()?;
    let names: Vec<&str> = faults.iter().filter_map(|fault| fault.split(':').next()).collect();
    let mut tracer = vec![strace.into_os_string()];
    tracer.extend(["-f", "-qq", "-o", "/dev/null", "-e"].map(Into::into));
    tracer.push(format!("trace={}", names.join(",")).into());
    for fault in faults {
        tracer.extend(["-e".into(), format!("inject={fault}").into()]);
    }
    Some(call.under(&tracer))
}

#[test]
fn everything_works_by_renames() {
    for errno in ["EPERM", "EOPNOTSUPP", "ENOSYS", "EACCES"] {
        let world = World::new();
        let fault = format!("linkat:error={errno}");
        let commands: &[&[&str]] = &[
            &["init"],
            &["save", "042", "--phase", "1"],
            &["save", "042", "--phase", "2"],
            &["archive", "042", "--as", "completed"],
            &["restore", "042"],
            &["cleanup", "--keep-last", "1"],
            &["verify", "--repair"],
        ];
        for args in commands {
            let Some(call) = failing(world.ckpt(args), &[&fault]) else { return };
            call.run().succeeds();
        }
        world.run(&["verify"]).succeeds();
        assert_eq!(world.numbers("042"), [1, 2, 3, 4], "{errno}");
    }
}

#[test]
fn a_file_system_that_replaces_with_every_rename_is_refused_with_the_reason() {
    let faults = ["linkat:error=EPERM", "renameat2:error=EINVAL"];
    let fresh = World::new();
    let saved = World::with_checkpoints(2);
    saved.replace_checkpoint("042", 1, b"damaged");
    for (world, args) in [
        (&fresh, &["save", "042"][..]),
        (&fresh, &["init"]),
        (&saved, &["save", "042"]),
        (&saved, &["archive", "042", "--as", "completed"]),
        (&saved, &["verify", "--repair"]),
    ] {
        let before = world.numbers("042");
        let Some(call) = failing(world.ckpt(&[args, &["--json"]].concat()), &faults) else { return };
        let failure = call.run().exits(10).failure();
        assert_eq!(failure["code"], "unsupported_file_system", "{args:?}: {failure}");
        assert_eq!(failure["retryable"], false);
        let message = failure["message"].as_str().unwrap();
        assert!(message.contains("hard links"), "{message}");
        let help = failure["help"].to_string();
        assert!(help.contains("--store DIR") && !help.contains("try again"), "{help}");
        assert_eq!(world.numbers("042"), before);
    }
}
