"""A rewrite as one launch: captured in CUDA graphs, of which each call replays one."""

from __future__ import annotations

import logging
import threading

import torch

from passhost.dynamo.ring import Ring, Run, Tensors

logger = logging.getLogger("passhost")

#: Runs before a capture, in which memory is allocated and code is loaded.
WARM_UP = 2


class Graphed:
    """Replays a run. Its results are the memory that the graph writes, and no replay changes one that is in use.

    Of inputs only addresses are looked at. Types, shapes and strides of a graph's inputs are guarded by Dynamo, or by
    the entry of a model that is compiled ahead of time. Those of what PyTorch's ops give between pieces follow from
    them, and were looked at in the first call."""

    def __init__(self, run: Run, device: torch.device) -> None:
        self._run = run
        self._device = device
        self._lock = threading.Lock()
        self._ring = Ring(run, self._record, self._wait)
        #: Calls share what inputs are copied to, and memory of the run.
        self._after_last_call = _After(device)
        self._side: torch.cuda.Stream | None = None
        #: Bytes that the pool of the latest capture reserves.
        self.size = 0

    @property
    def is_captured(self) -> bool:
        """Whether a call is a replay."""
        return self._ring.is_captured

    def __call__(self, inputs: Tensors) -> Tensors:
        if torch.cuda.is_current_stream_capturing():
            return self._run(inputs)
        with self._lock, torch.cuda.device(self._device), torch.no_grad():
            # So that the run itself is ready there, if somebody captures it.
            is_first = self._after_last_call()
            return self._run(inputs) if is_first else self._ring(inputs)

    def _wait(self) -> None:
        """Until no replay runs: the memory of its graph is given back."""
        torch.cuda.synchronize(self._device)

    def _record(self, inputs: Tensors) -> tuple[_Replay, Tensors]:
        if self._side is None:
            self._side = torch.cuda.Stream(self._device)
        current, graph = torch.cuda.current_stream(), torch.cuda.CUDAGraph()
        self._side.wait_stream(current)
        # A capture that fails leaves its stream current.
        with torch.cuda.stream(self._side):
            for _ in range(WARM_UP):
                self._run(list(inputs))
            with torch.cuda.graph(graph, stream=self._side, capture_error_mode="thread_local"):
                results = self._run(list(inputs))
        current.wait_stream(self._side)
        self.size = _reserved(graph)
        logger.debug("a rewrite is captured in a CUDA graph, whose pool has %.1f MiB", self.size / 2**20)
        return _Replay(graph, self._device), results


def _reserved(graph: torch.cuda.CUDAGraph) -> int:
    """Bytes that the pool of a graph reserves; 0 with an allocator that does not say."""
    try:
        return sum(segment["total_size"] for segment in torch.cuda.memory_snapshot(graph.pool()))
    except RuntimeError:
        return 0


class _Replay:
    """Launches a graph. Its results may have been used on the stream of the launch before."""

    def __init__(self, graph: torch.cuda.CUDAGraph, device: torch.device) -> None:
        self._graph = graph
        self._after_last_replay = _After(device)

    def __call__(self) -> None:
        self._after_last_replay()
        self._graph.replay()


class _After:
    """Has the current stream wait for the one that was current the last time, if that is another. Says whether it is
    current for the first time."""

    def __init__(self, device: torch.device) -> None:
        self._index = torch.cuda.current_device() if device.index is None else device.index
        self._address: int | None = None
        self._stream: torch.cuda.Stream | None = None
        self._known: set[int] = set()

    def __call__(self) -> bool:
        address = torch._C._cuda_getCurrentRawStream(self._index)
        if address == self._address:
            return False
        stream = torch.cuda.current_stream(self._index)
        if self._stream is not None:
            stream.wait_stream(self._stream)
        self._address, self._stream = address, stream
        is_first = address not in self._known
        self._known.add(address)
        return is_first
