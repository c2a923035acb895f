from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from kgroups.errors import BrokerUnavailable
from kgroups.net.fanout import as_answered, fan_out
from kgroups.net.progress import Progress

pytestmark = pytest.mark.usefixtures("virtual_time")


async def answer(value: int) -> int:
    await asyncio.sleep(0)
    return value


async def fail(error: Exception) -> int:
    raise error


def test_fan_out_returns_results_and_errors_by_key() -> None:
    down = BrokerUnavailable("down")
    found = asyncio.run(fan_out([("a", answer(1)), ("b", fail(down)), ("c", answer(3))]))
    assert found == [("a", 1), ("b", down), ("c", 3)]
    assert asyncio.run(fan_out([])) == []


def test_fan_out_raises_bugs_and_cancels_other_jobs() -> None:
    cancelled: list[bool] = []

    async def forever() -> int:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise
        return 0

    async def run() -> None:
        with pytest.raises(ZeroDivisionError):
            await fan_out([("a", forever()), ("b", fail(ZeroDivisionError()))])
        await asyncio.sleep(0)

    asyncio.run(run())
    assert cancelled == [True]


def test_fan_out_yields_results_on_arrival() -> None:
    down = BrokerUnavailable("down")

    async def run() -> None:
        gate = asyncio.Event()

        async def late() -> int:
            await gate.wait()
            return 1

        seen: dict[str, object] = {}
        async with aclosing(as_answered([("a", late()), ("b", fail(down)), ("c", answer(3))])) as answers:
            async for key, value in answers:
                seen[key] = value
                if len(seen) == 2:
                    assert seen == {"b": down, "c": 3}
                    gate.set()
        assert seen["a"] == 1

    asyncio.run(run())


@pytest.mark.parametrize("bug", [True, False])
def test_fan_out_cancels_jobs_if_abandoned(bug: bool) -> None:
    cancelled: list[bool] = []

    async def forever() -> int:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise
        return 0

    async def run() -> None:
        async with aclosing(
            as_answered([("a", forever()), ("b", fail(ZeroDivisionError()) if bug else answer(2))])
        ) as answers:
            if bug:
                with pytest.raises(ZeroDivisionError):
                    await anext(answers)
            else:
                assert await anext(answers) == ("b", 2)

    asyncio.run(run())
    assert cancelled == [True]


def test_progress_sums_totals_in_order_of_first_use() -> None:
    progress = Progress()
    progress.begin("coordinators", 1000)
    progress.begin("offsets", 5)
    progress.begin("coordinators", 500)
    progress.advance("offsets")
    progress.advance("coordinators", 1200)
    assert str(progress) == "coordinators 1,200/1,500 · offsets 1/5"
