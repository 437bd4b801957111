"""The shipped tasks are what the recipes write: graphs and shapes exactly, statistics to within the arithmetic of another CPU."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from conftest import load_meta

pytest.importorskip("timm")
pytest.importorskip("transformers")

from passhost_extract import recipes

SAMPLES = Path(__file__).parents[2]


@pytest.mark.parametrize("recipe", recipes.RECIPES, ids=lambda recipe: recipe.name)
def test_a_recipe_writes_the_shipped_task(recipe: recipes.Recipe, tmp_path: Path) -> None:
    written = recipes.task(recipe).write(tmp_path)
    shipped = SAMPLES / recipe.name
    files = {path.relative_to(written) for path in written.rglob("*") if path.is_file()}
    assert files == {path.relative_to(shipped) for path in shipped.rglob("*") if path.is_file()}
    for file in sorted(files):
        if file.name != "weight_meta.py":
            assert (written / file).read_text() == (shipped / file).read_text(), file
            continue
        for new, old in zip(load_meta(written / file), load_meta(shipped / file), strict=True):
            for key in ("name", "original_name", "shape", "dtype", "device", "data"):
                assert new[key] == old[key], (file, key)
            for key in ("mean", "std", "min_val", "max_val"):
                # Integers have no mean.
                values = new.get(key), old.get(key)
                assert values == (None, None) or math.isclose(*values, rel_tol=1e-3, abs_tol=1e-4), (file, new["name"], key)


def _bytes(folder: Path) -> list[int]:
    widths = {"torch.float32": 4, "torch.float16": 2, "torch.bfloat16": 2, "torch.int64": 8}
    return [math.prod(meta["shape"]) * widths[meta["dtype"]] for meta in load_meta(folder / "weight_meta.py")]


def test_each_task_has_a_small_and_a_large_shape_in_each_dtype() -> None:
    largest = {}
    for recipe in recipes.RECIPES:
        folders = [SAMPLES / recipe.name / line for line in (SAMPLES / recipe.name / "graph_list.txt").read_text().split()]
        assert [folder.parts[-3] for folder in folders] == [dtype for dtype in recipes.DTYPES for _ in range(2)]
        small, large = (max(_bytes(folder)) for folder in folders[:2])
        assert small < 300_000 and large > 4_000_000, (recipe.name, small, large)
        largest[recipe.name] = large
    # Few enough that evaluating all of them takes minutes, and all within the memory of a small machine.
    assert sorted(size for size in largest.values() if size > 100_000_000) == [134_217_728, 154_927_104, 308_281_344]


def test_the_list_names_every_shipped_task() -> None:
    lines = (SAMPLES / "all.txt").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#")] == [recipe.name for recipe in recipes.RECIPES]
