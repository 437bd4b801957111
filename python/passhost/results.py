"""What a server answers, typed. Whatever has no field here is in the document, which is kept whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: States that an evaluation does not leave.
ENDS = frozenset({"finished", "cancelled", "lost"})


@dataclass(frozen=True)
class About:
    """The host's version, its devices and policy."""

    host: str
    devices: tuple[str, ...]
    policy: str

    @staticmethod
    def read(value: Mapping[str, Any]) -> About:
        return About(value["host"], tuple(value["devices"]), value["policy"])


@dataclass(frozen=True)
class Sample:
    """A sample that submissions may be for, and the lists that name it."""

    name: str
    groups: tuple[str, ...]

    @staticmethod
    def read_all(value: Mapping[str, Any]) -> list[Sample]:
        return [Sample(sample["name"], tuple(sample["groups"])) for sample in value["samples"]]


@dataclass(frozen=True)
class Evaluation:
    """How far an evaluation is, and what came of it. Times are milliseconds since 1970."""

    id: str
    #: `waiting`, `running`, `finished`, `cancelled` or `lost`.
    state: str
    #: Evaluations of the same client that come before, while it waits.
    ahead: int | None = None
    submitted_ms: int | None = None
    started_ms: int | None = None
    ended_ms: int | None = None
    document: Mapping[str, Any] | None = field(default=None, repr=False)
    #: Why there is no document, by the host's doing.
    trouble: str | None = None
    #: The document in a line that its host signed, where hosts do.
    signed: str | None = field(default=None, repr=False)
    #: Why the result counts no more, if it does not.
    revoked: str | None = None

    @property
    def has_ended(self) -> bool:
        return self.state in ENDS

    @staticmethod
    def read(value: Mapping[str, Any]) -> Evaluation:
        known = {name: value.get(name) for name in Evaluation.__dataclass_fields__}
        return Evaluation(**{**known, "id": value["id"], "state": value["state"]})


@dataclass(frozen=True)
class Failure:
    """What went wrong, where, whose doing it is, and what to do."""

    #: `plugin`, `sample` or `host`.
    blame: str
    stage: str
    message: str
    hint: str


@dataclass(frozen=True)
class Variant:
    """What came of one graph of the sample."""

    name: str
    #: Why it is not right at t = -5, or None if it is.
    failure_class: str | None
    failure: Failure | None
    #: The least t at which every output is right.
    passes_at: int | None
    #: Eager's time over that of the rewrite, where both were measured.
    speedup: float | None
    eager_us: float | None
    rewritten_us: float | None
    findings: tuple[str, ...]
    #: All that the document says of it.
    whole: Mapping[str, Any] = field(repr=False)

    @property
    def is_right(self) -> bool:
        return self.failure_class is None and not self.findings and bool(self.whole.get("outputs"))


@dataclass(frozen=True)
class Result:
    """The result of an evaluation. A pass that is wrong, or no pass at all, has one as well."""

    #: Of the evaluation.
    id: str
    #: `scored`, or `failed` where no variant could be compared.
    status: str
    #: Whose doing a failure is: `plugin`, `sample`, `host`, or None.
    blame: str | None
    failure: Failure | None
    #: AS or AS strict, as the server's policy says. None where the sample or the host failed: nothing is known of the
    #: pass then, and no number stands for that.
    score: float | None
    aggregate_score: float | None
    aggregate_score_strict: float | None
    #: Whether every variant is right at t = -5, and nothing was found.
    is_right: bool
    variants: tuple[Variant, ...]
    #: The document that `passhost eval --json` writes.
    document: Mapping[str, Any] = field(repr=False)

    @staticmethod
    def read(id: str, document: Mapping[str, Any]) -> Result:
        """Raises KeyError, TypeError or ValueError for what is no result document."""
        scores = document["scores"] or {}
        published, strict = scores.get("aggregate_score"), scores.get("aggregate_score_strict")
        policy = json.loads(document["policy"]["text"])
        variants = tuple(_variant(variant) for variant in document["variants"])
        return Result(
            id=id,
            status=document["status"],
            blame=document["blame"],
            failure=_failure(document["failure"]),
            score=strict if policy["headline"] == "AS strict" else published,
            aggregate_score=published,
            aggregate_score_strict=strict,
            is_right=bool(variants) and all(variant.is_right for variant in variants),
            variants=variants,
            document=document,
        )


def _failure(value: Mapping[str, Any] | None) -> Failure | None:
    return Failure(value["blame"], value["stage"], value["message"], value["hint"]) if value else None


def _variant(value: Mapping[str, Any]) -> Variant:
    timing = value["timing"] or {}
    return Variant(
        name=value["name"],
        failure_class=value["class"],
        failure=_failure(value["failure"]),
        passes_at=value["passes_at"],
        speedup=timing.get("speedup"),
        eager_us=timing.get("eager_us"),
        rewritten_us=timing.get("rewritten_us"),
        findings=tuple(value["findings"]),
        whole=value,
    )
