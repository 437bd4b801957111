"""The client of `passhost serve` without asyncio."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType

from passhost import portal
from passhost.client import LONGEST_POLL, AsyncClient, Outcome
from passhost.patience import Patience
from passhost.results import About, Evaluation, Result, Sample
from passhost.submission import Submission


class Client:
    """Asks a server for evaluations, as `AsyncClient` does, whose methods say what these do.

    It may be used from several threads, and in processes that were forked. Ctrl-C cancels what is being waited for.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        token: str | None = None,
        token_file: str | os.PathLike[str] | None = None,
        run: str | None = None,
        patience: Patience | None = None,
        poll: float = LONGEST_POLL,
        insecure: bool = False,
    ) -> None:
        def make() -> AsyncClient:
            return AsyncClient(
                address, token=token, token_file=token_file, run=run, patience=patience, poll=poll, insecure=insecure
            )

        self._make: Callable[[], AsyncClient] = make
        # Connections are not shared with a fork.
        self._made = (os.getpid(), make())

    def __repr__(self) -> str:
        return repr(self._made[1]).removeprefix("Async")

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _client(self) -> AsyncClient:
        if self._made[0] != os.getpid():
            self._made = (os.getpid(), self._make())
        return self._made[1]

    def close(self) -> None:
        portal.call(self._client.close())

    def about(self) -> About:
        return portal.call(self._client.about())

    def samples(self) -> list[Sample]:
        return portal.call(self._client.samples())

    def submit(self, submission: Submission, *, key: str | None = None) -> str:
        return portal.call(self._client.submit(submission, key=key))

    def look(self, id: str, *, wait: float = 0.0) -> Evaluation:
        return portal.call(self._client.look(id, wait=wait))

    def wait(self, id: str, *, timeout: float | None = None) -> Evaluation:
        return portal.call(self._client.wait(id, timeout=timeout))

    def cancel(self, id: str) -> Evaluation:
        return portal.call(self._client.cancel(id))

    def forget(self, id: str) -> None:
        portal.call(self._client.forget(id))

    def events(self, id: str) -> Iterator[Evaluation]:
        stream = self._client.events(id)

        async def following() -> Evaluation | None:
            return await anext(stream, None)

        try:
            while (evaluation := portal.call(following())) is not None:
                yield evaluation
        finally:
            portal.call(stream.aclose())

    def evaluate(self, submission: Submission, *, key: str | None = None, timeout: float | None = None) -> Result:
        return portal.call(self._client.evaluate(submission, key=key, timeout=timeout))

    def evaluate_many(
        self,
        submissions: Iterable[Submission],
        *,
        concurrency: int = 32,
        timeout: float | None = None,
        tell: Callable[[int, Outcome], None] | None = None,
    ) -> list[Outcome]:
        many = self._client.evaluate_many(submissions, concurrency=concurrency, timeout=timeout, tell=tell)
        return portal.call(many)
