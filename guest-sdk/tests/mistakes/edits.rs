//! Mistakes in what is matched and changed.

use super::Mistake;
use passhost_guest_sdk::ir::ValueId;
use passhost_guest_sdk::prelude::*;
use passhost_guest_sdk::testing::Types;

const GRAPH: &str = "graph(%x: f32[4,8], %y: f16[4,8], %i: i64[4], %t: f32[9,8]) {
  %a: f32[4,8] = aten::mul.Tensor(%x, %x)
  %s: f32[4,8] = aten::softmax.int(%a, -1)
  %b: f32[4,8] = aten::add.Tensor(%a, %s)
  %j: i64[4] = aten::abs(%i)
  %e: f32[4,8] = aten::embedding(%t, %j)
  %c: f32[8,8] = aten::cat([%b, %e], 0)
  return (%c)
}";

/// `2 * x`.
const DOUBLED: &str = "space p0=4, p1=8
  in x0: f32[4,8]
  v0: f32 = load x0[p0, p1] clamp
  v1: f32 = add v0, v0
  out v1 over [p0, p1] as [4,8]";

fn value(rewriter: &Rewriter, name: &str) -> ValueId {
    let found = rewriter.graph().values.iter().position(|value| value.name == name).unwrap();
    ValueId(u32::try_from(found).unwrap())
}

/// What an edit of the graph is told.
fn edit<T, E: Into<PassError>>(edit: impl FnOnce(&mut Rewriter) -> Result<T, E>) -> String {
    let mut rewriter = Rewriter::new(Graph::parse(GRAPH).unwrap());
    let before = rewriter.graph().clone();
    let Err(error) = edit(&mut rewriter) else { panic!("nothing is said:\n{}", rewriter.graph()) };
    assert_eq!(rewriter.graph(), &before, "a change that is refused changes nothing");
    error.into().to_string()
}

/// What replacing node `#0`, which defines `%a`, is told.
fn replace(kernel: &str, inputs: &[&str], outputs: &[&str]) -> String {
    edit(|rewriter| {
        let values = |names: &[&str]| names.iter().map(|name| value(rewriter, name)).collect::<Vec<_>>();
        let (inputs, outputs) = (values(inputs), values(outputs));
        rewriter.replace_with(&[NodeId(0)], kernel, inputs, outputs)
    })
}

fn insert(op: &str, args: Vec<Arg>) -> String {
    edit(|rewriter| rewriter.insert_aten(0, op, args, &mut Types::default()))
}

fn explain(pattern: &Pattern) -> String {
    pattern.explain(&Graph::parse(GRAPH).unwrap()).unwrap().to_string()
}

fn lower(nodes: &[u32], groups: &[Group]) -> String {
    let nodes: Vec<NodeId> = nodes.iter().map(|&id| NodeId(id)).collect();
    lower::region(&Graph::parse(GRAPH).unwrap(), &nodes, groups).unwrap_err().to_string()
}

/// All of them.
pub fn all() -> Vec<Mistake> {
    [patterns(), replacements(), changes(), insertions()].concat()
}

fn patterns() -> Vec<Mistake> {
    let x = ValueId(0);
    let found = op("aten::softmax", [any("scores")]).find(&Graph::parse(GRAPH).unwrap()).remove(0);
    vec![
        ("a pattern without aten::", explain(&op("softmax", [any("x")]))),
        ("a pattern with another overload", explain(&op("aten::mul.Scalar", [any("x"), number(2.0)]))),
        ("a pattern with more arguments than the op has", explain(&op("aten::mul", [any("x"), any("x"), anything()]))),
        ("a pattern of a list of another length", explain(&op("aten::cat", [list([any("x")])]))),
        ("a pattern of one tensor where there is a list", explain(&op("aten::cat", [any("x")]))),
        ("a capture under another name", found.tensor("x").unwrap_err().to_string()),
        ("a number that was not captured", found.number("dim").unwrap_err().to_string()),
        ("nodes that lower with no group of the pass", lower(&[1], &[Group::POINTWISE])),
        ("a node that no lowering has", lower(&[7], &[Group::POINTWISE])),
        (
            "an index that the host keeps",
            edit(|rewriter| {
                let kernel = "space p0=4\n in x0: i64[4]\n v0: i64 = load x0[p0] clamp\n out v0 over [p0] as [4]";
                let (i, j) = (value(rewriter, "i"), value(rewriter, "j"));
                rewriter.replace_with(&[NodeId(3)], kernel, [i], [j])
            }),
        ),
        ("a value of another graph", edit(|rewriter| rewriter.replace_all_uses(ValueId(99), x))),
    ]
}

fn replacements() -> Vec<Mistake> {
    let wide = DOUBLED.replace("v1: f32 = add v0, v0", "v1: f64 = cast v0");
    let swapped = DOUBLED.replace("over [p0, p1] as [4,8]", "over [p1, p0] as [8,4]");
    vec![
        ("too few inputs", replace(DOUBLED, &[], &["a"])),
        ("an input of another type", replace(DOUBLED, &["y"], &["a"])),
        ("too few results", replace(DOUBLED, &["x"], &[])),
        ("a result of none of the nodes", replace(DOUBLED, &["x"], &["b"])),
        ("a result of another type", replace(&wide, &["x"], &["a"])),
        ("a result of another shape", replace(&swapped, &["x"], &["a"])),
        ("a result stored in another layout", {
            let text = "graph(%x: f32[4,8]) { %1: f32[8,4]{1,8} = aten::t(%x) %2: f32[8,4]{1,8} = aten::relu(%1) return (%2) }";
            let mut rewriter = Rewriter::new(Graph::parse(text).unwrap());
            let (x, out) = (value(&rewriter, "x"), value(&rewriter, "2"));
            rewriter.replace_with(&[NodeId(0), NodeId(1)], swapped, [x], [out]).unwrap_err().to_string()
        }),
        (
            "a kernel that needs what depends on it",
            edit(|rewriter| {
                let (s, b) = (value(rewriter, "s"), value(rewriter, "b"));
                let lowered = lower::region(rewriter.graph(), &[NodeId(0), NodeId(2)], &[Group::POINTWISE])?;
                let _ = (s, b);
                rewriter.replace(&lowered).map_err(PassError::from)
            }),
        ),
        ("a node that was replaced before", {
            let mut rewriter = Rewriter::new(Graph::parse(GRAPH).unwrap());
            let (x, a) = (value(&rewriter, "x"), value(&rewriter, "a"));
            rewriter.replace_with(&[NodeId(0)], DOUBLED, [x], [a]).unwrap();
            rewriter.replace_with(&[NodeId(0)], DOUBLED, [x], [a]).unwrap_err().to_string()
        }),
    ]
}

fn changes() -> Vec<Mistake> {
    let swap =
        |old: &str, new: &str| edit(|rewriter| rewriter.replace_all_uses(value(rewriter, old), value(rewriter, new)));
    vec![
        ("a value instead of one of another type", swap("a", "y")),
        ("a value instead of one that is read before it", swap("a", "b")),
        (
            "a kernel before its input is there",
            edit(|rewriter| {
                let a = value(rewriter, "a");
                rewriter.insert_kernel(0, DOUBLED, [a])
            }),
        ),
        (
            "a position past the end",
            edit(|rewriter| {
                let x = value(rewriter, "x");
                rewriter.insert_kernel(40, DOUBLED, [x])
            }),
        ),
        ("a node that never was", edit(|rewriter| rewriter.position(NodeId(77)))),
        (
            "a kernel that reads a value of another graph",
            edit(|rewriter| rewriter.insert_kernel(0, DOUBLED, [ValueId(99)])),
        ),
    ]
}

fn insertions() -> Vec<Mistake> {
    let x = ValueId(0);
    vec![
        ("an inserted op without aten::", insert("relu", args![x])),
        ("an inserted op without its overload", insert("aten::mul", args![x, 2.0])),
        ("an inserted op with too few arguments", insert("aten::softmax.int", args![x, -1])),
        ("an inserted op with an argument of another kind", insert("aten::mul.Tensor", args![x, 2.0])),
        ("an inserted op that draws random numbers", insert("aten::rand_like", args![x])),
        ("an inserted op whose types a test does not know", insert("aten::sort", args![x, 1, false])),
    ]
}
