//! The decision on what goes where: a function of what a store and a remote have of one workflow.
//!
//! The remote has a main line, which is a dense chain: a checkpoint takes number *n* of it only if it continues the newest
//! checkpoint on it. Everything else is a side checkpoint, named by its number and digest. A store has the same two places,
//! with its own saves on its main line. So a store and the remote may disagree on which of two checkpoints 8 is on the main
//! line, but never on what is there: names are only names, and heads follow from what checkpoints continue.
//!
//! A merge of heads may skip numbers. It is published first, and the numbers that the main line lacks below it get fillers, which are
//! empty: so the newest entry is never an empty one, and whoever finds a gap can fill it. A save may be faster and take one of
//! these numbers. Then the merge is above a checkpoint that it does not continue, and a store that has that one keeps the
//! merge as a side checkpoint: both are heads.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::key::ObjectName;
use ckpt_model::digest::{Digest, ShortDigest};
use ckpt_model::format::Links;
use ckpt_store::MOST_FILLED;

/// A checkpoint or a seal, as far as the plan needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its number.
    pub seq: u64,
    /// Its digest.
    pub digest: Digest,
    /// The digests of what it continues.
    pub parents: Vec<Digest>,
}

impl Node {
    fn is_join(&self) -> bool {
        self.parents.len() > 1
    }
}

impl From<&Links> for Node {
    fn from(links: &Links) -> Self {
        Self { seq: links.seq, digest: links.sha256, parents: links.parents().collect() }
    }
}

/// The content of a number of a main line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// A checkpoint or a seal.
    Node(Node),
    /// Nothing: a filler, or content that was deleted.
    Empty,
}

impl Slot {
    fn node(&self) -> Option<&Node> {
        match self {
            Self::Node(node) => Some(node),
            Self::Empty => None,
        }
    }
}

/// The part of a workflow that a store has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalView {
    /// Its main line; below the lowest number that matters, it may be left out.
    pub main: BTreeMap<u64, Slot>,
    /// Its side checkpoints.
    pub sides: BTreeSet<(u64, ShortDigest)>,
    /// The remote is known to have all entries up to this number.
    pub pushed: u64,
}

/// The part of a workflow that a remote has, as far as it was looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemoteView {
    /// All numbers of its main line up to this one are taken, whether or not they are in `main`.
    pub taken: u64,
    /// Its main line.
    pub main: BTreeMap<u64, Slot>,
    /// Its side checkpoints.
    pub sides: Vec<Node>,
}

/// An object to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Push {
    /// Its name on the remote.
    pub name: ObjectName,
    /// The number of the entry of this store that it holds; none for a filler.
    pub from: Option<u64>,
}

/// A place in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// On the main line, on top of this number.
    Main(Option<u64>),
    /// Beside it.
    Side,
}

/// An entry to be added to a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pull {
    /// The entry.
    pub node: Node,
    /// Its place.
    pub to: Place,
}

/// An entry below which more numbers would have to be filled than are ever filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FarAbove {
    /// Its number.
    pub seq: u64,
}

/// Decides which objects are created, in this order.
///
/// # Errors
/// An entry is too far above the others.
pub fn plan_push(local: &LocalView, remote: &RemoteView) -> Result<Vec<Push>, FarAbove> {
    let on_remote: HashSet<Digest> = remote.nodes().map(|node| node.digest).collect();
    let is_taken = |seq: u64| seq <= remote.taken || remote.main.contains_key(&seq);
    let mut top = remote.top().map(|node| (node.seq, node.digest));
    let mut below: Option<Digest> = None;
    let mut plan = Vec::new();
    for (seq, slot) in &local.main {
        let Some(node) = slot.node() else { continue };
        if *seq <= local.pushed || on_remote.contains(&node.digest) {
            below = Some(node.digest);
            continue;
        }
        let continues_top = match &top {
            Some((number, digest)) => number < seq && (node.parents.contains(digest) || below == Some(*digest)),
            None => below.is_none() && remote.taken == 0,
        };
        if continues_top && !is_taken(*seq) {
            plan.push(Push { name: ObjectName::Main(*seq), from: Some(*seq) });
            let below = top.map_or(0, |(number, _)| number);
            plan.extend(remote.fillers(below, *seq)?);
            top = Some((*seq, node.digest));
        } else {
            plan.push(Push { name: ObjectName::side(*seq, &node.digest), from: Some(*seq) });
        }
        below = Some(node.digest);
    }
    // Somebody was interrupted between a merge of heads and its fillers.
    let highest = remote.main.last_key_value().map_or(0, |(seq, _)| *seq);
    plan.extend(remote.fillers(remote.taken, highest)?);
    Ok(plan)
}

/// Decides which entries are added to a store, in this order.
///
/// # Errors
/// An entry is too far above the others.
pub fn plan_pull(local: &LocalView, remote: &RemoteView) -> Result<Vec<Pull>, FarAbove> {
    let mut top = local.main.values().rev().find_map(Slot::node).map(|node| (node.seq, node.digest));
    let held = |node: &Node| {
        let here = local.main.get(&node.seq).and_then(Slot::node);
        here.is_some_and(|here| here.digest == node.digest) || local.sides.contains(&(node.seq, node.digest.short()))
    };
    let mut nodes: Vec<(&Node, bool)> = remote.main.values().filter_map(Slot::node).map(|n| (n, false)).collect();
    nodes.extend(remote.sides.iter().map(|node| (node, true)));
    nodes.sort_by_key(|(node, is_side)| (node.seq, *is_side));
    let mut plan: Vec<Pull> = Vec::new();
    let mut planned: HashSet<Digest> = HashSet::new();
    let dense = remote.dense();
    for (node, is_side) in nodes {
        // A store without the workflow waits for the fillers below: a side checkpoint would never become its main line.
        if top.is_none() && !is_side && node.seq > dense {
            continue;
        }
        if held(node) || !planned.insert(node.digest) {
            continue;
        }
        let continues_top = match &top {
            Some((number, digest)) => {
                let below = if is_side || node.is_join() { None } else { remote.directly_below(node.seq) };
                *number < node.seq && (node.parents.contains(digest) || below == Some(Some(*digest)))
            }
            None => !is_side && remote.directly_below(node.seq) == Some(None),
        };
        let to = if continues_top { Place::Main(top.map(|(number, _)| number)) } else { Place::Side };
        if continues_top {
            let below = top.map_or(0, |(number, _)| number);
            if node.seq - below - 1 > MOST_FILLED {
                return Err(FarAbove { seq: node.seq });
            }
            top = Some((node.seq, node.digest));
        }
        plan.push(Pull { node: node.clone(), to });
    }
    Ok(plan)
}

impl RemoteView {
    /// Returns all entries with content that were looked at.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.main.values().filter_map(Slot::node).chain(&self.sides)
    }

    /// Returns the newest entry of the main line that has content.
    #[must_use]
    pub fn top(&self) -> Option<&Node> {
        self.main.values().rev().find_map(Slot::node)
    }

    /// Returns the number up to which the main line is known to have no gap.
    fn dense(&self) -> u64 {
        let mut dense = self.taken;
        while let Some(next) = dense.checked_add(1)
            && self.main.contains_key(&next)
        {
            dense = next;
        }
        dense
    }

    /// Returns fillers for the free numbers between two others.
    fn fillers(&self, below: u64, seq: u64) -> Result<Vec<Push>, FarAbove> {
        let mut fillers = Vec::new();
        for free in below.max(self.taken).saturating_add(1)..seq {
            if self.main.contains_key(&free) {
                continue;
            }
            if fillers.len() as u64 == MOST_FILLED {
                return Err(FarAbove { seq });
            }
            fillers.push(Push { name: ObjectName::Main(free), from: None });
        }
        Ok(fillers)
    }

    /// Returns the digest of the next entry below a number that has content, `Some(None)` if there is none; `None` if a
    /// number between them is not known to be empty.
    fn directly_below(&self, seq: u64) -> Option<Option<Digest>> {
        let mut expected = seq - 1;
        for (number, slot) in self.main.range(..seq).rev() {
            if *number != expected {
                return None;
            }
            if let Slot::Node(node) = slot {
                return Some(Some(node.digest));
            }
            expected -= 1;
        }
        (expected == 0).then_some(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(seq: u64, name: &str, parents: &[&str]) -> Node {
        let digest = |name: &str| Digest::of(name.as_bytes());
        Node { seq, digest: digest(name), parents: parents.iter().map(|name| digest(name)).collect() }
    }

    fn main(nodes: &[Node]) -> BTreeMap<u64, Slot> {
        nodes.iter().map(|node| (node.seq, Slot::Node(node.clone()))).collect()
    }

    fn local(nodes: &[Node]) -> LocalView {
        LocalView { main: main(nodes), ..LocalView::default() }
    }

    fn remote(nodes: &[Node]) -> RemoteView {
        RemoteView { main: main(nodes), ..RemoteView::default() }
    }

    fn pushed(plan: &[Push]) -> Vec<String> {
        let shown = |push: &Push| match (&push.name, push.from) {
            (ObjectName::Main(seq), None) => format!("{seq} empty"),
            (ObjectName::Main(seq), Some(_)) => seq.to_string(),
            (ObjectName::Side(seq, _), _) => format!("{seq}@"),
            (ObjectName::Archive(name), _) => name.clone(),
        };
        plan.iter().map(shown).collect()
    }

    #[test]
    fn what_continues_the_main_line_extends_it_and_the_rest_stands_beside_it() {
        let (a, b, c) = (node(1, "a", &[]), node(2, "b", &["a"]), node(3, "c", &["b"]));
        let other = node(2, "other", &["a"]);
        let mine = local(&[a.clone(), b.clone(), c.clone()]);
        assert_eq!(pushed(&plan_push(&mine, &remote(&[])).unwrap()), ["1", "2", "3"]);
        assert_eq!(pushed(&plan_push(&mine, &remote(std::slice::from_ref(&a))).unwrap()), ["2", "3"]);
        assert_eq!(pushed(&plan_push(&mine, &remote(&[a.clone(), other.clone()])).unwrap()), ["2@", "3@"]);

        let theirs = remote(&[a.clone(), other]);
        let places =
            |local: &LocalView| plan_pull(local, &theirs).unwrap().iter().map(|pull| pull.to).collect::<Vec<_>>();
        assert_eq!(places(&local(&[])), [Place::Main(None), Place::Main(Some(1))]);
        assert_eq!(places(&local(&[a])), [Place::Main(Some(1))]);
        assert_eq!(places(&mine), [Place::Side]);
    }

    #[test]
    fn no_plan_fills_more_numbers_than_the_limit() {
        let a = node(1, "a", &[]);
        for (seq, is_planned) in [(MOST_FILLED + 2, true), (MOST_FILLED + 3, false), (u64::MAX, false)] {
            let theirs = remote(&[a.clone(), node(seq, "far", &["a"])]);
            let mine = local(std::slice::from_ref(&a));
            assert_eq!(plan_pull(&mine, &theirs).is_ok(), is_planned, "{seq}");
            assert_eq!(plan_push(&mine, &theirs).is_ok(), is_planned, "{seq}");
            let ours = local(&[a.clone(), node(seq, "far", &["a"])]);
            assert_eq!(plan_push(&ours, &remote(std::slice::from_ref(&a))).is_ok(), is_planned, "{seq}");
        }
        let far = RemoteView { taken: u64::MAX, ..remote(&[node(u64::MAX, "far", &[])]) };
        assert_eq!(plan_push(&local(&[]), &far), Ok(Vec::new()));
    }

    #[test]
    fn a_join_takes_the_main_line_before_the_numbers_below_it_are_filled() {
        let (a, b, c) = (node(1, "a", &[]), node(2, "b", &["a"]), node(3, "c", &["b"]));
        let other = node(2, "other", &["a"]);
        let merge = node(4, "merge", &["c", "other"]);
        let mine = local(&[a.clone(), b.clone(), c.clone(), merge.clone()]);
        let mut theirs = remote(&[a, other]);
        theirs.sides = vec![b, c];
        assert_eq!(pushed(&plan_push(&mine, &theirs).unwrap()), ["4", "3 empty"]);
        // The fillers of somebody who was interrupted.
        theirs.main.insert(4, Slot::Node(merge));
        assert_eq!(pushed(&plan_push(&mine, &theirs).unwrap()), ["3 empty"]);
    }

    #[test]
    fn a_join_above_a_save_that_was_faster_stands_beside_it() {
        let (a, b) = (node(1, "a", &[]), node(2, "b", &["a"]));
        let theirs = remote(&[a.clone(), b.clone(), node(3, "merge", &["other", "a"])]);
        assert_eq!(plan_pull(&local(&[a, b]), &theirs).unwrap()[0].to, Place::Side);
        let places: Vec<Place> = plan_pull(&local(&[]), &theirs).unwrap().iter().map(|pull| pull.to).collect();
        assert_eq!(places, [Place::Main(None), Place::Main(Some(1)), Place::Side]);
    }

    #[test]
    fn numbers_whose_content_was_deleted_before_they_were_shared_become_fillers() {
        let seal = node(3, "seal", &["gone"]);
        let mut mine = local(&[seal.clone(), node(4, "d", &["seal"])]);
        mine.main.extend([(1, Slot::Empty), (2, Slot::Empty)]);
        assert_eq!(pushed(&plan_push(&mine, &remote(&[])).unwrap()), ["3", "1 empty", "2 empty", "4"]);
        let mut theirs = remote(&[seal]);
        theirs.main.insert(4, Slot::Node(node(4, "d", &["seal"])));
        assert_eq!(plan_pull(&local(&[]), &theirs), Ok(Vec::new()), "1 and 2 may still come");
        theirs.main.extend([(1, Slot::Empty), (2, Slot::Empty)]);
        let places: Vec<Place> = plan_pull(&local(&[]), &theirs).unwrap().iter().map(|pull| pull.to).collect();
        assert_eq!(places, [Place::Main(None), Place::Main(Some(3))]);
    }
}
