"""An environment for the GRPO trainers of TRL, which take a class like this as `environment_factory`.

TRL makes a tool of every public method but `reset` and `get_reward`, by its types and its docstring. It is not imported
here.
"""

from __future__ import annotations

import os
from typing import Any

from passhost.environment import STEP, Environment
from passhost.patience import Patience

_OVER = "The episode has ended, and no call changes that. Call no tool any more."


class PassEnvironment:
    """Episodes in which a model writes a compiler pass for a sample.

    The column `sample` of a data set names the sample of a row; without it `seed` picks one, or the first is taken.
    What `reset` returns, the task with its graphs, TRL appends to the prompt. The reward is the score of the pass that
    was submitted, else of the one that was evaluated last, else what building and checking paid. Nothing is closed by
    hand: the connection ends with the object.

    Pass the class itself where `PASSHOST_URL` names the server, else `functools.partial(PassEnvironment, "http://...")`.
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
        lost_reward: float | None = None,
    ) -> None:
        """See `Environment`. `lost_reward`: what a rollout is rewarded with whose episode was lost by no doing of the
        model, because the server went away or a step took too long. Without it `get_reward` raises, and training ends
        rather than learns from that."""
        self._environment = Environment(
            address, token=token, token_file=token_file, deadline=deadline, patience=patience, insecure=insecure
        )
        self._lost_reward = lost_reward

    def reset(self, sample: str | None = None, seed: int | None = None, **columns: Any) -> str:
        """Begins an episode, and returns the task. Takes a row of the data set, whose other columns mean nothing."""
        return self._environment.reset(sample, seed=seed).text

    def get_reward(self) -> float:
        """What the episode is worth."""
        if (lost := self._environment.lost) is None:
            return self._environment.worth
        if self._lost_reward is None:
            raise lost
        return self._lost_reward

    def show_graph(self, variant: str | None = None) -> str:
        """Prints the graphs of the sample as text.

        Args:
            variant: Part of the name of the variants to print; the first one if absent.

        Returns:
            The graphs.
        """
        return self._call("show_graph", variant=variant)

    def show_refusals(self) -> str:
        """Says which nodes the pass left alone in the last evaluation, and why; also what it logged.

        Returns:
            The nodes, with a reason each.
        """
        return self._call("show_refusals")

    def write_pass(self, source: str) -> str:
        """Replaces the source of the pass: one Rust file, all of it. Nothing is compiled yet.

        Args:
            source: The whole file, with `use` lines and `register!`.

        Returns:
            How much was written.
        """
        return self._call("write_pass", source=source)

    def build(self) -> str:
        """Compiles the source, and says what the compiler has against it.

        Returns:
            What the compiler says.
        """
        return self._call("build")

    def check(self) -> str:
        """Runs the pass on every graph of the sample and verifies the graphs that it returns; measures nothing.

        Returns:
            The changed nodes, or why a graph is refused.
        """
        return self._call("check")

    def eval(self) -> str:
        """Evaluates the pass on the sample: whether its results are right, how fast they are, and the score. It
        builds and verifies the pass itself. The same source gets the same answer.

        Returns:
            The verdict.
        """
        return self._call("eval")

    def read_guide(self, section: str | None = None) -> str:
        """Prints how to write a pass, or one section of that.

        Args:
            section: Part of the title of a section, such as `Errors`.

        Returns:
            The guide, or the section.
        """
        return self._call("read_guide", section=section)

    def ops(self, name: str) -> str:
        """Says of an op: its schemas, whether a rewrite may call it, and what the SDK makes of it.

        Args:
            name: The op, as `gelu`, `aten::add` or `aten::add.Tensor`.

        Returns:
            What is known of it.
        """
        return self._call("ops", name=name)

    def submit(self, which: str | None = None) -> str:
        """Hands in the source as it is, or with `which` = `best` the evaluated pass with the highest score, and ends
        the episode. Its score is that of the episode.

        Args:
            which: `best`, or `current`, which it is if absent.

        Returns:
            The verdict.
        """
        return self._call("submit", which=which)

    def _call(self, tool: str, **arguments: str | None) -> str:
        last = self._environment.last
        if last is not None and last.done:
            return _OVER
        return self._environment.step(tool, **arguments).text
