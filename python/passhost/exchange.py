"""One request and its answer, asked again for as long as failures pass by."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import httpx

from passhost.access import Access
from passhost.errors import Unreachable, refused
from passhost.patience import Backoff, Patience, retry_after

T = TypeVar("T")

logger = logging.getLogger("passhost")

#: Answers after which the same request may succeed.
#: What may be otherwise when it is asked again.
PASSING = frozenset({408, 429, 502, 503, 504})
#: Seconds beyond those that an answer is asked to wait.
_SLACK = 20.0
#: A connection that was there and is not.
_BROKEN = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)
#: Bytes from which on a connection that breaks may do so because they are too many: a server that refuses them while
#: they are sent closes it, and its answer is lost.
_LARGE = 1 << 20
#: How often that is tried.
_LARGE_TRIES = 3


class Exchange:
    """Requests to one server. Each of them may be sent twice: what it does, it does once."""

    def __init__(self, access: Access, patience: Patience) -> None:
        self.access = access
        self.patience = patience
        # Whether the last that was heard of the server is a failure, which was told then.
        self._fails = False
        # As many connections as whoever calls has requests; the server has limits of its own.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=32)
        self._http = httpx.AsyncClient(base_url=access.http, auth=access.token, limits=limits)

    async def close(self) -> None:
        await self._http.aclose()

    async def ask(
        self,
        method: str,
        path: str,
        read: Callable[[Any], T],
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        wait: float = 0.0,
    ) -> T:
        """What `read` makes of the JSON that is answered.

        Raises Refused for what the server refuses, Unreachable where it does not answer, or something else does.
        """
        asked, backoff, broken = f"{method} {path}", Backoff(self.patience), 0
        timeout = httpx.Timeout(60.0, connect=10.0, read=wait + _SLACK, pool=None)
        while True:
            error: Exception
            try:
                answer = await self._http.request(
                    method, path, params=params, headers=headers, content=content, timeout=timeout
                )
                if answer.is_success:
                    value = read(answer.json() if answer.content else None)
                    self._fails = False
                    return value
                error = refused(answer.status_code, detail(answer), asked)
                passes, after = answer.status_code in PASSING, retry_after(answer.headers)
            except (KeyError, TypeError, AttributeError) as failure:
                raise Unreachable(
                    f"{asked}: what answers at {self.access.http} is no `passhost serve` of this version "
                    f"({failure!r}); see that the address is its"
                ) from None
            except (httpx.TransportError, ValueError) as failure:
                # An answer that is no JSON was cut off, or is not this server's.
                error, passes, after = self.unreachable(asked, failure), may_pass(failure), None
                broken += isinstance(failure, _BROKEN)
                if content and len(content) >= _LARGE and broken >= _LARGE_TRIES:
                    said = f"the connection broke {broken} times while {len(content)} bytes were sent"
                    error, passes = refused(413, f"{said}; that may be more than the server takes", asked), False
            await self.pause(backoff, error, passes, after)

    async def pause(self, backoff: Backoff, error: Exception, passes: bool, after: float | None) -> None:
        """Waits before the next try, or raises what went wrong where there is none."""
        delay = backoff.failed(after) if passes else None
        if delay is None:
            raise error from None
        logger.log(
            logging.INFO if self._fails else logging.WARNING,
            "%s; asking again in %.1f s, and for %.0f s in all",
            error,
            delay,
            self.patience.seconds,
        )
        self._fails = True
        await asyncio.sleep(delay)

    def unreachable(self, asked: str, failure: Exception) -> Unreachable:
        said = str(failure) or type(failure).__name__
        return Unreachable(
            f"{asked}: no answer from {self.access.http} ({said}); see that `passhost serve` listens there"
        )

    @asynccontextmanager
    async def stream(self, path: str) -> AsyncIterator[httpx.Response]:
        """An answer that comes in pieces. It is tried once; raises as httpx does."""
        timeout = httpx.Timeout(60.0, connect=10.0, pool=None)
        async with self._http.stream("GET", path, timeout=timeout) as answer:
            if not answer.is_success:
                await answer.aread()
            yield answer


def detail(answer: httpx.Response) -> str:
    """Why a request was refused, in the server's words, or in those of something on the way to it."""
    try:
        value = answer.json()
        text = value.get("detail") if isinstance(value, dict) else None
    except ValueError:
        text = None
    text = text if isinstance(text, str) and text else answer.text.strip() or answer.reason_phrase
    return " ".join(text.split())[:500]


def may_pass(failure: Exception) -> bool:
    """Whether trying again makes sense: not with a certificate that nobody vouches for, or another protocol."""
    if isinstance(failure, (httpx.UnsupportedProtocol, httpx.LocalProtocolError)):
        return False
    cause: BaseException | None = failure
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return False
        cause = cause.__cause__ or cause.__context__
    return True
