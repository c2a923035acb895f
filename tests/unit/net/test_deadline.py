from __future__ import annotations

import pytest

from kgroups.errors import DeadlineExceeded
from kgroups.net.deadline import Deadline


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("kgroups.net.deadline.time.monotonic", lambda: now[0])
    return now


def test_bound_is_at_most_the_remaining_time(clock: list[float]) -> None:
    deadline = Deadline(10)
    assert (deadline.bound(3), deadline.bound(30)) == (3, 10)
    clock[0] += 8
    assert (deadline.bound(3), deadline.remaining(), deadline.within(5).remaining()) == (2, 2, 2)
    clock[0] += 8
    assert deadline.remaining() == 0
    with pytest.raises(DeadlineExceeded, match=r"--timeout \(10 s\)"):
        deadline.bound(1)


def test_overlapping_waits_extend_deadline_once(clock: list[float]) -> None:
    deadline = Deadline(10)
    deadline.extend_by_wait(6)
    clock[0] += 2
    deadline.extend_by_wait(3)
    assert deadline.remaining() == 10 + 6 - 2
    deadline.extend_by_wait(5)
    assert deadline.remaining() == 10 + 7 - 2
    clock[0] += 20
    deadline.extend_by_wait(1)
    assert deadline.remaining() == 0
