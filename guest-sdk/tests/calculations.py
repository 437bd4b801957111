"""Writes calculations.txt: graphs of what calculates and is no plain pointwise op, in the form of regions.txt.

    python tests/calculations.py > tests/calculations.txt      # with torch 2.11
"""

from regions import FLOATS, case, f16, f32, flag, i64

import torch


def main():
    for t in FLOATS:
        spreads(t)
        reductions(t)
        norms(t)
        lengths(t)
        scans(t)
        arranged(t)
    places()


def spreads(t):
    case(f"a gate in the other half {t}", dict(x=(t, [3, 8])),
         "%a = aten::neg(%x)\n %r = aten::glu(%a, -1)\n return (%r)", near="close")
    case(f"a gate in the other half of the channels {t}", dict(x=(t, [2, 6, 3])), "%r = aten::glu(%x, 1)\n return (%r)", near="close")
    case(f"differences of neighbours {t}", dict(x=(t, [3, 5])),
         "%a = aten::abs(%x)\n %r = aten::diff(%a, 1, 0)\n return (%r)")
    case(f"differences with an element in front {t}", dict(x=(t, [3, 5]), y=(t, [3, 1])),
         "%a = aten::neg(%x)\n %r = aten::diff(%a, 1, -1, %y)\n return (%r)")
    case(f"an outer product {t}", dict(x=(t, [3]), y=(t, [4])),
         "%a = aten::neg(%x)\n %o = aten::outer(%a, %y)\n %r = aten::abs(%o)\n return (%r)")
    case(f"a slope for each channel {t}", dict(x=(t, [2, 3, 4]), w=(t, [3])), "%r = aten::prelu(%x, %w)\n return (%r)")
    case(f"one slope {t}", dict(x=(t, [2, 3, 4]), w=(t, [1])),
         "%a = aten::neg(%x)\n %r = aten::prelu(%a, %w)\n return (%r)")
    case(f"parts of a transposed matrix {t}", dict(x=(t, [4, 5])),
         """%t = aten::t(%x)
            %a = aten::triu(%t, 1)
            %b = aten::tril(%t, -1)
            %c = aten::sub.Tensor(%a, %b)
            %r = aten::triu(%c, -1)
            return (%r)""")
    case(f"filled with a tensor, and copied over {t}", dict(x=(t, [2, 3]), v=(t, []), y=(t, [3])),
         """%f = aten::fill.Tensor(%x, %v)
            %c = aten::copy(%f, %y)
            %r = aten::add.Tensor(%c, %f)
            return (%r)""")


def reductions(t):
    x = dict(x=(t, [3, 4, 5]))
    case(f"smallest and largest {t}", x, "%a, %b = aten::aminmax(%x, dim=1)\n return (%a, %b)")
    case(f"deviation and mean {t}", x, "%v, %m = aten::std_mean.correction(%x, [0, 2], correction=0)\n return (%v, %m)",
         near="close")
    case(f"whole deviation and mean {t}", x, "%v, %m = aten::std_mean(%x)\n return (%v, %m)", near="close")
    case(f"logarithm of summed exponentials {t}", x, "%r = aten::logsumexp(%x, [1])\n return (%r)", near="close")
    case(f"logarithm of summed exponentials, without a finite one {t}", x,
         """%g = aten::gt.Scalar(%x, -9.0)
            %m = aten::masked_fill.Scalar(%x, %g, -inf)
            %r = aten::logsumexp(%m, [1], true)
            return (%r)""", near="close")
    case(f"sums and means of numbers {t}", x,
         """%s = aten::sqrt(%x)
            %a = aten::nansum(%s, [1])
            %b = aten::nanmean(%s, [1])
            return (%a, %b)""", near="close")
    if t == f32:
        case(f"a trace {t}", dict(x=(t, [4, 3])), "%a = aten::abs(%x)\n %r = aten::trace(%a)\n return (%r)", near="close")


def norms(t):
    channels = dict(w=(t, [6], "weight"), b=(t, [6]))
    if t == f32:  # the CPU rounds the statistics of half types to them; CUDA and the rules do not
        case(f"native group norm {t}", dict(x=(t, [2, 6, 5]), **channels),
             "%r, %m, %s = aten::native_group_norm(%x, %w, %b, 2, 6, 5, 3, 1e-05)\n return (%r, %m, %s)", near="close")
        case(f"batch norm in training {t}", dict(x=(t, [3, 6, 5]), **channels),
             """%n = aten::batch_norm(%x, %w, %b, none, none, true, 0.1, 1e-05, false)
                %r = aten::relu(%n)
                return (%r)""", near="close")
        case(f"instance norm with statistics {t}", dict(x=(t, [2, 6, 5]), m=(t, [6]), v=(t, [6], "variance")),
             "%r = aten::instance_norm(%x, none, none, %m, %v, false, 0.1, 1e-05, false)\n return (%r)", near="close")


def lengths(t):
    x = dict(x=(t, [3, 4, 5]))
    for order in ["0", "1", "2", "3", "2.5", "inf", "-inf"]:
        case(f"the norm of order {order} {t}", x, f"%r = aten::linalg_vector_norm(%x, {order}, [1])\n return (%r)", near="close")
    case(f"norms by other names {t}", dict(x=(t, [12])),
         """%a = aten::norm.Scalar(%x)
            %b = aten::norm.ScalarOpt_dim(%x, 1, [0])
            %c = aten::linalg_norm(%x)
            return (%a, %b, %c)""", near="close")
    case(f"a norm in f32 {t}", x, "%r = aten::norm.ScalarOpt_dim_dtype(%x, 2, [0, 2], true, dtype=f32)\n return (%r)", near="close")
    case(f"a weight by its length {t}", dict(v=(t, [4, 3, 2]), g=(t, [4, 1, 1], "weight")),
         "%r = aten::_weight_norm(%v, %g)\n return (%r)", near="close")
    pair = dict(x=(t, [3, 4, 5]), y=(t, [3, 4, 5]))
    case(f"cosines {t}", pair, "%r = aten::cosine_similarity(%x, %y, 1)\n return (%r)", near="close")
    case(f"cosines of what is calculated {t}", pair,
         "%a = aten::abs(%y)\n %c = aten::cosine_similarity(%x, %a, -1)\n %r = aten::neg(%c)\n return (%r)", near="close")
    case(f"distances {t}", pair, "%r = aten::pairwise_distance(%x, %y)\n return (%r)", near="close")
    for op in ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss"]:
        case(f"a mean {op} {t}", pair, f"%r = aten::{op}(%x, %y)\n return (%r)", near="close")
    case(f"a sum of losses {t}", pair, "%a = aten::abs(%y)\n %r = aten::mse_loss(%x, %a, 2)\n return (%r)", near="close")
    case(f"a mean cross entropy {t}", dict(x=(t, [3, 4]), y=(t, [3, 4], "mask")),
         "%r = aten::binary_cross_entropy_with_logits(%x, %y)\n return (%r)", near="close")
    case(f"a mean divergence {t}", dict(x=(t, [3, 4]), y=(t, [3, 4], "variance")), "%r = aten::kl_div(%x, %y)\n return (%r)",
         near="close")


def scans(t):
    for op in ["cumsum", "cumprod"]:
        case(f"{op} along the last dimension {t}", dict(x=(t, [3, 7])), f"%r = aten::{op}(%x, -1)\n return (%r)", near="close")
    case(f"a running sum along the first dimension {t}", dict(x=(t, [4, 3])),
         "%a = aten::abs(%x)\n %c = aten::cumsum(%a, 0)\n %r = aten::neg(%c)\n return (%r)", near="close")
    case(f"a running sum of one {t}", dict(x=(t, [3, 1])),
         "%a = aten::neg(%x)\n %r = aten::cumsum(%a, -1)\n %m, %i = aten::cummax(%a, -1)\n return (%r, %m, %i)")
    for op in ["cummax", "cummin"]:
        case(f"{op} and where {t}", dict(x=(t, [3, 7])), f"%r, %i = aten::{op}(%x, 1)\n return (%r, %i)")
    case(f"a running sum of a softmax {t}", dict(x=(t, [3, 7])),
         "%s = aten::softmax.int(%x, -1)\n %r = aten::cumsum(%s, -1)\n return (%s, %r)", near="close")
    if t == f32:
        case("running sums of flags and integers", dict(x=(flag, [2, 9]), y=(i64, [2, 9])),
             """%a = aten::cumsum(%x, 1)
                %b = aten::cumsum(%y, 1)
                %c = aten::mul.Tensor(%a, %b)
                %m, %i = aten::cummax(%y, 1)
                return (%c, %m, %i)""")


def arranged(t):
    """Along each dimension of what lies otherwise in memory, and with numbers that are none."""
    x = dict(x=(t, [4, 3, 5]))
    turned = """%t = aten::permute(%x, [2, 0, 1])
                %p = aten::relu(%t)
                %o = aten::div.Tensor(%p, %p)
                %a = aten::mul.Tensor(%o, %t)
                """
    for dim in [0, 1, 2]:
        case(f"running extrema beside NaNs along dimension {dim} of a turned tensor {t}", x,
             turned + f"%h, %i = aten::cummax(%a, {dim})\n %l, %j = aten::cummin(%a, {dim})\n return (%h, %i, %l, %j)")
        case(f"a running sum along dimension {dim} of a turned tensor {t}", x,
             f"%t = aten::permute(%x, [2, 0, 1])\n %a = aten::abs(%t)\n %r = aten::cumsum(%a, {dim})\n return (%r)", near="close")
        case(f"where a NaN is along dimension {dim} {t}", x,
             turned + f"%h, %i = aten::max.dim(%a, {dim})\n %j = aten::argmin(%a, {dim})\n return (%h, %i, %j)")
    case(f"where the first NaN of all is {t}", x, turned + "%i = aten::argmax(%a)\n %j = aten::argmin(%a)\n return (%i, %j)")
    case(f"smallest and largest of all {t}", x,
         "%t = aten::permute(%x, [2, 0, 1])\n %a = aten::neg(%t)\n %l, %h = aten::aminmax(%a)\n return (%l, %h)")
    case(f"norms over two dimensions of a turned tensor {t}", x,
         """%t = aten::permute(%x, [2, 0, 1])
            %a = aten::neg(%t)
            %n = aten::linalg_vector_norm(%a, 3, [0, 2])
            %m = aten::linalg_vector_norm(%a, inf, [0, 2])
            %l = aten::logsumexp(%a, [0, 2])
            return (%n, %m, %l)""", near="close")
    case(f"a gate along a dimension that is not the last in memory {t}", dict(x=(t, [4, 3, 6])),
         "%t = aten::permute(%x, [2, 0, 1])\n %r = aten::glu(%t, 0)\n return (%r)", near="close")


def places():
    case("ones on the diagonal", {}, "%a = aten::eye(3)\n %b = aten::eye.m(3, 4)\n %s = aten::slice.Tensor(%b, 1, 1, 4)\n %r = aten::add.Tensor(%a, %s)\n return (%r)")
    case("a mask of positions", dict(x=(f16, [3, 4])),
         """%i = aten::arange(4)
            %s = aten::scalar_tensor(-inf, dtype=f16)
            %c = aten::lt.Scalar(%i, 2)
            %r = aten::where.self(%c, %x, %s)
            return (%r)""")
    case("where the largest of all is", dict(x=(f32, [3, 4, 2])),
         """%t = aten::permute(%x, [2, 0, 1])
            %a = aten::abs(%t)
            %r = aten::argmax(%a)
            return (%r)""")
    case("where the first of the smallest integers is", dict(x=(i64, [5, 7])), "%r = aten::argmin(%x)\n return (%r)")
    case("where the largest of each row is", dict(x=(f16, [5, 7])), "%r = aten::argmax(%x, 1, true)\n return (%r)")
    case("how many are not zero", dict(x=(i64, [5, 7])),
         "%a = aten::count_nonzero(%x)\n return (%a)")
    case("how many of each column are not zero", dict(x=(i64, [5, 7])),
         "%r = aten::count_nonzero.dim_IntList(%x, [0])\n return (%r)")


if __name__ == "__main__":
    main()
