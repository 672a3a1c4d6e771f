//! A schema as a graph: which subschemas are evaluated where another one is, and what that costs.
//!
//! A validator cannot be interrupted, and a short schema can make it work for years: a definition that refers twice to
//! the next one doubles the work with every definition. So the work is computed from this graph before a schema is
//! compiled, and for a document before it is validated ([`steps`](super::steps)).
//!
//! The graph has an edge for every applicator and every reference. A schema in which a reference leads somewhere that
//! is not part of it has no graph: embedded documents (`$id` below the root) and remote ones are refused.

use std::collections::HashMap;

use serde_json::Value;

use super::{UnusableSchema, build, size};

/// The most subschemas, one inside the other, that are evaluated at one place of a document.
pub(super) const MAX_CHAIN: usize = 64;
/// The most steps at one place of a document.
const MAX_EXPANSION: u64 = 100_000;

/// The subschemas of a schema. The first one is the root.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
}

/// One subschema, and the subschemas it applies, by their index.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// The steps of its own keywords.
    pub(super) own: u64,
    /// Its place in an order in which it stands before the subschemas that it applies in place.
    pub(super) rank: usize,
    /// The steps per byte of a text, in 32nds.
    pub(super) per_byte: u64,
    /// True for `uniqueItems`, which looks at all of an array.
    pub(super) unique: bool,
    /// Applied to the same value: `allOf`, `$ref` and the like.
    pub(super) in_place: Vec<usize>,
    /// True for `anyOf` and `oneOf`: a validator explains their failure by the failures of all branches.
    pub(super) alternatives: bool,
    /// True if those are evaluated a second time, to find what they leave unevaluated.
    pub(super) twice: bool,
    /// Applied to a member by its name.
    pub(super) properties: HashMap<String, usize>,
    /// Applied to the members with a matching name; with the states of the pattern.
    pub(super) patterns: Vec<(u64, usize)>,
    /// Applied to the members that `properties` does not name.
    pub(super) other_members: Vec<usize>,
    /// Applied to the names of members.
    pub(super) names: Vec<usize>,
    /// Applied to the first items, one each.
    pub(super) first_items: Vec<usize>,
    /// Applied to all items.
    pub(super) items: Vec<usize>,
}

impl Graph {
    /// Analyses a schema.
    pub(super) fn of(schema: &Value) -> Result<Self, UnusableSchema> {
        size::check(schema)?;
        let (mut nodes, pointers) = build::nodes(schema)?;
        let mut order =
            Order { nodes: &nodes, pointers: &pointers, visits: vec![None; nodes.len()], finished: 0 };
        for index in 0..nodes.len() {
            order.visit(index, 1)?;
        }
        let count = nodes.len();
        let ranks: Vec<usize> =
            order.visits.iter().map(|visit| count - visit.map_or(0, |visit| visit.finished)).collect();
        for (node, rank) in nodes.iter_mut().zip(ranks) {
            node.rank = rank;
        }
        Ok(Self { nodes })
    }

    pub(super) fn has_alternatives(&self) -> bool {
        self.nodes.iter().any(|node| node.alternatives)
    }
}

/// A depth-first search along the subschemas that are applied in place.
struct Order<'a> {
    nodes: &'a [Node],
    pointers: &'a [String],
    /// None if not visited yet.
    visits: Vec<Option<Visit>>,
    finished: usize,
}

#[derive(Clone, Copy)]
struct Visit {
    /// The number of subschemas that were finished before; 0 while this one is not.
    finished: usize,
    /// The steps of the subschema and all that it applies in place.
    expansion: u64,
    /// The length of the longest chain of subschemas from here.
    chain: usize,
}

impl Order<'_> {
    fn visit(&mut self, index: usize, depth: usize) -> Result<Visit, UnusableSchema> {
        let refuse = |reason: String| Err(UnusableSchema { pointer: self.pointers[index].clone(), reason });
        match self.visits[index] {
            Some(Visit { finished: 0, .. }) => {
                return refuse("the schema refers to itself without end".to_owned());
            }
            Some(visit) => return Ok(visit),
            None => {}
        }
        if depth > MAX_CHAIN {
            return refuse(format!("more than {MAX_CHAIN} schemas are applied through each other"));
        }
        let node = &self.nodes[index];
        let mut visit = Visit { finished: 0, expansion: node.own, chain: 1 };
        self.visits[index] = Some(visit);
        for child in &node.in_place {
            let child = self.visit(*child, depth + 1)?;
            let times = if node.twice { 2 } else { 1 };
            visit.expansion = visit.expansion.saturating_add(child.expansion.saturating_mul(times));
            visit.chain = visit.chain.max(child.chain + 1);
        }
        let refuse = |reason: String| Err(UnusableSchema { pointer: self.pointers[index].clone(), reason });
        if visit.expansion > MAX_EXPANSION {
            return refuse(format!("the schema needs more than {MAX_EXPANSION} steps for one value"));
        }
        if visit.chain > MAX_CHAIN {
            return refuse(format!("more than {MAX_CHAIN} schemas are applied through each other"));
        }
        self.finished += 1;
        visit.finished = self.finished;
        self.visits[index] = Some(visit);
        Ok(visit)
    }
}
