//! Saying how far long work is. The core prints nothing: it tells whoever asked.

/// What archiving does, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveStep {
    /// Each file is read and hashed.
    Reading,
    /// The bundle is being made.
    Compressing,
    /// The bundle is read back; also before, where somebody had made it already.
    Checking,
    /// The files that the bundle holds are replaced by tombstones.
    Replacing,
}

impl ArchiveStep {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Compressing => "compressing",
            Self::Checking => "checking",
            Self::Replacing => "replacing",
        }
    }
}

/// How far archiving one workflow is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Archiving {
    /// What is being done.
    pub step: ArchiveStep,
    /// To how many checkpoints it has been done.
    pub done: usize,
    /// How many there are.
    pub total: usize,
}

/// Counts the files of one step after another, and tells.
pub(super) struct Teller<'a> {
    listener: Option<&'a mut dyn FnMut(&Archiving)>,
    now: Archiving,
}

impl<'a> Teller<'a> {
    pub(super) fn new(listener: &'a mut dyn FnMut(&Archiving)) -> Self {
        Self { listener: Some(listener), ..Self::silent() }
    }

    /// Tells nobody.
    pub(super) fn silent() -> Self {
        Self { listener: None, now: Archiving { step: ArchiveStep::Reading, done: 0, total: 0 } }
    }

    pub(super) fn begin(&mut self, step: ArchiveStep, total: usize) {
        self.now = Archiving { step, done: 0, total };
    }

    pub(super) fn advance(&mut self) {
        self.now.done += 1;
        if let Some(listener) = &mut self.listener {
            listener(&self.now);
        }
    }
}
