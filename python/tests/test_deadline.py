import asyncio

import pytest

from passhost.deadline import OutOfTime, within


def test_work_that_ends_in_the_moment_of_a_cancellation_does_not_hide_it():
    async def main():
        ended = asyncio.get_running_loop().create_future()

        async def work():
            return await ended

        waiting = asyncio.ensure_future(within(60, work()))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        ended.set_result("done")
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(main())


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_work_has_cleaned_up_when_it_is_given_up(is_cancelled):
    cleaned = []

    async def work():
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append(True)

    async def main():
        waiting = asyncio.ensure_future(within(None if is_cancelled else 0, work()))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        if is_cancelled:
            waiting.cancel()
        with pytest.raises(asyncio.CancelledError if is_cancelled else OutOfTime):
            await waiting
        assert cleaned == [True]

    asyncio.run(main())


def test_what_the_work_raises_is_raised():
    async def work():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(within(60, work()))
