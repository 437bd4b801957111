"""The client against a server that is scripted, over a real connection."""

import asyncio
import json
import logging
import threading

import pytest

import passhost.exchange
from passhost import (
    AsyncClient,
    Busy,
    Client,
    DeadlineExceeded,
    EvaluationCancelled,
    Full,
    HostTrouble,
    InvalidSubmission,
    KeyReused,
    NotFound,
    Patience,
    ServerFault,
    Submission,
    Unauthorized,
    Unreachable,
)
from scripted import DROP, Desk, Reply, document, http, problem

PASS = Submission.source("chain", "fn main() {}")
QUICK = Patience(seconds=30, first=0.001, most=0.002)
NONE = Patience(seconds=0)
SECRET = "passhost_0123456789abcdef"


@pytest.fixture
def waits(monkeypatch):
    """Seconds that were waited between two tries. Nobody waits for them."""
    seconds, sleep = [], asyncio.sleep

    async def noted(delay):
        seconds.append(delay)
        await sleep(0)

    monkeypatch.setattr(passhost.exchange.asyncio, "sleep", noted)
    return seconds


def after(first, desk):
    """What a desk answers, after what stands first."""
    left = list(first)
    return lambda asked: left.pop(0) if left else desk.answer(asked)


def test_a_pass_is_submitted_waited_for_and_read():
    desk = Desk()
    with http(desk.answer) as server, Client(server.url, token=SECRET) as client:
        result = client.evaluate(PASS)
    assert (result.status, result.score, result.is_right, result.blame) == ("scored", 1.5, False, None)
    assert [variant.name for variant in result.variants if variant.is_right] == ["float32"]
    assert result.variants[0].speedup == 2.0 and result.variants[1].failure_class == "accuracy"
    assert result.document == document()
    submitted, looked = server.all
    assert submitted.line == "POST /v1/evaluations" and submitted.body == PASS.content
    assert submitted.headers["content-type"] == "text/rust" and submitted.headers["content-length"] == "12"
    assert looked.query == {"wait": "50"}
    assert {asked.headers["authorization"] for asked in server.all} == {f"Bearer {SECRET}"}


def test_the_policy_says_which_score_counts():
    desk = Desk(lambda *_: {"state": "finished", "document": document(headline="AS strict")})
    with http(desk.answer) as server, Client(server.url) as client:
        assert client.evaluate(PASS).score == 1.25


def test_a_pass_that_is_none_is_a_result():
    desk = Desk(lambda *_: {"state": "finished", "document": document(blame="plugin")})
    with http(desk.answer) as server, Client(server.url) as client:
        result = client.evaluate(Submission.component("chain", b"no WebAssembly"))
    assert (result.blame, result.failure.stage, result.is_right) == ("plugin", "build", False)
    assert server.all[0].headers["content-type"] == "application/wasm"


def test_samples_and_the_host_are_told():
    with http(Desk().answer) as server, Client(server.url) as client:
        assert [(sample.name, sample.groups) for sample in client.samples()] == [("chain", ("reference",))]
        assert client.about().devices == ("cpu",)


@pytest.mark.parametrize(
    "first",
    [
        [problem(429, "too often", Retry_After="2")],
        [problem(408, "the body was not there in time", Retry_After="10")],
        [problem(503, "the queue is full", Retry_After="2"), problem(429, "too often", Retry_After="3")],
        [Reply(502, b"<html>bad gateway</html>"), DROP, Reply(504, b"")],
        [DROP],
        [Reply(202, {"id": "id-0", "state": "waiting"}, cut=5)],
        [Reply(200, b"<html>a captive portal</html>")],
    ],
)
def test_what_passes_by_is_asked_again_with_the_same_key(first, waits):
    with http(after(first, Desk())) as server, Client(server.url, patience=Patience(seconds=60)) as client:
        assert client.evaluate(PASS).score == 1.5
    submitted = server.all[: len(first) + 1]
    assert {asked.line for asked in submitted} == {"POST /v1/evaluations"}
    assert len({asked.headers["idempotency-key"] for asked in submitted}) == 1
    assert len({asked.body for asked in submitted}) == 1
    asked_for = [float(reply.headers["Retry-After"]) for reply in first if "Retry-After" in reply.headers]
    assert len(waits) == len(first)
    assert all(wait >= least for wait, least in zip(waits, asked_for, strict=False)), waits


@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        (problem(401, "this token is unknown"), Unauthorized, "this token is unknown; a token is"),
        (problem(403, "for operators alone"), Unauthorized, "for operators alone"),
        (problem(404, "there is no such sample here"), NotFound, "sample=chain: 404, there is no such sample here"),
        (problem(409, "another submission has this key"), KeyReused, "has this key"),
        (problem(413, "at most 32 MB"), InvalidSubmission, "413, at most 32 MB"),
        (problem(415, "send a component"), InvalidSubmission, "send a component"),
        (problem(500, "the queue cannot be used"), ServerFault, "tell its operator"),
        (Reply(500, b"a\n\n  stack trace"), ServerFault, "500, a stack trace"),
    ],
)
def test_what_does_not_pass_by_is_raised_at_once(reply, kind, said, waits):
    with http(lambda _: reply) as server, Client(server.url, token=SECRET) as client:
        with pytest.raises(kind, match=said) as raised:
            client.submit(PASS)
    assert len(server.all) == 1 and waits == []
    assert raised.value.status == reply.status and SECRET not in str(raised.value)


def test_a_full_disk_is_told_and_what_was_read_can_be_forgotten(waits):
    answers = [problem(507, "8 of 8 GB are taken; remove results"), Reply(status=204, body="")]
    with http(lambda _: answers.pop(0)) as server, Client(server.url, token=SECRET) as client:
        with pytest.raises(Full, match="`forget` removes results") as full:
            client.submit(PASS)
        assert full.value.is_hopeless
        client.forget("0123")
    last = server.all[-1]
    assert (last.line, last.query) == ("DELETE /v1/evaluations/0123", {"forget": "true"}) and not waits


def test_who_sends_too_much_does_not_send_it_for_ever(waits):
    """The server refuses it while it is sent, and closes the connection: the answer is lost."""
    large = Submission.component("chain", b"0" * (1 << 20))
    with http(lambda _: DROP) as server, Client(server.url, patience=Patience(seconds=1e9)) as client:
        (outcome,) = client.evaluate_many([large])
        assert isinstance(outcome.error, InvalidSubmission) and not outcome.error.is_hopeless
        assert "1048576 bytes" in str(outcome.error) and len(server.all) == 3


def test_patience_ends(waits):
    with http(lambda _: problem(503, "the server is about to end", Retry_After="60")) as server:
        with Client(server.url, patience=Patience(seconds=30)) as client, pytest.raises(Busy, match="more patient"):
            client.samples()
    assert len(server.all) == 1 and waits == []
    with Client("http://127.0.0.1:1", patience=NONE) as client, pytest.raises(Unreachable, match="passhost serve"):
        client.samples()


def test_who_waits_out_failures_is_told_of_the_first(caplog):
    caplog.set_level(logging.DEBUG)
    with http(after([problem(429, "too often"), DROP], Desk())) as server:
        with Client(server.url, token=SECRET, patience=QUICK) as client:
            client.samples()
    told = [record for record in caplog.records if record.name == "passhost"]
    assert [record.levelname for record in told] == ["WARNING", "INFO"] and "too often" in told[0].getMessage()
    assert SECRET not in caplog.text


def test_many_that_fail_together_are_told_of_once(caplog):
    desk, together = Desk(), threading.Barrier(8)

    def answer(asked):
        if asked.number < 8:
            together.wait(60)
            return problem(503, "the server is about to end")
        return desk.answer(asked)

    with http(answer) as server, Client(server.url, patience=Patience(seconds=60, first=0.2)) as client:
        client.evaluate_many([PASS] * 8, concurrency=8)
    warned = [record for record in caplog.records if record.levelname == "WARNING"]
    assert len(warned) == 1 and len(server.all) >= 24


def keys(run, *submissions):
    with http(Desk().answer) as server:
        for submission in submissions:
            with Client(server.url, run=run) as client:
                client.evaluate(submission)
        return [asked.headers["idempotency-key"] for asked in server.all if asked.method == "POST"]


def test_each_call_is_an_evaluation_and_in_a_run_each_pass():
    other = Submission.component("chain", PASS.content)
    assert len(set(keys(None, PASS, PASS, other))) == 3
    first, second, third = keys("night", PASS, PASS, other)
    assert first == second != third
    assert keys("night", PASS) == [first] != keys("day", PASS)


@pytest.mark.parametrize(
    "ended",
    [
        {"state": "cancelled"},
        {"state": "finished", "trouble": "its sample is not served any more"},
        {"state": "finished", "document": document(blame="host")},
    ],
)
def test_what_came_to_nothing_before_is_made_anew_in_a_run(ended):
    desk = Desk()
    with http(desk.answer) as server, Client(server.url, run="night") as client:
        desk.states[client.submit(PASS)] |= ended
        assert client.evaluate(PASS).score == 1.5
    assert len(desk.ids) == 2


@pytest.mark.parametrize(
    ("ended", "kind", "said"),
    [
        ({"state": "cancelled"}, EvaluationCancelled, "was cancelled"),
        ({"state": "lost", "trouble": "the server ended three times"}, HostTrouble, "the server ended three times"),
        ({"state": "finished", "trouble": "no device"}, HostTrouble, "no device"),
        ({"state": "finished", "document": {"schema": "passhost.result/9"}}, HostTrouble, "cannot read"),
    ],
)
def test_an_evaluation_without_a_result_raises(ended, kind, said):
    with http(Desk(lambda *_: ended).answer) as server, Client(server.url) as client:
        with pytest.raises(kind, match=said) as raised:
            client.evaluate(PASS)
    assert raised.value.evaluation.state == ended["state"]


def test_who_waits_no_longer_cancels():
    desk = Desk(lambda *_: {})
    with http(desk.answer) as server, Client(server.url, poll=1) as client:
        with pytest.raises(DeadlineExceeded, match="no result after"):
            client.evaluate(PASS, timeout=0.2)
    assert [state["state"] for state in desk.states.values()] == ["cancelled"]
    assert server.lines()[-1] == "DELETE /v1/evaluations/id-0"


def test_who_is_cancelled_before_the_answer_cancels_what_was_submitted():
    desk, asked_for, goes_on = Desk(), threading.Event(), threading.Event()

    def answer(asked):
        if asked.method == "POST":
            asked_for.set()
            assert goes_on.wait(60)
        return desk.answer(asked)

    async def main(url):
        async with AsyncClient(url) as client:
            task = asyncio.ensure_future(client.evaluate(PASS))
            await asyncio.to_thread(asked_for.wait, 60)
            task.cancel()
            goes_on.set()
            with pytest.raises(asyncio.CancelledError):
                await task

    with http(answer) as server:
        asyncio.run(main(server.url))
        assert server.lines() == ["POST /v1/evaluations", "DELETE /v1/evaluations/id-0"]
    assert desk.states["id-0"]["state"] == "cancelled"


def test_a_server_that_is_about_to_end_is_not_asked_without_pause(waits):
    """It answers at once however long it is asked to wait."""
    desk, looks = Desk(lambda *_: {}), []

    def answer(asked):
        looks.append(asked)
        if len(looks) == 5:
            desk.ends = lambda *_: {"state": "finished", "document": document()}
        return desk.answer(asked)

    with http(answer) as server, Client(server.url) as client:
        client.evaluate(PASS)
    assert len(waits) == 3 and waits == sorted(waits) and waits[0] > 0


def events(*states):
    lines = [f"data: {json.dumps({'id': 'id-0', **state})}\n\n" for state in states]
    return Reply(200, "".join([": keep alive\n\n", *lines]).encode(), {"Content-Type": "text/event-stream"})


def test_events_are_told_once_though_the_stream_breaks():
    finished = {"state": "finished", "document": document()}
    answers = [
        events({"state": "waiting"}),
        problem(503, "the server is about to end"),
        DROP,
        Reply(200, events({"state": "waiting"}, {"state": "running"}).body, cut=60),
        events({"state": "running"}, finished, {"state": "waiting"}),
    ]
    with http(after(answers, Desk())) as server, Client(server.url, patience=QUICK) as client:
        told = list(client.events("id-0"))
    assert [evaluation.state for evaluation in told] == ["waiting", "running", "finished"]
    assert told[-1].document == document() and len(server.all) == 5


def test_events_of_what_is_not_there_are_refused():
    with http(lambda _: problem(404, "this client has no such evaluation")) as server, Client(server.url) as client:
        with pytest.raises(NotFound):
            list(client.events("../samples"))
    assert server.lines() == ["GET /v1/evaluations/..%2Fsamples/events"]


@pytest.mark.parametrize("body", [{}, [], "hello", None, 3])
def test_what_is_no_server_of_passhost_is_said_to_be_none(body, waits):
    with http(lambda _: Reply(200, body)) as server, Client(server.url) as client:
        for ask in (client.samples, client.about, lambda: client.submit(PASS), lambda: client.look("id-0")):
            with pytest.raises(Unreachable, match="is no `passhost serve`"):
                ask()
    assert waits == [] and len(server.all) == 4


def test_a_redirect_gets_no_token():
    with http(lambda _: Reply(200, [])) as elsewhere:
        reply = Reply(307, b"", {"Location": f"{elsewhere.url}/v1/samples"})
        with http(lambda _: reply) as server, Client(server.url, token=SECRET) as client:
            with pytest.raises(InvalidSubmission, match="307"):
                client.samples()
        assert elsewhere.all == []
