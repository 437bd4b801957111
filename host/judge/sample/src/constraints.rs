//! `input_tensor_constraints.py`: which extents of the arguments are symbols, and the values that were recorded.

use crate::files::CONSTRAINTS;
use crate::python::{PythonSource, dotted};
use crate::text::FILE_BYTES;
use crate::weights::Weight;
use crate::{SampleText, VariantFiles};
pub use passhost_protocol::reader::LARGEST_EXTENT;
use passhost_protocol::reader::SampleError;
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Write;

const SYMBOLS: &str = "dynamic_dim_constraint_symbols";
const EXAMPLES: &str = "dynamic_dim_constraint_symbol2example_value";
const RELATIONS: &str = "dynamic_dim_constraint_relations";
const SHAPES: &str = "dynamic_dim_constraint_input_shapes";
/// The lists in the order in which they stand.
const LISTS: [&str; 4] = [SYMBOLS, EXAMPLES, RELATIONS, SHAPES];

/// The symbols of a graph, and the shapes of its arguments in terms of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Constraints {
    /// Symbols in the file's order, each with its value in the recorded shapes.
    pub symbols: Vec<(String, i64)>,
    /// The shape of each argument by its name, in the file's order.
    pub shapes: Vec<(String, Vec<Extent>)>,
}

/// An extent of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Extent {
    /// The same in every variant.
    Fixed(i64),
    /// The value of the symbol at this position.
    Symbol(usize),
}

impl SampleText {
    /// Reads the symbols of variant `index`.
    ///
    /// # Errors
    ///
    /// If the file is missing, or says something that is not understood.
    ///
    /// # Panics
    ///
    /// If there is no such variant.
    pub fn constraints(&self, index: usize) -> Result<Constraints, SampleError> {
        let VariantFiles { path, .. } = &self.variants[index];
        let path = path.join(CONSTRAINTS);
        let text = self.files.read(&path, FILE_BYTES)?;
        constraints(&PythonSource::new(self.files.shown(&path), &text))
    }
}

impl Constraints {
    /// Those of arguments whose extents are all fixed.
    pub fn fixed(weights: &[Weight]) -> Constraints {
        let shape = |weight: &Weight| weight.ty.shape.iter().copied().map(Extent::Fixed).collect();
        Constraints {
            symbols: vec![],
            shapes: weights.iter().map(|weight| (weight.name.clone(), shape(weight))).collect(),
        }
    }

    /// Those of a graph that names no symbol: each extent above 1 that arguments have is one, such as `E512`, wherever they
    /// have it. So what must agree still does.
    pub fn of_extents(weights: &[Weight]) -> Constraints {
        let extents: BTreeSet<i64> = weights.iter().flat_map(|weight| weight.ty.shape.iter().copied()).collect();
        let extents: Vec<i64> = extents.into_iter().filter(|&extent| extent > 1).collect();
        let extent = |&extent: &i64| match extents.binary_search(&extent) {
            Ok(symbol) => Extent::Symbol(symbol),
            Err(_) => Extent::Fixed(extent),
        };
        let shape = |weight: &Weight| (weight.name.clone(), weight.ty.shape.iter().map(extent).collect());
        let shapes = weights.iter().map(shape).collect();
        Constraints { symbols: extents.iter().map(|&extent| (format!("E{extent}"), extent)).collect(), shapes }
    }

    /// The position of a symbol.
    pub fn position(&self, symbol: &str) -> Option<usize> {
        self.symbols.iter().position(|(name, _)| name == symbol)
    }

    /// The shape of an argument for the current values of the symbols.
    pub fn shape(&self, extents: &[Extent]) -> Vec<i64> {
        let extent = |extent: &Extent| match *extent {
            Extent::Fixed(extent) => extent,
            Extent::Symbol(symbol) => self.symbols[symbol].1,
        };
        extents.iter().map(extent).collect()
    }

    /// A folder name such as `s0-8_s1-197`; `s-fixed` where there is no symbol.
    pub fn label(&self) -> String {
        let parts: Vec<String> =
            self.symbols.iter().map(|(name, value)| format!("{}-{value}", name.to_lowercase())).collect();
        if parts.is_empty() { "s-fixed".to_owned() } else { parts.join("_") }
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let names: Vec<&str> = self.symbols.iter().map(|(name, _)| name.as_str()).collect();
        let examples: Vec<String> = self.symbols.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let mut text = String::new();
        if !names.is_empty() {
            text.push_str("from sympy import Symbol\n\n");
            for name in &names {
                let _ = writeln!(text, "{name} = Symbol(\"{name}\")");
            }
            text.push('\n');
        }
        let _ = writeln!(text, "{SYMBOLS} = [{}]\n", names.join(", "));
        let _ = writeln!(text, "{EXAMPLES} = {{{}}}\n", examples.join(", "));
        let _ = writeln!(text, "{RELATIONS} = []\n");
        let _ = writeln!(text, "{SHAPES} = [");
        for (name, extents) in &self.shapes {
            let extents: Vec<String> = extents
                .iter()
                .map(|extent| match *extent {
                    Extent::Fixed(extent) => extent.to_string(),
                    Extent::Symbol(symbol) => names[symbol].to_owned(),
                })
                .collect();
            let _ = writeln!(text, "    ([{}], \"{name}\"),", extents.join(", "));
        }
        text.push_str("]\n");
        text
    }
}

/// Reads the file, which may be empty: then there are no symbols.
pub fn constraints(source: &PythonSource<'_>) -> Result<Constraints, SampleError> {
    let statements = source.statements()?;
    let mut reader = ConstraintsReader { source, read: Constraints::default(), missing: &LISTS };
    statements.iter().try_for_each(|statement| reader.statement(statement))?;
    match (statements.last(), reader.missing.first()) {
        (Some(last), Some(list)) => Err(source.error(last.start(), format!("`{list}` is missing"))),
        _ => Ok(reader.read),
    }
}

struct ConstraintsReader<'a> {
    source: &'a PythonSource<'a>,
    /// What was read. A symbol without a value has 0.
    read: Constraints,
    /// The lists that are to come.
    missing: &'static [&'static str],
}

impl ConstraintsReader<'_> {
    /// Says what was expected instead of what stands there.
    fn found(&self, at: &impl Ranged, expected: &str) -> SampleError {
        self.source.error(at.start(), format!("expected {expected}, found `{}`", self.source.excerpt(at)))
    }

    fn statement(&mut self, statement: &Stmt) -> Result<(), SampleError> {
        let expected = "imports of sympy, symbols, and the four lists of constraints in their order";
        match statement {
            Stmt::Import(import) if import.names.iter().all(|name| name.name.as_str() == "sympy") => Ok(()),
            Stmt::ImportFrom(import) if import.module.as_deref().is_some_and(|module| module == "sympy") => Ok(()),
            Stmt::Assign(assign) => match &assign.targets[..] {
                [Expr::Name(target)] if self.missing.first() == Some(&target.id.as_str()) => {
                    self.missing = &self.missing[1..];
                    self.list(target.id.as_str(), &assign.value)
                }
                [Expr::Name(target)] if symbol_name(&assign.value) == Some(target.id.as_str()) => Ok(()),
                _ => Err(self.found(statement, expected)),
            },
            other => Err(self.found(other, expected)),
        }
    }

    fn list(&mut self, name: &str, value: &Expr) -> Result<(), SampleError> {
        match (name, value) {
            (SYMBOLS, Expr::List(list)) => list.elts.iter().try_for_each(|item| match item {
                Expr::Name(name) if self.read.position(&name.id).is_none() => {
                    self.read.symbols.push((name.id.to_string(), 0));
                    Ok(())
                }
                other => Err(self.found(other, "symbols, each once")),
            }),
            (EXAMPLES, Expr::Dict(examples)) => {
                for item in &examples.items {
                    let symbol = item.key.as_ref().and_then(|key| self.symbol(key));
                    let value = integer(&item.value).filter(|value| (1..=LARGEST_EXTENT).contains(value));
                    let (Some(symbol), Some(value)) = (symbol, value) else {
                        return Err(
                            self.found(&item.value, &format!("a symbol with a value from 1 to {LARGEST_EXTENT}"))
                        );
                    };
                    self.read.symbols[symbol].1 = value;
                }
                match self.read.symbols.iter().find(|(_, value)| *value == 0) {
                    Some((name, _)) => Err(self.found(examples, &format!("a value of `{name}`"))),
                    None => Ok(()),
                }
            }
            (RELATIONS, Expr::List(list)) if list.elts.is_empty() => Ok(()),
            (RELATIONS, other) => Err(self.found(other, "no relations between symbols")),
            (SHAPES, Expr::List(list)) => list.elts.iter().try_for_each(|item| {
                let shape = self.shape(item);
                self.read.shapes.push(shape.ok_or_else(|| {
                    self.found(item, "`([extents], \"argument\")`, each extent an integer or a symbol")
                })?);
                Ok(())
            }),
            (_, other) => Err(self.found(other, "a list, or a dictionary of values")),
        }
    }

    fn symbol(&self, expression: &Expr) -> Option<usize> {
        self.read.position(&expression.as_name_expr()?.id)
    }

    /// `([S0, 3, S1, S1], "name")`.
    fn shape(&self, item: &Expr) -> Option<(String, Vec<Extent>)> {
        let [Expr::List(extents), Expr::StringLiteral(name)] = &item.as_tuple_expr()?.elts[..] else { return None };
        let name = name.value.to_str();
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let extent = |extent: &Expr| match integer(extent) {
            Some(value) => (0..=LARGEST_EXTENT).contains(&value).then_some(Extent::Fixed(value)),
            None => self.symbol(extent).map(Extent::Symbol),
        };
        is_name.then_some((name.to_owned(), extents.elts.iter().map(extent).collect::<Option<_>>()?))
    }
}

/// The name in `Symbol("S0")` or `sympy.Symbol("S0")`.
fn symbol_name(expression: &Expr) -> Option<&str> {
    let Expr::Call(call) = expression else { return None };
    let is_symbol = matches!(dotted(&call.func)?.as_str(), "Symbol" | "sympy.Symbol");
    match &call.arguments.args[..] {
        [Expr::StringLiteral(name)] if is_symbol && call.arguments.keywords.is_empty() => Some(name.value.to_str()),
        _ => None,
    }
}

/// A plain integer that fits 64 bits; a negative one is none.
fn integer(expression: &Expr) -> Option<i64> {
    expression.as_number_literal_expr()?.value.as_int()?.as_i64()
}

#[cfg(test)]
mod tests;
