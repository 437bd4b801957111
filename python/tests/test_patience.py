import email.utils
import time

import pytest

from passhost import Patience
from passhost.patience import Backoff, retry_after


def test_waits_grow_and_end():
    now = 0.0
    backoff = Backoff(Patience(seconds=20, first=1, most=4), clock=lambda: now)
    waits = []
    while (wait := backoff.failed()) is not None:
        waits.append(wait)
        now += wait
    assert now <= 20
    steps = [1, 2] + [4] * (len(waits) - 2)
    assert len(waits) >= 6 and all(step / 2 <= wait <= step for step, wait in zip(steps, waits, strict=True)), waits


def test_what_the_server_asks_for_is_waited_in_full_or_not_at_all():
    backoff = Backoff(Patience(seconds=20), clock=lambda: 0.0)
    assert 7 <= backoff.failed(7) < 8
    assert backoff.failed(21) is None
    assert Backoff(Patience(seconds=0), clock=lambda: 0.0).failed() is None


@pytest.mark.parametrize(
    ("text", "seconds"), [("7", 7), ("0", 0), ("", None), ("soon", None), ("-3", None), ("٣", None)]
)
def test_retry_after_is_a_number(text, seconds):
    assert retry_after({"Retry-After": text}) == seconds


def test_retry_after_is_a_date():
    later = email.utils.formatdate(time.time() + 100, usegmt=True)
    assert 90 <= retry_after({"Retry-After": later}) <= 100
    assert retry_after({"Retry-After": "Mon, 01 Jan 2024 00:00:00 GMT"}) == 0
