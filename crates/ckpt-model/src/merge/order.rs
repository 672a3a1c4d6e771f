//! Merging the order of two lists of names.

use std::collections::{BTreeMap, BTreeSet};

/// The result of merging two orders.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) names: Vec<String>,
    /// True if the orders contradict each other; the names are in an order that only depends on both lists then.
    pub(super) contradictory: bool,
}

/// Orders the names of `kept` as `ours` and `theirs` do. What a side has not moved since the origin follows the other
/// side, and what a side has added stays behind the name that it was added behind.
pub(super) fn merge(origin: &[String], ours: &[String], theirs: &[String], kept: &BTreeSet<String>) -> Order {
    let keep = |names: &[String]| names.iter().filter(|name| kept.contains(*name)).cloned().collect::<Vec<_>>();
    let [origin, ours, theirs] = [origin, ours, theirs].map(keep);
    if origin == theirs && ours.len() == kept.len() || ours == theirs {
        return Order { names: ours, contradictory: false };
    }
    if origin == ours && theirs.len() == kept.len() {
        return Order { names: theirs, contradictory: false };
    }
    let in_origin: BTreeSet<&String> = origin.iter().collect();
    let moved = |names: &[String]| {
        let here: BTreeSet<&String> = names.iter().collect();
        let of_origin = names.iter().filter(|name| in_origin.contains(name));
        !of_origin.eq(origin.iter().filter(|name| here.contains(name)))
    };
    // An edge from each name to the one behind it.
    let mut edges = BTreeSet::new();
    for (names, other) in [(&ours, &theirs), (&theirs, &ours)] {
        let follows = moved(other) && !moved(names);
        for pair in names.windows(2) {
            if !follows || !in_origin.contains(&pair[1]) {
                edges.insert((pair[0].as_str(), pair[1].as_str()));
            }
        }
    }
    sort(kept, &edges)
}

/// Sorts names so that every edge leads forward; of those that could be next, the first by name is. If edges form a
/// circle, the first by name of those left is.
fn sort(names: &BTreeSet<String>, edges: &BTreeSet<(&str, &str)>) -> Order {
    let mut before: BTreeMap<&str, usize> = names.iter().map(|name| (name.as_str(), 0)).collect();
    let mut behind: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (first, second) in edges {
        *before.entry(second).or_default() += 1;
        behind.entry(first).or_default().push(second);
    }
    let mut ready: BTreeSet<&str> = before.iter().filter(|(_, count)| **count == 0).map(|(name, _)| *name).collect();
    let mut order = Order { names: Vec::new(), contradictory: false };
    while !before.is_empty() {
        let next = ready.pop_first().or_else(|| {
            order.contradictory = true;
            before.keys().next().copied()
        });
        let Some(next) = next else { break };
        before.remove(next);
        order.names.push(next.to_owned());
        for name in behind.remove(next).unwrap_or_default() {
            if let Some(count) = before.get_mut(name) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    ready.insert(name);
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(origin: &str, ours: &str, theirs: &str) -> String {
        let names = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let [origin, ours, theirs] = [origin, ours, theirs].map(names);
        let is_kept = |name: &&String| !origin.contains(name) || (ours.contains(name) && theirs.contains(name));
        let kept = ours.iter().chain(&theirs).filter(is_kept).cloned().collect();
        let order = merge(&origin, &ours, &theirs, &kept);
        assert_eq!(order, merge(&origin, &theirs, &ours, &kept), "the sides are equal");
        let mark = if order.contradictory { "!" } else { "" };
        format!("{}{mark}", order.names.join(" "))
    }

    #[test]
    fn what_both_have_added_stays_where_it_was_added() {
        assert_eq!(merged("plan build", "plan lint build", "plan build docs"), "plan lint build docs");
        assert_eq!(merged("", "b a", "c"), "b a c");
        assert_eq!(merged("a b c", "a c", "a b c d"), "a c d");
    }

    #[test]
    fn the_side_that_has_moved_something_decides() {
        assert_eq!(merged("a b", "b a", "a b c"), "b a c");
        assert_eq!(merged("a b", "b a", "a x b"), "b a x");
    }

    #[test]
    fn two_orders_that_contradict_each_other_are_named_as_such() {
        assert_eq!(merged("a b c", "b a c", "a c b"), "a c b!");
        assert_eq!(merged("", "x y", "y x"), "x y!");
    }
}
