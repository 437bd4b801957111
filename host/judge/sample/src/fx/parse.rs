//! From the syntax tree of `model.py` to a [`Trace`]: nested calls get nodes of their own, names are resolved.

use super::{CallTarget, Expr, Parameter, Trace, TraceNode, ValueRef, operator};
use crate::python::{PythonSource, dotted};
use passhost_protocol::reader::SampleError;
use ruff_python_ast::{self as ast, Number, Stmt, StmtFunctionDef, UnaryOp};
use ruff_text_size::{Ranged, TextSize};
use std::collections::HashMap;

/// Parts of all expressions of a program together, with what their names stand for written out: tuples of tuples double
/// with every line. Whole models have some ten thousand.
const PARTS: u64 = 4 << 20;

/// The literal that an expression is, such as `[1, -inf]`; `None` if it is none.
pub fn literal(source: &PythonSource<'_>, expression: &ast::Expr) -> Option<Expr> {
    let mut parser = Parser { source, program: Trace::default(), locals: HashMap::new(), room: PARTS };
    parser.expression(expression).ok().filter(|_| parser.program.nodes.is_empty())
}

/// Reads the one method of the one class.
pub fn parse(source: &PythonSource<'_>) -> Result<Trace, SampleError> {
    let statements = source.statements()?;
    let forward = forward(source, &statements)?;
    let mut parser = Parser { source, program: Trace::default(), locals: HashMap::new(), room: PARTS };
    for parameter in forward.parameters.iter_non_variadic_params().skip(1) {
        let name = parameter.name().to_string();
        let value = ValueRef(parser.program.parameters.len() as u32);
        if parser.locals.insert(name.clone(), Expr::Value(value)).is_some() {
            return Err(source.error(parameter.start(), format!("`forward` has two parameters called `{name}`")));
        }
        let is_symbol = parameter.annotation().and_then(dotted).is_some_and(|path| path == "torch.SymInt");
        parser.program.parameters.push(Parameter { name, is_symbol, offset: parameter.start().to_u32() });
    }
    let mut returned = false;
    for statement in &forward.body {
        if returned {
            return Err(source.error(statement.start(), "nothing may follow `return`"));
        }
        returned = parser.statement(statement)?;
    }
    if !returned {
        return Err(source.error(forward.start(), "`forward` returns nothing"));
    }
    Ok(parser.program)
}

/// The one method of the one class, among imports.
fn forward<'s>(source: &PythonSource<'_>, statements: &'s [Stmt]) -> Result<&'s StmtFunctionDef, SampleError> {
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

struct Parser<'a> {
    source: &'a PythonSource<'a>,
    program: Trace,
    locals: HashMap<String, Expr>,
    /// Parts that expressions may still have.
    room: u64,
}

impl Parser<'_> {
    /// Reads a statement; true if it was the `return`.
    fn statement(&mut self, statement: &Stmt) -> Result<bool, SampleError> {
        match statement {
            Stmt::Assign(assign) => {
                let value = self.expression(&assign.value)?;
                for target in &assign.targets {
                    self.take_room(&value, statement)?;
                    self.assign(target, value.clone())?;
                }
            }
            Stmt::AugAssign(assign) => {
                let ast::Expr::Name(target) = &*assign.target else {
                    return Err(self.unsupported(statement, "augmented assignment to anything but a name"));
                };
                let old = self.expression(&assign.target)?;
                let operand = self.expression(&assign.value)?;
                let operator = self.operator(assign.op.as_str(), statement)?;
                let result = self.node(CallTarget::InPlace(operator), vec![old, operand], vec![], statement.start());
                // The result takes the next name that it gets: this one is the operand's.
                self.locals.insert(target.id.to_string(), result);
            }
            Stmt::Return(result) => {
                let value = match &result.value {
                    Some(value) => self.expression(value)?,
                    None => Expr::None,
                };
                self.program.outputs = match value {
                    Expr::List(items) | Expr::Tuple(items) => items,
                    one => vec![one],
                };
                return Ok(true);
            }
            Stmt::Expr(expression) => {
                self.expression(&expression.value)?;
            }
            Stmt::Pass(_) => {}
            other => return Err(self.unsupported(other, "only straight-line code is a graph, and this statement")),
        }
        Ok(false)
    }

    fn assign(&mut self, target: &ast::Expr, value: Expr) -> Result<(), SampleError> {
        match target {
            ast::Expr::Name(name) => {
                self.bind(name.id.as_str(), value);
                Ok(())
            }
            ast::Expr::Tuple(targets) => self.unpack(target, &targets.elts, value),
            ast::Expr::Subscript(subscript) => {
                let base = self.expression(&subscript.value)?;
                let index = self.expression(&subscript.slice)?;
                self.node(CallTarget::SetItem, vec![base, index, value], vec![], target.start());
                Ok(())
            }
            other => Err(self.unsupported(other, "assignment to anything but names and subscripts")),
        }
    }

    fn unpack(&mut self, at: &ast::Expr, targets: &[ast::Expr], value: Expr) -> Result<(), SampleError> {
        match value {
            Expr::List(items) | Expr::Tuple(items) if items.len() == targets.len() => {
                targets.iter().zip(items).try_for_each(|(target, item)| self.assign(target, item))
            }
            Expr::Value(_) => targets.iter().enumerate().try_for_each(|(position, target)| {
                let index = Expr::Int(i64::try_from(position).unwrap_or(i64::MAX));
                let item = self.node(CallTarget::GetItem, vec![value.clone(), index], vec![], at.start());
                self.assign(target, item)
            }),
            _ => Err(self.unsupported(at, "unpacking a value of another length")),
        }
    }

    /// Makes `name` stand for a value. `x = None` is how FX frees a value.
    fn bind(&mut self, name: &str, value: Expr) {
        if let Expr::Value(value) = value
            && let Some(position) = self.program.definition(value)
            && self.program.nodes[position].name.is_empty()
        {
            name.clone_into(&mut self.program.nodes[position].name);
        }
        self.locals.insert(name.to_owned(), value);
    }

    /// Counts a copy of an expression.
    fn take_room(&mut self, expression: &Expr, at: &impl Ranged) -> Result<(), SampleError> {
        let room = self.room.checked_sub(expression.weight(&|_| 1));
        self.room = room.ok_or_else(|| {
            let message =
                format!("the program's expressions have more than {PARTS} parts; real samples are far below that");
            self.source.error(at.start(), message)
        })?;
        Ok(())
    }

    fn node(&mut self, target: CallTarget, args: Vec<Expr>, kwargs: Vec<(String, Expr)>, at: TextSize) -> Expr {
        let result = self.program.result(self.program.nodes.len());
        self.program.nodes.push(TraceNode { name: String::new(), target, args, kwargs, offset: at.to_u32() });
        Expr::Value(result)
    }

    fn expression(&mut self, expression: &ast::Expr) -> Result<Expr, SampleError> {
        let at = expression.start();
        Ok(match expression {
            ast::Expr::NoneLiteral(_) => Expr::None,
            ast::Expr::BooleanLiteral(value) => Expr::Bool(value.value),
            ast::Expr::EllipsisLiteral(_) => Expr::Ellipsis,
            ast::Expr::StringLiteral(text) => Expr::Str(text.value.to_str().to_owned()),
            ast::Expr::NumberLiteral(number) => match &number.value {
                Number::Int(value) => {
                    Expr::Int(value.as_i64().ok_or_else(|| self.unsupported(expression, "an integer beyond 64 bits"))?)
                }
                Number::Float(value) => Expr::Float(*value),
                Number::Complex { .. } => return Err(self.unsupported(expression, "a complex literal")),
            },
            ast::Expr::List(list) => Expr::List(self.expressions(&list.elts)?),
            ast::Expr::Tuple(tuple) => Expr::Tuple(self.expressions(&tuple.elts)?),
            ast::Expr::Slice(slice) => {
                let mut part = |part: &Option<Box<ast::Expr>>| match part {
                    Some(part) => self.expression(part),
                    None => Ok(Expr::None),
                };
                Expr::Slice(Box::new([part(&slice.lower)?, part(&slice.upper)?, part(&slice.step)?]))
            }
            ast::Expr::Name(name) => match (self.locals.get(name.id.as_str()), name.id.as_str()) {
                (Some(value), _) => {
                    let value = value.clone();
                    self.take_room(&value, expression)?;
                    value
                }
                (None, "Ellipsis") => Expr::Ellipsis,
                (None, "inf") => Expr::Float(f64::INFINITY),
                (None, "nan") => Expr::Float(f64::NAN),
                (None, name) => return Err(self.source.error(at, format!("`{name}` is not defined"))),
            },
            ast::Expr::Attribute(attribute) => match dotted(expression) {
                Some(path) if !self.is_local(&path) => match path.as_str() {
                    "torch.inf" => Expr::Float(f64::INFINITY),
                    "torch.nan" => Expr::Float(f64::NAN),
                    _ if path.starts_with("torch.") => Expr::Constant(path),
                    _ => return Err(self.source.error(at, format!("`{path}` is not defined"))),
                },
                _ => {
                    let base = self.expression(&attribute.value)?;
                    self.node(CallTarget::Attribute(attribute.attr.to_string()), vec![base], vec![], at)
                }
            },
            ast::Expr::UnaryOp(unary) => self.unary(unary, expression)?,
            ast::Expr::BinOp(binary) => {
                let operands = [&*binary.left, &*binary.right];
                self.binary(binary.op.as_str(), operands, expression)?
            }
            ast::Expr::Compare(compare) => match (&compare.ops[..], &compare.comparators[..]) {
                ([op], [right]) => self.binary(op.as_str(), [&compare.left, right], expression)?,
                _ => return Err(self.unsupported(expression, "a chained comparison")),
            },
            ast::Expr::Subscript(subscript) => {
                let operands = vec![self.expression(&subscript.value)?, self.expression(&subscript.slice)?];
                self.node(CallTarget::GetItem, operands, vec![], at)
            }
            ast::Expr::Call(call) => self.call(call, expression)?,
            other => return Err(self.unsupported(other, "this form of expression")),
        })
    }

    fn binary(&mut self, symbol: &str, [left, right]: [&ast::Expr; 2], at: &ast::Expr) -> Result<Expr, SampleError> {
        let operands = vec![self.expression(left)?, self.expression(right)?];
        let operator = self.operator(symbol, at)?;
        Ok(self.node(CallTarget::Operator(operator), operands, vec![], at.start()))
    }

    /// The sign of a literal is part of it; everything else is a call.
    fn unary(&mut self, unary: &ast::ExprUnaryOp, expression: &ast::Expr) -> Result<Expr, SampleError> {
        let operand = self.expression(&unary.operand)?;
        let operator = match (unary.op, &operand) {
            (UnaryOp::USub, Expr::Int(value)) => {
                let negative = value.checked_neg().map(Expr::Int);
                return negative.ok_or_else(|| self.unsupported(expression, "an integer beyond 64 bits"));
            }
            (UnaryOp::USub, Expr::Float(value)) => return Ok(Expr::Float(-value)),
            (UnaryOp::USub, _) => "neg",
            (UnaryOp::UAdd, _) => return Err(self.unsupported(expression, "a plus sign")),
            (UnaryOp::Not, _) => "not_",
            (UnaryOp::Invert, _) => "invert",
        };
        Ok(self.node(CallTarget::Operator(operator), vec![operand], vec![], expression.start()))
    }

    fn expressions(&mut self, items: &[ast::Expr]) -> Result<Vec<Expr>, SampleError> {
        items.iter().map(|item| self.expression(item)).collect()
    }

    fn call(&mut self, call: &ast::ExprCall, expression: &ast::Expr) -> Result<Expr, SampleError> {
        let mut args = vec![];
        let target = match (dotted(&call.func).filter(|path| !self.is_local(path)), &*call.func) {
            (Some(path), _) => CallTarget::Function(path),
            (None, ast::Expr::Attribute(method)) => {
                args.push(self.expression(&method.value)?);
                CallTarget::Method(method.attr.to_string())
            }
            _ => return Err(self.unsupported(expression, "calling that")),
        };
        for argument in &call.arguments.args {
            if matches!(argument, ast::Expr::Starred(_)) {
                return Err(self.unsupported(argument, "a starred argument"));
            }
            args.push(self.expression(argument)?);
        }
        let mut kwargs = vec![];
        for argument in &call.arguments.keywords {
            let name = argument.arg.as_ref().ok_or_else(|| self.unsupported(expression, "a starred argument"))?;
            kwargs.push((name.to_string(), self.expression(&argument.value)?));
        }
        if let CallTarget::Function(path) = &target {
            if let Some(value) = builtin(path, &args, &kwargs) {
                return Ok(value);
            }
            if !path.starts_with("torch.") {
                return Err(self.unsupported(expression, "a call of anything but torch"));
            }
        }
        Ok(self.node(target, args, kwargs, expression.start()))
    }

    /// The function of an operator of two operands. Only `is`, `in` and the like are none.
    fn operator(&self, symbol: &str, at: &impl Ranged) -> Result<&'static str, SampleError> {
        operator::function(symbol).ok_or_else(|| self.unsupported(at, "this comparison"))
    }

    fn is_local(&self, path: &str) -> bool {
        path.split('.').next().is_some_and(|root| self.locals.contains_key(root))
    }

    fn unsupported(&self, at: &impl Ranged, what: &str) -> SampleError {
        SampleError::Syntax {
            place: self.source.place(at.start()),
            message: format!("`{}`: {what} is not supported", self.source.excerpt(at)),
        }
    }
}

/// What a call stands for that only builds an argument: `slice(1, None)`, `device(type='cuda', index=0)`,
/// `torch.Size([2, 3])`.
fn builtin(path: &str, args: &[Expr], kwargs: &[(String, Expr)]) -> Option<Expr> {
    match (path, args, kwargs) {
        ("slice", [start, stop, step], []) => Some(Expr::Slice(Box::new([start.clone(), stop.clone(), step.clone()]))),
        ("device" | "torch.device", _, _) => {
            let given = |position: usize, name: &str| {
                args.get(position).or_else(|| kwargs.iter().find(|(key, _)| key == name).map(|(_, value)| value))
            };
            let Some(Expr::Str(kind)) = given(0, "type") else { return None };
            let index = match given(1, "index") {
                None | Some(Expr::None) => None,
                Some(Expr::Int(index)) => Some(*index),
                Some(_) => return None,
            };
            Some(Expr::Device(kind.clone(), index))
        }
        ("torch.Size", [Expr::List(items) | Expr::Tuple(items)], []) => Some(Expr::Tuple(items.clone())),
        ("torch.Size", [], []) => Some(Expr::Tuple(vec![])),
        ("float", [Expr::Str(text)], []) => text.trim().parse().ok().map(Expr::Float),
        _ => None,
    }
}
