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
                assert math.isclose(new.get(key, 0), old.get(key, 0), rel_tol=1e-3, abs_tol=1e-4), (file, new["name"], key)


def test_the_list_names_every_shipped_task() -> None:
    lines = (SAMPLES / "all.txt").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#")] == [recipe.name for recipe in recipes.RECIPES]
