"""A problem of GPU MODE's reference-kernels: a task.yml, which names a reference in Python and arguments of its inputs, as a sample."""

from __future__ import annotations

import re
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import torch
import yaml
from torch import Tensor, fx
from torch.utils import _pytree as pytree

from .capture import capture_unrun
from .errors import ExtractError
from .large import InPlace, Written
from .named_model import load
from .provenance import Provenance
from .task import Task

_REFERENCE = "reference.py"
# Bytes of a task.yml.
_LARGEST = 1 << 20
_MODULE = re.compile(r"[A-Za-z_]\w*\.py")
# What stands in place of a text: of the device that a problem is written for, the one that it runs on here; of parameters, which
# can't be traced while they are made, plain tensors.
_REPLACED = (
    (re.compile(r"""(["'])cuda(:\d+)?\1"""), '"cpu"'),
    (re.compile(r"\.cuda\(\)"), ".cpu()"),
    (re.compile(r"\b(torch\.)?nn\.Parameter\("), "torch.Tensor.detach("),
)


@dataclass(frozen=True)
class Description:
    """What a task.yml says: modules by the names of their files, the arguments of `generate_input`, and if it takes several GPUs."""

    modules: dict[str, Path]
    arguments: list[dict[str, Any]]
    distributed: bool


def described(path: Path, loader: type[yaml.BaseLoader | yaml.SafeLoader]) -> Description:
    """Read a task.yml. `BaseLoader` takes all values as strings, and no memory that the file doesn't."""
    try:
        if path.stat().st_size > _LARGEST:
            raise ExtractError(f"task.yml has more than {_LARGEST} bytes; shorten it")
        document: object = yaml.load(path.read_bytes(), loader)
    except (OSError, RecursionError, ValueError, yaml.YAMLError) as error:
        raise ExtractError(f"task.yml can't be read as YAML; correct it: {error}") from error
    if not isinstance(document, dict):
        raise ExtractError("task.yml must be a mapping with files, and with tests or benchmarks; add them")
    modules = {}
    for one in _mappings(document, "files"):
        name, source = one.get("name"), one.get("source")
        if not isinstance(name, str) or not isinstance(source, str):
            raise ExtractError("a file of task.yml must have a name and a source, both of them text; add them")
        # `@SUBMISSION@` stands for what a competitor writes.
        if _MODULE.fullmatch(name) and not source.startswith("@"):
            modules[name] = path.parent / source
    if _REFERENCE not in modules:
        raise ExtractError(f"task.yml has no {_REFERENCE} among its files; add the reference that the problem is judged by")
    arguments = _mappings(document, "benchmarks") or _mappings(document, "tests")
    return Description(modules, arguments, bool(document.get("multi_gpu")))


def _mappings(document: dict[object, object], key: str) -> list[dict[str, Any]]:
    found = document.get(key) or []
    if not isinstance(found, list) or not all(isinstance(one, dict) and all(isinstance(name, str) for name in one) for one in found):
        raise ExtractError(f'{key} of task.yml must be a list of mappings, such as `- {{"size": 1024}}`; correct it')
    return found


def modules(path: Path, root: Path) -> tuple[Path, ...]:
    """The files of Python that a task.yml names, all of them below `root`, whatever it says."""
    found = tuple(source.resolve() for source in described(path, yaml.BaseLoader).modules.values())
    for one in (path.resolve(), *found):
        if not one.is_relative_to(root.resolve()) or not one.is_file():
            raise ExtractError(f"task.yml names {one.name}, which is no file in the given folder; give a whole checkout")
    return found


def posed(path: Path, name: str, most: int, memory: int) -> tuple[dict[str, str], str]:
    """The files of a sample with a variant for each of the first `most` arguments, and no remark. This runs what the reference says.

    Inputs that take more than `memory` bytes are refused; the reference itself is traced and not run.
    """
    description = described(path, yaml.SafeLoader)
    if description.distributed:
        raise ExtractError("the problem takes several GPUs (multi_gpu), and a sample is one graph on one device; leave it out")
    if not description.arguments:
        raise ExtractError("task.yml has neither benchmarks nor tests, whose arguments would be variants; add one")
    for file, source in description.modules.items():
        text = source.read_text()
        for pattern, other in _REPLACED:
            text = pattern.sub(other, text)
        Path(file).write_text(text)
    module, _ = load(f"{_REFERENCE}:ref_kernel", {})
    generate, reference = _function(module, "generate_input"), _marking(_function(module, "ref_kernel"))
    _leave_switches_out(module)
    task = Task(name, Provenance(name, source="reference-kernels"), training=True)
    for arguments in description.arguments[:most]:
        with _bounded(memory, arguments):
            data = _generated(generate, arguments)
        with _plain_parameters():
            captured = capture_unrun(reference, data)
        _drop_marks(captured.graph_module.graph)
        with _bounded(memory, arguments):
            task.add_captured(captured, reference, data)
    return task.files(), ""


def _function(module: ModuleType, name: str) -> Callable[..., Any]:
    found = getattr(module, name, None)
    if not callable(found):
        raise ExtractError(f"{_REFERENCE} has no function {name}; extract the functions that it has with extract()")
    return found  # type: ignore[no-any-return]


def _marking(reference: Callable[..., Any]) -> Callable[[Any], Any]:
    """The same with a call behind each result: a graph has no result for an argument that is written to and returned."""

    def marked(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [marked(one) for one in value]
        if isinstance(value, dict):
            return [marked(one) for one in value.values()]
        return value.detach() if isinstance(value, Tensor) else value

    def ref_kernel(data: Any) -> Any:
        return marked(reference(data))

    return ref_kernel


@contextmanager
def _plain_parameters() -> Iterator[None]:
    """Have layers of torch that a reference makes while it is traced hold plain tensors."""
    with ExitStack() as patches:
        for name, module in list(sys.modules.items()):
            if name.startswith("torch.nn.modules.") and name != "torch.nn.modules.module" and hasattr(module, "Parameter"):
                patches.enter_context(mock.patch.object(module, "Parameter", lambda data, requires_grad=True: data))
        yield


def _drop_marks(graph: fx.Graph) -> None:
    """Take out calls of `detach`, which do nothing without gradients, and first values of weights that the reference replaces."""
    for node in list(graph.nodes):
        if node.op == "call_method" and node.target == "detach":
            node.replace_all_uses_with(node.all_input_nodes[0])
            graph.erase_node(node)
    for node in list(graph.nodes):
        if node.target is torch.empty and all(_fills(user, node) for user in node.users):
            for user in list(node.users):
                graph.erase_node(user)
            graph.erase_node(node)


def _fills(node: fx.Node, tensor: fx.Node) -> bool:
    """Whether a call does nothing but write to `tensor`."""
    return node.op == "call_method" and str(node.target).endswith("_") and node.args[0] is tensor and not node.users


def _leave_switches_out(module: ModuleType) -> None:
    """Put nothing in place of the contexts of utils.py: they switch TF32 and fast algorithms of a GPU off, and can't be traced."""
    for name, value in list(vars(module).items()):
        if isinstance(value, type) and value.__module__ == "utils" and hasattr(value, "__exit__"):
            setattr(module, name, nullcontext)


def _generated(generate: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """What `generate_input` returns for these arguments: memory of outputs, to which nobody has written, with zeros in it."""

    def made(few: bool) -> Any:
        with Written(few) as written:

            def initialised(value: Tensor) -> Tensor:
                return torch.zeros(value.shape, dtype=value.dtype) if written.blank(value) else value

            return pytree.tree_map_only(Tensor, initialised, generate(**arguments))

    try:
        data = made(few=True)
    except InPlace:
        data = made(few=False)
    for value in pytree.tree_leaves(data):
        if isinstance(value, Tensor) and value.is_floating_point() and value.dtype.itemsize < 2:
            raise ExtractError(
                f"an input is of type {value.dtype}, which no sample has; have generate_input make a type of 16 bits or more"
            )
    return data


@contextmanager
def _bounded(memory: int, arguments: dict[str, Any]) -> Iterator[None]:
    """Refuse what would take more memory, by name, before it is taken."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    # A sandbox may forbid it, and bounds memory itself.
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (memory, before[1]))
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "can't allocate memory" not in str(error):
            raise
        raise ExtractError(
            f"inputs of {arguments} take more than {memory >> 20} MiB; raise --limit-memory, or take fewer variants with --workloads"
        ) from error
    finally:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_DATA, before)
