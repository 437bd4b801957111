"""The README of the package as a new user follows it, against a real server; then what such a user gets wrong."""

import contextlib
import io
import os
import pathlib
import tempfile

from passhost import Client, Environment, EpisodeError, NotFound, Patience, Submission, Unauthorized, Unreachable

README = pathlib.Path(__file__).parents[3] / "python/README.md"
PASSES = pathlib.Path(os.environ["PASSHOST_PASSES"])
SAMPLE = os.environ["PASSHOST_SAMPLE"]


def holds(condition, what, *seen):
    if not condition:
        raise SystemExit(f"{what}: {seen}")


def printed(heading):
    """What the Python under a heading prints."""
    code = README.read_text().split(f"## {heading}\n")[1].split("```python\n")[1].split("\n```")[0]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code.replace("rms-norm", SAMPLE), heading, "exec"), {})
    return out.getvalue()


def follow():
    pathlib.Path("my-pass.rs").write_text((PASSES / "right.rs").read_text())
    pathlib.Path("passes").mkdir()
    for name in ("broken", "right", "wrong"):
        (pathlib.Path("passes") / f"{name}.rs").write_text((PASSES / f"{name}.rs").read_text())
    one = printed("Evaluate a pass")
    holds(SAMPLE in one and "True" in one and "float32/s0-1_" in one, "a pass is evaluated", one)
    first, again = (printed("Evaluate many").split("\n") for _ in range(2))
    holds(len(first) == 4 and first == again, "a run that is started again hears the same", first, again)
    holds(float(first[1]) > float(first[2]), "the right pass scores more than the wrong one", first)
    episode = printed("An episode")
    holds("graph(%" in episode and "every graph may run" in episode and "True " in episode, "an episode", episode)
    holds("graph(%" in printed("Train with SkyRL"), "the environment of SkyRL is asked for a graph")


def fails(kind, said, ask):
    try:
        ask()
    except kind as error:
        holds(said in str(error), f"`{said}` in the message", str(error))
        holds(os.environ["PASSHOST_TOKEN"] not in f"{error} {error!r}", "no token is shown")
    else:
        raise SystemExit(f"{kind.__name__} was not raised")


def err():
    """What a new user gets wrong."""
    source = Submission.source(SAMPLE, "fn wrong( {}")
    once = Patience(seconds=0)
    with Client() as client:
        bad = client.evaluate(source)
        holds((bad.blame, bad.failure.stage, bad.is_right) == ("plugin", "build", False), "a wrong source", bad)
        nothing = client.evaluate(Submission.component(SAMPLE, b"no WebAssembly"))
        holds(nothing.blame == "plugin" and nothing.failure.hint, "wrong bytes", nothing)
        holds(bad.score is not None and 0 < bad.score < 0.2, "what fails scores least", bad, nothing)
        fails(NotFound, "no such sample", lambda: client.evaluate(Submission.source("nowhere", "")))
        fails(NotFound, "no such evaluation", lambda: client.look("nowhere"))
    fails(Unauthorized, "passhost token NAME", lambda: Client(token="wrong").samples())
    fails(Unauthorized, "passhost token NAME", lambda: Environment(token="wrong").reset(SAMPLE))
    fails(EpisodeError, "sample", lambda: Environment().reset("nowhere"))
    fails(Unreachable, "passhost serve", lambda: Client("http://127.0.0.1:1", patience=once).samples())
    fails(Unreachable, "passhost serve", lambda: Environment("http://127.0.0.1:1", patience=once).reset(SAMPLE))
    for what, result in (("a wrong source", bad), ("wrong bytes", nothing)):
        print(f"{what}: score {result.score}, {result.failure.message}; {result.failure.hint}")


def main():
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        follow()
        err()
        os.chdir("/")


main()
