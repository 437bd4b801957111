"""The lock of compilation: Dynamo's own, since it holds that when it calls the backend."""

from __future__ import annotations

import os

from torch._dynamo.convert_frame import compile_lock

__all__ = ["compile_lock"]

# What another thread compiles would never end in the child, and the lock never be free: a fork waits for it.
os.register_at_fork(
    before=compile_lock.acquire, after_in_parent=compile_lock.release, after_in_child=compile_lock.release
)
