//! The work of validating one document, computed without doing it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::graph::{Graph, Node};
use super::size::count;

/// A budget of steps. A step is about one keyword of a schema at one value of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps(u64);

impl Default for Steps {
    /// The budget of one command: a few seconds.
    fn default() -> Self {
        Self(50_000_000)
    }
}

/// The budget is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the check would take too many steps")]
pub struct OutOfSteps;

impl Steps {
    /// Takes steps from the budget.
    ///
    /// # Errors
    /// There are not enough left.
    pub fn take(&mut self, steps: u64) -> Result<(), OutOfSteps> {
        self.0 = self.0.checked_sub(steps).ok_or(OutOfSteps)?;
        Ok(())
    }

    /// Returns the number of steps that were taken since `before`.
    pub(super) fn since(self, before: Self) -> u64 {
        before.0 - self.0
    }
}

/// The deepest stack of subschemas that are evaluated inside each other, over all levels of a document.
const MAX_STACK: usize = 1000;

/// Subschemas that are applied to one value, with how often each of them is.
type Applied = BTreeMap<usize, u64>;

impl Graph {
    /// Takes the steps of validating a document from the budget. Every subschema counts as evaluated in full, so a
    /// validator takes fewer.
    pub(super) fn charge(&self, document: &Value, steps: &mut Steps) -> Result<(), OutOfSteps> {
        self.charge_value(document, &self.expand(Applied::from([(0, 1)])), 0, steps)
    }

    /// Adds the subschemas that are applied in place. One subschema that is applied in several ways is counted so often.
    fn expand(&self, applied: Applied) -> Vec<(&Node, u64)> {
        let mut pending: BTreeMap<usize, (usize, u64)> = BTreeMap::new();
        for (index, times) in applied {
            pending.insert(self.nodes[index].rank, (index, times));
        }
        let mut expanded = Vec::new();
        while let Some((_, (index, times))) = pending.pop_first() {
            let node = &self.nodes[index];
            expanded.push((node, times));
            let times = if node.twice { times.saturating_mul(2) } else { times };
            for child in &node.in_place {
                let entry = pending.entry(self.nodes[*child].rank).or_insert((*child, 0));
                entry.1 = entry.1.saturating_add(times);
            }
        }
        expanded
    }

    fn charge_value(
        &self,
        value: &Value,
        nodes: &[(&Node, u64)],
        stack: usize,
        steps: &mut Steps,
    ) -> Result<(), OutOfSteps> {
        let stack = stack + nodes.len().min(super::graph::MAX_CHAIN);
        if stack > MAX_STACK {
            return Err(OutOfSteps);
        }
        for (node, times) in nodes {
            let content = match value {
                Value::String(text) => node.text_steps(text),
                // Each item is hashed and remembered.
                Value::Array(_) if node.unique => 8 * count(value),
                _ => 0,
            };
            steps.take(times.saturating_mul(node.own + content))?;
        }
        match value {
            Value::Array(items) => self.charge_items(items, nodes, stack, steps),
            Value::Object(members) => {
                let nodes: Vec<_> =
                    nodes.iter().copied().filter(|(node, _)| node.applies_to_members()).collect();
                for (name, member) in members.iter().take_while(|_| !nodes.is_empty()) {
                    steps.take(nodes.len() as u64)?;
                    self.charge_member(name, member, &nodes, stack, steps)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn charge_items(
        &self,
        items: &[Value],
        nodes: &[(&Node, u64)],
        stack: usize,
        steps: &mut Steps,
    ) -> Result<(), OutOfSteps> {
        let mut all = Applied::new();
        for (node, times) in nodes {
            add(&mut all, &node.items, *times);
        }
        let longest = nodes.iter().map(|(node, _)| node.first_items.len()).max().unwrap_or(0);
        for (place, item) in items.iter().enumerate().take(longest) {
            steps.take(nodes.len() as u64)?;
            let mut applied = all.clone();
            for (node, times) in nodes {
                add(&mut applied, node.first_items.get(place), *times);
            }
            self.charge_value(item, &self.expand(applied), stack, steps)?;
        }
        if all.is_empty() {
            return Ok(());
        }
        let expanded = self.expand(all);
        items.iter().skip(longest).try_for_each(|item| self.charge_value(item, &expanded, stack, steps))
    }

    fn charge_member(
        &self,
        name: &str,
        member: &Value,
        nodes: &[(&Node, u64)],
        stack: usize,
        steps: &mut Steps,
    ) -> Result<(), OutOfSteps> {
        let (mut to_name, mut to_member) = (Applied::new(), Applied::new());
        for (node, times) in nodes {
            add(&mut to_name, &node.names, *times);
            match node.properties.get(name) {
                Some(property) => add(&mut to_member, [property], *times),
                None => add(&mut to_member, &node.other_members, *times),
            }
            for (states, child) in &node.patterns {
                steps.take(times.saturating_mul(1 + per_byte(name, *states)))?;
                add(&mut to_member, [child], *times);
            }
        }
        for (node, times) in self.expand(to_name) {
            steps.take(times.saturating_mul(node.own + node.text_steps(name)))?;
        }
        if to_member.is_empty() {
            Ok(())
        } else {
            self.charge_value(member, &self.expand(to_member), stack, steps)
        }
    }
}

impl Node {
    fn applies_to_members(&self) -> bool {
        let by_name = self.properties.is_empty() && self.patterns.is_empty() && self.names.is_empty();
        !by_name || !self.other_members.is_empty()
    }

    fn text_steps(&self, text: &str) -> u64 {
        per_byte(text, self.per_byte)
    }
}

fn per_byte(text: &str, weight: u64) -> u64 {
    (text.len() as u64).saturating_mul(weight) / 32
}

fn add<'a>(applied: &mut Applied, children: impl IntoIterator<Item = &'a usize>, times: u64) {
    for child in children {
        let entry = applied.entry(*child).or_insert(0);
        *entry = entry.saturating_add(times);
    }
}
