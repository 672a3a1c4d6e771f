//! A disk in front of another: it is told of every step, may refuse it, and may do some of them differently.

use std::fmt::Debug;
use std::io;
use std::time::Duration;

use ckpt_store::files::FileProblem;
use ckpt_store::{Access, Disk, StagedFile, Stat};

/// A request to a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    Base,
    Enter,
    MakeDir,
    List,
    IsShort,
    Read,
    Stat,
    Lock,
    Stage,
    Publish,
    Replace,
    MoveAside,
    Remove,
    RemoveStale,
    SyncDir,
}

/// Decides about the steps of a disk. Without more words, everything is done as asked, except that nobody waits: not
/// for the lock, on which nothing may depend, nor for time to pass.
pub(crate) trait Tap<D: Disk> {
    /// Comes before the step; an error is returned in its stead.
    fn before(&self, _: &D, _: Step, _name: &str) -> io::Result<()> {
        Ok(())
    }
    /// Comes with each name of a list.
    fn listed(&self, _name: &str) {}
    /// Comes with the answer to the step.
    fn answered(&self, _: &dyn Debug) {}
    /// Comes after the step; an error hides its effect.
    fn after(&self, _: Step) -> io::Result<()> {
        Ok(())
    }
    fn stage(
        &self,
        disk: &D,
        dir: &D::Dir,
        name: &str,
        bytes: &[u8],
        access: Access,
    ) -> io::Result<StagedFile<D::Lock>> {
        disk.stage(dir, name, bytes, access)
    }
    fn publish(&self, disk: &D, dir: &D::Dir, staged: &str, name: &str) -> io::Result<()> {
        disk.publish(dir, staged, name)
    }
    fn stat(&self, disk: &D, dir: &D::Dir, name: &str) -> io::Result<Stat> {
        disk.stat(dir, name)
    }
    fn sync_dir(&self, disk: &D, dir: &D::Dir) -> io::Result<()> {
        disk.sync_dir(dir)
    }
    fn pause(&self, _: &D) {}
}

/// Changes nothing.
pub(crate) struct Honest;

impl<D: Disk> Tap<D> for Honest {}

/// A disk with a tap on it.
#[derive(Debug)]
pub(crate) struct Tapped<'a, D, T> {
    pub(crate) disk: D,
    pub(crate) tap: &'a T,
}

impl<D: Clone, T> Clone for Tapped<'_, D, T> {
    fn clone(&self) -> Self {
        Self { disk: self.disk.clone(), tap: self.tap }
    }
}

impl<D: Disk, T: Tap<D>> Tapped<'_, D, T> {
    fn step<R: Debug, E: Debug + From<io::Error>>(
        &self,
        step: Step,
        name: &str,
        run: impl FnOnce() -> Result<R, E>,
    ) -> Result<R, E> {
        self.tap.before(&self.disk, step, name)?;
        let result = run();
        self.tap.answered(&result);
        self.tap.after(step)?;
        result
    }

    fn pass(&self, name: &str, visit: &mut dyn FnMut(&str)) {
        self.tap.listed(name);
        visit(name);
    }
}

impl<D: Disk<Lock: Debug, File: Debug>, T: Tap<D>> Disk for Tapped<'_, D, T> {
    type Dir = D::Dir;
    type Lock = D::Lock;
    type File = D::File;

    fn base(&self) -> io::Result<D::Dir> {
        self.step(Step::Base, "", || self.disk.base())
    }
    fn enter(&self, dir: &D::Dir, name: &str) -> io::Result<D::Dir> {
        self.step(Step::Enter, name, || self.disk.enter(dir, name))
    }
    fn make_dir(&self, dir: &D::Dir, name: &str) -> io::Result<()> {
        self.step(Step::MakeDir, name, || self.disk.make_dir(dir, name))
    }
    fn list(&self, dir: &D::Dir, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        self.step(Step::List, "", || self.disk.list(dir, &mut |name| self.pass(name, visit)))
    }
    fn is_short(&self, dir: &D::Dir) -> io::Result<bool> {
        self.step(Step::IsShort, "", || self.disk.is_short(dir))
    }
    fn read(&self, dir: &D::Dir, name: &str, limit: u64) -> Result<Vec<u8>, FileProblem> {
        self.step(Step::Read, name, || self.disk.read(dir, name, limit))
    }
    fn open(&self, dir: &D::Dir, name: &str) -> Result<D::File, FileProblem> {
        self.step(Step::Read, name, || self.disk.open(dir, name))
    }
    fn stat(&self, dir: &D::Dir, name: &str) -> io::Result<Stat> {
        self.step(Step::Stat, name, || self.tap.stat(&self.disk, dir, name))
    }
    fn stat_dir(&self, dir: &D::Dir) -> io::Result<Stat> {
        self.step(Step::IsShort, "", || self.disk.stat_dir(dir))
    }
    fn lock(&self, dir: &D::Dir, _: Duration) -> Option<D::Lock> {
        let lock = || self.disk.lock(dir, Duration::ZERO).ok_or(io::Error::from(io::ErrorKind::WouldBlock));
        self.step(Step::Lock, "", lock).ok()
    }
    fn stage(&self, dir: &D::Dir, name: &str, bytes: &[u8], access: Access) -> io::Result<StagedFile<D::Lock>> {
        self.step(Step::Stage, name, || self.tap.stage(&self.disk, dir, name, bytes, access))
    }
    fn create(&self, dir: &D::Dir, name: &str, size: u64) -> io::Result<D::File> {
        self.step(Step::Stage, name, || self.disk.create(dir, name, size))
    }
    fn publish(&self, dir: &D::Dir, staged: &str, name: &str) -> io::Result<()> {
        self.step(Step::Publish, name, || self.tap.publish(&self.disk, dir, staged, name))
    }
    fn replace(&self, dir: &D::Dir, staged: &str, name: &str) -> io::Result<()> {
        self.step(Step::Replace, name, || self.disk.replace(dir, staged, name))
    }
    fn move_aside(&self, dir: &D::Dir, name: &str, to: &D::Dir, new_name: &str) -> io::Result<()> {
        self.step(Step::MoveAside, name, || self.disk.move_aside(dir, name, to, new_name))
    }
    fn remove(&self, dir: &D::Dir, name: &str) -> io::Result<()> {
        self.step(Step::Remove, name, || self.disk.remove(dir, name))
    }
    fn remove_stale(&self, dir: &D::Dir, name: &str) -> io::Result<bool> {
        self.step(Step::RemoveStale, name, || self.disk.remove_stale(dir, name))
    }
    fn sync_dir(&self, dir: &D::Dir) -> io::Result<()> {
        self.step(Step::SyncDir, "", || self.tap.sync_dir(&self.disk, dir))
    }
    fn pause(&self, _: Duration) {
        self.tap.pause(&self.disk);
    }
}
