"""The text of `model.py`, and its hash."""

from __future__ import annotations

import ast
import hashlib

from torch import fx

from .errors import ExtractError

# Names that a module's code may use without being its own values, with the import that brings each in.
_IMPORTS = {"device": "from torch import device", "inf": "from torch import inf", "nan": "from torch import nan"}
_BUILTINS = {"torch", "slice", "Ellipsis", "getattr", "float", "int", "bool"}


def model_text(graph: fx.Graph) -> str:
    """A module whose class `GraphModule` holds `graph` as the straight-line body of `forward`, one statement a line.

    A value computed here is set to None behind its last use, as eager Python would free it. Arguments aren't: the caller holds them.

    Raises `ExtractError` when the graph calls something outside torch.
    """
    function = ast.parse(graph.python_code("self").src).body[-1]
    assert isinstance(function, ast.FunctionDef)
    arguments = {argument.arg for argument in function.args.args}
    body = [line for statement in function.body for line in _lines(statement, arguments)]

    names = {node.id for statement in body for node in ast.walk(statement) if isinstance(node, ast.Name)}
    own = arguments | {node.name for node in graph.nodes}
    foreign = sorted(names - own - _BUILTINS - _IMPORTS.keys())
    if foreign:
        raise ExtractError(f"the graph calls {', '.join(foreign)}, which isn't part of torch; cut around it")

    imports = ["import torch"] + [line for name, line in _IMPORTS.items() if name in names]
    signature = ", ".join(argument.arg for argument in function.args.args)
    lines = [*imports, "", "class GraphModule(torch.nn.Module):", "", f"    def forward({signature}):"]
    lines += [f"        {ast.unparse(statement)}" for statement in body]
    return "\n".join(lines) + "\n"


def canonical_text(text: str) -> str:
    """What the hash covers: `forward` of a `model.py` that `model_text` wrote, from its `def` to its `return`.

    Indentation and the statements that only set values to None are dropped; lines are joined by a line feed, with none at the end.
    Names need no treatment: they already count arguments and values in order.
    """
    stripped = [line.strip() for line in text.splitlines()]
    start = next(index for index, line in enumerate(stripped) if line.startswith("def forward("))
    return "\n".join(line for line in stripped[start:] if line and not line.endswith(" = None"))


def graph_hash(text: str) -> str:
    """SHA-256 of `canonical_text(text)` in UTF-8, in lower-case hexadecimal."""
    return hashlib.sha256(canonical_text(text).encode()).hexdigest()


def _lines(statement: ast.stmt, arguments: set[str]) -> list[ast.stmt]:
    """FX's statement in the form of the layout: without the freeing of arguments."""
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant) and statement.value.value is None:
        statement.targets = [target for target in statement.targets if not (isinstance(target, ast.Name) and target.id in arguments)]
        return [statement] if statement.targets else []
    return [statement]
