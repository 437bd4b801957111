//! A program as `torch.fx` prints it: a list of calls over named values, with their Python arguments. It has no types
//! yet; `translate` gives it some, [`mod@print`] writes it back.

pub(crate) mod operator;
pub(crate) mod parse;
pub mod print;

use crate::nesting::nested;
use serde::{Deserialize, Serialize};

/// A value of a [`Trace`]: its parameters come first, then what its nodes return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ValueRef(pub u32);

impl ValueRef {
    /// The position among parameters and nodes.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A traced program: the calls of `forward`, one after the other.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Trace {
    /// The arguments of `forward` without `self`.
    pub parameters: Vec<Parameter>,
    /// The calls, in order.
    pub nodes: Vec<TraceNode>,
    /// What `forward` returns, a tuple flattened.
    pub outputs: Vec<Expr>,
}

/// An argument of `forward`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Whether it is annotated as a symbolic integer: a Python number, recorded as a tensor without dimensions.
    pub is_symbol: bool,
    /// Offset in the file.
    pub offset: u32,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceNode {
    /// The name that the result is assigned to; empty where it is not.
    pub name: String,
    /// What is called.
    pub target: CallTarget,
    /// Positional arguments. A method's first one is the object.
    pub args: Vec<Expr>,
    /// Keyword arguments.
    pub kwargs: Vec<(String, Expr)>,
    /// Offset in the file, for messages.
    pub offset: u32,
}

/// What a node calls.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CallTarget {
    /// A function by its dotted path, such as `torch.nn.functional.relu`.
    Function(String),
    /// A method.
    Method(String),
    /// `x + y`, `-x`, `x < y`: by the function of Python's module `operator` that does it.
    #[serde(deserialize_with = "operator::known")]
    Operator(operator::OperatorName),
    /// `x += y`.
    #[serde(deserialize_with = "operator::known")]
    InPlace(operator::OperatorName),
    /// `x[y]`.
    GetItem,
    /// `x[y] = z`.
    SetItem,
    /// `x.shape`.
    Attribute(String),
}

/// An argument: a Python expression without calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Expr {
    /// A parameter or the result of a node.
    Value(ValueRef),
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A string.
    Str(String),
    /// `...`.
    Ellipsis,
    /// A constant of torch by its dotted path, such as `torch.float16`.
    Constant(String),
    /// `device(type='cuda', index=0)`: a type, and an index if there is one.
    Device(String, Option<i64>),
    /// `slice(a, b, c)`.
    #[serde(deserialize_with = "nested")]
    Slice(Box<[Expr; 3]>),
    /// A list.
    #[serde(deserialize_with = "nested")]
    List(Vec<Expr>),
    /// A tuple or a size.
    #[serde(deserialize_with = "nested")]
    Tuple(Vec<Expr>),
}

impl Expr {
    /// Every value in it, in order.
    pub fn values(&self) -> Vec<ValueRef> {
        match self {
            Expr::Value(value) => vec![*value],
            Expr::Slice(parts) => parts.iter().flat_map(Expr::values).collect(),
            Expr::List(items) | Expr::Tuple(items) => items.iter().flat_map(Expr::values).collect(),
            _ => vec![],
        }
    }

    /// About how much of it there is to copy, where `of` says what a value counts. Saturates.
    pub(crate) fn weight(&self, of: &impl Fn(ValueRef) -> u64) -> u64 {
        let all = |parts: &[Expr]| parts.iter().fold(1u64, |sum, part| sum.saturating_add(part.weight(of)));
        match self {
            Expr::Value(value) => of(*value),
            Expr::Str(text) | Expr::Constant(text) | Expr::Device(text, _) => 1 + text.len() as u64 / 8,
            Expr::Slice(parts) => all(&parts[..]),
            Expr::List(items) | Expr::Tuple(items) => all(items),
            _ => 1,
        }
    }

    /// Calls `f` with everything in it that has no parts, in order.
    pub(crate) fn each_leaf(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match self {
            Expr::Slice(parts) => parts.iter_mut().for_each(|part| part.each_leaf(f)),
            Expr::List(items) | Expr::Tuple(items) => items.iter_mut().for_each(|item| item.each_leaf(f)),
            leaf => f(leaf),
        }
    }

    /// The same expression with every value replaced.
    pub fn map(&self, f: &mut impl FnMut(ValueRef) -> Expr) -> Expr {
        let mut mapped = self.clone();
        mapped.replace(f);
        mapped
    }

    fn replace(&mut self, f: &mut impl FnMut(ValueRef) -> Expr) {
        self.each_leaf(&mut |leaf| {
            if let Expr::Value(value) = leaf {
                *leaf = f(*value);
            }
        });
    }
}

impl TraceNode {
    /// The values that it reads, in argument order, repetitions included.
    pub fn operands(&self) -> Vec<ValueRef> {
        let arguments = self.args.iter().chain(self.kwargs.iter().map(|(_, value)| value));
        arguments.flat_map(Expr::values).collect()
    }

    /// Its arguments, positional ones first.
    pub(crate) fn arguments_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.args.iter_mut().chain(self.kwargs.iter_mut().map(|(_, value)| value))
    }

    /// The same call with every value replaced.
    pub(crate) fn map(&self, f: &mut impl FnMut(ValueRef) -> Expr) -> TraceNode {
        let mut mapped = self.clone();
        mapped.arguments_mut().for_each(|argument| argument.replace(f));
        mapped
    }
}

impl Trace {
    /// The value that the node at `position` returns.
    pub fn result(&self, position: usize) -> ValueRef {
        ValueRef(u32::try_from(self.parameters.len() + position).unwrap_or(u32::MAX))
    }

    /// The position of the node that returns a value; `None` for a parameter.
    pub fn definition(&self, value: ValueRef) -> Option<usize> {
        value.index().checked_sub(self.parameters.len())
    }

    /// The name of a value.
    pub fn name(&self, value: ValueRef) -> &str {
        match self.definition(value) {
            None => &self.parameters[value.index()].name,
            Some(position) => &self.nodes[position].name,
        }
    }

    /// The same program with the results of some nodes as further parameters, and without those of `dropped`, which
    /// nobody reads.
    pub fn lifted(&self, results: &[ValueRef], dropped: &[ValueRef]) -> Trace {
        let first = self.parameters.len();
        let mut map: Vec<ValueRef> = (0..first as u32).map(ValueRef).collect();
        let mut program = Trace { parameters: self.parameters.clone(), nodes: vec![], outputs: vec![] };
        for (position, result) in results.iter().enumerate() {
            let name = format!("lifted_{position}");
            program.parameters.push(Parameter { name, is_symbol: false, offset: 0 });
            debug_assert!(self.definition(*result).is_some(), "parameters are no results");
        }
        for (position, node) in self.nodes.iter().enumerate() {
            let result = self.result(position);
            if let Some(lifted) = results.iter().position(|lifted| *lifted == result) {
                map.push(ValueRef((first + lifted) as u32));
                continue;
            }
            map.push(program.result(program.nodes.len()));
            if dropped.contains(&result) {
                continue;
            }
            program.nodes.push(node.map(&mut |value| moved(&map, value)));
        }
        program.outputs = self.outputs.iter().map(|output| output.map(&mut |value| moved(&map, value))).collect();
        program
    }

    /// The same program with every device that it names replaced.
    pub fn on_device(mut self, kind: &str) -> Trace {
        for argument in self.nodes.iter_mut().flat_map(TraceNode::arguments_mut) {
            argument.each_leaf(&mut |leaf| {
                if let Expr::Device(..) = leaf {
                    *leaf = Expr::Device(kind.to_owned(), None);
                }
            });
        }
        self
    }
}

/// What a value has become, where `map` says so by its position.
pub(crate) fn moved(map: &[ValueRef], value: ValueRef) -> Expr {
    Expr::Value(map.get(value.index()).copied().unwrap_or(value))
}

impl CallTarget {
    /// The name of the function or method without its path, and without the overload of an op.
    pub(crate) fn called(&self) -> Option<&str> {
        match self {
            CallTarget::Method(name) => Some(name),
            CallTarget::Function(path) => match path.strip_prefix("torch.ops.aten.") {
                Some(op) => op.split('.').next(),
                None => path.rsplit('.').next(),
            },
            _ => None,
        }
    }

    /// The name of the operation: a path, `.method`, `operator.add`.
    pub fn op_name(&self) -> String {
        match self {
            CallTarget::Function(path) => path.clone(),
            CallTarget::Method(name) => format!(".{name}"),
            CallTarget::Operator(name) => format!("operator.{name}"),
            CallTarget::InPlace(name) => format!("operator.i{}", name.trim_end_matches('_')),
            CallTarget::GetItem => "operator.getitem".into(),
            CallTarget::SetItem => "operator.setitem".into(),
            CallTarget::Attribute(name) => format!("getattr.{name}"),
        }
    }
}
