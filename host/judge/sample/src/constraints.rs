//! `input_tensor_constraints.py`: which extents of the arguments are symbols, and the values that were recorded.

use crate::files::CONSTRAINTS;
use crate::python::{PythonSource, dotted, literal};
use crate::text::FILE_BYTES;
use crate::weights::Weight;
use crate::{SampleText, VariantFiles};
use passhost_ir::MAX_RANK;
pub use passhost_protocol::reader::LARGEST_EXTENT;
use passhost_protocol::reader::SampleError;
use ruff_python_ast::{Expr, ExprDict, ExprList, Stmt, StmtAssign};
use ruff_text_size::{Ranged, TextSize};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;

const SYMBOLS: &str = "dynamic_dim_constraint_symbols";
const EXAMPLES: &str = "dynamic_dim_constraint_symbol2example_value";
const RELATIONS: &str = "dynamic_dim_constraint_relations";
const SHAPES: &str = "dynamic_dim_constraint_input_shapes";

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
    let mut reader = ConstraintsReader { source, defined: HashSet::new(), lists: HashMap::new() };
    for statement in &statements {
        reader.statement(statement)?;
    }
    if statements.is_empty() { Ok(Constraints::default()) } else { reader.finish() }
}

struct ConstraintsReader<'a, 's> {
    source: &'a PythonSource<'a>,
    /// Names that a `Symbol(...)` was assigned to.
    defined: HashSet<&'s str>,
    /// The four lists by their names.
    lists: HashMap<&'static str, &'s Expr>,
}

impl<'s> ConstraintsReader<'_, 's> {
    fn error(&self, at: &impl Ranged, message: impl Into<String>) -> SampleError {
        self.source.error(at.start(), message)
    }

    /// What was expected instead of what stands there.
    fn found(&self, at: &impl Ranged, expected: &str) -> SampleError {
        self.error(at, format!("{expected}, found `{}`", self.source.excerpt(at)))
    }

    fn statement(&mut self, statement: &'s Stmt) -> Result<(), SampleError> {
        match statement {
            Stmt::Import(import) if import.names.iter().all(|name| name.name.as_str() == "sympy") => Ok(()),
            Stmt::ImportFrom(import) if import.module.as_ref().is_some_and(|module| module.as_str() == "sympy") => {
                Ok(())
            }
            Stmt::Assign(assign) => self.assign(assign),
            other => {
                Err(self.error(other, "expected only imports of sympy, symbols, and the four lists of constraints"))
            }
        }
    }

    fn assign(&mut self, assign: &'s StmtAssign) -> Result<(), SampleError> {
        let [Expr::Name(target)] = &assign.targets[..] else {
            return Err(self.error(assign, "expected an assignment to one name"));
        };
        let name = target.id.as_str();
        if let Some(&list) = [SYMBOLS, EXAMPLES, RELATIONS, SHAPES].iter().find(|&&list| list == name) {
            if self.lists.insert(list, &assign.value).is_some() {
                return Err(self.error(assign, format!("`{list}` is given twice")));
            }
            return Ok(());
        }
        match symbol_name(&assign.value) {
            Some(symbol) if symbol == name => {}
            Some(symbol) => {
                return Err(self.error(assign, format!("the symbol `{symbol}` is assigned to another name, `{name}`")));
            }
            None => return Err(self.found(&*assign.value, &format!("expected `{name} = Symbol(\"{name}\")`"))),
        }
        if self.defined.insert(name) { Ok(()) } else { Err(self.error(assign, format!("`{name}` is defined twice"))) }
    }

    fn finish(&self) -> Result<Constraints, SampleError> {
        if let Some(first) = self.list(RELATIONS)?.elts.first() {
            let text = self.source.excerpt(first);
            return Err(self.error(first, format!("`{text}`: relations between symbols are not understood")));
        }
        let mut constraints = Constraints { symbols: self.symbols()?, shapes: vec![] };
        let mut seen = HashSet::new();
        for item in &self.list(SHAPES)?.elts {
            let (name, extents) = self.shape(item, &constraints)?;
            if !seen.insert(name) {
                return Err(self.error(item, format!("the argument `{name}` has two shapes")));
            }
            constraints.shapes.push((name.to_owned(), extents));
        }
        Ok(constraints)
    }

    fn given(&self, name: &str) -> Result<&'s Expr, SampleError> {
        let missing = || self.source.error(TextSize::default(), format!("`{name}` is missing"));
        self.lists.get(name).copied().ok_or_else(missing)
    }

    fn list(&self, name: &str) -> Result<&'s ExprList, SampleError> {
        let given = self.given(name)?;
        given.as_list_expr().ok_or_else(|| self.error(given, format!("`{name}` is no list")))
    }

    /// The symbols in the order of their list, with their values.
    fn symbols(&self) -> Result<Vec<(String, i64)>, SampleError> {
        let list = self.list(SYMBOLS)?;
        let examples = self.given(EXAMPLES)?;
        let Expr::Dict(examples) = examples else {
            return Err(self.error(examples, format!("`{EXAMPLES}` is no dictionary")));
        };
        let values = self.examples(examples)?;
        let mut symbols: Vec<(String, i64)> = vec![];
        for item in &list.elts {
            let name = self.symbol(item)?;
            if symbols.iter().any(|(known, _)| known == name) {
                return Err(self.error(item, format!("`{name}` is listed twice")));
            }
            let value =
                values.get(name).ok_or_else(|| self.error(item, format!("`{name}` has no value in `{EXAMPLES}`")))?;
            symbols.push((name.to_owned(), *value));
        }
        let listed = |name: &&str| symbols.iter().any(|(known, _)| known == name);
        let mut unlisted: Vec<&str> =
            self.defined.iter().chain(values.keys()).copied().filter(|name| !listed(name)).collect();
        unlisted.sort_unstable();
        match unlisted.first() {
            Some(name) => Err(self.error(list, format!("the symbol `{name}` is not in `{SYMBOLS}`"))),
            None => Ok(symbols),
        }
    }

    fn examples<'e>(&self, examples: &'e ExprDict) -> Result<HashMap<&'e str, i64>, SampleError> {
        let mut values = HashMap::new();
        for item in &examples.items {
            let Some(key) = &item.key else { return Err(self.error(&item.value, "expected `symbol: value`")) };
            let name = self.symbol(key)?;
            let value = integer(&item.value).filter(|value| (1..=LARGEST_EXTENT).contains(value));
            let value = value.ok_or_else(|| {
                let text = self.source.excerpt(&item.value);
                let expected = format!("expected an integer between 1 and {LARGEST_EXTENT}");
                self.error(&item.value, format!("the value of `{name}` is `{text}`; {expected}"))
            })?;
            if values.insert(name, value).is_some() {
                return Err(self.error(key, format!("`{name}` has two values")));
            }
        }
        Ok(values)
    }

    /// A bare symbol that was defined.
    fn symbol<'e>(&self, expression: &'e Expr) -> Result<&'e str, SampleError> {
        match expression {
            Expr::Name(name) if self.defined.contains(name.id.as_str()) => Ok(name.id.as_str()),
            Expr::Name(name) => Err(self.error(expression, format!("the symbol `{}` is not defined", name.id))),
            other => Err(self.found(other, "expected a symbol")),
        }
    }

    /// `([S0, 3, S1, S1], "name")`.
    fn shape<'e>(&self, item: &'e Expr, known: &Constraints) -> Result<(&'e str, Vec<Extent>), SampleError> {
        let parts = match item {
            Expr::Tuple(tuple) => &tuple.elts[..],
            _ => &[],
        };
        let [Expr::List(extents), Expr::StringLiteral(name)] = parts else {
            return Err(self.found(item, "expected `([extents], \"argument\")`"));
        };
        if extents.elts.len() > MAX_RANK {
            let found = extents.elts.len();
            return Err(self.error(extents, format!("a shape has at most {MAX_RANK} extents, found {found}")));
        }
        let argument = name.value.to_str();
        if argument.is_empty() || !argument.chars().all(|c| c.is_alphanumeric() || c == '_') {
            return Err(self.error(name, format!("`{argument}` is no name of an argument")));
        }
        let extents = extents.elts.iter().map(|extent| self.extent(extent, known)).collect::<Result<_, _>>()?;
        Ok((argument, extents))
    }

    fn extent(&self, extent: &Expr, known: &Constraints) -> Result<Extent, SampleError> {
        if let Some(value) = integer(extent) {
            return if (0..=LARGEST_EXTENT).contains(&value) {
                Ok(Extent::Fixed(value))
            } else {
                Err(self.error(extent, format!("an extent of {value}; expected one between 0 and {LARGEST_EXTENT}")))
            };
        }
        let Expr::Name(_) = extent else {
            return Err(self.found(extent, "an extent is an integer or one symbol"));
        };
        let name = self.symbol(extent)?;
        known.position(name).map(Extent::Symbol).ok_or_else(|| self.error(extent, format!("`{name}` has no value")))
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
    if expression.is_number_literal_expr() { literal(expression)?.int() } else { None }
}

#[cfg(test)]
mod tests;
