//! Reading many workflows on all cores.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;

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
    std::thread::scope(|scope| {
        let parts = items.chunks(items.len().div_ceil(cores()));
        let parts = parts.map(|part| scope.spawn(move || part.iter().map(read).collect::<Vec<T>>()));
        let parts: Vec<_> = parts.collect();
        let mut values = Vec::with_capacity(items.len());
        for part in parts {
            values.append(&mut part.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        values
    })
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST_THREADS))
}

/// Threads that do tasks in the order in which these were given, while whoever gave them does something else.
pub(super) struct Workers<T, R>(Sender<(T, Sender<R>)>);

impl<T: Send, R: Send> Workers<T, R> {
    /// Starts the threads. They end when the value is dropped and all tasks are done.
    pub(super) fn start<'s>(scope: &'s Scope<'s, '_>, work: &'s (impl Fn(T) -> R + Sync)) -> Self
    where
        T: 's,
        R: 's,
    {
        let (tasks, queue) = channel::<(T, Sender<R>)>();
        let queue = Arc::new(Mutex::new(queue));
        // Twice as many as cores: half of them may wait for the disk.
        for _ in 0..2 * cores() {
            let queue = Arc::clone(&queue);
            let next = move || queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
            scope.spawn(move || {
                while let Ok((task, result)) = next() {
                    // Nobody waits for it if the walk has ended early.
                    let _ = result.send(work(task));
                }
            });
        }
        Self(tasks)
    }

    /// Gives a task to the threads, and returns where its result will be.
    pub(super) fn give(&self, task: T) -> Receiver<R> {
        let (result, later) = channel();
        // It fails only if all threads panicked, and then so does whoever waits.
        let _ = self.0.send((task, result));
        later
    }
}
