//! Commands that move checkpoints keep all of them, whatever happens.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ckpt_model::digest::Digest;
use ckpt_store::Bundle;

use crate::support::files::state_of;
use crate::support::project::{Outcome, World};
use crate::support::strace::{strace, was_killed};
use ckpt::injection::{Fault, failures, kills, try_all};

/// Tries every kill and every error at a command on a copy of `model`.
pub(super) fn try_everything(model: &World, args: &[&str], documented: &[i32]) {
    try_faults(model, args, documented, |faults| faults);
}

/// Tries those kills and errors that `select` takes.
pub(super) fn try_faults(model: &World, args: &[&str], documented: &[i32], select: impl Fn(Vec<Fault>) -> Vec<Fault>) {
    let Some(strace) = strace() else { return };
    let undisturbed = model.copy();
    undisturbed.run(args).succeeds();
    let (before, after) = (Kept::in_(model), Kept::in_(&undisturbed));
    assert!(before.places != after.places || before.bundles != after.bundles, "it does something");
    let expected =
        Expected { args, documented, before, after, findings: findings(&undisturbed), completed: Mutex::default() };

    let mut faults = kills(&strace, &model.copy(), args);
    faults.extend(failures(&strace, &model.copy(), args));
    try_all(
        &strace,
        args,
        &select(faults),
        || model.copy(),
        |world, outcome, fault| {
            expected.hold_for(world, outcome, fault);
        },
    );
}

/// Checks a command that met a fault.
struct Expected<'a> {
    args: &'a [&'a str],
    /// The exit codes of a failure.
    documented: &'a [i32],
    before: Kept,
    after: Kept,
    findings: BTreeSet<&'static str>,
    /// The states from which the same command has completed it.
    completed: Mutex<BTreeSet<Digest>>,
}

/// The findings of `verify`, except for files that were being written.
fn findings(world: &World) -> BTreeSet<&'static str> {
    let verified = world.open_store().verify(&[], &mut |_| {}).unwrap();
    assert!(verified.is_ok(), "{:?}", verified.findings);
    verified.findings.iter().map(|finding| finding.code.word()).filter(|code| *code != "leftover").collect()
}

impl Expected<'_> {
    fn hold_for(&self, world: &World, outcome: &Outcome, fault: &Fault) {
        let left = Kept::in_(world);
        self.assert_nothing_lost(&left, || format!("{fault}\n{outcome}"));
        match outcome.status.code() {
            Some(0) => self.assert_done(&left, || format!("{fault}: exit 0\n{outcome}")),
            _ if was_killed(outcome) => {}
            Some(code) if self.documented.contains(&code) => {}
            _ => panic!("{fault}: no documented end\n{outcome}"),
        }
        // Most faults change nothing, and many leave what another one left.
        if !self.completed.lock().unwrap().insert(state_of(world.temp())) {
            return;
        }
        let again = world.run(self.args);
        let what = || format!("{fault}\n{outcome}\nthen once more {again}");
        assert!(again.status.success(), "{}", what());
        let left = Kept::in_(world);
        self.assert_done(&left, what);
        self.assert_nothing_lost(&left, what);
        assert_eq!(findings(world), self.findings, "{}", what());
    }

    /// Every content that an undisturbed run keeps is live, in quarantine, or in a bundle that can be trusted.
    fn assert_nothing_lost(&self, now: &Kept, what: impl Fn() -> String) {
        for content in self.before.contents.intersection(&self.after.contents) {
            let shown = || String::from_utf8_lossy(&content[..content.len().min(200)]).into_owned();
            assert!(now.contents.contains(content), "{}\nis lost: {}", what(), shown());
        }
    }

    fn assert_done(&self, now: &Kept, what: impl Fn() -> String) {
        assert_eq!(now.places, self.after.places, "{}", what());
        let expired = self.before.bundles.difference(&self.after.bundles);
        let stayed: Vec<_> = expired.filter(|bundle| now.bundles.contains(*bundle)).collect();
        assert_eq!(stayed, Vec::<&PathBuf>::new(), "{}", what());
    }
}

/// The content of a store, without files that are being written.
#[derive(Default)]
struct Kept {
    /// Names outside the archive and of the undo records, and whether there is anything in them.
    places: BTreeSet<(PathBuf, bool)>,
    /// The bundles, by name.
    bundles: BTreeSet<PathBuf>,
    /// The contents of live files, of those in quarantine, and of those in bundles that can be trusted.
    contents: BTreeSet<Vec<u8>>,
}

impl Kept {
    fn in_(world: &World) -> Self {
        let mut kept = Self::default();
        if world.store().exists() {
            kept.add(&world.store(), Path::new(""));
        }
        kept
    }

    fn add(&mut self, root: &Path, below: &Path) {
        for entry in std::fs::read_dir(root.join(below)).unwrap() {
            let entry = entry.unwrap();
            let path = below.join(entry.file_name());
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                self.add(root, &path);
            } else if kind.is_file() && !entry.file_name().as_encoded_bytes().starts_with(b".tmp-") {
                self.add_file(path, &entry.path());
            }
        }
    }

    fn add_file(&mut self, path: PathBuf, file: &Path) {
        let mut bytes = Vec::new();
        std::fs::File::open(file).unwrap().read_to_end(&mut bytes).unwrap();
        if !path.starts_with("archive") && !path.starts_with("undo") {
            self.places.insert((path, bytes.is_empty()));
            self.contents.extend((!bytes.is_empty()).then_some(bytes));
            return;
        }
        if path.extension().is_some_and(|extension| extension == "gz") {
            // One bad file in it, and none of it can be trusted.
            let mut inside = BTreeSet::new();
            if let Ok(mut bundle) = Bundle::open(&bytes) {
                let all = std::iter::from_fn(|| bundle.next_file().transpose());
                let all = all.collect::<Result<Vec<_>, _>>().unwrap_or_default();
                inside.extend(all.into_iter().map(|(_, bytes)| bytes));
            }
            // A damaged one is as precious as a damaged checkpoint.
            if inside.is_empty() {
                inside.insert(bytes);
            }
            self.contents.extend(inside);
            self.bundles.insert(path);
        }
    }
}
