//! The rules that make a kernel safe whoever wrote it. Each is a variant of [`KernelRule`], and `mistakes.txt` breaks it.
//!
//! They are checked in an order in which each may rely on those before:
//!
//! 1. *Counts* are within [`limits`]: `Count`; there is a store, `NoStore`.
//! 2. *The space*: parallel extents are not negative, `ParallelExtent`; reduce extents are positive, `ReduceExtent`; all
//!    points together are not too many, `Work`.
//! 3. *Inputs* are tensors that the host handles, `InputType`, and not complex, `InputComplex`.
//! 4. *The index list by itself*: operands come earlier, `IndexOperand`; axes exist, `AxisRange`; divisors are positive,
//!    `Divisor`; gathered values exist, `IndexValueMissing`.
//! 5. *Each instruction*, in turn. Its order: it reads nothing that comes later, directly or through an index, `Operand`,
//!    `IndexTooEarly`, `MissingIndex`. Its types, which [the table](super::operations) gives: `OperandType`,
//!    `OperandsDiffer`, `ResultType`, `ComplexValue`; literals fit, `LiteralKind`, `LiteralRange`, `LiteralNan`; loads name
//!    an input and an index for each dimension, `MissingInput`, `LoadRank`, and clamp into one that is not empty,
//!    `ClampEmpty`; reductions and scans have an axis, `NoReduceAxis`.
//! 6. *Gathers*: an index is taken from integers only, `IndexValueType`.
//! 7. *Ranges*: index arithmetic stays within 62 bits whatever is gathered, `IndexOverflow`.
//! 8. *Stores*: the value exists, `StoreValue`; the order names each axis once, `StoreOrder`; an element is not stored where
//!    there is room for a row only, `StoreElem`; the shape has as many elements as the axes have points, `StoreShape`, and
//!    is that of a tensor, `StoreType`.

use super::facts::{self, Facts};
use super::{Class, IndexExpr, IndexId, Kernel, KernelError, KernelLine, KernelRule, Op, Reg, Store, limits, typing};
use crate::TensorType;

/// Checks every rule of the kernel language, and returns what was learnt on the way.
///
/// A kernel that passes reads only its inputs, writes every element of its outputs once and nothing else, and
/// terminates: executors may rely on it. What [`Facts`] proves lets them leave out guards; it never changes a result.
pub fn verify(kernel: &Kernel) -> Result<Facts, KernelError> {
    check_counts(kernel)?;
    check_space(kernel)?;
    check_inputs(kernel)?;
    let needs = check_index(kernel)?;
    for (at, _) in body(kernel) {
        check_order(kernel, &needs, at)?;
        typing::check(kernel, at)?;
    }
    check_gathers(kernel)?;
    let facts = facts::derive(kernel, &needs)?;
    for (number, store) in kernel.stores.iter().enumerate() {
        check_store(kernel, &facts, number, store)?;
    }
    Ok(facts)
}

fn body(kernel: &Kernel) -> impl Iterator<Item = (Reg, &Op)> {
    (0..).map(Reg).zip(kernel.body.iter().map(|inst| &inst.op))
}

/// Counts come first: everything after them is linear in these lists.
fn check_counts(kernel: &Kernel) -> Result<(), KernelError> {
    let loads = body(kernel).filter(|(_, op)| matches!(op, Op::Load { .. })).count();
    let (join, split, share) = ("join neighbouring axes", "split the kernel", "share equal ones or split the kernel");
    for (what, found, limit, remedy) in [
        ("parallel axes", kernel.parallel.len(), limits::PARALLEL_AXES, join),
        ("reduce axes", kernel.reduce.len(), limits::REDUCE_AXES, join),
        ("inputs", kernel.inputs.len(), limits::INPUTS, split),
        ("index expressions", kernel.index.len(), limits::INDEX, share),
        ("instructions", kernel.body.len(), limits::BODY, split),
        ("loads", loads, limits::LOADS, share),
        ("stores", kernel.stores.len(), limits::STORES, split),
    ] {
        if found > limit {
            return Err(KernelRule::Count(what, found, limit, remedy).broken_by(KernelLine::Space));
        }
    }
    if kernel.stores.is_empty() {
        return Err(KernelRule::NoStore.broken_by(KernelLine::Space));
    }
    Ok(())
}

fn check_space(kernel: &Kernel) -> Result<(), KernelError> {
    if let Some((axis, &extent)) = kernel.parallel.iter().enumerate().find(|&(_, &extent)| extent < 0) {
        return Err(KernelRule::ParallelExtent(axis, extent).broken_by(KernelLine::Space));
    }
    if let Some((axis, &extent)) = kernel.reduce.iter().enumerate().find(|&(_, &extent)| extent < 1) {
        let axis = kernel.parallel.len() + axis;
        return Err(KernelRule::ReduceExtent(axis, extent).broken_by(KernelLine::Space));
    }
    // An extent of 0 makes the product 0, but the other extents still bound indices: they are held to the limit too.
    let extents = kernel.parallel.iter().chain(&kernel.reduce);
    let work = extents.fold(1u64, |work, &extent| work.saturating_mul(extent.unsigned_abs().max(1)));
    if work > limits::WORK {
        return Err(KernelRule::Work(work).broken_by(KernelLine::Space));
    }
    Ok(())
}

fn check_inputs(kernel: &Kernel) -> Result<(), KernelError> {
    for (input, decl) in kernel.inputs.iter().enumerate() {
        if decl.dtype.is_complex() {
            return Err(KernelRule::InputComplex(decl.dtype).broken_by(KernelLine::Input(input)));
        }
        let checked = TensorType::contiguous(decl.dtype, decl.shape.clone()).check();
        checked.map_err(|reason| KernelRule::InputType(reason).broken_by(KernelLine::Input(input)))?;
    }
    Ok(())
}

/// Checks the index list by itself. Returns for each expression how many instructions of the body it needs: one more
/// than the latest value it depends on, 0 if it depends on axes alone.
fn check_index(kernel: &Kernel) -> Result<Vec<u32>, KernelError> {
    let axes = kernel.parallel.len() + kernel.reduce.len();
    let mut needs: Vec<u32> = Vec::with_capacity(kernel.index.len());
    for (index, &expr) in (0..).zip(&kernel.index) {
        let broken = |rule: KernelRule| rule.broken_by(KernelLine::Index(index));
        let needed_by = |operand: IndexId| {
            needs.get(operand.0 as usize).copied().ok_or_else(|| broken(KernelRule::IndexOperand(operand)))
        };
        needs.push(match expr {
            IndexExpr::Const(_) => 0,
            IndexExpr::Axis(axis) if (axis as usize) < axes => 0,
            IndexExpr::Axis(axis) => return Err(broken(KernelRule::AxisRange(axis, axes))),
            IndexExpr::Add(a, b) | IndexExpr::Sub(a, b) => needed_by(a)?.max(needed_by(b)?),
            IndexExpr::Mul(a, _) => needed_by(a)?,
            IndexExpr::FloorDiv(_, divisor) | IndexExpr::Mod(_, divisor) if divisor < 1 => {
                return Err(broken(KernelRule::Divisor(divisor)));
            }
            IndexExpr::FloorDiv(a, _) | IndexExpr::Mod(a, _) => needed_by(a)?,
            IndexExpr::Value(value) if (value.0 as usize) < kernel.body.len() => value.0 + 1,
            IndexExpr::Value(value) => {
                return Err(broken(KernelRule::IndexValueMissing(value, kernel.body.len())));
            }
        });
    }
    Ok(needs)
}

/// Everything that an instruction reads comes before it, through index expressions as well: so there are no cycles.
fn check_order(kernel: &Kernel, needs: &[u32], at: Reg) -> Result<(), KernelError> {
    let op = &kernel.body[at.0 as usize].op;
    if let Some(operand) = op.operands().into_iter().find(|operand| operand.0 >= at.0) {
        return Err(KernelRule::Operand(operand).broken_at(at));
    }
    let indices: &[IndexId] = match op {
        Op::Index(index) => std::slice::from_ref(index),
        Op::Load { index, .. } => index,
        _ => &[],
    };
    for &index in indices {
        match needs.get(index.0 as usize) {
            None => return Err(KernelRule::MissingIndex(index, kernel.index.len()).broken_at(at)),
            Some(&needed) if needed > at.0 => {
                return Err(KernelRule::IndexTooEarly(index, Reg(needed - 1)).broken_at(at));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn check_gathers(kernel: &Kernel) -> Result<(), KernelError> {
    for (index, &expr) in (0..).zip(&kernel.index) {
        if let IndexExpr::Value(value) = expr {
            let dtype = kernel.body[value.0 as usize].dtype;
            if !dtype.is_integer() {
                return Err(KernelRule::IndexValueType(value, dtype).broken_by(KernelLine::Index(index)));
            }
        }
    }
    Ok(())
}

fn check_store(kernel: &Kernel, facts: &Facts, number: usize, store: &Store) -> Result<(), KernelError> {
    let broken = |rule: KernelRule| Err(rule.broken_by(KernelLine::Store(number)));
    let Some(inst) = kernel.body.get(store.value.0 as usize) else {
        return broken(KernelRule::StoreValue(store.value, kernel.body.len()));
    };
    let (parallel, all) = (kernel.parallel.len(), kernel.parallel.len() + kernel.reduce.len());
    let axes = store.order.len();
    let mut seen = vec![false; axes];
    let is_new = |axis: &u32| seen.get_mut(*axis as usize).is_some_and(|seen| !std::mem::replace(seen, true));
    let is_permutation = store.order.iter().all(is_new);
    if !is_permutation || (axes != parallel && axes != all) {
        return broken(KernelRule::StoreOrder(store.order.clone(), parallel, all));
    }
    if axes < all && facts.class(store.value) == Class::Elem {
        return broken(KernelRule::StoreElem(store.value));
    }
    if let Err(reason) = TensorType::contiguous(inst.dtype, store.shape.clone()).check() {
        return broken(KernelRule::StoreType(reason));
    }
    let expected = if axes == all { kernel.work() } else { kernel.rows() };
    let found = crate::numel(&store.shape);
    if found != expected {
        return broken(KernelRule::StoreShape(store.shape.clone(), found, expected));
    }
    Ok(())
}
