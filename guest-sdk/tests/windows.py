"""Writes windows.txt: what ATen's CPU kernels make of small graphs that pool, resample or add up products, for
tests/regions.rs.

    python tests/windows.py > tests/windows.txt      # with torch 2.11

The cases are written as in regions.py.
"""

from regions import FLOATS, case, f16, f32, f64


def main():
    for t in FLOATS:
        averages(t)
        maxima(t)
        nearest(t)
        between(t)
        products(t)
        convolutions(t)
    sizes()


def averages(t):
    x = dict(x=(t, [1, 2, 7, 6]))
    for name, arguments in [("that do not count their padding", "[3, 3], [2, 2], [1, 1], false, false"),
                            ("of which the last are not whole", "[3, 2], [2, 2], [0, 0], true"),
                            ("that are padded and not whole", "[3, 3], [2, 2], [1, 1], true, true"),
                            ("that are padded, not whole and uncounted", "[3, 3], [2, 2], [1, 1], true, false"),
                            ("with a divisor", "[2, 2], [2, 2], [1, 1], false, true, 3"),
                            ("that are large and do not count their padding", "[5, 5], [1, 1], [2, 2], false, false")]:
        case(f"means of windows {name} {t}", x, f"%a = aten::abs(%x)\n %r = aten::avg_pool2d(%a, {arguments})\n return (%r)",
             near="close")
    for size in [[3, 4], [2, 6], [7, 1], [5, 5]]:
        case(f"adaptive means {size} {t}", x,
             f"%a = aten::abs(%x)\n %p = aten::adaptive_avg_pool2d(%a, {size})\n %r = aten::neg(%p)\n return (%r)", near="close")
    if t == f32:
        case("means along one dimension", dict(x=(t, [2, 3, 7])),
             "%r = aten::avg_pool1d(%x, [3], [2], [1], true, false)\n return (%r)", near="close")
        case("adaptive means along one dimension", dict(x=(t, [2, 3, 7])), "%r = aten::adaptive_avg_pool1d(%x, [3])\n return (%r)",
             near="close")
        case("adaptive means in three dimensions", dict(x=(t, [1, 2, 3, 4, 5])),
             "%r = aten::adaptive_avg_pool3d(%x, [2, 2, 2])\n return (%r)", near="close")
        case("adaptive means of another name", x, "%r = aten::_adaptive_avg_pool2d(%x, [2, 4])\n return (%r)", near="close")
        case("means in three dimensions", dict(x=(t, [1, 2, 3, 4, 5])),
             "%r = aten::avg_pool3d(%x, [2, 2, 2], [1, 2, 2], [1, 1, 0], false, false)\n return (%r)", near="close")
        case("columns back to an image", dict(x=(t, [2, 12, 9])),
             "%a = aten::abs(%x)\n %r = aten::col2im(%a, [4, 4], [2, 2], [1, 1], [0, 0], [1, 1])\n return (%r)", near="close")
        case("columns with gaps back to an image", dict(x=(t, [1, 12, 9])),
             "%r = aten::col2im(%x, [5, 7], [2, 3], [2, 1], [1, 0], [2, 2])\n return (%r)", near="close")


def maxima(t):
    x = dict(x=(t, [1, 2, 7, 6]))
    case(f"largest of dilated windows {t}", x, "%r = aten::max_pool2d(%x, [2, 3], [1, 1], [1, 1], [2, 1])\n return (%r)")
    case(f"largest of windows that are not whole {t}", x,
         "%a = aten::neg(%x)\n %p = aten::max_pool2d(%a, [3, 3], [2, 2], [1, 1], [1, 1], true)\n %r = aten::relu(%p)\n return (%r)")
    case(f"largest of large windows {t}", x, "%r = aten::max_pool2d(%x, [5, 5], [1, 1], [2, 2])\n return (%r)")
    case(f"largest of windows beside the tensor itself {t}", dict(x=(t, [1, 2, 7, 6])),
         "%a = aten::relu(%x)\n %r = aten::max_pool2d(%a, [3, 3], [1, 1], [1, 1])\n return (%a, %r)")
    case(f"largest of large windows beside the tensor itself {t}", dict(x=(t, [1, 2, 7, 6])),
         "%a = aten::relu(%x)\n %r = aten::max_pool2d(%a, [5, 5], [1, 1], [2, 2])\n return (%a, %r)")
    if t == f32:
        case("largest of windows, positions unread", x, "%r, %i = aten::max_pool2d_with_indices(%x, [3, 3], [2, 2], [1, 1])\n return (%r)")
        case("adaptive largest", x, "%r, %i = aten::adaptive_max_pool2d(%x, [3, 4])\n return (%r)")
        case("largest in three dimensions, positions unread", dict(x=(t, [1, 2, 3, 4, 5])),
             "%r, %i = aten::max_pool3d_with_indices(%x, [2, 2, 2], [1, 2, 2], [1, 0, 1])\n return (%r)")
        case("adaptive largest along one dimension", dict(x=(t, [2, 3, 7])), "%r, %i = aten::adaptive_max_pool1d(%x, [3])\n return (%r)")
        case("adaptive largest in three dimensions", dict(x=(t, [1, 2, 3, 4, 5])),
             "%r, %i = aten::adaptive_max_pool3d(%x, [2, 2, 3])\n return (%r)")
        case("largest along one dimension", dict(x=(t, [2, 3, 7])), "%r = aten::max_pool1d(%x, [3], [2], [1])\n return (%r)")


def nearest(t):
    x = dict(x=(t, [1, 2, 3, 5]))
    for size in [[6, 10], [5, 7], [2, 3], [3, 11]]:
        case(f"nearest elements {size} {t}", x,
             f"%a = aten::abs(%x)\n %u = aten::upsample_nearest2d(%a, {size})\n %r = aten::neg(%u)\n return (%r)")
        case(f"exactly nearest elements {size} {t}", x, f"%r = aten::_upsample_nearest_exact2d(%x, {size})\n return (%r)")
    case(f"nearest elements by a scale {t}", x, "%r = aten::upsample_nearest2d.vec(%x, none, [1.7, 2.0])\n return (%r)")
    if t == f32:
        case("nearest elements along one dimension", dict(x=(t, [2, 3, 5])), "%r = aten::upsample_nearest1d(%x, [8])\n return (%r)")
        case("exactly nearest elements along one dimension", dict(x=(t, [2, 3, 5])),
             "%r = aten::_upsample_nearest_exact1d(%x, [8])\n return (%r)")
        case("exactly nearest elements in three dimensions", dict(x=(t, [1, 2, 2, 3, 2])),
             "%r = aten::_upsample_nearest_exact3d(%x, [4, 4, 3])\n return (%r)")
        case("nearest elements in three dimensions", dict(x=(t, [1, 2, 2, 3, 2])),
             "%r = aten::upsample_nearest3d.vec(%x, [4, 3, 3], none)\n return (%r)")
        case("an enlarged map beside another", dict(x=(t, [1, 2, 3, 2]), y=(t, [1, 3, 6, 4])),
             "%u = aten::upsample_nearest2d.vec(%x, none, [2.0, 2.0])\n %r = aten::cat([%u, %y], 1)\n return (%r)")


def between(t):
    x = dict(x=(t, [1, 2, 3, 5]))
    for size in [[6, 10], [5, 7], [2, 3], [3, 11], [1, 4]]:
        for aligned in ["false", "true"]:
            # The CPU rounds the weights of half types to them, which shows where rows of cubes cancel.
            for op in ["bilinear", "bicubic"] if t != f16 else ["bilinear"]:
                case(f"{op} {size} {aligned} {t}", x,
                     f"%a = aten::abs(%x)\n %u = aten::upsample_{op}2d(%a, {size}, {aligned})\n %r = aten::neg(%u)\n return (%r)",
                     near="close")
    case(f"bilinear by a scale {t}", x, "%r = aten::upsample_bilinear2d.vec(%x, none, false, [1.7, 2.0])\n return (%r)", near="close")
    if t == f32:
        case("the size there was", x, "%u = aten::upsample_bilinear2d(%x, [3, 5], false)\n %r = aten::neg(%u)\n return (%r)")
        case("linear", dict(x=(t, [2, 3, 5])), "%r = aten::upsample_linear1d(%x, [8], true)\n return (%r)", near="close")
        case("trilinear", dict(x=(t, [1, 2, 2, 3, 2])), "%r = aten::upsample_trilinear3d(%x, [4, 5, 3], false)\n return (%r)",
             near="close")
        case("enlarged, added and activated", dict(x=(t, [1, 2, 3, 2], "channels last"), y=(t, [1, 2, 6, 4], "channels last")),
             """%u = aten::upsample_bilinear2d.vec(%x, [6, 4], false, none)
                %s = aten::add.Tensor(%u, %y)
                %r = aten::relu(%s)
                return (%r)""", near="close")


def products(t):
    a, b = dict(x=(t, [3, 4])), dict(y=(t, [4, 2]))
    case(f"a linear layer {t}", dict(x=(t, [2, 3, 4]), w=(t, [5, 4]), b=(t, [5])), "%r = aten::linear(%x, %w, %b)\n return (%r)",
         near="close")
    case(f"a longer linear layer between pointwise ops {t}", dict(x=(t, [2, 3, 24]), w=(t, [2, 24]), b=(t, [2])),
         "%a = aten::silu(%x)\n %l = aten::linear(%a, %w, %b)\n %r = aten::sigmoid(%l)\n return (%r)", near="close")
    case(f"a matrix product {t}", dict(**a, **b), "%r = aten::mm(%x, %y)\n return (%r)", near="close")
    case(f"a product of transposed matrices {t}", dict(x=(t, [4, 3]), y=(t, [20, 4], "transposed")),
         "%s = aten::t(%x)\n %v = aten::t(%y)\n %r = aten::matmul(%s, %v)\n return (%r)", near="close")
    case(f"batches that are stretched {t}", dict(x=(t, [2, 1, 3, 20]), y=(t, [3, 20, 2])), "%r = aten::matmul(%x, %y)\n return (%r)",
         near="close")
    case(f"products of batches {t}", dict(x=(t, [2, 3, 4]), y=(t, [2, 4, 2])), "%r = aten::bmm(%x, %y)\n return (%r)", near="close")
    case(f"a product with a share {t}", dict(s=(t, [2]), **a, **b),
         "%r = aten::addmm(%s, %x, %y, beta=0.5, alpha=2.0)\n return (%r)", near="close")
    if t == f32:
        case("a vector", dict(x=(t, [20]), y=(t, [20])), "%r = aten::dot(%x, %y)\n return (%r)", near="close")
        case("a matrix and a vector", dict(x=(t, [3, 20]), y=(t, [20])), "%r = aten::mv(%x, %y)\n return (%r)", near="close")
        case("a vector and matrices", dict(x=(t, [4]), y=(t, [2, 4, 3])), "%r = aten::matmul(%x, %y)\n return (%r)", near="close")
        case("matrices and a vector", dict(x=(t, [2, 3, 4]), y=(t, [4])), "%r = aten::matmul(%x, %y)\n return (%r)", near="close")
        case("a matrix and a vector with a share", dict(s=(t, [3]), x=(t, [3, 4]), y=(t, [4])),
             "%r = aten::addmv(%s, %x, %y)\n return (%r)", near="close")
        case("batches with a share", dict(s=(t, [2, 3, 2]), x=(t, [2, 3, 4]), y=(t, [2, 4, 2])),
             "%r = aten::baddbmm(%s, %x, %y, beta=0, alpha=0.5)\n return (%r)", near="close")
        case("every pair", dict(x=(t, [3]), y=(t, [4])), "%r = aten::outer(%x, %y)\n return (%r)")
        for equation, shapes in [("ij,jk->ik", ([3, 4], [4, 2])), ("bhd, nd -> bnh", ([2, 3, 4], [5, 4])), ("i,j->ij", ([3], [4])),
                                 ("bij,bij->b", ([2, 3, 4], [2, 3, 4])), ("bqk,bkd->bqd", ([1, 3, 20], [2, 20, 2]))]:
            case(f"the sum {equation}", dict(x=(t, shapes[0]), y=(t, shapes[1])),
                 f'%r = aten::einsum("{equation}", [%x, %y])\n return (%r)', near="close")


def convolutions(t):
    x = dict(x=(t, [1, 4, 6, 5]))
    case(f"a depthwise convolution {t}", dict(**x, w=(t, [4, 1, 3, 3]), b=(t, [4])),
         "%r = aten::conv2d(%x, %w, %b, [1, 1], [1, 1], [1, 1], 4)\n return (%r)", near="close")
    case(f"a depthwise convolution between norm and activation {t}",
         dict(**x, w=(t, [4, 1, 3, 3]), s=(t, [4], "weight"), b=(t, [4]), m=(t, [4]), v=(t, [4], "variance")),
         """%a = aten::relu(%x)
            %c = aten::conv2d(%a, %w, none, [2, 2], [1, 1], [1, 1], 4)
            %n = aten::batch_norm(%c, %s, %b, %m, %v, false, 0.1, 1e-05, true)
            %r = aten::hardtanh(%n, 0.0, 6.0)
            return (%r)""", near="close")
    case(f"a depthwise convolution and its residual {t}", dict(**x, y=(t, [1, 4, 6, 5]), w=(t, [4, 1, 3, 3])),
         """%s = aten::add.Tensor(%x, %y)
            %c = aten::conv2d(%s, %w, none, [1, 1], [1, 1], [1, 1], 4)
            %r = aten::add.Tensor(%c, %s)
            return (%r, %s)""", near="close")
    case(f"a large depthwise convolution {t}", dict(x=(t, [1, 3, 6, 5]), w=(t, [3, 1, 5, 5]), b=(t, [3])),
         "%c = aten::conv2d(%x, %w, %b, [1, 1], [2, 2], [1, 1], 3)\n %r = aten::silu(%c)\n return (%r)", near="close")
    case(f"groups of channels {t}", dict(**x, w=(t, [6, 2, 2, 3])),
         "%r = aten::conv2d(%x, %w, none, [1, 2], [0, 1], [2, 1], 2)\n return (%r)", near="close")
    case(f"a convolution along one dimension {t}", dict(x=(t, [2, 3, 7]), w=(t, [2, 3, 3]), b=(t, [2])),
         "%r = aten::conv1d(%x, %w, %b, [1], [2], [2])\n return (%r)", near="close")
    if t != f16:  # the CPU adds up columns in f16
        case(f"a transposed depthwise convolution {t}", dict(**x, w=(t, [4, 1, 3, 3]), b=(t, [4])),
             "%a = aten::abs(%x)\n %r = aten::conv_transpose2d.input(%a, %w, %b, [2, 2], [1, 1], [1, 1], 4)\n return (%r)", near="close")
    if t == f32:
        case("a convolution of the same size", dict(**x, w=(t, [4, 1, 4, 3])),
             "%r = aten::conv2d.padding(%x, %w, none, [1, 1], \"same\", [1, 1], 4)\n return (%r)", near="close")
        case("a convolution without padding", dict(**x, w=(t, [2, 4, 1, 1])),
             "%r = aten::conv2d.padding(%x, %w, none, [1, 1], \"valid\")\n return (%r)", near="close")
        case("a convolution in three dimensions", dict(x=(t, [1, 2, 3, 4, 3]), w=(t, [2, 2, 2, 2, 2])),
             "%r = aten::conv3d(%x, %w, none, [1, 1, 1], [1, 0, 1])\n return (%r)", near="close")
        case("a convolution of a single image", dict(x=(t, [2, 4, 5]), w=(t, [3, 2, 2, 2]), b=(t, [3])),
             "%r = aten::conv2d(%x, %w, %b)\n return (%r)", near="close")
        case("a convolution with channels last", dict(x=(t, [2, 4, 3, 3], "channels last"), w=(t, [4, 1, 3, 3], "channels last")),
             "%c = aten::conv2d(%x, %w, none, [1, 1], [1, 1], [1, 1], 4)\n %r = aten::relu(%c)\n return (%r)", near="close")
        case("a transposed convolution along one dimension", dict(x=(t, [2, 3, 4]), w=(t, [3, 2, 4]), b=(t, [2])),
             "%r = aten::conv_transpose1d(%x, %w, %b, [3], [1])\n return (%r)", near="close")
        case("a transposed convolution in three dimensions", dict(x=(t, [1, 2, 2, 3, 2]), w=(t, [2, 2, 2, 2, 2])),
             "%r = aten::conv_transpose3d.input(%x, %w, none, [2, 2, 2])\n return (%r)", near="close")


def sizes():
    """Places of samples where floats and fractions part."""
    for size in [31, 77, 97]:
        case(f"nearest of {size}", dict(x=(f32, [1, 1, 23])), f"%r = aten::upsample_nearest1d(%x, [{size}])\n return (%r)")
        for aligned in ["false", "true"]:
            case(f"linear of {size} {aligned}", dict(x=(f32, [1, 1, 23])),
                 f"%r = aten::upsample_linear1d(%x, [{size}], {aligned})\n return (%r)", near="close")
    case("wide numbers", dict(x=(f64, [1, 1, 7])), "%r = aten::upsample_linear1d(%x, [16], true)\n return (%r)", near="close")
    case("wide products", dict(x=(f64, [3, 20]), y=(f64, [20, 2])), "%r = aten::mm(%x, %y)\n return (%r)", near="close")


if __name__ == "__main__":
    main()
