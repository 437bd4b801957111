"""Samples of GraphNet: the graph of a model, and inputs drawn by what is recorded of its tensors."""

import ast
import pathlib
import re

import torch

#: A float whose recorded extreme lies beyond this masks.
MASKS = -1e4


def described(path):
    """The literal fields of each class in a file that describes tensors. Nothing of it is run."""
    if not path.exists():
        return []
    classes = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)]
    lines = [[line for line in node.body if isinstance(line, ast.Assign)] for node in classes]
    return [{line.targets[0].id: literal(line.value) for line in of_class} for of_class in lines]


def literal(node):
    """A literal; `float("nan")` and infinities say nothing."""
    return None if isinstance(node, ast.Call) else ast.literal_eval(node)


def drawn(tensor):
    """Random elements: as recorded where they are integers, by mean and deviation where they are not."""
    shape, dtype = tensor["shape"], getattr(torch, tensor["dtype"].removeprefix("torch."))
    mean, std, low, high = (tensor.get(key) for key in ("mean", "std", "min_val", "max_val"))
    if not shape and tensor["name"].endswith("_eps"):
        # Three decimals are recorded.
        return torch.tensor(mean or 1e-5, dtype=dtype)
    if tensor.get("data") is not None:
        return torch.tensor(tensor["data"], dtype=dtype).reshape(shape)
    if not dtype.is_floating_point:
        if low is None or high is None or dtype is torch.bool:
            return torch.ones(shape, dtype=dtype)
        return torch.randint(int(low), int(high) + 1, shape).to(dtype)
    if low is not None and low <= MASKS:
        return torch.where(torch.rand(shape) < 0.3, low, 0.0).to(dtype)
    mean = mean or 0.0
    if "running_var" in tensor["name"]:
        return ((mean if mean > 0 else 1.0) * torch.exp(torch.randn(shape) / 4)).to(dtype)
    if not shape:
        return torch.tensor(mean, dtype=dtype)
    values = torch.randn(shape) * (std or 0.1) + mean
    # The extremes are those of one draw: only their sign is kept.
    values = values.abs() if low is not None and low >= 0 and (low, high) != (0, 0) else values
    return (-values.abs() if high is not None and high <= 0 and low != high else values).to(dtype)


def sample(folder, device):
    """The model of a sample and its inputs, on a device. Scalars that were on the CPU beside a GPU stay there."""
    folder = pathlib.Path(folder)
    files = (folder / "weight_meta.py", folder / "input_meta.py")
    tensors = {tensor["name"]: tensor for file in files for tensor in described(file)}
    mixed = any(tensor["device"] != "cpu" for tensor in tensors.values())
    named = r'device\(type="cuda", index=\d+\)' if mixed else r'device\(type="(cuda", index=\d+|cpu")\)'
    text = re.sub(named, f'device("{device}")', (folder / "model.py").read_text())
    names: dict = {}
    exec(compile(text, str(folder / "model.py"), "exec"), names)
    model = names["GraphModule"]().eval()
    code = model.forward.__func__.__code__
    annotations = model.forward.__annotations__
    inputs = []
    for name in code.co_varnames[1 : code.co_argcount]:
        value, stays = drawn(tensors[name]), mixed and tensors[name]["device"] == "cpu" and not tensors[name]["shape"]
        is_number = annotations.get(name) is torch.SymInt
        inputs.append(value.item() if is_number else value if stays else value.to(device))
    return model, inputs
