//! Reporting the progress of archiving. The core prints nothing; it calls the caller back.

/// The steps of archiving, in their order, and the one of restoring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveStep {
    /// Reads and hashes each file.
    Reading,
    /// Compresses the files into a bundle.
    Compressing,
    /// Reads the bundle back; first of all if the bundle exists already.
    Checking,
    /// Replaces the files that the bundle holds by tombstones.
    Replacing,
    /// Writes the files that bundles hold back to their places.
    Restoring,
}

impl ArchiveStep {
    /// Returns the word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Compressing => "compressing",
            Self::Checking => "checking",
            Self::Replacing => "replacing",
            Self::Restoring => "restoring",
        }
    }
}

/// The progress of archiving or restoring one workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArchiveProgress {
    /// The current step.
    pub step: ArchiveStep,
    /// The checkpoints that this step has processed.
    pub done: usize,
    /// The checkpoints that this step processes in all.
    pub total: usize,
}

/// Counts the checkpoints of each step and reports every one.
pub(super) struct ProgressCounter<'a> {
    report: &'a mut dyn FnMut(&ArchiveProgress),
    now: ArchiveProgress,
}

impl<'a> ProgressCounter<'a> {
    pub(super) fn new(report: &'a mut dyn FnMut(&ArchiveProgress)) -> Self {
        Self { report, now: ArchiveProgress { step: ArchiveStep::Reading, done: 0, total: 0 } }
    }

    pub(super) fn begin(&mut self, step: ArchiveStep, total: usize) {
        self.now = ArchiveProgress { step, done: 0, total };
    }

    pub(super) fn advance(&mut self) {
        self.now.done += 1;
        (self.report)(&self.now);
    }
}
