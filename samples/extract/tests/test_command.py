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
from passhost_extract.named_model import Returned


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
    assert capsys.readouterr().out == "samples/Embedded: 2 variants\n"
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


@pytest.fixture
def problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that holds a model, what it is made with and what goes into it, in a folder that isn't the current one."""
    text = """
        import torch

        class Model(torch.nn.Module):
            def __init__(self, features, momentum=0.1):
                super().__init__()
                self.norm = torch.nn.BatchNorm1d(features, momentum=momentum)

            def forward(self, x):
                return torch.nn.functional.dropout(self.norm(x), 0.0, self.training)

        batch_size = 4096
        width = 1024
        shape = (batch_size, 2 * width)

        def get_inputs():
            return [torch.rand(*shape)]

        def get_init_inputs():
            return [2 * width]

        def named():
            return {"features": 2 * width, "momentum": 0.5}

        def nothing():
            return None
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "problems").mkdir()
    file = tmp_path / "problems/33_BatchNorm.py"
    file.write_text(textwrap.dedent(text))
    return file


def shapes(sample: Path) -> dict[str, list[int]]:
    (folder,) = (sample / "graph_list.txt").read_text().splitlines()
    return {meta["original_name"]: meta["shape"] for meta in load_meta(sample / folder / "weight_meta.py")}


def test_a_file_says_what_its_model_takes_and_its_numbers_can_be_others(problem: Path, tmp_path: Path) -> None:
    sizes = ["--set", "batch_size=4", "--set", "width=8"]
    given = ["problems/33_BatchNorm.py:Model", "--option", "get_init_inputs()", "--input", "get_inputs()", *sizes]
    assert main([*given, "--name", "scaled"]) == 0
    assert shapes(tmp_path / "scaled")["L_x_"] == [4, 16]
    folder = tmp_path / "scaled" / (tmp_path / "scaled/graph_list.txt").read_text().strip()
    graph_net = json.loads((folder / "graph_net.json").read_text())
    assert (graph_net["source"], graph_net["model_options"]) == ("33_BatchNorm", {"batch_size": 4, "width": 8})
    assert "False, 0.1, 1e-05" in (folder / "model.py").read_text()


def test_options_come_from_a_function_by_name_and_training_stays_where_asked(problem: Path, tmp_path: Path) -> None:
    given = ["problems/33_BatchNorm.py:Model", "--option", "named()", "--set", "width=8", "--input", "3,16", "--training"]
    assert main([*given, "--name", "training"]) == 0
    folder = tmp_path / "training" / (tmp_path / "training/graph_list.txt").read_text().strip()
    assert "True, 0.5, 1e-05" in (folder / "model.py").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "depth=3"], r"problems/33_BatchNorm.py gives 'depth' no value at its top level; it has batch_size, width, shape"),
        (["--option", "absent()"], "the module 33_BatchNorm has no function 'absent'"),
        (["--option", "nothing()"], r"nothing\(\) of 33_BatchNorm returns NoneType, and must return a list of arguments, or a dict"),
    ],
)
def test_what_a_file_lacks_is_said(problem: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert main(["problems/33_BatchNorm.py:Model", *arguments]) == 1
    assert re.fullmatch(f"error: {message}\n", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("text", "message"),
    [("import no_such_module", "needs the module 'no_such_module', which is not installed"), ("x = (", "broken.py:1: '\\(' was never closed")],
)
def test_a_file_that_is_no_module_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str) -> None:
    (tmp_path / "broken.py").write_text(text)
    assert main([f"{tmp_path}/broken.py:Model"]) == 1
    assert re.search(message, capsys.readouterr().err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["my_model"], "'my_model' must be MODULE:NAME or FILE.py:NAME, such as torchvision.models:resnet18 or my_model.py:Net"),
        (["folder/my_model:made"], "'folder/my_model:made' must be MODULE:NAME or FILE.py:NAME"),
        (["absent.py:made"], "absent.py: No such file or directory"),
        (["my_model:made", "--set", "number=4"], "my_model:made: number can be set where the module is given as a file, FILE.py:NAME"),
        (["no_such_model:made"], "no_such_model:made: there is no module 'no_such_model'; install it, or go to the folder it is in"),
        (["my_model:absent"], "my_model:absent: the module my_model has no 'absent'"),
        (["my_model:Embeded"], "my_model:Embeded: the module my_model has no 'Embeded'; did you mean 'Embedded'\\?"),
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


def tensor_of(given: tuple[str, torch.Tensor] | Returned) -> tuple[str, torch.Tensor]:
    assert not isinstance(given, Returned)
    return given


@pytest.mark.parametrize(
    ("text", "name", "shape", "dtype"),
    [
        ("1,3,8,8", "", [1, 3, 8, 8], torch.float32),
        ("x=4", "x", [4], torch.float32),
        ("tokens=2,3:10", "tokens", [2, 3], torch.int64),
    ],
)
def test_an_input_is_spelled_by_its_sizes(text: str, name: str, shape: list[int], dtype: torch.dtype) -> None:
    given, value = tensor_of(parse_input(text))
    assert (given, list(value.shape), value.dtype) == (name, shape, dtype)


@pytest.mark.parametrize("arguments", [["--input", "1,x"], ["--input", "3:0"], ["--option", "width"]])
def test_arguments_that_cant_be_read_are_told_with_an_example(
    my_model: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["my_model:made", *arguments])
    assert stopped.value.code == 2
    assert f"{arguments[1]!r} must be" in capsys.readouterr().err
