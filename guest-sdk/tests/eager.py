"""Writes eager.txt: what ATen's CPU kernels make of small inputs, for tests/eager.rs.

    python tests/eager.py > tests/eager.txt      # with torch 2.11

Each case is a graph of one op, the elements of its inputs and of its result as hexadecimal bits, and how near a lowering
must come: `exact`, or `close` for what transcendental functions go into.
"""

import torch

DTYPES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.float64: "f64",
          torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8",
          torch.bool: "bool"}
WIDTHS = {1: torch.uint8, 2: torch.uint16, 4: torch.uint32, 8: torch.uint64}
FLOATS = [torch.float32, torch.float16, torch.bfloat16]
COUNT = 32
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 0.1, float("inf"), -float("inf"), float("nan"),
           1e-3, -7.25]


class Text(str):
    """An argument that is written as it stands."""


def draw(dtype, salt):
    torch.manual_seed(salt)
    if dtype.is_floating_point:
        values = torch.cat([torch.tensor(SPECIAL), torch.randn(COUNT - len(SPECIAL)) * 2])
        return values.roll(5 * salt).to(dtype)
    if dtype == torch.bool:
        return torch.rand(COUNT) < 0.5
    return torch.randint(0 if dtype == torch.uint8 else -9, 10, (COUNT,)).to(dtype)


def written(arg):
    if isinstance(arg, Text):
        return str(arg)
    if isinstance(arg, bool):
        return str(arg).lower()
    if isinstance(arg, str):
        return f'"{arg}"'
    if isinstance(arg, torch.dtype):
        return DTYPES[arg]
    if isinstance(arg, float):
        return {float("inf"): "inf", -float("inf"): "-inf"}.get(arg, repr(arg))
    return "none" if arg is None else repr(arg)


def bits(tensor):
    width = tensor.element_size()
    flat = tensor.contiguous().reshape(-1)
    raw = (flat.int() if tensor.dtype == torch.bool else flat.view(WIDTHS[width])).tolist()
    return " ".join(f"{element:0{2 * width}x}" for element in raw)


def case(op, dtypes, *args, near="exact", finite=False, numbers=False, **kwargs):
    """`dtypes` are those of the tensors %x, %y, %z; strings among `args` that start with % name them."""
    tensors = {f"%{name}": draw(dtype, salt) for salt, (name, dtype) in enumerate(zip("xyz", dtypes))}
    if finite:
        tensors = {name: tensor.clamp(-6, 6) for name, tensor in tensors.items()}
    if numbers:
        tensors = {name: tensor.nan_to_num(1.0) for name, tensor in tensors.items()}
    packet, _, overload = op.partition(".")
    function = getattr(getattr(torch.ops.aten, packet), overload or "default")
    value = lambda arg: tensors[arg] if isinstance(arg, str) and arg in tensors else arg
    result = function(*map(value, args), **{name: value(arg) for name, arg in kwargs.items()})
    call = [Text(arg) if isinstance(arg, str) and arg in tensors else arg for arg in args]
    call = [written(arg) for arg in call] + [f"{name}={written(arg)}" for name, arg in kwargs.items()]
    inputs = ", ".join(f"{name}: {DTYPES[tensor.dtype]}[{COUNT}]" for name, tensor in tensors.items())
    print(f"graph({inputs}) {{ %r: {DTYPES[result.dtype]}[{COUNT}] = aten::{op}({', '.join(call)}) return (%r) }}")
    for tensor in tensors.values():
        print(bits(tensor))
    print(near)
    print(bits(result))
    print()


i64, i32, i16, i8, u8, flag = torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool
f32, f16, bf16, f64 = torch.float32, torch.float16, torch.bfloat16, torch.float64


def calculated(t):
    for op in ["asin", "acos", "asinh", "acosh", "atanh", "angle", "sinc", "deg2rad", "rad2deg", "log_sigmoid"]:
        case(op, [t], "%x", near="close")
    for op in ["hypot", "logaddexp", "logaddexp2", "xlogy.Tensor"]:
        case(op, [t, t], "%x", "%y", near="close")
    case("logit", [t], "%x", near="close")
    if t == f32:  # the CPU's kernels for half types round otherwise than CUDA's
        case("logit", [t], "%x", 0.01, near="close")
        case("round.decimals", [t], "%x", decimals=2)
    case("special_logit", [t], "%x", near="close")
    case("xlogy.Scalar_Self", [t], 0.3, "%x", near="close")
    case("xlogy.Scalar_Other", [t], "%x", 0.3, near="close")
    case("float_power.Tensor_Scalar", [t], "%x", 3.0, near="close")
    case("float_power.Tensor_Tensor", [t, t], "%x", "%y", near="close")
    case("float_power.Scalar", [t], 1.5, "%x", near="close")
    case("hardshrink", [t], "%x", 0.5)
    case("round.decimals", [t], "%x", decimals=-1)
    case("round.decimals", [t], "%x", decimals=0)
    case("remainder.Scalar_Tensor", [t], 3.5, "%x")


def classified(t):
    for op in ["isfinite", "isposinf", "isneginf", "nan_to_num"]:
        case(op, [t], "%x")
    case("nan_to_num", [t], "%x", 0.3, 5.0, -5.0)
    case("signbit", [t], "%x", numbers=True)
    case("copysign.Tensor", [t, t], "%x", "%y", numbers=True)
    case("copysign.Scalar", [t], "%x", -0.0)
    case("isclose", [t, t], "%x", "%x")
    case("isclose", [t, t], "%x", "%y", 0.5, 0.5, True)
    case("isclose", [t, t], "%x", "%y", 0.0, 0.0)


def losses(t):
    for op in ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "kl_div",
               "binary_cross_entropy_with_logits"]:
        place = {"binary_cross_entropy_with_logits": [None, None, 0]}.get(op, [0])
        exact = op in ("mse_loss", "l1_loss")
        case(op, [t, t], "%x", "%y", *place, near="exact" if exact else "close")
    case("smooth_l1_loss", [t, t], "%x", "%y", 0, 0.3, near="close")
    case("huber_loss", [t, t], "%x", "%y", 0, 0.3, near="close")
    case("kl_div", [t, t], "%x", "%y", 0, log_target=True, near="close")


def main():
    for t in FLOATS + [f64]:
        for op in ["neg", "abs", "relu", "relu6", "hardswish", "hardsigmoid", "floor", "ceil", "round", "trunc", "frac",
                   "sign", "reciprocal", "square", "isnan", "isinf", "logical_not", "clone"]:
            case(op, [t], "%x")
        for op in ["add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor", "maximum", "minimum"]:
            case(op, [t, t], "%x", "%y")
    case("sqrt", [f64], "%x", near="close")  # ATen's vectorised f64 root is one place off at 0.5
    for t in FLOATS:
        case("sqrt", [t], "%x")
        for op in ["fmod.Tensor", "remainder.Tensor", "eq.Tensor", "ne.Tensor", "lt.Tensor", "le.Tensor", "gt.Tensor",
                   "ge.Tensor", "logical_and", "logical_or", "logical_xor", "clamp_min.Tensor"]:
            case(op, [t, t], "%x", "%y")
        for op in ["exp", "expm1", "log", "log2", "log10", "log1p", "rsqrt", "sin", "cos", "tanh", "erf", "atan", "sigmoid",
                   "silu", "mish", "exp2", "log_sigmoid", "tan", "sinh", "cosh"]:
            case(op, [t], "%x", near="close")
        for approximate in ["none", "tanh"]:
            # ATen makes a NaN of infinity where it is vectorised, and only there.
            case("gelu", [t], "%x", near="close", finite=True, approximate=approximate)
        case("pow.Tensor_Tensor", [t, t], "%x", "%y", near="close")
        for exponent in [0.0, 1.0, -1.0, 2.0, 4.0, 1.7]:
            case("pow.Tensor_Scalar", [t], "%x", exponent, near="exact" if exponent in (1.0, 2.0) else "close")
        case("add.Tensor", [t, t], "%x", "%y", alpha=0.25)
        case("sub.Tensor", [t, t], "%x", "%y", alpha=0.25)
        case("rsub.Scalar", [t], "%x", 1)
        case("add.Scalar", [t], "%x", 0.5)
        case("mul.Scalar", [t], "%x", 0.044715)
        case("div.Scalar", [t], "%x", 3.1)
        case("div.Tensor_mode", [t, t], "%x", "%y", rounding_mode="trunc")
        case("gt.Scalar", [t], "%x", 0.1)
        case("eq.Scalar", [t], "%x", 0.1)
        case("leaky_relu", [t], "%x", 0.013)
        case("threshold", [t], "%x", 0.1, 0.2)
        case("hardtanh", [t], "%x", -1.5, 2.5)
        case("softshrink", [t], "%x", 0.5)
        case("elu", [t], "%x", near="close")
        case("elu", [t], "%x", 0.3, 1.1, 0.9, near="close")
        case("selu", [t], "%x", near="close")
        case("celu", [t], "%x", 1.3, near="close")
        case("softplus", [t], "%x", near="close")
        case("softplus", [t], "%x", 1.7, 0.5, near="close")
        case("clamp", [t], "%x", -0.75, 1.25)
        case("clamp", [t], "%x", None, 0.1)
        case("clamp_min", [t], "%x", 0.1)
        case("clamp_max", [t], "%x", 0.1)
        case("where.self", [flag, t, t], "%x", "%y", "%z")
        case("where.ScalarOther", [flag, t], "%x", "%y", 0.1)
        case("masked_fill.Scalar", [t, flag], "%x", "%y", -float("inf"))
        case("addcmul", [t, t, t], "%x", "%y", "%z", value=0.25)
        case("addcmul", [t, t, t], "%x", "%y", "%z")
        case("addcdiv", [t, t, t], "%x", "%y", "%z", value=0.25)
        case("lerp.Scalar", [t, t], "%x", "%y", 0.25)
        case("lerp.Scalar", [t, t], "%x", "%y", 0.75)
        case("atan2", [t, t], "%x", "%y", near="close")
        calculated(t)
        classified(t)
        losses(t)
        case("to.dtype", [t], "%x", f64)
        case("add.Tensor", [t, i64], "%x", "%y")
        case("mul.Tensor", [flag, t], "%x", "%y")
    # The CPU's f16 kernel takes these exponents another way than its other kernels and CUDA's.
    for exponent in [3.0, -2.0, 0.5, -0.5]:
        for t in [f32, bf16]:
            case("pow.Tensor_Scalar", [t], "%x", exponent, near="close" if exponent == -0.5 else "exact")
    case("floor_divide", [f32, f32], "%x", "%y")
    case("floor_divide.Scalar", [f32], "%x", 0.3)
    for a, b in [(f16, bf16), (f16, f32), (bf16, f64), (i32, f16), (i64, f32), (u8, i8), (i16, i32), (flag, i64)]:
        case("add.Tensor", [a, b], "%x", "%y")
        case("lt.Tensor", [a, b], "%x", "%y")
    for t in [i64, i32, i16, i8, u8]:
        for op in ["add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor", "maximum", "bitwise_and.Tensor",
                   "bitwise_xor.Tensor", "ge.Tensor", "logical_and"]:
            case(op, [t, t], "%x", "%y")
        for op in ["neg", "abs", "sign", "bitwise_not", "relu", "square", "isnan", "sigmoid"]:
            case(op, [t], "%x", near="close" if op == "sigmoid" else "exact")
        case("floor_divide.Scalar", [t], "%x", 4)
        case("remainder.Scalar", [t], "%x", 4)
        case("fmod.Scalar", [t], "%x", 4)
        case("div.Scalar_mode", [t], "%x", 4, rounding_mode="trunc")
        case("mul.Scalar", [t], "%x", 1.5)
        case("clamp", [t], "%x", 1, 5)
        for exponent in [0, 1, 3, 7]:
            case("pow.Tensor_Scalar", [t], "%x", exponent)
        case("pow.Scalar", [t], 2, "%x")
        for op in ["bitwise_left_shift", "bitwise_right_shift"]:
            case(f"{op}.Tensor", [t, t], "%x", "%y")
            case(f"{op}.Tensor_Scalar", [t], "%x", 3)
        for op in ["signbit", "isfinite", "isposinf", "nan_to_num", "angle", "deg2rad", "asinh"]:
            case(op, [t], "%x", near="close" if op in ("deg2rad", "asinh", "angle") else "exact")
        case("copysign.Tensor", [t, t], "%x", "%y")
        case("xlogy.Tensor", [t, t], "%x", "%y", near="close")
        case("add.Tensor", [t, t], "%x", "%y", alpha=3)
        case("to.dtype", [t], "%x", f16)
    for op in ["bitwise_and.Tensor", "bitwise_or.Tensor", "mul.Tensor", "add.Tensor", "eq.Tensor", "lt.Tensor"]:
        case(op, [flag, flag], "%x", "%y")
    case("bitwise_not", [flag], "%x")
    case("signbit", [flag], "%x")
    for alias in ["absolute", "negative", "arcsin", "arccos", "arctan"]:
        case(alias, [f32], "%x", near="close")
    for alias in ["multiply.Tensor", "subtract.Tensor", "divide.Tensor", "true_divide.Tensor", "greater.Tensor", "less_equal.Tensor",
                  "not_equal.Tensor", "arctan2"]:
        case(alias, [f32, f32], "%x", "%y", near="close")
    case("__or__.Tensor", [i64, i64], "%x", "%y")
    case("clip", [f32], "%x", -0.5, 0.5)
    for t in [i64, f32, f16, u8]:
        case("to.dtype", [flag], "%x", t)
    case("to.dtype", [i64], "%x", flag)
    case("to.dtype", [f16], "%x", bf16)
    for t in [f16, i64, flag]:
        case("zeros_like", [t], "%x")
        case("ones_like", [t], "%x")
        case("full_like", [t], "%x", 3)
    case("full_like", [f16], "%x", 0.1)
    case("zeros", [f16], [32])
    case("ones", [f16], [32])
    case("full", [f16], [32], 0.1)
    case("new_zeros", [f16], "%x", [32])
    case("new_ones", [i64], "%x", [32])
    case("new_full", [f16], "%x", [32], 0.1)
    case("zero", [f32], "%x")
    case("fill.Scalar", [i32], "%x", 7)
    case("copy", [f16, f32], "%x", "%y")
    case("lift_fresh_copy", [f16], "%x")
    for t in FLOATS + [i64, i32, u8]:
        case("arange", [], 32, dtype=t)
        case("arange.start", [], 3, 35, dtype=t)
        case("arange.start_step", [], 100, 4, -3, dtype=t)
    case("arange.start_step", [], 0.25, 3.4, 0.1, dtype=f32, near="close")
    for t in [f32, f64]:
        case("linspace", [], -1.0, 2.0, 32, dtype=t, near="close")


if __name__ == "__main__":
    main()
