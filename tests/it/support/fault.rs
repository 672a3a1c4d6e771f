//! A tap that fails one step of a disk, or that step and all that follow.

use std::cell::{Cell, RefCell};
use std::io;

use ckpt_store::Disk;

use ckpt::audit::{Ack, save, store_on};
use ckpt::tap::{Step, Tap, Tapped};

/// A disk with a fault in it.
pub(crate) type FaultyDisk<'a, D> = Tapped<'a, D, Fault>;

/// The fault from the chosen step on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// The step fails, the next ones work.
    Once(i32),
    /// Nothing works any more.
    Crash,
}

/// True if the step that fails has had its effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Before,
    After,
}

/// One fault at one step. Steps are counted from 1, reading ones too.
#[derive(Debug)]
pub(crate) struct Fault {
    at: usize,
    kind: FaultKind,
    moment: Moment,
    count: Cell<usize>,
    fired: Cell<bool>,
    rival: Cell<bool>,
    /// The answer to another writer, who came between.
    pub(crate) rival_acks: RefCell<Vec<Ack>>,
}

impl Fault {
    pub(crate) fn new(at: usize, kind: FaultKind, moment: Moment) -> Self {
        let (count, fired, rival) = (Cell::new(0), Cell::new(false), Cell::new(false));
        Self { at, kind, moment, count, fired, rival, rival_acks: RefCell::default() }
    }

    /// Lets another writer save as soon as this one has seen the newest checkpoint.
    pub(crate) fn with_rival(self) -> Self {
        self.rival.set(true);
        self
    }

    /// True if the step was reached.
    pub(crate) fn fired(&self) -> bool {
        self.fired.get()
    }

    fn check(&self, moment: Moment) -> io::Result<()> {
        let (count, crashed) = (self.count.get(), self.fired.get() && self.kind == FaultKind::Crash);
        if crashed || (count == self.at && moment == self.moment) {
            self.fired.set(true);
            return Err(match self.kind {
                FaultKind::Once(errno) => io::Error::from_raw_os_error(errno),
                FaultKind::Crash => io::Error::other("the machine is off"),
            });
        }
        Ok(())
    }
}

impl<D: Disk + Clone> Tap<D> for Fault {
    fn before(&self, disk: &D, step: Step, _: &str) -> io::Result<()> {
        self.count.set(self.count.get() + 1);
        self.check(Moment::Before)?;
        if step == Step::Stage && self.rival.replace(false) {
            let saved = save(&store_on(disk.clone()), "rival").unwrap();
            self.rival_acks.borrow_mut().push(Ack::of("rival", &saved));
        }
        Ok(())
    }

    fn after(&self, _: Step) -> io::Result<()> {
        self.check(Moment::After)
    }
}
