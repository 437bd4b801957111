//! What becomes of each op that a sample may have: the table behind `passhost ops` and docs/lowerings.md.

use super::analysis::Analysis;
use super::boundary::Boundary;
use super::group::{self, Group};
use super::recipe::Recipe;
use super::region::lower;
use super::{LowerError, contraction};
use fixedbitset::FixedBitSet;
use passhost_ir::{Graph, NodeKind, OpName};

/// What becomes of calls of an op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// They become part of a kernel, some of them only where the condition holds.
    Kernel {
        /// What calls must be like, if not all are covered.
        condition: Option<&'static str>,
    },
    /// They rename elements: kernels read through them.
    View,
    /// They stay calls of the library, for this reason.
    Library(&'static str),
}

/// What becomes of calls of an op; `None` if it is on no list.
pub fn standing(op: &OpName) -> Option<Standing> {
    let holds = |names: &[&str]| names.contains(&op.name.as_str());
    if is_lowered(op) {
        let condition = CONDITIONS.iter().find(|(name, _)| *name == op.name).map(|(_, condition)| *condition);
        return Some(Standing::Kernel { condition });
    }
    if op.name == "aten::view" && op.overload == "dtype" {
        return Some(Standing::Library(BITS));
    }
    if holds(VIEWS) {
        return Some(Standing::View);
    }
    LIBRARY.iter().find(|(_, names)| holds(names)).map(|(reason, _)| Standing::Library(reason))
}

/// Whether there is a lowering for calls of an op. The lists name an op, or one overload of it.
fn is_lowered(op: &OpName) -> bool {
    group::covers(Group::ALL, op)
}

/// What becomes of one call by itself.
#[derive(Debug, Clone, PartialEq)]
pub enum Fate {
    /// A kernel.
    Kernel,
    /// Nothing: it is a view, or gives back what it is given.
    View,
    /// It stays as it is.
    Library(LowerError),
}

/// What becomes of each call of a graph by itself, in graph order. Calls that nobody reads are left out.
pub fn fates(graph: &Graph) -> Vec<(&OpName, Fate)> {
    let analysis = Analysis::of(graph, Group::ALL);
    let fate = |position: usize| {
        let members = FixedBitSet::from_iter([position]);
        if Boundary::of(&analysis, &members).results.is_empty() {
            return None;
        }
        if analysis.is_view(position) {
            return Some(Fate::View);
        }
        let is_large = matches!(
            analysis.recipe(position),
            Ok(Recipe::Contraction(contraction)) if !contraction::small(contraction, graph)
        );
        if is_large {
            return Some(Fate::Library(LowerError::Large(analysis.name(position))));
        }
        Some(lower(&analysis, &members).map_or_else(Fate::Library, |_| Fate::Kernel))
    };
    let calls = graph.nodes.iter().enumerate().filter_map(|(position, node)| match &node.kind {
        NodeKind::Aten { op, .. } => Some((op, fate(position)?)),
        NodeKind::Kernel { .. } => None,
    });
    calls.collect()
}

/// What calls of an op with a lowering must be like.
const CONDITIONS: &[(&str, &str)] = &[
    ("aten::mm", "with a short side, and few products for each element that is read or written"),
    ("aten::addmm", "as mm"),
    ("aten::addmv", "as mm"),
    ("aten::baddbmm", "as mm"),
    ("aten::bmm", "as mm"),
    ("aten::dot", "as mm"),
    ("aten::linear", "as mm"),
    ("aten::matmul", "as mm"),
    ("aten::mv", "as mm"),
    ("aten::einsum", "as mm, of two tensors"),
    ("aten::conv2d", "as mm: depthwise ones, and those of few channels"),
    ("aten::conv1d", "as conv2d"),
    ("aten::conv3d", "as conv2d"),
    ("aten::conv_transpose1d", "as conv2d"),
    ("aten::conv_transpose2d", "as conv2d"),
    ("aten::conv_transpose3d", "as conv2d"),
    ("aten::convolution", "as conv2d"),
    ("aten::adaptive_max_pool1d", "where nothing reads the positions"),
    ("aten::adaptive_max_pool2d", "where nothing reads the positions"),
    ("aten::adaptive_max_pool3d", "where nothing reads the positions"),
    ("aten::max_pool2d_with_indices", "where nothing reads the positions"),
    ("aten::max_pool3d_with_indices", "where nothing reads the positions"),
    (
        "aten::cumsum",
        "where no other reduction of the kernel goes over other dimensions, and each sum is read where it is",
    ),
    ("aten::cumprod", "as cumsum"),
    ("aten::cummax", "as cumsum"),
    ("aten::cummin", "as cumsum"),
    ("aten::diff", "of neighbours, once, with at most one element in front"),
    ("aten::gelu", "approximate none or tanh"),
    ("aten::instance_norm", "that updates no running statistics"),
    ("aten::isclose", "of floats"),
    ("aten::linalg_norm", "of vectors"),
    ("aten::linspace", "to f32 or f64"),
    ("aten::logspace", "to f32 or f64"),
    ("aten::repeat_interleave", "with a number of repeats"),
    ("aten::pow", "of floats; of integers with a number as exponent, or 2 as base"),
    ("aten::float_power", "of floats"),
    ("aten::binary_cross_entropy_with_logits", "without weights; reduced, of one shape"),
    ("aten::cosine_similarity", "of one shape"),
    ("aten::pairwise_distance", "of one shape"),
    ("aten::huber_loss", "reduced, of one shape"),
    ("aten::kl_div", "reduced, of one shape"),
    ("aten::l1_loss", "reduced, of one shape"),
    ("aten::mse_loss", "reduced, of one shape"),
    ("aten::smooth_l1_loss", "reduced, of one shape"),
    ("aten::soft_margin_loss", "reduced, of one shape"),
];

/// Ops that rename elements, or give back what they are given.
const VIEWS: &[&str] = &[
    "aten::_unsafe_view",
    "aten::alias",
    "aten::alpha_dropout",
    "aten::broadcast_tensors",
    "aten::broadcast_to",
    "aten::chunk",
    "aten::detach",
    "aten::diagonal",
    "aten::dropout",
    "aten::dsplit",
    "aten::expand",
    "aten::expand_as",
    "aten::feature_dropout",
    "aten::hsplit",
    "aten::lift_fresh",
    "aten::mT",
    "aten::meshgrid",
    "aten::moveaxis",
    "aten::movedim",
    "aten::narrow",
    "aten::numpy_T",
    "aten::permute",
    "aten::positive",
    "aten::select",
    "aten::slice",
    "aten::split",
    "aten::split_with_sizes",
    "aten::squeeze",
    "aten::swapaxes",
    "aten::swapdims",
    "aten::t",
    "aten::tensor_split",
    "aten::transpose",
    "aten::unbind",
    "aten::unflatten",
    "aten::unfold",
    "aten::unsqueeze",
    "aten::view",
    "aten::view_as",
    "aten::vsplit",
];

/// Why the overload of `aten::view` that takes an element type is no view for a kernel.
const BITS: &str = "about the bits of elements, which kernels do not read as another type";

/// Ops that stay calls of the library, by reason.
const LIBRARY: &[(&str, &[&str])] = &[
    (
        "a product of matrices: the library's kernels have the tensor cores",
        &[
            "aten::addbmm",
            "aten::addr",
            "aten::bilinear",
            "aten::cdist",
            "aten::inner",
            "aten::linalg_multi_dot",
            "aten::tensordot",
        ],
    ),
    (
        "attention, or a layer of it: two products of matrices and more in one call",
        &[
            "aten::_native_multi_head_attention",
            "aten::_transformer_encoder_layer_fwd",
            "aten::scaled_dot_product_attention",
        ],
    ),
    (
        "a sort: where an element goes depends on all others",
        &["aten::argsort", "aten::median", "aten::msort", "aten::sort", "aten::topk"],
    ),
    (
        "a search: a loop over another tensor that ends where something is found",
        &["aten::bucketize", "aten::isin", "aten::searchsorted"],
    ),
    (
        "a scatter: it writes where an index says, and a kernel writes each element of its result once",
        &[
            "aten::index_add",
            "aten::index_copy",
            "aten::index_fill",
            "aten::index_put",
            "aten::index_reduce",
            "aten::masked_scatter",
            "aten::scatter",
            "aten::scatter_add",
            "aten::scatter_reduce",
        ],
    ),
    (
        "a recurrent layer: each step waits for the one before, with a product of matrices in it",
        &["aten::gru", "aten::lstm"],
    ),
    (
        "a Fourier transform: the library has algorithms of its own for it",
        &[
            "aten::fft_fft",
            "aten::fft_fft2",
            "aten::fft_fftn",
            "aten::fft_ifft",
            "aten::fft_ifft2",
            "aten::fft_ifftn",
            "aten::fft_irfft",
            "aten::fft_irfft2",
            "aten::fft_irfftn",
            "aten::fft_rfft",
            "aten::fft_rfft2",
            "aten::fft_rfftn",
        ],
    ),
    (
        "about complex numbers, which kernels do not calculate with",
        &["aten::complex", "aten::imag", "aten::polar", "aten::real", "aten::view_as_complex", "aten::view_as_real"],
    ),
    (
        "a function that the kernel language lacks, and cannot say with others as exactly as eager has it",
        &["aten::digamma", "aten::erfc", "aten::erfinv", "aten::lgamma"],
    ),
    ("a running sum that is scaled anew at each element, which a scan cannot say", &["aten::logcumsumexp"]),
    ("the norm of a matrix, by its singular values or another reduction of a reduction", &["aten::linalg_norm"]),
    ("about memory, not about elements", &["aten::as_strided", "aten::as_strided_scatter"]),
    (
        "a loss of training that no graph of GraphNet has: no rule yet",
        &[
            "aten::binary_cross_entropy",
            "aten::cosine_embedding_loss",
            "aten::cross_entropy_loss",
            "aten::hinge_embedding_loss",
            "aten::margin_ranking_loss",
            "aten::multi_margin_loss",
            "aten::multilabel_margin_loss",
            "aten::nll_loss",
            "aten::nll_loss2d",
            "aten::nll_loss_nd",
            "aten::poisson_nll_loss",
            "aten::triplet_margin_loss",
        ],
    ),
    ("reads where an index says: no rule yet", GATHERS),
    ("moves elements, or reads some around each: no rule yet", MOVES),
];

const GATHERS: &[&str] = &["aten::grid_sampler", "aten::grid_sampler_2d", "aten::one_hot"];

const MOVES: &[&str] = &[
    "aten::_upsample_bicubic2d_aa",
    "aten::_upsample_bilinear2d_aa",
    "aten::affine_grid_generator",
    "aten::block_diag",
];

#[cfg(test)]
mod tests {
    use super::*;
    use passhost_ir::OpTable;
    use std::collections::BTreeSet;

    /// The names of all ops that a functional graph may have.
    fn functional() -> BTreeSet<&'static str> {
        let schemas = OpTable::sample().iter().filter(|schema| !schema.is_in_place());
        schemas.map(|schema| schema.op.name.as_str()).collect()
    }

    #[test]
    fn every_op_of_a_sample_stands_somewhere() {
        let schemas = OpTable::sample().iter().filter(|schema| !schema.is_in_place());
        let unknown: Vec<String> =
            schemas.filter(|schema| standing(&schema.op).is_none()).map(|schema| schema.op.to_string()).collect();
        assert!(unknown.is_empty(), "give a lowering or a reason to {unknown:?}");
    }

    #[test]
    fn no_op_stands_twice_and_every_name_is_one() {
        let mut seen = BTreeSet::new();
        for name in LIBRARY.iter().flat_map(|(_, names)| names.iter()).chain(VIEWS) {
            assert!(seen.insert(*name), "{name} stands twice");
            assert!(functional().contains(name), "{name} is on no list of ops");
        }
        for name in functional() {
            let is_library = LIBRARY.iter().any(|(_, names)| names.contains(&name));
            let are_lowered = OpTable::sample().overloads(name).all(|schema| is_lowered(&schema.op));
            assert!(!(is_library && are_lowered), "{name} has a lowering: take away the reason that it has none");
        }
    }

    #[test]
    fn conditions_are_those_of_lowered_ops() {
        for (name, _) in CONDITIONS {
            let lowers = |op: &OpName| matches!(standing(op), Some(Standing::Kernel { .. }));
            assert!(OpTable::sample().overloads(name).any(|schema| lowers(&schema.op)), "{name} has no lowering");
        }
    }

    #[test]
    fn calls_become_kernels_views_or_stay() {
        let text = "graph(%x: f32[4,8]) {
  %a: f32[4,8] = aten::relu(%x)
  %b: f32[8,4] = aten::t(%a)
  %c: f32[8,4], %i: i64[8,4] = aten::sort(%b)
  %d: f32[8,4] = aten::neg(%c)
  %e: i32[8,4] = aten::view.dtype(%c, i32)
  return (%c, %e)
}
";
        let graph = Graph::parse(text).unwrap_or_else(|error| unreachable!("{error}"));
        let fates: Vec<String> = fates(&graph).into_iter().map(|(op, fate)| format!("{op} {fate:?}")).collect();
        let expected = [
            "aten::relu Kernel",
            "aten::t View",
            "aten::sort Library(NoLowering(\"aten::sort\"))",
            "aten::view.dtype Library(NoLowering(\"aten::view.dtype\"))",
        ];
        assert_eq!(fates, expected);
    }
}
