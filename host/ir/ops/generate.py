#!/usr/bin/env python3
"""Writes sample-ops.txt and insert-ops.txt from names.txt and the schemas of the installed PyTorch.

    python host/ir/ops/generate.py            writes both files
    python host/ir/ops/generate.py --check    exits with 1 if they are not what it would write
"""

import argparse
import pathlib
import re
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
LISTS = {"sample": ("sample",), "both": ("sample", "insert")}
HEADER = """\
# {title}
# Written by generate.py from names.txt and the schemas of PyTorch {version}. Edit names.txt instead.
"""
TITLES = {
    "sample": "ATen ops that may occur in a sample.",
    "insert": "ATen ops that a rewrite may insert.",
}


def reviewed(text):
    """Yields (section, list, op, overload), in-place variants included."""
    section = None
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        if line.startswith("["):
            section = line.strip("[]")
            continue
        op, lists, *overloads = line.split()
        lists, _, variant = lists.partition("+")
        if lists not in LISTS or variant not in ("", "inplace") or not overloads or section is None:
            sys.exit(f"names.txt:{number}: expected `op sample|both[+inplace] overload...`, found `{line}`")
        for overload in overloads:
            # `Tensor_Scalar:Scalar`: the in-place variant's overload has a name of its own.
            functional, _, in_place = overload.partition(":")
            for target in LISTS[lists]:
                yield section, target, op, functional.strip("-")
            if variant:
                yield section, "sample", op + "_", (in_place or functional).strip("-")


def schema(op, overload):
    name = f"aten::{op}"
    found = [s for s in torch._C._jit_get_schemas_for_operator(name) if s.overload_name == overload]
    if len(found) != 1:
        known = sorted(s.overload_name or "-" for s in torch._C._jit_get_schemas_for_operator(name))
        sys.exit(f"names.txt: {name} has no overload `{overload or '-'}`; the dispatcher knows {', '.join(known)}")
    # `int[2] padding=0` stands for a list; written out, defaults have the type of their argument.
    expand = lambda m: f"{m[1]}[{m[2]}] {m[3]}=[{', '.join([m[4]] * int(m[2]))}]"
    return re.sub(r"(\w+)\[(\d+)\] (\w+)=([\d.-]+)", expand, str(found[0]))


def render(target, entries):
    lines = [HEADER.format(title=TITLES[target], version=torch.__version__.split("+")[0])]
    sections = {}
    for section, wanted, op, overload in entries:
        if wanted == target:
            sections.setdefault(section, []).append((op, overload))
    for section, ops in sections.items():
        lines.append(f"\n# {section}\n")
        if len(set(ops)) != len(ops):
            sys.exit(f"names.txt: an op occurs twice in [{section}]")
        lines.extend(schema(*op) + "\n" for op in sorted(ops))
    return "".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    entries = list(reviewed((HERE / "names.txt").read_text()))
    stale = False
    for target in TITLES:
        path, text = HERE / f"{target}-ops.txt", render(target, entries)
        if not arguments.check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{path.name} is stale; run generate.py", file=sys.stderr)
            stale = True
    sys.exit(1 if stale else 0)


if __name__ == "__main__":
    main()
