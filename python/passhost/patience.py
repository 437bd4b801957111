"""How long failures that pass by are waited out, and in which steps."""

from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Patience:
    """For how long the same request is asked again while the server is busy, restarts or cannot be reached."""

    #: Seconds of failures in a row. 0: nothing is asked again.
    seconds: float = 300.0
    #: Seconds before the second try, twice as many before each further one.
    first: float = 0.5
    #: Seconds between two tries, at most, where the server names none.
    most: float = 30.0


@dataclass
class Backoff:
    """Failures in a row, and when to try again."""

    patience: Patience
    clock: Callable[[], float] = time.monotonic
    _tries: int = field(default=0, init=False)
    _since: float | None = field(default=None, init=False)

    def failed(self, retry_after: float | None = None) -> float | None:
        """Seconds to wait before the next try, or None if patience is over.

        What the server asks for is waited in full, and a little more at random: clients that were refused together
        do not come back together.
        """
        now = self.clock()
        self._since = now if self._since is None else self._since
        step = min(self.patience.most, self.patience.first * 2**self._tries)
        self._tries = min(self._tries + 1, 60)
        jitter = random.random()
        delay = step * (0.5 + jitter / 2) if retry_after is None else retry_after + jitter * min(step, 1.0)
        return delay if now + delay - self._since <= self.patience.seconds else None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that an answer asks to wait: as a number, or until a date."""
    text = headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        until = email.utils.parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0.0, until - time.time())
