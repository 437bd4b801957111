//! What a kernel means at a point: its index expressions in numbers without end, where its accesses lie, and the values
//! that the interpreter finds.

use passhost_ir::Kernel;
use passhost_ir::kernel::{Facts, IndexExpr, Mode, Op, PaddingMode, Reg, Tensor, interpret_watched};
use passhost_kernels::KernelLayout;
use passhost_kernels::cuda::{Claim, ClaimAccess, Claims};
use std::collections::{HashMap, HashSet};

/// A kernel in a layout.
pub struct Meaning<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) layout: &'a KernelLayout,
    extents: Vec<i64>,
    /// For each point in row-major order the bits of a value, `None` where it is not known.
    values: HashMap<Reg, Vec<Option<u64>>>,
}

/// Where an access lies at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// At so many elements from the first.
    At(i128),
    /// Outside, where there is a constant instead.
    Outside,
    /// It depends on what is not known.
    Unknown,
}

impl<'a> Meaning<'a> {
    /// Of a verified kernel, to hold these claims against. Without tensors nothing is known of values.
    pub fn new(
        kernel: &'a Kernel,
        facts: &Facts,
        layout: &'a KernelLayout,
        claims: &[Claims],
        tensors: Option<&[Tensor]>,
    ) -> Meaning<'a> {
        let gathered = kernel.index.iter().filter_map(|expr| match expr {
            IndexExpr::Value(reg) => Some(*reg),
            _ => None,
        });
        let shared = claims.iter().flat_map(|claims| &claims.list).filter_map(|claim| match claim {
            Claim::OneValue(reg) => Some(*reg),
            _ => None,
        });
        let wanted: HashSet<Reg> = gathered.chain(shared).collect();
        let extents = kernel.parallel.iter().chain(&kernel.reduce).copied().collect();
        let values = tensors.map(|tensors| trace(kernel, facts, tensors, &wanted)).unwrap_or_default();
        Meaning { kernel, layout, extents, values }
    }

    /// How many axes there are.
    pub(super) fn axes(&self) -> usize {
        self.extents.len()
    }

    /// The extent of an axis.
    pub(super) fn extent(&self, axis: usize) -> i64 {
        self.extents[axis]
    }

    /// The bits of a value at a point, where they are known.
    pub(super) fn value(&self, reg: Reg, point: &[i64]) -> Option<u64> {
        let position = point.iter().zip(&self.extents).fold(0, |position, (at, extent)| position * extent + at);
        self.values.get(&reg).and_then(|values| values[position as usize])
    }

    /// All index expressions at a point, those that are known.
    pub(super) fn indices(&self, point: &[i64]) -> Vec<Option<i128>> {
        let mut known: Vec<Option<i128>> = Vec::with_capacity(self.kernel.index.len());
        for expr in &self.kernel.index {
            let of = |id: passhost_ir::kernel::IndexId| known[id.0 as usize];
            let value = match *expr {
                IndexExpr::Axis(axis) => Some(i128::from(point[axis as usize])),
                IndexExpr::Const(value) => Some(i128::from(value)),
                IndexExpr::Add(a, b) => of(a).zip(of(b)).map(|(a, b)| a + b),
                IndexExpr::Sub(a, b) => of(a).zip(of(b)).map(|(a, b)| a - b),
                IndexExpr::Mul(a, factor) => of(a).map(|a| a * i128::from(factor)),
                IndexExpr::FloorDiv(a, divisor) => of(a).map(|a| a.div_euclid(i128::from(divisor))),
                IndexExpr::Mod(a, divisor) => of(a).map(|a| a.rem_euclid(i128::from(divisor))),
                IndexExpr::Value(reg) => self.value(reg, point).map(|bits| i128::from(bits as i64)),
            };
            known.push(value);
        }
        known
    }

    /// Where an access lies, and the products of indices and strides that this is the sum of.
    pub(super) fn place(&self, access: ClaimAccess, point: &[i64], indices: &[Option<i128>]) -> (Place, Vec<i128>) {
        match access {
            ClaimAccess::Load(reg) => self.place_of_load(reg, indices),
            ClaimAccess::Store(store) => {
                let order = &self.kernel.stores[store].order;
                let offset = order.iter().fold(0i128, |offset, &axis| {
                    offset * i128::from(self.extent(axis as usize)) + i128::from(point[axis as usize])
                });
                (Place::At(offset), vec![])
            }
        }
    }

    fn place_of_load(&self, reg: Reg, indices: &[Option<i128>]) -> (Place, Vec<i128>) {
        let Op::Load { input, index, padding } = &self.kernel.body[reg.0 as usize].op else {
            return (Place::Unknown, vec![]);
        };
        let shape = &self.kernel.inputs[*input as usize].shape;
        let mut products = vec![];
        for ((id, extent), stride) in index.iter().zip(shape).zip(&self.layout.strides[*input as usize]) {
            let Some(at) = indices[id.0 as usize] else { return (Place::Unknown, vec![]) };
            let last = i128::from(*extent) - 1;
            let at = match padding {
                PaddingMode::Clamp => at.clamp(0, last),
                PaddingMode::Pad(_) if (0..=last).contains(&at) => at,
                PaddingMode::Pad(_) => return (Place::Outside, vec![]),
            };
            products.push(at * i128::from(*stride));
        }
        (Place::At(products.iter().sum()), products)
    }

    /// The index of a dimension of a load, and the extent that it should be below.
    pub(super) fn dimension(&self, load: Reg, dim: usize, indices: &[Option<i128>]) -> Option<(i128, i128)> {
        let Op::Load { input, index, .. } = &self.kernel.body[load.0 as usize].op else { return None };
        let extent = self.kernel.inputs[*input as usize].shape[dim];
        indices[index[dim].0 as usize].map(|at| (at, i128::from(extent)))
    }

    /// How many dimensions a load has.
    pub(super) fn rank(&self, load: Reg) -> usize {
        match &self.kernel.body[load.0 as usize].op {
            Op::Load { index, .. } => index.len(),
            _ => 0,
        }
    }

    /// Bytes of an element, and of the alignment of the tensor.
    pub(super) fn element(&self, access: ClaimAccess) -> (i128, i128) {
        let (dtype, alignment) = match access {
            ClaimAccess::Load(reg) => match &self.kernel.body[reg.0 as usize].op {
                Op::Load { input, .. } => {
                    (self.kernel.inputs[*input as usize].dtype, self.layout.alignments[*input as usize])
                }
                _ => (self.kernel.body[reg.0 as usize].dtype, 1),
            },
            ClaimAccess::Store(store) => {
                (self.kernel.body[self.kernel.stores[store].value.0 as usize].dtype, self.layout.outputs[store])
            }
        };
        (i128::from(dtype.size()), alignment as i128)
    }
}

/// What the interpreter finds for some values at every point.
fn trace(kernel: &Kernel, facts: &Facts, tensors: &[Tensor], wanted: &HashSet<Reg>) -> HashMap<Reg, Vec<Option<u64>>> {
    let mut values: HashMap<Reg, Vec<Option<u64>>> = wanted.iter().map(|reg| (*reg, vec![])).collect();
    if wanted.is_empty() {
        return values;
    }
    interpret_watched(kernel, facts, tensors, Mode::Declared, &mut |row| {
        for (reg, values) in &mut values {
            let is_float = kernel.body[reg.0 as usize].dtype.is_float();
            values.extend((0..row.positions().len()).map(|element| {
                let value = row.value(*reg, element);
                let bits = if is_float { value.value.as_f64().to_bits() } else { value.value.as_i64() as u64 };
                (!value.is_unknown()).then_some(bits)
            }));
        }
    });
    values
}
