"""Evaluate compiler passes on a passhost server, and train language models against it."""

from typing import TYPE_CHECKING, Any

from passhost.access import Access, Token
from passhost.blocking import Client
from passhost.client import AsyncClient, Outcome
from passhost.environment import AsyncEnvironment, Environment
from passhost.episode import Observation, State, Verdict
from passhost.errors import (
    Busy,
    DeadlineExceeded,
    EpisodeError,
    EpisodeLost,
    EpisodeOver,
    EvaluationCancelled,
    Full,
    HostTrouble,
    InputMismatch,
    InvalidSubmission,
    KeyReused,
    NoResult,
    NotFound,
    PasshostError,
    Refused,
    ServerFault,
    SettingsError,
    Unauthorized,
    Unreachable,
)
from passhost.patience import Patience
from passhost.results import About, Evaluation, Failure, Result, Sample, Variant
from passhost.submission import Submission

__all__ = [
    "About",
    "Access",
    "AsyncClient",
    "AsyncEnvironment",
    "Busy",
    "Client",
    "DeadlineExceeded",
    "Environment",
    "EpisodeError",
    "EpisodeLost",
    "EpisodeOver",
    "Evaluation",
    "EvaluationCancelled",
    "Failure",
    "Full",
    "HostTrouble",
    "InputMismatch",
    "InvalidSubmission",
    "KeyReused",
    "NoResult",
    "NotFound",
    "Observation",
    "Outcome",
    "PasshostError",
    "Patience",
    "Refused",
    "Result",
    "Sample",
    "ServerFault",
    "SettingsError",
    "State",
    "Submission",
    "Token",
    "Unauthorized",
    "Unreachable",
    "Variant",
    "Verdict",
    "compile",
    "load",
]

if TYPE_CHECKING:
    from passhost.dynamo import compile, load


def __getattr__(name: str) -> Any:
    # What needs torch is loaded when it is asked for.
    if name in ("compile", "load"):
        import passhost.dynamo

        return getattr(passhost.dynamo, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
