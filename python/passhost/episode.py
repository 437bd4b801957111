"""What an environment says, typed. Whatever has no field here is in `whole`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Verdict:
    """What the evaluation of a pass found."""

    #: The score that the server's policy makes the headline.
    score: float
    aggregate_score: float
    aggregate_score_strict: float
    #: Whether the pass returned graphs that may run, for every variant.
    verifies: bool
    #: Whether every variant is right at t = -5, and nothing was found.
    right: bool
    #: Findings of the integrity layers.
    findings: int

    @staticmethod
    def read(value: Mapping[str, Any]) -> Verdict:
        return Verdict(**{name: value[name] for name in Verdict.__dataclass_fields__})


@dataclass(frozen=True)
class Observation:
    """What a step came to."""

    #: What the model is told.
    text: str
    #: The tool that was called; None after `reset`.
    tool: str | None
    #: Of what this step paid. The rewards of an episode add up to its score.
    reward: float
    #: Whether the episode has ended.
    done: bool
    sample: str
    #: Steps so far.
    steps: int
    #: Of the last evaluation, if there was one.
    verdict: Verdict | None
    #: Of the source as it stands.
    source_sha256: str | None
    #: Whether the tool is still at work.
    pending: bool = field(repr=False)
    whole: Mapping[str, Any] = field(repr=False)

    @staticmethod
    def read(data: Mapping[str, Any]) -> Observation:
        """Raises KeyError or TypeError for what is no observation of a passhost environment."""
        whole = data["observation"]
        verdict = whole.get("verdict")
        return Observation(
            text=whole["text"],
            tool=whole.get("tool"),
            reward=float(data.get("reward") or 0.0),
            done=bool(data.get("done")),
            sample=whole["sample"],
            steps=int(whole.get("steps") or 0),
            verdict=None if verdict is None else Verdict.read(verdict),
            source_sha256=whole.get("source_sha256"),
            pending=bool(whole.get("pending")),
            whole=whole,
        )


@dataclass(frozen=True)
class State:
    """Where an episode stands."""

    episode_id: str | None
    step_count: int
    sample: str | None
    best_score: float | None
    #: Sum of the rewards so far.
    reward: float
    done: bool
    whole: Mapping[str, Any] = field(repr=False)

    @staticmethod
    def read(whole: Mapping[str, Any]) -> State:
        return State(
            episode_id=whole.get("episode_id"),
            step_count=int(whole.get("step_count") or 0),
            sample=whole.get("sample"),
            best_score=whole.get("best_score"),
            reward=float(whole.get("reward") or 0.0),
            done=bool(whole.get("done")),
            whole=whole,
        )
