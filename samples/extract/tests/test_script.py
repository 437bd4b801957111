"""What a script that extracts prints: what came of each call, or one line that says what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MODEL = """import torch
from passhost_extract import extract

class M(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) + 1

model = M().eval()
"""


def run(script: str, folder: Path) -> tuple[int, str, str]:
    file = folder / "make.py"
    file.write_text(MODEL + script)
    done = subprocess.run([sys.executable, str(file)], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr.replace(str(file), "make.py")


def test_each_call_says_how_many_variants_there_are(tmp_path: Path) -> None:
    calls = 'run = extract("relu", out="my-samples")(model)\nfor rows in (2, 2, 5):\n    run(torch.randn(rows, 3))\n'
    said = "my-samples/relu: 1 variant\nmy-samples/relu: 1 variant\nmy-samples/relu: 2 variants\n"
    assert run(calls, tmp_path) == (0, said, "")


@pytest.mark.parametrize(
    ("script", "code", "message"),
    [
        ('extract("relu")(model)', 0, "relu: nothing was extracted; call the model that extract() returned"),
        ('extract("relu", out="my-samples")', 0, "my-samples/relu: nothing was extracted; call the model that extract() returned"),
        ("extract(model)", 1, 'error: make.py:9: M stands where the name belongs; the name comes first: extract("my-model")(model)'),
        ('extract(out="here")(model)', 1, 'error: make.py:9: no name is given; the name comes first: extract("my-model")(model)'),
        (
            'extract("relu")(M)(torch.ones(3))',
            1,
            "error: make.py:9: expected a model or a function that can be called with tensors, found <class '__main__.M'>; pass an instance",
        ),
    ],
)
def test_a_script_that_extracts_nothing_says_why_in_a_line(tmp_path: Path, script: str, code: int, message: str) -> None:
    assert run(script, tmp_path) == (code, "", f"{message}\n")


def test_any_other_error_is_shown_as_python_shows_it(tmp_path: Path) -> None:
    code, out, error = run('extract("relu")(model)("three")', tmp_path)
    assert (code, out) == (1, "")
    assert error.startswith("Traceback (most recent call last):\n") and "nothing was extracted" not in error
