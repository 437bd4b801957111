"""Many submissions at once."""

import asyncio
import os
import signal
import threading

import pytest

from passhost import AsyncClient, Client, NotFound, Patience, Submission, Unauthorized, Unreachable
from scripted import Desk, document, http, problem


def passes(count):
    return [Submission.source("chain", str(number)) for number in range(count)]


def scored(_, body):
    return {"state": "finished", "document": {**document(), "status": body.decode()}}


def test_results_come_in_the_order_of_the_submissions_though_they_end_in_another():
    """Those that are asked for first end last."""
    desk, turn, waiting = Desk(scored), threading.Condition(), []

    def answer(asked):
        if asked.method == "GET":
            with turn:
                waiting.append(asked.path)
                turn.notify_all()
                # The last of the eight that are there together goes first.
                assert turn.wait_for(lambda: len(waiting) >= 8 and waiting[-1] == asked.path, 60)
                waiting.remove(asked.path)
                waiting[:0] = [""]
                turn.notify_all()
        return desk.answer(asked)

    told = []
    with http(answer) as server, Client(server.url) as client:
        outcomes = client.evaluate_many(passes(8), concurrency=8, tell=lambda number, outcome: told.append(number))
    assert [outcome.unwrap().status for outcome in outcomes] == [str(number) for number in range(8)]
    assert [outcome.submission for outcome in outcomes] == passes(8)
    assert sorted(told) == list(range(8))


def test_no_more_than_that_many_are_begun_and_not_ended():
    desk, open_now, most = Desk(scored), set(), []

    def answer(asked):
        reply = desk.answer(asked)
        with desk.lock:
            if asked.method == "POST":
                open_now.add(reply.body["id"])
                most.append(len(open_now))
            else:
                open_now.discard(reply.body["id"])
        return reply

    taken = []
    submissions = (taken.append(one) or one for one in passes(40))
    with http(answer) as server, Client(server.url) as client:
        outcomes = client.evaluate_many(submissions, concurrency=3)
    assert len(outcomes) == len(taken) == 40 and max(most) <= 3


def test_each_has_its_result_or_its_error():
    many = [*passes(2), Submission.source("nowhere", "2"), *passes(1)]
    with http(Desk().answer) as server, Client(server.url) as client:
        outcomes = client.evaluate_many(many, concurrency=2)
    assert [outcome.error is None for outcome in outcomes] == [True, True, False, True]
    assert isinstance(outcomes[2].error, NotFound) and outcomes[2].result is None
    with pytest.raises(NotFound):
        outcomes[2].unwrap()


def test_what_all_others_would_hear_as_well_is_not_asked():
    with http(lambda _: problem(401, "this token is unknown")) as server, Client(server.url) as client:
        outcomes = client.evaluate_many(passes(100), concurrency=4)
    assert len(outcomes) == 100 and all(isinstance(outcome.error, Unauthorized) for outcome in outcomes)
    assert len(server.all) <= 4
    with Client("http://127.0.0.1:1", patience=Patience(seconds=0)) as client:
        assert all(isinstance(outcome.error, Unreachable) for outcome in client.evaluate_many(passes(9), concurrency=2))


def test_who_is_cancelled_cancels_what_was_begun_and_begins_nothing():
    desk, begun = Desk(lambda *_: {}), threading.Semaphore(0)

    def answer(asked):
        if asked.method == "GET":
            begun.release()
        return desk.answer(asked)

    async def main(url):
        async with AsyncClient(url, poll=1) as client:
            many = asyncio.ensure_future(client.evaluate_many(passes(50), concurrency=5))
            for _ in range(5):
                await asyncio.to_thread(begun.acquire, timeout=60)
            many.cancel()
            with pytest.raises(asyncio.CancelledError):
                await many

    with http(answer) as server:
        asyncio.run(main(server.url))
    assert [state["state"] for state in desk.states.values()] == ["cancelled"] * 5


def test_ctrl_c_cancels_what_was_begun():
    desk = Desk(lambda *_: {})

    def answer(asked):
        if asked.method == "GET":
            os.kill(os.getpid(), signal.SIGINT)
        return desk.answer(asked)

    with http(answer) as server, Client(server.url, poll=1) as client:
        with pytest.raises(KeyboardInterrupt):
            client.evaluate_many(passes(1))
    assert [state["state"] for state in desk.states.values()] == ["cancelled"]


def test_what_is_told_may_raise():
    def tell(number, outcome):
        raise ZeroDivisionError

    with http(Desk().answer) as server, Client(server.url) as client:
        with pytest.raises(ZeroDivisionError):
            client.evaluate_many(passes(3), tell=tell)
        with pytest.raises(ValueError, match="at least 1"):
            client.evaluate_many(passes(3), concurrency=0)
