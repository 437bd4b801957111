"""Why a model isn't one graph, in one sentence."""

from __future__ import annotations

import re

import torch._dynamo

# Enough for every reason that PyTorch words; expressions over sizes that depend on data can fill pages.
_LONGEST = 240


def describe_failure(name: str, error: torch._dynamo.exc.TorchDynamoException) -> str:
    """What Dynamo met while it traced `name`, where, and what to do.

    Dynamo's own text is a page: a reason, an explanation, hints to its developers. The reason, the explanation and the innermost
    line of the model's code say what a user can act on.
    """
    said = _said(str(error).partition("from user code:")[0]) or type(error).__name__
    if isinstance(error, torch._dynamo.exc.TorchRuntimeError):
        return f"{name} fails on these inputs: {said}{_where(error)}"
    advice = "Rewrite that line, or extract the module or function that holds the part you want"
    return f"{name} can't be captured as one graph: {said}{_where(error)}. {advice}"


def _said(text: str) -> str:
    if match := re.search(r"Could not \w+.*? data-dependent expression (.*?)(?: \(unhinted|\n|$)", text):
        return _short(f"the values of a tensor decide what runs or how large a result is, by the expression {match[1]}")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    explanations = [line.removeprefix("Explanation: ") for line in lines if line.startswith("Explanation: ")]
    return ". ".join(_short(line.rstrip(".")) for line in [*lines[:1], *explanations[:1]])


def _short(line: str) -> str:
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


def _where(error: torch._dynamo.exc.TorchDynamoException) -> str:
    stack = getattr(error, "real_stack", None)
    if not stack:
        return ""
    frame = stack[-1]
    return f" (in {frame.name}, {frame.filename}:{frame.lineno}: `{frame.line}`)"
