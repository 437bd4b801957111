//! CUDA C++ as text: lines, blocks, types, literals and expressions.
//!
//! Nothing that a guest wrote reaches the text but numbers: names are made of a letter and a position, floats are
//! written as the bits they have.

use super::column::{binary, comparison, unary};
use half::{bf16, f16};
use passhost_ir::Dtype;
use passhost_ir::kernel::{Inst, Op, Reg, Scalar};
use std::fmt::{Display, Write};

/// Source text under construction.
#[derive(Debug, Default)]
pub(super) struct Text {
    lines: String,
    depth: usize,
}

impl Text {
    /// Text inside of a block.
    pub(super) fn inside() -> Text {
        Text { lines: String::new(), depth: 1 }
    }

    /// Adds a line.
    pub(super) fn line(&mut self, line: impl Display) {
        let indent = 4 * self.depth;
        // Writing to a string does not fail.
        let _ = writeln!(self.lines, "{:indent$}{line}", "");
    }

    /// Adds a line that opens a block.
    pub(super) fn open(&mut self, line: impl Display) {
        self.line(format_args!("{line} {{"));
        self.depth += 1;
    }

    /// Adds lines that are indented already.
    pub(super) fn lines(&mut self, lines: &str) {
        self.lines.push_str(lines);
    }

    /// Closes a block.
    pub(super) fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    pub(super) fn finish(self) -> String {
        self.lines
    }
}

/// The C++ type of a tensor's elements.
pub(super) fn storage(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::Bool | Dtype::U8 => "u8",
        Dtype::I8 => "i8",
        Dtype::I16 => "i16",
        Dtype::I32 => "int",
        Dtype::I64 => "i64",
        Dtype::F16 => "f16",
        Dtype::Bf16 => "bf16",
        Dtype::F32 => "float",
        Dtype::F64 => "double",
        Dtype::C64 | Dtype::C128 => unreachable!("the verifier lets no complex value through"),
    }
}

/// The C++ type of a value: narrow integers are held as `int`.
pub(super) fn held(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::Bool => "bool",
        Dtype::U8 | Dtype::I8 | Dtype::I16 => "int",
        other => storage(other),
    }
}

/// A tensor's element as a value.
pub(super) fn from_storage(dtype: Dtype, element: &str) -> String {
    match dtype {
        // Any byte but 0 is true.
        Dtype::Bool => format!("{element} != 0"),
        _ => element.to_owned(),
    }
}

/// A value as a tensor's element.
pub(super) fn to_storage(dtype: Dtype, value: &str) -> String {
    match dtype {
        Dtype::Bool | Dtype::U8 | Dtype::I8 | Dtype::I16 => format!("({}){value}", storage(dtype)),
        _ => value.to_owned(),
    }
}

/// A literal of a type.
pub(super) fn literal(dtype: Dtype, scalar: Scalar) -> String {
    match scalar {
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(value) => integer(dtype, value),
        Scalar::Float(value) => match dtype {
            Dtype::F16 => format!("f16{{0x{:04x}}}", f16::from_f32(value as f32).to_bits()),
            Dtype::Bf16 => format!("bf16{{0x{:04x}}}", bf16::from_f32(value as f32).to_bits()),
            Dtype::F32 => format!("__uint_as_float(0x{:08x}u)", (value as f32).to_bits()),
            _ => format!("__longlong_as_double(0x{:016x}ll)", value.to_bits()),
        },
    }
}

fn integer(dtype: Dtype, value: i64) -> String {
    if dtype == Dtype::I64 { format!("(i64)0x{value:016x}ull") } else { format!("(int)0x{:08x}u", value as i32) }
}

/// An operation's result, given the text of its operands. Loads, index values, reductions and scans have no expression.
pub(super) fn expression(body: &[Inst], inst: &Inst, operand: impl Fn(Reg) -> String) -> String {
    let dtype = |reg: Reg| body[reg.0 as usize].dtype;
    match &inst.op {
        Op::Const(scalar) => literal(inst.dtype, *scalar),
        Op::Unary(op, a) => unary(*op, dtype(*a), &operand(*a)),
        Op::Binary(op, a, b) => binary(*op, inst.dtype, &operand(*a), &operand(*b)),
        Op::Compare(op, a, b) => format!("{} {} {}", operand(*a), comparison(*op), operand(*b)),
        Op::Select(condition, a, b) => format!("{} ? {} : {}", operand(*condition), operand(*a), operand(*b)),
        Op::Fma(a, b, c) => {
            let name = if inst.dtype == Dtype::F32 { "fmaf" } else { "fma" };
            format!("{name}({}, {}, {})", operand(*a), operand(*b), operand(*c))
        }
        Op::Cast(a) => cast(dtype(*a), inst.dtype, &operand(*a)),
        Op::Index(_) | Op::Load { .. } | Op::Reduce(..) | Op::Scan(..) => unreachable!("emitted with its surroundings"),
    }
}

fn cast(from: Dtype, to: Dtype, a: &str) -> String {
    let a = match from {
        // What the rules for types say of 16-bit floats, they say by way of f32.
        Dtype::F16 | Dtype::Bf16 if to != from => format!("to_f32({a})"),
        Dtype::Bool if to.is_float() => format!("one_or_zero({a})"),
        _ => a.to_owned(),
    };
    match to {
        _ if to == from => a,
        Dtype::Bool => format!("{a} != 0"),
        Dtype::F16 => format!("to_f16((float){a})"),
        Dtype::Bf16 => format!("to_bf16((float){a})"),
        Dtype::F32 => format!("(float){a}"),
        Dtype::F64 => format!("(double){a}"),
        Dtype::I64 if from.is_float() => format!("to_i64({a})"),
        Dtype::I64 => format!("(i64){a}"),
        Dtype::I32 if from.is_float() => format!("to_i32({a})"),
        Dtype::I32 => format!("(int){a}"),
        _ if from.is_float() => {
            let (low, high) = to.integer_range().unwrap_or((0, 0));
            format!("clamp_i32(to_i32({a}), {low}, {high})")
        }
        // Narrow integers wrap.
        _ => format!("(int)({})({a})", storage(to)),
    }
}
