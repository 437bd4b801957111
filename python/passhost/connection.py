"""The WebSocket that an episode lives on."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from passhost import plain
from passhost.access import Access
from passhost.deadline import OutOfTime, within
from passhost.errors import EpisodeLost, Unreachable, refused
from passhost.patience import retry_after

#: Bytes of a message that the server takes.
_LONGEST = 1 << 20
#: Bytes of an answer, at most.
_LARGEST = 16 << 20
#: Seconds within which every message is answered: the server promises 50.
_ANSWER = 90.0


class TooLong(Exception):
    """A message that would end the connection. It was not sent."""


class _Hidden(logging.Filter):
    """websockets writes each header of a request to its log; a token is none of its business."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple) and record.args and str(record.args[0]).lower() == "authorization":
            record.args = (record.args[0], "hidden", *record.args[2:])
        return True


_logger = logging.getLogger("passhost.connection")
_logger.addFilter(_Hidden())


class _Connect(connect):
    """A connection to the server that was named, and to no other that it names."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


class Socket:
    """One connection. After an error of it there is no other message on it."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    @staticmethod
    async def open(access: Access) -> Socket:
        """Connects once.

        Raises Refused for what the server refuses, with `retry_after` of its answer, and Unreachable.
        """
        headers = {} if access.token is None else {"Authorization": access.token.header}
        try:
            connection = await _Connect(access.socket, additional_headers=headers, max_size=_LARGEST, logger=_logger)
        except InvalidStatus as error:
            answer = error.response
            body = bytes(answer.body or b"").decode(errors="replace")
            refusal = refused(answer.status_code, _detail(body) or answer.reason_phrase, f"GET {access.socket}")
            refusal.retry_after = retry_after(answer.headers)
            raise refusal from None
        except (OSError, WebSocketException, asyncio.TimeoutError) as error:
            said = str(error) or type(error).__name__
            raise Unreachable(
                f"no connection to {access.socket} ({said}); see that `passhost serve` listens there"
            ) from error
        return Socket(connection)

    async def exchange(self, kind: str, data: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """A message and its answer, by its type and data.

        Raises EpisodeLost if the connection breaks, or what is answered is none of the protocol, and TooLong.
        """
        message: dict[str, Any] = {"type": kind} if data is None else {"type": kind, "data": data}
        text = plain.text(message)
        if len(text.encode()) > _LONGEST:
            raise TooLong(f"the call has {len(text.encode())} bytes, of which {_LONGEST} are taken; write less")
        try:
            await self._connection.send(text)
            answer = json.loads(await within(_ANSWER, self._connection.recv()))
            return answer["type"], answer.get("data") or {}
        except (ConnectionClosed, OutOfTime, OSError) as error:
            said = str(error) or f"no answer within {_ANSWER:g} s"
            raise EpisodeLost(f"the connection of the episode broke ({said}); begin another one with reset") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise EpisodeLost(
                f"what was answered to `{kind}` is no message of OpenEnv ({error!r}); see that the address is that of "
                "`passhost serve`"
            ) from error

    async def close(self) -> None:
        await self._connection.close()


def _detail(body: str) -> str:
    try:
        value = json.loads(body)
        return str(value["detail"])[:500] if isinstance(value, dict) and "detail" in value else ""
    except ValueError:
        return " ".join(body.split())[:500]
