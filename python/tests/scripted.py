"""Servers that do what a test says, over real connections."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from websockets.sync.server import ServerConnection, serve


@dataclass(frozen=True)
class Asked:
    """A request."""

    number: int
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def line(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True)
class Reply:
    """What is answered. `cut`: that many bytes of the body are sent, and the connection is closed."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None


#: In place of an answer: the connection is closed.
DROP = Reply(status=0)


def problem(status: int, detail: str, **headers: str) -> Reply:
    body = {"type": "about:blank", "title": "refused", "status": status, "detail": detail}
    return Reply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


class Recorded:
    """What was asked so far."""

    def __init__(self) -> None:
        self.all: list[Asked] = []
        self.lock = threading.Lock()
        self.url = ""

    def lines(self) -> list[str]:
        with self.lock:
            return [asked.line for asked in self.all]


@contextmanager
def http(answer: Callable[[Asked], Reply]) -> Iterator[Recorded]:
    """A server of HTTP, one thread for each connection."""
    recorded = Recorded()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def respond(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            with recorded.lock:
                headers = {name.lower(): value for name, value in self.headers.items()}
                query = dict(parse_qsl(parts.query))
                asked = Asked(len(recorded.all), self.command, parts.path, query, headers, body)
                recorded.all.append(asked)
            reply = answer(asked)
            self.close_connection = reply.cut is not None or reply.status == 0
            if reply.status == 0:
                return
            content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: reply.cut])

        do_GET = do_POST = do_DELETE = respond

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 256

        def handle_error(self, *_: Any) -> None:
            """A client may be gone before it is answered."""

    server = Server(("127.0.0.1", 0), Handler)
    recorded.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield recorded
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def websocket(talk: Callable[[ServerConnection], None], **options: Any) -> Iterator[str]:
    """A server of WebSockets; returns its address as that of HTTP."""
    with serve(talk, "127.0.0.1", 0, **options) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.socket.getsockname()[1]}"
        finally:
            server.shutdown()


def observation(text: str, reward: float | None = None, done: bool = False, **more: Any) -> dict[str, Any]:
    """A message of an environment."""
    whole = {"text": text, "tool": None, "pending": False, "sample": "chain", "steps": 0, "verdict": None}
    whole |= {"source_sha256": None} | more
    return {"type": "observation", "data": {"observation": whole, "reward": reward, "done": done}}


VERDICT = {
    "score": 1.5,
    "aggregate_score": 1.5,
    "aggregate_score_strict": 1.25,
    "verifies": True,
    "right": True,
    "findings": 0,
}


def document(blame: str | None = None, headline: str = "AS") -> dict[str, Any]:
    """A result document: of two variants, the second of which is wrong, or of one that is somebody's doing."""
    failure = blame and {"blame": blame, "stage": "build", "message": "it does not compile", "hint": "mend it"}
    variant = {"failure": None, "findings": [], "outputs": [{}], "timing": {"speedup": 2.0, "eager_us": 8.0}}
    return {
        "schema": "passhost.result/3",
        "status": "failed" if blame else "scored",
        "blame": blame,
        "failure": failure or None,
        "policy": {"name": "open", "text": json.dumps({"headline": headline})},
        "scores": None if blame else {"aggregate_score": 1.5, "aggregate_score_strict": 1.25},
        "variants": []
        if blame
        else [
            {**variant, "name": "float32", "class": None, "passes_at": -6},
            {**variant, "name": "float16", "class": "accuracy", "passes_at": None, "timing": None},
        ],
    }


class Desk:
    """Evaluations in memory, with the requests of `passhost serve`. What is submitted ends when it is asked for."""

    def __init__(self, ends: Callable[[str, bytes], dict[str, Any]] | None = None) -> None:
        self.ids: dict[str, str] = {}
        self.states: dict[str, dict[str, Any]] = {}
        self.ends = ends or (lambda _sample, _body: {"state": "finished", "document": document()})
        self.lock = threading.Lock()

    def answer(self, asked: Asked) -> Reply:
        if asked.line == "GET /v1/samples":
            return Reply(body={"samples": [{"name": "chain", "groups": ["reference"]}]})
        if asked.line == "GET /v1/about":
            return Reply(body={"host": "0.1.0", "devices": ["cpu"], "policy": "open"})
        with self.lock:
            if asked.line == "POST /v1/evaluations":
                return self.submit(asked)
            id = asked.path.rsplit("/", 1)[-1]
            if id not in self.states:
                return problem(404, "this client has no such evaluation")
            state = self.states[id]
            if asked.method == "DELETE" and state["state"] in ("waiting", "running"):
                state |= {"state": "cancelled"}
            elif asked.method == "GET" and state["state"] == "waiting" and asked.query.get("wait") != "0":
                state |= self.ends(state["sample"], state["body"])
            return Reply(body={name: value for name, value in state.items() if name not in ("body", "sample")})

    def submit(self, asked: Asked) -> Reply:
        if asked.query["sample"] != "chain":
            return problem(404, "there is no such sample here")
        key = asked.headers["idempotency-key"]
        id = self.ids.setdefault(key, f"id-{len(self.ids)}")
        new = {"id": id, "state": "waiting", "sample": asked.query["sample"], "body": asked.body}
        self.states.setdefault(id, new)
        return Reply(202, {"id": id, "state": "waiting"})
