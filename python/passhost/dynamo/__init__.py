"""A pass inside PyTorch: `torch.compile(model, backend="passhost")`, and ahead of time. Needs torch."""

from passhost.dynamo.ahead import AheadModel, compile, load
from passhost.dynamo.backend import backend

__all__ = ["AheadModel", "backend", "compile", "load"]
