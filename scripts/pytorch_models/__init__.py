"""Models with random weights for `benchmark-pytorch` and `check-models`."""

import torch
from torch import nn


class First(nn.Module):
    """A model whose result is the first of its results."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *inputs):
        result = self.model(*inputs)
        return result if isinstance(result, torch.Tensor) else result[0]


def scatter_constants(model):
    """Makes vectors whose elements are all the same random, as scales and biases of norms are at first: an error could
    hide behind a one or a zero."""
    values = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    with torch.no_grad():
        for name, value in values.items():
            if value.dim() == 1 and value.is_floating_point() and value.numel() > 1 and bool((value == value[0]).all()):
                noise = torch.randn_like(value) / 10
                value.add_(noise.abs() if name.endswith("running_var") else noise)


def to_device(inputs, device, dtype):
    """The inputs, floating-point ones in `dtype`."""
    return [x.to(device=device, dtype=dtype if x.is_floating_point() else x.dtype) for x in inputs]
