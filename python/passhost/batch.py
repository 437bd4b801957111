"""Many at once, in their order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol, TypeVar

from passhost.errors import PasshostError


class Ended(Protocol):
    """What comes of an item."""

    @property
    def error(self) -> PasshostError | None: ...


Item = TypeVar("Item")
End = TypeVar("End", bound=Ended)


async def run(
    items: Iterable[Item],
    one: Callable[[Item], Awaitable[End]],
    skip: Callable[[Item, PasshostError], End],
    *,
    concurrency: int,
    tell: Callable[[int, End], None] | None,
) -> list[End]:
    """What `one` makes of each item, at most `concurrency` at once, in the order of the items.

    Items are taken one by one. After an error that is hopeless the rest is skipped with it. If this is cancelled, or
    something raises, all that was begun is cancelled and waited for.
    """
    if concurrency < 1:
        raise ValueError(f"concurrency is {concurrency}; at least 1")
    left, ends = enumerate(items), dict[int, End]()
    hopeless: list[PasshostError] = []

    async def work() -> None:
        for number, item in left:
            end = skip(item, hopeless[0]) if hopeless else await one(item)
            if end.error is not None and end.error.is_hopeless:
                hopeless.append(end.error)
            ends[number] = end
            if tell is not None:
                tell(number, end)

    workers = [asyncio.ensure_future(work()) for _ in range(concurrency)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    return [ends[number] for number in sorted(ends)]
