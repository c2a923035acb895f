"""Burrow's rules on short windows."""

from __future__ import annotations

import pytest

from kgroups.model.health.burrow import OffsetSample, Verdict, verdict


@pytest.mark.parametrize(
    ("looks", "committing", "expected"),
    [
        ([(10, 10), (10, 20)], False, Verdict.OK),  # it was at the end once
        ([(5, 10), (5, 20)], False, Verdict.STOP),
        ([(5, 10), (5, 20)], True, Verdict.STALL),
        ([(5, 10), (6, 20)], True, Verdict.WARN),
        ([(5, 10), (10, 15)], True, Verdict.WARN),  # the lag stays, which Burrow warns of too
        ([(5, 10), (9, 12)], True, Verdict.OK),
        ([(5, 20), (9, 20), (3, 20)], True, Verdict.REWIND),
        ([(9, 20), (3, 20), (9, 22)], True, Verdict.OK),  # back where it was
        ([(20, 20), (3, 20)], True, Verdict.REWIND),  # though it was at the end
        ([(5, 10)], True, Verdict.UNKNOWN),
        ([(None, 10), (5, 10)], True, Verdict.UNKNOWN),
        ([(10, None), (10, 10)], True, Verdict.OK),
        ([], True, Verdict.UNKNOWN),
    ],
)
def test_burrow_verdict_of_each_window(
    looks: list[tuple[int | None, int | None]], committing: bool, expected: Verdict
) -> None:
    assert verdict([OffsetSample(*look) for look in looks], committing=committing) is expected
