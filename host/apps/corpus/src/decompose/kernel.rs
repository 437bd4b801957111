//! Whether calls fit one kernel, behind at most one call of a library: the static rule.
//!
//! A kernel has one set of rows. Everything it calculates it calculates at each point of the rows, or once a row, so
//! that a reduction can be followed by whatever stays in its row, and by nothing that crosses rows.

use super::class::{class_of, is_work};
use super::memory::Memory;
use super::rows::Rows;
use passhost_ir::ops::Class;
use passhost_ir::{Graph, ValueId};
use std::collections::{HashMap, HashSet};

/// What a node of a graph is to a kernel.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeClass {
    class: Class,
    /// Whether a kernel, or a library, has something to do for it.
    pub(super) is_work: bool,
}

impl NodeClass {
    /// Of every node.
    pub(super) fn of_all(graph: &Graph) -> Vec<NodeClass> {
        let of = |node| {
            let class = class_of(graph, node);
            NodeClass { class, is_work: is_work(class, graph, node) }
        };
        graph.nodes.iter().map(of).collect()
    }
}

/// Calls that fit one kernel so far.
#[derive(Debug)]
pub(super) struct Kernel<'a> {
    graph: &'a Graph,
    memory: &'a Memory,
    classes: &'a [NodeClass],
    /// What the reductions so far go over.
    rows: Option<Rows>,
    /// Whether there is a call of a library, which stands in front of the kernel.
    has_library: bool,
    /// Whether the kernel has anything to calculate.
    has_work: bool,
    /// By memory, whether the kernel calculates what is in it.
    calculated: HashSet<ValueId>,
    /// By memory, whether it holds nothing but numbers that were known before.
    constructed: HashSet<ValueId>,
    /// Tensors that depend on a reduction.
    settled: HashMap<ValueId, Settled>,
}

/// How a tensor that depends on a reduction relates to its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Settled {
    /// It has an element for each row, or for each point, and each is read where it is calculated.
    InPlace,
    /// It has others: a part of one, say. A kernel can leave that to whoever reads its result, and not go on with it.
    Elsewhere,
}

impl<'a> Kernel<'a> {
    pub(super) fn new(graph: &'a Graph, memory: &'a Memory, classes: &'a [NodeClass]) -> Kernel<'a> {
        Kernel {
            graph,
            memory,
            classes,
            rows: None,
            has_library: false,
            has_work: false,
            calculated: HashSet::new(),
            constructed: HashSet::new(),
            settled: HashMap::new(),
        }
    }

    /// Takes one more node of the graph, by its position. False if it needs another kernel.
    pub(super) fn take(&mut self, position: usize) -> bool {
        let (node, NodeClass { class, is_work }) = (&self.graph.nodes[position], self.classes[position]);
        let operands = node.operands();
        let depends = operands.iter().any(|operand| self.settled.contains_key(operand));
        let elsewhere = operands.iter().any(|operand| self.settled.get(operand) == Some(&Settled::Elsewhere));
        match class {
            Class::Opaque => return false,
            Class::Library => {
                if self.has_library || self.has_work {
                    return false;
                }
                self.has_library = true;
                return true;
            }
            Class::Constructor => {
                self.constructed.extend(node.outputs.iter().map(|&output| self.memory.base(output)));
                return true;
            }
            Class::View if !is_work => {
                if depends {
                    node.outputs.iter().for_each(|&output| self.settle(operands[0], output, elsewhere));
                }
                return true;
            }
            // Elements of other places are not there yet when a row is done.
            Class::Gather | Class::Movement if depends => return false,
            Class::Reduction | Class::Normalisation | Class::Scan => {
                let Some(rows) = Rows::of(self.graph, node, class) else { return false };
                if elsewhere || self.rows.as_ref().is_some_and(|known| !known.fits(&rows)) {
                    return false;
                }
                self.rows.get_or_insert(rows);
            }
            Class::Gather | Class::Movement | Class::Pointwise | Class::View => {}
        }
        if elsewhere {
            return false;
        }
        self.has_work = true;
        let reduces = matches!(class, Class::Reduction | Class::Normalisation | Class::Scan);
        for &output in &node.outputs {
            self.calculated.insert(self.memory.base(output));
            if reduces || depends {
                if !self.is_in_space(output) {
                    return false;
                }
                self.settled.insert(output, Settled::InPlace);
            }
        }
        true
    }

    /// A view of a tensor that depends on a reduction. One that leaves elements out is a part of it, whatever its size.
    fn settle(&mut self, source: ValueId, output: ValueId, elsewhere: bool) {
        let is_part = self.graph.ty(output).numel() < self.graph.ty(source).numel();
        let is_there = !elsewhere && !is_part && self.is_in_space(output);
        self.settled.insert(output, if is_there { Settled::InPlace } else { Settled::Elsewhere });
    }

    /// Whether a tensor has an element for each row, or for each point.
    fn is_in_space(&self, tensor: ValueId) -> bool {
        let elements = self.graph.ty(tensor).numel();
        self.rows.as_ref().is_none_or(|rows| elements == rows.count || elements == rows.points())
    }

    /// Whether the kernel can write what is read of its results: one element a row, or one a point. Without a reduction,
    /// all of them have the same points. What a constructor made is no result: nothing would be calculated for it.
    pub(super) fn can_write(&self, results: impl Iterator<Item = ValueId>) -> bool {
        let mut elements = None;
        for base in results.map(|result| self.memory.base(result)) {
            if !self.calculated.contains(&base) {
                if self.constructed.contains(&base) {
                    return false;
                }
                continue;
            }
            let count = self.graph.ty(base).numel();
            let fits = match &self.rows {
                Some(_) => self.is_in_space(base),
                None => *elements.get_or_insert(count) == count,
            };
            if !fits {
                return false;
            }
        }
        true
    }
}
