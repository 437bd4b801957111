"""The tools of an episode, as a model is told of them, and calls of them in plain text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Tool:
    """A tool: what it does, and its arguments, all of which are texts."""

    name: str
    description: str
    required: Mapping[str, str] = field(default_factory=dict)
    optional: Mapping[str, str] = field(default_factory=dict)

    @property
    def schema(self) -> dict[str, Any]:
        """In the form of OpenAI's function calls."""
        described = {**self.required, **self.optional}
        properties = {name: {"type": "string", "description": text} for name, text in described.items()}
        parameters = {"type": "object", "properties": properties, "required": list(self.required)}
        function = {"name": self.name, "description": self.description, "parameters": parameters}
        return {"type": "function", "function": function}


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "show_graph",
            "Prints the graphs of the sample as text.",
            optional={"variant": "part of the name of the variants to print; the first one if absent"},
        ),
        Tool(
            "show_refusals",
            "Says which nodes the pass left alone in the last evaluation, and why; also what it logged.",
        ),
        Tool(
            "write_pass",
            "Replaces the source of the pass: one Rust file, all of it. Nothing is compiled yet.",
            required={"source": "the whole file, with `use` lines and `register!`"},
        ),
        Tool("build", "Compiles the source, and says what the compiler has against it."),
        Tool(
            "check",
            "Runs the pass on every graph of the sample and verifies the graphs that it returns; measures nothing.",
        ),
        Tool(
            "eval",
            "Evaluates the pass on the sample: whether its results are right, how fast they are, and the score. It "
            "builds and verifies the pass itself. The same source gets the same answer.",
        ),
        Tool(
            "read_guide",
            "Prints how to write a pass, or one section of that.",
            optional={"section": "part of the title of a section, such as `Errors`"},
        ),
        Tool(
            "ops",
            "Says of an op: its schemas, whether a rewrite may call it, and what the SDK makes of it.",
            required={"name": "the op, as `gelu`, `aten::add` or `aten::add.Tensor`"},
        ),
        Tool(
            "submit",
            "Hands in the source as it is, or with `which` = `best` the evaluated pass with the highest score, and "
            "ends the episode. Its score is that of the episode.",
            optional={"which": "`best`, or `current`, which it is if absent"},
        ),
    )
}

#: How a model is told to call tools in plain text.
INSTRUCTIONS = (
    "Call a tool by a fenced block of the language `tool` that holds one JSON object, such as\n\n"
    '```tool\n{"name": "show_graph", "arguments": {}}\n```\n\n'
    "Write the pass as a block of the language `rust`: it is the same as a call of `write_pass`. Several blocks in one "
    "message are executed in their order. The tools are:\n\n"
    + "\n".join(
        f"- `{tool.name}`: {tool.description}"
        + (
            f" Takes {', '.join(f'`{name}`' for name in [*tool.required, *tool.optional])}."
            if tool.required or tool.optional
            else ""
        )
        for tool in TOOLS.values()
    )
)

#: What a model is told that called nothing.
NOTHING_CALLED = (
    "Your message called no tool, and nothing happened. To go on, call a tool by a block of the language `tool`; "
    "`submit` ends the episode."
)

#: Calls that are taken of one message.
_CALLS = 16


@dataclass(frozen=True)
class Call:
    """A call in a message. One that cannot be read says why."""

    name: str
    arguments: Mapping[str, Any]
    wrong: str | None = None


def read_calls(message: str) -> list[Call]:
    """The calls in a message, in their order.

    They are fenced blocks of the language `tool` or `rust`, as INSTRUCTIONS says, or JSON between `<tool_call>` and
    `</tool_call>`, as many models write it unasked. A block that does not end is none.
    """
    calls: list[Call] = []
    language, body = None, list[str]()
    for line in message.splitlines():
        word = line.strip()
        if language is None:
            if word.startswith("```"):
                language, body = word[3:].strip(), []
            elif word.startswith("<tool_call>"):
                language, word = "<tool_call>", word.removeprefix("<tool_call>")
                body = [word]
        elif language != "<tool_call>" and word.startswith("```"):
            calls += _call(language, "\n".join([*body, ""]))
            language = None
            continue
        else:
            body.append(line)
        if language == "<tool_call>" and word.endswith("</tool_call>"):
            calls += _call("tool", "\n".join(body).strip().removesuffix("</tool_call>"))
            language = None
    return calls[:_CALLS]


def _call(language: str, body: str) -> list[Call]:
    if language == "rust":
        return [Call("write_pass", {"source": body})]
    if language != "tool":
        return []
    try:
        value = json.loads(body)
    except ValueError as error:
        return [Call("", {}, f"a call is no JSON ({error})")]
    except RecursionError:
        return [Call("", {}, "a call has too many objects in objects")]
    name = value.get("name") if isinstance(value, dict) else None
    arguments = (value.get("arguments") or {}) if isinstance(value, dict) else None
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return [Call("", {}, 'a call is not of the form {"name": "build", "arguments": {}}')]
    return [Call(name, arguments)]
