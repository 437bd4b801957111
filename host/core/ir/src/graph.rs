//! The graph: SSA over tensors at the level PyTorch's dispatcher sees.

use crate::{Dtype, Kernel, TensorType};
use std::fmt;

/// A value of a [`Graph`]: an index into [`Graph::values`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ValueId(pub u32);

/// The identity of a node. It survives a rewrite, so that the host can say which original nodes a pass replaced.
/// Nodes that a pass inserts take ids that the original graph does not use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeId(pub u32);

impl ValueId {
    /// The position in [`Graph::values`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// A tensor that an input or a node defines.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Value {
    /// What the text form calls it, without the `%`: letters, digits and `_`. Unique in its graph.
    pub name: String,
    /// Element type, shape and strides.
    pub ty: TensorType,
}

/// The memory formats of PyTorch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum MemoryFormat {
    /// Row-major.
    Contiguous,
    /// As the operand has it.
    Preserve,
    /// N, H, W, C in memory.
    ChannelsLast,
    /// N, D, H, W, C in memory.
    ChannelsLast3d,
}

impl MemoryFormat {
    /// All of them, in the order of their numbers in `c10::MemoryFormat`.
    pub const ALL: [MemoryFormat; 4] =
        [MemoryFormat::Contiguous, MemoryFormat::Preserve, MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d];

    /// PyTorch's name.
    pub const fn name(self) -> &'static str {
        match self {
            MemoryFormat::Contiguous => "contiguous_format",
            MemoryFormat::Preserve => "preserve_format",
            MemoryFormat::ChannelsLast => "channels_last",
            MemoryFormat::ChannelsLast3d => "channels_last_3d",
        }
    }

    /// The format with this name.
    pub fn from_name(name: &str) -> Option<MemoryFormat> {
        MemoryFormat::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// An argument of an ATen op. `V` says what stands for a tensor: a [`ValueId`] in a graph, a [`TensorType`] where only
/// types are asked for.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Arg<V = ValueId> {
    /// An optional argument that is absent.
    None,
    /// A bool.
    Bool(bool),
    /// An integer; also a `Scalar` or `SymInt` that is one.
    Int(i64),
    /// A float; also a `Scalar` that is one.
    Float(f64),
    /// A string, such as `approximate='tanh'`.
    Str(String),
    /// A `ScalarType`.
    Dtype(Dtype),
    /// A `MemoryFormat`.
    MemoryFormat(MemoryFormat),
    /// A `Layout`; the only one is strided.
    Strided,
    /// A `Device`; the only one is the device of the evaluation.
    Device,
    /// A tensor.
    Value(V),
    /// A list of tensors.
    Values(Vec<V>),
    /// A list of optional tensors, as advanced indexing takes it.
    OptionalValues(Vec<Option<V>>),
    /// A list of integers.
    Ints(Vec<i64>),
    /// A list of floats.
    Floats(Vec<f64>),
    /// A list of bools.
    Bools(Vec<bool>),
}

impl<V> Arg<V> {
    /// The tensors this argument names, in order.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        let (given, optional): (&[V], &[Option<V>]) = match self {
            Arg::Value(value) => (std::slice::from_ref(value), &[]),
            Arg::Values(values) => (values, &[]),
            Arg::OptionalValues(values) => (&[], values),
            _ => (&[], &[]),
        };
        given.iter().chain(optional.iter().filter_map(Option::as_ref))
    }

    /// Tensors, numbers and characters by eight in it.
    pub fn size(&self) -> u64 {
        let length = match self {
            Arg::Values(values) => values.len(),
            Arg::OptionalValues(values) => values.len(),
            Arg::Ints(numbers) => numbers.len(),
            Arg::Floats(numbers) => numbers.len(),
            Arg::Bools(flags) => flags.len(),
            Arg::Str(text) => text.len() / 8,
            _ => 0,
        };
        1 + length as u64
    }

    /// The same argument with every tensor replaced by what `f` makes of it.
    pub fn map<W>(&self, mut f: impl FnMut(&V) -> W) -> Arg<W> {
        match self {
            Arg::None => Arg::None,
            Arg::Bool(x) => Arg::Bool(*x),
            Arg::Int(x) => Arg::Int(*x),
            Arg::Float(x) => Arg::Float(*x),
            Arg::Str(x) => Arg::Str(x.clone()),
            Arg::Dtype(x) => Arg::Dtype(*x),
            Arg::MemoryFormat(x) => Arg::MemoryFormat(*x),
            Arg::Strided => Arg::Strided,
            Arg::Device => Arg::Device,
            Arg::Value(v) => Arg::Value(f(v)),
            Arg::Values(vs) => Arg::Values(vs.iter().map(f).collect()),
            Arg::OptionalValues(vs) => Arg::OptionalValues(vs.iter().map(|v| v.as_ref().map(&mut f)).collect()),
            Arg::Ints(x) => Arg::Ints(x.clone()),
            Arg::Floats(x) => Arg::Floats(x.clone()),
            Arg::Bools(x) => Arg::Bools(x.clone()),
        }
    }
}

/// What an argument is, if it is of one kind.
macro_rules! argument_as {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $pattern:pat => $value:expr),* $(,)?) => {
        impl<V> Arg<V> {
            $($(#[$doc])*
            pub fn $name(&self) -> Option<$type> {
                if let $pattern = self { Some($value) } else { None }
            })*
        }
    };
}

argument_as! {
    /// The bool.
    as_bool: bool = Arg::Bool(x) => *x,
    /// The integer.
    as_int: i64 = Arg::Int(x) => *x,
    /// The string.
    as_str: &str = Arg::Str(x) => x,
    /// The element type.
    as_dtype: Dtype = Arg::Dtype(x) => *x,
    /// The tensor.
    as_value: &V = Arg::Value(x) => x,
    /// The list of tensors, none of which may be absent.
    as_values: &[V] = Arg::Values(x) => x,
    /// The list of integers.
    as_ints: &[i64] = Arg::Ints(x) => x,
}

/// Makes an argument of what an author has at hand.
macro_rules! argument_from {
    ($($from:ty => |$x:ident| $arg:expr),* $(,)?) => {
        $(impl From<$from> for Arg {
            fn from($x: $from) -> Arg {
                $arg
            }
        })*
    };
}

argument_from! {
    ValueId => |x| Arg::Value(x),
    bool => |x| Arg::Bool(x),
    i32 => |x| Arg::Int(x.into()),
    i64 => |x| Arg::Int(x),
    f64 => |x| Arg::Float(x),
    &str => |x| Arg::Str(x.to_owned()),
    Dtype => |x| Arg::Dtype(x),
    MemoryFormat => |x| Arg::MemoryFormat(x),
    &[i64] => |x| Arg::Ints(x.to_vec()),
    Vec<i64> => |x| Arg::Ints(x),
    Vec<ValueId> => |x| Arg::Values(x),
    &Arg => |x| x.clone(),
}

impl<const N: usize> From<[i64; N]> for Arg {
    fn from(x: [i64; N]) -> Arg {
        Arg::Ints(x.to_vec())
    }
}

impl<const N: usize> From<[ValueId; N]> for Arg {
    fn from(x: [ValueId; N]) -> Arg {
        Arg::Values(x.to_vec())
    }
}

/// The full name of an ATen op: `aten::add` and `Tensor`; the overload of `aten::relu` is empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OpName {
    /// Namespace and name: `aten::add`.
    pub name: String,
    /// `Tensor`, or empty.
    pub overload: String,
}

impl OpName {
    /// From namespace and name, and an overload that may be empty.
    pub fn new(name: impl Into<String>, overload: impl Into<String>) -> OpName {
        OpName { name: name.into(), overload: overload.into() }
    }

    /// From the dotted form `aten::add.Tensor`.
    pub fn parse(text: &str) -> OpName {
        match text.split_once('.') {
            Some((name, overload)) => OpName::new(name, overload),
            None => OpName::new(text, ""),
        }
    }
}

impl From<&str> for OpName {
    fn from(text: &str) -> OpName {
        OpName::parse(text)
    }
}

impl From<String> for OpName {
    fn from(text: String) -> OpName {
        OpName::parse(&text)
    }
}

impl From<&OpName> for OpName {
    fn from(name: &OpName) -> OpName {
        name.clone()
    }
}

impl fmt::Display for OpName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.overload.is_empty() { Ok(()) } else { write!(f, ".{}", self.overload) }
    }
}

/// What a node does. The host knows only these two kinds.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum NodeKind {
    /// A call of an ATen op. Arguments stand in schema order with defaults filled in, one per schema argument.
    Aten {
        /// Which op.
        op: OpName,
        /// One argument per schema argument.
        args: Vec<Arg>,
    },
    /// A fused kernel.
    Kernel {
        /// What each output element is.
        kernel: Box<Kernel>,
        /// One tensor per [`Kernel::inputs`].
        inputs: Vec<ValueId>,
    },
}

/// One step of a graph.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Node {
    /// Identity across rewrites.
    pub id: NodeId,
    /// What it does.
    pub kind: NodeKind,
    /// The values it defines. A list that an op returns (`aten::split`) is flattened.
    pub outputs: Vec<ValueId>,
}

impl Node {
    /// The values this node reads, in argument order, repetitions included.
    pub fn operands(&self) -> Vec<ValueId> {
        match &self.kind {
            NodeKind::Aten { args, .. } => {
                let mut operands = vec![];
                args.iter().for_each(|arg| arg.values().for_each(|value| operands.push(*value)));
                operands
            }
            NodeKind::Kernel { inputs, .. } => inputs.clone(),
        }
    }
}

#[cold]
#[track_caller]
#[allow(
    clippy::panic,
    reason = "graphs from outside are verified first, so the id is a mistake in the code of the caller"
)]
fn no_such_value(id: ValueId, count: usize) -> ! {
    panic!("there is no value {} in this graph, which has {count}; take ids from the graph itself", id.0)
}

/// A straight-line program over tensors.
///
/// The same type holds a *reference program*, written as the sample has it with in-place ops included, and the
/// *functional graph* that a pass sees, where every op only returns new values and nothing aliases.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Graph {
    /// All values; a [`ValueId`] is a position in this list.
    pub values: Vec<Value>,
    /// The parameters, in order.
    pub inputs: Vec<ValueId>,
    /// The steps, each after those whose values it reads.
    pub nodes: Vec<Node>,
    /// The results, in order. A value may occur twice and may be an input.
    pub outputs: Vec<ValueId>,
}

/// Ids that no node of a graph has, each given once.
#[derive(Debug, Clone)]
pub struct FreshNodeIds {
    taken: Vec<NodeId>,
    /// Those above it are free.
    largest: NodeId,
    next: NodeId,
}

impl FreshNodeIds {
    /// The one that is given next.
    pub fn next(&self) -> NodeId {
        self.next
    }

    /// Gives the next one.
    pub fn take(&mut self) -> NodeId {
        let id = self.next;
        self.next.0 = id.0.wrapping_add(1);
        self.skip_taken();
        id
    }

    fn skip_taken(&mut self) {
        while self.next <= self.largest && self.taken.contains(&self.next) {
            self.next.0 = self.next.0.wrapping_add(1);
        }
    }
}

impl Graph {
    /// Ids, numbers and characters by eight in it: what it costs to look at all of it.
    pub fn size(&self) -> u64 {
        let value = |value: &Value| (1 + value.name.len() / 8 + 2 * value.ty.rank()) as u64;
        let node = |node: &Node| {
            let what = match &node.kind {
                NodeKind::Aten { op, args } => {
                    let name = op.name.len() + op.overload.len();
                    (name / 8) as u64 + args.iter().map(Arg::size).sum::<u64>()
                }
                NodeKind::Kernel { kernel, inputs } => inputs.len() as u64 + kernel.size(),
            };
            1 + node.outputs.len() as u64 + what
        };
        let ends = self.inputs.len() + self.outputs.len();
        ends as u64 + self.values.iter().map(value).sum::<u64>() + self.nodes.iter().map(node).sum::<u64>()
    }

    /// The value behind an id.
    ///
    /// # Panics
    ///
    /// If the id belongs to another graph: graphs from outside are checked by [`crate::verify`] first.
    #[track_caller]
    pub fn value(&self, id: ValueId) -> &Value {
        match self.values.get(id.index()) {
            Some(value) => value,
            None => no_such_value(id, self.values.len()),
        }
    }

    /// The type of a value; panics as [`Graph::value`] does.
    #[track_caller]
    pub fn ty(&self, id: ValueId) -> &TensorType {
        &self.value(id).ty
    }

    /// Adds a value. `name` should be unique; [`Graph::fresh_name`] finds one.
    pub fn add_value(&mut self, name: impl Into<String>, ty: TensorType) -> ValueId {
        let id = ValueId(u32::try_from(self.values.len()).unwrap_or(u32::MAX));
        self.values.push(Value { name: name.into(), ty });
        id
    }

    /// A value name that is not taken: the position of the next value, with `_` appended while that is in use.
    pub fn fresh_name(&self) -> String {
        let mut name = self.values.len().to_string();
        while self.values.iter().any(|value| value.name == name) {
            name.push('_');
        }
        name
    }

    /// Ids that no node has: first those above the largest one.
    pub fn fresh_node_ids(&self) -> FreshNodeIds {
        let taken: Vec<NodeId> = self.nodes.iter().map(|node| node.id).collect();
        let largest = taken.iter().max().copied();
        let next = NodeId(largest.map_or(0, |id| id.0.wrapping_add(1)));
        let mut ids = FreshNodeIds { taken, largest: largest.unwrap_or(next), next };
        ids.skip_taken();
        ids
    }

    /// For each value the position of the node that defines it; `None` for inputs and unused slots.
    pub fn definitions(&self) -> Vec<Option<usize>> {
        let mut definitions = vec![None; self.values.len()];
        for (position, node) in self.nodes.iter().enumerate() {
            for output in &node.outputs {
                if let Some(slot) = definitions.get_mut(output.index()) {
                    *slot = Some(position);
                }
            }
        }
        definitions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_fresh_wherever_those_of_the_graph_are() {
        let fresh = |ids: &[u32]| {
            let kind = || NodeKind::Aten { op: OpName::new("aten::relu", ""), args: vec![] };
            let nodes = ids.iter().map(|&id| Node { id: NodeId(id), kind: kind(), outputs: vec![] }).collect();
            let mut fresh = Graph { nodes, ..Graph::default() }.fresh_node_ids();
            [fresh.take(), fresh.take(), fresh.next()].map(|id| id.0)
        };
        assert_eq!(fresh(&[]), [0, 1, 2]);
        assert_eq!(fresh(&[4, 2]), [5, 6, 7]);
        assert_eq!(fresh(&[u32::MAX]), [0, 1, 2]);
        assert_eq!(fresh(&[1, u32::MAX, 0, 3]), [2, 4, 5]);
        assert_eq!(fresh(&[u32::MAX - 1, 0]), [u32::MAX, 1, 2]);
    }
}
