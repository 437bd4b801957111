//! Index expressions and the numbers of points as text.

use super::{CudaEmitter, IndexContext, NameScope};
use passhost_ir::kernel::{IndexExpr, IndexId, Interval};

impl CudaEmitter<'_> {
    /// The name of an index expression's value, computed here unless it is known.
    pub(super) fn index(&mut self, id: IndexId, context: &IndexContext, scope: &mut NameScope) -> String {
        if let Some(name) = scope.known.get(&id) {
            return name.clone();
        }
        let mut needed = vec![false; id.0 as usize + 1];
        needed[id.0 as usize] = true;
        for at in (0..needed.len()).rev().filter(|at| !scope.known.contains_key(&IndexId(*at as u32))) {
            if needed[at] {
                match self.kernel.index[at] {
                    IndexExpr::Add(a, b) | IndexExpr::Sub(a, b) => {
                        needed[a.0 as usize] = true;
                        needed[b.0 as usize] = true;
                    }
                    IndexExpr::Mul(a, _) | IndexExpr::FloorDiv(a, _) | IndexExpr::Mod(a, _) => {
                        needed[a.0 as usize] = true
                    }
                    IndexExpr::Axis(_) | IndexExpr::Const(_) | IndexExpr::Value(_) => {}
                }
            }
        }
        for at in (0..needed.len()).filter(|at| needed[*at]) {
            let at = IndexId(at as u32);
            if scope.known.contains_key(&at) {
                continue;
            }
            let (ty, text) = self.index_expression(at, context, scope);
            let name = format!("i{}_{}", at.0, self.counter);
            self.counter += 1;
            self.text.line(format_args!("const {ty} {name} = {text};"));
            scope.known.insert(at, name);
        }
        scope.known[&id].clone()
    }

    /// The type and the text of an index expression whose operands are known.
    pub(super) fn index_expression(
        &self,
        id: IndexId,
        context: &IndexContext,
        scope: &NameScope,
    ) -> (&'static str, String) {
        let interval = |id: IndexId| self.facts.index_interval(id);
        let name = |id: IndexId| scope.known[&id].as_str();
        let ty = integer_type(interval(id));
        // Where anything takes part that needs 64 bits, everything is computed in 64.
        let of = |operands: &[IndexId], constant: i64| {
            let all = operands
                .iter()
                .map(|id| integer_type(interval(*id)))
                .chain([ty, integer_type(Interval::point(constant))]);
            if all.into_iter().any(|ty| ty == "i64") { "i64" } else { "int" }
        };
        let constant = |value: i64, ty: &str| if ty == "i64" { format!("{value}ll") } else { value.to_string() };
        let text = match self.kernel.index[id.0 as usize] {
            IndexExpr::Axis(axis) => {
                let axis = axis as usize;
                let (domain, number) = match self.schedule.rows.walk(axis) {
                    Some(_) => (&self.schedule.rows, &context.row),
                    None => (&self.schedule.points, &context.point),
                };
                let (inner, extent) = domain.walk(axis).unwrap_or((1, 1));
                position(number, inner, extent, domain.points())
            }
            IndexExpr::Const(value) => constant(value, ty),
            IndexExpr::Add(a, b) => {
                let wide = of(&[a, b], 0);
                format!("({wide}){} + ({wide}){}", name(a), name(b))
            }
            IndexExpr::Sub(a, b) => {
                let wide = of(&[a, b], 0);
                format!("({wide}){} - ({wide}){}", name(a), name(b))
            }
            IndexExpr::Mul(a, factor) => {
                let wide = of(&[a], factor);
                format!("({wide}){} * {}", name(a), constant(factor, wide))
            }
            IndexExpr::FloorDiv(a, divisor) | IndexExpr::Mod(a, divisor) => {
                let wide = of(&[a], divisor);
                let remainder = matches!(self.kernel.index[id.0 as usize], IndexExpr::Mod(..));
                if interval(a).low >= 0 {
                    let (unsigned, suffix) = if wide == "i64" { ("u64", "ull") } else { ("u32", "u") };
                    let operator = if remainder { "%" } else { "/" };
                    format!("({unsigned}){} {operator} {divisor}{suffix}", name(a))
                } else {
                    let function = if remainder { "floor_mod" } else { "floor_div" };
                    format!("{function}(({wide}){}, ({wide}){})", name(a), constant(divisor, wide))
                }
            }
            IndexExpr::Value(reg) => self.name(reg),
        };
        (ty, format!("({ty})({text})"))
    }
}

/// The position along axes that act as one, from the number of a point among `points`.
pub(super) fn position(number: &str, inner: i64, extent: i64, points: u64) -> String {
    let suffix = if number_type(points) == "u64" { "ull" } else { "u" };
    if extent == 1 {
        return "0".to_owned();
    }
    let divided = if inner == 1 { number.to_owned() } else { format!("{number} / {inner}{suffix}") };
    if inner as u64 * extent as u64 == points {
        format!("({divided})")
    } else {
        format!("({divided} % {extent}{suffix})")
    }
}

/// The type of the number of a point, with room for threads past the last.
pub(super) fn number_type(points: u64) -> &'static str {
    if points <= 1 << 30 { "u32" } else { "u64" }
}

pub(super) fn bound(points: u64, ty: &str) -> String {
    if ty == "u64" { format!("{points}ull") } else { format!("{points}u") }
}

fn integer_type(interval: Interval) -> &'static str {
    if interval.low >= i128::from(i32::MIN) && interval.high <= i128::from(i32::MAX) { "int" } else { "i64" }
}
