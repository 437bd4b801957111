//! What an op is to a kernel.

use passhost_ir::alias::{Aliasing, aliasing};
use passhost_ir::{Arg, Dtype, Graph, Node, NodeKind, OpName, OpTable};
use std::collections::HashMap;
use std::sync::LazyLock;

/// What an op is to a kernel of the kernel language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// A library does it: matrix products, convolutions, attention.
    Library,
    /// Each element of the result depends on the elements at the same place.
    Pointwise,
    /// The same elements under other coordinates; nothing is calculated.
    View,
    /// Many elements become one.
    Reduction,
    /// A reduction and, with it, a new value for each element of the row: norms and softmax.
    Normalisation,
    /// Each element depends on those before it in its row.
    Scan,
    /// Elements at places that another tensor names.
    Gather,
    /// Elements at other places, which the shapes determine.
    Movement,
    /// A tensor of nothing but numbers.
    Constructor,
    /// No kernel of ours does it.
    Opaque,
}

/// The classes of all ops that may occur in a sample: names without `aten::` and without the `_` of in-place ops. A
/// name with an overload goes before the name by itself.
const TABLE: &[(Class, &str)] = &[
    (
        Class::Library,
        "linear matmul mm bmm mv dot inner addmm addbmm baddbmm addmv bilinear einsum tensordot linalg_multi_dot \
         conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution \
         scaled_dot_product_attention",
    ),
    (
        Class::Pointwise,
        "abs absolute add addcdiv addcmul addr clamp clamp_max clamp_min clip copysign cross div divide float_power \
         floor_divide fmod hypot lerp linalg_cross logaddexp logaddexp2 maximum minimum mul multiply nan_to_num neg \
         negative outer positive pow reciprocal remainder rsqrt rsub sgn sign sqrt square sub subtract true_divide xlogy \
         acos acosh arccos arcsin arctan arctan2 asin asinh atan atan2 atanh ceil cos cosh deg2rad digamma erf erfc \
         erfinv exp exp2 expm1 floor frac lgamma log log10 log1p log2 logit rad2deg round sin sinc sinh special_logit \
         tan tanh trunc \
         __and__ __or__ __xor__ bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor \
         eq ge greater greater_equal gt isclose isfinite isinf isnan isneginf isposinf le less less_equal logical_and \
         logical_not logical_or logical_xor lt masked_fill ne not_equal signbit where max.other min.other one_hot \
         celu elu gelu glu hardshrink hardsigmoid hardswish hardtanh leaky_relu log_sigmoid mish prelu relu relu6 selu \
         sigmoid silu softplus softshrink threshold batch_norm \
         _to_copy copy fill to tril triu type_as zero",
    ),
    (
        Class::View,
        "_unsafe_view alias as_strided broadcast_tensors broadcast_to chunk detach diagonal dsplit expand expand_as \
         flatten hsplit imag lift_fresh mT meshgrid moveaxis movedim narrow numpy_T permute ravel real reshape \
         reshape_as select slice split split_with_sizes squeeze swapaxes swapdims t tensor_split transpose unbind \
         unflatten unfold unsqueeze view view_as view_as_complex view_as_real vsplit contiguous clone lift_fresh_copy \
         alpha_dropout dropout feature_dropout",
    ),
    (
        Class::Reduction,
        "all amax amin aminmax any argmax argmin count_nonzero logsumexp max mean min nanmean nansum prod std std_mean \
         sum trace var var_mean cosine_similarity linalg_norm linalg_vector_norm norm pairwise_distance \
         binary_cross_entropy binary_cross_entropy_with_logits cosine_embedding_loss hinge_embedding_loss huber_loss \
         kl_div l1_loss margin_ranking_loss mse_loss poisson_nll_loss smooth_l1_loss soft_margin_loss \
         triplet_margin_loss \
         _adaptive_avg_pool2d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d \
         adaptive_max_pool2d adaptive_max_pool3d avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d \
         max_pool2d_with_indices max_pool3d max_pool3d_with_indices",
    ),
    (
        Class::Normalisation,
        "_log_softmax _softmax log_softmax softmax _weight_norm group_norm instance_norm layer_norm native_group_norm \
         native_layer_norm rms_norm",
    ),
    (Class::Scan, "cummax cummin cumprod cumsum logcumsumexp"),
    (Class::Gather, "embedding gather index index_select take take_along_dim"),
    (
        Class::Movement,
        "block_diag cat channel_shuffle column_stack concat concatenate constant_pad_nd diag diag_embed diagonal_scatter \
         diff dstack flip fliplr flipud hstack im2col pad pixel_shuffle pixel_unshuffle reflection_pad1d \
         reflection_pad2d reflection_pad3d repeat repeat_interleave replication_pad1d replication_pad2d \
         replication_pad3d roll rot90 select_scatter slice_scatter stack tile vstack \
         _upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d upsample_bicubic2d \
         upsample_bilinear2d upsample_linear1d upsample_nearest1d upsample_nearest2d upsample_nearest3d \
         upsample_trilinear3d",
    ),
    (
        Class::Constructor,
        "arange eye full full_like linspace logspace new_full new_ones new_zeros ones ones_like scalar_tensor \
         tril_indices triu_indices zeros zeros_like",
    ),
    (
        Class::Opaque,
        "cdist kron median _native_multi_head_attention _transformer_encoder_layer_fwd cross_entropy_loss nll_loss \
         nll_loss2d nll_loss_nd multi_margin_loss multilabel_margin_loss col2im _upsample_bicubic2d_aa _upsample_bilinear2d_aa \
         affine_grid_generator grid_sampler grid_sampler_2d argsort bucketize isin msort searchsorted sort topk angle \
         complex polar view.dtype repeat_interleave.self_Tensor as_strided_scatter index_add index_copy index_fill \
         index_put index_reduce masked_scatter scatter scatter_add scatter_reduce gru lstm fft_fft fft_fft2 fft_fftn \
         fft_fftshift fft_ifft fft_ifft2 fft_ifftn fft_ifftshift fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 \
         fft_rfftn",
    ),
];

static CLASSES: LazyLock<HashMap<&str, Class>> = LazyLock::new(|| {
    TABLE.iter().flat_map(|(class, names)| names.split_whitespace().map(|name| (name, *class))).collect()
});

/// The name of an op without its namespace and without the `_` of an in-place op.
pub(super) fn plain_name(op: &OpName) -> &str {
    let name = op.name.strip_prefix("aten::").unwrap_or(&op.name);
    if name.ends_with("__") { name } else { name.strip_suffix('_').unwrap_or(name) }
}

/// What the table says of an op.
fn listed(op: &OpName) -> Option<Class> {
    let name = plain_name(op);
    let overload = format!("{name}.{}", op.overload);
    CLASSES.get(overload.as_str()).or_else(|| CLASSES.get(name)).copied()
}

impl Class {
    /// The class of a node. An op that is on no list is opaque, and so is every op on complex numbers.
    pub(super) fn of(graph: &Graph, node: &Node) -> Class {
        let NodeKind::Aten { op, args } = &node.kind else { return Class::Opaque };
        let operands = node.operands();
        if operands.iter().chain(&node.outputs).any(|&value| graph.ty(value).dtype.is_complex()) {
            return Class::Opaque;
        }
        let Some(class) = listed(op) else { return Class::Opaque };
        match class {
            // Normalises by statistics of its operand.
            Class::Pointwise if plain_name(op) == "batch_norm" && is_training(op, args) => Class::Opaque,
            // The size of the result depends on data.
            Class::Gather if has_mask(graph, args) => Class::Opaque,
            // It already is what it should be converted to.
            Class::Pointwise if matches!(plain_name(op), "to" | "type_as") && !is_copy(graph, node) => Class::View,
            class => class,
        }
    }

    /// Whether a kernel has something to do for it, or a library.
    pub(super) fn is_work(self, graph: &Graph, node: &Node) -> bool {
        match self {
            Class::View => is_copy(graph, node),
            Class::Constructor => false,
            _ => true,
        }
    }
}

/// Whether the result has memory of its own: `reshape` and `contiguous` copy where they must.
fn is_copy(graph: &Graph, node: &Node) -> bool {
    aliasing(graph, node, OpTable::sample()) == Aliasing::None
}

fn is_training(op: &OpName, args: &[Arg]) -> bool {
    let position = OpTable::sample().get(op).and_then(|schema| schema.position("training"));
    !matches!(position.and_then(|position| args.get(position)), Some(Arg::Bool(false)))
}

fn has_mask(graph: &Graph, args: &[Arg]) -> bool {
    let mut indices = args.iter().filter(|arg| matches!(arg, Arg::OptionalValues(_))).flat_map(Arg::values);
    indices.any(|&index| graph.ty(index).dtype == Dtype::Bool)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn every_op_that_may_occur_in_a_sample_has_one_class() {
        let missing: Vec<String> = OpTable::sample()
            .iter()
            .filter(|schema| listed(&schema.op).is_none())
            .map(|schema| schema.op.to_string())
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
        let names: Vec<&str> = TABLE.iter().flat_map(|(_, names)| names.split_whitespace()).collect();
        assert_eq!(names.len(), CLASSES.len(), "a name occurs twice");
        let known = |name: &&&str| {
            let op = OpName::parse(&format!("aten::{name}"));
            let in_place = OpName::new(format!("{}_", op.name), op.overload.clone());
            let found =
                |op: &OpName| OpTable::sample().overloads(&op.name).any(|s| op.overload.is_empty() || s.op == *op);
            !found(&op) && !found(&in_place)
        };
        let unknown: Vec<&&str> = names.iter().filter(known).collect();
        assert!(unknown.is_empty(), "in the table and on no list: {unknown:?}");
    }

    #[test]
    fn a_call_can_be_of_another_class_than_its_op() {
        for (call, class, is_work) in [
            ("%r: f32[2,3] = aten::relu_(%x)", Class::Pointwise, true),
            ("%r: f32[2,3] = aten::to.dtype(%x, f32)", Class::View, false),
            ("%r: f16[2,3] = aten::to.dtype(%x, f16)", Class::Pointwise, true),
            ("%r: f32[6] = aten::reshape(%x, [6])", Class::View, false),
            ("%r: f32[2,3] = aten::clone(%x)", Class::View, true),
            ("%r: f32[2], %i: i64[2] = aten::max.dim(%x, 1)", Class::Reduction, true),
            ("%r: f32[2,3] = aten::max.other(%x, %x)", Class::Pointwise, true),
            ("%r: f32[2,3] = aten::zeros_like(%x)", Class::Constructor, false),
            ("%r: f32[2] = aten::select.int(%x, 1, 0)", Class::View, false),
        ] {
            let text = format!("graph(%x: f32[2,3]) {{\n  {call}\n  return (%r)\n}}\n");
            let graph = Graph::parse(&text).unwrap();
            let node = &graph.nodes[0];
            let found = Class::of(&graph, node);
            assert_eq!((found, found.is_work(&graph, node)), (class, is_work), "{call}");
        }
    }
}
