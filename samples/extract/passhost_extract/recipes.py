"""The shipped tasks. `python -m passhost_extract.recipes --out samples` writes them again, byte for byte.

Needs timm and transformers. Models have random weights from a fixed seed; nothing is downloaded.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from .task import Provenance, Task

DTYPES = ("float32", "float16", "bfloat16")
SEED = 0
VOCABULARY = 1000


@dataclass(frozen=True)
class Case:
    """One shape variant: batch size, and the image side in pixels or the sequence length in tokens."""

    batch: int
    size: int


@dataclass(frozen=True)
class Recipe:
    """What to cut out of which model, and in which shapes. `build` returns a model in eval mode and its keyword arguments."""

    name: str
    provenance: Provenance
    ops: tuple[str, ...]
    cases: tuple[Case, ...]
    build: Callable[[Provenance, Case], tuple[torch.nn.Module, dict[str, Any]]]


def _resnet(provenance: Provenance, case: Case) -> tuple[torch.nn.Module, dict[str, Any]]:
    import timm

    model = timm.create_model(provenance.model_name, **provenance.model_options)
    return model.eval(), {"x": torch.randn(case.batch, 3, case.size, case.size)}


def _vision_transformer(provenance: Provenance, case: Case) -> tuple[torch.nn.Module, dict[str, Any]]:
    import timm

    model = timm.create_model(provenance.model_name, img_size=case.size, **provenance.model_options)
    return model.eval(), {"x": torch.randn(case.batch, 3, case.size, case.size)}


def _mpnet(provenance: Provenance, case: Case) -> tuple[torch.nn.Module, dict[str, Any]]:
    import transformers

    model = transformers.MPNetModel(transformers.MPNetConfig(**provenance.model_options))
    # Every sequence is padded, each by another length, so that the mask isn't empty.
    lengths = case.size - 1 - torch.arange(case.batch) * case.size // (2 * case.batch)
    mask = (torch.arange(case.size) < lengths[:, None]).long()
    tokens = torch.randint(2, VOCABULARY, (case.batch, case.size))
    return model.eval(), {"input_ids": tokens, "attention_mask": mask}


def _gpt2(provenance: Provenance, case: Case) -> tuple[torch.nn.Module, dict[str, Any]]:
    import transformers

    model = transformers.GPT2Model(transformers.GPT2Config(**provenance.model_options))
    return model.eval(), {"input_ids": torch.randint(VOCABULARY, (case.batch, case.size))}


RECIPES = (
    Recipe(
        name="se-gate-add-relu",
        # timm starts the last norm of each block at zero; then one of the two summands would be zero throughout.
        provenance=Provenance("seresnext26t_32x4d", "timm", "computer_vision", {"zero_init_last": False}),
        ops=(".sigmoid", "operator.mul", "operator.iadd", "torch.nn.functional.relu"),
        cases=(Case(batch=1, size=28), Case(batch=4, size=224)),
        build=_resnet,
    ),
    Recipe(
        name="residual-add-layer-norm",
        provenance=Provenance("vit_base_patch16_224", "timm", "computer_vision", {"depth": 1}),
        ops=("operator.add", "torch.nn.functional.layer_norm"),
        cases=(Case(batch=1, size=64), Case(batch=8, size=224)),
        build=_vision_transformer,
    ),
    Recipe(
        name="attention-bias-softmax",
        provenance=Provenance("mpnet", "transformers", "nlp", {"num_hidden_layers": 1, "vocab_size": VOCABULARY}),
        ops=("operator.truediv", "operator.iadd", "operator.add", "torch.nn.functional.softmax", "torch.nn.functional.dropout"),
        cases=(Case(batch=1, size=29), Case(batch=8, size=128)),
        build=_mpnet,
    ),
    Recipe(
        name="pointwise-chain",
        provenance=Provenance(
            "gpt2",
            "transformers",
            "nlp",
            {"n_layer": 1, "use_cache": False, "vocab_size": VOCABULARY, "bos_token_id": 0, "eos_token_id": 0},
        ),
        ops=(
            "operator.mul",
            "torch.pow",
            "operator.mul",
            "operator.add",
            "operator.mul",
            "torch.tanh",
            "operator.add",
            "operator.mul",
        ),
        cases=(Case(batch=1, size=7), Case(batch=2, size=256)),
        build=_gpt2,
    ),
)


def task(recipe: Recipe) -> Task:
    """Build and run the recipe's model once for each case."""
    result = Task(recipe.name, recipe.provenance, ops=recipe.ops, dtypes=DTYPES)
    for case in recipe.cases:
        torch.manual_seed(SEED)
        model, kwargs = recipe.build(recipe.provenance, case)
        result.add(model, **kwargs)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m passhost_extract.recipes", description="Write the shipped tasks.")
    parser.add_argument("--out", type=Path, required=True, help="the folder that gets one folder a task, and all.txt")
    out = parser.parse_args().out
    # One thread: the order in which sums are taken, and so the last digits of the statistics, must not depend on the machine's cores.
    torch.set_num_threads(1)
    for recipe in RECIPES:
        path = task(recipe).write(out)
        print(f"{path}: {len(recipe.cases) * len(DTYPES)} graphs")
    paths = "".join(f"{recipe.name}\n" for recipe in RECIPES)
    (out / "all.txt").write_text(f"# Every shipped task, one path a line, relative to this folder.\n{paths}", encoding="utf-8")


if __name__ == "__main__":
    main()
