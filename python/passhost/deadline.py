"""Work that may take so long and no longer."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class OutOfTime(Exception):
    """It took longer."""


async def within(seconds: float | None, work: Coroutine[Any, Any, T]) -> T:
    """What comes of some work; raises OutOfTime if it takes longer.

    Whoever is cancelled meanwhile is cancelled: `asyncio.wait_for` forgets that before Python 3.12 where the work ends
    in the same moment. In both cases the work is cancelled, and has cleaned up when this returns.
    """
    task = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        await _end(task)
        raise
    if not done:
        await _end(task)
        raise OutOfTime
    return task.result()


async def _end(task: asyncio.Future[Any]) -> None:
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled():
        # Its error is nobody's: what it was for is given up.
        task.exception()
