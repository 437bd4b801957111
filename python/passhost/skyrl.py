"""A text environment for SkyRL: `skyrl_gym.register(id="passhost", entry_point="passhost.skyrl:PassEnv")`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from passhost.environment import STEP, Environment
from passhost.tools import INSTRUCTIONS, NOTHING_CALLED, read_calls

try:
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput, ConversationType
except ImportError as error:
    raise ImportError(f"passhost.skyrl needs SkyRL ({error}); pip install 'passhost[skyrl]'") from error

#: Messages of the model in an episode, where nothing says otherwise.
_TURNS = 16


class PassEnv(BaseTextEnv):  # type: ignore[misc]
    """Episodes in which a model writes a compiler pass for a sample, by calls of tools in plain text.

    `env_config` may have `address`, `token_file`, `deadline` (seconds of a step) and `insecure`; what it lacks comes
    from the variables of `passhost.Access.find`. A row of the data set (`extras`, or `extra_info` in it) may have
    `sample`, `seed` and `max_turns`. `init` adds the task, its graphs, and how tools are called, to the last message of
    the prompt. The rewards of an episode add up to the score of the pass that was submitted, else, after `max_turns`,
    of the one that was evaluated last, else to what building and checking paid.
    """

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        row = {**((extras or {}).get("extra_info") or {}), **(extras or {})}
        self.max_turns = int(row.get("max_turns") or _TURNS)
        self._sample, self._seed = row.get("sample"), row.get("seed")
        self._environment = Environment(
            _setting(env_config, "address"),
            token_file=_setting(env_config, "token_file"),
            deadline=float(_setting(env_config, "deadline") or STEP),
            insecure=bool(_setting(env_config, "insecure")),
        )

    def init(self, prompt: ConversationType) -> tuple[ConversationType, dict[str, Any]]:
        """Begins an episode. Of an empty prompt the task is the only message."""
        first = self._environment.reset(self._sample, seed=self._seed)
        task = f"{first.text}\n\n{INSTRUCTIONS}"
        if not prompt or prompt[-1]["role"] != "user":
            return [*prompt, {"role": "user", "content": task}], {"sample": first.sample}
        last = {**prompt[-1], "content": f"{prompt[-1]['content']}\n\n{task}".strip()}
        return [*prompt[:-1], last], {"sample": first.sample}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Executes the calls in a message, in their order, up to a `submit`."""
        self.turns += 1
        said, reward, done = list[str](), 0.0, False
        for call in read_calls(action):
            if call.wrong is not None:
                said.append(f"error: {call.wrong}")
                continue
            seen = self._environment.step(call.name, **call.arguments)
            said.append(f"Result of `{call.name}`:\n{seen.text}")
            reward, done = reward + seen.reward, seen.done
            if done:
                break
        if not done and self.turns >= self.max_turns:
            done, reward = True, reward + self._environment.worth - self._environment.reward
        told = {"role": "user", "content": "\n\n".join(said) or NOTHING_CALLED}
        return BaseTextEnvStepOutput(
            observations=[] if done else [told], reward=reward, done=done, metadata=self.get_metrics()
        )

    def close(self) -> None:
        self._environment.close()

    def get_metrics(self) -> dict[str, Any]:
        """Turns, what was paid, and of the last evaluation whether it was right."""
        last = self._environment.last
        verdict = None if last is None else last.verdict
        return {
            "turns": self.turns,
            "score": self._environment.worth,
            "submitted": float(last is not None and last.done),
            "right": float(verdict is not None and verdict.right),
        }


def _setting(config: Any, name: str) -> Any:
    """A setting of a mapping, of OmegaConf's or another, or of an object."""
    if config is None:
        return None
    return config.get(name) if hasattr(config, "get") else getattr(config, name, None)
