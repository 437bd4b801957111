"""The reference tasks. `python -m passhost_extract.recipes --out tasks` writes them again, and `passhost samples pack tasks --out packed`
makes of them the files that are shipped, byte for byte.

Needs timm and transformers. Models have random weights from a fixed seed; nothing is downloaded.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .provenance import Provenance
from .task import Task

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


def _convolutional(provenance: Provenance, case: Case) -> tuple[torch.nn.Module, dict[str, Any]]:
    import timm

    model = timm.create_model(provenance.model_name, **provenance.model_options)
    return model.eval(), {"x": torch.randn(case.batch, 3, case.size, case.size)}


def _sized(provenance: Provenance, case: Case) -> tuple[torch.nn.Module, dict[str, Any]]:
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


class _MeanPooled(torch.nn.Module):
    """The mean of an encoder's tokens without the padding, as sentence embeddings are computed."""

    def __init__(self, encoder: torch.nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        tokens = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        mask = attention_mask.unsqueeze(-1).expand(tokens.size()).float()
        return torch.sum(tokens * mask, 1) / torch.clamp(mask.sum(1), min=1e-9)


def _mean_pooled_mpnet(provenance: Provenance, case: Case) -> tuple[torch.nn.Module, dict[str, Any]]:
    encoder, kwargs = _mpnet(provenance, case)
    return _MeanPooled(encoder).eval(), kwargs


def _llama(provenance: Provenance, case: Case) -> tuple[torch.nn.Module, dict[str, Any]]:
    import transformers

    model = transformers.LlamaModel(transformers.LlamaConfig(**provenance.model_options))
    return model.eval(), {"input_ids": torch.randint(VOCABULARY, (case.batch, case.size))}


def _swin(provenance: Provenance, case: Case) -> tuple[torch.nn.Module, dict[str, Any]]:
    import transformers

    model = transformers.SwinModel(transformers.SwinConfig(image_size=case.size, **provenance.model_options))
    return model.eval(), {"pixel_values": torch.randn(case.batch, 3, case.size, case.size)}


def _gpt2(provenance: Provenance, case: Case) -> tuple[torch.nn.Module, dict[str, Any]]:
    import transformers

    model = transformers.GPT2Model(transformers.GPT2Config(**provenance.model_options))
    return model.eval(), {"input_ids": torch.randint(VOCABULARY, (case.batch, case.size))}


# What the cuts leave out is small: one layer with a narrow MLP.
LLAMA = Provenance(
    "llama",
    "transformers",
    "nlp",
    {
        "num_hidden_layers": 1,
        "hidden_size": 4096,
        "intermediate_size": 256,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "use_cache": False,
        "vocab_size": VOCABULARY,
    },
)
ROTATE_HALF = ("operator.getitem", "operator.getitem", "operator.neg", "torch.cat")

RECIPES = (
    Recipe(
        name="se-gate-add-relu",
        # timm starts the last norm of each block at zero; then one of the two summands would be zero throughout.
        provenance=Provenance("seresnext26t_32x4d", "timm", "computer_vision", {"zero_init_last": False}),
        ops=(".sigmoid", "operator.mul", "operator.iadd", "torch.nn.functional.relu"),
        cases=(Case(batch=1, size=28), Case(batch=4, size=224)),
        build=_convolutional,
    ),
    Recipe(
        name="residual-add-layer-norm",
        provenance=Provenance("vit_base_patch16_224", "timm", "computer_vision", {"depth": 1}),
        ops=("operator.add", "torch.nn.functional.layer_norm"),
        cases=(Case(batch=1, size=64), Case(batch=8, size=224)),
        build=_sized,
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
    Recipe(
        name="cat-batch-norm-relu-pool",
        # The last block has 2 of 16 layers, so that 3 tensors are concatenated.
        provenance=Provenance("densenet121", "timm", "computer_vision", {"block_config": [6, 12, 24, 2]}),
        ops=(
            "torch.cat",
            "torch.nn.functional.batch_norm",
            "torch.nn.functional.relu",
            "torch.nn.functional.adaptive_avg_pool2d",
            ".flatten",
        ),
        cases=(Case(batch=1, size=96), Case(batch=64, size=224)),
        build=_convolutional,
    ),
    Recipe(
        name="rms-norm",
        provenance=LLAMA,
        ops=(".to", ".pow", ".mean", "operator.add", "torch.rsqrt", "operator.mul", ".to", "operator.mul"),
        cases=(Case(batch=1, size=7), Case(batch=4, size=2048)),
        build=_llama,
    ),
    Recipe(
        name="rotary-embedding",
        provenance=LLAMA,
        ops=(
            ".unsqueeze",
            ".unsqueeze",
            *("operator.mul", *ROTATE_HALF, "operator.mul", "operator.add"),
            *("operator.mul", *ROTATE_HALF, "operator.mul", "operator.add"),
        ),
        cases=(Case(batch=1, size=7), Case(batch=2, size=512)),
        build=_llama,
    ),
    Recipe(
        name="roll-slice-add-layer-norm",
        provenance=Provenance("swin", "transformers", "computer_vision", {"depths": [2], "num_heads": [3], "embed_dim": 96}),
        ops=("torch.roll", "operator.getitem", ".contiguous", ".view", "operator.add", "torch.nn.functional.layer_norm"),
        # A side of 9 or 57 patches is padded to a multiple of the window of 7, which the slice takes off again.
        cases=(Case(batch=1, size=36), Case(batch=8, size=228)),
        build=_swin,
    ),
    Recipe(
        name="masked-mean-pool",
        provenance=Provenance("mpnet", "transformers", "nlp", {"num_hidden_layers": 1, "vocab_size": VOCABULARY}),
        ops=(".unsqueeze", ".expand", ".float", "operator.mul", "torch.sum", ".sum", "torch.clamp", "operator.truediv"),
        cases=(Case(batch=5, size=13), Case(batch=16, size=256)),
        build=_mean_pooled_mpnet,
    ),
    Recipe(
        name="gelu-spatial-mean",
        # The first stage only: its blocks take images of any size.
        provenance=Provenance("coatnet_0_224", "timm", "computer_vision", {"embed_dim": [96], "depths": [1], "block_type": ["C"]}),
        ops=("torch._C._nn.gelu", ".mean"),
        cases=(Case(batch=1, size=28), Case(batch=64, size=224)),
        build=_sized,
    ),
    Recipe(
        name="cat-reshape-transpose-mul-pad",
        provenance=Provenance("coat_lite_medium", "timm", "computer_vision", {"serial_depths": [1, 1, 1, 1]}),
        ops=("torch.cat", ".reshape", ".transpose", "operator.mul", "torch._C._nn.pad"),
        cases=(Case(batch=1, size=36), Case(batch=8, size=224)),
        build=_sized,
    ),
    Recipe(
        name="single-gelu",
        provenance=Provenance("vit_base_patch16_224", "timm", "computer_vision", {"depth": 1}),
        ops=("torch._C._nn.gelu",),
        cases=(Case(batch=1, size=32), Case(batch=64, size=224)),
        build=_sized,
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


def task_list() -> str:
    """The text of `reference.txt`."""
    return "# The reference tasks, one path a line, relative to this folder.\n" + "".join(f"{recipe.name}\n" for recipe in RECIPES)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m passhost_extract.recipes", description="Write the reference tasks.")
    parser.add_argument("--out", type=Path, required=True, help="the folder that gets one folder a task, and reference.txt")
    out = parser.parse_args().out
    # One thread: the order in which sums are taken, and so the last digits of the statistics, must not depend on the machine's cores.
    torch.set_num_threads(1)
    for recipe in RECIPES:
        path = task(recipe).write(out)
        print(f"{path}: {len(recipe.cases) * len(DTYPES)} graphs")
    (out / "reference.txt").write_text(task_list(), encoding="utf-8")


if __name__ == "__main__":
    main()
