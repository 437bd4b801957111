//! Convolutions.

use super::{Addend, Contraction, ContractionOp, Find, Only, ProductFactor, call, tensor};
use crate::args::Args;
use crate::index::Index;
use crate::lower::call::Uncovered;
use passhost_ir::{Graph, Node};

pub(super) const OPS: &[ContractionOp] = &[
    as_conv2d("aten::conv1d", &["", "padding"], |graph, node| forward(graph, node, 1)),
    ContractionOp {
        only: Only::calls("as mm: depthwise ones, and those of few channels"),
        ..as_conv2d("aten::conv2d", &["", "padding"], |graph, node| forward(graph, node, 2))
    },
    as_conv2d("aten::conv3d", &["", "padding"], |graph, node| forward(graph, node, 3)),
    as_conv2d("aten::conv_transpose1d", &[""], |graph, node| backward(graph, node, 1)),
    as_conv2d("aten::conv_transpose2d", &["input"], |graph, node| backward(graph, node, 2)),
    as_conv2d("aten::conv_transpose3d", &["input"], |graph, node| backward(graph, node, 3)),
    as_conv2d("aten::convolution", &[""], either),
];

const fn as_conv2d(name: &'static str, overloads: &'static [&'static str], find: Find) -> ContractionOp {
    ContractionOp { name, overloads, only: Only::calls("as conv2d"), find }
}

/// How windows lie along the last dimensions, one entry for each.
struct ConvolutionWindows {
    stride: Vec<i64>,
    padding: Vec<i64>,
    dilation: Vec<i64>,
    groups: i64,
}

impl ConvolutionWindows {
    /// From the places of stride, padding, dilation and groups.
    fn of(args: Args<'_>, count: usize, places: [usize; 4]) -> Result<ConvolutionWindows, Uncovered> {
        let each = |place: usize| {
            args.ints_each(place, count).ok_or_else(|| format!("has no {count} numbers as argument {place}"))
        };
        let groups = args.int(places[3]).filter(|&groups| groups > 0).ok_or("has no number of groups")?;
        Ok(ConvolutionWindows {
            stride: each(places[0])?,
            padding: each(places[1])?,
            dilation: each(places[2])?,
            groups,
        })
    }
}

/// `(input, weight, bias, stride, padding, dilation, groups)`, the padding perhaps by name.
fn forward(graph: &Graph, node: &Node, count: usize) -> Result<Contraction, Uncovered> {
    let (args, _) = call(graph, node)?;
    let Some(name) = args.text(4) else {
        return convolved(graph, node, ConvolutionWindows::of(args, count, [3, 4, 5, 6])?);
    };
    let mut windows = ConvolutionWindows::of(args, count, [3, 5, 5, 6])?;
    let weight = &graph.ty(tensor(args, 1)?).shape;
    let reach = windows.dilation.iter().zip(weight.iter().skip(2)).map(|(dilation, size)| dilation * (size - 1));
    // Of an odd number, the larger part comes behind.
    windows.padding = match name {
        "same" => reach.map(|reach| reach / 2).collect(),
        "valid" => vec![0; count],
        other => return Err(format!("has the padding {other}")),
    };
    convolved(graph, node, windows)
}

/// `(input, weight, bias, stride, padding, output_padding, groups, dilation)`.
fn backward(graph: &Graph, node: &Node, count: usize) -> Result<Contraction, Uncovered> {
    let (args, _) = call(graph, node)?;
    transposed(graph, node, &ConvolutionWindows::of(args, count, [3, 4, 7, 6])?)
}

/// `(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)`.
fn either(graph: &Graph, node: &Node) -> Result<Contraction, Uncovered> {
    let (args, _) = call(graph, node)?;
    let count = graph.ty(tensor(args, 1)?).rank().checked_sub(2).ok_or("has a weight of too few dimensions")?;
    let windows = ConvolutionWindows::of(args, count, [3, 4, 5, 8])?;
    match args.bool(6) {
        Some(false) => convolved(graph, node, windows),
        _ => transposed(graph, node, &windows),
    }
}

/// Axes of the result and of the window: channels of a group, then positions in the weight.
struct ConvolutionAxes<'a> {
    args: Args<'a>,
    rows: &'a [i64],
    window: Vec<i64>,
    /// Where the channel dimension lies: behind that of the batch, if there is one.
    channel: usize,
    axes: Vec<Index>,
}

impl<'a> ConvolutionAxes<'a> {
    fn of(graph: &'a Graph, node: &'a Node, channels: i64) -> Result<ConvolutionAxes<'a>, Uncovered> {
        let (args, rows) = call(graph, node)?;
        let sizes = graph.ty(tensor(args, 1)?).shape.get(2..).ok_or("has a weight of too few dimensions")?;
        let channel = rows.len().checked_sub(sizes.len() + 1).ok_or("has a result of too few dimensions")?;
        let window = [&[channels], sizes].concat();
        let axes = Index::axes(&[rows, &window].concat());
        Ok(ConvolutionAxes { args, rows, window, channel, axes })
    }

    /// The position along the `dim`-th of the convolved dimensions, in the result and in the window.
    fn positions(&self, dim: usize) -> (&Index, &Index) {
        (&self.axes[self.channel + 1 + dim], &self.axes[self.rows.len() + 1 + dim])
    }

    fn contraction(&self, factors: [ProductFactor; 2], guard: Vec<(Index, i64)>) -> Contraction {
        let at = vec![self.axes[self.channel].clone()];
        let addend = self.args.tensor(2).map(|tensor| Addend { tensor, at, scale: 1.0 });
        let (rows, window) = (self.rows.to_vec(), self.window.clone());
        Contraction { rows, window, factors, guard, scale: 1.0, addend, is_stored: false, convolves: true }
    }
}

/// A weight `[result channels, channels of a group, ...]`.
fn convolved(graph: &Graph, node: &Node, windows: ConvolutionWindows) -> Result<Contraction, Uncovered> {
    let (args, _) = call(graph, node)?;
    let (input, weight) = (tensor(args, 0)?, tensor(args, 1)?);
    let &[results, channels, ..] = &graph.ty(weight).shape[..] else { return Err("has no weight".to_owned()) };
    let axes = ConvolutionAxes::of(graph, node, channels)?;
    let (result, within) = (&axes.axes[axes.channel], &axes.axes[axes.rows.len()]);
    let mut at = axes.axes[..axes.channel].to_vec();
    at.push(result.div(results / windows.groups).times(channels).plus(within));
    for dim in 0..windows.stride.len() {
        let (row, step) = axes.positions(dim);
        at.push(row.times(windows.stride[dim]).plus(&step.times(windows.dilation[dim])).shifted(-windows.padding[dim]));
    }
    let weight_at = [std::slice::from_ref(result), &axes.axes[axes.rows.len()..]].concat();
    Ok(axes.contraction([ProductFactor { tensor: input, at }, ProductFactor { tensor: weight, at: weight_at }], vec![]))
}

/// A weight `[channels, result channels of a group, ...]`: an element of the input counts where a whole number of strides
/// leads from it to the result.
fn transposed(graph: &Graph, node: &Node, windows: &ConvolutionWindows) -> Result<Contraction, Uncovered> {
    let (args, _) = call(graph, node)?;
    let (input, weight) = (tensor(args, 0)?, tensor(args, 1)?);
    let &[channels, results, ..] = &graph.ty(weight).shape[..] else { return Err("has no weight".to_owned()) };
    let axes = ConvolutionAxes::of(graph, node, channels / windows.groups)?;
    let (result, within) = (&axes.axes[axes.channel], &axes.axes[axes.rows.len()]);
    let channel = result.div(results).times(channels / windows.groups).plus(within);
    let mut at = axes.axes[..axes.channel].to_vec();
    at.push(channel.clone());
    let mut guard = Vec::new();
    for dim in 0..windows.stride.len() {
        let (row, step) = axes.positions(dim);
        let reached = row.shifted(windows.padding[dim]).plus(&step.times(-windows.dilation[dim]));
        at.push(reached.div(windows.stride[dim]));
        guard.push((reached.rem(windows.stride[dim]), 1));
    }
    let steps = &axes.axes[axes.rows.len() + 1..];
    let weight_at = [&[channel, result.rem(results)], steps].concat();
    Ok(axes.contraction([ProductFactor { tensor: input, at }, ProductFactor { tensor: weight, at: weight_at }], guard))
}
