"""`python -m passhost_extract`: a model by its name, and what is said when there is none."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from pathlib import Path

import pytest
import torch
from conftest import load_meta

from passhost_extract.__main__ import main, parse_input


@pytest.fixture
def my_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module `my_model`, which is the current one, as for a user who has just written that file."""
    text = """
        import torch

        class Embedded(torch.nn.Module):
            def __init__(self, width: int) -> None:
                super().__init__()
                self.embedding = torch.nn.Embedding(50, width)

            def forward(self, tokens, scale):
                return self.embedding(tokens) * scale

        made = Embedded(4)
        number = 3

        def branching():
            class Branching(torch.nn.Module):
                def forward(self, x):
                    return x.exp() if x.sum() > 0 else x
            return Branching()
    """
    (tmp_path / "my_model.py").write_text(textwrap.dedent(text))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "my_model", raising=False)
    return tmp_path


def test_one_command_writes_a_sample(my_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--option", "width=8", "--input", "2,5:50", "--input", "scale=8", "--dtypes", "float32,float16", "--out", "samples"]
    assert main(["my_model:Embedded", *arguments]) == 0
    assert capsys.readouterr().out == "samples/Embedded\n"
    folders = (my_model / "samples/Embedded/graph_list.txt").read_text().splitlines()
    assert folders == ["graphs/subgraphs/float32/s-fixed/Embedded", "graphs/subgraphs/float16/s-fixed/Embedded"]
    tokens, weight, scale = load_meta(my_model / "samples/Embedded" / folders[1] / "weight_meta.py")
    assert tokens["shape"] == [2, 5] and tokens["dtype"] == "torch.int64" and 0 <= tokens["min_val"] <= tokens["max_val"] < 50
    assert (weight["shape"], scale["shape"], scale["dtype"]) == ([50, 8], [8], "torch.float16")
    graph_net = json.loads((my_model / "samples/Embedded" / folders[0] / "graph_net.json").read_text())
    assert (graph_net["source"], graph_net["model_name"], graph_net["model_options"]) == ("my_model", "Embedded", {"width": 8})


def test_a_model_that_a_module_holds_needs_no_options(my_model: Path) -> None:
    assert main(["my_model:made", "--input", "2,5:50", "--input", "4", "--name", "mine"]) == 0
    assert (my_model / "mine/graph_list.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["my_model"], "'my_model' must be MODULE:NAME, such as torchvision.models:resnet18; my_model.py is my_model:NAME"),
        (["my_model.py:made"], "'my_model.py:made' must be MODULE:NAME"),
        (["no_such_model:made"], "no_such_model:made: there is no module 'no_such_model'; install it, or go to the folder it is in"),
        (["my_model:absent"], "my_model:absent: the module my_model has no 'absent'"),
        (["my_model:number"], "my_model:number doesn't make a model: 'int' object is not callable"),
        (["my_model:Embedded"], "missing 1 required positional argument: 'width'; give what it needs as --option KEY=VALUE"),
        (
            ["torch:rand", "--option", "size=(3,)"],
            r"torch:rand is Tensor, and must be or make a torch.nn.Module; use extract\(\) for functions",
        ),
        (["my_model:made", "--option", "width=8"], "my_model:made is a model already, which --option width can't change"),
        (["torch:eye", "--option", "n=-1"], "torch:eye doesn't make a model: n must be greater or equal to 0"),
        (["my_model:made", "--name", "a/b"], "'a/b' becomes a folder"),
        (["my_model:made"], "missing 2 required positional arguments: 'tokens' and 'scale'; give others with --input"),
        (["my_model:made", "--input", "2:50", "--input", "3"], r"my_model.py:\d+: `return self.embedding.*The size of tensor a \(4\)"),
        (["my_model:branching", "--input", "3"], "Branching can't be captured as one graph: Data-dependent branching"),
    ],
)
def test_what_goes_wrong_is_said_in_a_line(my_model: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1
    assert re.search(message, error), error


@pytest.mark.parametrize(
    ("text", "name", "shape", "dtype"),
    [
        ("1,3,8,8", "", [1, 3, 8, 8], torch.float32),
        ("x=4", "x", [4], torch.float32),
        ("tokens=2,3:10", "tokens", [2, 3], torch.int64),
    ],
)
def test_an_input_is_spelled_by_its_sizes(text: str, name: str, shape: list[int], dtype: torch.dtype) -> None:
    given, value = parse_input(text)
    assert (given, list(value.shape), value.dtype) == (name, shape, dtype)


@pytest.mark.parametrize("arguments", [["--input", "1,x"], ["--input", "3:0"], ["--option", "width"]])
def test_arguments_that_cant_be_read_are_told_with_an_example(
    my_model: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["my_model:made", *arguments])
    assert stopped.value.code == 2
    assert f"{arguments[1]!r} must be" in capsys.readouterr().err
