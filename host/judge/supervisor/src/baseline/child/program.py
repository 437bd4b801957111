"""The program of a graph, and the methods that run it.

The program arrives as calls of ops that passhost verified, with arguments that passhost printed; a module is written of
them, so that it can be traced. Tensors travel as files of row-major elements. Nothing falls back: what a method cannot do
is an error.
"""

import gc
import importlib.util
import os
import sys

import torch

SCRATCH = sys.argv[1]
# Runs before a capture, on the stream beside, as PyTorch's documentation asks.
BEFORE_CAPTURE = 3
FLUSH_BYTES = 1 << 28


class Refused(Exception):
    """A method cannot do what is asked of it."""


class Unwritable(Exception):
    """A file of outputs cannot be written, whatever the method."""


def spelled(name, overload, arguments):
    """How a user of PyTorch calls an op: the binding of its name where there is one, else the op itself."""
    native = getattr(torch._C._VariableFunctions, name, None)
    if native is not None and getattr(torch, name, None) is native:
        return f"torch.{name}", arguments
    if hasattr(torch._C._nn, name):
        return f"torch._C._nn.{name}", arguments
    # Only a tensor has methods, and a binding that takes keywords may take others than the op.
    if hasattr(torch._C.TensorBase, name) and arguments and arguments[0].startswith("v") and name in METHODS:
        return f"{arguments[0]}.{name}", arguments[1:]
    return f"torch.ops.aten.{name}.{overload or 'default'}", arguments


# Ops that are methods of tensors alone and take the arguments of the op.
METHODS = {"contiguous", "expand", "expand_as", "repeat", "unfold", "view", "view_as"}


def in_place(name, arguments):
    """In-place ops of tensors, `add_` and so on: a method of the first argument."""
    return name.endswith("_") and not name.endswith("__") and hasattr(torch._C.TensorBase, name) and arguments[0].startswith("v")


def source(program):
    """The text of a module with the function `program`."""
    lines = ["import torch", "", "", f"def program({', '.join(program['inputs'])}):"]
    for call in program["calls"]:
        name, given = call["op"], call["arguments"]
        if in_place(name, given):
            callee, arguments = f"{given[0]}.{name}", given[1:]
        else:
            callee, arguments = spelled(name, call["overload"], given)
        arguments = arguments + [f"{key}={value}" for key, value in call["keywords"]]
        results = call["results"]
        target = ", ".join(results) + ("," if call["unpacks"] and len(results) == 1 else "")
        text = f"{callee}({', '.join(arguments)})"
        lines.append(f"    {target} = {text}" if results else f"    {text}")
        lines.extend(f"    {value} = None" for value in call["dead"])
    lines.append(f"    return ({''.join(value + ', ' for value in program['outputs'])})")
    return "\n".join(lines) + "\n"


def imported(text):
    path = os.path.join(SCRATCH, "printed.py")
    with open(path, "w") as file:
        file.write(text)
    spec = importlib.util.spec_from_file_location("printed", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.program


def counters():
    from torch._dynamo.utils import counters

    return counters


class Device:
    def __init__(self, name):
        self.name = name
        self.is_gpu = name != "cpu"
        self.flush = None

    def synchronize(self):
        if self.is_gpu:
            torch.cuda.synchronize()

    def fill(self, times):
        if self.flush is None:
            self.flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device=self.name)
        for _ in range(times):
            self.flush.fill_(0)


def empty(spec, device):
    """A tensor in the strides that it is to have."""
    return torch.empty_strided(spec["shape"], spec["strides"], dtype=getattr(torch, spec["dtype"]), device=device)


def fill(tensor, path):
    """Fills a tensor from a file of row-major elements, which is mapped and nowhere else in memory."""
    # Whoever wrote it is trusted with the elements, and not with which file is read.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if tensor.numel():
            tensor.copy_(mapped(descriptor, tensor, shared=False))
    finally:
        os.close(descriptor)


def write(path, tensor):
    """Writes the elements of a tensor, row-major, from where they are into the mapped file."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600)
        try:
            if tensor.numel():
                # Without room for it, writing to a mapped file ends the process.
                os.posix_fallocate(descriptor, 0, tensor.numel() * tensor.element_size())
                mapped(descriptor, tensor, shared=True).copy_(tensor.detach())
        finally:
            os.close(descriptor)
    except OSError as error:
        raise Unwritable(f"cannot write `{path}`: {error.strerror}") from error


def mapped(descriptor, like, shared):
    """An open file as a contiguous tensor on the CPU, of the type and shape of another."""
    path = f"/proc/self/fd/{descriptor}"
    return torch.from_file(path, shared=shared, size=like.numel(), dtype=like.dtype).reshape(like.shape)


class Contestant:
    """A function with inputs of its own, restored before each run where the program overwrites them."""

    def __init__(self, device, function, inputs, overwritten):
        self.device, self.function, self.inputs = device, function, inputs
        self.pristine = [(at, inputs[at].clone()) for at in overwritten]

    def feed(self, paths):
        for own, path in zip(self.inputs, paths, strict=True):
            fill(own, path)
        for at, pristine in self.pristine:
            pristine.copy_(self.inputs[at])

    def restore(self):
        for at, pristine in self.pristine:
            self.inputs[at].copy_(pristine)

    def prepare(self):
        self.restore()
        self.device.synchronize()

    def queue(self):
        return self.function(*self.inputs)

    def run(self):
        outputs = self.queue()
        self.device.synchronize()
        return outputs


class Captured(Contestant):
    """The same, captured in one CUDA graph, with the inputs where they are."""

    def __init__(self, device, function, inputs, overwritten):
        super().__init__(device, function, inputs, overwritten)
        beside = torch.cuda.Stream()
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(BEFORE_CAPTURE):
                function(*inputs)
        torch.cuda.current_stream().wait_stream(beside)
        self.prepare()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.outputs = function(*inputs)
        self.device.synchronize()

    def queue(self):
        self.graph.replay()
        return self.outputs


class Session:
    """A program with its inputs, and the methods that were prepared for it."""

    def __init__(self, request):
        self.device = Device(request["device"])
        self.specs = request["inputs"]
        self.files, self.results = request["folders"]
        self.text = source(request["program"])
        self.program = request["program"]
        self.calls = len(self.program["calls"])
        self.plain = imported(self.text)
        # One at most, and the round that its inputs are of.
        self.prepared, self.round = {}, None
        inputs = self.inputs(0)
        versions = [tensor._version for tensor in inputs]
        self.plain(*inputs)
        self.device.synchronize()
        self.overwritten = [at for at, tensor in enumerate(inputs) if tensor._version != versions[at]]

    def paths(self, number):
        folder = os.path.join(self.files, f"round_{number}")
        return [os.path.join(folder, f"input_{at}.bin") for at in range(len(self.specs))]

    def inputs(self, number):
        inputs = [empty(spec, self.device.name) for spec in self.specs]
        for tensor, path in zip(inputs, self.paths(number), strict=True):
            fill(tensor, path)
        return inputs

    def contestant(self, method, number):
        """A method that was prepared, on the inputs of a round as they were drawn."""
        key = (method["compile"], method["capture"])
        if key not in self.prepared:
            # What another method holds is free before.
            self.prepared = {}
            gc.collect()
            self.prepared[key] = self.prepare(method, number)
        elif self.round != number:
            self.prepared[key].feed(self.paths(number))
        self.round = number
        self.prepared[key].restore()
        return self.prepared[key]

    def eager(self, like):
        """Eager, on a copy of the inputs of a contestant."""
        inputs = [empty(spec, self.device.name).copy_(own) for spec, own in zip(self.specs, like.inputs, strict=True)]
        return Contestant(self.device, self.plain, inputs, self.overwritten)

    def prepare(self, method, number):
        if method["capture"] and not self.device.is_gpu:
            raise Refused("a CUDA graph needs a GPU")
        contestant = Contestant(self.device, self.plain, self.inputs(number), self.overwritten)
        if method["compile"] is not None:
            contestant.function = compiled(self.plain, method["compile"], self.device)
            # Compiles, and with CUDA graphs warms up, records and replays for the first time.
            for _ in range(3):
                contestant.prepare()
                contestant.run()
            must_have_compiled(method["compile"])
        if not method["capture"]:
            return contestant
        contestant.prepare()
        return Captured(self.device, contestant.function, contestant.inputs, self.overwritten)

    def run(self, method, numbers, name):
        """Runs a method on the inputs of some rounds, writes the outputs and says of which types they are."""
        types = None
        for number in numbers:
            contestant = self.contestant(method, number)
            contestant.prepare()
            types = self.keep(contestant.run(), number, name)
        return types

    def keep(self, outputs, number, name):
        folder = os.path.join(self.results, f"round_{number}")
        for at, tensor in enumerate(outputs):
            write(os.path.join(folder, f"{name}_{at}.bin"), tensor)
        return [
            {
                "dtype": str(tensor.dtype).removeprefix("torch."),
                "shape": list(tensor.shape),
                "strides": list(tensor.stride()),
            }
            for tensor in outputs
        ]


def compiled(function, kind, device):
    if kind == "reduce-overhead" and not device.is_gpu:
        raise Refused("reduce-overhead launches CUDA graphs, which need a GPU")
    options = {
        "default": {},
        # The mode of that name, and an error where it would go on without graphs.
        "reduce-overhead": {"triton.cudagraphs": True, "triton.cudagraph_or_error": True},
        "precision": {"emulate_precision_casts": True},
    }[kind]
    torch._dynamo.reset()
    counters().clear()
    # Inputs have the same types throughout: a second compilation is an error, as is a break of the graph.
    torch._dynamo.config.error_on_recompile = True
    return torch.compile(function, fullgraph=True, dynamic=False, options=options)


def must_have_compiled(kind):
    if counters()["stats"]["unique_graphs"] == 0:
        raise Refused("torch.compile found nothing to compile and calls the function as it is")
    skips = counters()["inductor"]["cudagraph_skips"]
    if kind == "reduce-overhead" and skips > 0:
        raise Refused("Inductor skipped CUDA graphs for this program")
