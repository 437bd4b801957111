"""Verifies what a pass makes of a graph, and runs it on tensors of the PyTorch that is loaded."""

from collections.abc import Callable
from typing import TypeAlias

from torch import Tensor

TensorType: TypeAlias = tuple[str, tuple[int, ...], tuple[int, ...]]
"""Element type as in the text of graphs, shape, strides."""

Argument: TypeAlias = (
    bool | int | float | str | list[bool] | list[int] | list[float] | tuple[str] | tuple[str, object] | None
)
"""A constant, or a tagged tuple: `("tensor",)`, `("tensors", n)`, `("optional_tensors", [True, False])`,
`("dtype", "f32")`, `("memory_format", "channels_last")`, `("strided",)`, `("device",)`. Where types are asked for,
the tags of tensors carry their types instead."""

Expected: TypeAlias = tuple[str, TensorType, int | None] | tuple[str, object]
"""What a value must be: `("tensor", type, GPU or None)`, or `("constant", value)`."""

VERSION: str

class PassError(Exception):
    """The pass was refused, failed, exceeded a limit, or its rewrite does not verify."""

class EngineError(Exception):
    """Anything else that keeps a graph from running here."""

def open(version: str, libtorch_cpu: str, libtorch_cuda: str | None, programs: str | None = None) -> None:
    """Finds the functions of the loaded PyTorch, and says where passhost-guest is. PASSHOST_PROGRAMS wins."""

def ops(training: bool) -> list[str]:
    """The schemas of the ops that may occur in a graph, as PyTorch writes them: in a training step there are more."""

class Pass:
    name: str
    is_loaded: bool
    def __init__(self, path: str, policy: str = "open") -> None: ...
    def rewrite(
        self,
        graph: str,
        device: int | None,
        types: Callable[[str, str, list[Argument]], list[TensorType]],
        threads: int = 1,
        captured: bool = False,
    ) -> Rewrite: ...

def verify(
    graph: str,
    rewrite: str,
    types: Callable[[str, str, list[Argument]], list[TensorType]],
    policy: str = "open",
) -> Rewrite:
    """Verifies that a text from anywhere is a rewrite of a graph that a policy allows. PassError if it is none."""

class Rewrite:
    graph: str
    kernels: int
    changed: bool
    refusals: list[str]
    is_kept: bool

class Program:
    def __init__(
        self,
        graph: str,
        device: int | None,
        threads: int,
        prepare: Callable[[str, str, list[Argument]], Callable[[list[Tensor]], list[Tensor]]],
    ) -> None: ...
    def run(self, inputs: list[Tensor]) -> list[Tensor]: ...

class Entry:
    """Checks its arguments, puts those that are tensors beside the bound ones, and runs a program or a function."""

    def __init__(
        self,
        bound: list[tuple[str, Expected, Tensor]],
        inputs: list[tuple[str, Expected]],
        run: Program | Callable[[list[Tensor]], object],
        order: list[int] = ...,
        results: list[tuple[str, object]] = ...,
        is_single: bool = False,
        instead: Callable[[str, list[Tensor]], list[Tensor]] | None = None,
    ) -> None: ...
    def __call__(self, *values: object) -> object: ...
