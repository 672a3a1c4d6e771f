//! Reading many workflows on all cores.

use std::panic::resume_unwind;

/// So many are read before they are passed on, which bounds the memory.
const BATCH: usize = 1024;
/// Fewer than this are read faster than threads are started.
const WORTH_THREADS: usize = 512;
/// More threads than this do not make the disk faster.
const MOST_THREADS: usize = 8;

/// The progress of reading all workflows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanProgress {
    /// The workflows that have been read.
    pub done: usize,
    /// The workflows of the store.
    pub total: usize,
}

/// Reads every item, on all cores, and passes the values to `visit` in the order of the items.
pub(super) fn in_batches<'i, I: Sync, T: Send>(
    items: &'i [I],
    read: impl Fn(&I) -> T + Sync,
    mut visit: impl FnMut(&'i I, T),
) {
    for batch in items.chunks(BATCH) {
        if batch.len() < WORTH_THREADS {
            batch.iter().for_each(|item| visit(item, read(item)));
            continue;
        }
        for (item, value) in batch.iter().zip(read_on_all_cores(batch, &read)) {
            visit(item, value);
        }
    }
}

fn read_on_all_cores<I: Sync, T: Send>(batch: &[I], read: &(impl Fn(&I) -> T + Sync)) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST_THREADS));
    std::thread::scope(|scope| {
        let parts = batch.chunks(batch.len().div_ceil(threads));
        let parts = parts.map(|part| scope.spawn(move || part.iter().map(read).collect::<Vec<T>>()));
        let parts: Vec<_> = parts.collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}
