//! A file system of each kind, mounted on a directory that is removed with it.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::support::files::memory_directory;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Ext4,
    Xfs,
    Btrfs,
    Tmpfs,
    Overlay,
}

impl Kind {
    pub(super) const ALL: [Self; 5] = [Self::Ext4, Self::Xfs, Self::Btrfs, Self::Tmpfs, Self::Overlay];
    /// Those that keep what was synced when the power fails.
    pub(super) const WITH_JOURNAL: [Self; 3] = [Self::Ext4, Self::Xfs, Self::Btrfs];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
            Self::Tmpfs => "tmpfs",
            Self::Overlay => "overlay",
        })
    }
}

/// A mounted file system. Its image is a file in memory, which is as good as a disk that keeps what was flushed.
pub(super) struct FileSystem {
    kind: Kind,
    /// Where an image is; for overlay, the file system that holds its layers.
    below: Option<Box<FileSystem>>,
    directory: TempDir,
}

impl FileSystem {
    pub(super) fn new(kind: Kind) -> Self {
        let below = match kind {
            Kind::Overlay => Some(Box::new(Self::new(Kind::Ext4))),
            _ => None,
        };
        Self::on(kind, below)
    }

    /// A file system whose power can be cut. Only ext4 and xfs can be shut down; another one gets an image file on an
    /// ext4 that can, and loses its device with it.
    pub(super) fn with_power_switch(kind: Kind) -> Self {
        let below = match kind {
            Kind::Ext4 | Kind::Xfs => None,
            _ => Some(Box::new(Self::on(Kind::Ext4, None))),
        };
        Self::on(kind, below)
    }

    fn on(kind: Kind, below: Option<Box<Self>>) -> Self {
        let directory = memory_directory();
        std::fs::create_dir(directory.path().join("mounted")).unwrap();
        let system = Self { kind, below, directory };
        system.make();
        system.mount();
        system
    }

    /// The root of the mounted file system.
    pub(super) fn root(&self) -> PathBuf {
        self.directory.path().join("mounted")
    }

    /// The file or directory that the file system is made of.
    fn base(&self) -> PathBuf {
        let place = self.below.as_ref().map_or_else(|| self.directory.path().to_owned(), |below| below.root());
        place.join("base")
    }

    fn make(&self) {
        match self.kind {
            Kind::Tmpfs => {}
            Kind::Overlay => {
                for layer in ["lower", "upper", "work"] {
                    std::fs::create_dir_all(self.base().join(layer)).unwrap();
                }
            }
            Kind::Ext4 | Kind::Xfs | Kind::Btrfs => {
                let size = if self.below.is_some() { 300 << 20 } else { 400 << 20 };
                std::fs::File::create(self.base()).unwrap().set_len(size).unwrap();
                run(&format!("mkfs.{}", self.kind), &[OsStr::new("-q"), self.base().as_os_str()]);
            }
        }
    }

    fn mount(&self) {
        let base = self.base();
        let root = self.root();
        match self.kind {
            Kind::Tmpfs => run(
                "mount",
                &["-t", "tmpfs", "tmpfs"].map(OsStr::new).into_iter().chain([root.as_os_str()]).collect::<Vec<_>>(),
            ),
            Kind::Overlay => {
                let layer = |name| base.join(name).display().to_string();
                let options =
                    format!("lowerdir={},upperdir={},workdir={}", layer("lower"), layer("upper"), layer("work"));
                run(
                    "mount",
                    &[
                        "-t".as_ref(),
                        "overlay".as_ref(),
                        "-o".as_ref(),
                        options.as_ref(),
                        "overlay".as_ref(),
                        root.as_os_str(),
                    ],
                );
            }
            Kind::Ext4 | Kind::Xfs | Kind::Btrfs => {
                run("mount", &["-o".as_ref(), "loop".as_ref(), base.as_os_str(), root.as_os_str()]);
            }
        }
    }

    /// Stops all writing and loses what is not on the device, as a power cut does. A sync that is under way may still
    /// return success for a write that is lost.
    pub(super) fn cut_power(&self) {
        let device = self.below.as_deref().unwrap_or(self);
        run("xfs_io", &["-x".as_ref(), "-r".as_ref(), "-c".as_ref(), "shutdown".as_ref(), device.root().as_os_str()]);
    }

    /// Mounts again what a power cut left.
    pub(super) fn switch_on(&self) {
        run("umount", &[self.root().as_os_str()]);
        if let Some(below) = &self.below {
            below.switch_on();
        }
        self.mount();
    }
}

impl Drop for FileSystem {
    fn drop(&mut self) {
        // Lazily, because a failed test may still have files open; the namespace ends with the process anyway.
        drop(Command::new("umount").arg("-l").arg(self.root()).output());
    }
}

fn run(program: &str, args: &[&OsStr]) {
    let output = Command::new(program).args(args).output().unwrap();
    let shown = args.iter().map(Path::new).map(|arg| arg.display().to_string()).collect::<Vec<_>>().join(" ");
    assert!(output.status.success(), "{program} {shown}: {}", String::from_utf8_lossy(&output.stderr));
}
