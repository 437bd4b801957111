"""The shipped tasks are what the recipes write: graphs and shapes exactly, statistics to within the arithmetic of another CPU."""

from __future__ import annotations

import ast
import dataclasses
import functools
import math
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from conftest import load_meta

pytest.importorskip("timm")
pytest.importorskip("transformers")

from passhost_extract import graph_hash, recipes

SAMPLES = Path(__file__).parents[2]
UNPACKED = tempfile.TemporaryDirectory()


@functools.cache
def unpacked(name: str) -> Path:
    """A shipped task as a directory; `samples/README.md` has the format of its file."""
    lines = (SAMPLES / name).read_bytes().decode().split("\n")
    assert lines[0] == "passhost task 1" and lines[-2:] == ["end", ""]
    paths: list[str] = []
    at = 1
    while lines[at] != "end":
        word, rest = lines[at].split(" ", 1)
        at += 1
        if word == "file":
            paths.append(rest)
            continue
        count, unended = int(rest.removesuffix(" unended")), rest.endswith(" unended")
        text = "\n".join(lines[at : at + count]) + ("" if unended or not count else "\n")
        at += count
        for path in paths:
            file = Path(UNPACKED.name) / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        paths = []
    return Path(UNPACKED.name) / name


def shipped(recipe: recipes.Recipe) -> tuple[list[Path], list[Path]]:
    """The graph folders of a shipped task in its small and in its large shape, one a dtype each."""
    task = unpacked(recipe.name)
    folders = [task / line for line in (task / "graph_list.txt").read_text().split()]
    return folders[::2], folders[1::2]


@pytest.mark.parametrize("recipe", recipes.RECIPES, ids=lambda recipe: recipe.name)
def test_a_recipe_writes_the_small_shape_of_the_shipped_task(recipe: recipes.Recipe, tmp_path: Path) -> None:
    # The large shapes take a quarter of an hour: samples/README.md says how to compare all of it.
    task = recipes.task(dataclasses.replace(recipe, cases=recipe.cases[:1])).write(tmp_path)
    written = [task / line for line in (task / "graph_list.txt").read_text().split()]
    for new, old in zip(written, shipped(recipe)[0], strict=True):
        assert (new.parts[-3], new.parts[-1]) == (old.parts[-3], old.parts[-1])
        for file in ("model.py", "graph_hash.txt", "graph_net.json", "input_meta.py"):
            assert (new / file).read_text() == (old / file).read_text(), old / file
        compare_meta(load_meta(new / "weight_meta.py"), load_meta(old / "weight_meta.py"))


def compare_meta(written: list[dict[str, Any]], shipped: list[dict[str, Any]]) -> None:
    for new, old in zip(written, shipped, strict=True):
        for key in ("name", "original_name", "shape", "dtype", "device", "data"):
            assert new[key] == old[key], key
        for key in ("mean", "std", "min_val", "max_val"):
            # Integers have no mean.
            if new.get(key) is None or old.get(key) is None:
                assert new.get(key) == old.get(key), (new["name"], key)
            else:
                assert math.isclose(new[key], old[key], rel_tol=1e-3, abs_tol=1e-4), (new["name"], key)


@pytest.mark.parametrize("recipe", recipes.RECIPES, ids=lambda recipe: recipe.name)
def test_the_files_of_a_shipped_graph_fit_together(recipe: recipes.Recipe) -> None:
    for small, large in zip(*shipped(recipe), strict=True):
        for folder in (small, large):
            assert (folder / "graph_hash.txt").read_text() == graph_hash((folder / "model.py").read_text())
            symbols, shapes = load_constraints(folder / "input_tensor_constraints.py")
            metas = load_meta(folder / "weight_meta.py")
            assert [([symbols.get(size, size) for size in shape], name) for shape, name in shapes] == [
                (meta["shape"], meta["name"]) for meta in metas
            ]
            label = "_".join(f"{symbol.lower()}-{value}" for symbol, value in symbols.items())
            assert folder.parts[-2] == label or folder.parts[-2].startswith("shape-")
        described = [
            [(meta["name"], meta["original_name"], meta["dtype"]) for meta in load_meta(one / "weight_meta.py")] for one in (small, large)
        ]
        assert described[0] == described[1]


def load_constraints(path: Path) -> tuple[dict[str, int], list[tuple[list[int | str], str]]]:
    """The symbols of an `input_tensor_constraints.py` with their values, and the shape of each argument."""
    assignments = {
        statement.targets[0].id: statement.value
        for statement in ast.parse(path.read_text()).body
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
    }
    examples = ast.unparse(assignments["dynamic_dim_constraint_symbol2example_value"])
    shapes = ast.unparse(assignments["dynamic_dim_constraint_input_shapes"])
    quoted = [re.sub(r"\b(S\d+)\b", r"'\1'", text) for text in (examples, shapes)]
    return ast.literal_eval(quoted[0]), ast.literal_eval(quoted[1])


def _bytes(folder: Path) -> list[int]:
    widths = {"torch.float32": 4, "torch.float16": 2, "torch.bfloat16": 2, "torch.int64": 8}
    return [math.prod(meta["shape"]) * widths[meta["dtype"]] for meta in load_meta(folder / "weight_meta.py")]


def test_each_task_has_a_small_and_a_large_shape_in_each_dtype() -> None:
    largest = {}
    for recipe in recipes.RECIPES:
        small_folders, large_folders = shipped(recipe)
        assert [folder.parts[-3] for folder in small_folders + large_folders] == list(recipes.DTYPES) * 2
        small, large = (max(_bytes(folders[0])) for folders in (small_folders, large_folders))
        assert small < 300_000 and large > 4_000_000, (recipe.name, small, large)
        largest[recipe.name] = large
    # Few enough that evaluating all of them takes minutes, and all within the memory of a small machine.
    assert sorted(size for size in largest.values() if size > 100_000_000) == [134_217_728, 154_927_104, 308_281_344]


def test_the_list_names_every_shipped_task() -> None:
    assert (SAMPLES / "reference.txt").read_text() == recipes.task_list()
