"""What the author of a script that extracts reads at its end: samples that no call has written, and a refusal on one line."""

from __future__ import annotations

import atexit
import sys
import traceback
from itertools import takewhile
from pathlib import Path
from types import TracebackType

from .errors import ExtractError

# Samples that no call has written yet.
_uncalled: dict[str, None] = {}


def wait_for_call(sample: str) -> None:
    """Have the end of the script say so if nobody calls the model whose sample this is."""
    _uncalled[sample] = None


def called(sample: str) -> None:
    """The model was called: its sample is written, or the call says why not."""
    _uncalled.pop(sample, None)


@atexit.register
def _say_what_was_not_called() -> None:
    # A script that failed has said why nothing came after that.
    if getattr(sys, "last_value", None) is None:
        for sample in _uncalled:
            print(f"{sample}: nothing was extracted; call the model that extract() returned", file=sys.stderr)


def _say_refusal(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A refusal says all in its message, so that the line of the script suffices in place of a traceback."""
    if not isinstance(error, ExtractError):
        return sys.__excepthook__(kind, error, trace)
    package = Path(__file__).parent
    *_, caller = takewhile(lambda frame: Path(frame.filename).parent != package, traceback.extract_tb(trace))
    print(f"error: {caller.filename}:{caller.lineno}: {error}", file=sys.stderr)


# Whoever has a hook already keeps it.
if sys.excepthook is sys.__excepthook__:
    sys.excepthook = _say_refusal
