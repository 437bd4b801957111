//! CUDA's column of the [table of operations](passhost_ir::kernel::operations): the text of each, by functions of CUDA or
//! of `prelude.cu`. An operation without a row does not compile.

use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, Compare, ReduceOp, Unary};

pub(super) fn comparison(op: Compare) -> &'static str {
    match op {
        Compare::Eq => "==",
        Compare::Ne => "!=",
        Compare::Lt => "<",
        Compare::Le => "<=",
        Compare::Gt => ">",
        Compare::Ge => ">=",
    }
}

pub(super) fn unary(op: Unary, dtype: Dtype, a: &str) -> String {
    let single = dtype == Dtype::F32;
    let call = |single_name: &str, double_name: &str| {
        if single { format!("{single_name}({a})") } else { format!("{double_name}({a})") }
    };
    // CUDA's single precision function is off by more than 2 ulp.
    let in_double = |name: &str| if single { format!("(float){name}((double){a})") } else { format!("{name}({a})") };
    match op {
        Unary::Neg => format!("neg({a})"),
        Unary::Abs => format!("magnitude({a})"),
        Unary::Not => format!("complement({a})"),
        Unary::IsNan => format!("{a} != {a}"),
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

pub(super) fn binary(op: Binary, dtype: Dtype, a: &str, b: &str) -> String {
    let in_double = |name: &str| match dtype {
        Dtype::F32 => format!("(float){name}((double){a}, (double){b})"),
        _ => format!("{name}({a}, {b})"),
    };
    match op {
        Binary::Add => format!("add({a}, {b})"),
        Binary::Sub => format!("sub({a}, {b})"),
        Binary::Mul => format!("mul({a}, {b})"),
        Binary::Div => format!("div({a}, {b})"),
        Binary::Rem => format!("rem({a}, {b})"),
        Binary::Pow => in_double("pow"),
        Binary::Atan2 => in_double("atan2"),
        Binary::Min => format!("smaller({a}, {b})"),
        Binary::Max => format!("larger({a}, {b})"),
        Binary::And => format!("{a} & {b}"),
        Binary::Or => format!("{a} | {b}"),
        Binary::Xor => format!("{a} ^ {b}"),
        Binary::Shl => format!("shl({a}, {b})"),
        Binary::Shr => format!("shr({a}, {b})"),
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
