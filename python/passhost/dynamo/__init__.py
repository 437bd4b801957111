"""A pass inside PyTorch: `torch.compile(model, backend="passhost")`. Needs torch."""

from passhost.dynamo.backend import backend, compile

__all__ = ["backend", "compile"]
