//! Convolutions, and transposed ones, in any number of dimensions, with a ReLU.

use super::{Case, Window, end, numbered};
use passhost_ir::Dtype;

/// The text of a kernel's index values, as they are defined.
#[derive(Default)]
struct Indices {
    lines: String,
    count: usize,
}

impl Indices {
    fn define(&mut self, value: &str) -> String {
        let name = format!("i{}", self.count);
        self.count += 1;
        self.lines += &format!("{name} = {value}\n");
        name
    }
}

/// Where a product of a convolution lies.
struct Places {
    /// The lines that define indices.
    lines: String,
    of_x: String,
    of_weight: String,
    /// Indices that must lie between 0 and an extent for the product to be there.
    guards: Vec<(String, i64)>,
}

/// Channels that are terms side by side, behind the places of a window: the order in which libraries add up halves.
fn block(window: &Window, dtype: Dtype) -> Option<i64> {
    let channels = window.channels / window.groups;
    let is_in_blocks = window.side > 1 && (matches!(channels, 16 | 32) || channels % 64 == 0);
    let has_room = window.extents.len() < 3;
    (dtype != Dtype::F32 && !window.transposed && is_in_blocks && has_room).then(|| channels.min(64))
}

fn places(window: &Window, block: Option<i64>) -> Places {
    let Window { channels, results, stride, padding, groups, transposed, .. } = *window;
    let mut indices = Indices::default();
    let (image, group, mut within) = (indices.define("p0"), indices.define("p1"), indices.define("r0"));
    if let Some(block) = block {
        let first = indices.define(&format!("{within} * {block}"));
        let of_block = indices.define(&format!("r{}", 1 + window.extents.len()));
        within = indices.define(&format!("{first} + {of_block}"));
    }
    let first = indices.define(&format!("{group} * {}", channels / groups));
    let channel = indices.define(&format!("{first} + {within}"));
    let (mut of_x, mut steps, mut guards) = (vec![image, channel.clone()], vec![], vec![]);
    for (dim, extent) in window.extents.iter().enumerate() {
        let row = indices.define(&format!("p{}", 3 + dim));
        let step = indices.define(&format!("r{}", 1 + dim));
        let pad = indices.define(&padding.to_string());
        let place = if transposed {
            let padded = indices.define(&format!("{row} + {pad}"));
            let reached = indices.define(&format!("{padded} - {step}"));
            guards.push((indices.define(&format!("{reached} % {stride}")), 1));
            indices.define(&format!("{reached} / {stride}"))
        } else {
            let start = indices.define(&format!("{row} * {stride}"));
            let padded = indices.define(&format!("{start} + {step}"));
            indices.define(&format!("{padded} - {pad}"))
        };
        if padding > 0 || transposed {
            guards.push((place.clone(), *extent));
        }
        of_x.push(place);
        steps.push(step);
    }
    let result = indices.define("p2");
    let first = indices.define(&format!("{group} * {}", results / groups));
    let row = indices.define(&format!("{first} + {result}"));
    let mut of_weight = if transposed { vec![channel, result] } else { vec![row, within] };
    of_weight.extend(steps);
    Places { lines: indices.lines, of_x: of_x.join(", "), of_weight: of_weight.join(", "), guards }
}

fn call(window: &Window) -> String {
    let Window { stride, padding, groups, transposed, .. } = *window;
    let rank = window.extents.len();
    let every = |value: i64| format!("[{}]", vec![value.to_string(); rank].join(", "));
    let op = if transposed { format!("conv_transpose{rank}d.input") } else { format!("conv{rank}d") };
    let rest =
        if transposed { format!("{}, {groups}, {}", every(0), every(1)) } else { format!("{}, {groups}", every(1)) };
    format!("aten::{op}(%a, %b, none, {}, {}, {rest})", every(stride), every(padding))
}

pub(super) fn convolution(window: &Window, dtype: Dtype) -> Case {
    let ty = dtype.to_string();
    let Window { images: n, channels: c, extents, results: o, side, stride, padding, groups, transposed } = *window;
    let (cg, og, rank) = (c / groups, o / groups, extents.len());
    let after = |extent: &i64| match transposed {
        true => (extent - 1) * stride + side - 2 * padding,
        false => (extent + 2 * padding - side) / stride + 1,
    };
    let out: Vec<i64> = extents.iter().map(after).collect();
    let shape =
        |first: [i64; 2], rest: &[i64]| first.iter().chain(rest).map(i64::to_string).collect::<Vec<_>>().join(",");
    let sides = vec![side; rank];
    let (x, y) = (shape([n, c], extents), shape([n, o], &out));
    let weight = shape(if transposed { [c, og] } else { [o, cg] }, &sides);
    let block = block(window, dtype);
    let places = places(window, block);
    let (widen, a, b) = if dtype == Dtype::F32 { ("", 0, 1) } else { ("v2: f32 = cast v0\nv3: f32 = cast v1\n", 2, 3) };
    let (guard, product) = guarded(&places.guards);
    let list = |count: usize, item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(", ");
    let points = list(rank, &|dim| format!("p{}={}", 3 + dim, out[dim]));
    let mut windows = list(rank, &|dim| format!("r{}={side}", 1 + dim));
    if let Some(block) = block {
        windows += &format!(", r{}={block}", 1 + rank);
    }
    let blocks = cg / block.unwrap_or(1);
    let over = list(3 + rank, &|axis| format!("p{axis}"));
    let kernel = format!(
        "%y: {ty}[{y}] = kernel(%a, %b) {{\nspace p0={n}, p1={groups}, p2={og}, {points}; reduce r0={blocks}, {windows}\n\
         in x0: {ty}[{x}]\nin x1: {ty}[{weight}]\n{}v0: {ty} = load x0[{}] clamp\n\
         v1: {ty} = load x1[{}] clamp\n{widen}v4: f32 = mul v{a}, v{b}\n{guard}v19: f32 = reduce sum v{product}\n{}}}\n",
        places.lines,
        places.of_x,
        places.of_weight,
        end(dtype, 19, None, &over, &y)
    );
    let op = if transposed { "conv_transpose" } else { "conv" };
    let sides = sides.iter().map(i64::to_string).collect::<Vec<_>>().join("x");
    Case {
        name: format!("{op}{rank}d {dtype} [{x}] {o} of {sides}, stride {stride}, padding {padding}, groups {groups}"),
        operands: format!("%a: {ty}[{x}], %b: {ty}[{weight}]"),
        calls: format!("%t: {ty}[{y}] = {}\n%y: {ty}[{y}] = aten::relu(%t)\n", call(window)),
        kernel: numbered(&kernel),
        bar: if groups == c { 3.0 } else { 10.0 },
        products: n * o * out.iter().product::<i64>() * cg * side.pow(rank as u32),
    }
}

/// `v4` where each index is within its extent, else 0: the text, and the number of the value.
fn guarded(guards: &[(String, i64)]) -> (String, usize) {
    let mut text = String::new();
    let Some(last) = guards.len().checked_sub(1) else { return (text, 4) };
    text += "v100: i64 = const 0\n";
    for (at, (index, extent)) in guards.iter().enumerate() {
        let [i, low, end, high, both, all] = [0, 1, 2, 3, 4, 5].map(|part| 101 + 6 * at + part);
        text += &format!(
            "v{i}: i64 = index {index}\nv{low}: bool = le v100, v{i}\nv{end}: i64 = const {extent}\n\
             v{high}: bool = lt v{i}, v{end}\nv{both}: bool = and v{low}, v{high}\n"
        );
        // The last one of all before it.
        let before = if at == 0 { both } else { all - 6 };
        text += &format!("v{all}: bool = and v{before}, v{both}\n");
    }
    text += &format!("v17: f32 = const 0.0\nv18: f32 = select v{}, v4, v17\n", 101 + 6 * last + 5);
    (text, 18)
}
