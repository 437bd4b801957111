//! Writes a [`Trace`] as the `model.py` that it could have been read from, in the form that Python's `ast.unparse`
//! gives statements.

use super::operator::symbol;
use super::{CallTarget, Expr, Trace, TraceNode, ValueRef};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// The text of `model.py`. Values get the names that `name` gives them, which must be unique Python names. Each value
/// is set to `None` behind its last use, as FX does.
pub fn model(program: &Trace, name: &dyn Fn(ValueRef) -> String) -> String {
    let mut text = String::from(
        "import torch\nfrom torch import device, inf, nan\n\n\nclass GraphModule(torch.nn.Module):\n    def forward(self",
    );
    for (position, parameter) in program.parameters.iter().enumerate() {
        let annotation = if parameter.is_symbol { ": torch.SymInt" } else { "" };
        let _ = write!(text, ", {}{annotation}", name(ValueRef(position as u32)));
    }
    text.push_str("):\n");
    let mut last_use: HashMap<ValueRef, usize> = HashMap::new();
    for (position, node) in program.nodes.iter().enumerate() {
        last_use.insert(program.result(position), position);
        for value in node.operands() {
            last_use.insert(value, position);
        }
    }
    let returned: HashSet<ValueRef> = program.outputs.iter().flat_map(Expr::values).collect();
    for (position, node) in program.nodes.iter().enumerate() {
        let result = program.result(position);
        let _ = writeln!(text, "        {}", statement(node, &name(result), name));
        let mut freed: Vec<ValueRef> = node.operands();
        if node.target != CallTarget::SetItem {
            freed.push(result);
        }
        freed.retain(|value| last_use.get(value) == Some(&position) && !returned.contains(value));
        freed.sort_unstable();
        freed.dedup();
        if !freed.is_empty() {
            let names: Vec<String> = freed.into_iter().map(name).collect();
            let _ = writeln!(text, "        {} = None", names.join(" = "));
        }
    }
    let outputs: Vec<String> = program.outputs.iter().map(|output| expression(output, name)).collect();
    let comma = if outputs.len() == 1 { "," } else { "" };
    let _ = writeln!(text, "        return ({}{comma})", outputs.join(", "));
    text
}

/// What the hash of a graph covers, as samples/README.md has it: `forward` with plain names and without the statements
/// that free values, one a line, without indentation.
pub fn canonical(program: &Trace) -> String {
    let mut named = 0..;
    let mut names: Vec<String> = (0..program.parameters.len()).map(|position| format!("in_{position}")).collect();
    let parameters: String = names.iter().map(|name| format!(", {name}")).collect();
    for node in &program.nodes {
        // A subscript assignment gives nothing a name.
        let number = if node.target == CallTarget::SetItem { None } else { named.next() };
        names.push(number.map_or_else(String::new, |number| format!("tmp_{number}")));
    }
    let text = model(program, &|value| names.get(value.index()).cloned().unwrap_or_default());
    let body = text.lines().map(str::trim).skip_while(|line| !line.starts_with("def ")).skip(1);
    let statements: Vec<&str> = body.filter(|line| !line.ends_with(" = None")).collect();
    format!("def forward(self{parameters}):\n{}", statements.join("\n"))
}

/// One statement: an assignment of `result`.
fn statement(node: &TraceNode, result: &str, name: &dyn Fn(ValueRef) -> String) -> String {
    let args: Vec<String> = node.args.iter().map(|argument| expression(argument, name)).collect();
    let text = |position: usize| args.get(position).map_or("None", String::as_str);
    let keyword = node.kwargs.iter().map(|(key, value)| format!("{key}={}", expression(value, name)));
    let call = |callee: &str, args: &[String]| {
        let all: Vec<String> = args.iter().cloned().chain(keyword).collect();
        format!("{callee}({})", all.join(", "))
    };
    let value = match &node.target {
        // FX writes these as statements of their own, and the result is the object itself.
        CallTarget::InPlace(operator) => {
            let (object, symbol) = (text(0), symbol(operator));
            return format!("{object} {symbol}= {}\n        {result} = {object}", text(1));
        }
        CallTarget::SetItem => return format!("{}[{}] = {}", text(0), subscript(node, name), text(2)),
        CallTarget::Function(path) => call(path, &args),
        CallTarget::Method(method) => call(&format!("{}.{method}", text(0)), args.get(1..).unwrap_or_default()),
        CallTarget::Attribute(attribute) => format!("{}.{attribute}", text(0)),
        CallTarget::GetItem => format!("{}[{}]", text(0), subscript(node, name)),
        CallTarget::Operator(operator @ ("neg" | "not_" | "invert")) => {
            format!("{}{}", symbol(operator), text(0))
        }
        CallTarget::Operator("pow") => format!("{} ** {}", bracketed(text(0)), bracketed(text(1))),
        CallTarget::Operator(operator) => format!("{} {} {}", text(0), symbol(operator), text(1)),
    };
    format!("{result} = {value}")
}

/// What stands between the brackets of a subscript: a tuple without its own.
fn subscript(node: &TraceNode, name: &dyn Fn(ValueRef) -> String) -> String {
    match node.args.get(1) {
        Some(Expr::Tuple(items)) if !items.is_empty() => {
            let items: Vec<String> = items.iter().map(|item| expression(item, name)).collect();
            if items.len() == 1 { format!("{},", items[0]) } else { items.join(", ") }
        }
        Some(index) => expression(index, name),
        None => String::new(),
    }
}

/// A negative number binds weaker than a power.
fn bracketed(operand: &str) -> String {
    if operand.starts_with('-') { format!("({operand})") } else { operand.to_owned() }
}

/// An argument as Python writes it.
pub fn expression(expression_: &Expr, name: &dyn Fn(ValueRef) -> String) -> String {
    let list = |items: &[Expr]| items.iter().map(|item| expression(item, name)).collect::<Vec<_>>().join(", ");
    match expression_ {
        Expr::Value(value) => name(*value),
        Expr::None => "None".into(),
        Expr::Bool(value) => if *value { "True" } else { "False" }.into(),
        Expr::Int(value) => value.to_string(),
        Expr::Float(value) => float(*value),
        Expr::Str(text) => quoted(text),
        Expr::Ellipsis => "Ellipsis".into(),
        Expr::Constant(path) => path.clone(),
        Expr::Device(kind, None) => format!("device(type={})", quoted(kind)),
        Expr::Device(kind, Some(index)) => format!("device(type={}, index={index})", quoted(kind)),
        Expr::Slice(parts) => format!("slice({})", list(&parts[..])),
        Expr::List(items) => format!("[{}]", list(items)),
        Expr::Tuple(items) if items.len() == 1 => format!("({},)", list(items)),
        Expr::Tuple(items) => format!("({})", list(items)),
    }
}

fn float(value: f64) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.into();
    }
    // The shortest text that reads back as the same number; `{:?}` never leaves out the point or exponent. Python gives
    // an exponent a sign and two digits.
    let text = format!("{value:?}");
    match text.split_once('e') {
        None => text,
        Some((digits, exponent)) => {
            let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
            format!("{digits}e{sign}{exponent:0>2}")
        }
    }
}

/// A string literal that holds exactly this text, whatever it is.
fn quoted(text: &str) -> String {
    let mark = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut quoted = String::from(mark);
    for c in text.chars() {
        match c {
            c if c == mark || c == '\\' => {
                quoted.push('\\');
                quoted.push(c);
            }
            ' '..='~' => quoted.push(c),
            other => {
                let _ = write!(quoted, "\\U{:08x}", u32::from(other));
            }
        }
    }
    quoted.push(mark);
    quoted
}
