//! Kernels that read neighbouring dimensions of an input as one. What a reshape made of an index is `e / k` in one dimension
//! and `e % k` in the next; where the two lie in memory as one of `k` times the extent, that is `e` in it, which is affine
//! where `e` is.

use super::CpuKernel;
use super::bind::Binding;
use crate::access::{BoundInput, BoundOutput, effective_strides};
use passhost_ir::Kernel;
use passhost_ir::kernel::{Facts, IndexExpr, IndexId, Op, PaddingMode, Reg, verify};
use std::sync::Arc;

/// What a constant may add to a merged index, and what an index may be divided by: sums of two do not wrap around into a
/// dimension.
const MOST: i64 = 1 << 40;

/// A kernel for inputs of which some dimensions are merged.
#[derive(Debug)]
pub(super) struct MergedKernel {
    pub(super) kernel: Arc<CpuKernel>,
    /// For each input, how many dimensions are one.
    groups: Vec<Vec<usize>>,
}

/// The shape and strides of a tensor.
type Layout = (Vec<i64>, Vec<i64>);

impl MergedKernel {
    /// None where nothing can be merged.
    pub(super) fn of(
        kernel: &Kernel,
        facts: &Facts,
        compile: impl FnOnce(&Kernel) -> CpuKernel,
    ) -> Option<MergedKernel> {
        let mut merged = kernel.clone();
        let mut groups: Vec<Vec<usize>> = kernel.inputs.iter().map(|input| vec![1; input.shape.len()]).collect();
        for (input, groups) in groups.iter_mut().enumerate() {
            for dim in (1..groups.len()).rev() {
                if merge(&mut merged, facts, input, dim).is_some() {
                    let inner = groups.remove(dim);
                    groups[dim - 1] += inner;
                }
            }
        }
        let is_merged = groups.iter().flatten().any(|&dims| dims > 1);
        let is_verified = is_merged && verify(&merged).is_ok();
        is_verified.then(|| MergedKernel { kernel: Arc::new(compile(&merged)), groups })
    }

    /// Where it finds elements in storage, if that lies so.
    pub(super) fn bind(&self, inputs: &[BoundInput<'_>], outputs: &[BoundOutput]) -> Option<Binding> {
        let layouts: Vec<Layout> =
            inputs.iter().zip(&self.groups).map(|(input, groups)| layout(input, groups)).collect::<Option<_>>()?;
        let merged = inputs.iter().zip(&layouts);
        let merged: Vec<_> =
            merged.map(|(input, (shape, strides))| BoundInput { shape, strides, ..input.clone() }).collect();
        Binding::new(&self.kernel, &merged, outputs).ok()
    }
}

fn layout(input: &BoundInput<'_>, groups: &[usize]) -> Option<Layout> {
    if input.shape.len() != groups.iter().sum::<usize>() || input.strides.len() != input.shape.len() {
        return None;
    }
    let strides = effective_strides(input.shape, input.strides);
    let (mut shape, mut merged, mut first) = (vec![], vec![], 0);
    for &dims in groups {
        let (mut extent, mut stride) = (1i64, 0);
        for at in (first..first + dims).rev().filter(|&at| input.shape[at] != 1) {
            if extent == 1 {
                stride = strides[at];
            } else if Some(strides[at]) != extent.checked_mul(stride) {
                return None;
            }
            extent = extent.checked_mul(input.shape[at])?;
        }
        shape.push(extent);
        merged.push(stride);
        first += dims;
    }
    Some((shape, merged))
}

/// Makes dimension `dim` of an input and the one before it one, in all loads of it.
fn merge(kernel: &mut Kernel, facts: &Facts, input: usize, dim: usize) -> Option<()> {
    let shape = &kernel.inputs[input].shape;
    let extent = shape[dim];
    let whole = shape[dim - 1].checked_mul(extent).filter(|whole| *whole < MOST)?;
    let mut index = kernel.index.clone();
    let mut loads = vec![];
    for (at, inst) in kernel.body.iter().enumerate() {
        match &inst.op {
            Op::Load { input: of, index: dims, padding } if *of as usize == input => {
                // An index that is clamped is so in its dimension.
                let stays = matches!(padding, PaddingMode::Pad(_)) || facts.load_in_bounds(Reg(at as u32));
                let IndexExpr::Mod(dividend, divisor) = index[dims[dim].0 as usize] else { return None };
                if !stays || divisor != extent {
                    return None;
                }
                loads.push((at, merged_index(&mut index, dims[dim - 1], (dividend, divisor))?));
            }
            _ => {}
        }
    }
    loads.first()?;
    kernel.index = index;
    for (at, merged) in loads {
        if let Op::Load { index, .. } = &mut kernel.body[at].op {
            index.remove(dim);
            index[dim - 1] = merged;
        }
    }
    let shape = &mut kernel.inputs[input].shape;
    shape.remove(dim);
    shape[dim - 1] = whole;
    Some(())
}

/// The expression `m` of which `outer` is `floor(m / divisor)`, and whose remainder is that of `dividend`.
fn merged_index(
    index: &mut Vec<IndexExpr>,
    mut outer: IndexId,
    (dividend, divisor): (IndexId, i64),
) -> Option<IndexId> {
    let mut added = 0i64;
    let is_quotient = |index: &[IndexExpr], id: IndexId| quotient(index, id) == (dividend, divisor);
    let merged = loop {
        match index[outer.0 as usize] {
            IndexExpr::Add(a, b) => match (index[a.0 as usize], index[b.0 as usize]) {
                (_, IndexExpr::Const(constant)) => (outer, added) = (a, added.checked_add(constant)?),
                (IndexExpr::Const(constant), _) => (outer, added) = (b, added.checked_add(constant)?),
                _ => return None,
            },
            IndexExpr::Mod(of, times) if is_quotient(index, of) => {
                let whole = divisor.checked_mul(times).filter(|whole| *whole < MOST)?;
                break push(index, IndexExpr::Mod(dividend, whole));
            }
            _ if is_quotient(index, outer) => break dividend,
            _ => return None,
        }
    };
    let added = added.checked_mul(divisor).filter(|added| added.abs() < MOST)?;
    if added == 0 {
        return Some(merged);
    }
    let constant = push(index, IndexExpr::Const(added));
    Some(push(index, IndexExpr::Add(merged, constant)))
}

/// What an expression is, as a quotient: one of a quotient is one by the product.
fn quotient(index: &[IndexExpr], mut id: IndexId) -> (IndexId, i64) {
    let mut product = 1i64;
    while let IndexExpr::FloorDiv(of, divisor) = index[id.0 as usize]
        && let Some(whole) = product.checked_mul(divisor)
    {
        (id, product) = (of, whole);
    }
    (id, product)
}

fn push(index: &mut Vec<IndexExpr>, expr: IndexExpr) -> IndexId {
    index.push(expr);
    IndexId(index.len() as u32 - 1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::storage::{Stored, run};
    use super::super::{CallingThread, CpuKernel};
    use passhost_ir::kernel::scalar::Num;
    use passhost_ir::kernel::{Mode, Tensor, interpret, verify};
    use passhost_ir::{Dtype, Kernel, contiguous_strides};
    use passhost_random_kernels::check_against;

    /// A kernel over 4 and 30 positions that reads a tensor of 3 by 2 by 5 by 6.
    fn kernel(index: &str, place: &str, padding: &str) -> Kernel {
        let text = format!(
            "kernel {{
  space p0=4, p1=30
  in x0: i32[3,2,5,6]
  i0 = p0
  i1 = p1
{index}
  v0: i32 = load x0[{place}] {padding}
  out v0 over [p0, p1] as [4,30]
}}"
        );
        text.parse().unwrap()
    }

    /// Whether dimensions are merged, where strides allow it; the results are the interpreter's either way.
    fn merges(kernel: &Kernel, strides: Vec<i64>) -> [bool; 2] {
        let tensor = Tensor::from_fn(Dtype::I32, kernel.inputs[0].shape.clone(), |at| Num::Int(at as i64 + 1));
        let compiled = CpuKernel::compile(kernel).unwrap();
        let stored = [Stored::strided(&tensor, strides)];
        let facts = verify(kernel).unwrap();
        let expected = interpret(kernel, &facts, &[tensor], Mode::Declared);
        let found = run(&compiled, &stored, &CallingThread).unwrap();
        assert!(check_against(&expected[0], &found[0]).is_ok(), "{kernel}");
        let bound = [stored[0].bound()];
        [
            compiled.merged.is_some(),
            compiled.merged.is_some_and(|merged| super::layout(&bound[0], &merged.groups[0]).is_some()),
        ]
    }

    #[test]
    fn quotient_and_remainder_in_neighbouring_dimensions_are_one_index() {
        let dense = || contiguous_strides(&[3, 2, 5, 6]);
        let two = |padding| kernel("  i2 = i1 / 6\n  i3 = i1 % 6\n  i4 = 1", "i0, i4, i2, i3", padding);
        assert_eq!(merges(&two("pad 0"), dense()), [true; 2]);
        // The first index leaves its dimension, where there are four positions along it: it is clamped for itself.
        assert_eq!(merges(&two("clamp"), dense()), [false; 2]);
        let inside = two("clamp").to_string().replace("p0=4", "p0=3").replace("[4,30]", "[3,30]");
        assert_eq!(merges(&inside.parse().unwrap(), dense()), [true; 2]);
        assert_eq!(merges(&two("pad 0"), vec![80, 40, 8, 1]), [true, false], "there are gaps between rows");
        assert_eq!(merges(&two("pad 0"), vec![90, 35, 6, 1]), [true; 2], "the gaps are between other dimensions");
    }

    #[test]
    fn a_tensor_of_another_shape_is_refused_though_merged_it_is_the_same() {
        let kernel = kernel("  i2 = i1 / 6\n  i3 = i1 % 6\n  i4 = 1", "i0, i4, i2, i3", "pad 0");
        let compiled = CpuKernel::compile(&kernel).unwrap();
        let stored = |shape| [Stored::dense(&Tensor::zeros(Dtype::I32, shape))];
        assert!(compiled.merged.is_some());
        assert!(run(&compiled, &stored([3, 2, 5, 6]), &CallingThread).is_ok());
        assert!(run(&compiled, &stored([3, 2, 6, 5]), &CallingThread).is_err());
    }

    #[test]
    fn shifted_and_nested_quotients_are_merged_and_others_are_not() {
        for (index, place, merged) in [
            (
                "  i2 = 20\n  i3 = i1 + i2\n  i4 = i3 / 6\n  i5 = -2\n  i6 = i4 + i5\n  i7 = i3 % 6\n  i8 = 1",
                "i0, i8, i6, i7",
                true,
            ),
            (
                "  i2 = i0 * 15\n  i3 = i2 + i1\n  i4 = i3 / 6\n  i5 = i4 % 5\n  i6 = i3 % 6\n  i7 = i4 / 5",
                "i0, i7, i5, i6",
                true,
            ),
            ("  i2 = i1 + i0\n  i3 = i2 / 6\n  i4 = i1 % 6\n  i5 = 1", "i0, i5, i3, i4", false),
            ("  i2 = i1 / 5\n  i3 = i1 % 6\n  i4 = 1", "i0, i4, i2, i3", false),
            ("  i2 = i1 / 5\n  i3 = i1 % 5\n  i4 = 1", "i0, i4, i2, i3", false),
        ] {
            let kernel = kernel(index, place, "pad 7");
            assert_eq!(merges(&kernel, contiguous_strides(&[3, 2, 5, 6])), [merged; 2], "{kernel}");
        }
    }
}
