"""Captures of one run, whose results are given as they are: none is replayed while somebody can see what it gave."""

from __future__ import annotations

import collections
import logging
import operator
import sys
import weakref
from collections.abc import Callable

import torch

logger = logging.getLogger("passhost")

Tensors = list[torch.Tensor]
Run = Callable[[Tensors], Tensors]
#: Captures a run on tensors that stay where they are: a function that runs it again there, and its results.
Record = Callable[[Tensors], tuple[Callable[[], None], Tensors]]

#: Captures that there are at once, and that a ring makes in its life.
PLACES, MOST = 2, 8

_count = torch._C._storage_Use_Count
_are_at = torch._C._tensors_data_ptrs_at_indices_equal
#: A new tensor on the memory of another, with a version counter of its own.
_alias = torch._C._dynamo.guards._reinterpret_tensor
#: Uses of a storage that nobody else has: by a tensor of ours, and by the object that stands for it in Python.
OURS = 2
#: The memory of all captures that is given.
_GIVEN: weakref.WeakSet[torch.UntypedStorage] = weakref.WeakSet()


class Capture:
    """A captured run. Its results lie where each replay writes them."""

    def __init__(self, replay: Callable[[], None], inputs: Tensors, copied: set[int], results: Tensors) -> None:
        self.replay = replay
        owners: dict[int, int | None] = {}
        for place, value in enumerate(inputs):
            memory = value.untyped_storage()._cdata
            owners[memory] = None if memory in owners else place
        #: For each result the tensor that has its memory, of the inputs and then the bases, and where it lies in that.
        self._layout: list[tuple[int, tuple[int, ...], tuple[int, ...], int]] = []
        #: All memory of the results, each flat.
        self._bases: Tensors = []
        known: dict[tuple[int, torch.dtype], int] = {}
        while results:
            result = results.pop(0)
            storage, offset = result.untyped_storage(), result.storage_offset()
            owner, key = owners.get(storage._cdata), (storage._cdata, result.dtype)
            if owner is not None and inputs[owner].dtype == result.dtype:
                source, offset = owner, offset - inputs[owner].storage_offset()
            elif key in known:
                source = known[key]
            else:
                source = known[key] = len(inputs) + len(self._bases)
                self._bases.append(torch.empty(0, dtype=result.dtype, device=result.device).set_(storage))
            self._layout.append((source, tuple(result.shape), tuple(result.stride()), offset))
            del result, storage
        self._watch(inputs, copied)

    def _watch(self, inputs: Tensors, copied: set[int]) -> None:
        """Notes what the counts and addresses are while nobody else has a result."""
        self._storages = [base.untyped_storage() for base in self._bases]
        self._handles = [storage._cdata for storage in self._storages]
        #: Memory that others have as well, or that is of two types, is never given.
        self.is_shared = any(count != OURS for count in map(_count, self._handles))
        self._counts = [OURS] * len(self._handles)
        self._references = list(map(sys.getrefcount, self._storages))
        if not self.is_shared:
            _GIVEN.update(self._storages)
        self._addresses = [value.data_ptr() for value in (*inputs, *self._bases)]
        self._fixed = [place for place in range(len(self._addresses)) if place not in copied]

    def is_free(self) -> bool:
        """Whether nobody else has a result, a view of one, or its storage."""
        return self.is_shared or (
            list(map(_count, self._handles)) == self._counts
            and list(map(sys.getrefcount, self._storages)) == self._references
        )

    def fits(self, inputs: Tensors) -> bool:
        """Whether inputs that are read where they are, are there, and so are the results, which somebody may resize."""
        return bool(_are_at([*inputs, *self._bases], self._addresses, self._fixed))

    def is_whole(self) -> bool:
        """Whether the results are where they were."""
        count = len(self._bases)
        return bool(_are_at(self._bases, self._addresses[-count:], list(range(count))))

    def moved(self, inputs: Tensors) -> list[int]:
        """Which inputs are not where they were."""
        return [place for place, value in enumerate(inputs) if value.data_ptr() != self._addresses[place]]

    def results(self, inputs: Tensors, gives: bool) -> Tensors:
        """The results of the last replay: themselves, or copies. Those that show an input show that of the call."""
        bases = self._bases
        if bases and (self.is_shared or not gives):
            bases = [torch.empty_like(base) for base in bases]
            torch._foreach_copy_(bases, self._bases)
        sources = [*inputs, *bases]
        return [_alias(sources[source], shape, strides, offset) for source, shape, strides, offset in self._layout]


class Ring:
    """Runs by replays. Inputs are read where they are as long as they stay there, as weights do; others are copied. If
    the results of all captures are in use, another is made, whose results are copied."""

    def __init__(self, run: Run, record: Record, release: Callable[[], None]) -> None:
        self._run = run
        self._record = record
        #: Comes before captures are dropped.
        self._release = release
        self._captures: list[Capture] = []
        #: Whether the results of all captures were in use once, so that those of the last free one are copied.
        self._keeps = False
        self._made = 0
        #: How often a capture was made since another one gave the inputs.
        self._followed = 0
        #: How often each other input was found at another address.
        self._moves: collections.Counter[int] = collections.Counter()
        #: Where inputs that move are copied to, by place, and the memory of both that is copied.
        self._own: dict[int, torch.Tensor] = {}
        self._targets: Tensors = []
        self._sources: list[Callable[[Tensors], torch.Tensor]] = []

    @property
    def is_captured(self) -> bool:
        """Whether a call is a replay."""
        return bool(self._captures)

    def __call__(self, inputs: Tensors) -> Tensors:
        self._fill(inputs)
        capture, gives = self._free(inputs) or self._another(inputs)
        if capture is None:
            return self._run(list(inputs))
        capture.replay()
        return capture.results(inputs, gives)

    def _fill(self, inputs: Tensors) -> None:
        if self._targets:
            torch._foreach_copy_(self._targets, [source(inputs) for source in self._sources])

    def _free(self, inputs: Tensors) -> tuple[Capture, bool] | None:
        """A capture that can be replayed for these inputs, and whether its results can be given."""
        free = []
        for capture in self._captures:
            if capture.is_free() and capture.fits(inputs):
                free.append(capture)
                if not self._keeps:
                    break
        if not free:
            return None
        # The one that was given longest ago comes first.
        self._captures.remove(free[0])
        self._captures.append(free[0])
        gives = not self._keeps or len(free) > 1
        if len(free) > 1 and self._made < MOST:
            self._keeps = False
        return free[0], gives

    def _another(self, inputs: Tensors) -> tuple[Capture | None, bool]:
        """A new capture, if there may be one, and whether its results are given."""
        if self._made == MOST:
            return None, False
        whole = [capture for capture in self._captures if capture.is_whole()]
        fitting = [capture for capture in whole if capture.fits(inputs)]
        if len(fitting) == PLACES:
            self._keeps = True
            whole.remove(fitting[0])
        elif whole and not fitting and not self._follows(inputs, whole[-1]):
            whole = []
        if len(whole) < len(self._captures):
            self._release()
        self._captures = whole
        fixed = [self._own.get(place, value) for place, value in enumerate(inputs)]
        try:
            capture = Capture(*self._recorded(fixed))
        except Exception as error:
            self._made = MOST
            logger.warning("a rewrite cannot be captured in a CUDA graph and is launched as a stream: %s", error)
            return None, False
        self._made += 1
        self._captures.append(capture)
        return capture, not self._keeps

    def _recorded(self, fixed: Tensors) -> tuple[Callable[[], None], Tensors, set[int], Tensors]:
        replay, results = self._record(fixed)
        return replay, fixed, set(self._own), results

    def _follows(self, inputs: Tensors, latest: Capture) -> bool:
        """Whether all inputs that moved are what other captures gave, which they do from few places: then another
        capture reads them there. The rest is copied from now on, but for parameters, which move once in a while, as
        when others are loaded."""
        moved = {place for place in latest.moved(inputs) if place not in self._own}
        given = {place for place, value in enumerate(inputs) if value.untyped_storage() in _GIVEN}
        if moved <= given:
            if self._followed < PLACES:
                self._followed += 1
                return True
            given = set()
        self._followed = 0
        is_again = bool(self._moves)
        self._moves.update(moved - given)
        for place, value in enumerate(inputs):
            if place in given:
                continue
            is_parameter = isinstance(value, torch.nn.Parameter)
            copies = self._moves[place] > 2 if is_parameter else is_again or place in moved
            if copies and place not in self._own:
                # Calls may come with and without inference mode, in which it could not be changed outside of it.
                with torch.inference_mode(False):
                    own = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=value.device)
                    self._targets.append(flat(own) if repeats(own) else own)
                self._own[place] = own
                self._sources.append(_flat_of(place) if repeats(own) else operator.itemgetter(place))
        self._fill(inputs)
        return False


def repeats(value: torch.Tensor) -> bool:
    """Whether a tensor has elements that are one in memory, as expanded ones."""
    return any(extent > 1 and step == 0 for extent, step in zip(value.shape, value.stride(), strict=True))


def _flat_of(place: int) -> Callable[[Tensors], torch.Tensor]:
    return lambda inputs: flat(inputs[place])


def flat(value: torch.Tensor) -> torch.Tensor:
    """The memory from the first element to the last."""
    last = sum((extent - 1) * step for extent, step in zip(value.shape, value.stride(), strict=True))
    return value.as_strided((last + 1 if value.numel() else 0,), (1,))
