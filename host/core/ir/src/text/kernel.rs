//! Kernels in the text form.
//!
//! ```text
//! kernel {
//!   space p0=8, p1=64; reduce r0=128
//!   in x0: f16[8,64,128]
//!   i0 = p0
//!   i1 = p1
//!   i2 = r0
//!   v0: f16 = load x0[i0, i1, i2] pad 0.0
//!   v1: f32 = cast v0
//!   v2: f32 = reduce sum v1
//!   out v2 over [p0, p1] as [8,64]
//! }
//! ```
//!
//! `p` are parallel and `r` reduce axes, `x` inputs, `i` index expressions and `v` body values, each numbered by its
//! position. Index expressions stand before the first instruction that needs them; `i2 / 4` rounds down and `i2 % 4` is
//! never negative. `i3 = v1` is a gather.
//!
//! Who writes a kernel need not number index expressions: `load x0[p0, 2 * r0 + 1, v1]` has them where they are needed. Of
//! such an expression, one side of `*` and the right of `/` and `%` are constants. `kernel {` and `}` may be left out;
//! strides of an input, as a value's type has them, say nothing.

use super::cursor::{Cursor, Joined, NumberToken, Parsed, Real, TextError};
use crate::kernel::{
    Binary, Compare, IndexExpr, IndexId, InputDecl, Inst, Kernel, Op, PaddingMode, ReduceOp, Reg, Scalar, ScanOp,
    Store, Unary,
};
use crate::namespace::is_mistyped;
use std::fmt;
use std::str::FromStr;

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("kernel ")?;
        print_block(f, self, "")
    }
}

impl FromStr for Kernel {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Kernel, TextError> {
        parse_kernel(text)
    }
}

/// Reads what a kernel's `Display` prints, or what stands between its braces. Only [`crate::kernel::verify`] says whether it is a safe kernel.
pub fn parse_kernel(text: &str) -> Result<Kernel, TextError> {
    Cursor::whole(text, |cursor| {
        if cursor.eat_word("kernel") {
            parse_block(cursor)
        } else {
            parse_lines(cursor, |cursor| cursor.peek().is_none())
        }
    })
}

/// How deep parentheses may be within each other.
const MAX_DEPTH: usize = 16;

fn axis(kernel: &Kernel, axis: u32) -> String {
    match axis.checked_sub(u32::try_from(kernel.parallel.len()).unwrap_or(u32::MAX)) {
        None => format!("p{axis}"),
        Some(reduce) => format!("r{reduce}"),
    }
}

/// Prints `{ .. }`, the closing brace behind `indent`.
pub(super) fn print_block(f: &mut fmt::Formatter<'_>, kernel: &Kernel, indent: &str) -> fmt::Result {
    let extents = |letter: char, extents: &[i64]| {
        extents.iter().enumerate().map(|(n, e)| format!("{letter}{n}={e}")).collect::<Vec<_>>().join(", ")
    };
    write!(f, "{{\n{indent}  space")?;
    if !kernel.parallel.is_empty() {
        write!(f, " {}", extents('p', &kernel.parallel))?;
    }
    if !kernel.reduce.is_empty() {
        write!(f, "; reduce {}", extents('r', &kernel.reduce))?;
    }
    f.write_str("\n")?;
    for (number, input) in kernel.inputs.iter().enumerate() {
        writeln!(f, "{indent}  in x{number}: {}[{}]", input.dtype, Joined(&input.shape, ","))?;
    }
    let mut printed = 0;
    for (number, inst) in kernel.body.iter().enumerate() {
        let needed = match &inst.op {
            Op::Load { index, .. } => index.iter().map(|id| id.0 as usize + 1).max().unwrap_or(0),
            Op::Index(id) => id.0 as usize + 1,
            _ => 0,
        };
        print_index(f, kernel, indent, &mut printed, needed)?;
        write!(f, "{indent}  v{number}: {} = ", inst.dtype)?;
        print_op(f, &inst.op)?;
        f.write_str("\n")?;
    }
    print_index(f, kernel, indent, &mut printed, kernel.index.len())?;
    for store in &kernel.stores {
        let order: Vec<String> = store.order.iter().map(|&a| axis(kernel, a)).collect();
        let shape = Joined(&store.shape, ",");
        writeln!(f, "{indent}  out {} over [{}] as [{shape}]", store.value, Joined(&order, ", "))?;
    }
    write!(f, "{indent}}}")
}

/// Prints the index expressions up to `needed` that are not printed yet.
fn print_index(
    f: &mut fmt::Formatter<'_>,
    kernel: &Kernel,
    indent: &str,
    printed: &mut usize,
    needed: usize,
) -> fmt::Result {
    while *printed < needed.min(kernel.index.len()) {
        let text = match &kernel.index[*printed] {
            IndexExpr::Axis(a) => axis(kernel, *a),
            IndexExpr::Const(c) => c.to_string(),
            IndexExpr::Add(a, b) => format!("{a} + {b}"),
            IndexExpr::Sub(a, b) => format!("{a} - {b}"),
            IndexExpr::Mul(a, c) => format!("{a} * {c}"),
            IndexExpr::FloorDiv(a, c) => format!("{a} / {c}"),
            IndexExpr::Mod(a, c) => format!("{a} % {c}"),
            IndexExpr::Value(reg) => reg.to_string(),
        };
        writeln!(f, "{indent}  i{printed} = {text}")?;
        *printed += 1;
    }
    Ok(())
}

fn print_op(f: &mut fmt::Formatter<'_>, op: &Op) -> fmt::Result {
    match op {
        Op::Const(scalar) => write!(f, "const {scalar}"),
        Op::Index(id) => write!(f, "index {id}"),
        Op::Load { input, index, padding } => {
            write!(f, "load x{input}[{}] ", Joined(index, ", "))?;
            match padding {
                PaddingMode::Pad(scalar) => write!(f, "pad {scalar}"),
                PaddingMode::Clamp => f.write_str("clamp"),
            }
        }
        Op::Unary(op, a) => write!(f, "{op} {a}"),
        Op::Binary(op, a, b) => write!(f, "{op} {a}, {b}"),
        Op::Compare(op, a, b) => write!(f, "{op} {a}, {b}"),
        Op::Select(a, b, c) => write!(f, "select {a}, {b}, {c}"),
        Op::Fma(a, b, c) => write!(f, "fma {a}, {b}, {c}"),
        Op::Cast(a) => write!(f, "cast {a}"),
        Op::Reduce(op, a) => write!(f, "reduce {op} {a}"),
        Op::Scan(op, a) => write!(f, "scan {op} {a}"),
    }
}

impl fmt::Display for IndexId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "i{}", self.0)
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Bool(x) => write!(f, "{x}"),
            Scalar::Int(x) => write!(f, "{x}"),
            Scalar::Float(x) => write!(f, "{}", Real(*x)),
        }
    }
}

/// Reads `{ .. }`.
pub(super) fn parse_block(cursor: &mut Cursor<'_>) -> Parsed<Kernel> {
    cursor.expect("{")?;
    parse_lines(cursor, |cursor| cursor.eat("}"))
}

/// Reads lines until `ends` says that there are no more.
fn parse_lines<'a>(cursor: &mut Cursor<'a>, mut ends: impl FnMut(&mut Cursor<'a>) -> bool) -> Parsed<Kernel> {
    let mut kernel = Kernel::default();
    cursor.expect_word("space")?;
    if cursor.peek() == Some('p') {
        kernel.parallel = extents(cursor, "p")?;
    }
    if cursor.eat(";") {
        cursor.expect_word("reduce")?;
        kernel.reduce = extents(cursor, "r")?;
    }
    while !ends(cursor) {
        let before = cursor.clone();
        let word = cursor.word("a line of a kernel, or `}`")?;
        match (word, split_name(word)) {
            ("in", _) => {
                let before = cursor.clone();
                let expected = format!("x{}", kernel.inputs.len());
                if cursor.word("an input")? != expected {
                    return Err(before.unexpected(format_args!("`{expected}`: inputs are numbered by position")));
                }
                cursor.expect(":")?;
                let (dtype, shape) = cursor.shaped()?;
                // Strides, as the type of a value is printed: they are bound when the kernel runs.
                if cursor.peek() == Some('{') {
                    cursor.list("{", "}", |cursor| cursor.integer("a stride"))?;
                }
                kernel.inputs.push(InputDecl { dtype, shape });
            }
            ("out", _) => {
                let value = reg(cursor)?;
                if !cursor.eat_word("over") {
                    return Err(cursor.unexpected("`over` and the axes, such as `over [p0]`"));
                }
                let order = cursor.list("[", "]", |cursor| parse_axis(cursor, &kernel))?;
                cursor.expect_word("as")?;
                let shape = cursor.list("[", "]", |cursor| cursor.integer("an extent"))?;
                kernel.stores.push(Store { value, order, shape });
            }
            (_, Some(("i", number))) => {
                in_sequence(&before, "i", number, kernel.index.len())?;
                cursor.expect("=")?;
                let at = cursor.clone();
                match parse_place(cursor, &mut kernel, 0)? {
                    Place::Unlisted(expr) if kernel.index.len() == number as usize => kernel.index.push(expr),
                    _ => {
                        return Err(at.unexpected(
                            "one step of index arithmetic, such as `i0 + i1`: others have lines of their own",
                        ));
                    }
                }
            }
            (_, Some(("v", number))) => {
                in_sequence(&before, "v", number, kernel.body.len())?;
                if !cursor.eat(":") {
                    return Err(cursor.unexpected("`:` and the type of the value"));
                }
                let dtype = cursor.dtype()?;
                cursor.expect("=")?;
                let op = parse_op(cursor, &mut kernel)?;
                kernel.body.push(Inst { dtype, op });
            }
            _ => return Err(before.unexpected("`in`, `out`, an `i` or a `v`")),
        }
    }
    Ok(kernel)
}

/// `p12` is `("p", 12)`.
fn split_name(word: &str) -> Option<(&str, u32)> {
    let (letter, digits) = word.split_at_checked(1)?;
    let canonical = digits.bytes().all(|b| b.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    canonical.then(|| digits.parse().ok()).flatten().map(|number| (letter, number))
}

fn in_sequence(at: &Cursor<'_>, letter: &str, number: u32, next: usize) -> Parsed<()> {
    if number as usize == next {
        Ok(())
    } else {
        Err(at.unexpected(format_args!("`{letter}{next}`: definitions are numbered by position")))
    }
}

/// A name that begins with `letter`, such as `v3`; its number.
fn numbered(cursor: &mut Cursor<'_>, letter: &str) -> Parsed<u32> {
    let before = cursor.clone();
    match split_name(cursor.run(|c| c.is_ascii_alphanumeric())) {
        Some((found, number)) if found == letter => Ok(number),
        _ => Err(before.unexpected(format_args!("a name such as `{letter}0`"))),
    }
}

fn reg(cursor: &mut Cursor<'_>) -> Parsed<Reg> {
    numbered(cursor, "v").map(Reg)
}

/// `p0=8, p1=64`.
fn extents(cursor: &mut Cursor<'_>, letter: &str) -> Parsed<Vec<i64>> {
    let mut next = 0..;
    cursor.items(|cursor| {
        let before = cursor.clone();
        in_sequence(&before, letter, numbered(cursor, letter)?, next.next().unwrap_or_default())?;
        cursor.expect("=")?;
        cursor.integer("an extent")
    })
}

fn parse_axis(cursor: &mut Cursor<'_>, kernel: &Kernel) -> Parsed<u32> {
    let before = cursor.clone();
    let parallel = u32::try_from(kernel.parallel.len()).unwrap_or(u32::MAX);
    let axis = match split_name(cursor.word("an axis")?) {
        Some(("p", number)) if number < parallel => Some(number),
        // Whether there are so many the verifier says, which knows the place as well.
        Some(("r", number)) if !kernel.reduce.is_empty() => number.checked_add(parallel),
        Some(("r", _)) => {
            return Err(before.unexpected("an axis that `space` has; reduce axes stand there as `; reduce r0=64`"));
        }
        _ => None,
    };
    axis.ok_or_else(|| before.unexpected("an axis of this kernel, such as `p0`"))
}

/// An index expression that was read, in place or by name.
enum Place {
    /// One that the kernel lists.
    Listed(IndexId),
    /// One that it does not list yet; its operands are listed.
    Unlisted(IndexExpr),
}

/// Sums and differences of products.
fn parse_place(cursor: &mut Cursor<'_>, kernel: &mut Kernel, depth: usize) -> Parsed<Place> {
    let mut sum = parse_product(cursor, kernel, depth)?;
    loop {
        let of: fn(IndexId, IndexId) -> IndexExpr = match () {
            () if cursor.eat("+") => IndexExpr::Add,
            () if cursor.eat("-") => IndexExpr::Sub,
            () => return Ok(sum),
        };
        let first = listed(kernel, sum);
        let second = parse_product(cursor, kernel, depth)?;
        sum = Place::Unlisted(of(first, listed(kernel, second)));
    }
}

/// Products, quotients and remainders, in which all but one operand are constants.
fn parse_product(cursor: &mut Cursor<'_>, kernel: &mut Kernel, depth: usize) -> Parsed<Place> {
    let mut product = parse_factor(cursor, kernel, depth)?;
    if let Place::Unlisted(IndexExpr::Const(factor)) = product
        && cursor.eat("*")
    {
        let index = parse_factor(cursor, kernel, depth)?;
        product = Place::Unlisted(IndexExpr::Mul(listed(kernel, index), factor));
    }
    loop {
        let of: fn(IndexId, i64) -> IndexExpr = match () {
            () if cursor.eat("*") => IndexExpr::Mul,
            () if cursor.eat("/") => IndexExpr::FloorDiv,
            () if cursor.eat("%") => IndexExpr::Mod,
            () => return Ok(product),
        };
        let index = listed(kernel, product);
        let constant = cursor.integer("a constant: index expressions multiply and divide by constants only")?;
        product = Place::Unlisted(of(index, constant));
    }
}

fn parse_factor(cursor: &mut Cursor<'_>, kernel: &mut Kernel, depth: usize) -> Parsed<Place> {
    Ok(match cursor.peek() {
        Some('i') => Place::Listed(IndexId(numbered(cursor, "i")?)),
        Some('p' | 'r') => Place::Unlisted(IndexExpr::Axis(parse_axis(cursor, kernel)?)),
        Some('v') => Place::Unlisted(IndexExpr::Value(reg(cursor)?)),
        Some('(') if depth == MAX_DEPTH => {
            return Err(cursor.error(format!("more than {MAX_DEPTH} parentheses within each other")));
        }
        Some('(') => {
            cursor.expect("(")?;
            let inner = parse_place(cursor, kernel, depth + 1)?;
            cursor.expect(")")?;
            inner
        }
        _ => Place::Unlisted(IndexExpr::Const(cursor.integer("an index expression")?)),
    })
}

/// The position of an index expression in the list of its kernel, found again if it is there.
fn listed(kernel: &mut Kernel, place: Place) -> IndexId {
    let expr = match place {
        Place::Listed(index) => return index,
        Place::Unlisted(expr) => expr,
    };
    let found = kernel.index.iter().position(|&known| known == expr);
    let position = found.unwrap_or_else(|| {
        kernel.index.push(expr);
        kernel.index.len() - 1
    });
    IndexId(u32::try_from(position).unwrap_or(u32::MAX))
}

fn parse_op(cursor: &mut Cursor<'_>, kernel: &mut Kernel) -> Parsed<Op> {
    let before = cursor.clone();
    let word = cursor.word("an operation")?;
    let unknown = || {
        let mut names = Unary::ALL.iter().map(|op| op.name()).chain(Binary::ALL.iter().map(|op| op.name()));
        let meant = names.find(|name| is_mistyped(word, name)).unwrap_or("others with `exp`, `div` and the like");
        before.unexpected(format_args!("an operation of kernels (write {meant})"))
    };
    let next = |cursor: &mut Cursor<'_>| -> Parsed<Reg> {
        cursor.expect(",")?;
        reg(cursor)
    };
    let mut place = |cursor: &mut Cursor<'_>| parse_place(cursor, kernel, 0).map(|place| listed(kernel, place));
    Ok(match word {
        "const" => Op::Const(parse_scalar(cursor)?),
        "index" => Op::Index(place(cursor)?),
        "load" => {
            let input = numbered(cursor, "x")?;
            let index = cursor.list("[", "]", &mut place)?;
            let padding = if cursor.eat_word("clamp") {
                PaddingMode::Clamp
            } else {
                if !cursor.eat_word("pad") {
                    return Err(cursor.unexpected("`clamp`, or `pad` and what lies outside"));
                }
                PaddingMode::Pad(parse_scalar(cursor)?)
            };
            Op::Load { input, index, padding }
        }
        "select" => Op::Select(reg(cursor)?, next(cursor)?, next(cursor)?),
        "fma" => Op::Fma(reg(cursor)?, next(cursor)?, next(cursor)?),
        "cast" => Op::Cast(reg(cursor)?),
        "reduce" => {
            let names = ReduceOp::ALL.iter().map(|op| op.name()).collect::<Vec<_>>().join(", ");
            let what = format!("a reduction (one of {names}; a mean is a sum that is divided)");
            Op::Reduce(cursor.known(&what, ReduceOp::from_name)?, reg(cursor)?)
        }
        "scan" => {
            let names = ScanOp::ALL.iter().map(|op| op.name()).collect::<Vec<_>>().join(", ");
            Op::Scan(cursor.known(&format!("a scan (one of {names})"), ScanOp::from_name)?, reg(cursor)?)
        }
        name => {
            if let Some(op) = Unary::from_name(name) {
                Op::Unary(op, reg(cursor)?)
            } else if let Some(op) = Binary::from_name(name) {
                Op::Binary(op, reg(cursor)?, next(cursor)?)
            } else {
                Op::Compare(Compare::from_name(name).ok_or_else(unknown)?, reg(cursor)?, next(cursor)?)
            }
        }
    })
}

fn parse_scalar(cursor: &mut Cursor<'_>) -> Parsed<Scalar> {
    if cursor.eat_word("true") {
        return Ok(Scalar::Bool(true));
    }
    if cursor.eat_word("false") {
        return Ok(Scalar::Bool(false));
    }
    Ok(match cursor.number()? {
        NumberToken::Int(x) => Scalar::Int(x),
        NumberToken::Float(x) => Scalar::Float(x),
    })
}
