"""The trial of an architecture, and the table of all trials."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import Gated
from torch import Tensor

from passhost_extract import Provenance
from passhost_extract.architectures import ARCHITECTURES, Architecture, __main__
from passhost_extract.architectures.trial import Trial, attempt


class Flattened(torch.nn.Module):
    """Its graph holds the batch size."""

    def forward(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[0] * 2, 4)


class Branching(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.exp() if x.sum() > 0 else x


def architecture(model: type[torch.nn.Module]) -> Architecture:
    def build() -> tuple[torch.nn.Module, dict[str, Any]]:
        return model().eval(), {"x": torch.randn(2, 8)}

    return Architecture(Provenance(model.__name__, "tests"), build)


def test_a_good_architecture_is_written_and_counted(tmp_path: Path) -> None:
    trial = attempt(architecture(Gated), tmp_path)
    assert trial == Trial("tests/Gated", operations=7, arguments=5, results=1, difference=0.0, same_hash=True, drawn=True, batch=True)
    assert trial.good
    assert "([S0, 8]" in (tmp_path / "tests/Gated/input_tensor_constraints.py").read_text()


def test_a_batch_size_in_the_graph_is_fixed(tmp_path: Path) -> None:
    trial = attempt(architecture(Flattened), tmp_path)
    assert trial.good and not trial.batch
    assert "([2, 8]" in (tmp_path / "tests/Flattened/input_tensor_constraints.py").read_text()


def test_a_refused_architecture_keeps_the_reason(tmp_path: Path) -> None:
    trial = attempt(architecture(Branching), tmp_path)
    assert not trial.good and "Branching can't be captured as one graph: Data-dependent branching" in trial.refusal
    assert list(tmp_path.iterdir()) == []


def test_the_names_of_architectures_differ() -> None:
    names = [one.name for one in ARCHITECTURES]
    assert len(set(names)) == len(names)


def test_a_run_goes_on_where_it_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(__main__, "ARCHITECTURES", [architecture(Gated), architecture(Branching)])
    table = tmp_path / "table.md"
    monkeypatch.setattr(sys, "argv", ["", "--out", str(tmp_path), "--table", str(table), "--only", "Gated"])
    assert __main__.main() == 0
    assert "1 of 1 architectures (7 operations) are extracted whole" in table.read_text() and "1 weren't tried" in table.read_text()
    capsys.readouterr()

    monkeypatch.setattr(sys, "argv", ["", "--out", str(tmp_path), "--table", str(table), "--resume"])
    assert __main__.main() == 0
    printed = capsys.readouterr().out
    assert "tests/Gated" not in printed and "tests/Branching" in printed
    assert "1 of 2 architectures" in table.read_text() and "1 are refused.\n" in table.read_text()
    rows = table.read_text().splitlines()[-2:]
    assert rows[0] == "| `tests/Gated` | 7 | 5 | 1 | 0 | yes | run | `S0` | extracted |"
    assert rows[1].startswith("| `tests/Branching` | | | | | | | | refused: Branching can't be captured as one graph")
