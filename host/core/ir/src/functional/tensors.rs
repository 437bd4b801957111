//! Which values of a program are one tensor, and which are views of another one.

use super::FunctionalError;
use super::view::{ViewStep, extent_of_part};
use crate::alias::{Aliasing, aliasing};
use crate::{Graph, Node, NodeKind, OpTable, ValueId};

/// A tensor of the program: all values that name it, memory and type alike. It is known by the position of the first.
#[derive(Debug, Clone)]
pub(super) struct ProgramTensor {
    /// The tensor that this is a view of.
    pub(super) view: Option<TensorView>,
    /// The tensor whose memory it is: itself, if it is no view.
    pub(super) root: usize,
    /// How many views lie between the two.
    pub(super) depth: usize,
    /// How many bytes its first element lies behind that of the root, if that is known.
    pub(super) offset: Option<i64>,
    /// The position of the node that makes it; `None` for inputs.
    pub(super) made_by: Option<usize>,
}

/// What a tensor that is a view shows.
#[derive(Debug, Clone)]
pub(super) struct TensorView {
    /// The tensor that it is a view of.
    pub(super) of: usize,
    /// What it shows of that.
    pub(super) step: ViewStep,
}

/// The tensors of a program.
pub(super) struct Tensors {
    of_value: Vec<usize>,
    all: Vec<ProgramTensor>,
    /// For each root the number of its group: those whose memory may be the same, for all that is known.
    group: Vec<usize>,
    groups: Vec<Vec<usize>>,
}

impl Tensors {
    /// The tensors of a verified program.
    pub(super) fn of(program: &Graph, ops: &OpTable) -> Result<Tensors, FunctionalError> {
        let fresh = |root| ProgramTensor { view: None, root, depth: 0, offset: Some(0), made_by: None };
        let count = program.values.len();
        let mut tensors = Tensors {
            of_value: (0..count).collect(),
            all: (0..count).map(fresh).collect(),
            group: (0..count).collect(),
            groups: (0..count).map(|root| vec![root]).collect(),
        };
        for (position, node) in program.nodes.iter().enumerate() {
            if let NodeKind::Aten { op, .. } = &node.kind
                && ops.get(op).is_none()
            {
                return Err(FunctionalError(format!("node {} calls `{op}`, which is on no list of ops", node.id)));
            }
            tensors.add(program, position, node, ops);
        }
        Ok(tensors)
    }

    fn add(&mut self, program: &Graph, position: usize, node: &Node, ops: &OpTable) {
        let aliasing = aliasing(program, node, ops);
        let mut before = 0i64;
        for (index, output) in node.outputs.iter().enumerate() {
            self.all[output.index()].made_by = Some(position);
            match &aliasing {
                Aliasing::None => {}
                Aliasing::Identity(source) if keeps_strides(program, node, *source, *output, ops) => {
                    self.of_value[output.index()] = self.tensor(*source);
                }
                Aliasing::Identity(source) => self.add_view(program, node, index, *source, before),
                Aliasing::View(sources) => match (&sources[..], sources.get(index)) {
                    ([source], _) => self.add_view(program, node, index, *source, before),
                    // One view of each: `aten::meshgrid`.
                    (_, Some(source)) if sources.len() == node.outputs.len() => {
                        self.add_view(program, node, index, *source, before);
                    }
                    _ => self.relate(*output, sources),
                },
                Aliasing::Possible(sources) => self.relate(*output, sources),
            }
            before = before.saturating_add(extent_of_part(program, node, index).unwrap_or(0));
        }
    }

    fn add_view(&mut self, program: &Graph, node: &Node, index: usize, source: ValueId, before: i64) {
        let of = self.tensor(source);
        let output = node.outputs[index];
        let from = program.ty(source);
        let step = ViewStep::of(program, node, index, from, before);
        let base = &self.all[of];
        let offset = base.offset.zip(step.offset(from)).and_then(|(a, b)| a.checked_add(b));
        let (root, depth, made_by) = (base.root, base.depth.saturating_add(1), self.all[output.index()].made_by);
        self.all[output.index()] = ProgramTensor { view: Some(TensorView { of, step }), root, depth, offset, made_by };
    }

    /// Takes note that an output may share memory with these operands.
    fn relate(&mut self, output: ValueId, sources: &[ValueId]) {
        for source in sources {
            let (a, b) = (self.group[output.index()], self.group[self.root(*source)]);
            if a != b {
                let (from, to) = if self.groups[a].len() < self.groups[b].len() { (a, b) } else { (b, a) };
                let moved = std::mem::take(&mut self.groups[from]);
                moved.iter().for_each(|&root| self.group[root] = to);
                self.groups[to].extend(moved);
            }
        }
    }

    /// The tensor that a value names.
    pub(super) fn tensor(&self, value: ValueId) -> usize {
        self.of_value[value.index()]
    }

    /// What is known of a tensor.
    pub(super) fn get(&self, tensor: usize) -> &ProgramTensor {
        &self.all[tensor]
    }

    /// The tensor whose memory a value names.
    pub(super) fn root(&self, value: ValueId) -> usize {
        self.all[self.tensor(value)].root
    }

    /// The roots that may share memory with this one, itself included.
    pub(super) fn relatives(&self, root: usize) -> &[usize] {
        &self.groups[self.group[root]]
    }

    /// How many tensors there may be: one more than the greatest.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }
}

/// Whether an output that is its operand under another name has the very type of that. A reshape of a tensor to the shape
/// it has may change strides of dimensions of extent 1.
fn keeps_strides(program: &Graph, node: &Node, source: ValueId, output: ValueId, ops: &OpTable) -> bool {
    let in_place = matches!(&node.kind, NodeKind::Aten { op, .. } if ops.get(op).is_some_and(|s| s.is_in_place()));
    in_place || program.ty(source) == program.ty(output)
}
