//! Convolutions. Shapes are those of every backend, the layout is that of the one which the CPU picks.

use super::Rules;
use super::layout::{batch_of_one, contiguous_in, suggested, unsqueezed, without};
use super::operands::{Operands, ResultTypes};
use crate::functional::layout::formatted;
use crate::{Dtype, MemoryFormat, TensorType};

pub(super) const RULES: Rules = &[
    (convolution, "conv1d conv2d conv3d"),
    (padded_convolution, "conv1d.padding conv2d.padding conv3d.padding"),
    (transposed_convolution, "conv_transpose1d conv_transpose2d.input conv_transpose3d.input"),
    (general_convolution, "convolution"),
];

/// A convolution over one to three spatial dimensions of a batch.
struct ConvolutionOperands<'a> {
    input: TensorType,
    weight: &'a TensorType,
    bias: Option<&'a TensorType>,
    stride: Vec<i64>,
    padding: Vec<i64>,
    dilation: Vec<i64>,
    /// Elements added at one side of the output, where the convolution is transposed.
    output_padding: Option<Vec<i64>>,
    groups: i64,
}

/// How many spatial dimensions the op convolves over.
fn spatial_of(operands: &Operands<'_>) -> Result<usize, String> {
    match operands.op().trim_start_matches("conv_transpose").trim_start_matches("conv") {
        "1d" => Ok(1),
        "2d" => Ok(2),
        "3d" => Ok(3),
        _ => match operands.tensor_of_rank(1, &[3, 4, 5])?.rank() {
            rank @ 3.. => Ok(rank - 2),
            rank => Err(format!("`weight` has rank {rank}, expected at least 3")),
        },
    }
}

impl<'a> ConvolutionOperands<'a> {
    /// Input, weight and bias come first everywhere, then the stride; dilation and groups stand at these places.
    fn new(
        operands: &Operands<'a>,
        spatial: usize,
        (dilation, groups): (usize, usize),
    ) -> Result<ConvolutionOperands<'a>, String> {
        let input = operands.tensor_of_rank(0, &[spatial + 1, spatial + 2])?;
        let input = if input.rank() == spatial + 1 { batch_of_one(input) } else { input.clone() };
        Ok(ConvolutionOperands {
            input,
            weight: operands.tensor_of_rank(1, &[spatial + 2])?,
            bias: operands.optional_tensor(2)?,
            stride: operands.expanded_ints(3, spatial)?,
            padding: vec![0; spatial],
            dilation: operands.expanded_ints(dilation, spatial)?,
            output_padding: None,
            groups: operands.int(groups)?,
        })
    }

    fn spatial(&self) -> usize {
        self.weight.rank() - 2
    }

    /// The result, as a batch.
    fn result(&self) -> Result<TensorType, String> {
        self.check()?;
        let channels = match self.output_padding {
            Some(_) => self.weight.shape[1].saturating_mul(self.groups),
            None => self.weight.shape[0],
        };
        let mut shape = vec![self.input.shape[0], channels];
        for dim in 0..self.spatial() {
            shape.push(self.extent(dim)?);
        }
        if self.input.shape[..2].contains(&0) {
            return Ok(TensorType::contiguous(self.input.dtype, shape));
        }
        if self.spatial() == 1 {
            // Lines are images of height 1.
            shape.insert(2, 1);
            let input = contiguous_in(&self.input, MemoryFormat::Contiguous);
            let format = self.format(&unsqueezed(&input, 2), &unsqueezed(self.weight, 2));
            return Ok(without(&formatted(self.input.dtype, shape, format), 2));
        }
        Ok(formatted(self.input.dtype, shape, self.format(&self.input, self.weight)))
    }

    fn check(&self) -> Result<(), String> {
        let (input, weight) = (&self.input, self.weight);
        if input.dtype != weight.dtype || self.bias.is_some_and(|bias| bias.dtype != weight.dtype) {
            return Err(format!("`input` is {}, expected the element type of `weight` and `bias`", input.dtype));
        }
        let whole = [&self.stride, &self.dilation].iter().all(|list| list.iter().all(|&x| x > 0));
        if !whole || self.padding.iter().any(|&x| x < 0) || self.groups <= 0 {
            return Err("stride, dilation and groups must be positive, padding must not be negative".to_owned());
        }
        let (outer, inner) = (weight.shape[0], weight.shape[1]);
        let (taken, made) = match self.output_padding {
            Some(_) => (outer, inner.saturating_mul(self.groups)),
            None => (inner.saturating_mul(self.groups), outer),
        };
        if outer % self.groups != 0 || outer < self.groups {
            return Err(format!("`weight` is {weight}, expected {} groups along its first dimension", self.groups));
        }
        if input.shape[1] != taken {
            return Err(format!("`input` has {} channels, expected {taken} for weights {weight}", input.shape[1]));
        }
        if let Some(bias) = self.bias.filter(|bias| bias.shape != [made]) {
            return Err(format!("`bias` is {bias}, expected one number for each of {made} channels"));
        }
        if input.numel() == 0 && !input.shape[..2].contains(&0) {
            return Err(format!("`input` is {input}, expected no extent of 0 behind the channels"));
        }
        Ok(())
    }

    /// The extent of the result along a spatial dimension.
    fn extent(&self, dim: usize) -> Result<i64, String> {
        let of = |list: &[i64]| i128::from(list[dim]);
        let (extent, size) = (of(&self.input.shape[2..]), of(&self.weight.shape[2..]));
        let (stride, dilation, padding) = (of(&self.stride), of(&self.dilation), of(&self.padding));
        let reach = dilation.checked_mul(size - 1).ok_or("the window is too large")?;
        let result = match &self.output_padding {
            Some(added) => {
                let added = of(added);
                if added < 0 || (added >= stride && added >= dilation) {
                    return Err(format!("output padding {added}, expected less than stride or dilation"));
                }
                (extent - 1) * stride - 2 * padding + reach + added + 1
            }
            None => {
                let room = extent + 2 * padding - reach - 1;
                if room < 0 || size <= 0 {
                    return Err(format!("a window of {size} does not fit {extent} and padding {padding}"));
                }
                room / stride + 1
            }
        };
        i64::try_from(result)
            .ok()
            .filter(|&result| result >= 1)
            .ok_or_else(|| format!("an extent of {result} along spatial dimension {dim}"))
    }

    /// Channels last if the input or the weight is, as far as the backend can.
    fn format(&self, input: &TensorType, weight: &TensorType) -> MemoryFormat {
        let formats = [suggested(input), suggested(weight)];
        if formats.contains(&MemoryFormat::ChannelsLast) {
            // oneDNN leaves doubles to libtorch's own kernels, which take images in both formats.
            MemoryFormat::ChannelsLast
        } else if formats.contains(&MemoryFormat::ChannelsLast3d) && self.runs_in_onednn(input, weight) {
            MemoryFormat::ChannelsLast3d
        } else {
            MemoryFormat::Contiguous
        }
    }

    /// Whether libtorch hands volumes to oneDNN: its own kernels are faster on little work, and take them row-major.
    fn runs_in_onednn(&self, input: &TensorType, weight: &TensorType) -> bool {
        if matches!(input.dtype, Dtype::F16 | Dtype::Bf16) {
            return calculates_in(input.dtype);
        }
        let big_padding =
            self.output_padding.as_ref().is_some_and(|added| added.iter().zip(&self.stride).any(|(a, b)| a >= b));
        let window = &weight.shape[weight.rank() - 2..];
        let work = input.shape[..4].iter().fold(1i64, |product, &extent| product.saturating_mul(extent));
        input.dtype == Dtype::F32
            && !big_padding
            && (self.groups > 1 || window.iter().all(|&size| size > 3) || input.shape[0] > 1 || work > 20480)
    }
}

/// Whether this processor has the instructions for halves that libtorch asks for before it hands them to oneDNN: without
/// them they run in libtorch's own kernels, too.
#[cfg(target_arch = "x86_64")]
fn calculates_in(half: Dtype) -> bool {
    let wide = if half == Dtype::Bf16 {
        is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
    } else {
        is_x86_feature_detected!("avx512fp16")
    };
    wide || is_x86_feature_detected!("avxneconvert")
}

/// On other processors libtorch hands over halves wherever it has oneDNN.
#[cfg(not(target_arch = "x86_64"))]
fn calculates_in(_half: Dtype) -> bool {
    true
}

/// The result as the op returns it: without the batch if its input has none.
fn finished(operands: &Operands<'_>, convolution: &ConvolutionOperands<'_>) -> ResultTypes {
    let result = convolution.result()?;
    let alone = operands.tensor(0)?.rank() < convolution.input.rank();
    Ok(vec![if alone { without(&result, 0) } else { result }])
}

fn convolution(operands: &Operands<'_>) -> ResultTypes {
    let spatial = spatial_of(operands)?;
    let padding = operands.expanded_ints(4, spatial)?;
    finished(operands, &ConvolutionOperands { padding, ..ConvolutionOperands::new(operands, spatial, (5, 6))? })
}

/// `valid` pads nothing; `same` pads so that the extents stay, unequally where the sum is odd.
fn padded_convolution(operands: &Operands<'_>) -> ResultTypes {
    let spatial = spatial_of(operands)?;
    let mut convolution = ConvolutionOperands::new(operands, spatial, (5, 6))?;
    match operands.text(4)? {
        "valid" => {}
        "same" if convolution.stride.iter().any(|&stride| stride != 1) => {
            return Err("padding `same` takes a stride of 1".to_owned());
        }
        "same" => {
            // Odd elements are padded beforehand, by a copy that keeps the format.
            let (mut uneven, format) = (false, suggested(&convolution.input));
            for dim in 0..spatial {
                let total = convolution.dilation[dim].saturating_mul(convolution.weight.shape[dim + 2] - 1);
                convolution.padding[dim] = total / 2;
                if total % 2 != 0 {
                    uneven = true;
                    convolution.input.shape[dim + 2] = convolution.input.shape[dim + 2].saturating_add(1);
                }
            }
            if uneven {
                convolution.input = formatted(convolution.input.dtype, convolution.input.shape, format);
            }
        }
        other => return Err(format!("padding `{other}`, expected `same` or `valid`")),
    }
    finished(operands, &convolution)
}

fn transposed_convolution(operands: &Operands<'_>) -> ResultTypes {
    let spatial = spatial_of(operands)?;
    let (padding, added) = (operands.expanded_ints(4, spatial)?, operands.expanded_ints(5, spatial)?);
    let convolution = ConvolutionOperands::new(operands, spatial, (7, 6))?;
    finished(operands, &ConvolutionOperands { padding, output_padding: Some(added), ..convolution })
}

fn general_convolution(operands: &Operands<'_>) -> ResultTypes {
    let spatial = spatial_of(operands)?;
    let padding = operands.expanded_ints(4, spatial)?;
    let output_padding = if operands.bool(6)? { Some(operands.expanded_ints(7, spatial)?) } else { None };
    finished(
        operands,
        &ConvolutionOperands { padding, output_padding, ..ConvolutionOperands::new(operands, spatial, (5, 8))? },
    )
}
