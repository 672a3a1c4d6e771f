//! Recovering the tasks of a phase after an interruption.
//!
//! A task that was running either left its output, and then the output says what became of it, or it left nothing,
//! and then it is begun again. A failed task is tried again until its limit. What depends on a task that will not
//! come waits, and says so. Everything else whose dependencies are done can begin now, all at once.

use std::collections::HashMap;

use serde::Serialize;

use super::facts::Facts;
use crate::core::phase::{Phase, PhaseId};
use crate::core::task::{Task, TaskId, TaskStatus};

/// What is to be done with the tasks of a phase.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tasks {
    /// Can begin now: never begun, or orphaned.
    pub ready: Vec<TaskId>,
    /// Failed, and can be tried again now.
    pub retry: Vec<TaskId>,
    /// Waits for a task that will not come.
    pub blocked: Vec<TaskId>,
    /// Was begun as often as allowed.
    pub exhausted: Vec<TaskId>,
    /// Finished without having been recorded.
    pub reconciled: Vec<TaskId>,
    /// Was running and left nothing behind; also among `ready` unless it waits.
    pub orphaned: Vec<TaskId>,
    /// Waits for a task that can still come.
    pub waiting: Vec<TaskId>,
    /// Done, counting those that were reconciled.
    pub done: Vec<TaskId>,
}

/// Where a task really stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Done,
    ToDo,
    Retry,
    Exhausted,
}

/// Recovers the tasks of `phase`; those that name no phase count as well.
#[must_use]
pub fn recover(tasks: &[Task], phase: &Phase, default_limit: u32, facts: &Facts) -> Tasks {
    let limit = phase.task_limit.unwrap_or(default_limit);
    let mut recovered = Tasks::default();
    let standings: HashMap<&TaskId, Standing> = tasks
        .iter()
        .map(|task| (&task.id, stand(task, belongs(task, &phase.id), limit, facts, &mut recovered)))
        .collect();
    let hopeless = hopeless(tasks, &standings);
    for task in tasks.iter().filter(|task| belongs(task, &phase.id)) {
        let free = task.depends_on.iter().all(|id| standings.get(id) == Some(&Standing::Done));
        let list = match standings.get(&task.id) {
            Some(Standing::Done) => &mut recovered.done,
            Some(Standing::Exhausted) => &mut recovered.exhausted,
            _ if hopeless.get(&task.id) == Some(&true) => &mut recovered.blocked,
            _ if !free => &mut recovered.waiting,
            Some(Standing::Retry) => &mut recovered.retry,
            _ => &mut recovered.ready,
        };
        list.push(task.id.clone());
    }
    recovered
}

fn belongs(task: &Task, phase: &PhaseId) -> bool {
    task.phase.as_ref().is_none_or(|id| id == phase)
}

fn stand(task: &Task, ours: bool, limit: u32, facts: &Facts, recovered: &mut Tasks) -> Standing {
    let again = |standing| if task.attempts >= limit { Standing::Exhausted } else { standing };
    match task.status {
        TaskStatus::Complete | TaskStatus::Skipped => Standing::Done,
        TaskStatus::Pending => Standing::ToDo,
        TaskStatus::Failed => again(Standing::Retry),
        TaskStatus::Running => match task.output.as_ref().and_then(|path| facts.task_outputs.get(path)) {
            Some(output) => {
                if ours {
                    recovered.reconciled.push(task.id.clone());
                }
                // An output that reports nothing was still written at the end of the work.
                match output.status.unwrap_or(TaskStatus::Complete) {
                    TaskStatus::Failed => again(Standing::Retry),
                    TaskStatus::Pending | TaskStatus::Running => again(Standing::ToDo),
                    TaskStatus::Complete | TaskStatus::Skipped => Standing::Done,
                }
            }
            None => {
                if ours {
                    recovered.orphaned.push(task.id.clone());
                }
                again(Standing::ToDo)
            }
        },
    }
}

/// Tells for every task whether something it depends on, however far away, is exhausted, unknown or itself.
fn hopeless<'a>(tasks: &'a [Task], standings: &HashMap<&TaskId, Standing>) -> HashMap<&'a TaskId, bool> {
    let by_id: HashMap<&TaskId, &Task> = tasks.iter().map(|task| (&task.id, task)).collect();
    let mut known: HashMap<&TaskId, bool> = HashMap::new();
    for root in tasks {
        // An explicit stack: a chain of thousands of tasks must not end the program.
        let mut stack = vec![(root, 0)];
        let mut on_stack: HashMap<&TaskId, ()> = HashMap::from([(&root.id, ())]);
        while let Some((task, next)) = stack.pop() {
            if known.contains_key(&task.id) {
                on_stack.remove(&task.id);
                continue;
            }
            let Some(dependency) = task.depends_on.get(next) else {
                known.insert(&task.id, false);
                on_stack.remove(&task.id);
                continue;
            };
            let verdict = match (standings.get(dependency), by_id.get(dependency)) {
                (Some(Standing::Done), _) => Some(false),
                (Some(Standing::Exhausted) | None, _) | (_, None) => Some(true),
                (Some(_), Some(found)) => match known.get(dependency) {
                    Some(known) => Some(*known),
                    None if on_stack.contains_key(dependency) => Some(true),
                    None => {
                        stack.push((task, next));
                        on_stack.insert(&found.id, ());
                        stack.push((found, 0));
                        None
                    }
                },
            };
            match verdict {
                Some(true) => {
                    known.insert(&task.id, true);
                    on_stack.remove(&task.id);
                }
                Some(false) => stack.push((task, next + 1)),
                None => {}
            }
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::resume::TaskOutput;

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
            let facts = Facts {
                task_outputs: HashMap::from([("out.json".to_owned(), TaskOutput { status })]),
                ..Facts::default()
            };
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
