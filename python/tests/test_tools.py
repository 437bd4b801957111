"""Tools as models are told of them, and how calls are read."""

import importlib
import inspect
import json
import pathlib
import subprocess
import sys

import pytest

from passhost import EpisodeLost
from passhost.tools import INSTRUCTIONS, TOOLS, read_calls
from passhost.trl import PassEnvironment
from scripted import VERDICT, observation, websocket
from test_environment import FIRST, LAST, script

ROOT = pathlib.Path(__file__).parents[2]


def test_the_tools_are_those_of_the_server_in_its_words():
    described = json.loads((ROOT / "host/apps/agent-tools/src/tools.json").read_text())
    assert [tool["name"] for tool in described] == list(TOOLS)
    for told, tool in zip(described, TOOLS.values(), strict=True):
        assert tool.name == "submit" or tool.description == told["text"], tool.name
        properties = {name: schema["description"] for name, schema in told["parameters"]["properties"].items()}
        assert properties == {**tool.required, **tool.optional}, tool.name
        assert told["parameters"]["required"] == list(tool.required), tool.name


@pytest.mark.parametrize(
    ("message", "calls"),
    [
        ("I cannot help with that.", []),
        ("First\n```rust\nfn main() {}\n```\nthen\n", [("write_pass", {"source": "fn main() {}\n"})]),
        ('  ```tool\n{"name": "build"}\n```\n```text\n{"name": "eval"}\n```', [("build", {})]),
        ('```tool\n{"name": "read_guide", "arguments": {"section": "a"}}\n```', [("read_guide", {"section": "a"})]),
        ('```tool\n{"name": "build", "arguments": null}\n```', [("build", {})]),
        ('```tool\n{"name": "submit"}', []),
        ('<tool_call>\n{"name": "check", "arguments": {}}\n</tool_call>', [("check", {})]),
        ('<tool_call>{"name": "check"}</tool_call> <x>\n', []),
        ('<tool_call>{"name": "check"}</tool_call>\n```tool\n{"name": "eval"}\n```', [("check", {}), ("eval", {})]),
        (
            '<tool_call>{"name": "write_pass", "arguments": {"source": "```rust\\n```"}}</tool_call>',
            [("write_pass", {"source": "```rust\n```"})],
        ),
        ("```rust\n<tool_call>\n```", [("write_pass", {"source": "<tool_call>\n"})]),
    ],
)
def test_calls_are_read_in_their_order(message, calls):
    assert [(call.name, call.arguments) for call in read_calls(message)] == calls


@pytest.mark.parametrize(
    "body", ["nonsense", "[]", '{"arguments": {}}', '{"name": "build", "arguments": [1]}', '"build"']
)
def test_a_call_that_is_none_says_why(body):
    (call,) = read_calls(f"```tool\n{body}\n```")
    assert call.wrong and call.name == ""


def test_the_instructions_are_read_as_they_are_written():
    assert [call.name for call in read_calls(INSTRUCTIONS)] == ["show_graph"]
    assert "- `write_pass`: Replaces" in INSTRUCTIONS and "Takes `source`." in INSTRUCTIONS
    assert len(read_calls("```tool\n{}\n```\n" * 100)) == 16


def test_the_methods_of_the_trl_environment_are_the_tools():
    members = inspect.getmembers(PassEnvironment, predicate=inspect.isfunction)
    methods = {name: method for name, method in members if not name.startswith("_")}
    assert set(methods) == {*TOOLS, "reset", "get_reward"}
    for name, tool in TOOLS.items():
        documentation = " ".join(inspect.getdoc(methods[name]).split())
        assert documentation.startswith(tool.description)
        parameters = list(inspect.signature(methods[name]).parameters)[1:]
        assert parameters == [*tool.required, *tool.optional]
        for argument, text in {**tool.required, **tool.optional}.items():
            assert f"{argument}: {text[0].upper()}{text[1:]}." in documentation


def test_the_trl_environment_plays_episodes():
    verdict = observation("verdict: WRONG", 0.05, tool="eval", verdict={**VERDICT, "right": False})
    talk, heard = script(FIRST, verdict, LAST, FIRST, None)
    with websocket(talk) as url:
        environment = PassEnvironment(url)
        assert environment.get_reward() == 0.0
        assert environment.reset(sample="chain", prompt=[{"role": "user", "content": ""}], id=7) == "the task"
        assert environment.eval() == "verdict: WRONG" and environment.get_reward() == 1.5, "what was evaluated last"
        assert environment.submit() == "verdict: RIGHT"
        assert "has ended" in environment.build()
        assert environment.get_reward() == pytest.approx(1.45)
        environment.reset("chain")
        with pytest.raises(EpisodeLost):
            environment.build()
        with pytest.raises(EpisodeLost):
            environment.get_reward()
    assert [message["type"] for message in heard] == ["reset", "step", "step", "reset", "step"]


def test_a_lost_episode_may_be_paid_for():
    talk, _ = script(FIRST, None)
    with websocket(talk) as url:
        environment = PassEnvironment(url, lost_reward=0.25)
        environment.reset("chain")
        with pytest.raises(EpisodeLost):
            environment.build()
        assert environment.get_reward() == 0.25


def test_the_configuration_for_verl_declares_every_tool():
    text = (ROOT / "python/passhost/verl_tools.yaml").read_text()
    declared = [line.split("tool: ")[1].rstrip("}") for line in text.splitlines() if "type: native" in line]
    assert sorted(declared) == sorted(TOOLS)


@pytest.mark.parametrize("module", ["verl", "skyrl"])
def test_a_framework_that_is_missing_is_named(module):
    if importlib.util.find_spec({"skyrl": "skyrl_gym"}.get(module, module)):
        pytest.skip(f"{module} is installed")
    with pytest.raises(ImportError, match=rf"pip install 'passhost\[{module}\]'"):
        importlib.import_module(f"passhost.{module}")


def test_importing_the_package_imports_no_framework():
    code = "import passhost, passhost.trl, sys, json; print(json.dumps(sorted(sys.modules)))"
    modules = json.loads(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)
    assert not {"trl", "transformers", "torch", "verl", "skyrl_gym", "pydantic"} & set(modules)
