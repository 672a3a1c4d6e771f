//! The three streams of a run: those of the process, or memory. `output` writes to them.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ckpt_platform as platform;
use ckpt_store::files::{FileProblem, read_bounded};

/// Where a run reads its input and writes its output.
#[derive(Debug, Clone, Default)]
pub(crate) enum Streams {
    /// The streams of the process.
    #[default]
    Process,
    /// Memory, for a command that runs inside of another program.
    Memory(Arc<Mutex<Memory>>),
}

/// The input and the output of a command in memory.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    input: Vec<u8>,
    /// The answer.
    pub(crate) out: Vec<u8>,
    /// The conversation.
    pub(crate) err: String,
}

impl Streams {
    /// Returns streams in memory with this input.
    pub(crate) fn memory(input: Vec<u8>) -> Self {
        Self::Memory(Arc::new(Mutex::new(Memory { input, ..Memory::default() })))
    }

    /// Returns the memory that stands for the streams; none if they are those of the process.
    pub(crate) fn in_memory(&self) -> Option<MutexGuard<'_, Memory>> {
        match self {
            Self::Process => None,
            Self::Memory(memory) => Some(memory.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// Takes what was written to memory; nothing if the streams are those of the process.
    pub(crate) fn take(&self) -> Memory {
        self.in_memory().map(|mut memory| std::mem::take(&mut *memory)).unwrap_or_default()
    }

    /// Reads stdin to its end.
    pub(crate) fn read_input(&self, limit: u64) -> Result<Vec<u8>, FileProblem> {
        match self.in_memory() {
            Some(mut memory) => read_bounded(std::mem::take(&mut memory.input).as_slice(), limit),
            None => read_bounded(io::stdin().lock(), limit),
        }
    }

    /// Reads stdin without waiting for a caller that never writes, as [`platform::read_stdin`] does.
    pub(crate) fn read_payload(
        &self,
        limit: usize,
        patience: Duration,
        is_complete: impl Fn(&[u8]) -> bool,
    ) -> io::Result<Option<Vec<u8>>> {
        match self.in_memory() {
            Some(mut memory) => Ok(Some(std::mem::take(&mut memory.input)).filter(|read| read.len() <= limit)),
            None => platform::read_stdin(limit, patience, is_complete),
        }
    }
}
