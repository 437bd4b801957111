"""OpenEnv's GenericEnvClient solves a sample: a pass that does not build, one that is wrong, one that is right."""

import os
import pathlib

from openenv import GenericEnvClient


def source(name):
    return (pathlib.Path(os.environ["PASSHOST_PASSES"]) / f"{name}.rs").read_text()


def holds(condition, what, *seen):
    if not condition:
        raise SystemExit(f"{what}: {seen}")


class Episode:
    """What was paid, and the calls that are left open."""

    def __init__(self, client):
        self.client, self.paid = client, 0.0

    def call(self, tool, expected, **arguments):
        result = self.client.step({"tool": tool, "arguments": arguments} if arguments else {"tool": tool})
        self.paid += result.reward
        while result.observation["pending"]:
            result = self.client.step({"tool": "wait"})
            self.paid += result.reward
        holds(expected in result.observation["text"], f"`{expected}` after {tool}", result)
        holds(result.observation["tool"] == tool, "the tool is named", result)
        return result


def main():
    token, sample = os.environ["PASSHOST_TOKEN"], os.environ["PASSHOST_SAMPLE"]
    client = GenericEnvClient(
        base_url=f"http://{os.environ['PASSHOST_ADDRESS']}", headers={"Authorization": f"Bearer {token}"}
    )
    with client.sync() as env:
        first = env.reset(sample=sample, episode_id="an-episode")
        holds("graph(%" in first.observation["text"] and not first.done, "the graphs are shown", first)
        episode = Episode(env)
        episode.call("write_pass", "lines are written", source=source("broken"))
        episode.call("build", "`remove_knots`")
        episode.call("write_pass", "lines are written", source=source("wrong"))
        wrong = episode.call("eval", "verdict: WRONG")
        holds(wrong.observation["verdict"]["right"] is False, "it is wrong", wrong)
        episode.call("write_pass", "lines are written", source=source("right"))
        state = env.state()
        holds(state["episode_id"] == "an-episode" and state["sample"] == sample and not state["done"], "state", state)
        last = episode.call("submit", "verdict: RIGHT")
        holds(last.done and last.observation["verdict"]["right"], "it is right", last)
        score = last.observation["verdict"]["score"]
        holds(abs(episode.paid - score) < 1e-9, "rewards sum to the score", episode.paid, score)
        state = env.state()
        holds(state["done"] and abs(state["reward"] - score) < 1e-9, "the state is that of the end", state)
        print(f"{state['step_count']} steps, score {score:.3f}")


main()
