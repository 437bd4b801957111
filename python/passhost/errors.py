"""What can go wrong, by what there is to do about it. No message holds a token."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from passhost.results import Evaluation


class PasshostError(Exception):
    """Anything that this package raises of its own accord."""

    #: Whether whatever else is asked of the same server with the same token fails alike.
    is_hopeless = False


class SettingsError(PasshostError):
    """What was given cannot be used: an address, a token, a file. Nothing was asked of a server."""


class InputMismatch(PasshostError):
    """Inputs or weights are not of the types that a model was compiled for ahead of time."""


class Unreachable(PasshostError):
    """No answer for as long as failures are waited out: the server is down, or something on the way to it."""

    is_hopeless = True


class Refused(PasshostError):
    """The server said no: `status` of HTTP, and `detail` in its words."""

    #: What there is to do beside what the server says.
    advice = ""

    def __init__(self, status: int, detail: str, asked: str) -> None:
        super().__init__(f"{asked}: {status}, {detail}" + (f"; {self.advice}" if self.advice else ""))
        self.status = status
        self.detail = detail
        self.asked = asked
        #: Seconds after which the server takes it again, where it says so.
        self.retry_after: float | None = None

    def __reduce__(self) -> tuple[type[Refused], tuple[int, str, str]]:
        return type(self), (self.status, self.detail, self.asked)


class InvalidSubmission(Refused):
    """400, 405, 411, 413, 415 and others: as it is, it is never taken."""


class Unauthorized(Refused):
    """401 or 403: the token is missing, unknown, or not for this."""

    advice = "a token is what `passhost token NAME` printed on standard error"
    is_hopeless = True


class NotFound(Refused):
    """404: no such sample, or no such evaluation of this client."""


class KeyReused(Refused):
    """409: the idempotency key stands for another submission."""


class Busy(Refused):
    """408, 429 or 503, for longer than failures are waited out."""

    advice = "ask less at once, or be more patient"


class Full(Refused):
    """507: the client has all the room on the disk that it may have. Results that were read can be forgotten."""

    advice = "`forget` removes results that have been read"
    is_hopeless = True


class ServerFault(Refused):
    """Another 5xx: a fault of the server."""

    advice = "tell its operator"


class NoResult(PasshostError):
    """An evaluation ended without a result, or did not end: `evaluation` is what is known of it."""

    def __init__(self, message: str, evaluation: Evaluation | None = None) -> None:
        super().__init__(message)
        self.evaluation = evaluation


class EvaluationCancelled(NoResult):
    """Somebody cancelled it."""


class HostTrouble(NoResult):
    """The host could not evaluate it, by its own doing: it says nothing of the pass. Another try may succeed."""


class DeadlineExceeded(NoResult):
    """It took longer than was allowed."""


class EpisodeError(PasshostError):
    """The server refused a message of an episode: `code` and `detail` in its words."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"the environment refused a message: {code}, {detail}")
        self.code = code
        self.detail = detail

    def __reduce__(self) -> tuple[type[EpisodeError], tuple[str, str]]:
        return type(self), (self.code, self.detail)


class EpisodeLost(PasshostError):
    """The connection that an episode lived on is gone, and the episode with it. Its rewards say nothing of the pass."""


class EpisodeOver(PasshostError):
    """A step after the last one, or before the first `reset`."""


BY_STATUS: dict[int, type[Refused]] = {
    401: Unauthorized,
    403: Unauthorized,
    404: NotFound,
    408: Busy,
    409: KeyReused,
    429: Busy,
    503: Busy,
    507: Full,
}


def refused(status: int, detail: str, asked: str) -> Refused:
    """The error of an answer that is none of success."""
    kind = BY_STATUS.get(status, ServerFault if status >= 500 else InvalidSubmission)
    return kind(status, detail, asked)
