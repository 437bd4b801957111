//! One seeded mistake, or more, for each rule of the verifier.

use super::*;
use std::collections::BTreeSet;

/// Names every variant once: a new one does not compile until it is listed, and then needs a mistake.
macro_rules! rules {
    ($($rule:ident),* $(,)?) => {
        const RULES: &[&str] = &[$(stringify!($rule)),*];

        fn rule(error: &KernelError) -> &'static str {
            match error { $(KernelError::$rule { .. } => stringify!($rule)),* }
        }
    };
}

rules! {
    ParallelAxes, ReduceAxes, ParallelExtent, ReduceExtent, Work, InputCount, IndexCount, BodyCount, LoadCount,
    StoreCount, NoStore, InputComplex, InputType, IndexOperand, AxisRange, Divisor, IndexValueMissing, IndexValueType,
    IndexOverflow, IndexTooEarly, Operand, MissingIndex, MissingInput, LoadRank, ClampEmpty, LiteralKind, LiteralRange,
    LiteralNan, ComplexValue, OperandType, OperandsDiffer, ResultType, NoReduceAxis, StoreValue, StoreOrder, StoreElem,
    StoreShape, StoreType,
}

fn inst(dtype: Dtype, op: Op) -> Inst {
    Inst { dtype, op }
}

fn load(dtype: Dtype, input: u32, index: &[u32], outside: Outside) -> Inst {
    inst(dtype, Op::Load { input, index: index.iter().copied().map(IndexId).collect(), outside })
}

/// Rows of softmax, from columns chosen by a table.
fn valid() -> Kernel {
    use Dtype::{Bool, F32, I32, I64};
    Kernel {
        parallel: vec![4],
        reduce: vec![8],
        inputs: vec![InputDecl { dtype: F32, shape: vec![4, 16] }, InputDecl { dtype: I32, shape: vec![8] }],
        index: vec![
            IndexExpr::Axis(0),
            IndexExpr::Axis(1),
            IndexExpr::Value(Reg(0)),
            IndexExpr::Mul(IndexId(2), 2),
            IndexExpr::Mod(IndexId(3), 16),
        ],
        body: vec![
            load(I32, 1, &[1], Outside::Pad(Scalar::Int(0))),     // v0
            load(F32, 0, &[0, 4], Outside::Clamp),                // v1
            inst(F32, Op::Reduce(ReduceOp::Max, Reg(1))),         // v2
            inst(F32, Op::Binary(Binary::Sub, Reg(1), Reg(2))),   // v3
            inst(F32, Op::Unary(Unary::Exp, Reg(3))),             // v4
            inst(F32, Op::Reduce(ReduceOp::Sum, Reg(4))),         // v5
            inst(F32, Op::Binary(Binary::Div, Reg(4), Reg(5))),   // v6
            inst(I64, Op::Reduce(ReduceOp::Argmax, Reg(1))),      // v7
            inst(F32, Op::Const(Scalar::Float(0.5))),             // v8
            inst(Bool, Op::Compare(Compare::Lt, Reg(6), Reg(8))), // v9
            inst(F32, Op::Select(Reg(9), Reg(6), Reg(8))),        // v10
            inst(I32, Op::Const(Scalar::Int(7))),                 // v11
        ],
        stores: vec![
            Store { value: Reg(10), order: vec![1, 0], shape: vec![2, 16] },
            Store { value: Reg(7), order: vec![0], shape: vec![4, 1] },
            Store { value: Reg(5), order: vec![0, 1], shape: vec![32] },
        ],
    }
}

type Mistake = (&'static str, fn(&mut Kernel));

const MISTAKES: &[Mistake] = &[
    ("ParallelAxes", |k| k.parallel = vec![1; 9]),
    ("ReduceAxes", |k| k.reduce = vec![1; 5]),
    ("ParallelExtent", |k| k.parallel[0] = -1),
    ("ReduceExtent", |k| k.reduce[0] = 0),
    ("ReduceExtent", |k| k.reduce[0] = -3),
    ("Work", |k| k.parallel = vec![1 << 20, 1 << 20]),
    ("Work", |k| k.parallel = vec![i64::MAX, i64::MAX]),
    ("Work", |k| k.parallel = vec![0, i64::MAX]),
    ("InputCount", |k| k.inputs = vec![k.inputs[0].clone(); 65]),
    ("IndexCount", |k| k.index.resize(1025, IndexExpr::Const(0))),
    ("BodyCount", |k| k.body.resize(513, inst(Dtype::I32, Op::Const(Scalar::Int(0))))),
    ("LoadCount", |k| k.body.resize(12 + 63, load(Dtype::I32, 1, &[1], Outside::Clamp))),
    ("StoreCount", |k| k.stores = vec![k.stores[0].clone(); 33]),
    ("NoStore", |k| k.stores.clear()),
    ("InputComplex", |k| k.inputs[0].dtype = Dtype::C64),
    ("InputType", |k| k.inputs[0].shape[1] = -16),
    ("InputType", |k| k.inputs[0].shape = vec![1 << 20, 1 << 20]),
    ("InputType", |k| k.inputs[0].shape = vec![1; 17]),
    ("IndexOperand", |k| k.index[3] = IndexExpr::Mul(IndexId(3), 2)),
    ("IndexOperand", |k| k.index[1] = IndexExpr::Add(IndexId(0), IndexId(4))),
    ("IndexOperand", |k| k.index[4] = IndexExpr::Sub(IndexId(0), IndexId(u32::MAX))),
    ("AxisRange", |k| k.index[1] = IndexExpr::Axis(2)),
    ("Divisor", |k| k.index[4] = IndexExpr::Mod(IndexId(3), 0)),
    ("Divisor", |k| k.index[4] = IndexExpr::FloorDiv(IndexId(3), -2)),
    ("IndexValueMissing", |k| k.index[2] = IndexExpr::Value(Reg(12))),
    // v8 is a float; nothing but the expression that reads it may use it, or the order is wrong first.
    ("IndexValueType", |k| k.index.push(IndexExpr::Value(Reg(8)))),
    ("IndexValueType", |k| k.index.push(IndexExpr::Value(Reg(9)))),
    ("IndexOverflow", |k| k.index[3] = IndexExpr::Mul(IndexId(2), 1 << 31 | 1)),
    ("IndexOverflow", |k| k.index.push(IndexExpr::Const(i64::MIN))),
    ("IndexOverflow", |k| {
        // A gathered 64-bit integer may be anything: no room for arithmetic.
        k.inputs[1].dtype = Dtype::I64;
        k.body[0].dtype = Dtype::I64;
    }),
    ("IndexTooEarly", |k| k.index[2] = IndexExpr::Value(Reg(1))),
    ("IndexTooEarly", |k| k.index[2] = IndexExpr::Value(Reg(11))),
    ("Operand", |k| k.body[3].op = Op::Binary(Binary::Sub, Reg(1), Reg(3))),
    ("Operand", |k| k.body[3].op = Op::Binary(Binary::Sub, Reg(1), Reg(u32::MAX))),
    ("MissingIndex", |k| k.body[1] = load(Dtype::F32, 0, &[0, 5], Outside::Clamp)),
    ("MissingIndex", |k| k.body[11] = inst(Dtype::I64, Op::Index(IndexId(u32::MAX)))),
    ("MissingInput", |k| k.body[1] = load(Dtype::F32, 2, &[0, 1], Outside::Clamp)),
    ("LoadRank", |k| k.body[1] = load(Dtype::F32, 0, &[0], Outside::Clamp)),
    ("LoadRank", |k| k.body[1] = load(Dtype::F32, 0, &[0, 1, 1], Outside::Clamp)),
    ("ClampEmpty", |k| k.inputs[0].shape[1] = 0),
    ("LiteralKind", |k| k.body[8].op = Op::Const(Scalar::Int(1))),
    ("LiteralKind", |k| k.body[11].op = Op::Const(Scalar::Float(1.0))),
    ("LiteralKind", |k| k.body[0] = load(Dtype::I32, 1, &[1], Outside::Pad(Scalar::Bool(false)))),
    ("LiteralRange", |k| k.body[11].op = Op::Const(Scalar::Int(1 << 31))),
    ("LiteralRange", |k| k.body[0] = load(Dtype::I32, 1, &[1], Outside::Pad(Scalar::Int(i64::MIN)))),
    ("LiteralNan", |k| k.body[8].op = Op::Const(Scalar::Float(f64::from_bits(0x7ff0_0000_0000_0001)))),
    ("LiteralNan", |k| k.body[8].op = Op::Const(Scalar::Float(-f64::NAN))),
    ("ComplexValue", |k| k.body[11] = inst(Dtype::C128, Op::Cast(Reg(8)))),
    ("OperandType", |k| k.body[4].op = Op::Unary(Unary::Exp, Reg(0))),
    ("OperandType", |k| k.body[11].op = Op::Unary(Unary::Not, Reg(8))),
    ("OperandType", |k| k.body[11].op = Op::Binary(Binary::Shl, Reg(9), Reg(9))),
    ("OperandType", |k| k.body[11].op = Op::Binary(Binary::Pow, Reg(0), Reg(0))),
    ("OperandType", |k| k.body[5].op = Op::Reduce(ReduceOp::Sum, Reg(0))),
    ("OperandType", |k| k.body[5].op = Op::Reduce(ReduceOp::Any, Reg(4))),
    ("OperandType", |k| k.body[10].op = Op::Select(Reg(8), Reg(6), Reg(8))),
    ("OperandType", |k| k.body[11] = inst(Dtype::I32, Op::Fma(Reg(0), Reg(0), Reg(0)))),
    ("OperandType", |k| {
        // 16-bit floats are for storage: they are cast before anything is computed.
        k.inputs[0].dtype = Dtype::F16;
        k.body[1].dtype = Dtype::F16;
    }),
    ("OperandsDiffer", |k| k.body[11].op = Op::Binary(Binary::Div, Reg(4), Reg(7))),
    ("OperandsDiffer", |k| k.body[10].op = Op::Select(Reg(9), Reg(6), Reg(7))),
    ("ResultType", |k| k.body[9].dtype = Dtype::F32),
    ("ResultType", |k| k.body[7].dtype = Dtype::F32),
    ("ResultType", |k| k.body[1].dtype = Dtype::F64),
    ("ResultType", |k| k.body[11] = inst(Dtype::I32, Op::Index(IndexId(0)))),
    ("NoReduceAxis", |k| {
        k.parallel.push(k.reduce[0]);
        k.reduce.clear();
    }),
    ("StoreValue", |k| k.stores[1].value = Reg(12)),
    ("StoreOrder", |k| k.stores[0].order = vec![0, 0]),
    ("StoreOrder", |k| k.stores[0].order = vec![0, 2]),
    ("StoreOrder", |k| k.stores[0].order = vec![]),
    ("StoreOrder", |k| k.stores[1].order = vec![1]),
    ("StoreElem", |k| k.stores[1].value = Reg(6)),
    ("StoreShape", |k| k.stores[0].shape = vec![31]),
    ("StoreShape", |k| k.stores[1].shape = vec![32]),
    ("StoreShape", |k| k.stores[0].shape = vec![]),
    ("StoreType", |k| k.stores[0].shape = vec![-4, -8]),
    ("StoreType", |k| k.stores[0].shape.resize(17, 1)),
    ("StoreType", |k| k.stores[0].shape = vec![i64::MAX, 2]),
];

#[test]
fn the_kernel_that_mistakes_are_seeded_in_is_valid() {
    let facts = verify(&valid()).expect("valid");
    assert_eq!(facts.class(Reg(1)), Class::Elem);
    assert_eq!(facts.class(Reg(5)), Class::Row);
    assert_eq!(facts.in_bounds[1], [true, true]);
    assert_eq!(facts.index_needs, [0, 0, 1, 1, 1]);
}

#[test]
fn every_seeded_mistake_is_caught_by_its_rule() {
    for (number, (expected, seed)) in MISTAKES.iter().enumerate() {
        let mut kernel = valid();
        seed(&mut kernel);
        let error = verify(&kernel).expect_err(expected);
        assert_eq!(rule(&error), *expected, "mistake {number}: {error}");
        assert!(!error.to_string().ends_with('.'), "{error}");
    }
}

#[test]
fn every_rule_has_a_seeded_mistake() {
    let seeded: BTreeSet<&str> = MISTAKES.iter().map(|&(rule, _)| rule).collect();
    let rules: BTreeSet<&str> = RULES.iter().copied().collect();
    assert_eq!(seeded, rules);
}

#[test]
fn an_unproven_load_is_valid_and_keeps_its_guard() {
    let mut kernel = valid();
    kernel.inputs[0].shape = vec![4, 15];
    let facts = verify(&kernel).expect("clamped");
    assert_eq!(facts.in_bounds[1], [true, false]);
    assert!(!facts.load_in_bounds(Reg(1)));
}

#[test]
fn a_gather_bounded_by_extrema_is_proven() {
    use Dtype::{I64, U8};
    let int = |value| inst(I64, Op::Const(Scalar::Int(value)));
    let kernel = Kernel {
        parallel: vec![5],
        inputs: vec![InputDecl { dtype: I64, shape: vec![5] }, InputDecl { dtype: U8, shape: vec![20] }],
        index: vec![
            IndexExpr::Axis(0),
            IndexExpr::Value(Reg(4)),
            IndexExpr::Mul(IndexId(1), 2),
            IndexExpr::Add(IndexId(2), IndexId(0)),
        ],
        body: vec![
            load(I64, 0, &[0], Outside::Clamp),
            int(0),
            int(7),
            inst(I64, Op::Binary(Binary::Max, Reg(0), Reg(1))),
            inst(I64, Op::Binary(Binary::Min, Reg(3), Reg(2))),
            load(U8, 1, &[3], Outside::Clamp),
        ],
        stores: vec![Store { value: Reg(5), order: vec![0], shape: vec![5] }],
        ..Kernel::default()
    };
    let facts = verify(&kernel).expect("valid");
    assert_eq!(facts.index_interval(IndexId(3)), Interval::new(0, 18));
    assert!(facts.load_in_bounds(Reg(5)));
}

#[test]
fn empty_spaces_are_valid() {
    let mut kernel = valid();
    kernel.parallel[0] = 0;
    kernel.stores[0].shape = vec![0];
    kernel.stores[1].shape = vec![0, 3];
    kernel.stores[2].shape = vec![8, 0];
    assert!(verify(&kernel).is_ok());
}
