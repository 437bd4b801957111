"""`python -m passhost_extract MODULE:NAME --input SIZES`: extract a model that a name leads to, without a script."""

from __future__ import annotations

import argparse
import ast
import os
import sys
import traceback
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from . import problems
from .errors import ExtractError
from .extract import extract
from .named_model import Returned, build, load
from .provenance import Provenance

DESCRIPTION = """\
Build the model that MODULE:NAME leads to, run it once on random inputs, and write its graph as a sample.
NAME is a torch.nn.Module, or a class or function that makes one; MODULE is found as by `import`, in the current folder too, or
is a file. Where it has functions that return what NAME and the model take, these can be named in place of values.
"""
EXAMPLES = """\
  python -m passhost_extract torchvision.models:resnet18 --input 1,3,224,224
  python -m passhost_extract timm:create_model --option model_name=vit_tiny_patch16_224 --input x=1,3,224,224 --name vit
  python -m passhost_extract my_model:Net --input tokens=2,32:1000 --dtypes float32,float16 --out samples
  python -m passhost_extract kernelbench KernelBench --level 1
  python -m passhost_extract definitions SOL-ExecBench
  python -m passhost_extract gpumode reference-kernels
  python -m passhost_extract softmax.py:Model --option 'get_init_inputs()' --input 'get_inputs()' --set batch_size=16
"""


def parse_input(text: str) -> tuple[str, Tensor] | Returned:
    """A tensor from `[NAME=]SIZES[:N]` and its name, `""` for a positional one: normal floats, or integers below N. `FUNCTION()` is
    what a function of the module returns."""
    if returned := parse_returned(text):
        return returned
    name, _, rest = text.rpartition("=")
    sizes, _, below = rest.partition(":")
    try:
        shape = [int(size) for size in sizes.split(",")]
        return name, torch.randint(int(below), shape) if below else torch.randn(shape)
    except (RuntimeError, ValueError) as error:
        message = f"{text!r} must be sizes, such as 1,3,224,224, x=1,64 or tokens=2,32:1000, or a function, such as 'get_inputs()'"
        raise argparse.ArgumentTypeError(message) from error


def parse_option(text: str) -> tuple[str, Any] | Returned:
    """`KEY=VALUE` or `FUNCTION()`, what a function of the module returns."""
    return parse_returned(text) or parse_value(text)


def parse_returned(text: str) -> Returned | None:
    """`FUNCTION()`."""
    name = text.removesuffix("()")
    return Returned(name) if name != text and name.isidentifier() else None


def parse_value(text: str) -> tuple[str, Any]:
    """`KEY=VALUE`, where VALUE is a Python literal or else a string."""
    key, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} must be KEY=VALUE, such as num_classes=10")
    try:
        return key, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return key, value


def arguments_of(given: list[tuple[str, Any] | Returned], module: ModuleType) -> tuple[list[Any], dict[str, Any]]:
    """What was given on the command line by position and by name."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for one in given:
        if isinstance(one, Returned):
            values, names = one.arguments(module)
        else:
            values, names = ([], {one[0]: one[1]}) if one[0] else ([one[1]], {})
        positional += values
        named |= names
    return positional, named


def argument_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m passhost_extract", description=DESCRIPTION, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", metavar="MODULE:NAME")
    parser.add_argument(
        "--input",
        dest="inputs",
        action="append",
        default=[],
        type=parse_input,
        metavar="[NAME=]SIZES[:N]",
        help="an argument of the model, such as 1,3,224,224: normal floats; with :N integers below N; once for each argument. "
        "FUNCTION() stands for all that a function of the module returns",
    )
    parser.add_argument(
        "--option",
        dest="options",
        action="append",
        default=[],
        type=parse_option,
        metavar="KEY=VALUE",
        help="what NAME is called with, a Python literal; FUNCTION() stands for all that a function of the module returns",
    )
    parser.add_argument(
        "--set",
        dest="numbers",
        action="append",
        default=[],
        type=parse_value,
        metavar="KEY=VALUE",
        help="what the file gives KEY at its top level, other than in its text, such as batch_size=16; what follows from it follows",
    )
    parser.add_argument("--training", action="store_true", help="leave the model in training mode")
    parser.add_argument("--name", help="what the sample is called; NAME if not given")
    parser.add_argument("--out", default=".", help="the folder that gets the sample's; the current one if not given")
    parser.add_argument("--dtypes", type=lambda text: text.split(","), help="such as float32,float16; that of the model if not given")
    return parser


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and arguments[0] in ("definitions", "gpumode", "kernelbench"):
        return problems.main(arguments[0], arguments[1:])
    torch.manual_seed(0)
    given = argument_parser().parse_args(arguments)
    path = given.model
    name, numbers = given.name or path.rpartition(":")[2], dict(given.numbers)
    try:
        module, made_by = load(path, numbers)
        positional, options = arguments_of(given.options, module)
        model = build(path, module, made_by, positional, options, given.training)
        provenance = Provenance(name, source=module.__name__.partition(".")[0], model_options={**options, **numbers})
        run = extract(name, out=given.out, dtypes=given.dtypes, training=given.training, provenance=provenance)(model)
        values, names = arguments_of(given.inputs, module)
        run(*values, **names)
    except ExtractError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except Exception as error:
        # The model's own line, not that of torch below it.
        frames = traceback.extract_tb(error.__traceback__)
        frame = [frame for frame in frames if not frame.filename.startswith(f"{torch.__path__[0]}{os.sep}")][-1]
        where = f"{frame.filename}:{frame.lineno}: `{frame.line}`"
        print(f"error: {path} fails on these inputs ({where}): {error}; give others with --input", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
