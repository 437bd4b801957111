//! CUDA's column of the [table of operations](passhost_ir::kernel::operations): each by functions of CUDA or of
//! `prelude.cu`. An operation without a row does not compile.

use super::loops::{Expression, Variable, binary as between, call as function};
use super::types::{held, literal, storage};
use passhost_ir::Dtype;
use passhost_ir::kernel::operations::IdentityElement;
use passhost_ir::kernel::{Binary, Compare, Op, ReduceOp, Scalar, Unary};

/// An operation of this type on operands, of which the first is of type `of`. Loads, index values, reductions and scans
/// have no expression.
pub(super) fn compute(op: &Op, (of, to): (Dtype, Dtype), operands: Vec<Expression>) -> Option<Expression> {
    let mut operands = operands.into_iter();
    let mut next = || operands.next();
    Some(match op {
        Op::Const(scalar) => literal(to, *scalar),
        Op::Unary(op, _) => unary(*op, of, next()?),
        Op::Binary(op, ..) => binary(*op, to, next()?, next()?),
        Op::Compare(op, ..) => between(comparison(*op), next()?, next()?),
        Op::Select(..) => next()?.select(next()?, next()?),
        Op::Fma(..) => function(if to == Dtype::F32 { "fmaf" } else { "fma" }, [next()?, next()?, next()?]),
        Op::Cast(_) => cast(of, to, next()?),
        Op::Index(_) | Op::Load { .. } | Op::Reduce(..) | Op::Scan(..) => return None,
    })
}

fn comparison(op: Compare) -> &'static str {
    match op {
        Compare::Eq => "==",
        Compare::Ne => "!=",
        Compare::Lt => "<",
        Compare::Le => "<=",
        Compare::Gt => ">",
        Compare::Ge => ">=",
    }
}

fn unary(op: Unary, dtype: Dtype, a: Expression) -> Expression {
    let single = dtype == Dtype::F32;
    let simple = |name| function(name, [a.clone()]);
    let call = |single_name, double_name| simple(if single { single_name } else { double_name });
    // CUDA's single precision function is off by more than 2 ulp.
    let in_double = |name| if single { function(name, [a.clone().cast("double")]).cast("float") } else { simple(name) };
    match op {
        Unary::Neg => simple("neg"),
        Unary::Abs => simple("magnitude"),
        Unary::Not => simple("complement"),
        Unary::IsNan => between("!=", a.clone(), a),
        Unary::Exp => call("expf", "exp"),
        Unary::Exp2 => call("exp2f", "exp2"),
        Unary::Expm1 => call("expm1f", "expm1"),
        Unary::Log => call("logf", "log"),
        Unary::Log2 => call("log2f", "log2"),
        Unary::Log10 => call("log10f", "log10"),
        Unary::Log1p => call("log1pf", "log1p"),
        Unary::Sqrt => call("sqrtf", "sqrt"),
        Unary::Rsqrt => call("rsqrtf", "rsqrt"),
        Unary::Sin => call("sinf", "sin"),
        Unary::Cos => call("cosf", "cos"),
        Unary::Tan => in_double("tan"),
        Unary::Atan => call("atanf", "atan"),
        Unary::Sinh => in_double("sinh"),
        Unary::Cosh => call("coshf", "cosh"),
        Unary::Tanh => call("tanhf", "tanh"),
        Unary::Erf => call("erff", "erf"),
        Unary::Floor => call("floorf", "floor"),
        Unary::Ceil => call("ceilf", "ceil"),
        Unary::Trunc => call("truncf", "trunc"),
        Unary::Round => call("rintf", "rint"),
    }
}

fn binary(op: Binary, dtype: Dtype, a: Expression, b: Expression) -> Expression {
    let in_double = |name, a: Expression, b: Expression| match dtype {
        Dtype::F32 => function(name, [a.cast("double"), b.cast("double")]).cast("float"),
        _ => function(name, [a, b]),
    };
    match op {
        Binary::Add => function("add", [a, b]),
        Binary::Sub => function("sub", [a, b]),
        Binary::Mul => function("mul", [a, b]),
        Binary::Div => function("div", [a, b]),
        Binary::Rem => function("rem", [a, b]),
        Binary::Pow => in_double("pow", a, b),
        Binary::Atan2 => in_double("atan2", a, b),
        Binary::Min => function("smaller", [a, b]),
        Binary::Max => function("larger", [a, b]),
        Binary::And => between("&", a, b),
        Binary::Or => between("|", a, b),
        Binary::Xor => between("^", a, b),
        Binary::Shl => function("shl", [a, b]),
        Binary::Shr => function("shr", [a, b]),
    }
}

fn cast(from: Dtype, to: Dtype, a: Expression) -> Expression {
    let a = match from {
        // What the rules for types say of 16-bit floats, they say by way of f32.
        Dtype::F16 | Dtype::Bf16 if to != from => function("to_f32", [a]),
        Dtype::Bool if to.is_float() => function("one_or_zero", [a]),
        _ => a,
    };
    match to {
        _ if to == from => a,
        Dtype::Bool => between("!=", a, 0),
        Dtype::F16 => function("to_f16", [a.cast("float")]),
        Dtype::Bf16 => function("to_bf16", [a.cast("float")]),
        Dtype::I64 if from.is_float() => function("to_i64", [a]),
        Dtype::I32 if from.is_float() => function("to_i32", [a]),
        Dtype::F32 | Dtype::F64 | Dtype::I64 | Dtype::I32 => a.cast(held(to)),
        _ if from.is_float() => {
            let (low, high) = to.integer_range().unwrap_or((0, 0));
            function("clamp_i32", [function("to_i32", [a]), low.into(), high.into()])
        }
        // Narrow integers wrap.
        _ => a.group().cast(storage(to)).cast("int"),
    }
}

/// The functor of `prelude.cu` that takes two elements, or what is reduced of some and of others, into one. The same for
/// scans.
pub(super) fn functor(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Sum => "Sum",
        ReduceOp::Prod => "Prod",
        ReduceOp::Max => "Max",
        ReduceOp::Min => "Min",
        ReduceOp::Argmax => "Argmax",
        ReduceOp::Argmin => "Argmin",
        ReduceOp::Any => "Any",
        ReduceOp::All => "All",
    }
}

/// What a function of `prelude.cu` gives that is a template of a functor and of numbers.
pub(super) fn functor_call(op: ReduceOp, name: &'static str, of: &[u32], arguments: Vec<Expression>) -> Expression {
    let functor = Variable::named(functor(op)).into();
    let numbers = of.iter().map(|number| (*number).into());
    Expression::Call(name, std::iter::once(functor).chain(numbers).collect(), arguments)
}

/// What a reduction's or scan's accumulator starts with: what leaves any other operand as it is.
pub(super) fn neutral(op: ReduceOp, dtype: Dtype) -> Expression {
    let (low, high) = dtype.integer_range().unwrap_or((0, 0));
    let extreme =
        |float: f64, int: i64| literal(dtype, if dtype.is_float() { Scalar::Float(float) } else { Scalar::Int(int) });
    match op.identity() {
        Some(IdentityElement::Zero) => 0.into(),
        Some(IdentityElement::One) => 1.into(),
        Some(IdentityElement::Lowest) => extreme(f64::NEG_INFINITY, low),
        Some(IdentityElement::Highest) => extreme(f64::INFINITY, high),
        Some(IdentityElement::False) => Expression::Bits(Dtype::Bool, 0),
        Some(IdentityElement::True) => Expression::Bits(Dtype::Bool, 1),
        None => unreachable!("positions start with no candidate"),
    }
}
