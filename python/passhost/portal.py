"""A thread with an event loop, on which everything that is called without asyncio runs."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

#: Seconds that whoever interrupts a call waits for it to clean up.
_CLEANING = 12.0

_lock = threading.Lock()
_portal: tuple[int, asyncio.AbstractEventLoop] | None = None


def loop() -> asyncio.AbstractEventLoop:
    """The loop of this process. A fork has none of its parent's threads, and gets one of its own."""
    global _portal
    with _lock:
        if _portal is None or _portal[0] != os.getpid():
            made = asyncio.new_event_loop()
            threading.Thread(target=made.run_forever, name="passhost", daemon=True).start()
            _portal = (os.getpid(), made)
        return _portal[1]


def start(work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
    """Begins some work there."""
    return asyncio.run_coroutine_threadsafe(work, loop())


def call(work: Coroutine[Any, Any, T]) -> T:
    """Waits for some work there. Ctrl-C cancels it, and lets it clean up."""
    if asyncio._get_running_loop() is loop():
        work.close()
        raise RuntimeError("this would wait for itself: inside of a callback, use the client for asyncio")
    ended = threading.Event()

    async def whole() -> T:
        try:
            return await work
        finally:
            ended.set()

    future = start(whole())
    try:
        return future.result()
    except BaseException:
        if not future.done() or future.cancelled():
            future.cancel()
            ended.wait(_CLEANING)
        raise


# A lock that another thread holds during a fork is never released in the child.
os.register_at_fork(after_in_child=lambda: globals().update(_lock=threading.Lock()))
