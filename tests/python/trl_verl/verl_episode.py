"""verl's data set, its agent loop with its parser of calls, and its reward manager, with the tools and the reward of
the package, by the options that its README names. Only what the model says is scripted.
"""

import asyncio
import gc
import os
import pathlib
import tempfile

import numpy
import torch
import verl
from hydra import compose, initialize_config_dir
from verl import DataProto
from verl.experimental.agent_loop.agent_loop import DictConfigWrap, ToolListWrap
from verl.experimental.agent_loop.tool_agent_loop import ToolAgentLoop
from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager
from verl.tools.tool_registry import load_all_tools
from verl.utils.dataset.rl_dataset import RLHFDataset
from verl.utils.import_utils import load_extern_object
from verl.workers.rollout.replica import TokenOutput

from passhost.tools import TOOLS
from passhost.verl import _EPISODES, tool_config
from tiny import Model, holds, readme, source, tokenizer


class Scripted:
    """In place of the servers that generate."""

    def __init__(self, words):
        self.words, self.model = words, Model()

    async def generate(self, prompt_ids, **_):
        reply = self.model.says(self.words.decode(prompt_ids))
        return TokenOutput(token_ids=self.words(f"{reply}<|im_end|>")["input_ids"])


def options(place):
    """Those of the README, and what is small here."""
    text = (pathlib.Path(__file__).parents[3] / "python/README.md").read_text()
    named = [block for block in text.split("```\n") if block.startswith("data.train_files=")]
    words = named[0].replace("WHAT_WAS_PRINTED", tool_config()).replace("train.parquet", str(place)).split()
    sizes = ["actor_rollout_ref.rollout.prompt_length=60000", "actor_rollout_ref.rollout.response_length=60000"]
    with initialize_config_dir(str(pathlib.Path(verl.__file__).parent / "trainer/config"), version_base=None):
        return compose("ppo_trainer", overrides=[*words, *sizes, "data.max_prompt_length=60000"])


async def trajectory(config, words, row, generating, tools):
    loop = ToolAgentLoop(
        trainer_config=DictConfigWrap(config),
        server_manager=generating,
        tokenizer=words,
        processor=None,
        dataset_cls=RLHFDataset,
        data_config=DictConfigWrap(config.data),
        hf_model_type="qwen2",
        tools=ToolListWrap(tools),
    )
    return await loop.run({}, **row)


async def scored(config, words, row, output):
    """What verl's reward manager makes of a trajectory."""
    function = config.reward.custom_reward_function
    compute = load_extern_object(function.path, function.name)
    ids = torch.tensor([output.response_ids])
    tensors = {"responses": ids, "attention_mask": torch.ones_like(ids)}
    others = {
        "data_source": row["data_source"],
        "reward_model": row["reward_model"],
        "extra_info": dict(row["extra_info"]),
    }
    others["tool_extra_fields"] = output.extra_fields
    batch = DataProto.from_dict(
        tensors=tensors, non_tensors={name: numpy.array([value], dtype=object) for name, value in others.items()}
    )
    return (await NaiveRewardManager(config, words, compute).run_single(batch))["reward_score"]


async def main():
    words = tokenizer(source("right") + source("wrong"))
    with tempfile.TemporaryDirectory() as place:
        file = pathlib.Path(place) / "train.parquet"
        sample = os.environ["PASSHOST_SAMPLE"]
        replaced = {'"rms-norm", "rotary-embedding"': f"{sample!r}", "train.parquet": str(file)}
        exec(readme("Train with verl", **replaced), {})
        config = options(file)
        row = RLHFDataset(str(file), words, config.data)[0]
    tools = load_all_tools(config.actor_rollout_ref.rollout.multi_turn.tool_config_path, None)
    holds([tool.name for tool in tools] and {tool.name for tool in tools} == set(TOOLS), "all tools", tools)
    generating = Scripted(words)
    outputs = [await trajectory(config, words, row, generating, tools) for _ in range(3)]
    paid = [sum(output.extra_fields["tool_rewards"]) for output in outputs]
    scores = [await scored(config, words, row, output) for output in outputs]
    right, wrong, unended = scores
    holds(
        scores[:2] == paid[:2] and right > 0.1 > wrong - 1e-9, "the right pass is worth more than the wrong one", scores
    )
    holds(unended > 0.1 > paid[2] - 1e-9, "what was evaluated and not submitted is worth its score", scores, paid)
    calls = [len(output.extra_fields["tool_rewards"]) for output in outputs]
    holds(calls == [6, 3, 2], "each call was paid", calls)
    gc.collect()
    holds(not _EPISODES, "nothing is kept of trajectories that verl dropped", dict(_EPISODES))
    turns = [output.num_turns for output in outputs]
    print(f"rewards {right:.3f}, {wrong:.3f} and, not submitted, {unended:.3f} in {turns} turns")


asyncio.run(main())
