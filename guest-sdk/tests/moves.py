"""Writes moves.txt: what ATen's CPU kernels make of small graphs that move elements, for tests/regions.rs.

    python tests/moves.py > tests/moves.txt      # with torch 2.11

The cases are written as in regions.py.
"""

from regions import bf16, case, f16, f32, f64, flag, i64


def main():
    views()
    maps()
    joins()
    pads()
    scatters()
    for t in [f32, f16, bf16, i64]:
        gathers(t)
    indices()
    chains()


def views():
    x = dict(x=(f32, [3, 4, 5]))
    for name, op in [("the diagonal", "diagonal(%x)"), ("a diagonal above", "diagonal(%x, 1, 1, 2)"),
                     ("a diagonal below", "diagonal(%x, -2, 2, 0)"), ("dimensions moved, of another name", "moveaxis.int(%x, 0, 2)"),
                     ("flattened", "ravel(%x)"), ("transposed last dimensions", "mT(%x)"),
                     ("a dimension unflattened", "unflatten.int(%x, 1, [2, 2])"),
                     ("axes swapped", "swapaxes(%x, 0, -1)"), ("narrowed", "narrow(%x, 2, 1, 3)"),
                     ("a slice with steps", "slice.Tensor(%x, 2, -4, 5, 2)"),
                     ("memory by strides", "as_strided(%x, [2, 3, 2], [20, 5, 3], 4)")]:
        case(name, x, f"%v = aten::{op}\n %r = aten::neg(%v)\n return (%r)")
    case("a transposed tensor flattened", dict(x=(f32, [3, 4], "transposed")),
         "%v = aten::ravel(%x)\n %r = aten::neg(%v)\n return (%r)")
    for name, op in [("split in sections", "tensor_split.sections(%x, 2, 2)"), ("split at indices", "tensor_split.indices(%x, [2], 2)"),
                     ("split across", "hsplit.int(%x, 2)"), ("split in depth", "dsplit.array(%x, [1])")]:
        case(name, dict(x=(f32, [3, 4, 5])), f"%a, %b = aten::{op}\n %r = aten::neg(%b)\n return (%r)")
    case("split down", dict(x=(f32, [4, 3])), "%a, %b = aten::vsplit.int(%x, 2)\n %r = aten::sub.Tensor(%a, %b)\n return (%r)")
    case("a mesh", dict(x=(f32, [3]), y=(f32, [4])),
         "%a, %b = aten::meshgrid([%x, %y])\n %r = aten::sub.Tensor(%a, %b)\n return (%r)")
    case("a mesh with columns first", dict(x=(f32, [3]), y=(f32, [4])),
         '%a, %b = aten::meshgrid.indexing([%x, %y], indexing="xy")\n %r = aten::sub.Tensor(%a, %b)\n return (%r)')
    case("tensors stretched to each other", dict(x=(f32, [3, 1]), y=(f32, [4])),
         "%a, %b = aten::broadcast_tensors([%x, %y])\n %r = aten::sub.Tensor(%a, %b)\n return (%r)")


def maps():
    x = dict(x=(f32, [2, 3, 4]))
    for name, op in [("elements repeated one by one", "repeat_interleave.self_int(%x, 3)"), ("two rows tiled", "tile(%x, [2, 1])")]:
        case(name, x, f"%a = aten::abs(%x)\n %b = aten::{op}\n %c = aten::{op.replace('%x', '%a')}\n"
             " %r = aten::sub.Tensor(%b, %c)\n return (%r)")
    case("channels shuffled", dict(x=(f16, [2, 6, 3])), "%r = aten::channel_shuffle(%x, 3)\n return (%r)")
    case("a tensor flattened with a copy", dict(x=(f32, [3, 4], "transposed")),
         "%r = aten::flatten.using_ints(%x, 0, 1)\n return (%r)")


def joins():
    for op, shapes in [("hstack", [[2, 3], [2, 4]]), ("hstack", [[3], [2]]), ("vstack", [[2, 3], [1, 3]]), ("vstack", [[3], [3]]),
                       ("vstack", [[3], [2, 3]]), ("dstack", [[2, 3], [2, 3]]), ("dstack", [[3], [3]]), ("dstack", [[2, 3, 2], [2, 3]]),
                       ("column_stack", [[3], [3, 2]]), ("column_stack", [[2, 2], [2, 1]]), ("hstack", [[], []])]:
        case(f"{op} of {shapes}", dict(x=(f32, shapes[0]), y=(f32, shapes[1])),
             f"%a = aten::neg(%y)\n %r = aten::{op}([%x, %a])\n return (%r)")


def pads():
    x = dict(x=(f32, [2, 3, 4, 5]))
    for mode in ["reflect", "replicate", "circular"]:
        for amounts in [[1, 2], [2, 1, 0, 2], [-1, 2, 1, 1]]:
            if len(amounts) == 2:
                shape = dict(x=(f32, [2, 3, 5]))
            else:
                shape = x
            if mode != "circular" or min(amounts) >= 0:
                case(f"{mode} by {amounts}", shape, f'%r = aten::pad(%x, {amounts}, "{mode}")\n return (%r)')
        case(f"{mode} between pointwise ops", dict(x=(f16, [1, 2, 4, 5], "channels last")),
             f"""%a = aten::abs(%x)
                %p = aten::pad(%a, [1, 1, 1, 1], "{mode}")
                %r = aten::mul.Scalar(%p, 2.0)
                return (%r)""")
    for dims, shape in [(1, [2, 5]), (2, [2, 3, 4]), (3, [2, 3, 3, 3])]:
        amounts = [1, 2] * dims
        for op in ["reflection", "replication"]:
            case(f"{op} in {dims} dimensions", dict(x=(f32, shape)), f"%r = aten::{op}_pad{dims}d(%x, {amounts})\n return (%r)")
    for arguments in ["[2, 3], [1, 1], [0, 0], [1, 1]", "[3, 2], [1, 2], [1, 1], [2, 1]"]:
        case(f"columns of {arguments}", dict(x=(f32, [2, 3, 5, 6])),
             f"%a = aten::abs(%x)\n %r = aten::im2col(%a, {arguments})\n return (%r)")
    case("columns of one image", dict(x=(f16, [2, 4, 4])),
         "%r = aten::im2col(%x, [2, 2], [1, 1], [0, 0], [2, 2])\n return (%r)")
    case("windows unfolded twice", dict(x=(f16, [1, 2, 4, 4])),
         """%a = aten::unfold(%x, 2, 2, 2)
            %b = aten::unfold(%a, 3, 2, 2)
            %c = aten::clone(%b)
            %r = aten::neg(%c)
            return (%r)""")
    case("rows as diagonals", dict(x=(f32, [2, 3])), "%a = aten::abs(%x)\n %r = aten::diag_embed(%a)\n return (%r)")
    case("rows as other diagonals", dict(x=(f32, [2, 3])), "%r = aten::diag_embed(%x, -1, 0, 2)\n return (%r)")
    case("a vector as a diagonal", dict(x=(f32, [3])), "%a = aten::abs(%x)\n %r = aten::diag(%a, -1)\n return (%r)")
    case("a diagonal copied", dict(x=(f32, [3, 4])), "%a = aten::abs(%x)\n %r = aten::diag(%a, 2)\n return (%r)")


def scatters():
    x = dict(x=(f32, [4, 6]))
    for shape, arguments in [([4, 2], "1, 1, 3"), ([4, 3], "1, none, none, 2"), ([2, 6], "0, -2"), ([1, 6], "0, 1, 4, 3")]:
        case(f"a slice put into {arguments}", dict(**x, y=(f32, shape)),
             f"%a = aten::abs(%x)\n %b = aten::neg(%y)\n %c = aten::slice_scatter(%a, %b, {arguments})\n"
             " %r = aten::mul.Scalar(%c, 2.0)\n return (%r)")
    case("a column put in", dict(**x, y=(f32, [4])), "%r = aten::select_scatter(%x, %y, 1, -2)\n return (%r)")
    case("a row put in", dict(**x, y=(f32, [6])), "%r = aten::select_scatter(%x, %y, 0, 1)\n return (%r)")
    case("a mask with a number in a tensor", dict(x=(f16, [3, 4]), m=(flag, [3, 4]), v=(f16, [])),
         "%r = aten::masked_fill.Tensor(%x, %m, %v)\n return (%r)")
    case("a slice and what is left of it", dict(x=(f32, [2, 3, 4]), y=(f32, [2, 3, 2])),
         """%a = aten::slice_scatter(%x, %y, 2, 0, 2)
            %m = aten::mean.dim(%a, [-1], true)
            %r = aten::sub.Tensor(%a, %m)
            return (%r, %a)""", near="close")


def gathers(t):
    x, rows = dict(x=(t, [5, 3])), range(-5, 5)
    case(f"rows of a table {t}", dict(**x, i=(i64, [2, 4], range(0, 5))), "%r = aten::embedding(%x, %i)\n return (%r)")
    case(f"a row of a table {t}", dict(**x, i=(i64, [], range(0, 5))), "%r = aten::embedding(%x, %i, 0)\n return (%r)")
    case(f"slices of a tensor {t}", dict(x=(t, [2, 5, 3]), i=(i64, [4], range(0, 5))),
         "%a = aten::neg(%x)\n %b = aten::index_select(%a, 1, %i)\n %r = aten::abs(%b)\n return (%r)")
    case(f"an element for each index {t}", dict(x=(t, [4, 5], "transposed"), i=(i64, [3, 2], range(0, 5))),
         "%a = aten::neg(%x)\n %r = aten::gather(%a, 1, %i)\n return (%r)")
    case(f"rows by a list of indices {t}", dict(**x, i=(i64, [4], rows)), "%r = aten::index.Tensor(%x, [%i])\n return (%r)")
    case(f"columns by a list of indices {t}", dict(**x, i=(i64, [2, 2], range(-3, 3))),
         "%a = aten::neg(%x)\n %b = aten::index.Tensor(%a, [none, %i])\n %r = aten::abs(%b)\n return (%r)")
    case(f"elements by two lists {t}", dict(x=(t, [4, 5, 3]), i=(i64, [2, 1], range(-4, 4)), j=(i64, [3], rows)),
         "%r = aten::index.Tensor(%x, [%i, %j])\n return (%r)")


def indices():
    x = dict(x=(f32, [2, 4, 5, 3]))
    lists = dict(i=(i64, [3], range(-4, 4)), j=(i64, [2, 1], range(-3, 3)))
    case("lists with a dimension between", dict(**x, **lists), "%r = aten::index.Tensor(%x, [none, %i, none, %j])\n return (%r)")
    case("lists behind whole dimensions", dict(**x, i=(i64, [3], range(-5, 5)), j=(i64, [2, 1], range(-3, 3))),
         "%r = aten::index.Tensor(%x, [none, none, %i, %j])\n return (%r)")
    case("an image from a list of its rows and columns", dict(x=(f16, [2, 4, 5]), i=(i64, [4, 1], range(-4, 4)), j=(i64, [5], range(5))),
         "%r = aten::index.Tensor(%x, [none, %i, %j])\n return (%r)")
    case("a number as index", dict(x=(f32, [2, 4]), i=(i64, [], range(4))), "%r = aten::index_select(%x, 1, %i)\n return (%r)")
    case("32-bit indices", dict(x=(f32, [3, 4]), i=(i64, [5], range(3))),
         "%n = aten::to.dtype(%i, i32)\n %r = aten::embedding(%x, %n)\n return (%r)")
    case("indices that are calculated", dict(x=(f32, [6, 4]), i=(i64, [2, 3], range(5))),
         """%p = aten::add.Scalar(%i, 1)
            %c = aten::clamp(%p, 0, 4)
            %e = aten::embedding(%x, %c)
            %r = aten::mul.Scalar(%e, 0.5)
            return (%r)""")
    case("indices that are gathered", dict(x=(f32, [6, 4]), i=(i64, [5], range(6)), j=(i64, [3], range(-5, 5))),
         "%k = aten::index.Tensor(%i, [%j])\n %r = aten::embedding(%x, %k)\n return (%r)")
    case("indices of a sliced and padded table", dict(x=(f32, [8, 4]), i=(i64, [5], range(6))),
         """%s = aten::slice.Tensor(%x, 0, 1, 7)
            %p = aten::pad(%s, [1, 1], "reflect")
            %r = aten::index_select(%p, 0, %i)
            return (%r)""")


def chains():
    case("embeddings of words and places, and a layer norm",
         dict(i=(i64, [2, 3], range(7)), words=(f32, [7, 8]), places=(f32, [5, 8]), at=(i64, [1, 3], range(5)),
              w=(f32, [8], "weight"), b=(f32, [8])),
         """%a = aten::embedding(%words, %i, 0)
            %p = aten::embedding(%places, %at)
            %s = aten::add.Tensor(%a, %p)
            %n = aten::layer_norm(%s, [8], %w, %b, 1e-12)
            return (%n)""", near="close")
    case("a bias by relative places", dict(x=(f32, [2, 3, 4, 4]), table=(f32, [9, 3]), i=(i64, [16], range(9))),
         """%t = aten::index.Tensor(%table, [%i])
            %v = aten::view(%t, [4, 4, -1])
            %p = aten::permute(%v, [2, 0, 1])
            %c = aten::contiguous(%p)
            %u = aten::unsqueeze(%c, 0)
            %s = aten::add.Tensor(%x, %u)
            %r = aten::softmax.int(%s, -1)
            return (%r)""", near="close")
    case("a sum over gathered rows", dict(x=(f16, [6, 5]), i=(i64, [3, 4], range(-6, 6))),
         """%a = aten::relu(%x)
            %g = aten::index.Tensor(%a, [%i])
            %r = aten::sum.dim_IntList(%g, [1])
            return (%r)""", near="close")
    case("permuted rows beside the rows", dict(x=(f32, [4, 3]), i=(i64, [4], range(4))),
         "%a = aten::abs(%x)\n %r = aten::index_select(%a, 0, %i)\n return (%r, %a)")
    case("f64 rows", dict(x=(f64, [4, 2]), i=(i64, [3], range(4))), "%r = aten::index_select(%x, 0, %i)\n return (%r)")


if __name__ == "__main__":
    main()
