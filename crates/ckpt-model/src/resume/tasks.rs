//! Recovery of the tasks of a phase after an interruption.
//!
//! A running task that left its output has the status that the output reports; one that left nothing begins again. A
//! failed task is tried again up to its limit. A task is blocked if one of its dependencies can never be done: it is
//! exhausted, blocked, unknown, or part of a cycle. Any other task whose dependencies are done can begin now.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::facts::Facts;
use crate::phase::{Phase, PhaseId};
use crate::task::{Task, TaskId, TaskStatus};

/// The tasks of a phase, by what can be done with them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RecoveredTasks {
    /// Can begin now: never begun, or orphaned.
    pub ready: Vec<TaskId>,
    /// Failed, and can be tried again now.
    pub retry: Vec<TaskId>,
    /// Depends on a task that can never be done.
    pub blocked: Vec<TaskId>,
    /// Was begun as often as allowed.
    pub exhausted: Vec<TaskId>,
    /// Recorded as running, but its output exists.
    pub reconciled: Vec<TaskId>,
    /// Recorded as running, without output; also in `ready` unless it waits.
    pub orphaned: Vec<TaskId>,
    /// Waits for a task that can still be done.
    pub waiting: Vec<TaskId>,
    /// Done, including reconciled ones.
    pub done: Vec<TaskId>,
    /// The open tasks in the order of their dependencies: those of a batch can be done at once, the first batch now.
    pub batches: Vec<Vec<TaskId>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskState {
    Done,
    Pending,
    Retry,
    Exhausted,
}

/// Recovers the tasks of `phase`, including those that name no phase.
#[must_use]
pub fn recover(tasks: &[Task], phase: &Phase, default_limit: u32, facts: &Facts) -> RecoveredTasks {
    let limit = phase.task_limit.unwrap_or(default_limit);
    let mut recovered = RecoveredTasks::default();
    let states: HashMap<&TaskId, TaskState> = tasks.iter().map(|task| (&task.id, state(task, limit, facts))).collect();
    let layers = layers(tasks, &states);
    let mut batches: BTreeMap<usize, Vec<TaskId>> = BTreeMap::new();
    for task in tasks.iter().filter(|task| belongs(task, &phase.id)) {
        if task.status == TaskStatus::Running {
            let list = match reported(task, facts) {
                Some(_) => &mut recovered.reconciled,
                None => &mut recovered.orphaned,
            };
            list.push(task.id.clone());
        }
        let free = task.depends_on.iter().all(|id| states.get(id) == Some(&TaskState::Done));
        let list = match states.get(&task.id) {
            Some(TaskState::Done) => &mut recovered.done,
            Some(TaskState::Exhausted) => &mut recovered.exhausted,
            _ if !layers.contains_key(&task.id) => &mut recovered.blocked,
            _ if !free => &mut recovered.waiting,
            Some(TaskState::Retry) => &mut recovered.retry,
            _ => &mut recovered.ready,
        };
        list.push(task.id.clone());
        if let Some(Some(layer)) = layers.get(&task.id) {
            batches.entry(*layer).or_default().push(task.id.clone());
        }
    }
    recovered.batches = batches.into_values().collect();
    recovered
}

/// Returns the tasks of all phases that are done neither by record nor by their output.
pub(super) fn open<'a>(tasks: &'a [Task], facts: &Facts) -> Vec<&'a TaskId> {
    let is_open = |task: &&Task| state(task, u32::MAX, facts) != TaskState::Done;
    tasks.iter().filter(is_open).map(|task| &task.id).collect()
}

fn belongs(task: &Task, phase: &PhaseId) -> bool {
    task.phase.as_ref().is_none_or(|id| id == phase)
}

/// Returns the status that the output of a task reports. An output without a status counts as complete, because it is
/// written at the end of the work.
fn reported(task: &Task, facts: &Facts) -> Option<TaskStatus> {
    let status = facts.task_outputs.get(task.output.as_ref()?)?;
    Some(status.unwrap_or(TaskStatus::Complete))
}

fn state(task: &Task, limit: u32, facts: &Facts) -> TaskState {
    let again = |state| if task.attempts >= limit { TaskState::Exhausted } else { state };
    let status = match task.status {
        TaskStatus::Pending => return TaskState::Pending,
        TaskStatus::Running => reported(task, facts).unwrap_or(TaskStatus::Running),
        status => status,
    };
    match status {
        TaskStatus::Complete | TaskStatus::Skipped => TaskState::Done,
        TaskStatus::Failed => again(TaskState::Retry),
        TaskStatus::Pending | TaskStatus::Running => again(TaskState::Pending),
    }
}

/// Returns the tasks that are done, without a layer, and those that can be done some day, with the number of layers of
/// tasks to be done before. Without recursion, so a long chain cannot overflow the stack.
fn layers<'a>(tasks: &'a [Task], states: &HashMap<&TaskId, TaskState>) -> HashMap<&'a TaskId, Option<usize>> {
    let mut missing: HashMap<&TaskId, usize> = HashMap::new();
    let mut dependents: HashMap<&TaskId, Vec<&TaskId>> = HashMap::new();
    let (mut done, mut free) = (Vec::new(), Vec::new());
    for task in tasks {
        match states.get(&task.id) {
            Some(TaskState::Exhausted) => {}
            Some(TaskState::Done) => done.push(&task.id),
            _ if task.depends_on.is_empty() => free.push(&task.id),
            _ => {
                missing.insert(&task.id, task.depends_on.len());
                for dependency in &task.depends_on {
                    dependents.entry(dependency).or_default().push(&task.id);
                }
            }
        }
    }
    let mut layers = HashMap::new();
    let mut layer = None;
    while !done.is_empty() || !free.is_empty() {
        for id in std::mem::take(&mut done) {
            if layers.contains_key(id) {
                continue;
            }
            layers.insert(id, layer);
            for dependent in dependents.get(id).into_iter().flatten() {
                if let Some(count) = missing.get_mut(dependent) {
                    *count = count.saturating_sub(1);
                    if *count == 0 {
                        free.push(dependent);
                    }
                }
            }
        }
        std::mem::swap(&mut done, &mut free);
        layer = Some(layer.map_or(0, |layer| layer + 1));
    }
    layers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, status: TaskStatus, attempts: u32, after: &[&str]) -> Task {
        let mut task = Task::pending(id.parse().unwrap(), Some("build".parse().unwrap()));
        (task.status, task.attempts) = (status, attempts);
        task.depends_on = after.iter().map(|id| id.parse().unwrap()).collect();
        task
    }

    fn recovered(tasks: &[Task], facts: &Facts) -> String {
        let phase = Phase::pending("build".parse().unwrap());
        let tasks = recover(tasks, &phase, 3, facts);
        let names = |ids: &[TaskId]| ids.iter().map(TaskId::as_str).collect::<Vec<_>>().join("+");
        format!(
            "ready={} retry={} blocked={} exhausted={} reconciled={} orphaned={} waiting={}",
            names(&tasks.ready),
            names(&tasks.retry),
            names(&tasks.blocked),
            names(&tasks.exhausted),
            names(&tasks.reconciled),
            names(&tasks.orphaned),
            names(&tasks.waiting)
        )
    }

    #[test]
    fn what_is_left_is_divided_into_batches_that_can_be_done_at_once() {
        let tasks = [
            task("a", TaskStatus::Complete, 1, &[]),
            task("d", TaskStatus::Pending, 0, &["b", "c"]),
            task("b", TaskStatus::Pending, 0, &["a"]),
            task("c", TaskStatus::Failed, 1, &[]),
            task("e", TaskStatus::Pending, 0, &["d", "a"]),
            task("f", TaskStatus::Pending, 0, &["f"]),
        ];
        let phase = Phase::pending("build".parse().unwrap());
        let batches = recover(&tasks, &phase, 3, &Facts::default()).batches;
        let names = |batch: &Vec<TaskId>| batch.iter().map(TaskId::as_str).collect::<Vec<_>>().join("+");
        assert_eq!(batches.iter().map(names).collect::<Vec<_>>(), ["b+c", "d", "e"]);
    }

    #[test]
    fn running_without_output_is_orphaned_and_begins_again() {
        let tasks = [task("a", TaskStatus::Running, 1, &[])];
        assert_eq!(
            recovered(&tasks, &Facts::default()),
            "ready=a retry= blocked= exhausted= reconciled= orphaned=a waiting="
        );
    }

    #[test]
    fn running_with_output_takes_the_status_of_the_output() {
        for (status, expected) in [
            (None, "ready=b retry="),
            (Some(TaskStatus::Complete), "ready=b retry="),
            (Some(TaskStatus::Failed), "ready= retry=a"),
        ] {
            let mut first = task("a", TaskStatus::Running, 1, &[]);
            first.output = Some("out.json".into());
            let facts = Facts { task_outputs: HashMap::from([("out.json".to_owned(), status)]), ..Facts::default() };
            let shown = recovered(&[first, task("b", TaskStatus::Pending, 0, &["a"])], &facts);
            assert!(shown.starts_with(expected) && shown.contains("reconciled=a"), "{shown}");
        }
    }

    #[test]
    fn failed_tasks_are_tried_up_to_the_limit_and_then_block_what_depends_on_them() {
        let tasks = [
            task("a", TaskStatus::Failed, 2, &[]),
            task("b", TaskStatus::Failed, 3, &[]),
            task("c", TaskStatus::Pending, 0, &["a"]),
            task("d", TaskStatus::Pending, 0, &["b"]),
            task("e", TaskStatus::Pending, 0, &["d"]),
            task("f", TaskStatus::Pending, 0, &[]),
        ];
        assert_eq!(
            recovered(&tasks, &Facts::default()),
            "ready=f retry=a blocked=d+e exhausted=b reconciled= orphaned= waiting=c"
        );
    }

    #[test]
    fn unknown_dependencies_and_circles_never_become_ready() {
        let tasks = [
            task("a", TaskStatus::Pending, 0, &["nobody"]),
            task("b", TaskStatus::Pending, 0, &["c"]),
            task("c", TaskStatus::Pending, 0, &["b"]),
            task("d", TaskStatus::Pending, 0, &["d"]),
        ];
        assert!(recovered(&tasks, &Facts::default()).starts_with("ready= retry= blocked=a+b+c+d "));
    }

    #[test]
    fn a_chain_of_thousands_is_no_problem() {
        let mut tasks = vec![task("t0", TaskStatus::Pending, 0, &[])];
        for n in 1..5000 {
            tasks.push(task(&format!("t{n}"), TaskStatus::Pending, 0, &[&format!("t{}", n - 1)]));
        }
        tasks.reverse();
        let phase = Phase::pending("build".parse().unwrap());
        let recovered = recover(&tasks, &phase, 3, &Facts::default());
        assert_eq!((recovered.ready.len(), recovered.waiting.len()), (1, 4999));
    }
}
