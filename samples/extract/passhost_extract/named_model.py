"""A model from the name that leads to it."""

from __future__ import annotations

import importlib
from typing import Any

import torch

from .errors import ExtractError


def build(path: str, options: dict[str, Any]) -> torch.nn.Module:
    """The model that `path` (`torchvision.models:resnet18`) leads to, made with `options`, in eval mode.

    Raises `ExtractError` when there is no such module or name, or when it doesn't make a `torch.nn.Module`.
    """
    module_name, _, name = path.partition(":")
    if not name or module_name.endswith(".py") or "/" in module_name:
        raise ExtractError(f"{path!r} must be MODULE:NAME, such as torchvision.models:resnet18; my_model.py is my_model:NAME")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise ExtractError(f"{path}: there is no module {error.name!r}; install it, or go to the folder it is in") from error
    made = getattr(module, name, None)
    if made is None:
        raise ExtractError(f"{path}: the module {module_name} has no {name!r}")
    if isinstance(made, torch.nn.Module) and options:
        raise ExtractError(f"{path} is a model already, which --option {next(iter(options))} can't change; leave that out")
    if not isinstance(made, torch.nn.Module):
        try:
            made = made(**options)
        except Exception as error:
            raise ExtractError(f"{path} doesn't make a model: {error}; give what it needs as --option KEY=VALUE") from error
    if not isinstance(made, torch.nn.Module):
        raise ExtractError(f"{path} is {type(made).__name__}, and must be or make a torch.nn.Module; use extract() for functions")
    return made.eval()
