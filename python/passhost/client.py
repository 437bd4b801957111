"""The client of `passhost serve` for asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from urllib.parse import quote

import httpx

from passhost import batch
from passhost.access import Access
from passhost.deadline import OutOfTime, within
from passhost.errors import (
    DeadlineExceeded,
    EvaluationCancelled,
    HostTrouble,
    PasshostError,
    refused,
)
from passhost.exchange import PASSING, Exchange, detail, may_pass
from passhost.patience import Backoff, Patience, retry_after
from passhost.results import About, Evaluation, Result, Sample
from passhost.submission import Submission

#: Seconds that an answer waits for an evaluation to end, at most.
LONGEST_POLL = 50.0
#: How often a submission of a run is made anew because somebody cancelled it, or the host failed.
_GENERATIONS = 8
#: Seconds that whoever gives up spends on telling the server so.
_GOODBYE = 5.0


@dataclass(frozen=True)
class Outcome:
    """What came of one submission of many: its result or its error."""

    submission: Submission
    result: Result | None = None
    error: PasshostError | None = None

    def unwrap(self) -> Result:
        """The result; raises the error."""
        if self.result is None:
            raise self.error or PasshostError("there is neither a result nor an error")
        return self.result


class AsyncClient:
    """Asks a server for evaluations.

    Every submission has an idempotency key, so that a request whose answer was lost can be sent again. Without `run`
    it is random: each call is another evaluation. With `run`, a name of your choice, it is a hash of that and of what
    is submitted: the same pass for the same sample is evaluated once in a run, whoever asks for it and however often
    the run is started again.
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
        """See `Access.find` for address and token, `Patience` for how long failures are waited out.

        `poll`: seconds that one answer waits for an evaluation to end, at most 50.
        """
        access = Access.find(address, token=token, token_file=token_file, insecure=insecure)
        self._exchange = Exchange(access, patience or Patience())
        self._run = run
        self._poll = max(0, int(min(poll, LONGEST_POLL)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._exchange.access.http!r})"

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._exchange.close()

    async def about(self) -> About:
        return await self._exchange.ask("GET", "/v1/about", About.read)

    async def samples(self) -> list[Sample]:
        return await self._exchange.ask("GET", "/v1/samples", Sample.read_all)

    async def submit(self, submission: Submission, *, key: str | None = None) -> str:
        """Queues a submission and returns the name of its evaluation. It is on the server's disk then."""
        return await self._exchange.ask(
            "POST",
            f"/v1/evaluations?sample={quote(submission.sample, safe='')}",
            lambda value: str(value["id"]),
            headers={"Content-Type": submission.kind, "Idempotency-Key": key or self._key(submission, 0)},
            content=submission.content,
        )

    async def look(self, id: str, *, wait: float = 0.0) -> Evaluation:
        """What is known of an evaluation, at its end or after `wait` seconds, at most 50."""
        seconds = max(0, int(min(wait, LONGEST_POLL)))
        params = {"wait": str(seconds)}
        return await self._exchange.ask("GET", _path(id), Evaluation.read, params=params, wait=seconds)

    async def wait(self, id: str, *, timeout: float | None = None) -> Evaluation:
        """Waits until an evaluation ends, however it ends; raises DeadlineExceeded after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        # A server that is about to end answers at once: it is not asked without pause.
        backoff = Backoff(self._exchange.patience)
        while True:
            left = float(self._poll) if deadline is None else max(0.0, deadline - time.monotonic())
            asked = time.monotonic()
            evaluation = await self.look(id, wait=min(left, self._poll))
            if evaluation.has_ended:
                return evaluation
            if deadline is not None and time.monotonic() >= deadline:
                raise DeadlineExceeded(
                    f"evaluation {id} is {evaluation.state} after {timeout:g} s; wait for it again, or cancel it",
                    evaluation,
                )
            if time.monotonic() - asked >= 1.0:
                backoff = Backoff(self._exchange.patience)
            else:
                await asyncio.sleep(min(backoff.failed() or self._exchange.patience.most, left))

    async def cancel(self, id: str) -> Evaluation:
        """Cancels an evaluation that has not ended. What runs has the device to its end, and comes to nothing."""
        return await self._exchange.ask("DELETE", _path(id), Evaluation.read)

    async def forget(self, id: str) -> None:
        """Removes an evaluation with what came of it, which makes room on the server's disk. One that has not ended is
        cancelled."""
        await self._exchange.ask("DELETE", _path(id), lambda _: None, params={"forget": "true"})

    async def events(self, id: str) -> AsyncGenerator[Evaluation, None]:
        """An evaluation in each state that it comes to, the last with what came of it."""
        path, told = f"{_path(id)}/events", set[str]()
        backoff = Backoff(self._exchange.patience)
        while True:
            asked = f"GET {path}"
            error: Exception = self._exchange.unreachable(asked, httpx.ReadError("the stream broke off"))
            passes, after = True, None
            try:
                async with self._exchange.stream(path) as answer:
                    if not answer.is_success:
                        error = refused(answer.status_code, detail(answer), asked)
                        passes, after = answer.status_code in PASSING, retry_after(answer.headers)
                    async for evaluation in _evaluations(answer):
                        backoff = Backoff(self._exchange.patience)
                        if evaluation.state not in told:
                            told.add(evaluation.state)
                            yield evaluation
                        if evaluation.has_ended:
                            return
            except httpx.TransportError as failure:
                error, passes = self._exchange.unreachable(asked, failure), may_pass(failure)
            await self._exchange.pause(backoff, error, passes, after)

    async def evaluate(self, submission: Submission, *, key: str | None = None, timeout: float | None = None) -> Result:
        """Submits, waits, and returns the result. Whoever is cancelled, or waits longer than `timeout`, cancels it.

        Raises HostTrouble where the host failed, EvaluationCancelled, DeadlineExceeded, and what `submit` raises. A
        pass that is wrong, or none, is a result.
        """
        try:
            return await within(timeout, self._evaluate(submission, key))
        except OutOfTime:
            raise DeadlineExceeded(
                f"the pass for {submission.sample} has no result after {timeout:g} s, and is cancelled; "
                "allow more time, or submit less at once"
            ) from None

    async def evaluate_many(
        self,
        submissions: Iterable[Submission],
        *,
        concurrency: int = 32,
        timeout: float | None = None,
        tell: Callable[[int, Outcome], None] | None = None,
    ) -> list[Outcome]:
        """Evaluates many, `concurrency` of them at once, and returns what came of each, in their order.

        One that fails has its error, and the others go on; after an error that all others would have as well (no
        server, no such token) those that were not begun have it too. `timeout` is for each. `tell` is called with the
        number and the outcome of each as it ends. Whoever is cancelled cancels those that were begun.
        """

        async def one(submission: Submission) -> Outcome:
            try:
                return Outcome(submission, result=await self.evaluate(submission, timeout=timeout))
            except PasshostError as error:
                return Outcome(submission, error=error)

        def skip(submission: Submission, error: PasshostError) -> Outcome:
            return Outcome(submission, error=error)

        return await batch.run(submissions, one, skip, concurrency=concurrency, tell=tell)

    def _key(self, submission: Submission, generation: int) -> str:
        return secrets.token_hex(16) if self._run is None else submission.key(self._run, generation)

    async def _evaluate(self, submission: Submission, key: str | None) -> Result:
        is_shared = key is None and self._run is not None
        for generation in range(_GENERATIONS if is_shared else 1):
            evaluation, is_old = await self._see_through(
                submission, key or self._key(submission, generation), is_shared
            )
            if not (is_shared and _is_void(evaluation, is_old)):
                break
        return _result(evaluation)

    async def _see_through(self, submission: Submission, key: str, is_shared: bool) -> tuple[Evaluation, bool]:
        """An evaluation at its end, and whether it had ended before it was asked for."""
        submitting = asyncio.ensure_future(self.submit(submission, key=key))
        try:
            # Whoever gives up meanwhile needs its name to cancel it.
            id = await asyncio.shield(submitting)
            if is_shared and (known := await self.look(id)).has_ended:
                return known, True
            return await self.wait(id), False
        except asyncio.CancelledError:
            await self._abandon(submitting)
            raise

    async def _abandon(self, submitting: asyncio.Future[str]) -> None:
        async def cancel() -> None:
            await self.cancel(await submitting)

        with contextlib.suppress(PasshostError, OutOfTime):
            await within(_GOODBYE, cancel())


def _path(id: str) -> str:
    return f"/v1/evaluations/{quote(id, safe='')}"


async def _evaluations(answer: httpx.Response) -> AsyncIterator[Evaluation]:
    """The values of server-sent events. Comments and other fields mean nothing here."""
    data: list[str] = []
    async for line in answer.aiter_lines():
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield Evaluation.read(json.loads("\n".join(data)))
            data = []


def _is_void(evaluation: Evaluation, is_old: bool) -> bool:
    """Whether an evaluation that others share is to be made anew: they cancelled it, or the host failed before."""
    if evaluation.state == "cancelled":
        return True
    of_host = evaluation.document is None or evaluation.document.get("blame") == "host"
    return is_old and evaluation.state == "finished" and of_host


def _result(evaluation: Evaluation) -> Result:
    if evaluation.state == "cancelled":
        raise EvaluationCancelled(f"evaluation {evaluation.id} was cancelled; submit it again", evaluation)
    if evaluation.document is None:
        why = evaluation.trouble or "the server says not why"
        raise HostTrouble(f"evaluation {evaluation.id} has no result: {why}", evaluation)
    try:
        return Result.read(evaluation.id, evaluation.document)
    except (KeyError, TypeError, ValueError) as error:
        raise HostTrouble(
            f"evaluation {evaluation.id} has a result document that this version cannot read ({error!r}); "
            "use the package of the server's version",
            evaluation,
        ) from None
