//! Ops that lower, in groups. A pass names the groups that it wants, and links the rules of no others.

use super::contraction::{convolution, products};
use super::moves::{gathers, joins, maps, pads};
use super::rule::{Rule, meant};
use super::rules::{
    activation, arithmetic, bits, classification, conversion, creation, inverse, length, logarithmic, logic, loss,
    normalization, pooling, reduction, resampling, rounding, scan, spread, transcendental, triangle,
};
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
    pub(super) tables: &'static [&'static [Rule]],
}

impl Group {
    /// Arithmetic, activations, comparisons, logic, casts, batch norm with given statistics: what calculates each element
    /// from those at the same place.
    pub const POINTWISE: Group = Group {
        name: "POINTWISE",
        tables: &[
            arithmetic::RULES,
            rounding::RULES,
            transcendental::RULES,
            activation::RULES,
            logic::RULES,
            bits::RULES,
            classification::RULES,
            logarithmic::RULES,
            inverse::RULES,
            conversion::RULES,
            normalization::BY_STATISTICS,
        ],
    };
    /// Tensors without inputs, and what follows from the row and the column of an element: `full`, `arange`, `tril`.
    pub const CREATION: Group = Group { name: "CREATION", tables: &[creation::RULES, triangle::RULES] };
    /// What is calculated from elements at several places: `glu`, `diff`, `outer`.
    pub const SPREAD: Group = Group { name: "SPREAD", tables: &[spread::RULES] };
    /// Losses, reduced or not.
    pub const LOSSES: Group = Group { name: "LOSSES", tables: &[loss::RULES] };
    /// Sums, means, extrema, variances, lengths of vectors, running sums.
    pub const REDUCTIONS: Group = Group { name: "REDUCTIONS", tables: &[reduction::RULES, length::RULES, scan::RULES] };
    /// Softmax, and norms that take their own statistics.
    pub const NORMS: Group = Group { name: "NORMS", tables: &[normalization::RULES] };
    /// Averages and maxima over windows.
    pub const POOLS: Group = Group { name: "POOLS", tables: &[pooling::RULES] };
    /// Copies of elements to other places: concatenations, paddings, reshapes, rolls, scatters.
    pub const MOVES: Group = Group { name: "MOVES", tables: &[maps::RULES, joins::RULES, pads::RULES] };
    /// Elements that tensors of indices name: `embedding`, `gather`, `index`.
    pub const GATHERS: Group = Group { name: "GATHERS", tables: &[gathers::RULES] };
    /// Enlarging and shrinking by interpolation.
    pub const RESAMPLING: Group = Group { name: "RESAMPLING", tables: &[resampling::RULES] };
    /// Matrix products and convolutions. [`partition`](super::partition) and [`fuse`](super::fuse) take those of them that
    /// a kernel does about as fast as a library.
    pub const PRODUCTS: Group = Group { name: "PRODUCTS", tables: &[products::RULES, convolution::RULES] };

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

    /// The name of the group that an op lowers by, for those who speak of ops: a component that asks holds all rules.
    ///
    /// ```
    /// use passhost_guest_sdk::{ir::OpName, lower::Group};
    ///
    /// assert_eq!(Group::name_of(&OpName::parse("aten::softmax.int")), Some("NORMS"));
    /// assert_eq!(Group::name_of(&OpName::parse("aten::sort")), None);
    /// ```
    pub fn name_of(op: &OpName) -> Option<&'static str> {
        let has_rule = |group: &&Group| group.rules(meant(&op.name), &op.overload).next().is_some();
        Group::ALL.iter().find(has_rule).map(|group| group.name)
    }

    /// The rules that it has for an overload of the op that they [mean](meant) by this name.
    pub(super) fn rules<'n>(&self, name: &'n str, overload: &'n str) -> impl Iterator<Item = &'static Rule> + 'n {
        self.tables.iter().copied().flatten().filter(move |rule| rule.covers(name, overload))
    }

    /// The ops that lower by it, as `aten::add.Tensor`, sorted.
    pub fn ops(self) -> Vec<String> {
        let mut names = vec![];
        for rule in self.tables.iter().copied().flatten() {
            let rows = OpRow::all().iter().map(|row| completed(row.name));
            for name in rows.filter(|name| meant(name) == rule.name) {
                names.extend(rule.overloads.iter().map(|overload| OpName::new(&*name, *overload).to_string()));
            }
        }
        names.sort();
        names.dedup();
        names
    }
}
