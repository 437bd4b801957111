#!/usr/bin/env python3
"""Writes schemas.txt from table.txt and the schemas of the installed PyTorch.

    python host/core/ir/ops/generate.py            writes the file
    python host/core/ir/ops/generate.py --check    exits with 1 if it is not what it would write
"""

import argparse
import pathlib
import re
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
LISTS = {"sample": "sample", "both": "insert", "training": "training"}
HEADER = """\
# ATen ops, each with what it may do: `sample`, occur in a sample; `insert`, be inserted by a rewrite as well;
# `training`, occur in a training step of torch.compile.
# Written by generate.py from table.txt and the schemas of PyTorch {version}. Edit table.txt instead.
"""


def reviewed(text):
    """Yields (section, mark, op, overload), in-place variants included."""
    section = None
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        if line.startswith("["):
            section = line.strip("[]")
            continue
        op, lists, *overloads = line.partition("|")[0].split()
        lists, _, variant = lists.partition("+")
        if lists not in LISTS or variant not in ("", "inplace") or not overloads or section is None:
            sys.exit(f"table.txt:{number}: expected `op sample|both|training[+inplace] overload... | class property...`, found `{line}`")
        for overload in overloads:
            # `Tensor_Scalar:Scalar`: the in-place variant's overload has a name of its own.
            functional, _, in_place = overload.partition(":")
            yield section, LISTS[lists], op, functional.strip("-")
            if variant:
                yield section, "sample", op + "_", (in_place or functional).strip("-")


def schema(op, overload):
    name = f"aten::{op}"
    found = [s for s in torch._C._jit_get_schemas_for_operator(name) if s.overload_name == overload]
    if len(found) != 1:
        known = sorted(s.overload_name or "-" for s in torch._C._jit_get_schemas_for_operator(name))
        sys.exit(f"table.txt: {name} has no overload `{overload or '-'}`; the dispatcher knows {', '.join(known)}")
    # `int[2] padding=0` stands for a list; written out, defaults have the type of their argument.
    expand = lambda m: f"{m[1]}[{m[2]}] {m[3]}=[{', '.join([m[4]] * int(m[2]))}]"
    return re.sub(r"(\w+)\[(\d+)\] (\w+)=([\d.-]+)", expand, str(found[0]))


def render(entries):
    lines = [HEADER.format(version=torch.__version__.split("+")[0])]
    sections = {}
    for section, mark, op, overload in entries:
        sections.setdefault(section, {})
        if (op, overload) in sections[section]:
            sys.exit(f"table.txt: {op}.{overload} occurs twice in [{section}]")
        sections[section][op, overload] = mark
    for section, ops in sections.items():
        lines.append(f"\n# {section}\n")
        lines.extend(f"{mark} {schema(*op)}\n" for op, mark in sorted(ops.items()))
    return "".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    path, text = HERE / "schemas.txt", render(list(reviewed((HERE / "table.txt").read_text())))
    if not arguments.check:
        path.write_text(text)
    elif not path.exists() or path.read_text() != text:
        sys.exit(f"{path.name} is stale; run generate.py")


if __name__ == "__main__":
    main()
