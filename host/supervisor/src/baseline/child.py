"""Runs one graph in PyTorch for `passhost baseline`, by several methods.

Started with a scratch directory as its only argument. Each line of standard input is a request in JSON, each line of
standard output the answer to one. The program arrives as calls of ops that passhost verified, with arguments that
passhost printed; a module is written of them, so that it can be traced. Tensors travel as files of row-major elements.
Nothing falls back: what a method cannot do is answered with an error.
"""

import ctypes
import gc
import importlib.util
import json
import os
import random
import statistics
import sys
import time

PR_SET_PDEATHSIG, SIGKILL = 1, 9
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)

# Answers leave by a descriptor of their own: what libraries print goes to standard error.
ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

import torch  # noqa: E402: after standard output is safe

SCRATCH = sys.argv[1]
# As in an evaluation (host/bench): pairs that show whether times are steady, and how close their medians must be.
STEADY_PAIRS, STEADY = 5, 0.02
# A method whose first run takes more than this many times eager's has one pair.
SLOW_FACTOR = 20
# A probe that takes so much longer than the fastest was disturbed.
SLOW_PROBE = 2.0
# Calls that a GPU's queue surely holds, calls asked for ahead, and fillings that keep the GPU busy meanwhile.
QUEUE, QUEUED_CALLS, MOST_FILLS = 400, 10, 256
FLUSH_BYTES = 1 << 28
# Runs before a capture, on the stream beside, as PyTorch's documentation asks.
BEFORE_CAPTURE = 3
DEVICE_TIMES = 3
# Lines of an error that are passed on.
ERROR_LINES = 3


class Refused(Exception):
    """A method cannot do what is asked of it."""


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
    path = os.path.join(SCRATCH, "program.py")
    with open(path, "w") as file:
        file.write(text)
    spec = importlib.util.spec_from_file_location("program", path)
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


def read(path, spec, device):
    """The tensor that a file of row-major elements describes, in the strides that it is to have."""
    dtype, shape = getattr(torch, spec["dtype"]), spec["shape"]
    tensor = torch.empty_strided(shape, spec["strides"], dtype=dtype, device=device)
    # Whoever wrote it is trusted with the elements, and not with which file is read.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if tensor.numel():
            held = torch.from_file(f"/proc/self/fd/{descriptor}", shared=False, size=tensor.numel(), dtype=dtype)
            tensor.copy_(held.reshape(shape))
    finally:
        os.close(descriptor)
    return tensor


def write(path, tensor):
    if tensor.numel() == 0:
        open(path, "wb").close()
        return
    flat = tensor.detach().to("cpu").contiguous().reshape(-1)
    if os.path.exists(path):
        os.remove(path)
    torch.from_file(path, shared=True, size=flat.numel(), dtype=flat.dtype).copy_(flat)


class Contestant:
    """A function with inputs of its own, restored before each run where the program overwrites them."""

    def __init__(self, device, function, inputs, overwritten):
        self.device, self.function, self.inputs = device, function, inputs
        self.pristine = [(at, inputs[at].clone()) for at in overwritten]

    def feed(self, tensors):
        for own, tensor in zip(self.inputs, tensors, strict=True):
            own.copy_(tensor)
        for at, pristine in self.pristine:
            pristine.copy_(tensors[at])

    def prepare(self):
        for at, pristine in self.pristine:
            self.inputs[at].copy_(pristine)
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
        self.prepared = {}
        inputs = self.inputs(0)
        versions = [tensor._version for tensor in inputs]
        self.plain(*inputs)
        self.device.synchronize()
        self.overwritten = [at for at, tensor in enumerate(inputs) if tensor._version != versions[at]]

    def inputs(self, number):
        folder = os.path.join(self.files, f"round_{number}")
        files = (os.path.join(folder, f"input_{at}.bin") for at in range(len(self.specs)))
        return [read(path, spec, self.device.name) for path, spec in zip(files, self.specs)]

    def contestant(self, method, number):
        """A method that was prepared, on the inputs of a round."""
        key = (method["compile"], method["capture"])
        if key not in self.prepared:
            # One at a time: what another method holds is free before.
            self.prepared = {}
            gc.collect()
            self.prepared[key] = self.prepare(method, number)
        contestant = self.prepared[key]
        contestant.feed(self.inputs(number))
        return contestant

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

    def convolutions(self, number):
        """What each convolution of images takes, and what everything else does, nanoseconds of the device."""
        if self.overwritten:
            raise Refused("the program overwrites its inputs, which queued calls would not restore")
        inputs = self.inputs(number)
        values = dict(zip(self.program["inputs"], inputs))
        found = []
        for call in self.program["calls"]:
            op = getattr(getattr(torch.ops.aten, call["op"]), call["overload"] or "default")
            arguments = [eval(text, {"torch": torch}, values) for text in call["arguments"]]
            keywords = {name: eval(text, {"torch": torch}, values) for name, text in call["keywords"]}
            if call["op"] in CONVOLUTIONS and arguments[0].dim() == 4:
                found.append({"op": call["op"], **self.split(op, arguments, keywords)})
            results = op(*arguments, **keywords)
            values.update(zip(call["results"], results if call["unpacks"] else [results]))
            for value in call["dead"]:
                del values[value]
        whole = device_ns(self.device, self.calls, lambda: self.plain(*inputs)) if found else 0
        rest = max(whole - sum(one["as_it_is_ns"] for one in found), 0)
        return {"convolutions": found, "rest_ns": rest}

    def split(self, op, arguments, keywords):
        """A convolution as it is, and in channels-last: the computation, and what converts its input and its result. The
        weights of a model are converted once and for all."""
        last = torch.channels_last
        operands = [operand.contiguous(memory_format=last) for operand in arguments[:2]]
        result = op(*operands, *arguments[2:], **keywords)
        parts = {
            "as_it_is_ns": lambda: op(*arguments, **keywords),
            "compute_ns": lambda: op(*operands, *arguments[2:], **keywords),
            "conversions_ns": lambda: (arguments[0].contiguous(memory_format=last), result.contiguous()),
        }
        return {name: device_ns(self.device, 2, call) for name, call in parts.items()}


# Ops that have an input and a weight as their first arguments.
CONVOLUTIONS = {"conv2d", "conv_transpose2d", "convolution"}


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


class Observer:
    """Sees what the machine does meanwhile, as the device processes of an evaluation do."""

    def __init__(self, device):
        self.device = device
        self.fastest = float("inf")
        self.work = torch.zeros(1 if device.is_gpu else 1 << 17, device=device.name)
        self.probes = []
        for _ in range(50):
            self.probe()

    def begin(self):
        self.probes = []
        self.waited, self.preempted = scheduling()
        self.begun = time.perf_counter_ns()

    def probe(self):
        start = time.perf_counter_ns()
        self.work.add_(1)
        self.device.synchronize()
        took = time.perf_counter_ns() - start
        self.fastest = min(self.fastest, took)
        self.probes.append(took)

    def end(self):
        elapsed = time.perf_counter_ns() - self.begun
        waited, preempted = scheduling()

        def since(after, before):
            return None if after is None or before is None else max(after - before, 0)

        return {
            "elapsed_ns": elapsed,
            "waited_ns": since(waited, self.waited),
            "preempted": since(preempted, self.preempted),
            "probes": len(self.probes),
            "slow_probes": sum(took > SLOW_PROBE * self.fastest for took in self.probes),
            "clock_mhz": None,
            "throttled": [],
        }


def scheduling():
    """Nanoseconds that threads waited for a core and times that they lost one; `None` where the system does not say."""
    waited, preempted = None, None
    for thread in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{thread}/schedstat") as file:
                ran, wait, *_ = map(int, file.read().split())
            if ran > 0:
                waited = (waited or 0) + wait
            with open(f"/proc/self/task/{thread}/status") as file:
                for line in file:
                    if line.startswith("nonvoluntary_ctxt_switches:"):
                        preempted = (preempted or 0) + int(line.split()[1])
        except (OSError, ValueError):
            continue
    return waited, preempted


def timed(contestant):
    """Wall clock and the calling thread's time of one run, and its outputs, which are dropped outside the clock."""
    contestant.prepare()
    thread = time.thread_time_ns()
    start = time.perf_counter_ns()
    outputs = contestant.run()
    wall = time.perf_counter_ns() - start
    return wall, max(time.thread_time_ns() - thread, 1), outputs


def is_steady(pairs):
    if len(pairs) < 2 * STEADY_PAIRS:
        return False
    first, second = pairs[-2 * STEADY_PAIRS : -STEADY_PAIRS], pairs[-STEADY_PAIRS:]
    return abs(statistics.median(second) / statistics.median(first) - 1) < STEADY


class Trial:
    """The times of a method beside eager in this process, in the order of an evaluation."""

    def __init__(self, session, method, settings, seed, number):
        self.device, self.settings = session.device, settings
        self.random = random.Random(seed)
        other = session.contestant(method, number)
        # Each of the three has inputs of its own.
        self.eager, self.again = (
            Contestant(session.device, session.plain, session.inputs(number), session.overwritten) for _ in range(2)
        )
        self.other = other
        self.calls = session.calls
        self.observer = Observer(session.device)
        self.kept, self.seen = None, 0
        self.threads = {"eager_ns": [], "rewritten_ns": []}

    def warm_up(self, one, other):
        budget = self.settings["process_ns"] / 4
        started, pairs = time.perf_counter_ns(), []
        while True:
            pairs.append(timed(one)[0] + timed(other)[0])
            warm = len(pairs) >= self.settings["warmups"] and is_steady(pairs)
            if warm or time.perf_counter_ns() - started >= budget:
                return statistics.median(pairs[-STEADY_PAIRS:])

    def plan(self, blocks, pair_ns):
        """How many blocks of how many pairs, fixed before the first is timed."""
        budget = self.settings["process_ns"] * blocks / self.settings["blocks"]
        affordable = min(int(budget / max(pair_ns, 1) / blocks), self.settings["pairs"])
        if affordable == 0:
            return -(-blocks // 2), 1
        return blocks, affordable if affordable == 1 else affordable & ~1

    def block(self, other, pairs, scored):
        orders = [at % 2 == 0 for at in range(pairs // 2 * 2)]
        if pairs % 2 == 1:
            orders.append(self.random.random() < 0.5)
        self.random.shuffle(orders)
        eager_ns, other_ns = [], []
        self.observer.begin()
        for eager_first in orders:
            self.observer.probe()
            if eager_first:
                self.note(timed(self.eager), eager_ns, "eager_ns", scored)
            wall, thread, outputs = timed(other)
            self.note((wall, thread, None), other_ns, "rewritten_ns", scored)
            if scored:
                self.offer(outputs)
            del outputs
            if not eager_first:
                self.note(timed(self.eager), eager_ns, "eager_ns", scored)
        self.observer.probe()
        return {"eager_ns": eager_ns, "other_ns": other_ns, "witness": self.observer.end()}

    def note(self, run, walls, thread, scored):
        walls.append(run[0])
        if scored:
            self.threads[thread].append(run[1])

    def offer(self, outputs):
        """Keeps the outputs of one timed run, each with the same probability: they are compared as well."""
        self.seen += 1
        if self.random.random() < 1 / self.seen:
            # A captured graph has its outputs in one place: they are of the last run then, and copied to stay.
            self.kept = [tensor.clone() for tensor in outputs]
        self.device.synchronize()

    def take(self):
        gc.collect()
        gc.disable()
        try:
            return self.blocks()
        finally:
            gc.enable()

    def blocks(self):
        blocks, controls = self.settings["blocks"], self.settings["control_blocks"]
        control_blocks, control_pairs = self.plan(controls, self.warm_up(self.eager, self.again))
        control = [self.block(self.again, control_pairs, False)]
        timed(self.other)
        if timed(self.other)[0] > SLOW_FACTOR * timed(self.eager)[0]:
            count, pairs = 1, 1
        else:
            count, pairs = self.plan(blocks, self.warm_up(self.eager, self.other))
        scored = [self.block(self.other, pairs, True) for _ in range(count)]
        if control_blocks > 1:
            timed(self.again)
            control.append(self.block(self.again, control_pairs, False))
        device, note = self.device_times()
        return {
            "control": control,
            "pairs": scored,
            "device": device,
            "device_note": note,
            "eager_cold_ns": [],
            "rewritten_cold_ns": [],
            "method": "perf_counter in Python, against eager called from Python"
            + (", torch.cuda.synchronize" if self.device.is_gpu else ""),
            "floor_ns": 0,
        }

    def device_times(self):
        if not self.device.is_gpu:
            return self.threads, ""
        if self.eager.pristine:
            return None, "the program overwrites its inputs, which queued calls would not restore"
        times = {"eager_ns": [], "rewritten_ns": []}
        for _ in range(DEVICE_TIMES):
            for contestant, into in ((self.eager, "eager_ns"), (self.other, "rewritten_ns")):
                time_ns = queued_ns(self.device, self.calls, contestant.queue)
                if time_ns is None:
                    return None, TOO_EARLY
                times[into].append(time_ns)
        return times, ""


def queued_ns(device, ops, queue):
    """What a GPU takes for one of some calls of so many ops: between two events around calls that were all asked for while
    the GPU was busy with something else."""
    calls = min(max(QUEUE // max(ops, 1), 1), QUEUED_CALLS)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    fills = 4
    while fills <= MOST_FILLS:
        device.fill(0)
        torch.cuda.synchronize()
        device.fill(fills)
        queue()
        start.record()
        for _ in range(calls):
            queue()
        end.record()
        late = start.query()
        torch.cuda.synchronize()
        if not late:
            return max(int(start.elapsed_time(end) * 1e6 / calls), 1)
        fills *= 4
    return None


TOO_EARLY = "the GPU is done before the next call is asked for: an op of the program waits for it"


def device_ns(device, ops, call):
    """The median of what the device alone takes for a call, of the thread's time on a CPU."""
    times = []
    for _ in range(DEVICE_TIMES):
        if device.is_gpu:
            times.append(queued_ns(device, ops, call))
        else:
            call()
            start = time.thread_time_ns()
            call()
            times.append(max(time.thread_time_ns() - start, 1))
    if None in times:
        raise Refused(TOO_EARLY)
    return int(statistics.median(times))


def keep_to(cores, is_gpu):
    """Keeps threads to these cores while something is timed: the calling one on a GPU, all of them on a CPU."""
    threads = [0] if is_gpu else [int(thread) for thread in os.listdir("/proc/self/task")]
    before = os.sched_getaffinity(0)
    for thread in threads:
        try:
            os.sched_setaffinity(thread, cores)
        except OSError:
            continue
    return before


class Server:
    def __init__(self):
        self.session = None

    def hello(self, request):
        """What this Python is."""
        torch.set_num_threads(request["threads"])
        is_gpu = request["device"] != "cpu"
        if is_gpu:
            if not torch.cuda.is_available():
                raise Refused("PyTorch finds no usable GPU")
            torch.cuda.set_device(request["device"])
        torch.set_grad_enabled(False)
        return {
            "python": sys.version.split()[0],
            "torch": torch.__version__,
            "cuda": torch.version.cuda or "",
            "device": torch.cuda.get_device_name() if is_gpu else "cpu",
        }

    def load(self, request):
        self.session = None
        gc.collect()
        self.session = Session(request)
        return {"source": self.session.text}

    def run(self, request):
        return {"outputs": self.session.run(request["method"], request["rounds"], request["name"])}

    def convolutions(self, request):
        return self.session.convolutions(request["round"])

    def time(self, request):
        """Times a method, and runs it once more on the same inputs so that what it then gives is compared as well."""
        number = request["round"]
        trial = Trial(self.session, request["method"], request["settings"], request["seed"], number)
        cores = request["settings"]["cores"]
        before = keep_to(cores, self.session.device.is_gpu) if cores else None
        times = trial.take()
        if before is not None:
            keep_to(before, self.session.device.is_gpu)
        if request["method"]["compile"] is not None:
            must_have_compiled(request["method"]["compile"])
        return {"times": times, "outputs": self.session.keep(trial.kept, number, request["name"])}


def main():
    server = Server()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(server, request["ask"])(request)
        except Refused as refused:
            answer = {"error": str(refused)}
        except Exception as error:  # noqa: BLE001: whatever PyTorch raises is the answer
            # What a compiler says stands in the lines behind who it is.
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            answer = {"error": f"{type(error).__name__}: {' '.join(lines[:ERROR_LINES]) or 'no message'}"}
        print(json.dumps(answer), file=ANSWERS, flush=True)


main()
