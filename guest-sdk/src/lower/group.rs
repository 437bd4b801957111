//! Ops that lower, in groups. A pass names the groups that it wants, and links the rules of no others.

use super::rules::{self, Rule};
use super::{contraction, moves, resample};
use crate::args::Args;
use passhost_ir::{Arg, OpName};

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
pub struct Group(&'static [Family]);

/// A table of ops.
#[derive(Clone, Copy)]
pub(super) enum Family {
    Rules(&'static [Rule]),
    Moves(&'static [moves::Op]),
    Resampling(&'static [resample::Op]),
    Products(&'static [contraction::Op]),
}

/// What calls of an op must be like to lower, for those who speak of ops: no component has a word of it.
#[derive(Clone, Copy)]
pub(super) struct Only(#[cfg(not(target_arch = "wasm32"))] Option<&'static str>);

impl Only {
    /// They may be like anything.
    pub(super) const NOTHING: Only = Only(
        #[cfg(not(target_arch = "wasm32"))]
        None,
    );

    /// They must be like this.
    pub(super) const fn calls(_condition: &'static str) -> Only {
        Only(
            #[cfg(not(target_arch = "wasm32"))]
            Some(_condition),
        )
    }

    fn condition(self) -> Option<&'static str> {
        #[cfg(not(target_arch = "wasm32"))]
        return self.0;
        #[cfg(target_arch = "wasm32")]
        None
    }
}

/// How an op lowers.
#[derive(Clone, Copy)]
pub(super) enum Lowering {
    Rule(&'static Rule),
    Move(&'static moves::Op),
    Resampling(&'static resample::Op),
    Product(&'static contraction::Op),
}

impl Group {
    /// Arithmetic, activations, comparisons, logic, casts, batch norm with given statistics: what calculates each element
    /// from those at the same place.
    pub const POINTWISE: Group = Group(rules::POINTWISE);
    /// Tensors without inputs, and what follows from the row and the column of an element: `full`, `arange`, `tril`.
    pub const CREATION: Group = Group(rules::CREATION);
    /// What is calculated from elements at several places: `glu`, `diff`, `outer`, `kron`, `cross`.
    pub const SPREAD: Group = Group(rules::SPREAD);
    /// Losses, reduced or not.
    pub const LOSSES: Group = Group(rules::LOSSES);
    /// Sums, means, extrema, variances, lengths of vectors, running sums.
    pub const REDUCTIONS: Group = Group(rules::REDUCTIONS);
    /// Softmax, and norms that take their own statistics.
    pub const NORMS: Group = Group(rules::NORMS);
    /// Averages and maxima over windows.
    pub const POOLS: Group = Group(rules::POOLS);
    /// Copies of elements to other places: concatenations, paddings, reshapes, rolls, scatters.
    pub const MOVES: Group = Group(moves::MOVES);
    /// Elements that tensors of indices name: `embedding`, `gather`, `index`.
    pub const GATHERS: Group = Group(moves::GATHERS);
    /// Enlarging and shrinking by interpolation.
    pub const RESAMPLING: Group = Group(resample::RESAMPLING);
    /// Matrix products and convolutions. [`partition`](super::partition) and [`fuse`](super::fuse) take those of them that
    /// a kernel does about as fast as a library.
    pub const PRODUCTS: Group = Group(contraction::PRODUCTS);

    /// Each by its name.
    const NAMED: [(&'static str, Group); 11] = [
        ("MOVES", Group::MOVES),
        ("GATHERS", Group::GATHERS),
        ("RESAMPLING", Group::RESAMPLING),
        ("PRODUCTS", Group::PRODUCTS),
        ("POINTWISE", Group::POINTWISE),
        ("CREATION", Group::CREATION),
        ("SPREAD", Group::SPREAD),
        ("LOSSES", Group::LOSSES),
        ("REDUCTIONS", Group::REDUCTIONS),
        ("NORMS", Group::NORMS),
        ("POOLS", Group::POOLS),
    ];

    /// The name of the group that an op lowers by, for those who speak of ops: a component that asks holds all rules.
    ///
    /// ```
    /// use passhost_guest_sdk::{ir::OpName, lower::Group};
    ///
    /// assert_eq!(Group::name_of(&OpName::parse("aten::softmax.int")), Some("NORMS"));
    /// assert_eq!(Group::name_of(&OpName::parse("aten::sort")), None);
    /// ```
    pub fn name_of(op: &OpName) -> Option<&'static str> {
        Group::NAMED.iter().find(|(_, group)| covers(&[*group], op)).map(|(name, _)| *name)
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
}

/// The tables of some groups.
pub(super) fn families(groups: &[Group]) -> impl Iterator<Item = Family> {
    groups.iter().flat_map(|group| group.0).copied()
}

/// How a call lowers by the first table that has the op.
pub(super) fn find(groups: &[Group], op: &OpName, args: &[Arg]) -> Option<Lowering> {
    let name = rules::meant(&op.name);
    families(groups).find_map(|family| match family {
        Family::Rules(rules) => {
            let applies = |rule: &&Rule| rule.covers(name, &op.overload) && (rule.applies)(Args::new(args));
            rules.iter().find(applies).map(Lowering::Rule)
        }
        Family::Moves(ops) => ops.iter().find(|known| known.covers(op)).map(Lowering::Move),
        Family::Resampling(ops) => ops.iter().find(|known| known.name == op.name).map(Lowering::Resampling),
        Family::Products(ops) => ops.iter().find(|known| known.covers(op)).map(Lowering::Product),
    })
}

/// Whether a table has an op; of those that move elements, under any overload.
pub(super) fn covers(groups: &[Group], op: &OpName) -> bool {
    !conditions(groups, op).is_empty()
}

/// For each lowering that a table has for an op, under any overload of those that move elements, what calls must be like.
pub(super) fn conditions(groups: &[Group], op: &OpName) -> Vec<Option<&'static str>> {
    let name = rules::meant(&op.name);
    let mut found = vec![];
    let mut add = |is_meant: bool, only: Only| found.extend(is_meant.then(|| only.condition()));
    for family in families(groups) {
        match family {
            Family::Rules(rules) => rules.iter().for_each(|rule| add(rule.covers(name, &op.overload), rule.only)),
            Family::Moves(ops) => ops.iter().for_each(|known| add(known.name == op.name, known.only)),
            Family::Resampling(ops) => ops.iter().for_each(|known| add(known.name == op.name, Only::NOTHING)),
            Family::Products(ops) => ops.iter().for_each(|known| add(known.covers(op), known.only)),
        }
    }
    found
}
