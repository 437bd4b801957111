"""Writes regions.txt: what ATen's CPU kernels make of small graphs, for tests/regions.rs.

    python tests/regions.py > tests/regions.txt      # with torch 2.11

Each case is a name, a graph in the text form, the elements of its inputs and of its results as hexadecimal bits, and how
near a lowering to one kernel must come: `exact`, or `close` where reductions and transcendental functions take part.
"""

import re

import torch

from eager import DTYPES, bits

f32, f16, bf16, f64 = torch.float32, torch.float16, torch.bfloat16, torch.float64
i64, flag = torch.int64, torch.bool
FLOATS = [f32, f16, bf16]
NAMES = {name: dtype for dtype, name in DTYPES.items()}


def draw(dtype, shape, salt, role):
    """`role` says what a tensor is for: `weight`, `variance`, `mask`, a range of indices, or how it lies in memory."""
    generator = torch.Generator().manual_seed(1000 + salt)
    if isinstance(role, range):
        return torch.randint(role.start, role.stop, shape, generator=generator, dtype=dtype)
    if role == "transposed":
        return draw(dtype, shape, salt, "").transpose(-1, -2).contiguous().transpose(-1, -2)
    if role == "channels last":
        return draw(dtype, shape, salt, "").contiguous(memory_format=torch.channels_last)
    if dtype == flag:
        return torch.rand(shape, generator=generator) < 0.6
    if not dtype.is_floating_point:
        return torch.randint(0, 2 if role == "mask" else 9, shape, generator=generator, dtype=dtype)
    values = torch.randn(shape, generator=generator, dtype=f64)
    if role == "variance":
        values = values.abs() + 0.5
    elif role == "weight":
        values = 1 + 0.2 * values
    elif role == "mask":
        values = (values > 0).to(f64)
    else:
        values = 1.5 * values + 0.25
    return values.to(dtype)


def type_of(tensor):
    dense = torch.empty(tensor.shape).stride()
    strides = "" if tensor.stride() == dense else "{" + ",".join(map(str, tensor.stride())) + "}"
    return f"{DTYPES[tensor.dtype]}[{','.join(map(str, tensor.shape))}]{strides}"


def call(op, args, values):
    text = re.sub(r"%(\w+)", r"values['\1']", args)
    text = re.sub(r"\b(f32|f16|bf16|f64|i64|i32)\b", r"NAMES['\1']", text)
    text = re.sub(r"\bnone\b", "None", re.sub(r"\btrue\b", "True", re.sub(r"\bfalse\b", "False", text)))
    packet, _, overload = op.partition(".")
    function = getattr(getattr(torch.ops.aten, packet), overload or "default")
    return eval(f"function({text})", {"function": function, "values": values, "NAMES": NAMES, "inf": float("inf")})


def case(name, inputs, body, near="exact"):
    """`inputs` maps names to (dtype, shape) or (dtype, shape, role); `body` lists ops without types, then `return`."""
    values = {
        key: draw(what[0], what[1], salt, what[2] if len(what) > 2 else "")
        for salt, (key, what) in enumerate(inputs.items())
    }
    drawn = dict(values)
    lines = []
    for line in filter(None, map(str.strip, body.splitlines())):
        if line.startswith("return"):
            results = re.findall(r"%(\w+)", line)
            continue
        names, op, args = re.fullmatch(r"(.*) = aten::([\w.]+)\((.*)\)", line).groups()
        made = call(op, args, values)
        made = made if isinstance(made, (tuple, list)) else [made]
        names = re.findall(r"%(\w+)", names)
        assert len(names) == len(made), line
        values.update(zip(names, made))
        typed = ", ".join(f"%{key}: {type_of(tensor)}" for key, tensor in zip(names, made))
        lines.append(f"  {typed} = aten::{op}({args})")
    for dtype, short in DTYPES.items():
        name = name.replace(str(dtype), short)
    print(f"# {name}")
    print("graph(" + ", ".join(f"%{key}: {type_of(tensor)}" for key, tensor in drawn.items()) + ") {")
    print("\n".join(lines))
    print(f"  return ({', '.join('%' + key for key in results)})")
    print("}")
    for tensor in drawn.values():
        print(bits(tensor))
    print(near)
    for key in results:
        print(bits(values[key]))
    print()


def main():
    moves()
    for t in FLOATS:
        chains(t)
        reductions(t)
        norms(t)
        pools(t)


def moves():
    case("three parts behind each other", dict(x=(f32, [2, 3]), y=(f32, [2, 1]), z=(f32, [2, 4])),
         "%r = aten::cat([%x, %y, %z], -1)\n return (%r)")
    case("parts of different types", dict(x=(f16, [2, 3]), y=(f32, [1, 3])),
         "%r = aten::cat([%x, %y], 0)\n return (%r)")
    case("a stack", dict(x=(f32, [2, 3]), y=(f32, [2, 3])), "%r = aten::stack([%x, %y], 1)\n return (%r)")
    case("a stack of calculated parts", dict(x=(f32, [2, 3]), y=(f32, [2, 3])),
         "%a = aten::neg(%x)\n %r = aten::stack([%a, %y, %x], -1)\n return (%r)")
    case("padding of a tensor", dict(x=(f16, [2, 3, 4])), "%r = aten::constant_pad_nd(%x, [1, 2, 0, 3], 0.3)\n return (%r)")
    case("padding that cuts", dict(x=(f32, [4, 5])), "%r = aten::constant_pad_nd(%x, [-1, 2, 1, -2], -1.0)\n return (%r)")
    case("padding of what is calculated", dict(x=(f32, [3, 4])),
         "%a = aten::abs(%x)\n %r = aten::constant_pad_nd(%a, [1, 1], -2.0)\n return (%r)")
    case("padding of a slice", dict(x=(f32, [3, 6])),
         "%a = aten::slice.Tensor(%x, 1, 1, 5)\n %r = aten::constant_pad_nd(%a, [2, 1], 7.0)\n return (%r)")
    case("padding of integers", dict(x=(i64, [3])), "%r = aten::pad(%x, [1, 1], \"constant\", 5.0)\n return (%r)")
    case("rolled along two dimensions", dict(x=(f32, [3, 4, 2])), "%r = aten::roll(%x, [-1, 2], [1, 0])\n return (%r)")
    case("rolled as a whole", dict(x=(f32, [3, 4])), "%r = aten::roll(%x, [5])\n return (%r)")
    case("flipped", dict(x=(f32, [3, 4])), "%r = aten::flip(%x, [0, -1])\n return (%r)")
    case("repeated", dict(x=(f32, [2, 3])), "%r = aten::repeat(%x, [2, 1, 2])\n return (%r)")
    case("each element repeated", dict(x=(f32, [2, 3])), "%r = aten::repeat_interleave.self_int(%x, 2, 1)\n return (%r)")
    case("pixels shuffled and back", dict(x=(f32, [1, 8, 2, 3])),
         """%a = aten::pixel_shuffle(%x, 2)
            %b = aten::neg(%a)
            %c = aten::pixel_unshuffle(%b, 2)
            return (%c)""")
    case("a transposed tensor reshaped", dict(x=(f32, [2, 3, 4])),
         """%t = aten::transpose.int(%x, 1, 2)
            %r = aten::reshape(%t, [2, 12])
            return (%r)""")
    case("reshapes that do not line up", dict(x=(f32, [4, 6]), y=(f32, [3, 8])),
         """%a = aten::neg(%x)
            %v = aten::view(%a, [3, 8])
            %r = aten::add.Tensor(%v, %y)
            return (%r)""")
    case("windows of an image, as Swin takes them", dict(x=(f32, [1, 4, 6, 3]), y=(f32, [1, 4, 6, 3])),
         """%s = aten::add.Tensor(%x, %y)
            %o = aten::roll(%s, [-1, -1], [1, 2])
            %v = aten::view(%o, [1, 2, 2, 3, 2, 3])
            %p = aten::permute(%v, [0, 1, 3, 2, 4, 5])
            %c = aten::clone(%p)
            %r = aten::mul.Scalar(%c, 2.0)
            return (%r)""")
    case("sliding windows", dict(x=(f32, [2, 7])),
         "%u = aten::unfold(%x, 1, 3, 2)\n %r = aten::neg(%u)\n return (%r)")
    case("every second, and one", dict(x=(f32, [3, 7, 2])),
         """%a = aten::slice.Tensor(%x, 1, 1, 6, 2)
            %b = aten::select.int(%x, 2, -1)
            %c = aten::slice.Tensor(%b, 1, 0, 3)
            %d = aten::unsqueeze(%c, -1)
            %r = aten::mul.Tensor(%a, %d)
            return (%r)""")
    case("dimensions moved", dict(x=(f32, [2, 3, 4])),
         "%m = aten::movedim.int(%x, 2, 0)\n %r = aten::neg(%m)\n return (%r)")
    case("a piece of a joined tensor comes from one part", dict(x=(f32, [2, 3]), y=(f32, [2, 4])),
         """%c = aten::cat([%x, %y], 1)
            %s = aten::slice.Tensor(%c, 1, 4, 6)
            %r = aten::neg(%s)
            return (%r)""")


def chains(t):
    case(f"rotary embedding {t}", dict(x=(t, [1, 2, 5, 8]), cos=(t, [1, 1, 5, 8]), sin=(t, [1, 1, 5, 8])),
         """%a = aten::mul.Tensor(%x, %cos)
            %l = aten::slice.Tensor(%x, 3, 0, 4)
            %h = aten::slice.Tensor(%x, 3, 4, 9223372036854775807)
            %n = aten::neg(%h)
            %c = aten::cat([%n, %l], -1)
            %b = aten::mul.Tensor(%c, %sin)
            %r = aten::add.Tensor(%a, %b)
            return (%r)""")
    case(f"joined channels shuffled, scaled and padded {t}",
         dict(x=(t, [2, 2, 3, 3]), y=(t, [2, 2, 3, 3]), s=(t, [2, 4, 1, 1])),
         """%c = aten::cat([%x, %y], 1)
            %v = aten::reshape(%c, [2, 2, 2, 3, 3])
            %t = aten::transpose.int(%v, 1, 2)
            %f = aten::reshape(%t, [2, 4, 3, 3])
            %m = aten::mul.Tensor(%f, %s)
            %r = aten::constant_pad_nd(%m, [0, 1, 0, 1], 0.0)
            return (%r)""")
    case(f"scores, bias, mask and softmax {t}",
         dict(x=(t, [2, 3, 5, 7]), bias=(t, [1, 3, 5, 7]), mask=(t, [2, 1, 1, 7])),
         """%0 = aten::div.Scalar(%x, 8.0)
            %1 = aten::add.Tensor(%0, %bias)
            %2 = aten::add.Tensor(%1, %mask)
            %3 = aten::softmax.int(%2, -1)
            %4 = aten::dropout(%3, 0.1, false)
            return (%4)""", near="close")
    case(f"a residual sum that is read again {t}",
         dict(x=(t, [2, 3, 17]), y=(t, [2, 3, 17]), w=(t, [17], "weight"), b=(t, [17])),
         """%s = aten::add.Tensor(%x, %y)
            %n = aten::layer_norm(%s, [17], %w, %b, 1e-06)
            return (%s, %n)""", near="close")
    case(f"RMS norm as Llama writes it {t}", dict(x=(t, [2, 3, 16]), w=(t, [16], "weight")),
         f"""%f = aten::to.dtype(%x, f32)
            %p = aten::pow.Tensor_Scalar(%f, 2)
            %m = aten::mean.dim(%p, [-1], true)
            %e = aten::add.Scalar(%m, 1e-06)
            %q = aten::rsqrt(%e)
            %n = aten::mul.Tensor(%f, %q)
            %c = aten::to.dtype(%n, {DTYPES[t]})
            %r = aten::mul.Tensor(%w, %c)
            return (%r)""", near="close")
    case(f"window reverse, shift, residual and layer norm {t}",
         dict(x=(t, [4, 2, 3, 5]), y=(t, [1, 20, 5]), w=(t, [5], "weight"), b=(t, [5])),
         """%v = aten::view(%x, [1, 2, 2, 2, 3, 5])
            %p = aten::permute(%v, [0, 1, 3, 2, 4, 5])
            %c = aten::reshape(%p, [1, 4, 6, 5])
            %o = aten::roll(%c, [1, 1], [1, 2])
            %s = aten::slice.Tensor(%o, 2, 0, 5)
            %f = aten::reshape(%s, [1, 20, 5])
            %a = aten::add.Tensor(%y, %f)
            %n = aten::layer_norm(%a, [5], %w, %b)
            return (%a, %n)""", near="close")
    case(f"masked mean {t}", dict(x=(t, [2, 5, 3]), mask=(i64, [2, 5], "mask")),
         f"""%u = aten::unsqueeze(%mask, -1)
            %e = aten::expand(%u, [2, 5, 3])
            %m = aten::to.dtype(%e, {DTYPES[t]})
            %p = aten::mul.Tensor(%x, %m)
            %s = aten::sum.dim_IntList(%p, [1])
            %c = aten::sum.dim_IntList(%m, [1])
            %k = aten::clamp(%c, 1e-09)
            %r = aten::div.Tensor(%s, %k)
            return (%r)""", near="close")
    case(f"GELU and the mean of an image {t}", dict(x=(t, [2, 3, 4, 5])),
         """%g = aten::gelu(%x)
            %m = aten::mean.dim(%g, [2, 3], true)
            return (%m, %g)""", near="close")
    case(f"joined, batch norm, ReLU and pool {t}",
         dict(x=(t, [2, 2, 4, 4]), y=(t, [2, 3, 4, 4]), w=(t, [5], "weight"), b=(t, [5]), m=(t, [5]),
              v=(t, [5], "variance")),
         """%c = aten::cat([%x, %y], 1)
            %n = aten::batch_norm(%c, %w, %b, %m, %v, false, 0.1, 1e-05, true)
            %a = aten::relu(%n)
            %p = aten::adaptive_avg_pool2d(%a, [1, 1])
            return (%p)""", near="close")
    case(f"softmax by hand {t}", dict(x=(t, [3, 9])),
         """%m = aten::amax(%x, [-1], true)
            %d = aten::sub.Tensor(%x, %m)
            %e = aten::exp(%d)
            %s = aten::sum.dim_IntList(%e, [-1], true)
            %r = aten::div.Tensor(%e, %s)
            return (%r, %s)""", near="close")
    case(f"unit length {t}", dict(x=(t, [3, 9])),
         """%n = aten::linalg_vector_norm(%x, 2, [-1], true)
            %c = aten::clamp_min(%n, 1e-12)
            %e = aten::expand(%c, [3, 9])
            %r = aten::div.Tensor(%x, %e)
            return (%r)""", near="close")
    case(f"layer norm, then windows {t}", dict(x=(t, [1, 24, 5]), w=(t, [5], "weight"), b=(t, [5])),
         """%n = aten::layer_norm(%x, [5], %w, %b)
            %v = aten::view(%n, [1, 4, 6, 5])
            %o = aten::roll(%v, [-1, -2], [1, 2])
            %g = aten::view(%o, [1, 2, 2, 3, 2, 5])
            %p = aten::permute(%g, [0, 1, 3, 2, 4, 5])
            %r = aten::clone(%p)
            return (%r)""", near="close")
    case(f"attention output reshaped {t}", dict(x=(t, [2, 3, 4, 5]), y=(t, [2, 4, 15])),
         """%t = aten::transpose.int(%x, 1, 2)
            %c = aten::reshape(%t, [2, 4, 15])
            %r = aten::add.Tensor(%c, %y)
            return (%r)""")


def reductions(t):
    case(f"a softmax of one {t}", dict(x=(t, [3, 1])),
         "%a = aten::mul.Scalar(%x, 2.0)\n %r = aten::softmax.int(%a, -1)\n return (%r)", near="close")
    case(f"a layer norm of dimensions of extent 1 {t}", dict(x=(t, [1, 3, 1, 4])),
         """%a = aten::mul.Scalar(%x, 2.0)
            %n = aten::layer_norm(%a, [1, 4])
            %m = aten::mean.dim(%n, [2, 3], true)
            return (%n, %m)""", near="close")
    case(f"means over axes that are joined later {t}", dict(x=(t, [2, 3, 4, 5])),
         """%a = aten::abs(%x)
            %m = aten::mean.dim(%a, [2, 3])
            %v = aten::view(%m, [6])
            %r = aten::neg(%v)
            return (%r)""", near="close")
    case(f"the mean of a single number {t}", dict(x=(t, [])), "%r = aten::mean(%x)\n return (%r)")
    x = dict(x=(t, [3, 4, 5]))
    for op in ["sum.dim_IntList", "mean.dim", "amax", "amin", "var.correction", "std.correction"]:
        near = "exact" if op in ("amax", "amin") else "close"
        for dims, keep in [([-1], "false"), ([0], "true"), ([0, 2], "false"), ([0, 1, 2], "false")]:
            arguments = f"{dims}, {keep}" if "correction" not in op else f"{dims}, correction=0, keepdim={keep}"
            case(f"{op} over {dims} {t}", x, f"%r = aten::{op}(%x, {arguments})\n return (%r)", near=near)
    case(f"the whole sum {t}", x, "%r = aten::sum(%x)\n return (%r)", near="close")
    case(f"the whole mean {t}", x, "%r = aten::mean(%x)\n return (%r)", near="close")
    case(f"the largest and where {t}", x, "%r, %i = aten::max.dim(%x, 1)\n return (%r, %i)")
    case(f"variance and mean {t}", x, "%v, %m = aten::var_mean.correction(%x, [1], correction=1)\n return (%v, %m)",
         near="close")
    case(f"a sum in another type {t}", x, "%r = aten::sum.dim_IntList(%x, [1], false, dtype=f64)\n return (%r)", near="close")
    if t == f32:
        case("integers and flags", dict(x=(i64, [3, 4]), y=(flag, [3, 4])),
             """%a = aten::sum.dim_IntList(%x, [1])
                %b = aten::sum.dim_IntList(%y, [1])
                %c = aten::add.Tensor(%a, %b)
                %d = aten::any.dim(%y, 1)
                %e = aten::all.dim(%y, 1)
                return (%c, %d, %e)""")


def norms(t):
    for dim in [-1, 1, 0]:
        case(f"softmax over {dim} {t}", dict(x=(t, [3, 4, 5])), f"%r = aten::softmax.int(%x, {dim})\n return (%r)", near="close")
        case(f"log softmax over {dim} {t}", dict(x=(t, [3, 4, 5])), f"%r = aten::log_softmax.int(%x, {dim})\n return (%r)",
             near="close")
    case(f"softmax in f32 {t}", dict(x=(t, [3, 5])), "%r = aten::softmax.int(%x, -1, f32)\n return (%r)", near="close")
    weights = dict(w=(t, [4, 5], "weight"), b=(t, [4, 5]))
    case(f"layer norm over two dimensions {t}", dict(x=(t, [3, 4, 5]), **weights),
         "%r = aten::layer_norm(%x, [4, 5], %w, %b, 1e-05)\n return (%r)", near="close")
    case(f"layer norm without weights {t}", dict(x=(t, [3, 7])), "%r = aten::layer_norm(%x, [7])\n return (%r)", near="close")
    case(f"layer norm with weights in f32 {t}", dict(x=(t, [3, 7]), w=(f32, [7], "weight"), b=(f32, [7])),
         "%r = aten::layer_norm(%x, [7], %w, %b)\n return (%r)", near="close")
    case(f"native layer norm {t}", dict(x=(t, [3, 7]), w=(t, [7], "weight"), b=(t, [7])),
         "%r, %m, %s = aten::native_layer_norm(%x, [7], %w, %b, 1e-05)\n return (%r, %m, %s)", near="close")
    channels = dict(w=(t, [6], "weight"), b=(t, [6]))
    case(f"group norm and SiLU {t}", dict(x=(t, [2, 6, 3, 2]), **channels),
         "%n = aten::group_norm(%x, 3, %w, %b, 1e-05)\n %r = aten::silu(%n)\n return (%r)", near="close")
    case(f"group norm without weights {t}", dict(x=(t, [2, 6, 5])), "%r = aten::group_norm(%x, 2)\n return (%r)", near="close")
    if t == f32:  # the CPU rounds the statistics of half types to them; CUDA and the rule do not
        case(f"instance norm {t}", dict(x=(t, [2, 6, 5]), **channels),
             "%r = aten::instance_norm(%x, %w, %b, none, none, true, 0.1, 1e-05, false)\n return (%r)", near="close")
    statistics = dict(m=(t, [6]), v=(t, [6], "variance"))
    case(f"batch norm and ReLU {t}", dict(x=(t, [2, 6, 5]), **channels, **statistics),
         """%n = aten::batch_norm(%x, %w, %b, %m, %v, false, 0.1, 1e-05, false)
            %r = aten::relu(%n)
            return (%r)""", near="close")
    case(f"batch norm without weights {t}", dict(x=(t, [2, 6]), **statistics),
         "%r = aten::batch_norm(%x, none, none, %m, %v, false, 0.1, 1e-05, false)\n return (%r)", near="close")
    for arguments in ["%w, 1e-06", "%w", "none, 1e-05", "none"]:
        case(f"RMS norm with {arguments} {t}", dict(x=(t, [3, 9]), w=(t, [9], "weight")),
             f"%r = aten::rms_norm(%x, [9], {arguments})\n return (%r)", near="close")


def pools(t):
    x = dict(x=(t, [1, 2, 6, 6]))
    case(f"largest of overlapping windows {t}", x,
         "%a = aten::relu(%x)\n %r = aten::max_pool2d(%a, [3, 3], [2, 2], [1, 1])\n return (%r)")
    case(f"largest of a tensor's windows {t}", x, "%r = aten::max_pool2d(%x, [2, 2])\n return (%r)")
    case(f"means of windows {t}", x, "%a = aten::abs(%x)\n %r = aten::avg_pool2d(%a, [2, 2], [2, 2])\n return (%r)", near="close")
    case(f"means of padded windows {t}", x, "%a = aten::abs(%x)\n %r = aten::avg_pool2d(%a, [3, 3], [1, 1], [1, 1])\n return (%r)",
         near="close")
    case(f"means of large windows {t}", x, "%a = aten::abs(%x)\n %r = aten::avg_pool2d(%a, [5, 5], [1, 1], [0, 0])\n return (%r)",
         near="close")
    case(f"means of large padded windows {t}", x,
         "%a = aten::abs(%x)\n %r = aten::avg_pool2d(%a, [5, 5], [1, 1], [2, 2])\n return (%r)", near="close")
    case(f"adaptive means {t}", x, "%a = aten::abs(%x)\n %r = aten::adaptive_avg_pool2d(%a, [3, 2])\n return (%r)", near="close")


if __name__ == "__main__":
    main()
