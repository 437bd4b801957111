//! Graphs of any size in the shapes that networks have, to measure a pass with.

use passhost_guest_sdk::ir::{Graph, TextError};
use std::fmt::Write;

/// Each kind of graph, by name, with at least `size` nodes and at most a block more.
pub fn all(size: usize) -> Result<[(&'static str, Graph); 4], TextError> {
    Ok([("chain", chain(size)?), ("wide", wide(size)?), ("transformer", transformer(size)?), ("dense", dense(size)?)])
}

/// A graph that is being written as text.
struct GraphText {
    text: String,
    nodes: usize,
    /// How many nodes it shall have.
    size: usize,
}

impl GraphText {
    fn new(inputs: &str, size: usize) -> GraphText {
        GraphText { text: format!("graph({inputs}) {{\n"), nodes: 0, size }
    }

    fn is_open(&self) -> bool {
        self.nodes < self.size
    }

    /// Adds a call and returns the name of its result.
    fn call(&mut self, ty: &str, call: &str) -> String {
        let name = format!("%n{}", self.nodes);
        self.nodes += 1;
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "  {name}: {ty} = {call}");
        name
    }

    fn returning(self, results: &str) -> Result<Graph, TextError> {
        Graph::parse(&format!("{}  return ({results})\n}}", self.text))
    }
}

/// Pointwise ops behind each other.
fn chain(size: usize) -> Result<Graph, TextError> {
    const OPS: [&str; 4] = ["aten::tanh(X)", "aten::mul.Tensor(X, %y)", "aten::add.Scalar(X, 1.0)", "aten::relu(X)"];
    let ty = "f32[64,1024]";
    let mut draft = GraphText::new(&format!("%x: {ty}, %y: {ty}"), size);
    let mut last = "%x".to_owned();
    while draft.is_open() {
        let op = OPS[draft.nodes % OPS.len()];
        last = draft.call(ty, &op.replace('X', &last));
    }
    draft.returning(&last)
}

/// Short chains beside each other that all read one tensor and are added up in the end.
fn wide(size: usize) -> Result<Graph, TextError> {
    let ty = "f16[128,512]";
    let mut draft = GraphText::new(&format!("%x: {ty}"), size);
    let mut ends = vec![];
    while draft.nodes + ends.len() < draft.size {
        let scaled = draft.call(ty, &format!("aten::mul.Scalar(%x, {}.5)", ends.len() % 7));
        let bent = draft.call(ty, &format!("aten::sigmoid({scaled})"));
        ends.push(draft.call(ty, &format!("aten::softmax.int({bent}, -1)")));
    }
    let mut sum = ends[0].clone();
    for end in &ends[1..] {
        sum = draft.call(ty, &format!("aten::add.Tensor({sum}, {end})"));
    }
    draft.returning(&sum)
}

/// Blocks of a transformer: norms, projections, heads, scores with a mask, a gated layer, residual sums.
fn transformer(size: usize) -> Result<Graph, TextError> {
    let [x, heads, transposed] = ["f16[2,64,256]", "f16[2,4,64,64]{16384,64,256,1}", "f16[2,4,64,64]{16384,64,1,256}"];
    let (split, scores) = ("f16[2,64,4,64]", "f16[2,4,64,64]");
    let inputs = format!("%x: {x}, %w: f16[256,256], %g: f16[256], %m: f16[2,1,1,64]");
    let mut draft = GraphText::new(&inputs, size);
    let mut last = "%x".to_owned();
    while draft.is_open() {
        let norm = draft.call(x, &format!("aten::layer_norm({last}, [256], %g, %g, 1e-05)"));
        let [query, key, value] = ["q", "k", "v"].map(|_| draft.call(x, &format!("aten::linear({norm}, %w, %g)")));
        let [query, key, value] = [query, key, value].map(|tensor| {
            let parts = draft.call(split, &format!("aten::view({tensor}, [2, 64, 4, 64])"));
            draft.call(heads, &format!("aten::transpose.int({parts}, 1, 2)"))
        });
        let key = draft.call(transposed, &format!("aten::transpose.int({key}, -1, -2)"));
        let score = draft.call(scores, &format!("aten::matmul({query}, {key})"));
        let scaled = draft.call(scores, &format!("aten::mul.Scalar({score}, 0.125)"));
        let masked = draft.call(scores, &format!("aten::add.Tensor({scaled}, %m)"));
        let weights = draft.call(scores, &format!("aten::softmax.int({masked}, -1)"));
        let mixed = draft.call(scores, &format!("aten::matmul({weights}, {value})"));
        let joined = draft.call("f16[2,64,4,64]{16384,64,4096,1}", &format!("aten::transpose.int({mixed}, 1, 2)"));
        let joined = draft.call(x, &format!("aten::reshape({joined}, [2, 64, 256])"));
        let projected = draft.call(x, &format!("aten::linear({joined}, %w, %g)"));
        let residual = draft.call(x, &format!("aten::add.Tensor({last}, {projected})"));
        let wide = draft.call("f32[2,64,256]", &format!("aten::to.dtype({residual}, f32)"));
        let squared = draft.call("f32[2,64,256]", &format!("aten::pow.Tensor_Scalar({wide}, 2)"));
        let mean = draft.call("f32[2,64,1]", &format!("aten::mean.dim({squared}, [-1], true)"));
        let root = draft.call("f32[2,64,1]", &format!("aten::rsqrt({mean})"));
        let normed = draft.call("f32[2,64,256]", &format!("aten::mul.Tensor({wide}, {root})"));
        let narrow = draft.call(x, &format!("aten::to.dtype({normed}, f16)"));
        let [gate, up] = ["g", "u"].map(|_| draft.call(x, &format!("aten::linear({narrow}, %w, %g)")));
        let gate = draft.call(x, &format!("aten::silu({gate})"));
        let gated = draft.call(x, &format!("aten::mul.Tensor({gate}, {up})"));
        let down = draft.call(x, &format!("aten::linear({gated}, %w, %g)"));
        last = draft.call(x, &format!("aten::add.Tensor({residual}, {down})"));
    }
    draft.returning(&last)
}

/// Layers that each read all before them in their block, joined, normalised by statistics and convolved.
fn dense(size: usize) -> Result<Graph, TextError> {
    const LAYERS: usize = 6;
    let part = "f32[2,8,14,14]";
    let weights: Vec<String> =
        (1..=LAYERS).map(|k| format!("%w{k}: f32[8,{c},3,3], %s{k}: f32[{c}]", c = 8 * k)).collect();
    let mut draft = GraphText::new(&format!("%x: {part}, {}", weights.join(", ")), size);
    let mut last = "%x".to_owned();
    while draft.is_open() {
        let mut parts = vec![last.clone()];
        for k in 1..=LAYERS {
            let whole = format!("f32[2,{},14,14]", 8 * k);
            let joined = draft.call(&whole, &format!("aten::cat([{}], 1)", parts.join(", ")));
            let statistics = format!("%s{k}, %s{k}, %s{k}, %s{k}, false, 0.1, 1e-05, true");
            let normed = draft.call(&whole, &format!("aten::batch_norm({joined}, {statistics})"));
            let bent = draft.call(&whole, &format!("aten::relu({normed})"));
            let call = format!("aten::conv2d({bent}, %w{k}, none, [1, 1], [1, 1], [1, 1], 1)");
            parts.push(draft.call(part, &call));
        }
        last = draft.call(part, &format!("aten::add.Tensor({}, {last})", parts[LAYERS]));
    }
    draft.returning(&last)
}
