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
    """What the hash covers: `forward` of a `model.py`, from its `def` to its `return`, as `model_text` would write it with plain names.

    Arguments are called `in_0`, `in_1`, ... and values `tmp_0`, `tmp_1`, ..., in order. Statements that only set values to None are
    dropped. Lines have no indentation and are joined by a line feed, with none at the end.
    """
    forward = next(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef) and node.name == "forward")
    statements = [statement for statement in forward.body if not _is_free(statement)]
    arguments = [argument.arg for argument in forward.args.args[1:]]
    values = dict.fromkeys(name for statement in statements for name in _assigned(statement) if name not in arguments)
    names = {name: f"in_{index}" for index, name in enumerate(arguments)} | {name: f"tmp_{index}" for index, name in enumerate(values)}
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                node.id = names.get(node.id, node.id)
    signature = ", ".join(["self", *(names[name] for name in arguments)])
    return "\n".join([f"def forward({signature}):", *map(ast.unparse, statements)])


def graph_hash(text: str) -> str:
    """SHA-256 of `canonical_text(text)` in UTF-8, in lower-case hexadecimal."""
    return hashlib.sha256(canonical_text(text).encode()).hexdigest()


def _is_free(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant) and statement.value.value is None


def _assigned(statement: ast.stmt) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _lines(statement: ast.stmt, arguments: set[str]) -> list[ast.stmt]:
    """FX's statement in the form of the layout: without the freeing of arguments."""
    if _is_free(statement):
        assert isinstance(statement, ast.Assign)
        statement.targets = [target for target in statement.targets if not (isinstance(target, ast.Name) and target.id in arguments)]
        return [statement] if statement.targets else []
    return [statement]
