"""Environments against a server of WebSockets that is scripted, over a real connection."""

import asyncio
import gc
import http as statuses
import json
import logging
import threading

import pytest

from passhost import (
    AsyncEnvironment,
    Busy,
    DeadlineExceeded,
    Environment,
    EpisodeError,
    EpisodeLost,
    EpisodeOver,
    Patience,
    Submission,
    Unauthorized,
    Unreachable,
)
from scripted import VERDICT, Reply, http, observation, websocket

QUICK = Patience(seconds=30, first=0.001, most=0.002)
NONE = Patience(seconds=0)
SECRET = "passhost_0123456789abcdef"
FIRST = observation("the task")
LAST = observation("verdict: RIGHT", 1.4, True, tool="submit", steps=3, verdict=VERDICT)


def script(*answers):
    """Answers in their order, and what they were answers to. None closes the connection."""
    left, heard = list(answers), []

    def talk(connection):
        for text in connection:
            heard.append(json.loads(text))
            answer = left.pop(0)
            if answer is None:
                return
            connection.send(json.dumps(answer))

    return talk, heard


def test_an_episode_pays_its_score_and_hides_what_is_pending():
    pending = observation("still at work", 0, tool="build", pending=True)
    state = {
        "type": "state",
        "data": {"episode_id": "one", "step_count": 3, "sample": "chain", "reward": 1.5, "done": True},
    }
    built = observation("build: ok", 0.1, tool="build")
    talk, heard = script(FIRST, observation("written", 0.0, tool="write_pass"), pending, pending, built, LAST, state)
    with websocket(talk) as url, Environment(url) as environment:
        first = environment.reset("chain", episode_id="one")
        assert (first.text, first.sample, first.done, first.reward) == ("the task", "chain", False, 0.0)
        assert environment.step("write_pass", source="fn main() {}").text == "written"
        assert environment.step("build").text == "build: ok"
        last = environment.step("submit")
        assert last.done and last.verdict.right and environment.reward == pytest.approx(last.verdict.score)
        assert environment.state().reward == 1.5
        assert environment.worth == environment.reward
        with pytest.raises(EpisodeOver, match="has ended"):
            environment.step("build")
    assert [message["type"] for message in heard] == ["reset", *["step"] * 5, "state"]
    assert heard[0]["data"] == {"sample": "chain", "episode_id": "one"}
    assert [message["data"]["tool"] for message in heard[1:6]] == ["write_pass", "build", "wait", "wait", "submit"]
    assert heard[1]["data"]["arguments"] == {"source": "fn main() {}"}


def test_an_argument_may_have_any_name_and_none_is_left_out():
    talk, heard = script(FIRST, observation("no such argument"))
    with websocket(talk) as url, Environment(url) as environment:
        environment.reset(seed=3)
        environment.step("build", tool="x", self="y", variant=None)
    assert heard[0]["data"] == {"seed": 3}
    assert heard[1]["data"]["arguments"] == {"tool": "x", "self": "y"}


def test_an_episode_is_worth_what_was_evaluated_last():
    judged = observation("verdict: RIGHT", 0.1, tool="eval", verdict=VERDICT)
    talk, _ = script(FIRST, observation("build: ok", 0.02), judged, observation("written"), FIRST)
    with websocket(talk) as url, Environment(url) as environment:
        environment.reset()
        worth = [environment.step(tool) and environment.worth for tool in ("build", "eval", "write_pass")]
        assert worth == [0.02, 1.5, 1.5] and environment.reward == pytest.approx(0.12)
        environment.reset()
        assert environment.worth == 0


def test_the_task_may_take_its_time():
    talk, heard = script(observation("still at work", pending=True), FIRST)
    with websocket(talk) as url, Environment(url) as environment:
        assert environment.reset().text == "the task" and environment.reward == 0
    assert heard[1]["data"] == {"tool": "wait"}


def failing(code):
    return {"type": "error", "data": {"message": "no device", "code": code}}


@pytest.mark.parametrize("code", ["EXECUTION_ERROR", "SESSION_ERROR"])
def test_a_host_that_fails_gives_the_episode_up(code):
    talk, heard = script(FIRST, failing(code), FIRST, LAST)
    with websocket(talk) as url, Environment(url) as environment:
        environment.reset()
        for _ in range(2):
            with pytest.raises(EpisodeLost, match="no device"):
                environment.step("eval")
        assert environment.lost is not None and len(heard) == 2
        environment.reset()
        assert environment.step("submit").done


def test_a_server_without_room_for_another_episode_is_asked_again():
    talk, heard = script(failing("CAPACITY_REACHED"), failing("SESSION_ERROR"), FIRST, failing("EXECUTION_ERROR"))
    with websocket(talk) as url, Environment(url, patience=QUICK) as environment:
        environment.reset()
        with pytest.raises(EpisodeError, match="no device"):
            environment.reset()
    assert len(heard) == 4


def test_whatever_a_model_writes_is_sent_as_json():
    nested: dict = {}
    for _ in range(200):
        nested = {"in": nested}
    arguments = {
        "source": "half \ud800 and whole \U0001f600",
        "a": float("nan"),
        "b": 10**400,
        "c": nested,
        "d": [1.5, None],
    }
    talk, heard = script(FIRST, observation("error: write them otherwise"))
    with websocket(talk) as url, Environment(url) as environment:
        environment.reset()
        environment.step("write_pass", **arguments)
    sent = heard[1]["data"]["arguments"]
    assert sent["source"] == "half ? and whole \U0001f600" and sent["a"] == "nan" and sent["d"] == [1.5, None]
    assert sent["b"].startswith("0x") and json.dumps(sent["c"]).count("{") == 29
    assert Submission.source("chain", arguments["source"]).content == sent["source"].encode()


def test_a_call_that_is_too_long_is_the_models_doing():
    talk, heard = script(FIRST, LAST)
    with websocket(talk) as url, Environment(url) as environment:
        environment.reset()
        said = environment.step("write_pass", source="x" * (1 << 20))
        assert said.text.startswith("error: the call has 10") and said.reward == 0 and not said.done
        assert environment.step("submit").done
    assert len(heard) == 2


def test_who_has_no_episode_is_told_to_begin_one():
    with Environment("http://127.0.0.1:1") as environment:
        for ask in (lambda: environment.step("build"), environment.state):
            with pytest.raises(EpisodeOver, match="reset"):
                ask()


def test_what_the_server_refuses_leaves_the_episode_as_it_is():
    error = {"type": "error", "data": {"message": "there is no such sample", "code": "VALIDATION_ERROR"}}
    talk, _ = script(error, FIRST, error, LAST)
    with websocket(talk) as url, Environment(url) as environment:
        with pytest.raises(EpisodeError, match="VALIDATION_ERROR, there is no such sample"):
            environment.reset("nowhere")
        environment.reset("chain")
        with pytest.raises(EpisodeError) as raised:
            environment.step("sing")
        assert raised.value.code == "VALIDATION_ERROR"
        assert environment.step("submit").done and environment.lost is None


@pytest.mark.parametrize("answer", [None, [], {"type": 3}, {"data": {}}])
def test_an_episode_whose_connection_breaks_is_lost_and_another_one_begins(answer):
    talk, _ = script(FIRST, answer, FIRST, LAST)
    with websocket(talk) as url, Environment(url, patience=QUICK) as environment:
        environment.reset("chain")
        for _ in range(2):
            with pytest.raises((EpisodeLost, EpisodeError)):
                environment.step("build")
            if answer == {"type": 3}:
                break
        environment.reset("chain")
        assert environment.lost is None and environment.step("submit").done


def test_a_connection_that_went_away_between_episodes_is_made_anew():
    talk, heard = script(FIRST, LAST, None, FIRST)
    with websocket(talk) as url, Environment(url, patience=NONE) as environment:
        environment.reset("chain")
        environment.step("submit")
        assert environment.reset("chain").text == "the task"
    assert len(heard) == 4


def test_an_observation_of_another_form_is_said_to_be_one():
    talk, _ = script({"type": "observation", "data": {"observation": {"echoed": "hello"}, "reward": 0, "done": False}})
    with websocket(talk) as url, Environment(url) as environment:
        with pytest.raises(EpisodeError, match="cannot read"):
            environment.reset()


def refusing(*statuses_first, location=None):
    left = list(statuses_first)

    def answer(connection, request):
        if not left:
            return None
        status = left.pop(0)
        body = json.dumps({"detail": f"refused with {status}"})
        response = connection.respond(statuses.HTTPStatus(status), body)
        if location:
            response.headers["Location"] = location
        response.headers["Retry-After"] = "0"
        return response

    return answer


def test_a_server_that_is_busy_is_asked_again():
    talk, _ = script(FIRST)
    with websocket(talk, process_request=refusing(503, 429, 502)) as url:
        with Environment(url, patience=QUICK) as environment:
            assert environment.reset().text == "the task"
    with websocket(talk, process_request=refusing(429)) as url, Environment(url, patience=NONE) as environment:
        with pytest.raises(Busy, match="refused with 429"):
            environment.reset()


def test_no_server_and_no_token_are_told_apart():
    with websocket(lambda _: None, process_request=refusing(401, 401)) as url:
        with Environment(url, token=SECRET) as environment, pytest.raises(Unauthorized, match="refused with 401"):
            environment.reset()
    with (
        Environment("http://127.0.0.1:1", patience=NONE) as environment,
        pytest.raises(Unreachable, match="passhost serve"),
    ):
        environment.reset()


def test_a_redirect_gets_no_token():
    with http(lambda _: Reply(200, {})) as elsewhere:
        answer = refusing(307, location=f"{elsewhere.url.replace('http', 'ws')}/ws")
        with websocket(lambda _: None, process_request=answer) as url, Environment(url, token=SECRET) as environment:
            with pytest.raises(Exception, match="307"):
                environment.reset()
    assert elsewhere.all == []


def test_a_token_is_sent_and_in_no_log(caplog):
    caplog.set_level(logging.DEBUG)
    sent, (talk, _) = [], script(FIRST)

    def answer(connection, request):
        sent.append(request.headers["Authorization"])

    with websocket(talk, process_request=answer) as url, Environment(url, token=SECRET) as environment:
        environment.reset()
    assert sent == [f"Bearer {SECRET}"]
    ours = [record.getMessage() for record in caplog.records if record.name == "passhost.connection"]
    assert any("Authorization: hidden" in line for line in ours) and SECRET not in "".join(ours)


def test_a_step_that_takes_too_long_gives_the_episode_up():
    pending = json.dumps(observation("still at work", 0, pending=True))

    def talk(connection):
        connection.recv()
        connection.send(json.dumps(FIRST))
        for _ in connection:
            connection.send(pending)

    with websocket(talk) as url, Environment(url, deadline=0.1) as environment:
        environment.reset()
        with pytest.raises(DeadlineExceeded, match=r"eval is not done after 0\.1 s"):
            environment.step("eval")
        assert isinstance(environment.lost, DeadlineExceeded)
        with pytest.raises(DeadlineExceeded):
            environment.step("submit")


def test_a_step_that_is_cancelled_gives_the_episode_up():
    begun = threading.Event()

    def talk(connection):
        connection.recv()
        connection.send(json.dumps(FIRST))
        connection.recv()
        begun.set()
        for _ in connection:
            pass

    async def main(url):
        async with AsyncEnvironment(url) as environment:
            await environment.reset()
            step = asyncio.ensure_future(environment.step("eval"))
            await asyncio.to_thread(begun.wait, 60)
            step.cancel()
            with pytest.raises(asyncio.CancelledError):
                await step
            with pytest.raises(EpisodeLost, match="cancelled"):
                await environment.step("submit")

    with websocket(talk) as url:
        asyncio.run(main(url))


def test_calls_from_several_tasks_are_made_one_after_the_other():
    talk, heard = script(FIRST, *[observation(str(number)) for number in range(20)])

    async def main(url):
        async with AsyncEnvironment(url) as environment:
            await environment.reset()
            steps = [environment.step("read_guide", section=str(number)) for number in range(20)]
            assert [seen.text for seen in await asyncio.gather(*steps)] == [str(number) for number in range(20)]

    with websocket(talk) as url:
        asyncio.run(main(url))
    assert [message["data"]["arguments"]["section"] for message in heard[1:]] == [str(number) for number in range(20)]


def test_an_environment_that_nobody_holds_closes_its_connection():
    gone = threading.Event()

    def talk(connection):
        for _ in connection:
            connection.send(json.dumps(FIRST))
        gone.set()

    with websocket(talk) as url:
        environment = Environment(url)
        environment.reset()
        del environment
        gc.collect()
        assert gone.wait(60)
