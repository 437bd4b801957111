"""Where a server is and who asks it. A token is in no representation, no message and no record of a log."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

import httpx

from passhost.errors import SettingsError

#: Schemes, by whether the connection is encrypted, as HTTP and as a WebSocket.
_SCHEMES = {"http": ("http", "ws"), "ws": ("http", "ws"), "https": ("https", "wss"), "wss": ("https", "wss")}


class Token(httpx.Auth):
    """A secret that is sent and never shown."""

    def __init__(self, secret: str) -> None:
        if not secret or not secret.isascii() or not secret.isprintable() or " " in secret:
            raise SettingsError(
                "a token is one word of printable ASCII, and this is none; give what `passhost token` printed"
            )
        self._secret = secret

    def __repr__(self) -> str:
        return "Token(hidden)"

    @property
    def header(self) -> str:
        """The value of the header `Authorization`."""
        return f"Bearer {self._secret}"

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Lets httpx add the header at the last moment."""
        request.headers["Authorization"] = self.header
        yield request


@dataclass(frozen=True)
class Access:
    """A server, and the token for it."""

    #: `http://HOST:PORT`, with a path in front of `/v1` where there is one.
    http: str
    #: `ws://HOST:PORT/ws`.
    socket: str
    token: Token | None

    @staticmethod
    def find(
        address: str | None = None,
        *,
        token: str | None = None,
        token_file: str | os.PathLike[str] | None = None,
        insecure: bool = False,
    ) -> Access:
        """Takes what is given, else what the environment says.

        `address` is `http://HOST:PORT`, or `https`, `ws`, `wss`, else `PASSHOST_URL`. The token is the first there is
        of: `token`, the text of `token_file`, `http://NAME:TOKEN@HOST`, `PASSHOST_TOKEN`, the text of the file
        `PASSHOST_TOKEN_FILE`. To other machines it is sent encrypted alone, or with `insecure`.

        Raises SettingsError for what cannot be used.
        """
        given = address or os.environ.get("PASSHOST_URL")
        if not given:
            raise SettingsError("no server is named; give its address, or set PASSHOST_URL to it")
        parts = _split(given)
        http, socket = _SCHEMES[parts.scheme]
        host = parts.hostname or ""
        found = _token(token, token_file, parts.password)
        if found and http == "http" and not insecure and not _is_here(host):
            raise SettingsError(
                f"{host} is another machine, and http would show it the token unencrypted on the way; "
                "give an https address, or `insecure=True` on a network that nobody else is on"
            )
        place = parts.netloc.rpartition("@")[2]
        path = parts.path.rstrip("/").removesuffix("/ws")
        return Access(urlunsplit((http, place, path, "", "")), urlunsplit((socket, place, f"{path}/ws", "", "")), found)


def _split(address: str) -> SplitResult:
    """The parts of an address. A message must not quote it: it may hold a token."""
    try:
        parts = urlsplit(address.strip())
        _ = parts.port
    except ValueError:
        raise SettingsError("the address is no URL; give one such as http://127.0.0.1:8731") from None
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise SettingsError("the address has no scheme or no host; give one such as http://127.0.0.1:8731")
    return parts


def _token(given: str | None, file: str | os.PathLike[str] | None, in_address: str | None) -> Token | None:
    if given:
        return Token(given)
    if file:
        return Token(_read(file))
    if in_address:
        return Token(unquote(in_address))
    if secret := os.environ.get("PASSHOST_TOKEN"):
        return Token(secret)
    if path := os.environ.get("PASSHOST_TOKEN_FILE"):
        return Token(_read(path))
    return None


def _read(file: str | os.PathLike[str]) -> str:
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise SettingsError(f"cannot read the token file {os.fspath(file)}: {reason}") from None


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
