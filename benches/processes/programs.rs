//! Builds the programs that are compared: `ckpt` as in a release, and the floors in the same way.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;

/// The release profile of `Cargo.toml`, for the floors, which are not part of the package.
const PROFILE: [&str; 5] = ["opt-level=s", "lto=fat", "codegen-units=1", "panic=abort", "strip=symbols"];

/// Where the programs are.
pub(crate) struct Programs {
    pub(crate) ckpt: PathBuf,
    pub(crate) empty: PathBuf,
    pub(crate) save: PathBuf,
    pub(crate) read: PathBuf,
    pub(crate) list: PathBuf,
    /// How they were built.
    pub(crate) how: String,
}

impl Programs {
    /// Builds what is not up to date: as a release, or, if musl is not installed, statically for glibc.
    pub(crate) fn build(root: &Path, out: &Path) -> Outcome<Self> {
        let arch = std::env::consts::ARCH;
        let musl = format!("{arch}-unknown-linux-musl");
        let is_musl = is_installed(&musl)?;
        let (target, flags): (String, &[&str]) = if is_musl {
            (musl, &["relocation-model=static", "relro-level=off"])
        } else {
            (format!("{arch}-unknown-linux-gnu"), &["target-feature=+crt-static"])
        };
        fs::create_dir_all(out)?;
        let floor = |name: &str| -> Outcome<PathBuf> {
            let program = out.join(format!("floor-{name}"));
            let mut rustc = Command::new("rustc");
            rustc.args(["--edition=2024", "--target", &target]);
            rustc.args(flags.iter().chain(&PROFILE).flat_map(|option| ["-C", option]));
            rustc.arg(root.join(format!("benches/floors/{name}.rs"))).arg("-o").arg(&program);
            run(&mut rustc)?;
            install(&program, out)
        };
        if is_musl {
            run(Command::new(root.join(".ci/release.sh")).arg(out).env("WITHOUT_REMOTE", "1"))?;
        } else {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.args(["build", "--release", "--bin=ckpt", "--target", &target, "--target-dir"]).arg(out);
            run(cargo.current_dir(root).env("RUSTFLAGS", "-C target-feature=+crt-static"))?;
            fs::copy(out.join(&target).join("release/ckpt"), out.join("ckpt"))?;
        }
        Ok(Self {
            ckpt: out.join("ckpt"),
            empty: floor("empty")?,
            save: floor("save")?,
            read: floor("read")?,
            list: floor("list")?,
            how: format!("{target}, {}, {}", flags.join(", "), PROFILE.join(", ")),
        })
    }
}

/// Copies a program, as every installation does. The page cache of a file that a linker has written is fragmented, which
/// makes every process of it about a fifth slower.
fn install(program: &Path, out: &Path) -> Outcome<PathBuf> {
    let bin = out.join("bin");
    fs::create_dir_all(&bin)?;
    let installed = bin.join(program.file_name().unwrap_or_default());
    fs::copy(program, &installed)?;
    Ok(installed)
}

/// `rustc` prints the directory of a target even if it is not installed.
fn is_installed(target: &str) -> Outcome<bool> {
    let asked = Command::new("rustc").args(["--print=target-libdir", "--target", target]).output()?;
    Ok(asked.status.success() && Path::new(String::from_utf8(asked.stdout)?.trim()).exists())
}

fn run(command: &mut Command) -> Outcome {
    match command.status()? {
        status if status.success() => Ok(()),
        status => Err(format!("{command:?}: {status}").into()),
    }
}
