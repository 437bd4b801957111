"""The README's tutorial, run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_tutorial_writes_the_sample_that_the_readme_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (make,) = (block for block in blocks if "class ScaledResidual" in block)
    (symbols,) = (block for block in blocks if "dynamic_dim_constraint_symbols" in block)
    (tmp_path / "make.py").write_text(make)
    monkeypatch.chdir(tmp_path)
    exec(compile(make, str(tmp_path / "make.py"), "exec"), {"__name__": "__main__"})

    sample = tmp_path / "my-samples/scaled-residual"
    folders = (sample / "graph_list.txt").read_text().splitlines()
    shown = re.findall(r"^(s0-\S+) +\d+ to \d+ ", README, re.MULTILINE)
    assert [Path(folder).parts[-2] for folder in folders] == shown
    written = (sample / folders[0] / "input_tensor_constraints.py").read_text().splitlines()
    assert symbols.splitlines() == [line for line in written if line and not line.startswith("from ")]
