"""The anchor tasks are what `passhost_extract.anchor` writes; the small ones are written again here."""

from __future__ import annotations

from pathlib import Path

import pytest

from passhost_extract import anchor

SAMPLES = Path(__file__).parents[2]
SMALL = ("attention-bias-softmax-1x6x64x64", "add-layer-norm-1x197x768", "cat-reshape-transpose-mul-pad")


@pytest.mark.parametrize("one", [one for one in anchor.ANCHORS if one.name in SMALL], ids=lambda one: one.name)
def test_a_shipped_task_is_written_again(one: anchor.Anchor, tmp_path: Path) -> None:
    task, shipped = anchor.task(one).write(tmp_path), unpacked(SAMPLES / anchor.FOLDER / one.name)
    written = {str(path.relative_to(task)): path.read_text() for path in task.rglob("*") if path.is_file()}
    assert written.keys() == shipped.keys()
    # Statistics may differ in the last digits on another kind of CPU.
    for file in written:
        if not file.endswith("weight_meta.py"):
            assert written[file] == shipped[file], file


def test_the_list_names_every_task_and_the_tasks_have_45_graphs() -> None:
    assert (SAMPLES / "anchor.txt").read_text() == anchor.task_list()
    graphs = [unpacked(SAMPLES / anchor.FOLDER / one.name)["graph_list.txt"].split() for one in anchor.ANCHORS]
    assert sum(map(len, graphs)) == 45


def unpacked(sample: Path) -> dict[str, str]:
    """The files of a packed sample, by their paths."""
    # Behind the line that says what it is, and before the one that ends it.
    lines = iter(sample.read_text().splitlines()[1:-1])
    files: dict[str, str] = {}
    names: list[str] = []
    for line in lines:
        kind, *words = line.split(" ")
        if kind == "file":
            names.append(words[0])
            continue
        text = [next(lines) for _ in range(int(words[0]))]
        files |= dict.fromkeys(names, "\n".join(text if "unended" in words else [*text, ""]))
        names = []
    return files
