"""Compiled models as directories: data alone. What is read of one runs verified rewrites, and ops of samples."""

from __future__ import annotations

import base64
import ctypes
import functools
import json
import math
import os
import re
from collections.abc import Callable, Mapping
from operator import getitem
from pathlib import Path
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from passhost.dynamo import values
from passhost.dynamo.backend import engine
from passhost.dynamo.exported import Exported, Given, expected, own_tensors
from passhost.dynamo.library import Library
from passhost.dynamo.lower import Lowering, is_getitem, op_key
from passhost.dynamo.piece import Piece, SavedPiece
from passhost.dynamo.schemas import loaded_ops
from passhost.errors import SettingsError

FORMAT = 1
MODEL = "model.json"
#: Bytes of a file that is read, and of a tensor that is saved by value.
LARGEST, LARGEST_TENSOR = 1 << 26, 1 << 20

Json = Any


class Unsaved(Exception):
    """Why something has no form as data."""


def save(directory: str | os.PathLike[str], exported: Exported, module: fx.GraphModule | None) -> None:
    """Writes the directory."""
    try:
        nodes = module.graph.nodes if module else ()
        pieces = [module.get_submodule(node.target) for node in nodes if module and node.op == "call_module"]
        model = {
            "format": FORMAT,
            "made": made(_device(exported)),
            "inputs": [_given_json(given) for given in exported.inputs],
            "weights": [_given_json(given) for given in exported.weights],
            "results": [[source, at if source == "result" else _json(at)] for source, at in exported.results],
            "takes": _nested(pytree.tree_unflatten(list(range(exported.in_spec.num_leaves)), exported.in_spec)),
            "gives": _nested(pytree.tree_unflatten(list(range(exported.out_spec.num_leaves)), exported.out_spec)),
            "pieces": [
                {"is_single": piece.is_single, "launch": "stream" if piece.program else "graph"} for piece in pieces
            ],
            "graph": None if module is None else _graph_json(module, pieces, _device(exported)),
        }
    except Unsaved as error:
        raise SettingsError(f"the compiled model cannot be saved: {error}") from None
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    # What is there without it is no saved model, if this ends half-way.
    (folder / MODEL).unlink(missing_ok=True)
    for number, piece in enumerate(pieces):
        for name, text in zip(_names(number), piece.texts, strict=True):
            (folder / name).write_text(text)
    (folder / MODEL).write_text(json.dumps(model, indent=1, allow_nan=False))


def read(
    directory: str | os.PathLike[str], model: torch.nn.Module, policy: str
) -> tuple[Exported, fx.GraphModule | None]:
    """Reads the directory, for the weights of a model."""
    folder = Path(directory)
    try:
        saved = json.loads(_text(folder / MODEL), parse_constant=_no_constant)
        if saved["format"] != FORMAT:
            raise SettingsError(f"{folder}: format {saved['format']!r}; this passhost reads {FORMAT}")
        device = _device_like(saved["made"]["device"], model)
        for what, here in made(device).items():
            there = saved["made"][what]
            if there != here:
                raise SettingsError(f"{folder}: saved with {what} {there!r}, this is {here!r}; compile again")
        pieces = [_piece(folder, number, piece, device, policy) for number, piece in enumerate(saved["pieces"])]
        own = own_tensors(model)
        weights = [_weight(given, own, device) for given in saved["weights"]]
        inputs = [_input(given, device) for given in saved["inputs"]]
        results = [(source, at if source == "result" else _value(at, [], device)) for source, at in saved["results"]]
        count = len(weights) + sum(given.is_tensor for given in inputs)
        module = None if saved["graph"] is None else _module(saved["graph"], count, pieces, device)
        specs = [pytree.tree_structure(_tree(saved[key])) for key in ("takes", "gives")]
    except SettingsError:
        raise
    except Exception as error:
        raise SettingsError(f"{folder} holds no compiled model: {type(error).__name__}: {error}") from error
    return Exported(module or fx.GraphModule({}, fx.Graph()), weights, inputs, results, *specs), module


def made(device: torch.device) -> dict[str, str]:
    """What a saved model depends on."""
    kind = "cpu" if device.type == "cpu" else torch.cuda.get_device_name(device)
    return {"passhost": engine()[0].VERSION, "torch": torch.__version__, "device": kind}


def _names(number: int) -> tuple[str, str]:
    return f"piece-{number}.graph", f"piece-{number}.rewrite"


def _text(path: Path) -> str:
    if not path.is_file():
        raise SettingsError(f"{path} is no file")
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise SettingsError(f"{path} has more than {LARGEST} bytes")
    return data.decode()


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _device(exported: Exported) -> torch.device:
    devices = {given.value.device for given in (*exported.weights, *exported.inputs) if given.is_tensor}
    gpus = {device for device in devices if device.type != "cpu"}
    if len(gpus) > 1:
        raise Unsaved("it is on several devices")
    return next(iter(gpus), torch.device("cpu"))


def _device_like(kind: str, model: torch.nn.Module) -> torch.device:
    """Where the model is; where it has nothing, the current GPU if the saved one was on a GPU."""
    devices = {tensor.device for tensor in own_tensors(model).values()}
    gpu = next((device for device in devices if device.type == "cuda"), None)
    if kind == "cpu" or (gpu is None and not torch.cuda.is_available()):
        return gpu or torch.device("cpu")
    return gpu or torch.device("cuda", torch.cuda.current_device())


def _given_json(given: Given) -> Json:
    if not given.is_tensor:
        return {"name": given.name, "value": _json(given.value)}
    tensor: torch.Tensor = given.value
    data = {"name": given.name, "type": given.expected[1], "on": "cpu" if tensor.device.type == "cpu" else "device"}
    if given.is_made:
        flat = tensor.detach().cpu().contiguous()
        size = flat.numel() * flat.element_size()
        if size > LARGEST_TENSOR:
            raise Unsaved(f"its code makes a tensor of {size} bytes, `{given.name}`; make it a buffer")
        data["data"] = base64.b64encode(ctypes.string_at(flat.data_ptr(), size) if size else b"").decode()
    return data


def _type(data: Json, device: torch.device) -> tuple[Any, torch.device]:
    dtype, shape, strides = data["type"]
    there = device if data["on"] == "device" else torch.device("cpu")
    return (str(dtype), tuple(map(int, shape)), tuple(map(int, strides))), there


def _input(data: Json, device: torch.device) -> Given:
    if "type" not in data:
        value = _value(data["value"], [], device)
        return Given(str(data["name"]), ("constant", value), value)
    ty, there = _type(data, device)
    like = torch.empty(0, dtype=values.DTYPES[ty[0]], device=there)
    return Given(str(data["name"]), ("tensor", ty, values.device_index(there)), like)


def _weight(data: Json, own: Mapping[str, torch.Tensor], device: torch.device) -> Given:
    name = str(data["name"])
    (dtype, shape, strides), there = _type(data, device)
    wanted = ("tensor", (dtype, shape, strides), values.device_index(there))
    if "data" in data:
        raw = bytearray(base64.b64decode(data["data"], validate=True))
        if len(raw) != math.prod(shape) * values.DTYPES[dtype].itemsize or len(raw) > LARGEST_TENSOR:
            raise ValueError(f"`{name}` has {len(raw)} bytes")
        flat = torch.frombuffer(raw, dtype=values.DTYPES[dtype]) if raw else torch.empty(0, dtype=values.DTYPES[dtype])
        tensor = torch.empty_strided(shape, strides, dtype=values.DTYPES[dtype], device=there)
        return Given(name, wanted, tensor.copy_(flat.view(shape)), is_made=True)
    if name not in own:
        raise SettingsError(f"the model has no weight {name!r}; give the model that was compiled")
    found = expected(own[name])
    if found != wanted:
        raise SettingsError(f"weight {name!r} is {found[1:]}, saved as {wanted[1:]}; give the model that was compiled")
    return Given(name, wanted, own[name])


def _nested(value: Any) -> Json:
    """Lists, tuples and dictionaries, without what is in them."""
    if type(value) is int:
        return None
    if type(value) in (list, tuple):
        return [type(value).__name__, *map(_nested, value)]
    if type(value) is dict and all(type(key) is str for key in value):
        return ["dict", *([key, _nested(item)] for key, item in value.items())]
    raise Unsaved(f"inputs or results are in a {type(value).__name__}; use tuples, lists and dictionaries")


def _tree(data: Json) -> Any:
    if data is None:
        return 0
    kind, *items = data
    if kind == "dict":
        return {str(key): _tree(item) for key, item in items}
    return {"list": list, "tuple": tuple}[kind](map(_tree, items))


def _json(value: Any, place: Callable[[fx.Node], int] | None = None) -> Json:
    """A constant, or an argument of a node."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, fx.Node) and place is not None:
        return {"of": place(value)}
    if isinstance(value, (list, tuple)):
        return [_json(item, place) for item in value]
    if isinstance(value, torch.dtype) and value in values.DTYPE_NAMES:
        return {"dtype": values.DTYPE_NAMES[value]}
    if isinstance(value, torch.memory_format) and value in values.MEMORY_FORMAT_NAMES:
        return {"memory_format": values.MEMORY_FORMAT_NAMES[value]}
    if value is torch.strided:
        return {"strided": True}
    if isinstance(value, torch.device):
        return {"on": "cpu" if value.type == "cpu" else "device"}
    raise Unsaved(f"a value is {type(value).__name__}")


def _value(data: Json, known: list[fx.Node], device: torch.device) -> Any:
    if isinstance(data, list):
        return [_value(item, known, device) for item in data]
    if not isinstance(data, dict):
        return data
    ((kind, value),) = data.items()
    match kind:
        case "float":
            return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[value]
        case "of":
            return known[_place(value)]
        case "on":
            return device if value == "device" else torch.device("cpu")
        case "dtype" | "memory_format" | "strided":
            return values.constant((kind, value) if kind != "strided" else (kind,), device)
    raise ValueError(f"no kind of value: {kind!r}")


def _place(value: Json) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"no place: {value!r}")
    return value


def _graph_json(module: fx.GraphModule, pieces: list[Piece | SavedPiece], device: torch.device) -> Json:
    """The calls around the pieces, in order. Values are numbered: the tensors that come in, then one for each call."""
    lowering = Lowering(_listed(), device)
    places: dict[fx.Node, int] = {}
    calls: list[Json] = []
    returned: Json = None
    for node in module.graph.nodes:
        args = [_json(value, places.__getitem__) for value in node.args]
        if node.op == "output":
            returned = args[0]
        elif node.op == "call_module":
            calls.append({"piece": pieces.index(module.get_submodule(node.target)), "args": args})
        elif is_getitem(node):
            calls.append({"take": args[1], "args": args[:1]})
        elif node.op == "call_function":
            if not lowering.is_listed(node):
                raise Unsaved(f"outside of pieces it calls {node.target}, which is on no list of ops")
            kwargs = {key: _json(value, places.__getitem__) for key, value in node.kwargs.items()}
            calls.append({"op": list(op_key(node.target)), "args": args, "kwargs": kwargs})
        elif node.op != "placeholder":
            raise Unsaved(f"it has a node that is {node.op}")
        places[node] = len(places)
    return {"calls": calls, "returns": returned}


@functools.cache
def _listed() -> frozenset[tuple[str, str]]:
    """The ops of graphs for inference."""
    return loaded_ops(engine()[0].ops(training=False))


def _module(data: Json, count: int, pieces: list[SavedPiece], device: torch.device) -> fx.GraphModule:
    graph, lowering = fx.Graph(), Lowering(_listed(), device)
    known = [graph.placeholder(f"v{number}") for number in range(count)]
    for call in data["calls"]:
        args = tuple(_value(arg, known, device) for arg in call["args"])
        if "piece" in call:
            number = _place(call["piece"])
            pieces[number]
            known.append(graph.call_module(f"piece_{number}", args))
        elif "take" in call:
            known.append(graph.call_function(getitem, (*args, _place(call["take"]))))
        else:
            kwargs = {str(key): _value(value, known, device) for key, value in call["kwargs"].items()}
            node = graph.call_function(_operator(*call["op"]), args, kwargs)
            # Others may trust what they are given, or change it: `batch_norm` in training is one.
            if not lowering.is_listed(node):
                raise ValueError(f"a saved model may not call {node.target} so")
            known.append(node)
    returned = tuple(_value(value, known, device) for value in data["returns"])
    graph.output(returned)
    return fx.GraphModule({f"piece_{number}": piece for number, piece in enumerate(pieces)}, graph)


def _operator(name: str, overload: str) -> Any:
    if not re.fullmatch(r"\w{1,80}", name) or not re.fullmatch(r"\w{0,80}", overload):
        raise ValueError(f"no op: {name!r}")
    return values.operator(name, overload)


def _piece(folder: Path, number: int, data: Json, device: torch.device, policy: str) -> SavedPiece:
    extension, _ = engine()
    graph, rewrite = (_text(folder / name) for name in _names(number))
    is_single, captures = data["is_single"] is True, data["launch"] == "graph"
    try:
        return SavedPiece((graph, rewrite), Library(device, _listed()), policy, is_single, captures)
    except (extension.PassError, extension.EngineError) as error:
        raise SettingsError(f"{folder / _names(number)[1]} is no rewrite that may run: {error}") from error
