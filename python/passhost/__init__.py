"""Evaluate compiler passes on a passhost server, and train language models against it."""

import importlib
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from passhost.access import Access, Token
    from passhost.blocking import Client
    from passhost.client import AsyncClient, Outcome
    from passhost.dynamo import compile, load
    from passhost.environment import AsyncEnvironment, Environment
    from passhost.episode import Observation, State, Verdict
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

#: Where each name is that is not in `errors`. What needs torch, or a client of HTTP, is loaded when it is asked for.
_MODULES = {
    "access": ("Access", "Token"),
    "blocking": ("Client",),
    "client": ("AsyncClient", "Outcome"),
    "dynamo": ("compile", "load"),
    "environment": ("AsyncEnvironment", "Environment"),
    "episode": ("Observation", "State", "Verdict"),
    "patience": ("Patience",),
    "results": ("About", "Evaluation", "Failure", "Result", "Sample", "Variant"),
    "submission": ("Submission",),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(f"passhost.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
