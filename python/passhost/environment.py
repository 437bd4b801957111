"""Episodes in which a model writes a pass: the environment that `passhost serve` has at /ws, in OpenEnv's protocol."""

from __future__ import annotations

import asyncio
import os
import weakref
from dataclasses import replace
from types import TracebackType
from typing import Any

from passhost import portal
from passhost.access import Access
from passhost.connection import Socket, TooLong
from passhost.deadline import OutOfTime, within
from passhost.episode import Observation, State, Verdict
from passhost.errors import (
    Busy,
    DeadlineExceeded,
    EpisodeError,
    EpisodeLost,
    EpisodeOver,
    PasshostError,
    ServerFault,
    Unreachable,
)
from passhost.exchange import logger, may_pass
from passhost.patience import Backoff, Patience

#: Seconds that one step may take, evaluations of others that come before included.
STEP = 1800.0
#: Errors after which an episode does not go on, by the host's doing.
_FATAL = frozenset({"EXECUTION_ERROR", "SESSION_ERROR", "CAPACITY_REACHED"})
#: Errors after which a new connection may find room.
_PASSING = frozenset({"SESSION_ERROR", "CAPACITY_REACHED"})


class AsyncEnvironment:
    """One environment, with one episode at a time.

    `reset` begins an episode and `step` calls a tool in it; `step` returns when the tool is done, however long that
    takes, up to `deadline` seconds. Messages are sent one after the other, in the order of the calls.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        token: str | None = None,
        token_file: str | os.PathLike[str] | None = None,
        deadline: float = STEP,
        patience: Patience | None = None,
        insecure: bool = False,
    ) -> None:
        """See `Access.find` for address and token, `Patience` for how long failures to connect are waited out."""
        self._access = Access.find(address, token=token, token_file=token_file, insecure=insecure)
        self._patience = patience or Patience()
        self._deadline = deadline
        self._socket: Socket | None = None
        self._lock: asyncio.Lock | None = None
        self._lost: EpisodeLost | DeadlineExceeded | None = None
        self._last: Observation | None = None
        self._verdict: Verdict | None = None
        self._paid = 0.0

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._access.http!r})"

    async def __aenter__(self) -> AsyncEnvironment:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def last(self) -> Observation | None:
        """The last observation of this episode."""
        return self._last

    @property
    def reward(self) -> float:
        """What the episode has paid so far; at its end its score."""
        return self._paid

    @property
    def worth(self) -> float:
        """What the episode is worth if nothing more is called: the score of what was submitted, else of what was
        evaluated last, as the model is told; else what it has paid."""
        has_ended = self._last is not None and self._last.done
        return self._paid if has_ended or self._verdict is None else self._verdict.score

    @property
    def lost(self) -> EpisodeLost | DeadlineExceeded | None:
        """Why the episode cannot go on, if so. What it has paid says nothing then."""
        return self._lost

    async def reset(
        self, sample: str | None = None, *, seed: int | None = None, episode_id: str | None = None
    ) -> Observation:
        """Begins an episode: on a sample by its name, else on one by `seed`. An episode that runs is given up."""
        data = {"sample": sample, "seed": seed, "episode_id": episode_id}
        data = {name: value for name, value in data.items() if value is not None}
        async with self._turn():
            self._lost, self._last, self._verdict, self._paid = None, None, None, 0.0
            backoff = Backoff(self._patience)
            while True:
                is_new = self._socket is None
                try:
                    socket = self._socket or await Socket.open(self._access)
                    self._socket = socket
                    return await self._settled(socket, await self._answer(socket, "reset", data))
                except EpisodeError as error:
                    if error.code not in _PASSING:
                        raise
                    await self._drop()
                    await _pause(backoff, error, self._patience)
                except EpisodeLost as error:
                    self._lost = None
                    # A connection of long ago may be gone without a word.
                    if is_new:
                        await _pause(backoff, error, self._patience)
                except (Busy, ServerFault, Unreachable) as error:
                    await _pause(backoff, error, self._patience)

    async def step(self, tool: str, /, **arguments: Any) -> Observation:
        """Calls a tool and returns what came of it.

        What the model does wrong is an observation. Raises EpisodeOver before the first `reset` and after the last
        step, EpisodeLost if the connection breaks or the host fails, and DeadlineExceeded.
        """
        async with self._turn():
            socket = self._running()
            try:
                return await within(self._deadline, self._step(socket, tool, arguments))
            except EpisodeError as error:
                if error.code not in _FATAL:
                    raise
                self._lost = EpisodeLost(f"the host gave the episode up: {error.detail}; begin another one with reset")
                await self._drop()
                raise self._lost from None
            except OutOfTime:
                self._lost = DeadlineExceeded(
                    f"{tool} is not done after {self._deadline:g} s, and the episode is given up; allow more time, or "
                    "have fewer episodes at once"
                )
                await self._drop()
                raise self._lost from None

    async def state(self) -> State:
        """Where the episode stands, in the server's words."""
        async with self._turn():
            if self._socket is None:
                raise self._lost or EpisodeOver("there is no episode; begin one with reset")
            return State.read(await self._answer(self._socket, "state", None))

    async def close(self) -> None:
        """Ends the episode and the connection. `reset` makes another."""
        if self._socket is not None:
            self._lost = self._lost or EpisodeLost("the environment was closed; begin another episode with reset")
            await self._drop()

    def _turn(self) -> asyncio.Lock:
        if self._lock is None:
            self._lock = asyncio.Lock()
        return self._lock

    def _running(self) -> Socket:
        if self._lost is not None:
            raise self._lost
        if self._last is None or self._socket is None:
            raise EpisodeOver("there is no episode; begin one with reset")
        if self._last.done:
            raise EpisodeOver("the episode has ended; begin another one with reset")
        return self._socket

    async def _step(self, socket: Socket, tool: str, arguments: dict[str, Any]) -> Observation:
        given = {name: value for name, value in arguments.items() if value is not None}
        try:
            data = await self._answer(socket, "step", {"tool": tool, "arguments": given})
        except TooLong as error:
            # The model's doing, as other wrong arguments are.
            assert self._last is not None
            return replace(self._last, text=f"error: {error}", tool=None, reward=0.0, verdict=None)
        return await self._settled(socket, data)

    async def _settled(self, socket: Socket, data: dict[str, Any]) -> Observation:
        """Goes on waiting for what is not done."""
        seen = self._observed(data)
        while seen.pending:
            seen = self._observed(await self._answer(socket, "step", {"tool": "wait"}))
        return seen

    def _observed(self, data: dict[str, Any]) -> Observation:
        try:
            seen = Observation.read(data)
        except (KeyError, TypeError, ValueError) as error:
            raise EpisodeError("UNKNOWN", f"an observation that this version cannot read ({error!r})") from None
        self._paid += seen.reward
        self._last, self._verdict = seen, seen.verdict or self._verdict
        return seen

    async def _answer(self, socket: Socket, kind: str, data: dict[str, Any] | None) -> dict[str, Any]:
        try:
            answered, value = await socket.exchange(kind, data)
        except EpisodeLost as error:
            self._lost = error
            await self._drop()
            raise
        except TooLong:
            raise
        except BaseException:
            # Whose answer comes next cannot be told any more.
            self._lost = EpisodeLost("a step was cancelled, and its episode given up; begin another one with reset")
            await self._drop()
            raise
        if answered == "error":
            raise EpisodeError(str(value.get("code", "UNKNOWN")), str(value.get("message", "it says not why")))
        return value

    async def _drop(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            await socket.close()


async def _pause(backoff: Backoff, error: PasshostError, patience: Patience) -> None:
    after = getattr(error, "retry_after", None)
    passes = not isinstance(error, Unreachable) or may_pass(error)
    delay = backoff.failed(after) if passes else None
    if delay is None:
        raise error
    logger.warning("%s; trying again in %.1f s, and for %.0f s in all", error, delay, patience.seconds)
    await asyncio.sleep(delay)


class Environment:
    """One environment without asyncio, as `AsyncEnvironment`, whose methods say what these do."""

    def __init__(
        self,
        address: str | None = None,
        *,
        token: str | None = None,
        token_file: str | os.PathLike[str] | None = None,
        deadline: float = STEP,
        patience: Patience | None = None,
        insecure: bool = False,
    ) -> None:
        self._environment = AsyncEnvironment(
            address, token=token, token_file=token_file, deadline=deadline, patience=patience, insecure=insecure
        )
        # A training loop drops environments without a word.
        self._finalizer = weakref.finalize(self, _close, self._environment)
        self._finalizer.atexit = False

    def __repr__(self) -> str:
        return repr(self._environment).removeprefix("Async")

    def __enter__(self) -> Environment:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def last(self) -> Observation | None:
        return self._environment.last

    @property
    def reward(self) -> float:
        return self._environment.reward

    @property
    def worth(self) -> float:
        return self._environment.worth

    @property
    def lost(self) -> EpisodeLost | DeadlineExceeded | None:
        return self._environment.lost

    def reset(
        self, sample: str | None = None, *, seed: int | None = None, episode_id: str | None = None
    ) -> Observation:
        return portal.call(self._environment.reset(sample, seed=seed, episode_id=episode_id))

    def step(self, tool: str, /, **arguments: Any) -> Observation:
        return portal.call(self._environment.step(tool, **arguments))

    def state(self) -> State:
        return portal.call(self._environment.state())

    def close(self) -> None:
        portal.call(self._environment.close())


def _close(environment: AsyncEnvironment) -> None:
    portal.start(environment.close())
