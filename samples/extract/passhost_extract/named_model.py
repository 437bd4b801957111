"""A model, and what goes into it, from the names that lead to them."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from .errors import ExtractError


@dataclass(frozen=True)
class Returned:
    """What a function of a module returns, passed on: a list by position, a dict by name."""

    function: str

    def arguments(self, module: ModuleType) -> tuple[list[Any], dict[str, Any]]:
        """Call the function, and say what it gives by position and by name."""
        function = getattr(module, self.function, None)
        if not callable(function):
            raise ExtractError(f"the module {module.__name__} has no function {self.function!r}")
        returned = function()
        if isinstance(returned, dict):
            return [], returned
        if not isinstance(returned, (list, tuple)):
            raise ExtractError(
                f"{self.function}() of {module.__name__} returns {type(returned).__name__}, and must return a list of arguments, or a dict"
            )
        return list(returned), {}


def load(path: str, numbers: dict[str, Any]) -> tuple[ModuleType, str]:
    """The module, and the name in it, that `path` (`torchvision.models:resnet18`, `problems/softmax.py:Model`) leads to.

    Where the module is a file, `numbers` stand in place of what it gives these names at its top level, so that what follows from
    them there follows from these.

    Raises `ExtractError` when there is no such module, or no such name at its top level.
    """
    module_name, _, name = path.rpartition(":")
    is_file = module_name.endswith(".py")
    if not name or not module_name or ("/" in module_name and not is_file):
        raise ExtractError(f"{path!r} must be MODULE:NAME or FILE.py:NAME, such as torchvision.models:resnet18 or my_model.py:Net")
    if is_file:
        return _run(Path(module_name), numbers), name
    if numbers:
        raise ExtractError(f"{path}: {next(iter(numbers))} can be set where the module is given as a file, FILE.py:NAME")
    try:
        return importlib.import_module(module_name), name
    except ModuleNotFoundError as error:
        raise ExtractError(f"{path}: there is no module {error.name!r}; install it, or go to the folder it is in") from error


def build(path: str, module: ModuleType, name: str, positional: list[Any], options: dict[str, Any], training: bool) -> torch.nn.Module:
    """The model that `name` is or makes in `module`; `path` is how the user calls it. In eval mode, but for `training`.

    Raises `ExtractError` when there is no such name, or when it doesn't make a `torch.nn.Module`.
    """
    made = getattr(module, name, None)
    if made is None:
        near = get_close_matches(name, dir(module), n=1)
        raise ExtractError(f"{path}: the module {module.__name__} has no {name!r}" + "".join(f"; did you mean {one!r}?" for one in near))
    if isinstance(made, torch.nn.Module) and (options or positional):
        option = next(iter(options), "with arguments")
        raise ExtractError(f"{path} is a model already, which --option {option} can't change; leave that out")
    if not isinstance(made, torch.nn.Module):
        try:
            made = made(*positional, **options)
        except Exception as error:
            raise ExtractError(f"{path} doesn't make a model: {error}; give what it needs as --option KEY=VALUE") from error
    if not isinstance(made, torch.nn.Module):
        raise ExtractError(f"{path} is {type(made).__name__}, and must be or make a torch.nn.Module; use extract() for functions")
    return made.train(training)


def _run(file: Path, numbers: dict[str, Any]) -> ModuleType:
    try:
        tree = ast.parse(file.read_bytes(), str(file))
    except OSError as error:
        raise ExtractError(f"{file}: {error.strerror}") from error
    except SyntaxError as error:
        raise ExtractError(f"{file}:{error.lineno}: {error.msg}") from error
    for name, value in numbers.items():
        _set(file, tree, name, value)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None:
        raise ExtractError(f"{file} can't be loaded as a module of Python")
    module = importlib.util.module_from_spec(spec)
    # Where Python looks for the module of a class, and a file for its neighbours.
    sys.modules[file.stem] = module
    sys.path.insert(0, str(file.parent))
    try:
        exec(compile(tree, str(file), "exec"), module.__dict__)
    except ModuleNotFoundError as error:
        raise ExtractError(f"{file} needs the module {error.name!r}, which is not installed") from error
    return module


def _set(file: Path, tree: ast.Module, name: str, value: Any) -> None:
    """Put `value` in place of what the text assigns to `name` at its top level."""
    given = [statement for statement in tree.body if isinstance(statement, ast.Assign)]
    of_one_name = {target.id: statement for statement in given for target in statement.targets if isinstance(target, ast.Name)}
    if name not in of_one_name:
        raise ExtractError(f"{file} gives {name!r} no value at its top level; it has {', '.join(of_one_name) or 'none'}")
    old = of_one_name[name].value
    of_one_name[name].value = ast.copy_location(ast.parse(repr(value), mode="eval").body, old)
