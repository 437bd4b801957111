"""What `torch.compile(options=...)` may say, and the pass that it names."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from passhost.errors import SettingsError

if TYPE_CHECKING:
    from passhost._engine import Argument, Pass, Rewrite, TensorType

logger = logging.getLogger("passhost")


#: How many rewrites of a pass are kept, for graphs that come again.
REMEMBERED = 64


@dataclass(frozen=True)
class Options:
    """The options of the backend."""

    #: The compiled pass; None is the packaged autofuse.
    pass_: str | os.PathLike[str] | None = None
    #: What the pass may put into a rewrite: a policy of `passhost eval`.
    policy: str = "open"
    #: Whether to print a table of the pieces.
    report: bool = False
    #: Whether a piece must be right and faster than eager at the first call.
    check: bool = True
    #: `stream`, or `graph`: on a GPU a piece is captured in a CUDA graph where that is faster.
    launch: str = "stream"

    @staticmethod
    def parse(given: Mapping[str, Any] | None) -> Options:
        """Reads the options by their names; `pass` is also `pass_`, since Python keeps the word."""
        named = {"pass_" if name == "pass" else name: value for name, value in (given or {}).items()}
        kinds: dict[str, tuple[type, ...]] = {"pass_": (str, os.PathLike, type(None)), "policy": (str,)}
        kinds |= {"report": (bool,), "check": (bool,), "launch": (str,)}
        known = ", ".join(field.name.rstrip("_") for field in fields(Options))
        for name, value in named.items():
            if name not in kinds:
                raise SettingsError(f"option {name!r} is unknown; the backend passhost has {known}")
            if not isinstance(value, kinds[name]):
                expected = " or ".join(kind.__name__ for kind in kinds[name])
                raise SettingsError(f"option {name.rstrip('_')!r} is {value!r}; expected {expected}")
        options = Options(**named)
        if options.launch not in ("stream", "graph"):
            raise SettingsError(f"option 'launch' is {options.launch!r}; expected 'stream' or 'graph'")
        return options

    def path(self) -> Path:
        """The file of the pass."""
        if self.pass_ is not None:
            path = Path(self.pass_)
            if not path.is_file():
                raise SettingsError(f"pass {path} is no file; give the .wasm that the pass was compiled to")
            return path.resolve()
        path = Path(__file__).parent.parent / "passes" / "autofuse.wasm"
        if not path.is_file():
            raise SettingsError("autofuse is not in this installation; name a pass with options={'pass': PATH}")
        return path


class LoadedPass:
    """A pass in its guest process. One that failed once is left alone."""

    def __init__(self, path: Path, policy: str) -> None:
        self.name = path.stem
        self.failed = False
        self._pass: Pass | None = None
        #: By graph, GPU, number of threads and whether kernels are captured.
        self._rewrites: dict[tuple[str, int | None, int, bool], Rewrite] = {}
        from passhost import _engine

        self._errors = _engine
        try:
            self._pass = _engine.Pass(str(path), policy)
            self.name = self._pass.name
        except _engine.PassError as error:
            self.fail(error)
        except _engine.EngineError as error:
            raise SettingsError(f"pass {path} cannot be loaded: {error}") from error

    def fail(self, error: Exception) -> None:
        """Says so, once."""
        if not self.failed:
            logger.warning("pass %s failed and the model runs as it was: %s", self.name, error)
        self.failed = True

    def rewrite(
        self,
        text: str,
        device: int | None,
        types: Callable[[str, str, list[Argument]], list[TensorType]],
        captured: bool = False,
    ) -> Rewrite:
        """The verified rewrite of a graph, whose kernels may be captured in a graph. PassError if the pass fails."""
        if self._pass is None or self.failed:
            raise self._errors.PassError(f"pass {self.name} failed before")
        threads = torch.get_num_threads()
        key = text, device, threads, captured
        if key not in self._rewrites:
            if len(self._rewrites) >= REMEMBERED:
                self._rewrites.pop(next(iter(self._rewrites)), None)
            self._rewrites[key] = self._pass.rewrite(text, device, types, threads, captured)
        return self._rewrites[key]


_LOADED: dict[tuple[Path, str, int, int], LoadedPass] = {}


def load(options: Options) -> LoadedPass:
    """The pass that the options name, loaded once for a file and policy."""
    path = options.path()
    status = path.stat()
    key = (path, options.policy, status.st_mtime_ns, status.st_size)
    if key not in _LOADED:
        _LOADED[key] = LoadedPass(path, options.policy)
    return _LOADED[key]
