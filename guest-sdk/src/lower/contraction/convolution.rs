//! Convolutions.

use super::{Addend, Contraction, ProductFactor};
use crate::index::Index;
use crate::lower::call::Uncovered;
use crate::lower::footprint::IndexGuard;
use crate::lower::node_call::NodeCall;
use crate::lower::rule::Rule;
use passhost_ir::{Node, NodeKind, numel};

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::products("aten::conv1d", &["", "padding"], forward).only("as conv2d"),
    Rule::products("aten::conv2d", &["", "padding"], forward).only("as mm: depthwise ones, and those of few channels"),
    Rule::products("aten::conv3d", &["", "padding"], forward).only("as conv2d"),
    Rule::products("aten::conv_transpose1d", &[""], backward).only("as conv2d"),
    Rule::products("aten::conv_transpose2d", &["input"], backward).only("as conv2d"),
    Rule::products("aten::conv_transpose3d", &["input"], backward).only("as conv2d"),
];

/// Of a convolution of images, whether it is transposed.
pub(in crate::lower) fn of_images(node: &Node) -> Option<bool> {
    let NodeKind::Aten { op, .. } = &node.kind else { return None };
    let is = |name, overload| op.name == name && op.overload == overload;
    is("aten::conv_transpose2d", "input").then_some(true).or_else(|| is("aten::conv2d", "").then_some(false))
}

/// How windows lie along the last dimensions, one entry for each, and the axes: of the result, then of the window, that is
/// channels of a group and positions in the weight.
struct ConvolutionWindows<'a> {
    call: &'a NodeCall<'a>,
    stride: Vec<i64>,
    padding: Vec<i64>,
    dilation: Vec<i64>,
    groups: i64,
    rows: &'a [i64],
    weight: &'a [i64],
    /// Where the channel dimension lies: behind that of the batch, if there is one.
    channel: usize,
}

impl<'a> ConvolutionWindows<'a> {
    /// From the places of stride, padding, dilation and groups; the padding perhaps by name.
    fn of(call: &'a NodeCall<'a>, places: [usize; 4]) -> Result<ConvolutionWindows<'a>, Uncovered> {
        let weight = call.shape(call.tensor(1)?);
        let count = weight.len().checked_sub(2).ok_or("has a weight of too few dimensions")?;
        let (stride, dilation) = (call.each(places[0], count)?, call.each(places[2], count)?);
        let reach = dilation.iter().zip(&weight[2..]).map(|(dilation, size)| dilation * (size - 1));
        let padding = match call.args.text(places[1]) {
            None => call.each(places[1], count)?,
            // Of an odd number, the larger part comes behind.
            Some("same") => reach.map(|reach| reach / 2).collect(),
            Some("valid") => vec![0; count],
            Some(other) => return Err(format!("has the padding {other}")),
        };
        let groups = call.args.int(places[3]).filter(|&groups| groups > 0).ok_or("has no number of groups")?;
        let rows = &call.result()?.shape;
        let channel = rows.len().checked_sub(count + 1).ok_or("has a result of too few dimensions")?;
        Ok(ConvolutionWindows { call, stride, padding, dilation, groups, rows, weight, channel })
    }

    /// Whether each element of a transposed convolution's result is of one place of one window: these lie side by side.
    fn tile_the_result(&self) -> bool {
        let is_plain =
            self.padding.iter().all(|&padding| padding == 0) && self.dilation.iter().all(|&dilation| dilation == 1);
        self.stride == self.weight[2..] && is_plain
    }

    fn contraction(
        &self,
        is_as_in_libraries: bool,
        window: Vec<i64>,
        parts: impl Fn(&[Index], &[Index], &Index) -> (Vec<Index>, Vec<Index>, IndexGuard),
    ) -> Result<Contraction, Uncovered> {
        let axes = Index::axes(&[self.rows, &window].concat());
        let (own, within) = axes.split_at(self.rows.len());
        let (input_at, weight_at, guard) = parts(own, within, &own[self.channel]);
        let at = vec![own[self.channel].clone()];
        let addend = self.call.args.tensor(2).map(|tensor| Addend { tensor, at, scale: 1.0 });
        let at = [&own[..self.channel], &input_at].concat();
        let factors = [
            ProductFactor { tensor: self.call.tensor(0)?, at },
            ProductFactor { tensor: self.call.tensor(1)?, at: weight_at },
        ];
        let (rows, scale, is_stored, convolves) = (self.rows.to_vec(), 1.0, false, true);
        Ok(Contraction { rows, window, factors, guard, scale, addend, is_stored, convolves, is_as_in_libraries })
    }
}

/// `(input, weight, bias, stride, padding, dilation, groups)`.
fn forward(call: &NodeCall<'_>) -> Result<Contraction, Uncovered> {
    convolved(&ConvolutionWindows::of(call, [3, 4, 5, 6])?)
}

/// `(input, weight, bias, stride, padding, output_padding, groups, dilation)`.
fn backward(call: &NodeCall<'_>) -> Result<Contraction, Uncovered> {
    transposed(&ConvolutionWindows::of(call, [3, 4, 7, 6])?)
}

/// Channels that a library adds up at each place of a window before it goes on with others.
const BLOCK: i64 = 64;
/// Terms that tensor cores add up at a time.
const AT_A_TIME: u64 = 16;
/// Result channels from which on a library has tiles of so many channels, and no others.
const FEWEST_RESULTS: i64 = 64;

/// A weight `[result channels, channels of a group, ...]`. The terms are in the order in which cuDNN mostly adds them up, as far
/// as that is known: those of halves in blocks of channels. It rounds factors of `f32` to TF32 where channels are not too few.
fn convolved(windows: &ConvolutionWindows<'_>) -> Result<Contraction, Uncovered> {
    let (results, channels, places) = (windows.weight[0], windows.weight[1], &windows.weight[2..]);
    let is_half = windows.call.graph.ty(windows.call.tensor(1)?).dtype.size() == 2;
    let block = channels.min(BLOCK);
    let is_in_blocks = is_half
        && numel(places) > 1
        && results / windows.groups >= FEWEST_RESULTS
        && (matches!(channels, 16 | 32) || channels % BLOCK == 0);
    let is_as_in_libraries = match is_half {
        true => is_in_blocks || numel(places) == 1 || numel(places) * channels.unsigned_abs() <= AT_A_TIME,
        false => channels <= if places.len() == 2 { 8 } else { 3 },
    };
    let window = match is_in_blocks {
        true => [&[channels / block], places, &[block]].concat(),
        false => [&[channels], places].concat(),
    };
    windows.contraction(is_as_in_libraries, window, |own, within, result| {
        let channel = match within {
            [blocks, .., of_block] if is_in_blocks => blocks.times(block).plus(of_block),
            _ => within[0].clone(),
        };
        let mut at = vec![result.div(results / windows.groups).times(channels).plus(&channel)];
        let steps = &within[1..=windows.stride.len()];
        for (dim, step) in steps.iter().enumerate() {
            let row = &own[windows.channel + 1 + dim];
            let place = row.times(windows.stride[dim]).plus(&step.times(windows.dilation[dim]));
            at.push(place.shifted(-windows.padding[dim]));
        }
        (at, [&[result.clone(), channel], steps].concat(), vec![])
    })
}

/// A weight `[channels, result channels of a group, ...]`: an element of the input counts where a whole number of strides
/// leads from it to the result.
fn transposed(windows: &ConvolutionWindows<'_>) -> Result<Contraction, Uncovered> {
    let (channels, results) = (windows.weight[0] / windows.groups, windows.weight[1]);
    if windows.tile_the_result() {
        let is_half = windows.call.graph.ty(windows.call.tensor(1)?).dtype.size() == 2;
        let is_as_in_libraries = is_half && channels.min(results) >= FEWEST_RESULTS;
        return windows.contraction(is_as_in_libraries, vec![channels], |own, within, result| {
            let channel = result.div(results).times(channels).plus(&within[0]);
            let (mut at, mut weight_at) = (vec![channel.clone()], vec![channel, result.rem(results)]);
            for (row, &stride) in own[windows.channel + 1..].iter().zip(&windows.stride) {
                at.push(row.div(stride));
                weight_at.push(row.rem(stride));
            }
            (at, weight_at, vec![])
        });
    }
    windows.contraction(false, [&[channels], &windows.weight[2..]].concat(), |own, within, result| {
        let channel = result.div(results).times(channels).plus(&within[0]);
        let (mut at, mut guard) = (vec![channel.clone()], vec![]);
        for dim in 0..windows.stride.len() {
            let (row, step) = (&own[windows.channel + 1 + dim], &within[1 + dim]);
            let reached = row.shifted(windows.padding[dim]).plus(&step.times(-windows.dilation[dim]));
            at.push(reached.div(windows.stride[dim]));
            guard.push((reached.rem(windows.stride[dim]), 1));
        }
        (at, [&[channel, result.rem(results)], &within[1..]].concat(), guard)
    })
}
