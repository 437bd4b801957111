"""Tools for the agent loop of verl, and the reward that goes with them.

`actor_rollout_ref.rollout.multi_turn.tool_config_path` takes what `tool_config()` returns,
`reward.custom_reward_function` the path `pkg://passhost.verl` and the name `compute_score`.
"""

from __future__ import annotations

import asyncio
import uuid
import weakref
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from passhost import portal
from passhost.environment import STEP, AsyncEnvironment, Environment
from passhost.tools import TOOLS

try:
    from verl.tools.base_tool import BaseTool
    from verl.tools.schemas import OpenAIFunctionToolSchema, ToolResponse
except ImportError as error:
    raise ImportError(f"passhost.verl needs verl ({error}); pip install 'passhost[verl]'") from error

_OVER = "The episode has ended, and no call changes that. Call no tool any more."

#: Under which verl hands on what an episode is worth.
_WORTH = "passhost_worth"


class PassTool(BaseTool):  # type: ignore[misc]
    """One tool of an episode: `config["tool"]` says which.

    verl makes and releases an instance for each call. What calls of one trajectory have in common is its `agent_data`:
    an episode is begun with the first call of it, and ends with `submit`, or when verl drops the trajectory. Where
    there is none, as in a loop of your own, an episode is begun and ended with its instance.

    `config` may have `address`, `token_file`, `deadline` (seconds of a call) and `insecure`; what it lacks comes from
    the variables of `passhost.Access.find`. `create_kwargs` of a row may have `sample` or `seed`.
    """

    def __init__(self, config: dict[str, Any], tool_schema: Any = None) -> None:
        if config.get("tool") not in TOOLS:
            raise ValueError(f"config.tool is {config.get('tool')!r}; it is one of {', '.join(TOOLS)}")
        self.config = config
        super().__init__(config, tool_schema)
        self._instances: dict[str, _Episode] = {}
        self._wanted: dict[str, Mapping[str, Any]] = {}

    def get_openai_tool_schema(self) -> Any:
        return OpenAIFunctionToolSchema.model_validate(TOOLS[self.config["tool"]].schema)

    async def create(
        self, instance_id: str | None = None, create_kwargs: Mapping[str, Any] | None = None, **kwargs: Any
    ) -> tuple[str, ToolResponse]:
        instance_id = instance_id or str(uuid.uuid4())
        self._wanted[instance_id] = {**(create_kwargs or {}), **kwargs}
        return instance_id, ToolResponse()

    async def execute(
        self, instance_id: str, parameters: dict[str, Any], agent_data: Any = None, **kwargs: Any
    ) -> tuple[ToolResponse, float, dict[str, Any]]:
        """The text for the model, what the call paid, and where the episode stands."""
        episode = self._episode(instance_id, agent_data)
        came = await asyncio.wrap_future(portal.start(episode.call(self.config["tool"], parameters)))
        # Of all that a tool returns verl keeps the rewards alone, but what is put here comes to `compute_score`.
        if isinstance(fields := getattr(agent_data, "extra_fields", None), dict):
            fields[_WORTH] = episode.environment.worth
        return came

    async def calc_reward(self, instance_id: str, **kwargs: Any) -> float:
        """What the episode of an instance is worth, where the instance has one of its own."""
        episode = self._instances.get(instance_id)
        return 0.0 if episode is None else episode.environment.worth

    async def release(self, instance_id: str, **kwargs: Any) -> None:
        self._wanted.pop(instance_id, None)
        if (episode := self._instances.pop(instance_id, None)) is not None:
            await asyncio.wrap_future(portal.start(episode.environment.close()))

    def _episode(self, instance_id: str, agent_data: Any) -> _Episode:
        if agent_data is None:
            return self._instances.setdefault(instance_id, self._begin(instance_id))
        if agent_data not in _EPISODES:
            _EPISODES[agent_data] = self._begin(instance_id)
            weakref.finalize(agent_data, _end, _EPISODES[agent_data].environment).atexit = False
        return _EPISODES[agent_data]

    def _begin(self, instance_id: str) -> _Episode:
        config = self.config
        environment = AsyncEnvironment(
            config.get("address"),
            token_file=config.get("token_file"),
            deadline=float(config.get("deadline") or STEP),
            insecure=bool(config.get("insecure")),
        )
        return _Episode(environment, self._wanted.get(instance_id, {}))


class _Episode:
    """An episode that begins with its first call. Calls of one message come at once, and are done in their order."""

    def __init__(self, environment: AsyncEnvironment, wanted: Mapping[str, Any]) -> None:
        self.environment = environment
        self._wanted = wanted
        self._turn: asyncio.Lock | None = None

    async def call(self, tool: str, arguments: dict[str, Any]) -> tuple[ToolResponse, float, dict[str, Any]]:
        self._turn = self._turn or asyncio.Lock()
        async with self._turn:
            if self.environment.last is None and self.environment.lost is None:
                await self.environment.reset(self._wanted.get("sample"), seed=self._wanted.get("seed"))
            last = self.environment.last
            if last is not None and last.done:
                return ToolResponse(text=_OVER), 0.0, {"done": True}
            if not isinstance(arguments, dict):
                return ToolResponse(text="error: arguments are a JSON object"), 0.0, {"done": False}
            seen = await self.environment.step(tool, **arguments)
            if seen.done:
                await self.environment.close()
            return ToolResponse(text=seen.text), seen.reward, {"done": seen.done, "score": self.environment.reward}


#: Of trajectories that verl still holds, whichever tool they call.
_EPISODES: weakref.WeakKeyDictionary[Any, _Episode] = weakref.WeakKeyDictionary()


def _end(environment: AsyncEnvironment) -> None:
    portal.start(environment.close())


def tool_config() -> str:
    """The path of a configuration with all tools, for a server that `PASSHOST_URL` names."""
    return str(Path(__file__).with_name("verl_tools.yaml"))


def rows(samples: Iterable[str], *, system: str | None = None, **access: Any) -> list[dict[str, Any]]:
    """A row of a data set for each sample: the task as the server tells it, and which sample the tools are for.

    `access` is what `Environment` takes. Write them with `datasets.Dataset.from_list(rows).to_parquet(path)`.
    """
    made = []
    with Environment(**access) as environment:
        for index, sample in enumerate(samples):
            task = {"role": "user", "content": environment.reset(sample).text}
            wanted = {"create_kwargs": {"sample": sample}}
            made.append(
                {
                    "data_source": "passhost",
                    "agent_name": "tool_agent",
                    "prompt": [*([{"role": "system", "content": system}] if system else []), task],
                    "reward_model": {"style": "rule", "ground_truth": ""},
                    "extra_info": {
                        "index": index,
                        "need_tools_kwargs": True,
                        "tools_kwargs": dict.fromkeys(TOOLS, wanted),
                    },
                }
            )
    return made


def compute_score(
    data_source: str, solution_str: str, ground_truth: str, extra_info: Mapping[str, Any] | None = None, **kwargs: Any
) -> float:
    """The reward of a trajectory: what its episode is worth; nothing where no tool was called.

    For `reward.custom_reward_function`.
    """
    return float((extra_info or {}).get(_WORTH) or 0.0)
