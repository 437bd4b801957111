"""`python -m passhost_extract MODULE:NAME --input SIZES`: extract a model that a name leads to, without a script."""

from __future__ import annotations

import argparse
import ast
import os
import sys
import traceback
from typing import Any

import torch
from torch import Tensor

from .errors import ExtractError
from .extract import extract
from .named_model import build
from .provenance import Provenance

DESCRIPTION = """\
Build the model that MODULE:NAME leads to, run it once on random inputs, and write its graph as a sample.
NAME is a torch.nn.Module, or a class or function that makes one; MODULE is found as by `import`, in the current folder too.
"""
EXAMPLES = """\
  python -m passhost_extract torchvision.models:resnet18 --input 1,3,224,224
  python -m passhost_extract timm:create_model --option model_name=vit_tiny_patch16_224 --input x=1,3,224,224 --name vit
  python -m passhost_extract my_model:Net --input tokens=2,32:1000 --dtypes float32,float16 --out samples
"""


def parse_input(text: str) -> tuple[str, Tensor]:
    """A tensor from `[NAME=]SIZES[:N]` and its name, `""` for a positional one: normal floats, or integers below N."""
    name, _, rest = text.rpartition("=")
    sizes, _, below = rest.partition(":")
    try:
        shape = [int(size) for size in sizes.split(",")]
        return name, torch.randint(int(below), shape) if below else torch.randn(shape)
    except (RuntimeError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"{text!r} must be sizes, such as 1,3,224,224, x=1,64 or tokens=2,32:1000") from error


def parse_option(text: str) -> tuple[str, Any]:
    """`KEY=VALUE`, where VALUE is a Python literal or else a string."""
    key, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} must be KEY=VALUE, such as num_classes=10")
    try:
        return key, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return key, value


def main(arguments: list[str] | None = None) -> int:
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
        help="an argument of the model, such as 1,3,224,224: normal floats; with :N integers below N; once for each argument",
    )
    parser.add_argument(
        "--option", action="append", default=[], type=parse_option, metavar="KEY=VALUE", help="what NAME is called with; a Python literal"
    )
    parser.add_argument("--name", help="what the sample is called; NAME if not given")
    parser.add_argument("--out", default=".", help="the folder that gets the sample's; the current one if not given")
    parser.add_argument("--dtypes", type=lambda text: text.split(","), help="such as float32,float16; that of the model if not given")
    torch.manual_seed(0)
    given = parser.parse_args(arguments)
    name, options = given.name or given.model.rpartition(":")[2], dict(given.option)
    try:
        model = build(given.model, options)
        provenance = Provenance(name, source=given.model.partition(":")[0].partition(".")[0], model_options=options)
        run = extract(name, out=given.out, dtypes=given.dtypes, provenance=provenance)(model)
        run(*(value for key, value in given.inputs if not key), **{key: value for key, value in given.inputs if key})
    except ExtractError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except Exception as error:
        # The model's own line, not that of torch below it.
        frames = traceback.extract_tb(error.__traceback__)
        frame = [frame for frame in frames if not frame.filename.startswith(f"{torch.__path__[0]}{os.sep}")][-1]
        where = f"{frame.filename}:{frame.lineno}: `{frame.line}`"
        print(f"error: {given.model} fails on these inputs ({where}): {error}; give others with --input", file=sys.stderr)
        return 1
    print(f"{given.out}/{name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
