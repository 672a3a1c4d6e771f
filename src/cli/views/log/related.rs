//! The graph of several workflows: forks and merges.

use std::collections::{BTreeMap, BinaryHeap, HashMap};

use super::graph::GraphRow;
use super::{LogEntry, LogReport};
use ckpt_model::{Handle, Timestamp, WorkflowId};

impl LogReport {
    /// Returns the log of a workflow from `first` down, with the histories of `forks` and of everything that these continue
    /// in other workflows. `read` reads the log of one workflow from a checkpoint down.
    pub(crate) fn with_related<E>(
        first: &Handle,
        forks: &[Handle],
        limit: usize,
        read: impl Fn(&Handle) -> Result<Self, E>,
    ) -> Result<Self, E> {
        let mut logs: BTreeMap<WorkflowId, Self> = BTreeMap::new();
        let mut waiting = forks.to_vec();
        waiting.push(first.clone());
        while let Some(handle) = waiting.pop() {
            if logs.get(&handle.workflow).is_some_and(|log| handle.seq <= log.total) {
                continue;
            }
            let log = read(&handle)?;
            let elsewhere = log.entries.iter().flat_map(|entry| &entry.parents);
            waiting.extend(elsewhere.filter(|parent| parent.workflow != handle.workflow).cloned());
            logs.insert(handle.workflow.clone(), log);
        }
        let mut report = Self {
            workflow: first.workflow.clone(),
            entries: Vec::new(),
            damaged: Vec::new(),
            total: 0,
            truncated: false,
            warnings: Vec::new(),
            graph: true,
        };
        for log in logs.into_values() {
            report.total = report.total.saturating_add(log.total);
            report.truncated |= log.truncated;
            report.entries.extend(log.entries);
            report.damaged.extend(log.damaged);
            report.warnings.extend(log.warnings);
        }
        report.entries = newest_first(report.entries);
        report.truncated |= report.entries.len() > limit;
        report.entries.truncate(limit);
        Ok(report)
    }
}

/// Sorts entries so that each stands above those that it continues, and above the lower numbers of its workflow; of those
/// that could be next, the one saved last is.
pub(super) fn newest_first(entries: Vec<LogEntry>) -> Vec<LogEntry> {
    let places: HashMap<Handle, usize> =
        entries.iter().enumerate().map(|(place, entry)| (entry.handle.clone(), place)).collect();
    // The entries of the main line of one workflow are in order already.
    let mut last: HashMap<&WorkflowId, usize> = HashMap::new();
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); entries.len()];
    for (place, entry) in entries.iter().enumerate() {
        let parents = entry.parents.iter().filter_map(|handle| places.get(handle)).copied();
        below[place].extend(parents.filter(|below| *below != place));
        if entry.handle.side.is_none()
            && let Some(above) = last.insert(&entry.handle.workflow, place)
        {
            below[above].push(place);
        }
    }
    let mut above = vec![0_usize; entries.len()];
    below.iter().flatten().for_each(|place| above[*place] += 1);
    let rank = |place: usize| {
        let saved_at: Option<Timestamp> = entries[place].saved.as_ref().map(|saved| saved.saved_at);
        // What cannot be read comes first, so that nothing waits for it.
        (saved_at.is_none(), saved_at, std::cmp::Reverse(place))
    };
    let mut ready: BinaryHeap<_> =
        (0..entries.len()).filter(|place| above[*place] == 0).map(|place| (rank(place), place)).collect();
    let mut order = Vec::new();
    while let Some((_, place)) = ready.pop() {
        order.push(place);
        for next in &below[place] {
            above[*next] -= 1;
            if above[*next] == 0 {
                ready.push((rank(*next), *next));
            }
        }
    }
    let mut entries: Vec<Option<LogEntry>> = entries.into_iter().map(Some).collect();
    let mut sorted: Vec<LogEntry> = order.iter().filter_map(|place| entries[*place].take()).collect();
    // References in a circle can only be forged; what is left is shown all the same.
    sorted.extend(entries.into_iter().flatten());
    sorted
}

/// A row of the graph: one entry, or a range of entries.
pub(super) struct Row<'a> {
    pub(super) newest: &'a Handle,
    pub(super) oldest: &'a Handle,
    /// The checkpoints that it continues; none if they are unknown.
    pub(super) parents: Option<&'a [Handle]>,
    pub(super) mark: char,
}

/// Numbers the rows from the last to the first, above what they continue and is not shown.
pub(super) fn numbered(rows: &[Row<'_>]) -> Vec<GraphRow> {
    // Each row by its workflow and its highest number.
    let mut shown: HashMap<&WorkflowId, BTreeMap<u64, usize>> = HashMap::new();
    let mut sides: HashMap<&Handle, usize> = HashMap::new();
    for (place, row) in rows.iter().enumerate() {
        if row.newest.side.is_some() {
            sides.insert(row.newest, place);
        } else {
            shown.entry(&row.newest.workflow).or_default().insert(row.newest.seq, place);
        }
    }
    let row_of = |handle: &Handle| {
        if handle.side.is_some() {
            return sides.get(handle).copied();
        }
        let (_, place) = shown.get(&handle.workflow)?.range(handle.seq..).next()?;
        (rows[*place].oldest.seq <= handle.seq).then_some(*place)
    };
    // What an unreadable one continues is unknown; mostly it is the one below it.
    let below = |row: &Row<'_>| {
        let numbers = shown.get(&row.newest.workflow)?;
        numbers.range(..row.oldest.seq).next_back().map(|(_, place)| rows[*place].newest.clone())
    };
    let parents: Vec<Vec<Handle>> = rows
        .iter()
        .map(|row| row.parents.map_or_else(|| below(row).into_iter().collect(), <[Handle]>::to_vec))
        .collect();
    let mut hidden: Vec<&Handle> = parents.iter().flatten().filter(|parent| row_of(parent).is_none()).collect();
    hidden.sort_unstable();
    hidden.dedup();
    let number = |place: usize| (hidden.len() + rows.len() - place) as u64;
    let number_of = |handle: &Handle| match row_of(handle) {
        Some(place) => number(place),
        None => 1 + hidden.binary_search(&handle).unwrap_or_default() as u64,
    };
    rows.iter()
        .zip(&parents)
        .enumerate()
        .map(|(place, (row, parents))| GraphRow {
            number: number(place),
            parents: parents.iter().map(number_of).collect(),
            mark: row.mark,
        })
        .collect()
}
