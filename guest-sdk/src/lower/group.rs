//! Ops that lower, in groups. A pass names the groups that it wants, and links the rules of no others.

use super::only::Only;
use super::rules::{self, Rule};
use super::{contraction, moves, resample};
use passhost_ir::namespace::completed;
use passhost_ir::{OpName, OpRow};

/// Ops that lower alike.
///
/// What takes groups lowers the ops of these and no others. Groups are constants, and the linker leaves out what none of
/// those in use names: a component that lowers pointwise ops alone holds no code for norms or pools.
///
/// ```
/// use passhost_guest_sdk::ir::{Graph, NodeId};
/// use passhost_guest_sdk::lower::{self, Group};
///
/// const GROUPS: &[Group] = &[Group::POINTWISE, Group::MOVES];
///
/// let graph = Graph::parse(
///     "graph(%x: f32[4,8]) {
///        %r: f32[4,8] = aten::relu(%x)
///        %s: f32[4,8] = aten::softmax.int(%r, -1)
///        return (%s)
///      }",
/// )?;
/// assert!(lower::region(&graph, &[NodeId(0)], GROUPS).is_ok());
/// let error = lower::region(&graph, &[NodeId(1)], GROUPS).unwrap_err();
/// assert_eq!(error.to_string(), "aten::softmax.int has no lowering among those that the pass names");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Group {
    name: &'static str,
    pub(super) family: Family,
}

/// Tables of ops.
#[derive(Clone, Copy)]
pub(super) enum Family {
    Rules(&'static [&'static [Rule]]),
    Moves(&'static [&'static [moves::MoveOp]]),
    Resampling(&'static [resample::ResampleOp]),
    Products(&'static [&'static [contraction::ContractionOp]]),
}

impl Group {
    /// Arithmetic, activations, comparisons, logic, casts, batch norm with given statistics: what calculates each element
    /// from those at the same place.
    pub const POINTWISE: Group = Group { name: "POINTWISE", family: Family::Rules(rules::POINTWISE) };
    /// Tensors without inputs, and what follows from the row and the column of an element: `full`, `arange`, `tril`.
    pub const CREATION: Group = Group { name: "CREATION", family: Family::Rules(rules::CREATION) };
    /// What is calculated from elements at several places: `glu`, `diff`, `outer`.
    pub const SPREAD: Group = Group { name: "SPREAD", family: Family::Rules(rules::SPREAD) };
    /// Losses, reduced or not.
    pub const LOSSES: Group = Group { name: "LOSSES", family: Family::Rules(rules::LOSSES) };
    /// Sums, means, extrema, variances, lengths of vectors, running sums.
    pub const REDUCTIONS: Group = Group { name: "REDUCTIONS", family: Family::Rules(rules::REDUCTIONS) };
    /// Softmax, and norms that take their own statistics.
    pub const NORMS: Group = Group { name: "NORMS", family: Family::Rules(rules::NORMS) };
    /// Averages and maxima over windows.
    pub const POOLS: Group = Group { name: "POOLS", family: Family::Rules(rules::POOLS) };
    /// Copies of elements to other places: concatenations, paddings, reshapes, rolls, scatters.
    pub const MOVES: Group = Group { name: "MOVES", family: Family::Moves(moves::MOVES) };
    /// Elements that tensors of indices name: `embedding`, `gather`, `index`.
    pub const GATHERS: Group = Group { name: "GATHERS", family: Family::Moves(moves::GATHERS) };
    /// Enlarging and shrinking by interpolation.
    pub const RESAMPLING: Group = Group { name: "RESAMPLING", family: Family::Resampling(resample::OPS) };
    /// Matrix products and convolutions. [`partition`](super::partition) and [`fuse`](super::fuse) take those of them that
    /// a kernel does about as fast as a library.
    pub const PRODUCTS: Group = Group { name: "PRODUCTS", family: Family::Products(contraction::PRODUCTS) };

    /// The name of the group that an op lowers by, for those who speak of ops: a component that asks holds all rules.
    ///
    /// ```
    /// use passhost_guest_sdk::{ir::OpName, lower::Group};
    ///
    /// assert_eq!(Group::name_of(&OpName::parse("aten::softmax.int")), Some("NORMS"));
    /// assert_eq!(Group::name_of(&OpName::parse("aten::sort")), None);
    /// ```
    pub fn name_of(op: &OpName) -> Option<&'static str> {
        Group::ALL.iter().find(|group| !group.conditions(op).is_empty()).map(|group| group.name)
    }

    /// All of them.
    pub const ALL: &[Group] = &[
        Group::MOVES,
        Group::GATHERS,
        Group::RESAMPLING,
        Group::PRODUCTS,
        Group::POINTWISE,
        Group::CREATION,
        Group::SPREAD,
        Group::LOSSES,
        Group::REDUCTIONS,
        Group::NORMS,
        Group::POOLS,
    ];

    /// The ops that lower by it, as `aten::add.Tensor`, sorted; of those that resample the names alone.
    pub fn ops(self) -> Vec<String> {
        fn full(name: &str, overloads: &[&str]) -> Vec<String> {
            overloads.iter().map(|overload| OpName::new(name, *overload).to_string()).collect()
        }
        let mut names: Vec<String> = match self.family {
            Family::Rules(tables) => {
                let named = |rule: &Rule| {
                    let names = OpRow::all().iter().map(|row| completed(row.name));
                    let names = names.filter(|name| rules::meant(name) == rule.name);
                    names.flat_map(|name| full(&name, rule.overloads)).collect::<Vec<_>>()
                };
                tables.iter().copied().flatten().flat_map(named).collect()
            }
            Family::Moves(tables) => {
                tables.iter().copied().flatten().flat_map(|op| full(op.name, op.overloads)).collect()
            }
            Family::Resampling(table) => table.iter().map(|op| op.name.to_owned()).collect(),
            Family::Products(tables) => {
                tables.iter().copied().flatten().flat_map(|op| full(op.name, op.overloads)).collect()
            }
        };
        names.sort();
        names.dedup();
        names
    }

    /// For each lowering that it has for an op, under any overload of those that move elements, what calls must be like.
    pub(super) fn conditions(self, op: &OpName) -> Vec<Option<&'static str>> {
        let name = rules::meant(&op.name);
        let only: Vec<Only> = match self.family {
            Family::Rules(tables) => {
                let rules = tables.iter().copied().flatten().filter(|rule| rule.covers(name, &op.overload));
                rules.map(|rule| rule.only).collect()
            }
            Family::Moves(tables) => {
                let ops = tables.iter().copied().flatten().filter(|known| known.name == op.name);
                ops.map(|known| known.only).collect()
            }
            Family::Resampling(table) => {
                table.iter().filter(|known| known.name == op.name).map(|_| Only::NOTHING).collect()
            }
            Family::Products(tables) => {
                let ops = tables.iter().copied().flatten().filter(|known| known.covers(op));
                ops.map(|known| known.only).collect()
            }
        };
        only.into_iter().map(Only::condition).collect()
    }
}
