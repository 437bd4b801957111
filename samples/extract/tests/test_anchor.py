"""The anchor tasks are what `passhost_extract.anchor` writes; the small ones are written again here."""

from __future__ import annotations

from pathlib import Path

import pytest

from passhost_extract import anchor

SAMPLES = Path(__file__).parents[2]
SMALL = ("attention-bias-softmax-1x6x64x64", "add-layer-norm-1x197x768", "cat-reshape-transpose-mul-pad")


@pytest.mark.parametrize("one", [one for one in anchor.ANCHORS if one.name in SMALL], ids=lambda one: one.name)
def test_a_shipped_task_is_written_again(one: anchor.Anchor, tmp_path: Path) -> None:
    task, shipped = anchor.task(one).write(tmp_path), SAMPLES / anchor.FOLDER / one.name
    files = [path.relative_to(task) for path in sorted(task.rglob("*")) if path.is_file()]
    assert files == [path.relative_to(shipped) for path in sorted(shipped.rglob("*")) if path.is_file()]
    # Statistics may differ in the last digits on another kind of CPU.
    for file in files:
        if file.name != "weight_meta.py":
            assert (task / file).read_text() == (shipped / file).read_text(), file


def test_the_list_names_every_task_and_the_tasks_have_45_graphs() -> None:
    assert (SAMPLES / "anchor.txt").read_text() == anchor.task_list()
    graphs = [(SAMPLES / anchor.FOLDER / one.name / "graph_list.txt").read_text().split() for one in anchor.ANCHORS]
    assert sum(map(len, graphs)) == 45
