//! From the statements of `forward` to a typed graph, by abstract interpretation: every Python value is known but for
//! the elements of tensors, and each call becomes one ATen op, or a few.

use crate::calls::{self, Callee};
use crate::error::SampleError;
use crate::python::{Source, dotted};
use crate::value::{PyValue, tensor};
use passhost_ir::{
    Arg, Dtype, Graph, Infer, MemoryFormat, Node, NodeId, NodeKind, OpName, OpTable, TensorType, ValueId,
};
use ruff_python_ast::{CmpOp, Expr, Number, Operator, Stmt, StmtFunctionDef, UnaryOp};
use ruff_text_size::{Ranged, TextSize};
use std::collections::{HashMap, HashSet};

/// The program of `forward`. `types` are those of its parameters, by name.
pub fn translate(
    source: &Source<'_>,
    types: &HashMap<&str, &TensorType>,
    infer: &mut dyn Infer,
) -> Result<(Graph, Vec<String>), SampleError> {
    let statements = source.statements()?;
    let forward = forward(source, &statements)?;
    let mut translator = Translator {
        source,
        infer,
        graph: Graph::default(),
        locals: HashMap::new(),
        names: HashSet::new(),
        at: forward.start(),
    };
    let mut parameters = vec![];
    for parameter in forward.parameters.iter_non_variadic_params().skip(1) {
        let name = parameter.name().as_str();
        let ty = types.get(name).ok_or_else(|| {
            source.error(parameter.start(), format!("parameter `{name}` has no entry in weight_meta.py"))
        })?;
        let value = translator.define(name, (*ty).clone());
        translator.graph.inputs.push(value);
        translator.locals.insert(name.to_owned(), PyValue::Tensor(value));
        parameters.push(name.to_owned());
    }
    let mut returned = false;
    for statement in &forward.body {
        translator.at = statement.start();
        if returned {
            return Err(source.error(statement.start(), "nothing may follow `return`"));
        }
        returned = translator.statement(statement)?;
    }
    if !returned {
        return Err(source.error(forward.start(), "`forward` returns nothing"));
    }
    Ok((translator.graph, parameters))
}

/// The one method of the one class, among imports.
fn forward<'s>(source: &Source<'_>, statements: &'s [Stmt]) -> Result<&'s StmtFunctionDef, SampleError> {
    let mut found = None;
    for statement in statements {
        match statement {
            Stmt::Import(import) if import.names.iter().all(|name| name.name.as_str() == "torch") => {}
            Stmt::ImportFrom(import) if import.module.as_ref().is_some_and(|m| m.as_str() == "torch") => {}
            Stmt::ClassDef(class) => {
                for member in &class.body {
                    match member {
                        Stmt::FunctionDef(function) if function.name.as_str() == "forward" && found.is_none() => {
                            found = Some(function);
                        }
                        Stmt::Pass(_) => {}
                        other => return Err(source.error(other.start(), "expected only a method `forward`")),
                    }
                }
            }
            other => {
                let text = source.excerpt(other);
                let message = format!("`{text}`: expected `import torch` and one class with a method `forward`");
                return Err(source.error(other.start(), message));
            }
        }
    }
    found.ok_or_else(|| source.error(TextSize::default(), "there is no class with a method `forward`"))
}

pub(crate) struct Translator<'a, 'i> {
    source: &'a Source<'a>,
    infer: &'i mut dyn Infer,
    graph: Graph,
    locals: HashMap<String, PyValue>,
    names: HashSet<String>,
    at: TextSize,
}

impl Translator<'_, '_> {
    /// Translates a statement; true if it was the `return`.
    fn statement(&mut self, statement: &Stmt) -> Result<bool, SampleError> {
        match statement {
            Stmt::Assign(assign) => {
                let value = self.evaluate(&assign.value)?;
                for target in &assign.targets {
                    self.assign(target, value.clone())?;
                }
            }
            Stmt::AugAssign(assign) => {
                let Expr::Name(target) = &*assign.target else {
                    return Err(self.unsupported(statement, "augmented assignment to anything but a name"));
                };
                let old = self.evaluate(&assign.target)?;
                let operand = self.evaluate(&assign.value)?;
                let operator = operator(assign.op).ok_or_else(|| self.unsupported(statement, "this operator"))?;
                let value = match old {
                    PyValue::Tensor(_) => {
                        self.call(&format!("{operator}_"), Callee::Method, vec![old, operand], vec![])?
                    }
                    old => self.binary(operator, old, operand, statement)?,
                };
                self.locals.insert(target.id.to_string(), value);
            }
            Stmt::Return(result) => {
                let value = match &result.value {
                    Some(value) => self.evaluate(value)?,
                    None => PyValue::None,
                };
                let outputs = match value {
                    PyValue::List(items) => items,
                    one => vec![one],
                };
                for output in outputs {
                    let value =
                        tensor(&output).ok_or_else(|| self.unsupported(statement, "returning anything but tensors"))?;
                    self.graph.outputs.push(value);
                }
                if self.graph.outputs.is_empty() {
                    return Err(self.unsupported(statement, "returning nothing"));
                }
                return Ok(true);
            }
            Stmt::Expr(expression) => {
                self.evaluate(&expression.value)?;
            }
            Stmt::Pass(_) => {}
            other => return Err(self.unsupported(other, "only straight-line code is a graph")),
        }
        Ok(false)
    }

    fn assign(&mut self, target: &Expr, value: PyValue) -> Result<(), SampleError> {
        match target {
            Expr::Name(name) => {
                self.rename(&value, name.id.as_str());
                self.locals.insert(name.id.to_string(), value);
                Ok(())
            }
            Expr::Tuple(targets) => match value {
                PyValue::List(items) if items.len() == targets.elts.len() => {
                    targets.elts.iter().zip(items).try_for_each(|(target, item)| self.assign(target, item))
                }
                _ => Err(self.unsupported(target, "unpacking a value of another length")),
            },
            other => Err(self.unsupported(other, "assignment to anything but names")),
        }
    }

    /// Gives the value a call has just defined the name that the sample gives it.
    fn rename(&mut self, value: &PyValue, name: &str) {
        let PyValue::Tensor(id) = value else { return };
        let fresh = self.graph.value(*id).name.starts_with("v_") && !self.names.contains(name) && name.len() <= 60;
        if fresh && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            self.names.insert(name.to_owned());
            name.clone_into(&mut self.graph.values[id.index()].name);
        }
    }

    fn evaluate(&mut self, expression: &Expr) -> Result<PyValue, SampleError> {
        self.at = expression.start();
        Ok(match expression {
            Expr::NoneLiteral(_) => PyValue::None,
            Expr::BooleanLiteral(value) => PyValue::Bool(value.value),
            Expr::EllipsisLiteral(_) => PyValue::Ellipsis,
            Expr::StringLiteral(text) => PyValue::Str(text.value.to_str().to_owned()),
            Expr::NumberLiteral(number) => match &number.value {
                Number::Int(value) => PyValue::Int(
                    value.as_i64().ok_or_else(|| self.unsupported(expression, "an integer beyond 64 bits"))?,
                ),
                Number::Float(value) => PyValue::Float(*value),
                Number::Complex { .. } => return Err(self.unsupported(expression, "a complex literal")),
            },
            Expr::List(list) => self.list(&list.elts)?,
            Expr::Tuple(tuple) => self.list(&tuple.elts)?,
            Expr::Slice(slice) => {
                let mut part = |part: &Option<Box<Expr>>| match part {
                    Some(part) => self.evaluate(part),
                    None => Ok(PyValue::None),
                };
                let parts = [part(&slice.lower)?, part(&slice.upper)?, part(&slice.step)?];
                calls::slice(&parts)
                    .ok_or_else(|| self.unsupported(expression, "a slice with bounds that are no integers"))?
            }
            Expr::Name(name) => self.name(name.id.as_str(), expression)?,
            Expr::Attribute(attribute) => match dotted(expression).and_then(|name| constant(&name)) {
                Some(value) => value,
                None => {
                    let base = self.evaluate(&attribute.value)?;
                    self.attribute(base, attribute.attr.as_str(), expression)?
                }
            },
            Expr::UnaryOp(unary) => {
                let operand = self.evaluate(&unary.operand)?;
                match (unary.op, operand) {
                    (UnaryOp::USub, PyValue::Int(value)) => PyValue::Int(value.wrapping_neg()),
                    (UnaryOp::USub, PyValue::Float(value)) => PyValue::Float(-value),
                    (UnaryOp::UAdd, value) => value,
                    (UnaryOp::Not, PyValue::Bool(value)) => PyValue::Bool(!value),
                    (UnaryOp::USub, value) => self.call("neg", Callee::Method, vec![value], vec![])?,
                    (UnaryOp::Invert, value) => self.call("bitwise_not", Callee::Method, vec![value], vec![])?,
                    _ => return Err(self.unsupported(expression, "this operator on that")),
                }
            }
            Expr::BinOp(binary) => {
                let left = self.evaluate(&binary.left)?;
                let right = self.evaluate(&binary.right)?;
                let operator = operator(binary.op).ok_or_else(|| self.unsupported(expression, "this operator"))?;
                self.binary(operator, left, right, expression)?
            }
            Expr::Compare(compare) => match (&compare.ops[..], &compare.comparators[..]) {
                ([op], [right]) => {
                    let left = self.evaluate(&compare.left)?;
                    let right = self.evaluate(right)?;
                    let name = comparison(*op).ok_or_else(|| self.unsupported(expression, "this comparison"))?;
                    self.compare(name, left, right)?
                }
                _ => return Err(self.unsupported(expression, "a chained comparison")),
            },
            Expr::Subscript(subscript) => {
                let base = self.evaluate(&subscript.value)?;
                let index = self.evaluate(&subscript.slice)?;
                self.subscript(base, index, expression)?
            }
            Expr::Call(call) => {
                let mut positional = vec![];
                for argument in &call.arguments.args {
                    if matches!(argument, Expr::Starred(_)) {
                        return Err(self.unsupported(argument, "a starred argument"));
                    }
                    positional.push(self.evaluate(argument)?);
                }
                let mut keyword = vec![];
                for argument in &call.arguments.keywords {
                    let name =
                        argument.arg.as_ref().ok_or_else(|| self.unsupported(expression, "a starred argument"))?;
                    keyword.push((name.to_string(), self.evaluate(&argument.value)?));
                }
                self.at = expression.start();
                let path = dotted(&call.func);
                let is_local = path
                    .as_ref()
                    .is_some_and(|path| path.split('.').next().is_some_and(|root| self.locals.contains_key(root)));
                match (&*call.func, path) {
                    (_, Some(path)) if !is_local => self.call(&path, Callee::Function, positional, keyword)?,
                    (Expr::Attribute(method), _) => {
                        let base = self.evaluate(&method.value)?;
                        self.at = expression.start();
                        positional.insert(0, base);
                        self.call(method.attr.as_str(), Callee::Method, positional, keyword)?
                    }
                    _ => return Err(self.unsupported(expression, "calling that")),
                }
            }
            other => return Err(self.unsupported(other, "this form of expression")),
        })
    }

    fn list(&mut self, items: &[Expr]) -> Result<PyValue, SampleError> {
        items.iter().map(|item| self.evaluate(item)).collect::<Result<_, _>>().map(PyValue::List)
    }

    fn name(&self, name: &str, expression: &Expr) -> Result<PyValue, SampleError> {
        if let Some(value) = self.locals.get(name) {
            return Ok(value.clone());
        }
        match name {
            "inf" => Ok(PyValue::Float(f64::INFINITY)),
            "Ellipsis" => Ok(PyValue::Ellipsis),
            _ => Err(self.source.error(expression.start(), format!("`{name}` is not defined"))),
        }
    }

    fn attribute(&mut self, base: PyValue, name: &str, expression: &Expr) -> Result<PyValue, SampleError> {
        let PyValue::Tensor(value) = base else {
            return Err(self.unsupported(expression, "an attribute of anything but a tensor"));
        };
        let ty = self.graph.ty(value).clone();
        Ok(match name {
            "shape" => PyValue::List(ty.shape.into_iter().map(PyValue::Int).collect()),
            "dtype" => PyValue::Dtype(ty.dtype),
            "device" => PyValue::Device,
            "ndim" => PyValue::Int(ty.rank() as i64),
            "T" | "mT" if ty.rank() == 2 => self.call("t", Callee::Method, vec![base], vec![])?,
            _ => return Err(self.unsupported(expression, "this attribute")),
        })
    }

    /// Arithmetic on Python numbers is done here, as Python does it; a tensor makes it an op.
    fn binary(
        &mut self,
        operator: &str,
        left: PyValue,
        right: PyValue,
        at: &impl Ranged,
    ) -> Result<PyValue, SampleError> {
        if tensor(&left).is_some() || tensor(&right).is_some() {
            let (name, operands) = calls::infix(operator, left, right);
            return self.call_pair(name, operands);
        }
        calls::python_arithmetic(operator, &left, &right)
            .ok_or_else(|| self.unsupported(at, "this arithmetic on Python values"))
    }

    fn compare(&mut self, name: &str, left: PyValue, right: PyValue) -> Result<PyValue, SampleError> {
        let (name, left, right) =
            if tensor(&left).is_some() { (name, left, right) } else { (calls::mirrored(name), right, left) };
        self.call(name, Callee::Method, vec![left, right], vec![])
    }

    /// An op, or `reciprocal` and a product: `2 / x` is both in PyTorch as well.
    fn call_pair(&mut self, name: &str, mut operands: Vec<PyValue>) -> Result<PyValue, SampleError> {
        if name == "reciprocal_mul" {
            let factor = operands.pop().unwrap_or(PyValue::None);
            let inverse = self.call("reciprocal", Callee::Method, operands, vec![])?;
            return self.call("mul", Callee::Method, vec![inverse, factor], vec![]);
        }
        self.call(name, Callee::Method, operands, vec![])
    }

    fn subscript(&mut self, base: PyValue, index: PyValue, expression: &Expr) -> Result<PyValue, SampleError> {
        match (base, index) {
            (PyValue::List(items), PyValue::Int(index)) => {
                let position = if index < 0 { index + items.len() as i64 } else { index };
                usize::try_from(position)
                    .ok()
                    .and_then(|position| items.get(position).cloned())
                    .ok_or_else(|| self.unsupported(expression, "an index beyond the list"))
            }
            (PyValue::List(items), PyValue::Slice(low, high, None | Some(1))) => {
                let bound = |bound: Option<i64>, default: usize| {
                    let count = items.len() as i64;
                    bound.map_or(default, |b| (if b < 0 { b + count } else { b }).clamp(0, count) as usize)
                };
                let (low, high) = (bound(low, 0), bound(high, items.len()));
                Ok(PyValue::List(items[low.min(high)..high].to_vec()))
            }
            (base @ PyValue::Tensor(_), index) => {
                let indices = match index {
                    PyValue::List(items) => items,
                    one => vec![one],
                };
                self.basic_index(base, indices, expression)
            }
            _ => Err(self.unsupported(expression, "a subscript of that")),
        }
    }

    /// Integers, slices, `None` and an ellipsis, dimension by dimension.
    fn basic_index(&mut self, base: PyValue, indices: Vec<PyValue>, expression: &Expr) -> Result<PyValue, SampleError> {
        let rank = tensor(&base).map_or(0, |value| self.graph.ty(value).rank());
        let consumed = indices.iter().filter(|index| matches!(index, PyValue::Int(_) | PyValue::Slice(..))).count();
        let mut current = base;
        let mut dim = 0i64;
        for index in indices {
            match index {
                PyValue::Int(position) => {
                    current = self.call(
                        "select",
                        Callee::Method,
                        vec![current, PyValue::Int(dim), PyValue::Int(position)],
                        vec![],
                    )?;
                }
                PyValue::Slice(None, None, None) => dim += 1,
                PyValue::Slice(low, high, step) => {
                    let optional = |value: Option<i64>| value.map_or(PyValue::None, PyValue::Int);
                    let args = vec![
                        current,
                        PyValue::Int(dim),
                        optional(low),
                        optional(high),
                        PyValue::Int(step.unwrap_or(1)),
                    ];
                    current = self.call("slice", Callee::Method, args, vec![])?;
                    dim += 1;
                }
                PyValue::None => {
                    current = self.call("unsqueeze", Callee::Method, vec![current, PyValue::Int(dim)], vec![])?;
                    dim += 1;
                }
                PyValue::Ellipsis => dim += rank.saturating_sub(consumed) as i64,
                _ => return Err(self.unsupported(expression, "an index that is no integer, slice, None or ellipsis")),
            }
        }
        Ok(current)
    }

    /// Translates a call of a torch function or a tensor method.
    fn call(
        &mut self,
        path: &str,
        callee: Callee,
        positional: Vec<PyValue>,
        keyword: Vec<(String, PyValue)>,
    ) -> Result<PyValue, SampleError> {
        let shape_of = |value: ValueId| self.graph.ty(value).clone();
        let shown = calls::shown(path, callee, &positional, &keyword);
        let call = calls::Call { path: path.to_owned(), callee, positional, keyword };
        let failed =
            |reason: String| SampleError::Call { place: self.source.place(self.at), call: shown.clone(), reason };
        match calls::rewrite(call, &shape_of).map_err(&failed)? {
            calls::Meaning::Value(value) => Ok(value),
            calls::Meaning::Op(name, positional, keyword) => {
                let (op, args) = calls::resolve(&name, &positional, &keyword).map_err(&failed)?;
                let typed: Vec<Arg<TensorType>> =
                    args.iter().map(|arg| arg.map(|&value| self.graph.ty(value).clone())).collect();
                let types = self.infer.infer(&op, &typed).map_err(|error| failed(error.to_string()))?;
                Ok(self.push(op, args, types))
            }
        }
    }

    fn push(&mut self, op: OpName, args: Vec<Arg>, types: Vec<TensorType>) -> PyValue {
        let outputs: Vec<ValueId> = types
            .into_iter()
            .map(|ty| {
                let name = format!("v_{}", self.graph.values.len());
                self.define(&name, ty)
            })
            .collect();
        let returns_list = OpTable::sample().get(&op).is_some_and(calls::returns_several);
        let id = NodeId(self.graph.nodes.len() as u32);
        self.graph.nodes.push(Node { id, kind: NodeKind::Aten { op, args }, outputs: outputs.clone() });
        match &outputs[..] {
            [one] if !returns_list => PyValue::Tensor(*one),
            _ => PyValue::List(outputs.into_iter().map(PyValue::Tensor).collect()),
        }
    }

    /// A new value under a name of the sample's, made unique and plain.
    fn define(&mut self, name: &str, ty: TensorType) -> ValueId {
        let mut plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(48).collect();
        while plain.is_empty() || self.names.contains(&plain) {
            plain.push('_');
            if plain.len() > 60 {
                plain = format!("v_{}", self.graph.values.len());
            }
        }
        self.names.insert(plain.clone());
        self.graph.add_value(plain, ty)
    }

    fn unsupported(&self, at: &impl Ranged, what: &str) -> SampleError {
        SampleError::Syntax {
            place: self.source.place(at.start()),
            message: format!("`{}`: {what} is not supported", self.source.excerpt(at)),
        }
    }
}

fn operator(operator: Operator) -> Option<&'static str> {
    Some(match operator {
        Operator::Add => "add",
        Operator::Sub => "sub",
        Operator::Mult => "mul",
        Operator::Div => "div",
        Operator::FloorDiv => "floor_divide",
        Operator::Mod => "remainder",
        Operator::Pow => "pow",
        Operator::MatMult => "matmul",
        Operator::BitAnd => "bitwise_and",
        Operator::BitOr => "bitwise_or",
        Operator::BitXor => "bitwise_xor",
        Operator::LShift | Operator::RShift => return None,
    })
}

fn comparison(op: CmpOp) -> Option<&'static str> {
    Some(match op {
        CmpOp::Eq => "eq",
        CmpOp::NotEq => "ne",
        CmpOp::Lt => "lt",
        CmpOp::LtE => "le",
        CmpOp::Gt => "gt",
        CmpOp::GtE => "ge",
        _ => return None,
    })
}

/// A dotted name that stands for a constant.
fn constant(path: &str) -> Option<PyValue> {
    let name = path.strip_prefix("torch.")?;
    Some(match name {
        "contiguous_format" => PyValue::MemoryFormat(MemoryFormat::Contiguous),
        "preserve_format" => PyValue::MemoryFormat(MemoryFormat::Preserve),
        "channels_last" => PyValue::MemoryFormat(MemoryFormat::ChannelsLast),
        "channels_last_3d" => PyValue::MemoryFormat(MemoryFormat::ChannelsLast3d),
        "strided" => PyValue::Strided,
        "inf" => PyValue::Float(f64::INFINITY),
        _ => PyValue::Dtype(Dtype::from_torch_name(name)?),
    })
}
