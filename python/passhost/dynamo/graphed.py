"""A rewrite as one launch: captured once in a CUDA graph, then replayed."""

from __future__ import annotations

import threading
from collections.abc import Callable

import torch

Run = Callable[[list[torch.Tensor]], list[torch.Tensor]]

#: Runs before the capture, in which memory is allocated and code is loaded.
WARM_UP = 2


class Graphed:
    """Replays a run. Inputs are read where they are as long as they stay there, as weights do; one that moved once is
    copied from then on. Results are copies: the next replay does not change them."""

    def __init__(self, run: Run, device: torch.device) -> None:
        self._run = run
        self._device = device
        self._lock = threading.Lock()
        self._graph: torch.cuda.CUDAGraph | None = None
        #: Inputs that are copied, by position.
        self._own: dict[int, torch.Tensor] = {}
        #: Where the captured launches read each input.
        self._addresses: list[int] = []
        self._results: list[torch.Tensor] = []
        self._stream: torch.cuda.Stream | None = None

    def __call__(self, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        if torch.cuda.is_current_stream_capturing():
            return self._run(inputs)
        with self._lock, torch.cuda.device(self._device):
            stream = torch.cuda.current_stream()
            if self._stream is not None and self._stream != stream:
                stream.wait_stream(self._stream)
            self._stream = stream
            if self._copy(inputs) or self._graph is None:
                self._capture([self._own.get(position, value) for position, value in enumerate(inputs)])
            assert self._graph is not None
            self._graph.replay()
            return [result.clone() for result in self._results]

    def _copy(self, inputs: list[torch.Tensor]) -> bool:
        """Copies the inputs that do not stay where they are. Whether one moved for the first time."""
        moved = False
        for position, (value, address) in enumerate(zip(inputs, self._addresses, strict=False)):
            if value.data_ptr() == address:
                continue
            if position not in self._own:
                moved = True
                self._own[position] = torch.empty_strided(
                    value.shape, value.stride(), dtype=value.dtype, device=value.device
                )
            self._own[position].copy_(value)
        return moved

    def _capture(self, inputs: list[torch.Tensor]) -> None:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UP):
                self._run(list(inputs))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
            self._results = self._run(list(inputs))
        torch.cuda.current_stream().wait_stream(stream)
        self._graph, self._addresses = graph, [value.data_ptr() for value in inputs]
