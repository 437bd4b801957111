"""SkyRL's registry makes the environment; a scripted model plays an episode in it, then one that it does not end."""

import os
import pathlib

import skyrl_gym
from skyrl_gym.envs.base_text_env import BaseTextEnv


def source(name):
    return (pathlib.Path(os.environ["PASSHOST_PASSES"]) / f"{name}.rs").read_text()


def holds(condition, what, *seen):
    if not condition:
        raise SystemExit(f"{what}: {seen}")


def tool(name):
    return f'```tool\n{{"name": "{name}"}}\n```\n'


def play(environment, *turns):
    """Says one message after the other, and returns what was paid."""
    paid = 0.0
    for number, (said, expected) in enumerate(turns):
        step = environment.step(said)
        paid += step["reward"]
        if expected is None:
            holds(step["done"] and step["observations"] == [], "the episode has ended", step)
            return paid
        told = step["observations"][0]
        holds(told["role"] == "user" and expected in told["content"], f"`{expected}` after message {number}", step)
        holds(not step["done"], "the episode goes on", step)
    raise SystemExit("the episode did not end")


def main():
    skyrl_gym.register(id="passhost", entry_point="passhost.skyrl:PassEnv")
    extras = {"sample": os.environ["PASSHOST_SAMPLE"], "max_turns": 6, "env_class": "passhost"}
    with skyrl_gym.make("passhost", env_config=None, extras=extras) as environment:
        holds(isinstance(environment, BaseTextEnv), "it is one of SkyRL's", environment)
        conversation, _ = environment.init([{"role": "user", "content": "Write a pass."}])
        first = conversation[0]["content"]
        holds(len(conversation) == 1 and first.startswith("Write a pass.\n\n"), "the prompt stays", conversation)
        holds("graph(%" in first and "- `write_pass`: " in first, "the task and how to call tools", first)
        paid = play(
            environment,
            ("I begin.", "called no tool"),
            (f"```rust\n{source('broken')}```\n{tool('build')}", "`remove_knots`"),
            (f"```rust\n{source('wrong')}```\n{tool('eval')}", "verdict: WRONG"),
            (f"```rust\n{source('right')}```\n{tool('check')}", "every graph may run"),
            (tool("eval"), "verdict: RIGHT"),
            (tool("submit"), None),
        )
        metrics = environment.get_metrics()
        holds(abs(metrics["score"] - paid) < 1e-9 and paid > 0.1, "what was paid is the score", metrics, paid)
        holds((metrics["right"], metrics["submitted"], metrics["turns"]) == (1, 1, 6), "it is right", metrics)
    with skyrl_gym.make("passhost", env_config={}, extras={**extras, "max_turns": 2}) as environment:
        environment.init([])
        unended = play(
            environment, (f"```rust\n{source('right')}```\n{tool('build')}", "build: ok"), (tool("eval"), None)
        )
        left = environment.get_metrics()
        is_settled = left["submitted"] == 0 and abs(left["score"] - unended) < 1e-9
        holds(is_settled and unended > 0.1, "what was evaluated last counts", unended, left)
    mean = BaseTextEnv.aggregate_metrics([metrics, metrics])
    holds(abs(mean["score"] - paid) < 1e-9, "SkyRL takes the mean of what is measured", mean)
    print(f"reward {paid:.3f}, without an end {unended:.3f}")


main()
