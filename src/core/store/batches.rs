//! Reading many workflows on all cores.

use std::panic::resume_unwind;

/// So many are read before they are passed on, which bounds the memory.
pub(super) const BATCH: usize = 1024;
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
        for (item, value) in batch.iter().zip(on_all_cores(batch, &read)) {
            visit(item, value);
        }
    }
}

/// Reads every item, on all cores, and returns the values in the order of the items. Few items are read one by one, each
/// when its value is asked for.
pub(super) fn on_all_cores<'i, I: Sync, T: Send>(
    items: &'i [I],
    read: &'i (impl Fn(&I) -> T + Sync),
) -> impl Iterator<Item = T> {
    let (few, many) = items.split_at(if items.len() < WORTH_THREADS { items.len() } else { 0 });
    read_now(many, read).into_iter().chain(few.iter().map(read))
}

/// Reads every item now, on all cores if there are many.
pub(super) fn read_now<I: Sync, T: Send>(items: &[I], read: &(impl Fn(&I) -> T + Sync)) -> Vec<T> {
    if items.len() < WORTH_THREADS {
        return items.iter().map(read).collect();
    }
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST_THREADS));
    std::thread::scope(|scope| {
        let parts = items.chunks(items.len().div_ceil(threads));
        let parts = parts.map(|part| scope.spawn(move || part.iter().map(read).collect::<Vec<T>>()));
        let parts: Vec<_> = parts.collect();
        let mut values = Vec::with_capacity(items.len());
        for part in parts {
            values.append(&mut part.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        values
    })
}
